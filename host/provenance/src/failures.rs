//! Detects outputs of failed calls, and of calls that were not allowed to run, by how they begin.
//!
//! Most formats have no flag for either, and a refused call must not be described as done. The host's readers
//! and the digest use this table. `docs/wire-formats.md` says which program writes which.

use super::json_members::{self, Value};

/// Characters of an output that are examined.
pub const BEGINNING: usize = 400;

/// Beginnings of outputs about a failure, in lower case.
const FAILURES: [&str; 24] = [
    "error",
    "traceback (most recent",
    "fatal:",
    "exception",
    "panicked at",
    "failed to ",
    "permission denied",
    "eacces:",
    "enoent:",
    "eperm:",
    "mcp error -",
    "tool execution failed",
    "the tool execution failed",
    // In other languages, not in ASCII as they are written; the French put a blank of any kind before a
    // colon, or none.
    "fehler:",
    "erreur:",
    "erreur :",
    "erreur\u{a0}:",
    "erreur\u{202f}:",
    "错误:",
    "错误：",
    "エラー:",
    "エラー：",
    "خطأ:",
    "Ошибка:",
];

/// Values of `status` in JSON outputs about a failure.
const STATUSES: [&str; 6] = [
    "error", "errored", "failed", "failure", "rejected", "denied",
];

/// Beginnings of outputs of calls that were not allowed to run, were stopped, or changed nothing, in lower
/// case; and what has to follow if the beginning alone is ambiguous.
const REFUSALS: [(&str, &str); 31] = [
    // Claude Code
    ("the user doesn't want to proceed with this tool use", ""),
    ("the user doesn't want to take this action right now", ""),
    ("[request interrupted by user", ""),
    // Licences begin like that, too.
    ("permission to use ", "has been denied"),
    ("permission for this action ", "denied"),
    ("claude requested permissions to ", "granted"),
    ("<tool_use_error>", ""),
    ("string to replace not found in file", ""),
    ("file has not been read yet", ""),
    // Codex
    ("exec command rejected by user", ""),
    ("patch rejected by user", ""),
    ("rejected by user", ""),
    ("aborted by user", ""),
    ("wall time: ", "\naborted by user"),
    ("this action was rejected due to unacceptable risk", ""),
    ("apply_patch verification failed", ""),
    ("exec_command failed", ""),
    // The editor that agents of many makers share
    ("no replacement was performed", ""),
    // OpenAI Agents SDK, LangChain, AI SDK, Pydantic AI, Microsoft Agent Framework, ellmer and chatlas
    ("tool execution was not approved", ""),
    ("user rejected the tool call", ""),
    ("tool execution denied", ""),
    ("the tool call was denied", ""),
    ("tool call invocation was rejected", ""),
    ("the user has chosen to disallow the tool call", ""),
    // Cline, Roo Code
    ("the user denied this operation", ""),
    // Gemini CLI, Qwen Code
    ("[operation cancelled]", ""),
    ("user did not allow tool call", ""),
    // opencode
    (
        "the user rejected permission to use this specific tool call",
        "",
    ),
    (
        "the user has specified a rule which prevents you from using this specific tool call",
        "",
    ),
    // Goose
    ("the user has declined to run this tool", ""),
    // VS Code
    ("the user chose to skip the tool call", ""),
];

/// Whether an output begins like one about a failure or a refusal. The first [`BEGINNING`] characters
/// suffice.
#[must_use]
pub fn begins_like_a_failure(output: &str) -> bool {
    let begins = output.trim_start_matches(' ');
    FAILURES.iter().any(|sign| begins_with(begins, sign))
        || is_named_error(begins)
        || is_failure_as_data(output)
        || is_refusal(output)
}

/// `KeyError: 'id'`, `json.JSONDecodeError: …`
fn is_named_error(begins: &str) -> bool {
    let Some((name, _)) = begins.split_once(": ") else {
        return false;
    };
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let last = name.rsplit('.').next().unwrap_or_default();
    last.ends_with("Error")
        && last.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(is_of_name)
}

/// Whether an output is a JSON object with a member about a failure. The rest of it may be missing.
fn is_failure_as_data(output: &str) -> bool {
    json_members::of(output).any(|(key, value)| match key {
        "error" => !is_nothing(value),
        "status" => matches!(value, Value::Text(status) if STATUSES
            .iter()
            .any(|known| known.eq_ignore_ascii_case(status))),
        _ => is_mark(key, value),
    })
}

/// Whether a value says that there was no error.
fn is_nothing(value: Value<'_>) -> bool {
    match value {
        Value::Plain(value) => matches!(value, "null" | "false" | "0"),
        Value::Text(text) => text.trim().is_empty(),
        Value::Nested(value) => value[1..].trim_start().starts_with(['}', ']']),
    }
}

/// Whether an output is a JSON object with a member that marks the call as failed. The rest of it may be
/// missing.
#[must_use]
pub fn is_marked(output: &str) -> bool {
    json_members::of(output).any(|(key, value)| is_mark(key, value))
}

fn is_mark(key: &str, value: Value<'_>) -> bool {
    match key {
        "success" | "ok" => value == Value::Plain("false"),
        "isError" | "is_error" => value == Value::Plain("true"),
        _ => false,
    }
}

/// Whether an output says that its call was not allowed to run, was stopped, or changed nothing.
#[must_use]
pub fn is_refusal(output: &str) -> bool {
    let output = output.trim_start();
    REFUSALS
        .iter()
        .any(|(begins, holds)| begins_with(output, begins) && holds_near(output, holds))
}

/// Returns the first line of a refusal; `None` if it only introduces the user's words.
#[must_use]
pub fn first_line(output: &str) -> Option<&str> {
    let mut lines = output.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty())?;
    (!first.ends_with(':')).then_some(first)
}

fn begins_with(text: &str, sign: &str) -> bool {
    text.get(..sign.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(sign))
}

fn holds_near(text: &str, sign: &str) -> bool {
    if sign.is_empty() {
        return true;
    }
    let head = &text[..text.floor_char_boundary(BEGINNING)];
    head.to_ascii_lowercase().contains(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_distinguished_from_other_outputs() {
        for refusal in [
            "Tool execution was not approved.",
            "No replacement was performed, old_str `rate = 7` did not appear verbatim in src/tax.py.",
            "User rejected the tool call for `write_file` with id h4",
            "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. …",
            "exec command rejected by user",
            "aborted by user after 3.2s",
            "Wall time: 3.2 seconds\naborted by user",
            " Permission to use Bash with command git push has been denied. The user did not approve.",
            "Claude requested permissions to use Bash, but you haven't granted it yet.",
            "[Operation Cancelled] Reason: User denied execution.",
        ] {
            assert!(is_refusal(refusal), "{refusal}");
            assert!(begins_like_a_failure(refusal), "{refusal}");
        }
        for other in [
            "",
            "ok",
            "Permission to use, copy, modify, and distribute this software",
            "Permission to use the harbour is granted by its master.",
            "Wall time: 3.2 seconds\ndone",
            "3 replacements. No replacement was performed in b.rs",
        ] {
            assert!(!begins_like_a_failure(other), "{other}");
        }
        assert!(begins_like_a_failure("Error: no berth") && !is_refusal("Error: no berth"));
    }

    #[test]
    fn a_failure_is_detected_in_any_spelling() {
        for failure in [
            r#"{"error": "no berth"}"#,
            "{\n  \"error\": {\n    \"code\": 5",
            r#"{"pier": 3, "rows": [{"ok": true}], "error": "no berth"}"#,
            r#"{"status": "error", "pier": 3}"#,
            "{\n \"status\" : \"Denied\"}",
            r#"{"success": false, "pier": 3}"#,
            r#"{"ok":false}"#,
            r#"{"content":[{"type":"text","text":"no"}],"isError": true}"#,
            r#"{"is_error": true}"#,
            "EACCES: permission denied, open '/quay'",
            "ENOENT: no such file or directory",
            "Permission denied",
            "Failed to moor: no berth",
            "KeyError: 'pier'",
            "json.decoder.JSONDecodeError: Expecting value",
            "MCP error -32602: no such tool",
            "Tool execution failed: no berth",
            "Fehler: kein Liegeplatz",
            "Erreur : aucun quai",
            "Erreur\u{a0}: aucun quai",
            "错误：没有泊位",
            "エラー: 桟橋がない",
            "خطأ: لا مرسى",
            "Ошибка: нет причала",
        ] {
            assert!(begins_like_a_failure(failure), "{failure}");
            assert!(!is_refusal(failure), "{failure}");
        }
        for other in [
            "{",
            r#"{"error": null, "rows": []}"#,
            r#"{"error": false}"#,
            r#"{"error": "", "errors": []}"#,
            r#"{"error": { }, "ok": true}"#,
            r#"{"error": [], "success": true, "status": "done"}"#,
            r#"{"status": "errors are counted"}"#,
            r#"{"rows": [{"error": "no berth", "ok": false}]}"#,
            r#"{"success": fal"#,
            r#"[{"error": "no berth"}]"#,
            "HTTP 403",
            "keyError: the name of a setting",
            "A TypeError: how to mend it",
            "class TypeError(Exception): pass",
        ] {
            assert!(!begins_like_a_failure(other), "{other}");
        }
    }

    #[test]
    fn entries_of_the_tables_are_in_lower_case() {
        let signs = REFUSALS
            .iter()
            .flat_map(|(begins, holds)| [*begins, *holds]);
        for sign in signs.chain(FAILURES) {
            assert_eq!(sign, sign.to_ascii_lowercase());
        }
    }
}
