//! The codes and names of a remote strategy that may stand in receipts.
//!
//! The strategy chooses them, and could choose them after it saw a conversation. So they are few and short,
//! of characters that form no sentence, and only those count that it declared before this process sent it a
//! conversation (invariant I9). This is tracked for each strategy, not for each server: the host does not
//! know which strategies exchange what they saw (`docs/serve.md`).

use crate::report::Introspection;

/// The most codes, and the most metric names.
const MOST: usize = 64;

/// The most bytes of a code or name.
const LONGEST: usize = 48;

/// The declaration of a remote strategy.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    declared: Option<Introspection>,
    /// Number of questions about conversations that reached it, or may have.
    shown: u32,
}

impl Vocabulary {
    /// Notes an introspection. Only the first one counts, and only if the strategy saw no conversation
    /// before.
    pub(crate) fn hear(&mut self, said: &Introspection) {
        if self.declared.is_none() && self.shown == 0 {
            self.declared = Some(said.clone());
        }
    }

    /// Notes that a conversation is about to be sent.
    pub(crate) const fn show(&mut self) {
        self.shown = self.shown.saturating_add(1);
    }

    /// Notes that a conversation that was about to be sent did not reach the strategy.
    pub(crate) const fn did_not_reach(&mut self) {
        self.shown = self.shown.saturating_sub(1);
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
        .take(MOST)
        .collect()
}

fn is_code(name: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(is_plain)
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
    fn a_code_is_short_and_no_sentence() {
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
    fn what_was_declared_first_stays() {
        let mut vocabulary = Vocabulary::default();
        vocabulary.hear(&declaring("old"));
        vocabulary.hear(&declaring("other"));
        vocabulary.show();
        vocabulary.hear(&declaring("sail"));
        assert_eq!(vocabulary.declared(), Some(&declaring("old")));
    }

    #[test]
    fn what_is_declared_behind_a_conversation_does_not_count() {
        let mut vocabulary = Vocabulary::default();
        vocabulary.show();
        vocabulary.show();
        vocabulary.did_not_reach();
        vocabulary.hear(&declaring("sail"));
        assert_eq!(vocabulary.declared(), None);
        // The other one did not reach it either.
        vocabulary.did_not_reach();
        vocabulary.hear(&declaring("old"));
        assert_eq!(vocabulary.declared(), Some(&declaring("old")));
    }
}
