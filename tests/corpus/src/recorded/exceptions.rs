//! Accepted requests that break a rule although the rule is right.

use baler_conversation::rules::Rule;

/// A recording that does not count against rules.
#[derive(Debug, Clone, Copy)]
pub struct Exception {
    /// The name of the recording.
    pub recording: &'static str,
    /// The rules.
    pub rules: &'static [Rule],
    /// Why the recording does not count against them.
    pub reason: &'static str,
}

const EDITED: &str = "edited after it was recorded: an earlier version of the file, with the same answer, has one \
                      id in the call and in its result";

const REDACTED: &str = "edited after it was recorded: ids were replaced, and the call and its result got different ones";

/// All exceptions.
pub const EXCEPTIONS: &[Exception] = &[
    Exception {
        recording: "tests/contrib/anthropic/cassettes/anthropic_completion_tools_call_with_tool_result_stream.yaml#0",
        rules: &[Rule::Anth3, Rule::Anth4],
        reason: EDITED,
    },
    Exception {
        recording: "tests/contrib/anthropic/cassettes/anthropic_completion_tools_call_with_tool_result_stream_helper.yaml#0",
        rules: &[Rule::Anth3, Rule::Anth4],
        reason: EDITED,
    },
    Exception {
        recording: "tests/cassettes/anthropic/opus_4_8/messages_preserve_system_role_after_server_tool_result.yaml#1",
        rules: &[Rule::Anth7],
        reason: REDACTED,
    },
];

/// Returns why a recording does not count against a rule; `None` if it does.
pub(super) fn reason(recording: &str, rule: Rule) -> Option<&'static str> {
    let exception = EXCEPTIONS
        .iter()
        .find(|own| own.recording == recording && own.rules.contains(&rule))?;
    Some(exception.reason)
}
