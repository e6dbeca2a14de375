//! The codes and names that stand in receipts for what a remote strategy did.
//!
//! They are its own words, and it may have seen a conversation before it says them. So they are short, few, and
//! of characters that make no sentence; and they stay those that it declared before this process showed it
//! anything (invariant I9). That is kept for each strategy, and not for its server: the host does not know which of
//! them tell each other what they saw (`docs/serve.md`).

use crate::report::Introspection;

/// The most of each kind.
const MOST: usize = 64;

/// Bytes of the longest.
const LONGEST: usize = 48;

/// What a remote strategy declared.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    declared: Option<Introspection>,
    /// Questions about conversations that reached it, or may have.
    shown: u32,
}

impl Vocabulary {
    /// Hears what it says of itself. That counts once, and only where it saw nothing yet.
    pub(crate) fn hear(&mut self, said: &Introspection) {
        if self.declared.is_none() && self.shown == 0 {
            self.declared = Some(said.clone());
        }
    }

    /// Notes that it is about to see a conversation.
    pub(crate) const fn show(&mut self) {
        self.shown = self.shown.saturating_add(1);
    }

    /// Notes that one that it was about to see did not reach it.
    pub(crate) const fn did_not_reach(&mut self) {
        self.shown = self.shown.saturating_sub(1);
    }

    /// What it declared; `None` where it said nothing of itself in time.
    pub(crate) const fn declared(&self) -> Option<&Introspection> {
        self.declared.as_ref()
    }
}

/// Those that can be a code or the name of a metric.
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
