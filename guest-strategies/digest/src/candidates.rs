//! The entries that a digest may contain, each with its own worth.

mod chat;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::actions::{Action, merged};
use super::facts::{Evidence, Fact, RULES, announces};
use super::priority::{newest_error, newest_tasks};
use super::section::Section;
use super::shell_blocks::without_block_that_ran;
use super::work::Work;
use super::write::Source;
use super::{shares, text, weights};
use chat::Statements;

/// Most candidates. Recordings of 10 MB have a tenth of it.
const MOST: usize = 10_000;

/// An entry that may be chosen.
#[derive(Debug, Clone)]
pub(super) struct Candidate<'a> {
    pub(super) section: Section,
    /// Its order in the section.
    pub(super) place: usize,
    pub(super) text: Cow<'a, str>,
    /// Its own worth (`weights.rs`), without that of its names.
    pub(super) worth: f64,
    /// The whole text, if `text` is only its beginning.
    pub(super) whole: Option<Cow<'a, str>>,
}

/// All entries that may be chosen, and the actions to which names can be attached.
#[derive(Debug, Clone, Default)]
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
        // First of all: others refer to them.
        collector.add_actions(facts);
        let actions = collector.candidates.actions.values();
        let outcomes: BTreeSet<String> = actions
            .filter_map(|(_, action)| action.outcome().map(str::to_owned))
            .collect();
        let newest_error = newest_error(facts).map(|(place, _)| place);
        let mut requests = Requests::default();
        let mut statements = Statements::of(facts, collector.work);
        // Texts of the model come behind all other candidates of the same worth.
        let mut told = Vec::new();
        for (place, fact) in facts {
            let place = *place;
            match fact {
                Fact::Request {
                    text,
                    rules,
                    is_old,
                } => {
                    if statements.has(text, *is_old) {
                        if let Some((text, worth)) = statements.next(text) {
                            collector.add(Section::Told, place * RULES, text, worth);
                        }
                        continue;
                    }
                    // Texts of the user are removed only where they exceed the share that the host keeps.
                    for (number, rule) in rules.iter().enumerate() {
                        let place = place * RULES + number;
                        collector.add(Section::Told, place, rule.into(), weights::RULE);
                    }
                    requests.read(place, text, &mut collector);
                }
                Fact::Said { text, ends_turn } => {
                    told.extend(collector.said(place, text, *ends_turn));
                }
                Fact::Reported(text) => {
                    let worth = weights::REPORT * by_length(text);
                    let worth = collector.of_model(place, worth, text);
                    told.push(Candidate::told(Section::Reports, place, text.into(), worth));
                }
                Fact::Done(line) => {
                    let worth = collector.own(place, weights::DONE);
                    collector.add(Section::Done, place, line.into(), worth);
                }
                Fact::Error {
                    line,
                    evidence: Evidence::Sure,
                } => {
                    let line = text::line(line, shares::SHORT_ENTRY);
                    if !outcomes.contains(&*line) {
                        let worth = collector.own(place, weights::ERROR);
                        collector.add(Section::Errors, place, line.into(), worth);
                    }
                }
                // It may be source code or pasted text, except the newest.
                Fact::Error { line, .. } if Some(place) == newest_error => {
                    collector.add(Section::Errors, place, line.into(), weights::NEWEST_ERROR);
                }
                Fact::Value { is_first, line } => {
                    let worth = match *is_first {
                        true => collector.own(place, weights::VALUES),
                        false => 0.0,
                    };
                    collector.add(Section::Values, place, line.into(), worth);
                }
                Fact::Earlier(line) => {
                    let worth = collector.of_line(place, weights::EARLIER, line);
                    collector.add(Section::Earlier, place, line.into(), worth);
                }
                // They are read as a whole.
                Fact::Error { .. } | Fact::Action(_) | Fact::Tasks(_) => {}
            }
        }
        for (place, task) in newest_tasks(facts) {
            let is_open = task.starts_with("[ ]") || task.starts_with("[>]");
            let worth = match is_open {
                true => weights::TASK,
                false => weights::FINISHED_TASK,
            };
            collector.add(Section::Tasks, place, task.into(), worth);
        }
        let mut candidates = collector.candidates;
        candidates.all.extend(told);
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

impl<'a> Candidate<'a> {
    const fn new(section: Section, place: usize, text: Cow<'a, str>, worth: f64) -> Self {
        Self {
            section,
            place,
            text,
            worth,
            whole: None,
        }
    }

    /// The same of a text of a model, which may be long.
    fn told(section: Section, place: usize, text: Cow<'a, str>, worth: f64) -> Self {
        let ends = (text.len() > LONG).then(|| text::ends(&text, ENDS));
        match ends {
            Some(ends) => Self {
                whole: Some(text),
                ..Self::new(section, place, ends.into(), worth)
            },
            None => Self::new(section, place, text, worth),
        }
    }
}

/// Bytes from which on a text of a model may stand with its beginning and its end alone.
const LONG: usize = 1_500;

/// Most bytes of these.
const ENDS: usize = 700;

/// Collects candidates, with the worth that their age and their length leave them.
struct Collector<'a> {
    work: Work,
    /// The place behind the last fact.
    end: usize,
    candidates: Candidates<'a>,
}

impl<'a> Collector<'a> {
    fn add(&mut self, section: Section, place: usize, text: Cow<'a, str>, worth: f64) {
        let candidate = Candidate::new(section, place, text, worth);
        self.candidates.all.push(candidate);
    }

    fn add_actions(&mut self, facts: &[(usize, &'a Fact)]) {
        let actions = facts.iter().filter_map(|(place, fact)| match fact {
            Fact::Action(action) => Some((*place, &**action)),
            _ => None,
        });
        for (place, action) in merged(actions) {
            let oldest = match action.edited_file() {
                Some(_) => weights::OLD_CHANGE,
                None => weights::OLD,
            };
            let worth = action.worth() * self.aged(place, oldest);
            self.add(Section::Done, place, action.line().into(), worth);
            let actions = &mut self.candidates.actions;
            actions.insert(action.label(), (place, action));
        }
    }

    /// Returns the candidate of a text of the model; `None` if it says nothing besides a command that ran.
    fn said(&self, place: usize, said: &'a str, ends_turn: bool) -> Option<Candidate<'a>> {
        let actions = &self.candidates.actions;
        let is_known = |action: &Action| actions.contains_key(&action.label());
        let text = without_block_that_ran(said, is_known);
        let has_run = matches!(text, Cow::Owned(_));
        let only_announces = has_run && !text.contains('\n') && announces(&text);
        if text.is_empty() || only_announces {
            return None;
        }
        let answers = ends_turn && self.work != Work::Chat && !has_run;
        let worth = match answers || is_long(&text) {
            true if has_run => weights::THOUGHT_ALOUD,
            true if answers => weights::CLOSING,
            true => weights::CONCLUSION,
            false => weights::SAID,
        };
        let worth = self.of_model(place, worth * by_length(&text), &text);
        Some(Candidate::told(Section::Said, place, text, worth))
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

    /// The same of a text of the model: in a conversation without tools, it mostly answers what the user says.
    fn of_model(&self, place: usize, worth: f64, text: &str) -> f64 {
        let share = match self.work {
            Work::Chat => weights::MODEL_IN_CHAT,
            Work::Tools => 1.0,
        };
        self.of_line(place, worth * share, text)
    }
}

/// The user's requests, of which many may begin alike.
#[derive(Default)]
struct Requests {
    has_first: bool,
    beginnings: BTreeSet<String>,
}

impl Requests {
    fn read<'a>(&mut self, place: usize, request: &'a str, collector: &mut Collector<'a>) {
        if asks_nothing(request) {
            return;
        }
        // The request is already a block.
        let short = text::shorten_to_sentence(request, shares::SHORT_ENTRY);
        let is_task = !std::mem::replace(&mut self.has_first, true) && collector.work != Work::Chat;
        let worth = match is_task {
            true => weights::TASK_ITSELF,
            false => {
                let says = (request.len() as f64 / weights::SAYING).min(1.0);
                weights::REQUEST * collector.aged(place, weights::OLD_REQUEST) * says
            }
        };
        let mut candidate = Candidate::new(Section::Requests, place, request.into(), worth);
        // Requests of one template differ only after their beginning.
        if let Cow::Owned(short) = short
            && self.beginnings.insert(short.clone())
        {
            candidate.text = short.into();
            candidate.whole = Some(request.into());
        }
        collector.candidates.all.push(candidate);
    }
}

/// Whether a request is only signs, or a command of the program in which it was written: `/model`.
fn asks_nothing(request: &str) -> bool {
    let is_command = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '-');
    !request.chars().any(char::is_alphanumeric) || request.strip_prefix('/').is_some_and(is_command)
}

/// Returns how many times as much a text is worth by its length.
fn by_length(text: &str) -> f64 {
    (text.len() as f64 / weights::LONG).clamp(1.0, weights::LONGER)
}

/// Whether the model said more than it mostly does along with a call.
fn is_long(said: &str) -> bool {
    said.len() > shares::SHORT_ENTRY || said.contains('\n')
}

/// Returns from 0 to 1 how much a line can say by its length.
fn telling(line: &str) -> f64 {
    const ENOUGH: f64 = 100.0;
    (line.len() as f64 / ENOUGH).min(1.0).powf(1.5)
}
