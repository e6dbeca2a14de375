//! In place of vocabularies, which are megabytes: an estimate.

/// Bytes of UTF-8 for a token: four Latin letters, somewhat more than one sign of Chinese.
const BYTES_PER_TOKEN: usize = 4;

/// There are no vocabularies.
pub(super) const fn names() -> &'static [&'static str] {
    &[]
}

/// No vocabulary is known of any model.
pub(super) const fn of_model(_model: &str) -> Option<&'static str> {
    None
}

/// Tokens of a text, about.
pub(super) const fn count(_vocabulary: &str, text: &str) -> u64 {
    text.len().div_ceil(BYTES_PER_TOKEN) as u64
}
