//! Texts as they are compared.

/// A text in small letters, with one space where there was anything but letters and digits.
pub(crate) fn normalised(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}
