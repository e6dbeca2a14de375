//! What the user states in a conversation without tools.

use std::borrow::Cow;

use super::Collector;
use crate::facts::Fact;
use crate::priority::list;
use crate::rules::{Strength, changes_goal};
use crate::section::Section;
use crate::statements::Talk;
use crate::weights;
use crate::work::Work;

/// The user's statements in a conversation without tools.
pub(super) struct Statements {
    talk: Talk,
    is_first: bool,
    /// For each, whether a later one corrects it.
    corrected: std::vec::IntoIter<bool>,
}

impl Statements {
    pub(super) fn of(facts: &[(usize, &Fact)], work: Work) -> Self {
        let texts = list(facts, |fact| match fact {
            Fact::Statement { text, .. } if work == Work::Chat => Some(text),
            _ => None,
        });
        let texts: Vec<&str> = texts.into_iter().map(|(_, text)| text).collect();
        let talk = Talk::of(texts.iter().copied());
        Self {
            corrected: talk.corrected(&texts).into_iter(),
            is_first: true,
            talk,
        }
    }

    /// Reads the statement that is the first of these facts. Returns how many of those that follow it stands for.
    pub(super) fn read<'a>(
        &mut self,
        facts: &[(usize, &'a Fact)],
        collector: &mut Collector<'a>,
    ) -> usize {
        let Some((place, Fact::Statement { text, repeated })) = facts.first() else {
            return 0;
        };
        let mut own = facts.iter().skip(1).take(*repeated);
        let has_rule = own.any(|(_, fact)| matches!(fact, Fact::Rule(Strength::Rule, _)));
        if let Some((section, text, worth)) = self.next(text, has_rule) {
            collector.add(section, *place, text, worth);
        }
        *repeated
    }

    /// Returns the next statement, which has a rule or none, as an entry; `None` if it is small talk.
    fn next<'a>(&mut self, text: &'a str, has_rule: bool) -> Option<(Section, Cow<'a, str>, f64)> {
        let is_corrected = self.corrected.next().unwrap_or(false);
        let mut score = self.talk.score(text);
        // The first message is mostly the task, whatever its words.
        if std::mem::take(&mut self.is_first) || changes_goal(text) {
            score = score.max(weights::TASK_STATEMENT);
        }
        if has_rule {
            score = score.max(weights::RULE_STATEMENT);
        }
        if score < weights::LEAST_STATEMENT {
            return None;
        }
        let section = if has_rule {
            Section::Rules
        } else {
            Section::Told
        };
        // Small talk is far more frequent than statements.
        let worth = weights::STATEMENT * score * score;
        if is_corrected && !text.ends_with(CORRECTED) {
            return Some((
                section,
                format!("{text}{CORRECTED}").into(),
                worth * weights::CORRECTED,
            ));
        }
        Some((section, text.into(), worth))
    }
}

/// What is written behind a statement that a later one corrects.
const CORRECTED: &str = " (corrected later)";
