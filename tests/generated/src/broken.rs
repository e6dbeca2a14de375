//! A conversation with as many faults as a test wants.

const QUESTION: &str = r#"{"parts":[{"text":"Find the treasure."}],"role":"user"}"#;
const ANSWER: &str = r#"{"parts":[{"text":"Where?"}],"role":"model"}"#;

/// Returns a Gemini conversation with `places` empty contents between a question and its answer. Each breaks
/// a rule, and a repair removes it: the repaired document is `broken_at(0)`.
#[must_use]
pub fn broken_at(places: usize) -> String {
    let empty = "{},".repeat(places);
    format!(r#"{{"contents":[{QUESTION},{empty}{ANSWER}]}}"#)
}
