//! Which answers are summaries.

use baler_models::{Answer, Finish};

use baler_conversation::json::Members;

/// Signs of a model that calls a tool instead of writing (ALL-N3).
const CALLS: [&str; 8] = [
    "<tool_call",
    "<function_call",
    "<invoke",
    "<|tool_call",
    "<｜tool",
    "[TOOL_CALLS]",
    "```tool_code",
    "\"tool_calls\":",
];

/// The text of an answer, where it is one; none of its lines can pass for a heading of a digest, and
/// nothing in it has to be escaped, so that it costs what it is counted with.
pub(super) fn usable(answer: Answer) -> Result<String, String> {
    match answer.finish {
        Finish::Stop => {}
        Finish::Length => return Err("the model's answer was cut off".to_owned()),
        Finish::Refusal => return Err("the model refused to write a summary".to_owned()),
    }
    let Some(said) = baler_digest::after_thinking(&answer.text) else {
        return Err("the model's answer ends in the middle of thinking".to_owned());
    };
    let text = said.trim();
    if baler_digest::is_blank(text) {
        return Err("the model wrote nothing".to_owned());
    }
    if CALLS.iter().any(|sign| text.contains(sign)) || is_call(text) {
        return Err("the model called a tool instead of writing a summary".to_owned());
    }
    Ok(baler_digest::as_summary(text))
}

/// Whether the whole text is JSON of a call.
fn is_call(text: &str) -> bool {
    let inner = text.trim_start_matches("```json").trim_matches('`').trim();
    // Values are not kept, which could take many times the memory of the text.
    let Ok(members) = serde_json::from_str::<Members<'_>>(inner) else {
        return false;
    };
    let has = |key| members.get(key).is_some();
    has("name") && (has("arguments") || has("parameters"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, finish: Finish) -> Result<String, String> {
        usable(Answer::new(text, finish).with_usage(1, 1))
    }

    /// PAIN-11, PL-S8, PL-N12, PU-N3, AP-S18, AP-N18, ALL-N3, P8
    #[test]
    fn blank_refused_and_cut_off_answers_are_no_summaries() {
        assert_eq!(
            said(" We sailed.\n", Finish::Stop).as_deref(),
            Ok("We sailed.")
        );
        for (text, finish) in [
            ("", Finish::Stop),
            (" \n\t", Finish::Stop),
            ("\u{200b}", Finish::Stop),
            ("We sai", Finish::Length),
            ("I cannot help with that.", Finish::Refusal),
        ] {
            assert!(said(text, finish).is_err(), "{text}");
        }
    }

    #[test]
    fn thinking_aloud_is_no_part_of_a_summary() {
        assert_eq!(
            said(
                "<think>Where did we sail?</think>\nWe sailed.",
                Finish::Stop
            )
            .as_deref(),
            Ok("We sailed.")
        );
        assert_eq!(
            said("<think>\nOkay, they want", Finish::Stop),
            Err("the model's answer ends in the middle of thinking".to_owned())
        );
        assert!(said("<think>Nothing.</think> \n", Finish::Stop).is_err());
        // The opening tag may be in the prompt.
        assert_eq!(
            said("Where did we sail?\n</think>\n\nWe sailed.", Finish::Stop).as_deref(),
            Ok("We sailed.")
        );
        assert!(said("Where did we sail?\n</think>\n", Finish::Stop).is_err());
    }

    /// PAIN-11
    #[test]
    fn calls_of_tools_are_no_summaries() {
        for text in [
            "<tool_call>{\"name\": \"sail\"}</tool_call>",
            "{\"name\": \"sail\", \"arguments\": {}}",
            "{\"name\": \"sail\", \"arguments\": null}",
            "```json\n{\"name\": \"sail\", \"parameters\": {}}\n```",
            "I will look.\n<invoke name=\"sail\">",
        ] {
            assert!(said(text, Finish::Stop).is_err(), "{text}");
        }
        assert!(said("The file {\"name\": \"x\"} was read.", Finish::Stop).is_ok());
    }
}
