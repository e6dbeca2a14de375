//! The entries that a digest may contain, each with its own worth.

mod chat;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::actions::{self, Action, merged};
use super::facts::{Evidence, Fact, REPAIRED, RULES, announces};
use super::priority::newest_error;
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
        let repairs = source.repairs;
        let newest_error = newest_error(facts, repairs).map(|(place, _)| place);
        let mut requests = Requests::default();
        let mut statements = Statements::of(facts, collector.work);
        // Texts of the model come behind all other candidates of the same worth.
        let mut told = Vec::new();
        for (index, (place, fact)) in facts.iter().enumerate() {
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
                        collector.add(Section::Told, place, rule.into(), weights::rule());
                    }
                    requests.read(place, text, &mut collector);
                }
                Fact::Said {
                    text,
                    ends_turn,
                    before_look,
                } => {
                    told.extend(collector.said(place, text, *ends_turn, *before_look));
                }
                Fact::Reported(text) => {
                    let worth = collector.of_model(place, weights::report(), text);
                    told.push(Candidate::told(Section::Reports, place, text.into(), worth));
                }
                Fact::Done(line) => {
                    let (worth, is_look) = actions::worth_of_line(line);
                    let worth = worth * collector.aged(place, oldest_of(is_look));
                    collector.add(Section::Done, place, line.into(), worth);
                }
                Fact::Error { line, evidence, of } if *evidence != Evidence::Word => {
                    let line = text::line(line, shares::SHORT_ENTRY);
                    let is_repaired =
                        *evidence == Evidence::Repaired || repairs.has(place, &line, of.as_deref());
                    if is_repaired {
                        // Of what one run printed, the last line sums up.
                        if facts
                            .get(index + 1)
                            .is_some_and(|(_, next)| next.is_of_same_run(fact))
                        {
                            continue;
                        }
                        let worth = collector.own(place, weights::error() * weights::repaired());
                        let line = format!("{line}{REPAIRED}");
                        collector.add(Section::Errors, place, line.into(), worth);
                    } else if !repairs.outcomes.contains(&*line) {
                        let worth = collector.own(place, weights::error());
                        collector.add(Section::Errors, place, line.into(), worth);
                    }
                }
                // It may be source code or pasted text, except the newest.
                Fact::Error { line, .. } if Some(place) == newest_error => {
                    collector.add(Section::Errors, place, line.into(), weights::newest_error());
                }
                Fact::Value { is_first, line } => {
                    let worth = match *is_first {
                        true => collector.own(place, weights::values()),
                        false => 0.0,
                    };
                    collector.add(Section::Values, place, line.into(), worth);
                }
                Fact::Earlier(line) => {
                    // The newest summary covers all before it, so its age says nothing.
                    let worth = weights::earlier() * telling(line);
                    collector.add(Section::Earlier, place, line.into(), worth);
                }
                // They are read as a whole.
                Fact::Error { .. } | Fact::Action(_) => {}
            }
        }
        for (place, (task, is_open)) in source.tasks.iter().enumerate() {
            let worth = match is_open {
                true => weights::task(),
                false => weights::finished_task(),
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
            let oldest = oldest_of(action.is_read_only());
            let worth = action.worth() * self.aged(place, oldest);
            self.add(Section::Done, place, action.line().into(), worth);
            let actions = &mut self.candidates.actions;
            actions.insert(action.label(), (place, action));
        }
    }

    /// Returns the candidate of a text of the model; `None` if it says nothing besides a command that ran.
    fn said(
        &self,
        place: usize,
        said: &'a str,
        ends_turn: bool,
        before_look: bool,
    ) -> Option<Candidate<'a>> {
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
            true if has_run => weights::thought_aloud(),
            true if answers => weights::closing(),
            true => weights::conclusion(),
            false if before_look => weights::said() * weights::before_look(),
            false => weights::said(),
        };
        let worth = self.of_model(place, worth, &text);
        Some(Candidate::told(Section::Said, place, text, worth))
    }

    /// Returns how much of its worth an entry at this place has left, of which the oldest one has `oldest`.
    fn aged(&self, place: usize, oldest: f64) -> f64 {
        let age = (self.end as f64 - place as f64) / self.end as f64;
        oldest + (1.0 - oldest) * (-age / weights::ageing()).exp()
    }

    /// Returns the worth that its age leaves an entry.
    fn own(&self, place: usize, worth: f64) -> f64 {
        worth * self.aged(place, weights::old())
    }

    /// The same of a line, which says little if it is short, however few tokens it has.
    fn of_line(&self, place: usize, worth: f64, line: &str) -> f64 {
        self.own(place, worth) * telling(line)
    }

    /// The same of a text of the model: in a conversation without tools, it mostly answers what the user says.
    fn of_model(&self, place: usize, worth: f64, text: &str) -> f64 {
        let share = match self.work {
            Work::Chat => weights::model_in_chat(),
            Work::Tools => 1.0,
        };
        self.of_line(place, worth * share, text)
    }
}

/// Returns how much of its worth the oldest action has: what was done stays done.
fn oldest_of(is_look: bool) -> f64 {
    match is_look {
        true => weights::old(),
        false => weights::old_change(),
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
            true => weights::task_itself(),
            false => {
                let says = (request.len() as f64 / weights::saying()).min(1.0);
                weights::request() * collector.aged(place, weights::old_request()) * says
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

/// Whether the model said more than it mostly does along with a call.
fn is_long(said: &str) -> bool {
    said.len() > shares::SHORT_ENTRY || said.contains('\n')
}

/// Returns how much a text can say by its length: little if it is short, however few tokens it has, and more if it is long.
fn telling(text: &str) -> f64 {
    const ENOUGH: f64 = 100.0;
    let length = text.len() as f64 / ENOUGH;
    match length < 1.0 {
        true => length.powf(1.5),
        false => length.powf(weights::longer()),
    }
}
