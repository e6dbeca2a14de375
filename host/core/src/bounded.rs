//! Limits the length of text that strategies and servers supply.

/// Returns `text` without control characters other than line breaks, cut to at most `bytes` bytes.
pub(crate) fn bounded(text: &str, bytes: usize) -> String {
    text.chars()
        .filter(|c| !c.is_control() || *c == '\n')
        .scan(0, |length, c| {
            *length += c.len_utf8();
            (*length <= bytes).then_some(c)
        })
        .collect()
}
