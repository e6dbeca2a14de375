//! What the user states in a conversation without tools.

use std::borrow::Cow;

use crate::facts::Fact;
use crate::statements::{self, Talk};
use crate::weights;
use crate::work::Work;

/// The user's statements in a conversation without tools.
pub(super) struct Statements {
    talk: Talk,
    is_first: bool,
    /// For each, whether a later one corrects it.
    corrected: std::vec::IntoIter<bool>,
    is_chat: bool,
}

impl Statements {
    pub(super) fn of(facts: &[(usize, &Fact)], work: Work) -> Self {
        let is_chat = work == Work::Chat;
        let texts = facts.iter().filter_map(|(_, fact)| match fact {
            Fact::Request { text, is_old, .. } if is_chat && is_statement(text, *is_old) => {
                Some(text.as_str())
            }
            _ => None,
        });
        let texts: Vec<&str> = texts.collect();
        let talk = Talk::of(texts.iter().copied());
        Self {
            corrected: talk.corrected(&texts).into_iter(),
            is_first: true,
            talk,
            is_chat,
        }
    }

    /// Whether a text of the user is one of them.
    pub(super) fn has(&self, text: &str, is_old: bool) -> bool {
        self.is_chat && is_statement(text, is_old)
    }

    /// Returns the entry of the next statement, with its worth; `None` if it is small talk.
    pub(super) fn next<'a>(&mut self, text: &'a str) -> Option<(Cow<'a, str>, f64)> {
        let is_corrected = self.corrected.next().unwrap_or(false);
        let mut score = self.talk.score(text);
        // The first message is mostly the task, whatever its words.
        if std::mem::take(&mut self.is_first) {
            score = score.max(weights::task_statement());
        }
        if score < weights::least_statement() {
            return None;
        }
        // Small talk is far more frequent than statements.
        let worth = weights::statement() * score * score;
        if is_corrected && !text.ends_with(CORRECTED) {
            let text = format!("{text}{CORRECTED}").into();
            return Some((text, worth * weights::corrected()));
        }
        Some((text.into(), worth))
    }
}

/// Whether a text is a short one in one line, which is kept or left out as a whole.
fn is_statement(text: &str, is_old: bool) -> bool {
    !is_old && text.len() <= statements::WHOLE && !text.contains('\n')
}

/// What is written behind a statement that a later one corrects.
const CORRECTED: &str = " (corrected later)";
