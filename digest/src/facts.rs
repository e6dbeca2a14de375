//! Facts: what a digest can say of a unit.

use std::collections::{BTreeMap, VecDeque};

use super::actions::Action;
use super::rules::Strength;
use super::section::{EntryLimits, Section, entries};
use super::sentences::{self, each_in_context};
use super::{
    decisions, errors, failures, open_points, rules, shell_blocks, statements, text, values,
};
use crate::part::{self, Part};

/// Most bytes of a request, a rule, what the model said with a call, its final text, and an entry of an
/// earlier summary.
const REQUEST: usize = 4_000;
const RULE: usize = sentences::MOST;
const SAID: usize = 240;
const CONCLUSION: usize = 900;
pub(super) const EARLIER: usize = 1_000;

/// Most bytes of a sentence that is repeated before a rule that refers to it.
const ANTECEDENT: usize = 200;

/// Most sentences of one message, or of the requests in a summary, that count as rules.
const RULES_OF_MESSAGE: usize = 2_000;

/// A user's message of more lines may contain a tool's output.
const PASTED: usize = 5;

/// How likely a line is an error, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    /// It contains a word for one, and may also be source code or pasted text.
    Word,
    /// It begins like one, or its output is marked as a failure.
    Sure,
}

/// One fact, as a digest can contain it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fact {
    /// A short text of the user in one line, as a whole. In a conversation without tools it stands for the `repeated` facts
    /// that follow, which are its rules and itself as a request.
    Statement {
        text: String,
        repeated: usize,
    },
    Request(String),
    Rule(Strength, String),
    /// Boxed, because it is three times as large as the others, and most facts are others.
    Action(Box<Action>),
    /// An entry of an earlier digest about what was done.
    Done(String),
    Said(String),
    /// What the model decided or found out, and why.
    Decision(String),
    Error {
        line: String,
        /// How likely it is one.
        evidence: Evidence,
    },
    Value {
        /// Number of the line within those of its output; ids are in the first, 0.
        number: usize,
        line: String,
    },
    Open(String),
    /// A to-do list at that time, line by line.
    Tasks(Vec<String>),
    Earlier(String),
}

impl Fact {
    /// Returns the line of an error.
    pub(super) fn error(&self) -> Option<&str> {
        match self {
            Self::Error { line, .. } => Some(line),
            _ => None,
        }
    }
}

/// Reads the facts of a unit, until `stop` returns true; of summaries, as many entries as `entry_limits`
/// admit.
pub(super) fn read(
    parts: &[Part<'_>],
    stop: &dyn Fn() -> bool,
    entry_limits: &mut EntryLimits,
) -> Vec<Fact> {
    let mut answers = OutputsByCall::of(parts);
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
                    && let Some(line) = failure_line(text)
                {
                    let evidence = Evidence::Sure;
                    facts.push(Fact::Error { line, evidence });
                }
                let lines = values::lines(name, text).into_iter().enumerate();
                facts.extend(lines.map(|(number, line)| Fact::Value { number, line }));
            }
            Part::Summary(text) => read_summary(text, stop, entry_limits, &mut facts),
        }
    }
    facts
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
        Some(line) => Some(text::around(line, 0, RULE)),
        None => errors::last_line(text),
    }
}

/// Outputs by the ids of their calls, or by names if there are no ids. Ids repeat, so each output answers one
/// call.
struct OutputsByCall<'a> {
    by_id: BTreeMap<&'a str, VecDeque<&'a Part<'a>>>,
    by_name: BTreeMap<&'a str, VecDeque<&'a Part<'a>>>,
}

impl<'a> OutputsByCall<'a> {
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

    /// Returns the output of a call. Calls have to be passed in their order.
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
    let whole = text.trim();
    let is_short = !whole.is_empty() && whole.len() <= statements::WHOLE && !whole.contains('\n');
    let statement = is_short.then_some(facts.len());
    if statement.is_some() {
        let text = text::block(whole, statements::WHOLE);
        facts.push(Fact::Statement { text, repeated: 0 });
    }
    let mut is_all_rules = text.len() <= RULE;
    let mut left = RULES_OF_MESSAGE;
    let is_all_told = each_rule(text, stop, &mut |rule| {
        // The sentence would change nothing.
        if left == 0 && !is_all_rules {
            return;
        }
        match rule {
            Some(rule) if left > 0 => {
                left -= 1;
                facts.push(rule);
            }
            _ => is_all_rules = false,
        }
    });
    // A request that consists of rules need not be repeated.
    if !is_all_rules || !is_all_told {
        facts.push(Fact::Request(text::block(text, REQUEST)));
    }
    if let Some(place) = statement {
        let following = facts.len() - place - 1;
        if let Some(Fact::Statement { repeated, .. }) = facts.get_mut(place) {
            *repeated = following;
        }
    }
    if text.lines().nth(PASTED).is_some() {
        let lines = errors::lines(text).into_iter().rev();
        let evidence = Evidence::Word;
        facts.extend(lines.map(|line| Fact::Error { line, evidence }));
    }
}

/// Calls `take` with each sentence of a text of the user as a rule, or with `None` if it is none. Returns whether
/// all sentences were read.
fn each_rule(text: &str, stop: &dyn Fn() -> bool, take: &mut dyn FnMut(Option<Fact>)) -> bool {
    // The sentence before, unless it is a rule itself.
    let mut before: Option<String> = None;
    each_in_context(stop, text, &mut |sentence| {
        let Some(strength) = rules::strength(sentence) else {
            before = (sentence.len() <= ANTECEDENT).then(|| text::line(sentence, ANTECEDENT));
            take(None);
            return;
        };
        let mut rule = text::line(sentence, RULE);
        // `We have 300 euros. Never go over that.` says nothing without its first sentence.
        let is_short = sentence.len() + ANTECEDENT < RULE;
        let refers = |_: &String| is_short && rules::refers_back(sentence);
        if let Some(before) = before.take().filter(refers) {
            rule = text::line(&format!("{before} {rule}"), RULE);
        }
        take(Some(Fact::Rule(strength, rule)));
    })
}

fn read_said(text: &str, calls: bool, stop: &dyn Fn() -> bool, facts: &mut Vec<Fact>) {
    facts.extend(decisions::lines(text, stop).into_iter().map(Fact::Decision));
    if calls {
        // The call says what the model is about to do.
        let first = text.lines().map(str::trim).find(|line| line.len() > 1);
        if let Some(first) = first.filter(|line| !announces(line)) {
            facts.push(Fact::Said(text::line(first, SAID)));
        }
        return;
    }
    facts.extend(open_points::lines(text).into_iter().map(Fact::Open));
    // Without a call it is a conclusion or a question. What it comes to is at its end.
    let text = shell_blocks::with_short_blocks(text, CONCLUSION);
    let text = text.trim();
    let said = match text.len() > CONCLUSION {
        true => text::block(&beginning_and_end(text), CONCLUSION),
        false => text::block(text, CONCLUSION),
    };
    if !said.is_empty() {
        facts.push(Fact::Said(said));
    }
}

/// Returns the first and the last lines of a text of more than [`CONCLUSION`] bytes, together a little less.
fn beginning_and_end(text: &str) -> String {
    let beginning = text::shorten_to_sentence(text, CONCLUSION / 3);
    let end = &text[text.ceil_char_boundary(text.len() - CONCLUSION / 2)..];
    // From the next line or sentence on: half of one may say something else.
    let starts = ["\n", ". ", "。"]
        .iter()
        .filter_map(|sign| Some(end.find(sign)? + sign.len()));
    let start = starts.min().unwrap_or(0);
    format!("{}\n{}", beginning.trim_end(), end[start..].trim_start())
}

/// Whether a line only announces what comes next.
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
        Part::Output { text, .. } => Some(part::unwrapped(text)),
        _ => None,
    });
    let action = Action::of_call(tool, arguments, failed, answer.as_deref());
    facts.push(Fact::Action(Box::new(action)));
    facts.extend(open_points::tasks(arguments).map(Fact::Tasks));
}

fn read_errors(text: &str, failed: bool, facts: &mut Vec<Fact>) {
    let lines = errors::lines(text).into_iter().rev();
    facts.extend(lines.map(|line| {
        let evidence = if failed || errors::begins_like_an_error(&line) {
            Evidence::Sure
        } else {
            Evidence::Word
        };
        Fact::Error { line, evidence }
    }));
}

/// Reads an earlier summary. Its entries continue in the same sections.
fn read_summary(
    text: &str,
    stop: &dyn Fn() -> bool,
    entry_limits: &mut EntryLimits,
    facts: &mut Vec<Fact>,
) {
    let mut tasks = Vec::new();
    let mut rules_left = RULES_OF_MESSAGE;
    entry_limits.begin();
    for (section, entry) in entries(text) {
        if stop() {
            break;
        }
        // Names are no facts, and do not count.
        if section == Section::Names || !entry_limits.admit(section) {
            continue;
        }
        match section {
            Section::Requests => {
                each_rule(&entry, stop, &mut |rule| {
                    // A sentence that was cut may say something else than the whole.
                    let whole = rule
                        .filter(|rule| !matches!(rule, Fact::Rule(_, text) if text.ends_with('…')));
                    if let Some(rule) = whole.filter(|_| rules_left > 0) {
                        rules_left -= 1;
                        facts.push(rule);
                    }
                });
                facts.push(Fact::Request(text::block(&entry, REQUEST)));
            }
            Section::Rules => {
                let strength = rules::strength(&entry).unwrap_or(Strength::Rule);
                facts.push(Fact::Rule(strength, text::line(&entry, RULE)));
            }
            Section::Told => read_request(&entry, stop, facts),
            Section::Done => facts.push(match Action::of_line(&text::line(&entry, EARLIER)) {
                Some(action) => Fact::Action(Box::new(action)),
                None => Fact::Done(text::line(&entry, EARLIER)),
            }),
            Section::Said => facts.push(Fact::Said(text::block(&entry, CONCLUSION))),
            // An earlier version took such a line for an error.
            Section::Errors if errors::says_no_error(&entry) => {}
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
            // `Names` reads them.
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
    fn rules_of_a_message_are_limited() {
        let counts = |text: &str| {
            let parts = [Part::User(text.to_owned().into())];
            let facts = read(&parts, &|| false, &mut EntryLimits::default());
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
    fn facts_of_summaries_are_limited_and_rules_separately() {
        let summary = format!(
            "{}\n## Standing instructions\n- Never moor at pier 5.\n",
            "a\n".repeat(2 * ENTRIES)
        );
        let parts = [Part::Summary(summary.into())];
        let mut entry_limits = EntryLimits::default();
        let counts: Vec<usize> = (0..5)
            .map(|_| read(&parts, &|| false, &mut entry_limits).len())
            .collect();
        let full = ENTRIES + 1;
        assert_eq!(counts, [full, full, full, full, 1]);
    }

    #[test]
    fn rules_in_requests_of_a_summary_are_limited() {
        let more = "\n  Never row.\n".repeat(2_002);
        let summary = format!("## What the user asked\n- Never row.\n{more}");
        let parts = [Part::Summary(summary.into())];
        let facts = read(&parts, &|| false, &mut EntryLimits::default());
        let is_rule = |fact: &&Fact| matches!(fact, Fact::Rule(..));
        assert_eq!(facts.iter().filter(is_rule).count(), RULES_OF_MESSAGE);
        assert_eq!(facts.len(), RULES_OF_MESSAGE + 1);
    }

    #[test]
    fn json_around_an_output_says_whether_it_failed() {
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
            let facts = read(&[call, output], &|| false, &mut EntryLimits::default());
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
    fn calls_with_the_same_id_have_an_output_each() {
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
        let facts = read(&parts, &|| false, &mut EntryLimits::default());
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
