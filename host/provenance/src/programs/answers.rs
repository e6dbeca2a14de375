//! Outputs of tools that are the user's own words: answers to a question, and refusals with a reason.

/// Tools that exist to ask the user, in lower case without separators. A tool of an MCP server has the server's name in
/// front, so none of these is one.
const ASKING: [&str; 11] = [
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
    // Cline and Roo Code: the user says how to go on.
    "attemptcompletion",
];

/// How the output of a call begins that the user refused, or approved with a comment.
struct Refusal {
    begins: &'static str,
    /// The words after which the user's follow. Without such words nothing of the output is the user's.
    before_reason: &'static str,
    /// Whether the program marks such outputs as failed.
    is_marked: bool,
}

const REFUSALS: [Refusal; 6] = [
    // Claude Code
    Refusal {
        begins: "The user doesn't want to proceed with this tool use.",
        before_reason: "the user said:\n",
        is_marked: true,
    },
    // opencode
    Refusal {
        begins: "The user rejected permission to use this specific tool call",
        before_reason: "with the following feedback:",
        is_marked: true,
    },
    // Cline and Roo Code
    Refusal {
        begins: "The user denied this operation and provided the following feedback",
        before_reason: ":",
        is_marked: false,
    },
    Refusal {
        begins: "The user approved this operation and provided the following context",
        before_reason: ":",
        is_marked: false,
    },
    Refusal {
        begins: "The user provided the following feedback",
        before_reason: ":",
        is_marked: false,
    },
    Refusal {
        begins: "{\"status\":\"denied\"",
        before_reason: "\"feedback\":\"",
        is_marked: false,
    },
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

/// Whether an output begins like one of a call that the user refused, or approved with a comment. `is_marked` says whether
/// it is marked as failed.
#[must_use]
pub fn begins_like_a_refusal(output: &str, is_marked: bool) -> bool {
    refusal(output, is_marked).is_some()
}

/// Whether an output says that the user refused its call, and why, or approved it with a comment. A tool may print a text that
/// begins with these words, so they are not as sure as what stands in a message of the user's.
#[must_use]
pub fn is_refusal_with_reason(output: &str, is_marked: bool) -> bool {
    refusal(output, is_marked).is_some_and(|refusal| {
        let head = &output[..output.floor_char_boundary(REFUSAL)];
        head.find(refusal.before_reason).is_some_and(|at| {
            let reason = output[at + refusal.before_reason.len()..].trim();
            // In JSON an empty one ends at once.
            let is_json = refusal.before_reason.ends_with('"');
            !(reason.is_empty() || is_json && reason.starts_with('"'))
        })
    })
}

fn refusal(output: &str, is_marked: bool) -> Option<&'static Refusal> {
    let mut known = REFUSALS.iter();
    known.find(|own| (is_marked || !own.is_marked) && output.starts_with(own.begins))
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
        assert!(is_refusal_with_reason(&with, true));
        assert!(is_refusal_with_reason(
            &format!("{REFUSED}\"Staging\", not that."),
            true
        ));
        assert!(!is_refusal_with_reason(&with, false));
        assert!(!is_refusal_with_reason(REFUSED, true));
        assert!(!is_refusal_with_reason(
            &format!("Exit code 1\n{with}"),
            true
        ));
        let far = format!("{}{}the user said:\nPush.", &REFUSED[..52], "x".repeat(300));
        assert!(!is_refusal_with_reason(&far, true));
        for words in [
            "The user denied this operation and provided the following feedback:\n<feedback>\nNur Staging.\n</feedback>",
            "The user approved this operation and provided the following context:\n<feedback>\nBut dry.\n</feedback>",
            r#"{"status":"denied","message":"denied","feedback":"本番は触らないで。"}"#,
        ] {
            assert!(is_refusal_with_reason(words, false), "{words}");
            assert!(is_refusal_with_reason(words, true), "{words}");
        }
        assert!(!is_refusal_with_reason(
            r#"{"status":"denied","feedback":""}"#,
            false
        ));
    }
}
