//! Recognises what a tool does by its name.

/// Verbs for what tools do, with the words in their names. The first match counts.
const VERBS: &[(&str, &[&str])] = &[
    // `search_replace` and `create_or_update_file` edit.
    (
        "edited",
        &[
            "edit", "write", "replace", "insert", "update", "patch", "modify", "append", "undo",
            "save",
        ],
    ),
    (
        "searched",
        &["search", "grep", "find", "glob", "query", "lookup"],
    ),
    ("created", &["create", "new", "mkdir", "touch"]),
    ("deleted", &["delete", "remove", "rm", "unlink"]),
    ("moved", &["move", "rename", "mv"]),
    (
        "ran",
        &[
            "run",
            "exec",
            "execute",
            "bash",
            "shell",
            "terminal",
            "command",
            "powershell",
            "test",
        ],
    ),
    (
        "read",
        &[
            "read", "view", "open", "cat", "get", "fetch", "show", "list", "ls", "load",
        ],
    ),
];

/// Verb for any other tool.
pub(super) const CALLED: &str = "called";

/// Returns the verb with this spelling.
pub(super) fn known(word: &str) -> Option<&'static str> {
    VERBS
        .iter()
        .map(|(verb, _)| *verb)
        .chain([CALLED])
        .find(|verb| *verb == word)
}

/// Returns a name in lower case with a space before each word that begins with a capital.
fn spaced(name: &str) -> String {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut follows_small = false;
    for c in name.chars().take(80) {
        if c.is_uppercase() && follows_small {
            spaced.push(' ');
        }
        follows_small = c.is_lowercase();
        spaced.extend(c.to_lowercase());
    }
    spaced
}

/// Returns the words of a name: `str_replace`, `readFile`, `git-log`.
pub(super) fn words(name: &str) -> Vec<String> {
    let spaced = spaced(name);
    let words = spaced.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Returns the verb of a tool by the words of its name.
pub(super) fn verb(tool: &str) -> Option<&'static str> {
    let words = words(tool);
    VERBS
        .iter()
        .find(|(_, names)| words.iter().any(|word| names.contains(&&**word)))
        .map(|(verb, _)| *verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_tool_is_read_word_by_word() {
        for (tool, expected) in [
            ("readFile", Some("read")),
            ("str_replace_editor", Some("edited")),
            ("search_replace", Some("edited")),
            ("create_or_update_file", Some("edited")),
            ("git-grep", Some("searched")),
            ("mcp__shell__exec", Some("ran")),
            ("already", None),
            ("", None),
        ] {
            assert_eq!(verb(tool), expected, "{tool}");
        }
    }
}
