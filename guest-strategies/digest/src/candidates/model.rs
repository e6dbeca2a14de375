//! What the model said, thought and found out, and what other agents reported to it.

use std::borrow::Cow;

use super::{Candidate, Collector, first_of_message};
use crate::actions::Action;
use crate::facts::{Fact, announces};
use crate::gist::Longer;
use crate::section::Section;
use crate::shell_blocks::{has_command, without_block_that_ran};
use crate::work::Work;
use crate::write::Source;
use crate::{shares, weights};

pub(super) struct Model<'s, 'a> {
    /// How the user's answer to the newest conclusion begins.
    answer: &'s str,
    newest_conclusions: [Option<usize>; 3],
    /// Whether the model writes its commands into its texts, so that each of these is mostly about the next step.
    thinks_aloud: bool,
    /// Texts, which come behind all other candidates of the same worth.
    told: Vec<Candidate<'a>>,
}

impl<'s, 'a> Model<'s, 'a> {
    pub(super) fn of(source: &Source<'s>) -> Self {
        Self {
            answer: source.answer,
            newest_conclusions: match source.names.work {
                Work::Chat => [None; 3],
                _ => newest_conclusions(source.facts),
            },
            thinks_aloud: thinks_aloud(source.facts),
            told: Vec::new(),
        }
    }

    /// Reads the fact with this index, which is one of the model's.
    pub(super) fn read(
        &mut self,
        facts: &[(usize, &'a Fact)],
        index: usize,
        collector: &mut Collector<'a>,
    ) {
        let (place, fact) = facts[index];
        match fact {
            Fact::Said {
                text,
                forms,
                ends_turn,
                is_log,
            } => {
                let from = first_of_message(facts, index, &is_of_model);
                let said = Said {
                    text,
                    forms,
                    ends_turn: *ends_turn,
                    is_log: *is_log,
                };
                self.told.extend(self.said(place, from, &said, collector));
            }
            Fact::Reported { text, forms } => {
                let worth = of_model(collector, place, weights::REPORT * by_length(text), text);
                let (short, longer) = Longer::of(forms, text.into());
                self.told.push(Candidate {
                    section: Section::Reports,
                    place,
                    text: short,
                    worth,
                    longer,
                    from: place,
                });
            }
            Fact::Thought(line) => {
                let worth = collector.of_line(place, weights::THOUGHT, line);
                collector.add(Section::Thoughts, place, line.into(), worth);
            }
            Fact::Decision(line) => {
                let worth = collector.own(place, weights::DECISION);
                collector.add(Section::Decisions, place, line.into(), worth);
            }
            Fact::Open(line) => {
                let worth = weights::OPEN * collector.aged(place, 0.0) * super::telling(line);
                collector.add(Section::Open, place, line.into(), worth);
            }
            _ => {}
        }
    }

    /// Returns the candidate of a text; `None` if it says nothing besides a command that ran.
    fn said(
        &self,
        place: usize,
        from: usize,
        said: &Said<'a>,
        collector: &Collector<'a>,
    ) -> Option<Candidate<'a>> {
        let actions = &collector.candidates.actions;
        let is_known = |action: &Action| actions.contains_key(&action.label());
        let text = without_block_that_ran(said.text, is_known);
        let has_run = matches!(text, Cow::Owned(_));
        let only_announces = has_run && !text.contains('\n') && announces(&text);
        if text.is_empty() || only_announces {
            return None;
        }
        let is_step = has_run || self.thinks_aloud && has_command(said.text);
        let answers = said.ends_turn && collector.work != Work::Chat && !is_step;
        let worth = match (answers || is_long(&text)) && !said.is_log {
            true if is_step => weights::THOUGHT_ALOUD,
            true if self.newest_conclusions.contains(&Some(place)) => {
                weights::CONCLUSION * weights::NEWEST_CONCLUSION
            }
            true if answers => weights::CLOSING,
            true => weights::CONCLUSION,
            false => weights::SAID,
        };
        let worth = match said.is_log {
            true => worth,
            false => worth * by_length(&text),
        };
        let worth = of_model(collector, place, worth, &text);
        let is_answered = self.newest_conclusions[0] == Some(place) && !self.answer.is_empty();
        let (text, longer) = match is_answered {
            true => Longer::answered(text, self.answer),
            false => Longer::of(said.forms, text),
        };
        Some(Candidate {
            section: Section::Said,
            place,
            text,
            worth,
            longer,
            from,
        })
    }

    pub(super) fn finish(self, collector: &mut Collector<'a>) {
        collector.candidates.all.extend(self.told);
    }
}

/// A text of the model.
struct Said<'a> {
    text: &'a str,
    forms: &'a [String],
    ends_turn: bool,
    is_log: bool,
}

/// Returns the worth of a text of the model: in a conversation without tools, it mostly answers what the user says.
fn of_model(collector: &Collector<'_>, place: usize, worth: f64, text: &str) -> f64 {
    let share = match collector.work {
        Work::Chat => weights::MODEL_IN_CHAT,
        _ => 1.0,
    };
    collector.of_line(place, worth * share, text)
}

/// Returns how many times as much a text is worth by its length.
fn by_length(text: &str) -> f64 {
    (text.len() as f64 / weights::LONG).clamp(1.0, weights::LONGER)
}

/// Whether most texts that the model ended its turn with hold a command.
fn thinks_aloud(facts: &[(usize, &Fact)]) -> bool {
    let texts = facts.iter().filter_map(|(_, fact)| match fact {
        Fact::Said {
            text,
            ends_turn: true,
            ..
        } => Some(text),
        _ => None,
    });
    let (steps, others): (Vec<&String>, Vec<&String>) = texts.partition(|text| has_command(text));
    steps.len() > others.len()
}

/// Returns the places of the newest conclusion, of the newest one that ended a turn, and of the last one before the newest
/// request.
fn newest_conclusions(facts: &[(usize, &Fact)]) -> [Option<usize>; 3] {
    let newest = |facts: &[(usize, &Fact)], counts: fn(&str, bool) -> bool| {
        facts.iter().rev().find_map(|(place, fact)| match fact {
            Fact::Said {
                text, ends_turn, ..
            } if counts(text, *ends_turn) => Some(*place),
            _ => None,
        })
    };
    let concludes = |text: &str, ends_turn| ends_turn || is_long(text);
    let is_request = |(_, fact): &(usize, &Fact)| fact.request().is_some();
    let request = facts.iter().rposition(is_request).unwrap_or(0);
    [
        newest(facts, concludes),
        newest(facts, |_, ends_turn| ends_turn),
        newest(&facts[..request], concludes),
    ]
}

/// Whether the model said more than it mostly does along with a call.
fn is_long(said: &str) -> bool {
    said.len() > shares::SHORT_ENTRY || said.contains('\n')
}

const fn is_of_model(fact: &Fact) -> bool {
    matches!(fact, Fact::Decision(_) | Fact::Open(_))
}
