//! What an edit changed: a line that it removed, and the one that it put there.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{commands, text};

/// What each line begins with.
pub(super) const EDITED: &str = "edited ";

/// Names of arguments that hold the text before an edit, and of those that hold the text after it.
const OLD: [&str; 5] = ["old", "oldstring", "oldstr", "oldtext", "search"];
const NEW: [&str; 6] = [
    "new",
    "newstring",
    "newstr",
    "newtext",
    "replace",
    "replacement",
];

/// Most bytes of a line, and most lines of either text that are compared.
const LINE: usize = 80;
const LINES: usize = 1_000;

/// Most bytes of a script.
const SCRIPT: usize = 160;

/// Most replaced lines of one edit that are shown.
const PAIRS: usize = 3;

/// Most edits of one call.
const EDITS: usize = 3;

/// Where a patch begins.
const PATCH: &str = "*** Begin Patch";

/// Returns what the edits of a call changed in a file, a line each. Empty if the arguments do not say so.
pub(super) fn of_call(path: &str, arguments: &Value) -> Vec<String> {
    let Value::Object(members) = arguments else {
        return Vec::new();
    };
    let lists = members.values().filter_map(Value::as_array).flatten();
    let edits = std::iter::once(arguments).chain(lists);
    let pairs = edits.filter_map(|edit| {
        let members = edit.as_object()?;
        let named = |names: &[&str]| {
            let is_named = |(name, _): &(&String, &Value)| names.contains(&&*bare(name));
            members.iter().find(is_named)?.1.as_str()
        };
        changed(named(&OLD)?.lines(), named(&NEW)?.lines())
    });
    // Both versions of a text may hold blocks of their own.
    let is_other = |name: &str| {
        let name = bare(name);
        !OLD.contains(&&*name) && !NEW.contains(&&*name) && name != "content"
    };
    let texts = members.iter().filter(|(name, _)| is_other(name));
    let texts = texts.filter_map(|(_, value)| value.as_str());
    let blocks = texts.flat_map(blocks).filter_map(|block| block.change());
    pairs
        .chain(blocks)
        .take(EDITS)
        .map(|change| format!("{EDITED}{}: {change}", file(path)))
        .collect()
}

/// Returns what the edits change that a text of the model proposes, a line each. Whether they were made, only what follows
/// tells.
pub(super) fn proposed(text: &str) -> Vec<String> {
    let lines = blocks(text).into_iter().filter_map(|block| {
        let change = block.change()?;
        Some(match block.path {
            Some(path) => format!("{PROPOSED} of {}: {change}", file(path)),
            None => format!("{PROPOSED}: {change}"),
        })
    });
    lines.collect()
}

/// Whether a line is one of [`proposed`].
pub(super) fn is_proposed(line: &str) -> bool {
    line.starts_with(PROPOSED)
}

/// Whether a text has only code, and edits in it.
pub(super) fn is_edit_alone(text: &str) -> bool {
    let has_edit = || text.lines().any(|line| begins_block(line.trim()));
    has_edit() && !super::gist::has_words(text)
}

/// Whether a line stands before or behind the versions of what an edit replaces.
pub(super) fn is_marker(line: &str) -> bool {
    begins_with_any(line, &BEFORE) || begins_with_any(line, &BEHIND)
}

fn begins_with_any(line: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| line.starts_with(start))
}

/// The beginning of a line about an edit that a text proposes.
const PROPOSED: &str = "proposed an edit";

/// What the lines begin with before the first version of what an edit replaces, between the two, and behind them: in text of
/// aider and arguments of Roo, and in arguments of Cline.
pub(super) const BEFORE: [&str; 2] = ["<<<<<<", "------- SEARCH"];
const BETWEEN: &str = "=======";
pub(super) const BEHIND: [&str; 2] = [">>>>>>", "+++++++ REPLACE"];

/// A block with both versions of what an edit replaces.
struct Block<'t> {
    path: Option<&'t str>,
    old: Vec<&'t str>,
    new: Vec<&'t str>,
}

impl Block<'_> {
    fn change(&self) -> Option<String> {
        changed(self.old.iter().copied(), self.new.iter().copied())
    }
}

/// Returns the first [`EDITS`] blocks of a text. The last one may have no end.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    let mut path = None;
    while let Some(line) = lines.next() {
        if !begins_block(line) {
            let word = line.trim().trim_matches(['`', '*', ':', '#', ' ']);
            if !word.is_empty() && !line.starts_with(text::FENCE) {
                let is_path = word.contains(['.', '/']) && !word.contains(char::is_whitespace);
                path = is_path.then_some(word);
            }
            continue;
        }
        let mut block = Block {
            path,
            old: Vec::new(),
            new: Vec::new(),
        };
        let (mut is_new, mut is_ended) = (false, false);
        while let Some(line) = lines.next_if(|line| !begins_block(line)) {
            is_ended = begins_with_any(line, &BEHIND);
            if is_ended {
                break;
            }
            // The fence of the text, unless the block goes on: a version may have fences, too.
            if line.starts_with(text::FENCE) && is_new && !goes_on(&lines) {
                is_ended = true;
                break;
            }
            let side = if is_new {
                &mut block.new
            } else {
                &mut block.old
            };
            match line.starts_with(BETWEEN) && !is_new {
                true => is_new = true,
                false if side.len() < LINES && !is_of_format(line) => side.push(line),
                false => {}
            }
        }
        // Of a text that is cut before the second version, nothing is known.
        if is_new && (is_ended || !block.new.is_empty()) {
            found.push(block);
        }
        if found.len() == EDITS {
            break;
        }
    }
    found
}

/// Whether the end of the block follows within its lines.
fn goes_on<'t>(lines: &(impl Iterator<Item = &'t str> + Clone)) -> bool {
    let mut next = lines
        .clone()
        .take(LINES)
        .take_while(|line| !begins_block(line));
    next.any(|line| begins_with_any(line, &BEHIND))
}

/// Whether a block begins, and not the place of a conflict: `<<<<<<< HEAD`.
fn begins_block(line: &str) -> bool {
    begins_with_any(line, &BEFORE) && (line.contains("SEARCH") || line.contains("ORIGINAL"))
}

/// Whether a line is one of Roo's around the first version: `:start_line:5`.
fn is_of_format(line: &str) -> bool {
    line.starts_with(":start_line:") || line.starts_with(":end_line:") || line.trim() == "-------"
}

/// Returns what a command that applies a patch or a script of `sed` changed in its file.
pub(super) fn of_command(path: &str, command: &str) -> Option<String> {
    if let Some(script) = commands::sed_script(command) {
        let script = text::line(script, SCRIPT);
        return Some(format!("{EDITED}{}: `{script}`", file(path)));
    }
    let (_, patch) = command.split_once(PATCH)?;
    let removed = patch.lines().filter_map(|line| line.strip_prefix('-'));
    let added = patch.lines().filter_map(|line| line.strip_prefix('+'));
    Some(format!(
        "{EDITED}{}: {}",
        file(path),
        changed(removed, added)?
    ))
}

/// Returns the first lines that only one of two texts has, with how many there are.
fn changed<'t>(
    old: impl Iterator<Item = &'t str>,
    new: impl Iterator<Item = &'t str>,
) -> Option<String> {
    let lines = |text: &mut dyn Iterator<Item = &'t str>| {
        let lines = text.map(str::trim).filter(|line| says(line)).take(LINES);
        lines.collect::<Vec<&str>>()
    };
    let (old, new) = (lines(&mut { old }), lines(&mut { new }));
    let (mut removed, mut added) = (only(&old, &new), only(&new, &old));
    // Where as many lines were replaced as there are now, each has its successor; of a few, all are shown.
    let most = removed.len().max(added.len());
    let shown = match removed.len() == added.len() {
        true => PAIRS,
        false => {
            // Stable, so that the first line of code is the first.
            removed.sort_by_key(|line| is_comment(line));
            added.sort_by_key(|line| is_comment(line));
            if most <= PAIRS { PAIRS } else { 1 }
        }
    };
    let code = |lines: &[&str], at: usize| {
        let line = lines.get(at)?;
        Some(format!("`{}`", text::line(line, LINE)))
    };
    let replaced = (0..shown).filter_map(|at| match (code(&removed, at), code(&added, at)) {
        (Some(old), Some(new)) => Some(format!("{old} → {new}")),
        (Some(old), None) => Some(format!("removed {old}")),
        (None, Some(new)) => Some(format!("added {new}")),
        (None, None) => None,
    });
    let mut line = replaced.collect::<Vec<String>>().join(", ");
    if line.is_empty() {
        return None;
    }
    if most > shown {
        line.push_str(&format!(" (+{} −{} lines)", added.len(), removed.len()));
    }
    Some(line)
}

/// Returns the lines that are not among the others.
fn only<'t>(lines: &[&'t str], others: &[&'t str]) -> Vec<&'t str> {
    let others: BTreeSet<&str> = others.iter().copied().collect();
    let own = lines.iter().filter(|line| !others.contains(*line));
    own.copied().collect()
}

/// Returns the lines of an edit that only the text before or after it has, if the arguments of its call hold both; of a
/// patch, those that it removes or adds. `None` of anything else.
pub(super) fn lines_of(texts: &[(&str, &str)]) -> Option<String> {
    let named = |names: &[&str]| {
        let mut texts = texts.iter();
        let (_, text) = texts.find(|(name, _)| names.contains(&&*bare(name)))?;
        Some(text.lines().map(str::trim).collect::<Vec<&str>>())
    };
    if let (Some(old), Some(new)) = (named(&OLD), named(&NEW)) {
        let (removed, added) = (only(&old, &new), only(&new, &old));
        return Some([removed, added].concat().join("\n"));
    }
    let (_, patch) = texts.iter().find_map(|(_, text)| text.split_once(PATCH))?;
    let lines = patch
        .lines()
        .filter_map(|line| line.strip_prefix(['-', '+']));
    Some(lines.collect::<Vec<&str>>().join("\n"))
}

/// Whether a line belongs to a comment: it says less about an edit than the code below it.
fn is_comment(line: &str) -> bool {
    const SIGNS: [&str; 6] = ["//", "/*", "* ", "# ", "-- ", "<!--"];
    SIGNS.iter().any(|sign| line.starts_with(sign))
}

/// Whether a line says something, and is not only a bracket.
fn says(line: &str) -> bool {
    line.chars()
        .filter(|c| c.is_alphanumeric())
        .nth(1)
        .is_some()
}

/// Returns the name of an argument without its separators and in lower case.
fn bare(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns the name of the file, which the line about the file says with its path.
pub(super) fn file(path: &str) -> &str {
    let name = path.trim_end_matches('/').rsplit(['/', '\\']).next();
    name.filter(|name| !name.is_empty()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_says_what_it_changed() {
        let edits = |arguments: &str| {
            let arguments = serde_json::from_str(arguments).unwrap_or(Value::Null);
            of_call("src/oven.rs", &arguments)
        };
        for (arguments, expected) in [
            (
                r#"{"old_string": "let heat = 180;", "new_string": "let heat = 220;"}"#,
                vec!["edited oven.rs: `let heat = 180;` → `let heat = 220;`"],
            ),
            (
                r#"{"old": "a1\nb1", "new": "a2\nb2"}"#,
                vec!["edited oven.rs: `a1` → `a2`, `b1` → `b2`"],
            ),
            (
                r#"{"oldText": "{\n  bake();\n}", "newText": "{\n  rest();\n  bake();\n  cool();\n}"}"#,
                vec!["edited oven.rs: added `rest();`, added `cool();`"],
            ),
            (
                r#"{"edits": [{"old": "a1", "new": ""}, {"old": "b1", "new": "b2"}]}"#,
                vec![
                    "edited oven.rs: removed `a1`",
                    "edited oven.rs: `b1` → `b2`",
                ],
            ),
            (
                r#"{"old": "bake()", "new": "// It is hot.\nrest()\nbake()"}"#,
                vec!["edited oven.rs: added `rest()`, added `// It is hot.`"],
            ),
            (
                r#"{"old": "", "new": "// It is hot.\na1\nb1\nc1"}"#,
                vec!["edited oven.rs: added `a1` (+4 −0 lines)"],
            ),
            (r#"{"old_str": "same", "new_str": "  same"}"#, vec![]),
            (r#"{"content": "all of it"}"#, vec![]),
            ("[]", vec![]),
        ] {
            assert_eq!(edits(arguments), expected, "{arguments}");
        }
    }

    #[test]
    fn blocks_of_two_versions_say_what_they_change() {
        let block = "<<<<<<< SEARCH\n  heat(180)\n=======\n  heat(220)\n>>>>>>> REPLACE\n";
        let text = format!("It was cold.\n\n`a/oven.rs`\n```rust\n{block}```\nAnd so:\n{block}");
        assert_eq!(
            proposed(&text),
            [
                "proposed an edit of oven.rs: `heat(180)` → `heat(220)`",
                "proposed an edit: `heat(180)` → `heat(220)`"
            ]
        );
        let cut = "a/oven.rs\n<<<<<<< SEARCH\nheat(180)\n=======\n";
        assert!(proposed(cut).is_empty());
        assert_eq!(
            proposed(&format!("{cut}```")),
            ["proposed an edit of oven.rs: removed `heat(180)`"]
        );
        assert!(proposed("<<<<<<< SEARCH").is_empty());
        assert!(proposed("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x").is_empty());
        let fenced =
            "a.md\n<<<<<<< SEARCH\nIt is:\n=======\nIt was:\n```\nheat\n```\n>>>>>>> REPLACE";
        assert_eq!(
            proposed(fenced),
            ["proposed an edit of a.md: `It is:` → `It was:`, added `heat`"]
        );
        let of_roo = "<<<<<<< SEARCH\n:start_line:5\n-------\nheat(180)\n=======\nheat(220)\n>>>>>>> REPLACE";
        let arguments = serde_json::json!({"path": "a/oven.rs", "diff": of_roo});
        assert_eq!(
            of_call("a/oven.rs", &arguments),
            ["edited oven.rs: `heat(180)` → `heat(220)`"]
        );
        let of_cline = "------- SEARCH\nheat(180)\n=======\nheat(220)\n+++++++ REPLACE";
        let arguments = serde_json::json!({"path": "a/oven.rs", "diff": of_cline});
        assert_eq!(
            of_call("a/oven.rs", &arguments),
            ["edited oven.rs: `heat(180)` → `heat(220)`"]
        );
    }

    #[test]
    fn a_patch_says_what_it_changed() {
        let patch = "apply_patch <<'P'\n*** Begin Patch\n*** Update File: a/oven.rs\n@@\n fn bake() {\n-    heat(180);\n+    heat(220);\n*** End Patch\nP";
        assert_eq!(
            of_command("a/oven.rs", patch).as_deref(),
            Some("edited oven.rs: `heat(180);` → `heat(220);`")
        );
        assert_eq!(
            of_command("a/oven.rs", "sed -i 's/heat(180)/heat(220)/' a/oven.rs").as_deref(),
            Some("edited oven.rs: `s/heat(180)/heat(220)/`")
        );
        assert_eq!(of_command("a/oven.rs", "cat a/oven.rs"), None);
    }
}
