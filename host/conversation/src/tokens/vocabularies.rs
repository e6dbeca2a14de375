//! The built-in vocabularies.

use super::runs;

/// Differs from the default vocabulary in special tokens alone, which are counted as text.
const HARMONY: &str = "o200k_harmony";

/// Their names.
pub(super) fn names() -> &'static [&'static str] {
    tiktoken::list_encodings()
}

/// The vocabulary of a model, if it is known.
pub(super) fn of_model(model: &str) -> Option<&'static str> {
    tiktoken::model_to_encoding(model)
}

/// Tokens of a text.
pub(super) fn count(vocabulary: &str, text: &str) -> u64 {
    if let baler_vocabulary::NAME | HARMONY = vocabulary {
        return runs::count(text, baler_vocabulary::count);
    }
    let encoding = tiktoken::get_encoding(vocabulary);
    encoding.map_or(0, |encoding| {
        runs::count(text, |piece| encoding.count(piece) as u64)
    })
}
