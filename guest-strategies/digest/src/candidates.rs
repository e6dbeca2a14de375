//! The entries that a digest may contain, each with its own worth.

mod chat;
mod model;
mod tools;
mod user;

pub(super) use user::asks_nothing;

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::actions::Action;
use super::facts::Fact;
use super::gist::Longer;
use super::section::Section;
use super::weights;
use super::work::Work;
use super::write::Source;
use chat::Statements;
use model::Model;
use tools::Tools;
use user::User;

/// Most candidates. Recordings of 10 MB have a tenth of it.
const MOST: usize = 10_000;

/// Most sentences of a message that are looked for in the whole of it.
const SENTENCES: usize = 20;

/// An entry that may be chosen.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub(super) section: Section,
    /// Its order in the section.
    pub(super) place: usize,
    pub(super) text: Cow<'a, str>,
    /// Its own worth (`weights.rs`), without that of its names.
    pub(super) worth: f64,
    /// Longer forms of the text.
    pub(super) longer: Option<Longer<'a>>,
    /// The place of the first sentence that is quoted from the same message.
    pub(super) from: usize,
}

/// All entries that may be chosen, and the actions to which names can be attached.
#[derive(Debug, Default)]
pub(super) struct Candidates<'a> {
    pub(super) all: Vec<Candidate<'a>>,
    /// Actions with their places, by the label of their names.
    pub(super) actions: BTreeMap<String, (usize, Action)>,
}

impl<'a> Candidates<'a> {
    /// Collects the candidates of what a digest is written from.
    pub(super) fn of(source: &Source<'a>) -> Self {
        let facts = source.facts;
        let mut collector = Collector {
            work: source.names.work,
            end: facts.last().map_or(1, |(place, _)| place + 1),
            candidates: Self::default(),
        };
        let tools = Tools::of(source, &mut collector);
        let mut statements = Statements::of(facts, collector.work);
        let mut model = Model::of(source);
        let mut user = User::of(facts);
        let mut repeated = 0;
        for (index, (_, fact)) in facts.iter().enumerate() {
            if repeated > 0 {
                repeated -= 1;
                continue;
            }
            match fact {
                Fact::Statement { .. } if collector.work == Work::Chat => {
                    repeated = statements.read(&facts[index..], &mut collector);
                }
                Fact::Statement { .. } => {}
                Fact::Rule(..) | Fact::Request(_) | Fact::Heard(_) | Fact::Mentioned(_) => {
                    user.read(facts, index, &mut collector);
                }
                Fact::Said { .. }
                | Fact::Reported { .. }
                | Fact::Thought(_)
                | Fact::Decision(_)
                | Fact::Open(_) => model.read(facts, index, &mut collector),
                // Actions and tasks are read as a whole.
                Fact::Action(_) | Fact::Tasks(_) => {}
                Fact::Changed(_)
                | Fact::Content(_)
                | Fact::Done(_)
                | Fact::Error { .. }
                | Fact::Value { .. }
                | Fact::Earlier(_) => tools.read(&facts[index], &mut collector),
            }
        }
        tools.finish(source, &mut collector);
        model.finish(&mut collector);
        user.finish(&mut collector);
        let mut candidates = collector.candidates;
        candidates.leave_out_the_least();
        candidates
    }

    /// Keeps the [`MOST`] candidates that are worth most by themselves. Each may be looked at again for each one that
    /// is chosen, and a conversation is limited by its bytes alone.
    fn leave_out_the_least(&mut self) {
        if self.all.len() > MOST {
            // Stable, so that of equal ones the first stay.
            self.all
                .sort_by(|one, other| other.worth.total_cmp(&one.worth));
            self.all.truncate(MOST);
        }
    }
}

/// Collects candidates, with the worth that their age and their length leave them.
struct Collector<'a> {
    work: Work,
    /// The place behind the last fact.
    end: usize,
    candidates: Candidates<'a>,
}

impl<'a> Collector<'a> {
    fn add(&mut self, section: Section, place: usize, text: Cow<'a, str>, worth: f64) {
        self.candidates.all.push(Candidate {
            section,
            place,
            text,
            worth,
            longer: None,
            from: place,
        });
    }

    /// Returns how much of its worth an entry at this place has left, of which the oldest one has `oldest`.
    fn aged(&self, place: usize, oldest: f64) -> f64 {
        let age = (self.end as f64 - place as f64) / self.end as f64;
        oldest + (1.0 - oldest) * (-age / weights::AGEING).exp()
    }

    /// Returns the worth that its age leaves an entry.
    fn own(&self, place: usize, worth: f64) -> f64 {
        worth * self.aged(place, weights::OLD)
    }

    /// The same of a line, which says little if it is short, however few tokens it has.
    fn of_line(&self, place: usize, worth: f64, line: &str) -> f64 {
        self.own(place, worth) * telling(line)
    }
}

/// Returns the place of the first of the facts directly before `index` that `is_part` says are of the same message.
fn first_of_message(
    facts: &[(usize, &Fact)],
    index: usize,
    is_part: &dyn Fn(&Fact) -> bool,
) -> usize {
    let before = facts[..index].iter().rev().take(SENTENCES);
    let part = before.take_while(|(_, fact)| is_part(fact)).last();
    part.unwrap_or(&facts[index]).0
}

/// Returns from 0 to 1 how much a line can say by its length.
fn telling(line: &str) -> f64 {
    const ENOUGH: f64 = 100.0;
    (line.len() as f64 / ENOUGH).min(1.0).powf(1.5)
}
