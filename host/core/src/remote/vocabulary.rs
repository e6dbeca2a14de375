//! The codes and names of a remote strategy that may stand in receipts.
//!
//! The strategy chooses them, and could choose them after it saw a conversation. So they are few and short,
//! of characters that form no sentence, and only those count that it declared before this process sent it a
//! conversation (invariant I9). This is tracked for each strategy, not for each server: the host does not
//! know which strategies exchange what they saw (`docs/serve.md`).

use crate::report::Introspection;

/// Maximum number of codes, and of metric names.
const MAX_NAMES: usize = 64;

/// Maximum bytes of a code or name.
const MAX_NAME_BYTES: usize = 48;

/// The declaration of a remote strategy.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    declared: Option<Introspection>,
    /// Number of questions about conversations that reached it, or may have.
    questions: u32,
}

impl Vocabulary {
    /// Records an introspection. Only the first one counts, and only if the strategy saw no conversation
    /// before.
    pub(crate) fn record(&mut self, introspection: &Introspection) {
        if self.declared.is_none() && self.questions == 0 {
            self.declared = Some(introspection.clone());
        }
    }

    /// Counts a question about a conversation, which is about to be sent.
    pub(crate) const fn count_question(&mut self) {
        self.questions = self.questions.saturating_add(1);
    }

    /// Takes back a counted question that did not reach the strategy.
    pub(crate) const fn uncount_question(&mut self) {
        self.questions = self.questions.saturating_sub(1);
    }

    /// Returns the declaration; `None` if there was none in time.
    pub(crate) const fn declared(&self) -> Option<&Introspection> {
        self.declared.as_ref()
    }
}

/// Returns the names that are valid codes or metric names.
pub(crate) fn codes(names: Vec<String>) -> Vec<String> {
    names
        .into_iter()
        .filter(|name| is_code(name))
        .take(MAX_NAMES)
        .collect()
}

fn is_code(name: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declaring(code: &str) -> Introspection {
        Introspection {
            name: String::new(),
            version: String::new(),
            description: String::new(),
            config_schema: String::new(),
            reason_codes: vec![code.to_owned()],
            metric_names: Vec::new(),
            timeout_ms: None,
            memory_mib: None,
            fuel: None,
            metadata: Vec::new(),
        }
    }

    #[test]
    fn codes_keeps_only_short_plain_names() {
        let longest = "x".repeat(48);
        for code in ["old", "a.b_c-1", longest.as_str()] {
            assert_eq!(codes(vec![code.to_owned()]), [code]);
        }
        let longer = "x".repeat(49);
        for none in ["", "They sail", "Old", "caf\u{e9}", "a\n", longer.as_str()] {
            assert!(codes(vec![none.to_owned()]).is_empty(), "{none:?}");
        }
        let many: Vec<String> = (0..100).map(|number| format!("c{number}")).collect();
        assert_eq!(codes(many.clone()), many[..64]);
    }

    #[test]
    fn first_declaration_counts() {
        let mut vocabulary = Vocabulary::default();
        vocabulary.record(&declaring("old"));
        vocabulary.record(&declaring("other"));
        vocabulary.count_question();
        vocabulary.record(&declaring("sail"));
        assert_eq!(vocabulary.declared(), Some(&declaring("old")));
    }

    #[test]
    fn declaration_after_a_conversation_does_not_count() {
        let mut vocabulary = Vocabulary::default();
        vocabulary.count_question();
        vocabulary.count_question();
        vocabulary.uncount_question();
        vocabulary.record(&declaring("sail"));
        assert_eq!(vocabulary.declared(), None);
        // The other question did not reach the strategy either.
        vocabulary.uncount_question();
        vocabulary.record(&declaring("old"));
        assert_eq!(vocabulary.declared(), Some(&declaring("old")));
    }
}
