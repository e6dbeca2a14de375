//! Outputs of tools that are the user's own words: answers to a question, and refusals with a reason.

/// Tools that exist to ask the user, in lower case without separators. A tool of an MCP server has the server's name in
/// front, so none of these is one.
const ASKING: [&str; 10] = [
    // Claude Code, and Qwen Code as `ask_user_question`
    "askuserquestion",
    // Gemini CLI and Copilot CLI as `ask_user`, Droid as `AskUser`
    "askuser",
    // Codex
    "requestuserinput",
    // Cline and Roo Code
    "askfollowupquestion",
    "planmoderespond",
    // opencode
    "question",
    // Cursor
    "askquestion",
    // Hermes
    "clarify",
    // smolagents
    "userinput",
    // Strands
    "handofftouser",
];

/// Beginnings of outputs of calls that the user refused, and the words after which the reason follows. Without a reason,
/// nothing of such an output is the user's.
const REFUSALS: [(&str, &str); 2] = [
    // Claude Code
    (
        "The user doesn't want to proceed with this tool use.",
        "the user said:\n",
    ),
    // opencode
    (
        "The user rejected permission to use this specific tool call",
        "with the following feedback:",
    ),
];

/// Most bytes before the reason of a refusal.
const REFUSAL: usize = 300;

/// Whether a tool with this name exists to ask the user. What it returns without a failure is the user's answer.
#[must_use]
pub fn asks_user(tool: &str) -> bool {
    let is_part_of_name = |c: &char| !matches!(c, '_' | '-' | ' ');
    let name = tool.chars().filter(is_part_of_name);
    let name: String = name.map(|c| c.to_ascii_lowercase()).take(32).collect();
    ASKING.contains(&name.as_str())
}

/// Whether the output of a call that was marked as failed says that the user refused it, and why. Of any other output it says
/// nothing: a tool may print a file that begins with these words.
#[must_use]
pub fn is_refusal_with_reason(text: &str) -> bool {
    REFUSALS.iter().any(|(start, before_reason)| {
        let head = &text[..text.floor_char_boundary(REFUSAL)];
        text.starts_with(start)
            && head.find(before_reason).is_some_and(|at| {
                let reason = &text[at + before_reason.len()..];
                !reason.trim().is_empty()
            })
    })
}

#[cfg(test)]
mod tests {
    use super::{asks_user, is_refusal_with_reason};

    #[test]
    fn tool_that_asks_the_user_is_known_however_its_name_is_spelled() {
        for tool in [
            "AskUserQuestion",
            "ask_user_question",
            "ask_user",
            "AskUser",
            "request_user_input",
            "clarify",
        ] {
            assert!(asks_user(tool), "{tool}");
        }
        for tool in ["mcp__forms__ask_user", "Bash", "ask", "user", ""] {
            assert!(!asks_user(tool), "{tool}");
        }
    }

    #[test]
    fn refusal_is_the_users_words_only_with_a_reason() {
        const REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n";
        let with = format!("{REFUSED}Use the staging database. 本番は触らないで。");
        assert!(is_refusal_with_reason(&with));
        assert!(!is_refusal_with_reason(REFUSED));
        assert!(!is_refusal_with_reason(&format!("Exit code 1\n{with}")));
        let far = format!("{}{}the user said:\nPush.", &REFUSED[..52], "x".repeat(300));
        assert!(!is_refusal_with_reason(&far));
    }
}
