//! Finds names in texts: paths, ids, identifiers and numbers. Recall counts those that are used later.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

/// A name with its kind.
pub(crate) type Name = (NameKind, String);

/// The kind of a name, which is recognised by its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NameKind {
    /// A path to a file, or a file name with a known extension.
    Path,
    /// 7 to 40 hexadecimal digits, one of them from 0 to 9.
    Hex,
    /// `camelCase`, `PascalCase` or `snake_case`.
    Identifier,
    /// Three digits or more.
    Number,
}

impl NameKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Path, Self::Hex, Self::Identifier, Self::Number];

    /// Returns the name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Hex => "hex",
            Self::Identifier => "identifier",
            Self::Number => "number",
        }
    }
}

static PATH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:[\w.@-]+/)+[\w.@-]+\.\w{1,8}|\b[\w-]+\.(?:go|rs|py|ts|tsx|js|json|md|toml|yaml|yml|sh|txt|lock)\b",
    )
});
static HEX: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[0-9a-f]{7,40}\b"));
static IDENTIFIER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:[a-z]+[A-Z]\w{3,}|[A-Z][a-z]+[A-Z]\w{2,}|\w{2,}_\w{2,}\w*)\b"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d{3,}"));

#[expect(
    clippy::expect_used,
    reason = "the patterns are constants, and a test uses each"
)]
fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid regular expression")
}

/// Calls `take` with each occurrence of a name in a text.
pub(crate) fn each<'a>(text: &'a str, mut take: impl FnMut(NameKind, &'a str)) {
    for found in PATH.find_iter(text) {
        take(NameKind::Path, found.as_str());
    }
    for found in HEX.find_iter(text) {
        if found.as_str().bytes().any(|byte| byte.is_ascii_digit()) {
            take(NameKind::Hex, found.as_str());
        }
    }
    for found in IDENTIFIER.find_iter(text) {
        take(NameKind::Identifier, found.as_str());
    }
    for found in NUMBER.find_iter(text) {
        let is_part = |c: char| c == '.' || c == '_' || c.is_alphanumeric();
        let before = text[..found.start()].chars().next_back();
        let after = text[found.end()..].chars().next();
        if !before.is_some_and(is_part) && !after.is_some_and(is_part) {
            take(NameKind::Number, found.as_str());
        }
    }
}

/// Returns all names in a text.
pub(crate) fn all(text: &str) -> HashSet<Name> {
    let mut names = HashSet::new();
    each(text, |kind, name| {
        names.insert((kind, name.to_owned()));
    });
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finds_names_by_their_form() {
        let mut found = Vec::new();
        each(
            "In src/a.b/main.rs and Cargo.toml the readBody of PathBuf calls parse_line at 4d5e6f7, 1500 times (v1.234).",
            |kind, name| found.push((kind, name)),
        );
        assert_eq!(
            found,
            [
                (NameKind::Path, "src/a.b/main.rs"),
                (NameKind::Path, "Cargo.toml"),
                (NameKind::Hex, "4d5e6f7"),
                (NameKind::Identifier, "readBody"),
                (NameKind::Identifier, "PathBuf"),
                (NameKind::Identifier, "parse_line"),
                (NameKind::Number, "1500"),
            ]
        );
    }
}
