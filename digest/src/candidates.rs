//! The entries that a digest may contain, each with its own worth.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::actions::{Action, merged};
use super::contents::ContentKind;
use super::facts::{Evidence, Fact, announces};
use super::gist::Longer;
use super::priority::{list, newest_error, newest_tasks};
use super::rules::{Strength, changes_goal};
use super::section::Section;
use super::shell_blocks::without_block_that_ran;
use super::statements::Talk;
use super::work::Work;
use super::write::Source;
use super::{outdated, shares, status, text, weights};

/// Most candidates. Recordings of 10 MB have a tenth of it.
const MOST: usize = 10_000;

/// Most bytes of a text of the user that is mentioned where it was made.
const MENTION: usize = 50;

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
        let (facts, answer, work) = (source.facts, source.answer, source.names.work);
        let mut candidates = Self::default();
        let end = facts.last().map_or(1, |(place, _)| place + 1);
        let aged = |place: usize, oldest: f64| {
            let age = (end as f64 - place as f64) / end as f64;
            oldest + (1.0 - oldest) * (-age / weights::AGEING).exp()
        };
        candidates.add_actions(facts, work, &aged);
        let actions = candidates.actions.values();
        let outcomes: BTreeSet<&str> = actions.filter_map(|(_, action)| action.outcome()).collect();
        let has_run = |action: &Action| candidates.actions.contains_key(&action.label());
        let mut add = |section, place, text: Cow<'a, str>, worth| {
            candidates.all.push(Candidate {
                section,
                place,
                text,
                worth,
                longer: None,
                from: place,
            });
        };
        // Services return other records by the same names.
        let outdated = match work {
            Work::Coding => outdated::places(facts),
            _ => BTreeSet::new(),
        };
        let mut statements = Statements::of(facts, work);
        let newest_conclusions = match work {
            Work::Chat => [None; 3],
            _ => newest_conclusions(facts),
        };
        let newest = newest_error(facts).map(|(place, _)| place);
        let newest_values = newest_values(facts).filter(|_| work == Work::Service);
        let is_kept =
            |(_, fact): &(usize, &Fact)| matches!(fact, Fact::Heard(_) | Fact::Mentioned(_));
        let mut mentions = BTreeSet::new();
        let last_kept = facts.iter().rposition(is_kept);
        let mut requests = Vec::new();
        let mut told = Vec::new();
        let mut repeated = 0;
        for (index, (place, fact)) in facts.iter().enumerate() {
            let place = *place;
            let own = |worth: f64| worth * aged(place, weights::OLD);
            // A short line says little, however few tokens it has.
            let of_line = |worth: f64, line: &str| own(worth) * telling(line);
            let of_model = |worth: f64, line: &str| match work {
                // It mostly answers what the user says.
                Work::Chat => of_line(worth * weights::MODEL_IN_CHAT, line),
                _ => of_line(worth, line),
            };
            if repeated > 0 {
                repeated -= 1;
                continue;
            }
            match fact {
                Fact::Statement {
                    text,
                    repeated: following,
                } if work == Work::Chat => {
                    repeated = *following;
                    let mut own = facts.iter().skip(index + 1).take(repeated);
                    let has_rule =
                        own.any(|(_, fact)| matches!(fact, Fact::Rule(Strength::Rule, _)));
                    if let Some((section, text, worth)) = statements.next(text, has_rule) {
                        add(section, place, text, worth);
                    }
                }
                Fact::Statement { .. } => {}
                Fact::Rule(strength, rule) => {
                    let worth = match strength {
                        Strength::Rule => weights::RULE,
                        Strength::Remark if work == Work::Service => weights::REMARK_IN_SERVICE,
                        Strength::Wish | Strength::Remark => weights::WISH,
                    };
                    add(strength.section(), place, rule.into(), worth);
                }
                Fact::Request(request) if asks_nothing(request) => {}
                Fact::Request(request) => {
                    let from = first_of_message(facts, index, &is_of_user);
                    requests.push((place, from, request.as_str()));
                }
                Fact::Heard(line) | Fact::Mentioned(line) => {
                    if work != Work::Chat && !asks_nothing(line) {
                        let worth = match last_kept == Some(index) {
                            true => weights::LAST_HEARD,
                            false => weights::HEARD,
                        };
                        let short = text::line(line, MENTION);
                        // Texts of one template begin alike.
                        let line = match mentions.insert(short.clone()) {
                            true => short,
                            false => line.clone(),
                        };
                        add(Section::Kept, place, line.into(), worth);
                    }
                }
                // Actions are there already, tasks follow below.
                Fact::Action(_) | Fact::Tasks(_) => {}
                Fact::Changed(line) => {
                    let worth = weights::CHANGED * aged(place, weights::OLD_EDIT);
                    add(Section::Done, place, line.into(), worth);
                }
                Fact::Content(_) if outdated.contains(&place) => {}
                Fact::Content(content) => {
                    let worth = match content.kind {
                        ContentKind::Code => weights::DECLARED,
                        ContentKind::Purpose => weights::PURPOSE,
                        ContentKind::Reason => weights::COMMENTED,
                    };
                    add(Section::Done, place, (&content.line).into(), own(worth));
                }
                Fact::Done(line) => add(Section::Done, place, line.into(), own(weights::DONE)),
                Fact::Said {
                    text,
                    forms,
                    ends_turn,
                    is_log,
                } => {
                    let is_log = *is_log;
                    let said = without_block_that_ran(text, has_run);
                    let has_run = matches!(said, Cow::Owned(_));
                    let only_announces = has_run && !said.contains('\n') && announces(&said);
                    if said.is_empty() || only_announces {
                        continue;
                    }
                    let answers = *ends_turn && work != Work::Chat && !has_run;
                    let worth = match (answers || is_long(&said)) && !is_log {
                        true if newest_conclusions.contains(&Some(place)) => {
                            weights::CONCLUSION * weights::NEWEST_CONCLUSION
                        }
                        true if answers => weights::CLOSING,
                        true if has_run => weights::THOUGHT_ALOUD,
                        true => weights::CONCLUSION,
                        false => weights::SAID,
                    };
                    let length = said.len() as f64 / weights::LONG;
                    let worth = match is_log {
                        true => worth,
                        false => worth * length.clamp(1.0, weights::LONGER),
                    };
                    let worth = of_model(worth, &said);
                    let is_answered = newest_conclusions[0] == Some(place) && !answer.is_empty();
                    let (text, longer) = match is_answered {
                        true => Longer::answered(said, answer),
                        false => Longer::of(forms, said),
                    };
                    told.push(Candidate {
                        section: Section::Said,
                        place,
                        text,
                        worth,
                        longer,
                        from: first_of_message(facts, index, &is_of_model),
                    });
                }
                Fact::Reported { text, forms } => {
                    let length = text.len() as f64 / weights::LONG;
                    let worth = weights::REPORT * length.clamp(1.0, weights::LONGER);
                    let (short, longer) = Longer::of(forms, text.into());
                    told.push(Candidate {
                        section: Section::Reports,
                        place,
                        text: short,
                        worth: of_model(worth, text),
                        longer,
                        from: place,
                    });
                }
                Fact::Thought(line) => {
                    add(
                        Section::Thoughts,
                        place,
                        line.into(),
                        of_line(weights::THOUGHT, line),
                    );
                }
                Fact::Decision(line) => {
                    add(
                        Section::Decisions,
                        place,
                        line.into(),
                        own(weights::DECISION),
                    );
                }
                Fact::Error {
                    line,
                    evidence: Evidence::Sure,
                } => {
                    let line = text::line(line, shares::SHORT_ENTRY);
                    if outcomes.contains(&*line) {
                        continue;
                    }
                    add(Section::Errors, place, line.into(), own(weights::ERROR));
                }
                // It may be source code or pasted text, except the newest.
                Fact::Error { line, .. } if Some(place) == newest => {
                    add(Section::Errors, place, line.into(), weights::NEWEST_ERROR);
                }
                Fact::Error { .. } => {}
                Fact::Value { .. } if outdated.contains(&place) => {}
                Fact::Value { number, line, .. } => {
                    let is_newest = newest_values.is_some_and(|first| place >= first);
                    let worth = match *number {
                        number if is_newest && number < weights::LINES_OF_NEWEST => {
                            weights::NEWEST_VALUES
                        }
                        0 => own(weights::VALUES),
                        _ => 0.0,
                    };
                    add(Section::Values, place, line.into(), worth);
                }
                Fact::Open(line) => {
                    let worth = weights::OPEN * aged(place, 0.0) * telling(line);
                    add(Section::Open, place, line.into(), worth);
                }
                Fact::Earlier(line) => {
                    add(
                        Section::Earlier,
                        place,
                        line.into(),
                        of_line(weights::EARLIER, line),
                    );
                }
            }
        }
        for (place, task) in newest_tasks(facts) {
            let is_open = task.starts_with("[ ]") || task.starts_with("[>]");
            let worth = match is_open {
                true => weights::TASK,
                false => weights::FINISHED_TASK,
            };
            add(Section::Tasks, place, task.into(), worth);
        }
        if let Some(status) = &source.status {
            add(Section::Done, end, status.clone().into(), weights::STATUS);
        }
        candidates.all.extend(told);
        candidates.add_requests(&requests, work, &aged);
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

    fn add_actions(
        &mut self,
        facts: &[(usize, &'a Fact)],
        work: Work,
        aged: &dyn Fn(usize, f64) -> f64,
    ) {
        let actions = facts.iter().filter_map(|(place, fact)| match fact {
            Fact::Action(action) => Some((*place, &**action)),
            _ => None,
        });
        for (place, action) in merged(actions) {
            let oldest = match action.edited_file() {
                Some(_) => weights::OLD_CHANGE,
                None => weights::OLD,
            };
            let worth = match work == Work::Service && status::changes_something(&action, work) {
                true => weights::ACT,
                false => action.worth(),
            };
            self.all.push(Candidate {
                section: Section::Done,
                place,
                text: action.line().into(),
                worth: worth * aged(place, oldest),
                longer: None,
                from: place,
            });
            self.actions.insert(action.label(), (place, action));
        }
    }

    fn add_requests(
        &mut self,
        requests: &[(usize, usize, &'a str)],
        work: Work,
        aged: &dyn Fn(usize, f64) -> f64,
    ) {
        let first = requests.first().map(|(place, ..)| *place);
        let first = first.filter(|_| work != Work::Chat);
        let mut beginnings: BTreeSet<String> = BTreeSet::new();
        for &(place, from, request) in requests {
            // The request is already a block.
            let short = text::shorten_to_sentence(request, shares::SHORT_ENTRY);
            let worth = match Some(place) == first {
                true => weights::TASK_ITSELF,
                false => {
                    let says = (request.len() as f64 / weights::SAYING).min(1.0);
                    let own = match is_command(request) {
                        true => weights::COMMANDED,
                        false => weights::REQUEST,
                    };
                    own * aged(place, weights::OLD_REQUEST) * says
                }
            };
            // Requests of one template differ only after their beginning.
            let is_first = beginnings.insert(short.clone().into_owned());
            let short = if is_first {
                short
            } else {
                Cow::Borrowed(request)
            };
            let longer = match short {
                Cow::Borrowed(_) => None,
                Cow::Owned(_) => Some(Longer::whole(request.into())),
            };
            self.all.push(Candidate {
                section: Section::Requests,
                place,
                text: short,
                worth: if changes_goal(request) {
                    worth * 2.0
                } else {
                    worth
                },
                longer,
                from,
            });
        }
    }
}

/// The user's statements in a conversation without tools.
struct Statements {
    talk: Talk,
    is_first: bool,
    /// For each, whether a later one corrects it.
    corrected: std::vec::IntoIter<bool>,
}

impl Statements {
    fn of(facts: &[(usize, &Fact)], work: Work) -> Self {
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

/// Returns the place of the first values of the newest record.
fn newest_values(facts: &[(usize, &Fact)]) -> Option<usize> {
    let mut newest = facts.iter().rev();
    newest.find_map(|(place, fact)| matches!(fact, Fact::Value { number: 0, .. }).then_some(*place))
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

const fn is_of_model(fact: &Fact) -> bool {
    matches!(fact, Fact::Decision(_) | Fact::Open(_))
}

const fn is_of_user(fact: &Fact) -> bool {
    matches!(fact, Fact::Rule(..))
}

/// Whether a request is one line with a command of the program in which it was written: `/run make`.
fn is_command(request: &str) -> bool {
    let name = request
        .strip_prefix('/')
        .and_then(|rest| rest.split(' ').next());
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    name.is_some_and(is_name) && !request.contains('\n')
}

/// Whether a request is only signs, or a command of the program in which it was written: `/model`.
pub(super) fn asks_nothing(request: &str) -> bool {
    let is_command = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '-');
    !request.chars().any(char::is_alphanumeric) || request.strip_prefix('/').is_some_and(is_command)
}

/// Returns from 0 to 1 how much a line can say by its length.
fn telling(line: &str) -> f64 {
    const ENOUGH: f64 = 100.0;
    (line.len() as f64 / ENOUGH).min(1.0).powf(1.5)
}
