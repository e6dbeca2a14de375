//! Checks whether the answer of the model is a summary.

#[cfg(test)]
mod tests;

use baler_digest::as_summary;
use baler_provenance::{after_thinking, is_blank};
use baler_strategy::{Completion, Failure, Finish};
use serde_json::Value;

/// Text that strategies put around a summary. Models that saw it may repeat it.
const HEADERS: [&str; 1] = ["[Conversation Summary]"];
const TAGS: [&str; 2] = ["context_summary", "summary_so_far"];

/// How models write tool calls as text.
const CALLS: [&str; 10] = [
    "<tool_call>",
    "<tool_calls>",
    "<function_calls>",
    "<function_call>",
    "<function=",
    "<invoke",
    "<|tool_call",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "```tool_code",
];

/// How lines of a transcript begin in which a tool was called. Small models go on with it.
const GOES_ON: [&str; 2] = ["Tool result: ", "Tool result ("];

/// Returns the summary in an answer, trimmed.
///
/// # Errors
/// Returns a failure if the answer is cut off, declined, blank or a tool call. The failure does not repeat
/// the answer.
pub(crate) fn accepted(completion: &Completion) -> Result<String, Failure> {
    let refuse = |why: &str| Err(Failure::Model(format!("no summary: {why}")));
    match completion.finish {
        Finish::Refusal => return refuse("the model declined"),
        Finish::Length => return refuse("the answer was cut off by its limit"),
        Finish::Stop => {}
    }
    let Some(said) = after_thinking(&completion.text) else {
        return refuse("the answer ends in the middle of thinking");
    };
    let text = without_frame(said, "");
    if is_blank(text) {
        return refuse("the answer is blank");
    }
    if calls_a_tool(text) {
        return refuse("the answer calls a tool");
    }
    Ok(as_summary(text))
}

/// Returns the text of a summary without headers and tags, so that it never gets them twice. `header` is the
/// header of the calling strategy.
pub fn without_frame<'a>(text: &'a str, header: &str) -> &'a str {
    let mut text = text.trim();
    loop {
        let before = text;
        for header in HEADERS.iter().copied().chain([header.trim()]) {
            text = text.strip_prefix(header).unwrap_or(text).trim_start();
        }
        for tag in TAGS {
            text = text
                .strip_prefix(&format!("<{tag}>"))
                .and_then(|text| text.strip_suffix(&format!("</{tag}>")))
                .unwrap_or(text)
                .trim();
        }
        if text.len() == before.len() {
            return text;
        }
    }
}

/// Returns whether the text makes a tool call. A summary may mention calls in quotes.
fn calls_a_tool(text: &str) -> bool {
    let written = CALLS.iter().any(|call| {
        text.match_indices(call).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            !matches!(before, Some('`' | '"' | '\''))
        })
    });
    let goes_on = |line: &str| {
        let calls = line.starts_with("Call: ") && line.contains('{');
        calls || GOES_ON.iter().any(|label| line.starts_with(label))
    };
    written || text.lines().any(goes_on) || is_a_call(text)
}

/// Returns whether the whole text is one tool call in JSON, or several.
fn is_a_call(text: &str) -> bool {
    let body = text.strip_prefix("```").map_or(text, |fenced| {
        let body = fenced.strip_prefix("json").unwrap_or(fenced);
        body.strip_suffix("```").unwrap_or(body)
    });
    let is_call = |value: &Value| {
        let has = |field: &str| value.get(field).is_some();
        has("tool_calls")
            || has("function_call")
            || (has("name") && (has("arguments") || has("parameters") || has("input")))
    };
    match serde_json::from_str(body.trim()) {
        Ok(Value::Array(values)) => values.iter().any(is_call),
        Ok(value) => is_call(&value),
        Err(_) => false,
    }
}
