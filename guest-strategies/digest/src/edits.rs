//! Which lines an edit changed.

use std::collections::BTreeSet;

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

/// Where a patch begins.
const PATCH: &str = "*** Begin Patch";

/// What the lines begin with before the first version of what an edit replaces, and behind the second one: in text of aider and
/// arguments of Roo, and in arguments of Cline.
const AROUND: [&str; 4] = ["<<<<<<", "------- SEARCH", ">>>>>>", "+++++++ REPLACE"];

/// Whether a line stands before or behind the versions of what an edit replaces.
pub(super) fn is_marker(line: &str) -> bool {
    AROUND.iter().any(|start| line.starts_with(start))
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

/// Returns the lines that are not among the others.
fn only<'t>(lines: &[&'t str], others: &[&'t str]) -> Vec<&'t str> {
    let others: BTreeSet<&str> = others.iter().copied().collect();
    let own = lines.iter().filter(|line| !others.contains(*line));
    own.copied().collect()
}

/// Returns the name of an argument without its separators and in lower case.
fn bare(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
