//! Normalizes texts for comparison.

/// Returns a text in lower case, with one space for each run of characters other than letters and digits.
pub(crate) fn normalize(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}
