//! What can be told of a unit once it is gone.

use std::collections::{BTreeMap, VecDeque};

use super::actions::Action;
use super::rules::Strength;
use super::section::{Room, Section, entries};
use super::sentences::{self, each_in_place};
use super::{decisions, errors, failures, fenced, open, rules, text, values};
use crate::part::{self, Part};

/// The most bytes of a request, of a rule, and of any other line.
const REQUEST: usize = 4_000;
const RULE: usize = sentences::MOST;
const SAID: usize = 240;
const CONCLUSION: usize = 700;
pub(super) const EARLIER: usize = 1_000;

/// The most sentences of one message, or of the requests in a summary, that can be rules.
const RULES_OF_MESSAGE: usize = 2_000;

/// Lines from which on a user's message may hold a tool's output.
const PASTED: usize = 5;

/// How much speaks for a line to be an error, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    /// It holds a word for one, and may as well be source code or what somebody pasted.
    Word,
    /// It begins like one, or its output is marked as a failure.
    Sure,
}

/// One fact, as it can stand in a digest.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fact {
    Request(String),
    Rule(Strength, String),
    /// In a box, as it is three times as wide as all the others, and most facts are others.
    Action(Box<Action>),
    /// What an earlier digest said of what was done.
    Done(String),
    Said(String),
    /// What the model decided or found out, and why.
    Decision(String),
    Error {
        line: String,
        /// How much speaks for it.
        evidence: Evidence,
    },
    Value {
        /// Which of the lines of its output it is; ids stand in the first.
        number: usize,
        line: String,
    },
    Open(String),
    /// A to-do list as it stood then, line by line.
    Tasks(Vec<String>),
    Earlier(String),
}

impl Fact {
    /// The line of an error.
    pub(super) fn error(&self) -> Option<&str> {
        match self {
            Self::Error { line, .. } => Some(line),
            _ => None,
        }
    }
}

/// The facts of a unit, as far as they were read when `stop` said so; of summaries, those for which there is
/// room.
pub(super) fn read(parts: &[Part<'_>], stop: &dyn Fn() -> bool, room: &mut Room) -> Vec<Fact> {
    let mut answers = Answers::of(parts);
    let mut facts = Vec::new();
    for part in parts {
        if stop() {
            break;
        }
        match part {
            Part::User(text) => read_request(text, stop, &mut facts),
            Part::Program(text) => read_errors(text, false, &mut facts),
            Part::Assistant { text, calls } => read_said(text, *calls, stop, &mut facts),
            Part::Call {
                id,
                name,
                arguments,
            } => read_call(name, arguments, answers.take(id, name), &mut facts),
            Part::Output { name, text, .. } => {
                let text = &*part::unwrapped(text);
                let before = facts.len();
                let failed = failed(part);
                read_errors(text, failed, &mut facts);
                if facts.len() == before
                    && failed
                    && let Some(line) = what_failed(text)
                {
                    let evidence = Evidence::Sure;
                    facts.push(Fact::Error { line, evidence });
                }
                let lines = values::lines(name, text).into_iter().enumerate();
                facts.extend(lines.map(|(number, line)| Fact::Value { number, line }));
            }
            Part::Summary(text) => read_summary(text, stop, room, &mut facts),
        }
    }
    facts
}

/// Whether an output tells of a failure.
fn failed(output: &Part<'_>) -> bool {
    let Part::Output { failed, text, .. } = output else {
        return false;
    };
    // What stands beside the text in JSON is not in what is unwrapped.
    if *failed || errors::exit_code(text).is_some_and(|code| code != 0) || failures::is_marked(text)
    {
        return true;
    }
    let text = part::unwrapped(text);
    errors::exited_badly(&text) || failures::is_refusal(&text)
}

/// The line of a failure that tells of it, where none holds a word for an error.
fn what_failed(text: &str) -> Option<String> {
    let of_refusal = failures::is_refusal(text)
        .then(|| failures::first_line(text))
        .flatten();
    match of_refusal {
        Some(line) => Some(text::around(line, 0, RULE)),
        None => errors::last_line(text),
    }
}

/// Outputs by what their calls are found by: ids, or names where there are none. Ids repeat, so each
/// output answers one call.
struct Answers<'a> {
    by_id: BTreeMap<&'a str, VecDeque<&'a Part<'a>>>,
    by_name: BTreeMap<&'a str, VecDeque<&'a Part<'a>>>,
}

impl<'a> Answers<'a> {
    fn of(parts: &'a [Part<'a>]) -> Self {
        let mut answers = Self {
            by_id: BTreeMap::new(),
            by_name: BTreeMap::new(),
        };
        for part in parts {
            match part {
                Part::Output { call_id, name, .. } if call_id.is_empty() => {
                    answers.by_name.entry(name).or_default().push_back(part);
                }
                Part::Output { call_id, .. } => {
                    answers.by_id.entry(call_id).or_default().push_back(part);
                }
                _ => {}
            }
        }
        answers
    }

    /// The output of a call. Calls are asked for in their order.
    fn take(&mut self, id: &str, name: &str) -> Option<&'a Part<'a>> {
        let outputs = if id.is_empty() {
            self.by_name.get_mut(name)
        } else {
            self.by_id.get_mut(id)
        };
        outputs?.pop_front()
    }
}

fn read_request(text: &str, stop: &dyn Fn() -> bool, facts: &mut Vec<Fact>) {
    let mut is_all_rules = text.len() <= RULE;
    let mut left = RULES_OF_MESSAGE;
    let is_all_told = each_in_place(stop, text, &mut |sentence| {
        // Whatever it is, nothing would come of it.
        if left == 0 && !is_all_rules {
            return;
        }
        match rules::strength(sentence) {
            Some(strength) if left > 0 => {
                left -= 1;
                facts.push(Fact::Rule(strength, text::line(sentence, RULE)));
            }
            _ => is_all_rules = false,
        }
    });
    // What stands there as rules need not stand there twice.
    if !is_all_rules || !is_all_told {
        facts.push(Fact::Request(text::block(text, REQUEST)));
    }
    if text.lines().nth(PASTED).is_some() {
        let lines = errors::lines(text).into_iter().rev();
        let evidence = Evidence::Word;
        facts.extend(lines.map(|line| Fact::Error { line, evidence }));
    }
}

fn read_said(text: &str, calls: bool, stop: &dyn Fn() -> bool, facts: &mut Vec<Fact>) {
    facts.extend(decisions::lines(text, stop).into_iter().map(Fact::Decision));
    if calls {
        // What it is about to do stands in the call.
        let first = text.lines().map(str::trim).find(|line| line.len() > 1);
        if let Some(first) = first.filter(|line| !announces(line)) {
            facts.push(Fact::Said(text::line(first, SAID)));
        }
        return;
    }
    facts.extend(open::lines(text).into_iter().map(Fact::Open));
    // Without a call it is what the model came to, or a question.
    let said = text::block(&fenced::with_short_blocks(text, CONCLUSION), CONCLUSION);
    if !said.is_empty() {
        facts.push(Fact::Said(said));
    }
}

/// Whether a line only says what comes next.
fn announces(line: &str) -> bool {
    const STARTS: [&str; 8] = [
        "let me", "let's", "i'll", "i will", "now let", "now i", "next,", "first,",
    ];
    let starts = |start: &&str| {
        line.get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    line.ends_with(':') || line.starts_with("```") || STARTS.iter().any(starts)
}

fn read_call(tool: &str, arguments: &str, output: Option<&Part<'_>>, facts: &mut Vec<Fact>) {
    let failed = output.is_some_and(failed);
    let answer = output.and_then(|output| match output {
        Part::Output { text, .. } => Some(&**text),
        _ => None,
    });
    let action = Action::of_call(tool, arguments, failed, answer);
    facts.push(Fact::Action(Box::new(action)));
    facts.extend(open::tasks(arguments).map(Fact::Tasks));
}

fn read_errors(text: &str, failed: bool, facts: &mut Vec<Fact>) {
    let lines = errors::lines(text).into_iter().rev();
    facts.extend(lines.map(|line| {
        let evidence = if failed || errors::begins_like_one(&line) {
            Evidence::Sure
        } else {
            Evidence::Word
        };
        Fact::Error { line, evidence }
    }));
}

/// An earlier summary: what it holds goes on in the same sections.
fn read_summary(text: &str, stop: &dyn Fn() -> bool, room: &mut Room, facts: &mut Vec<Fact>) {
    let mut tasks = Vec::new();
    let mut rules_left = RULES_OF_MESSAGE;
    room.begin();
    for (section, entry) in entries(text) {
        if stop() {
            break;
        }
        // Names are no facts, and take none of the room.
        if section == Section::Names || !room.take(section) {
            continue;
        }
        match section {
            Section::Requests => {
                each_in_place(stop, &entry, &mut |sentence| {
                    // What was cut may say something else than the whole.
                    if rules_left > 0
                        && let Some(strength) = rules::strength(sentence)
                        && !sentence.ends_with('…')
                    {
                        rules_left -= 1;
                        facts.push(Fact::Rule(strength, text::line(sentence, RULE)));
                    }
                });
                facts.push(Fact::Request(text::block(&entry, REQUEST)));
            }
            Section::Rules => {
                let strength = rules::strength(&entry).unwrap_or(Strength::Rule);
                facts.push(Fact::Rule(strength, text::line(&entry, RULE)));
            }
            Section::Done => facts.push(match Action::of_line(&entry) {
                Some(action) => Fact::Action(Box::new(action)),
                None => Fact::Done(text::line(&entry, EARLIER)),
            }),
            Section::Said => facts.push(Fact::Said(text::block(&entry, CONCLUSION))),
            // An earlier version took it for one.
            Section::Errors if errors::says_none(&entry) => {}
            Section::Errors => facts.push(Fact::Error {
                line: text::line(&entry, RULE),
                evidence: Evidence::Sure,
            }),
            Section::Values => facts.push(Fact::Value {
                number: 0,
                line: text::line(&entry, EARLIER),
            }),
            Section::Decisions => facts.push(Fact::Decision(text::line(&entry, EARLIER))),
            Section::Open => facts.push(Fact::Open(text::line(&entry, EARLIER))),
            Section::Tasks => tasks.push(text::line(&entry, EARLIER)),
            // They are read as such.
            Section::Names => {}
            Section::Earlier => facts.push(Fact::Earlier(text::line(&entry, EARLIER))),
        }
    }
    if !tasks.is_empty() {
        facts.push(Fact::Tasks(tasks));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::ENTRIES;

    #[test]
    fn a_message_has_so_many_rules_and_stands_whole_beside_them() {
        let counts = |text: &str| {
            let parts = [Part::User(text.to_owned().into())];
            let facts = read(&parts, &|| false, &mut Room::default());
            let is_rule = |fact: &&Fact| matches!(fact, Fact::Rule(..));
            let is_request = |fact: &&Fact| matches!(fact, Fact::Request(_));
            (
                facts.iter().filter(is_rule).count(),
                facts.iter().filter(is_request).count(),
            )
        };
        let rules = |count: usize| "Never row.\n\n".repeat(count);
        assert_eq!(counts(&rules(3)), (3, 0));
        assert_eq!(counts(&format!("Row on.\n\n{}", rules(3))), (3, 1));
        assert_eq!(counts(&rules(2_003)), (2_000, 1));
    }

    #[test]
    fn summaries_give_so_many_facts_and_rules_whatever_else_there_is() {
        let summary = format!(
            "{}\n## Standing instructions\n- Never moor at pier 5.\n",
            "a\n".repeat(2 * ENTRIES)
        );
        let parts = [Part::Summary(summary.into())];
        let mut room = Room::default();
        let counts: Vec<usize> = (0..5)
            .map(|_| read(&parts, &|| false, &mut room).len())
            .collect();
        let full = ENTRIES + 1;
        assert_eq!(counts, [full, full, full, full, 1]);
    }

    #[test]
    fn requests_in_a_summary_have_so_many_rules() {
        let more = "\n  Never row.\n".repeat(2_002);
        let summary = format!("## What the user asked\n- Never row.\n{more}");
        let parts = [Part::Summary(summary.into())];
        let facts = read(&parts, &|| false, &mut Room::default());
        let is_rule = |fact: &&Fact| matches!(fact, Fact::Rule(..));
        assert_eq!(facts.iter().filter(is_rule).count(), RULES_OF_MESSAGE);
        assert_eq!(facts.len(), RULES_OF_MESSAGE + 1);
    }

    #[test]
    fn an_output_wrapped_in_json_failed_as_the_json_says() {
        let line = |output: &str| {
            let call = Part::Call {
                id: "call_1".into(),
                name: "bash".into(),
                arguments: r#"{"cmd": "make tide"}"#.into(),
            };
            let output = Part::Output {
                call_id: "call_1".into(),
                name: "bash".into(),
                failed: false,
                text: output.to_owned().into(),
            };
            let facts = read(&[call, output], &|| false, &mut Room::default());
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
    fn calls_that_share_an_id_have_an_output_each() {
        let call = |command: &str| Part::Call {
            id: "call_1".into(),
            name: "bash".into(),
            arguments: format!(r#"{{"cmd": "{command}"}}"#).into(),
        };
        let output = |text: &str| Part::Output {
            call_id: "call_1".into(),
            name: "bash".into(),
            failed: false,
            text: text.to_owned().into(),
        };
        let parts = [
            call("sonar"),
            call("tide"),
            call("wind"),
            output("9 m"),
            output("07:14"),
        ];
        let facts = read(&parts, &|| false, &mut Room::default());
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
