//! What marks the lines of programs whose logs are not read, and would pass for those of another: calls and
//! outputs would be missing without a word.

use super::line_members::LineMembers;

/// Whether a line is one of Qwen Code, which has Gemini's parts in lines like those of Claude Code.
pub(super) fn is_qwen_code(line: &LineMembers<'_>) -> bool {
    let is_of_session = line.has("uuid") && line.has("sessionId");
    is_of_session
        && match line.tag.as_deref() {
            Some("user" | "assistant") => line.has_in_message("parts"),
            Some("tool_result") => line.has("message"),
            Some("system") => line.has("systemPayload"),
            _ => false,
        }
}

/// Whether a line is one that `gemini --output-format stream-json` prints. Its messages look like items of Codex.
pub(super) fn is_gemini_stream(line: &LineMembers<'_>) -> bool {
    match line.tag.as_deref() {
        Some("init") => line.has("session_id") && line.has("model"),
        Some("tool_use") => line.has("tool_id") && line.has("tool_name"),
        Some("tool_result") => line.has("tool_id") && line.has("status"),
        _ => false,
    }
}
