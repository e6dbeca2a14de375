//! Formats texts and numbers for a page. The markup escapes every value; this module shortens and cleans it.

use maud::Render;

use crate::figures;

/// The most characters that are shown of a name.
const LENGTH: usize = 120;

/// Untrusted text, without invisible characters and changes of direction, shortened to 120 characters.
pub(crate) struct Untrusted<'a>(pub(crate) &'a str);

impl Render for Untrusted<'_> {
    fn render_to(&self, buffer: &mut String) {
        label(self.0, LENGTH).render_to(buffer);
    }
}

/// Untrusted text, shortened to `length` characters.
pub(crate) fn label(text: &str, length: usize) -> String {
    let text = figures::cleaned(text);
    if text.chars().count() <= length {
        return text;
    }
    text.chars().take(length - 1).chain(['…']).collect()
}

/// A length in a chart, in pixels.
pub(crate) struct Px(pub(crate) f64);

impl Render for Px {
    fn render_to(&self, buffer: &mut String) {
        let text = format!("{:.1}", self.0);
        buffer.push_str(text.strip_suffix(".0").unwrap_or(&text));
    }
}

/// Returns `part` as a percentage of `whole`.
pub(crate) fn share(part: f64, whole: f64) -> String {
    if whole <= 0.0 {
        return "–".to_owned();
    }
    format!("{:.0} %", part / whole * 100.0)
}

/// Returns a word quoted for a shell, so that a copied command does only what it seems to do.
pub(crate) fn quoted(word: &str) -> String {
    let word = if word.starts_with('-') && word != "-" {
        format!("./{word}")
    } else {
        word.to_owned()
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word;
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns the text if it is a reference: only then may it be part of a command.
pub(crate) fn reference(text: &str) -> Option<&str> {
    let is_one =
        (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_one.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_quote_words_and_take_only_references() {
        assert_eq!(quoted("runs/a.json"), "runs/a.json");
        assert_eq!(quoted("-rf"), "./-rf");
        assert_eq!(quoted("it's; rm *"), r"'it'\''s; rm *'");
        assert_eq!(
            reference("606ccbe7fd86de715859"),
            Some("606ccbe7fd86de715859")
        );
        assert_eq!(reference("606c; rm -rf ~"), None);
        assert_eq!(reference(""), None);
    }
}
