//! Checks whether a model's answer is a summary.

use baler_models::{Answer, Finish};

use baler_conversation::json::Members;

/// Texts that show that a model calls a tool instead of writing (ALL-N3).
const CALL_SIGNS: [&str; 8] = [
    "<tool_call",
    "<function_call",
    "<invoke",
    "<|tool_call",
    "<｜tool",
    "[TOOL_CALLS]",
    "```tool_code",
    "\"tool_calls\":",
];

/// Returns the summary in an answer, or why it holds none. No line of the summary looks like a heading of a
/// digest, and nothing in it must be escaped, so that its tokens do not change when it is inserted.
pub(super) fn summary_of(answer: Answer) -> Result<String, String> {
    match answer.finish {
        Finish::Stop => {}
        Finish::Length => return Err("the model's answer was cut off".to_owned()),
        Finish::Refusal => return Err("the model refused to write a summary".to_owned()),
    }
    let Some(text) = baler_provenance::after_thinking(&answer.text) else {
        return Err("the model's answer ends in the middle of thinking".to_owned());
    };
    let text = text.trim();
    if baler_provenance::is_blank(text) {
        return Err("the model's answer is empty".to_owned());
    }
    if CALL_SIGNS.iter().any(|sign| text.contains(sign)) || is_call(text) {
        return Err("the model called a tool instead of writing a summary".to_owned());
    }
    Ok(baler_digest::as_summary(text))
}

/// Returns whether the whole text is the JSON of a tool call.
fn is_call(text: &str) -> bool {
    let inner = text.trim_start_matches("```json").trim_matches('`').trim();
    // `Members` does not keep values, which could take many times the memory of the text.
    let Ok(members) = serde_json::from_str::<Members<'_>>(inner) else {
        return false;
    };
    let has = |key| members.get(key).is_some();
    has("name") && (has("arguments") || has("parameters"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(text: &str, finish: Finish) -> Result<String, String> {
        summary_of(Answer::new(text, finish).with_usage(1, 1))
    }

    /// PAIN-11, PL-S8, PL-N12, PU-N3, AP-S18, AP-N18, ALL-N3, P8
    #[test]
    fn blank_refused_and_cut_off_answers_are_rejected() {
        assert_eq!(
            summary(" We sailed.\n", Finish::Stop).as_deref(),
            Ok("We sailed.")
        );
        for (text, finish) in [
            ("", Finish::Stop),
            (" \n\t", Finish::Stop),
            ("\u{200b}", Finish::Stop),
            ("We sai", Finish::Length),
            ("I cannot help with that.", Finish::Refusal),
        ] {
            assert!(summary(text, finish).is_err(), "{text}");
        }
    }

    #[test]
    fn summary_leaves_out_thinking() {
        assert_eq!(
            summary(
                "<think>Where did we sail?</think>\nWe sailed.",
                Finish::Stop
            )
            .as_deref(),
            Ok("We sailed.")
        );
        assert_eq!(
            summary("<think>\nOkay, they want", Finish::Stop),
            Err("the model's answer ends in the middle of thinking".to_owned())
        );
        assert!(summary("<think>Nothing.</think> \n", Finish::Stop).is_err());
        // The opening tag may be in the prompt.
        assert_eq!(
            summary("Where did we sail?\n</think>\n\nWe sailed.", Finish::Stop).as_deref(),
            Ok("We sailed.")
        );
        assert!(summary("Where did we sail?\n</think>\n", Finish::Stop).is_err());
    }

    /// PAIN-11
    #[test]
    fn tool_calls_are_rejected() {
        for text in [
            "<tool_call>{\"name\": \"sail\"}</tool_call>",
            "{\"name\": \"sail\", \"arguments\": {}}",
            "{\"name\": \"sail\", \"arguments\": null}",
            "```json\n{\"name\": \"sail\", \"parameters\": {}}\n```",
            "I will look.\n<invoke name=\"sail\">",
        ] {
            assert!(summary(text, Finish::Stop).is_err(), "{text}");
        }
        assert!(summary("The file {\"name\": \"x\"} was read.", Finish::Stop).is_ok());
    }
}
