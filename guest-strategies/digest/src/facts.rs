//! Facts: what a digest can say of a unit.

mod said;
mod summary;

pub(super) use said::announces;

use std::collections::{BTreeMap, VecDeque};

use super::actions::Action;
use super::labels::OUTPUT_NOTICE;
use super::rules::rules_in;
use super::section::EntryLimits;
use super::tasks::Board;
use super::{errors, text, values};
use crate::part::{self, Part};
use baler_provenance::failures;

/// Most rules of one text of the user, which all have places of their own.
pub(super) const RULES: usize = 200;

/// Most bytes of a request, and of a line of an error.
const REQUEST: usize = 4_000;
const LINE: usize = 2_000;

/// Most bytes of an entry of an earlier summary.
pub(super) const EARLIER: usize = 1_000;

/// Follows an error that was repaired, as far as later runs show.
pub(super) const REPAIRED: &str = " (repaired later)";

/// A user's message of more lines may contain a tool's output.
const PASTED: usize = 5;

/// How likely a line is an error that is open, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    /// It was one, and an earlier digest says that it was repaired.
    Repaired,
    /// It contains a word for one, and may also be source code or pasted text.
    Word,
    /// It begins like one, or its output is marked as a failure.
    Sure,
}

/// One fact, as a digest can contain it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fact {
    /// A text of the user, and the rules in it, of which a long text may have some behind what is read of it.
    Request {
        text: String,
        rules: Vec<String>,
        /// Whether it stood as a request in an earlier digest.
        is_old: bool,
    },
    /// Boxed, because it is three times as large as the others, and most facts are others.
    Action(Box<Action>),
    /// An entry of an earlier digest about what was done.
    Done(String),
    Said {
        text: String,
        /// Whether the model called no tool with it, as far as is known.
        ends_turn: bool,
        /// Whether it stood with calls that only looked something up.
        before_look: bool,
    },
    /// What another agent reported to the model.
    Reported(String),
    Error {
        line: String,
        /// How likely it is one.
        evidence: Evidence,
        /// Label of the action that printed it.
        of: Option<Box<str>>,
    },
    Value {
        /// Whether it is the first line of its output; ids are there.
        is_first: bool,
        line: String,
    },
    Earlier(String),
}

impl Fact {
    fn error_in(line: String, evidence: Evidence) -> Self {
        Self::Error {
            // Only a digest says so.
            line: line.trim_end_matches(REPAIRED).to_owned(),
            evidence,
            of: None,
        }
    }

    /// Whether both are errors that one action printed.
    pub(super) fn is_of_same_run(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Error { of: Some(own), .. },
                Self::Error {
                    of: Some(other), ..
                },
            ) => own == other,
            _ => false,
        }
    }

    /// Notes that the errors from the index `errors` on are those of the action at `at`, and returns it.
    fn attribute(facts: &mut [Self], at: usize, errors: usize) -> Option<&Action> {
        let (before, errors) = facts.split_at_mut(errors);
        let Self::Action(action) = before.get_mut(at)? else {
            return None;
        };
        for error in errors {
            if let Self::Error { evidence, of, .. } = error {
                action.note_errors(*evidence == Evidence::Sure);
                *of = Some(action.attempt().into());
            }
        }
        Some(action)
    }

    /// Returns the line of an error.
    pub(super) fn error(&self) -> Option<&str> {
        match self {
            Self::Error { line, .. } => Some(line),
            _ => None,
        }
    }
}

/// Reads the facts of a unit, of summaries as many entries as `entry_limits` admit, and what it says of the to-do list.
pub(super) fn read(
    unit: usize,
    parts: &[Part<'_>],
    tasks: &mut Board,
    entry_limits: &mut EntryLimits,
) -> Vec<Fact> {
    let mut answers = OutputsByCall::of(parts);
    let failures: Vec<bool> = parts.iter().map(failed).collect();
    // By the indices of the outputs, since calls may have no ids of their own.
    let mut actions: BTreeMap<usize, usize> = BTreeMap::new();
    // What each of these reports on.
    let mut reports: BTreeMap<usize, Option<String>> = BTreeMap::new();
    let mut only_looks = true;
    let mut facts = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::User(text) => read_request(text, &mut facts),
            Part::Program(text) => read_errors(text, false, &mut facts),
            Part::Assistant { text, calls } => said::read(text, *calls, &mut facts),
            // What it came to is said or done.
            Part::Thinking(_) => {}
            Part::Call {
                id,
                name,
                arguments,
            } => {
                let output = answers.take(id, name);
                let failed = output.is_some_and(|output| failures[output]);
                let answer = output.and_then(|output| match &parts[output] {
                    Part::Output { text, .. } => Some(part::unwrapped(text)),
                    _ => None,
                });
                let answer = answer.as_deref().map(without_notice);
                if !failed && tasks.read(unit, name, arguments, answer) {
                    only_looks = false;
                    continue;
                }
                if let Some((output, answer)) = output.zip(answer)
                    && !failed
                    && said::is_report(name, answer)
                {
                    only_looks = false;
                    // Of any other tool, what it was called with may have an effect.
                    let subject = match said::is_reported_by(name) {
                        true => said::subject_of(arguments),
                        false => Some(Action::of_bare_call(name, arguments).line()),
                    };
                    reports.insert(output, subject);
                    continue;
                }
                let action = Action::of_call(name, arguments, failed, answer);
                only_looks &= action.is_read_only();
                actions.extend(output.map(|output| (output, facts.len())));
                facts.push(Fact::Action(Box::new(action)));
            }
            Part::Output { name, text, .. } => {
                let text = &*part::unwrapped(text);
                let before = facts.len();
                let failed = failures[index];
                if let Some(subject) = reports.get(&index) {
                    facts.extend(said::of_report(without_notice(text), subject.as_deref()));
                    // It may tell of errors, and had none itself.
                    let evidence = Evidence::Word;
                    let lines = errors::lines(text).into_iter().rev();
                    facts.extend(lines.map(|line| Fact::error_in(line, evidence)));
                    continue;
                }
                read_errors(text, failed, &mut facts);
                if facts.len() == before
                    && failed
                    && let Some(line) = failure_line(text)
                {
                    facts.push(Fact::error_in(line, Evidence::Sure));
                }
                let at = actions.get(&index).copied();
                let action = at.and_then(|at| Fact::attribute(&mut facts, at, before));
                let source = action.and_then(Action::file).unwrap_or(name);
                let lines = values::lines(source, text).into_iter().enumerate();
                facts.extend(lines.map(|(number, line)| Fact::Value {
                    is_first: number == 0,
                    line,
                }));
            }
            Part::Summary(text) => {
                let listed = summary::read(text, entry_limits, &mut facts);
                if !listed.is_empty() {
                    tasks.read_lines(unit, &listed);
                }
            }
        }
    }
    if only_looks {
        for fact in &mut facts {
            if let Fact::Said { before_look, .. } = fact {
                *before_look = !actions.is_empty();
            }
        }
    }
    facts
}

/// Returns an output without the line with which an earlier compaction says that it was cut.
fn without_notice(output: &str) -> &str {
    let is_notice = output.starts_with(OUTPUT_NOTICE);
    match is_notice.then(|| output.split_once(']')).flatten() {
        Some((_, rest)) => rest.trim_start(),
        None => output,
    }
}

/// Whether an output is that of a failure.
fn failed(output: &Part<'_>) -> bool {
    let Part::Output { failed, text, .. } = output else {
        return false;
    };
    // Members of JSON other than the text are not in the unwrapped output.
    if *failed || errors::exit_code(text).is_some_and(|code| code != 0) || failures::is_marked(text)
    {
        return true;
    }
    let text = part::unwrapped(text);
    errors::exited_with_failure(&text) || failures::is_refusal(&text)
}

/// Returns the line that describes a failure, for an output without a word for an error.
fn failure_line(text: &str) -> Option<String> {
    let of_refusal = failures::is_refusal(text)
        .then(|| failures::first_line(text))
        .flatten();
    match of_refusal {
        Some(line) => Some(text::around(line, 0, LINE)),
        None => errors::last_line(text),
    }
}

/// Indices of outputs by the ids of their calls, or by names if there are no ids. Ids repeat, so each output answers
/// one call.
struct OutputsByCall<'a> {
    by_id: BTreeMap<&'a str, VecDeque<usize>>,
    by_name: BTreeMap<&'a str, VecDeque<usize>>,
}

impl<'a> OutputsByCall<'a> {
    fn of(parts: &'a [Part<'a>]) -> Self {
        let mut answers = Self {
            by_id: BTreeMap::new(),
            by_name: BTreeMap::new(),
        };
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Output { call_id, name, .. } if call_id.is_empty() => {
                    answers.by_name.entry(name).or_default().push_back(index);
                }
                Part::Output { call_id, .. } => {
                    answers.by_id.entry(call_id).or_default().push_back(index);
                }
                _ => {}
            }
        }
        answers
    }

    /// Returns the index of a call's output. Calls have to be passed in their order.
    fn take(&mut self, id: &str, name: &str) -> Option<usize> {
        let outputs = if id.is_empty() {
            self.by_name.get_mut(name)
        } else {
            self.by_id.get_mut(id)
        };
        outputs?.pop_front()
    }
}

/// Returns the fact of a text of the user.
fn request(text: &str, is_old: bool) -> Fact {
    let rules = rules_in(text).into_iter().take(RULES);
    Fact::Request {
        rules: rules.map(|rule| text::line(&text[rule], LINE)).collect(),
        text: text::block(text, REQUEST),
        is_old,
    }
}

fn read_request(text: &str, facts: &mut Vec<Fact>) {
    if !text.trim().is_empty() {
        facts.push(request(text, false));
    }
    if text.lines().nth(PASTED).is_some() {
        // `error cc6666` is a colour.
        let is_error = |line: &str| {
            errors::begins_like_an_error(line)
                && line.contains(':')
                && !errors::begins_a_trace(line)
        };
        let lines = errors::lines_that(text, is_error).into_iter().rev();
        let evidence = Evidence::Word;
        facts.extend(lines.map(|line| Fact::error_in(line, evidence)));
    }
}

fn read_errors(text: &str, failed: bool, facts: &mut Vec<Fact>) {
    let lines = errors::lines(text);
    let is_only = lines.len() == 1;
    // What the trace leads to says what failed.
    let lines = lines
        .into_iter()
        .rev()
        .filter(|line| is_only || !errors::begins_a_trace(line));
    facts.extend(lines.map(|line| {
        let evidence = if failed || errors::begins_like_an_error(&line) {
            Evidence::Sure
        } else {
            Evidence::Word
        };
        Fact::error_in(line, evidence)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::ENTRIES;

    fn facts_of(parts: &[Part<'_>]) -> Vec<Fact> {
        read(0, parts, &mut Board::default(), &mut EntryLimits::default())
    }

    /// A call of a shell.
    fn call(command: &str) -> Part<'static> {
        Part::Call {
            id: "call_1".into(),
            name: "bash".into(),
            arguments: format!(r#"{{"cmd": "{command}"}}"#).into(),
        }
    }

    /// An output of [`call`].
    fn output(failed: bool, text: &str) -> Part<'static> {
        Part::Output {
            call_id: "call_1".into(),
            name: "bash".into(),
            failed,
            text: text.to_owned().into(),
        }
    }

    #[test]
    fn facts_of_summaries_are_limited() {
        let summary = "a\n\n".repeat(2 * ENTRIES);
        let parts = [Part::Summary(summary.into())];
        let mut entry_limits = EntryLimits::default();
        let counts: Vec<usize> = (0..5)
            .map(|_| read(0, &parts, &mut Board::default(), &mut entry_limits).len())
            .collect();
        assert_eq!(counts, [ENTRIES, ENTRIES, ENTRIES, ENTRIES, 0]);
    }

    #[test]
    fn json_around_an_output_says_whether_it_failed() {
        let line = |text: &str| {
            let parts = [call("make tide"), output(false, text)];
            let facts = facts_of(&parts);
            facts.iter().find_map(|fact| match fact {
                Fact::Action(action) => Some(action.line()),
                _ => None,
            })
        };
        let wait = r"wait for the tide\nno boat left the quay\n";
        for failed in [
            format!(r#"{{"output":"{wait}","metadata":{{"exit_code":1,"duration_seconds":1.4}}}}"#),
            format!(r#"{{"stdout":"{wait}","stderr":"","exit_code":1}}"#),
            format!(r#"{{"stdout":"{wait}","stderr":"","exitCode":1}}"#),
            format!(r#"{{"stdout":"","stderr":"{wait}","returncode":1}}"#),
            format!(r#"{{"output":"{wait}","exit_code":1}}"#),
            format!(r#"{{"output":"{wait}","success":false}}"#),
            r#"{"output":"","metadata":{"exit_code":1}}"#.to_owned(),
        ] {
            let line = line(&failed).unwrap_or_default();
            assert!(line.contains("failed"), "{failed} {line}");
        }
        for done in [
            format!(r#"{{"output":"{wait}","metadata":{{"exit_code":0}}}}"#),
            format!(r#"{{"output":"{wait}","success":true,"error":null}}"#),
        ] {
            let line = line(&done).unwrap_or_default();
            assert!(
                !line.is_empty() && !line.contains("failed"),
                "{done} {line}"
            );
        }
    }

    #[test]
    fn what_another_agent_reports_is_told_as_a_text() {
        let report = format!(
            "The lock fails because its gate is open. {}",
            "It is old. ".repeat(40)
        );
        let facts = |name: &'static str| {
            let call = Part::Call {
                id: "".into(),
                name: name.into(),
                arguments: "{}".into(),
            };
            let output = Part::Output {
                call_id: "".into(),
                name: name.into(),
                failed: false,
                text: report.clone().into(),
            };
            facts_of(&[call, output])
        };
        for agent in ["Task", "TaskOutput", "dispatch_agent"] {
            assert!(
                matches!(&facts(agent)[..], [Fact::Reported(text)] if *text == report.trim()),
                "{agent}"
            );
        }
        for other in ["TaskUpdate", "cat", "get_agent_info", "reagent_search"] {
            assert!(matches!(&facts(other)[..], [Fact::Action(_)]), "{other}");
        }
    }

    #[test]
    fn of_a_trace_what_it_leads_to_is_the_error() {
        let errors = |text: &str| {
            let parts = [output(true, text)];
            let facts = facts_of(&parts);
            let lines = facts.iter().filter_map(Fact::error).map(str::to_owned);
            lines.collect::<Vec<String>>()
        };
        let begins = "Traceback (most recent call last):";
        assert_eq!(
            errors(&format!("{begins}\n  a.py\nKeyError: 3")),
            ["KeyError: 3"]
        );
        assert_eq!(
            errors(&format!("{begins}\n  a.py\nStopIteration")),
            [begins]
        );
    }

    #[test]
    fn a_pasted_text_of_the_user_has_only_lines_that_begin_like_errors() {
        let text = "Use these colours:\nred is #c66\ntool error bg is #3c2828\nblue is #66c\nerror c66\nKeyError: 'grey'\nI get this error there.\nIt failed.\nAn error it was.\n";
        let parts = [Part::User(text.into())];
        let facts = facts_of(&parts);
        let errors: Vec<&str> = facts.iter().filter_map(Fact::error).collect();
        assert_eq!(errors, ["KeyError: 'grey'"]);
    }

    #[test]
    fn calls_with_the_same_id_have_an_output_each() {
        let parts = [
            call("sonar"),
            call("tide"),
            call("wind"),
            output(false, "9 m"),
            output(false, "07:14"),
        ];
        let facts = facts_of(&parts);
        let actions: Vec<String> = facts
            .iter()
            .filter_map(|fact| match fact {
                Fact::Action(action) => Some(action.line()),
                _ => None,
            })
            .collect();
        assert_eq!(
            actions,
            ["ran `sonar` → 9 m", "ran `tide` → 07:14", "ran `wind`"]
        );
    }
}
