//! Facts: what a digest can say of a unit.

mod said;
mod summary;

pub(super) use said::announces;

use std::collections::{BTreeMap, VecDeque};

use super::actions::Action;
use super::contents::Content;
use super::rules::Strength;
use super::section::EntryLimits;
use super::sentences::{self, each_in_context};
use super::{contents, errors, open_points, rules, statements, text, values};
use crate::part::{self, Part};
use baler_provenance::failures;

/// Most bytes of a request, and of a rule.
const REQUEST: usize = 4_000;
const RULE: usize = sentences::MOST;

/// Bytes from which on the output of another agent is a report.
const REPORT: usize = 300;

/// Most bytes of how a text of the user begins.
const HEARD: usize = 120;

/// Most bytes of an entry of an earlier summary.
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
    /// How a text of the user begins. It stands for the text where that is kept.
    Heard(String),
    /// The same in an earlier digest, when the text was kept behind it.
    Mentioned(String),
    Request(String),
    Rule(Strength, String),
    /// Boxed, because it is three times as large as the others, and most facts are others.
    Action(Box<Action>),
    /// What an edit changed in a file.
    Changed(String),
    /// What a file that was read says about itself.
    Content(Content),
    /// An entry of an earlier digest about what was done.
    Done(String),
    Said {
        text: String,
        /// Its shorter forms, if it is long.
        forms: Vec<String>,
        /// Whether the model called no tool with it, as far as is known.
        ends_turn: bool,
        /// Whether most of it is code or the output of a program.
        is_log: bool,
    },
    /// What another agent reported to the model.
    Reported {
        text: String,
        /// Its shorter forms, if it is long.
        forms: Vec<String>,
    },
    /// What the model decided or found out, and why.
    Decision(String),
    /// What a thought without a decision was about.
    Thought(String),
    Error {
        line: String,
        /// How likely it is one.
        evidence: Evidence,
    },
    Value {
        /// Number of the line within those of its output; ids are in the first, 0.
        number: usize,
        line: String,
        /// The path of the file in which they are, if the call was about one.
        file: Option<String>,
    },
    Open(String),
    /// A to-do list at that time, line by line.
    Tasks(Vec<String>),
    Earlier(String),
}

impl Fact {
    /// Returns the text of a request.
    pub(super) fn request(&self) -> Option<&str> {
        match self {
            Self::Request(text) => Some(text),
            _ => None,
        }
    }

    /// Returns how a text of the user begins.
    pub(super) fn heard(&self) -> Option<&str> {
        match self {
            Self::Heard(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the line of an error.
    pub(super) fn error(&self) -> Option<&str> {
        match self {
            Self::Error { line, .. } => Some(line),
            _ => None,
        }
    }
}

/// Reads the facts of a unit, of summaries, as many entries as `entry_limits`
/// admit.
pub(super) fn read(parts: &[Part<'_>], entry_limits: &mut EntryLimits) -> Vec<Fact> {
    let mut answers = OutputsByCall::of(parts);
    let failures: Vec<bool> = parts.iter().map(failed).collect();
    // By the indices of the outputs, since calls may have no ids of their own.
    let mut asked: BTreeMap<usize, Asked> = BTreeMap::new();
    let mut facts = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::User(text) => read_request(text, &mut facts),
            Part::Program(text) => read_errors(text, false, &mut facts),
            Part::Assistant { text, calls } => said::read(text, *calls, &mut facts),
            Part::Thinking(text) => said::read_thought(text, &mut facts),
            Part::Call {
                id,
                name,
                arguments,
            } => {
                let output = answers.take(id, name);
                let answer = output.map(|output| (&parts[output], failures[output]));
                let own = read_call(name, arguments, answer, &mut facts);
                asked.extend(output.zip(own));
            }
            Part::Output { name, text, .. } => {
                let asked = asked.get(&index);
                if asked.is_some_and(|asked| asked.found_nothing) {
                    continue;
                }
                let text = &*part::unwrapped(text);
                let before = facts.len();
                let failed = failures[index];
                let is_report = || said::is_reported_by(name) && !part::is_data(text);
                if !failed && text.len() > REPORT && is_report() {
                    facts.extend(said::of_report(text));
                    // It may tell of errors, and had none itself.
                    let evidence = Evidence::Word;
                    let lines = errors::lines(text).into_iter().rev();
                    facts.extend(lines.map(|line| Fact::Error { line, evidence }));
                    continue;
                }
                read_errors(text, failed, &mut facts);
                if facts.len() == before
                    && failed
                    && let Some(line) = failure_line(text)
                {
                    let evidence = Evidence::Sure;
                    facts.push(Fact::Error { line, evidence });
                }
                let file = asked.and_then(|asked| asked.file.as_ref());
                let source = file.map_or(&**name, String::as_str);
                let lines = values::lines(source, text).into_iter().enumerate();
                facts.extend(lines.map(|(number, line)| Fact::Value {
                    number,
                    line,
                    file: file.cloned(),
                }));
                if let Some(file) = file
                    && asked.is_some_and(|asked| asked.is_read)
                    && !failed
                {
                    facts.extend(contents::of(file, text).into_iter().map(Fact::Content));
                }
            }
            Part::Summary(text) => summary::read(text, entry_limits, &mut facts),
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

fn read_request(text: &str, facts: &mut Vec<Fact>) {
    let whole = text.trim();
    if !whole.is_empty() {
        facts.push(Fact::Heard(text::line(whole, HEARD)));
    }
    let is_short = !whole.is_empty() && whole.len() <= statements::WHOLE && !whole.contains('\n');
    let statement = is_short.then_some(facts.len());
    if statement.is_some() {
        let text = text::block(whole, statements::WHOLE);
        facts.push(Fact::Statement { text, repeated: 0 });
    }
    let mut is_all_rules = text.len() <= RULE;
    let mut left = RULES_OF_MESSAGE;
    let is_all_told = each_rule(text, &mut |rule| {
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
        // `error cc6666` is a colour.
        let is_error = |line: &str| {
            errors::begins_like_an_error(line)
                && line.contains(':')
                && !errors::begins_a_trace(line)
        };
        let lines = errors::lines_that(text, is_error).into_iter().rev();
        let evidence = Evidence::Word;
        facts.extend(lines.map(|line| Fact::Error { line, evidence }));
    }
}

/// Calls `take` with each sentence of a text of the user as a rule, or with `None` if it is none. Returns whether
/// all sentences were read.
fn each_rule(text: &str, take: &mut dyn FnMut(Option<Fact>)) -> bool {
    // The sentence before, unless it is a rule itself.
    let mut before: Option<String> = None;
    each_in_context(text, &mut |sentence| {
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

/// Whether a tool keeps the model's own to-do list, by its name. Others have lists of records with a status, too.
fn writes_tasks(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    ["todo", "plan", "task", "checklist"]
        .iter()
        .any(|word| tool.contains(word))
}

/// What a call asked for, which says what its output is.
struct Asked {
    /// The path of the file that it is about.
    file: Option<String>,
    /// Whether it read that file.
    is_read: bool,
    /// Whether it was a search that found nothing.
    found_nothing: bool,
}

/// Reads a call, with its output and whether that is one of a failure. Returns what it asked for, unless it was a to-do
/// list.
fn read_call(
    tool: &str,
    arguments: &str,
    output: Option<(&Part<'_>, bool)>,
    facts: &mut Vec<Fact>,
) -> Option<Asked> {
    let failed = output.is_some_and(|(_, failed)| failed);
    if writes_tasks(tool)
        && !failed
        && let Some(tasks) = open_points::tasks(arguments)
    {
        facts.push(Fact::Tasks(tasks));
        return None;
    }
    let answer = output.and_then(|(output, _)| match output {
        Part::Output { text, .. } => Some(part::unwrapped(text)),
        _ => None,
    });
    let call = Action::read(tool, arguments, failed, answer.as_deref());
    let asked = Asked {
        file: call.action.file().map(str::to_owned),
        is_read: call.action.has_read(),
        found_nothing: call.action.has_found_nothing(),
    };
    facts.push(Fact::Action(Box::new(call.action)));
    facts.extend(call.changes.into_iter().map(Fact::Changed));
    Some(asked)
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
        Fact::Error { line, evidence }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::ENTRIES;

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
    fn rules_of_a_message_are_limited() {
        let counts = |text: &str| {
            let parts = [Part::User(text.to_owned().into())];
            let facts = read(&parts, &mut EntryLimits::default());
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
            .map(|_| read(&parts, &mut entry_limits).len())
            .collect();
        let full = ENTRIES + 1;
        assert_eq!(counts, [full, full, full, full, 1]);
    }

    #[test]
    fn rules_in_requests_of_a_summary_are_limited() {
        let more = "\n  Never row.\n".repeat(2_002);
        let summary = format!("## History\n- User: Never row.\n{more}");
        let parts = [Part::Summary(summary.into())];
        let facts = read(&parts, &mut EntryLimits::default());
        let is_rule = |fact: &&Fact| matches!(fact, Fact::Rule(..));
        assert_eq!(facts.iter().filter(is_rule).count(), RULES_OF_MESSAGE);
        assert_eq!(facts.len(), RULES_OF_MESSAGE + 1);
    }

    #[test]
    fn json_around_an_output_says_whether_it_failed() {
        let line = |text: &str| {
            let parts = [call("make tide"), output(false, text)];
            let facts = read(&parts, &mut EntryLimits::default());
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
    fn a_search_that_found_nothing_is_neither_a_failure_nor_an_error() {
        let parts = [
            call("grep -rn sluice src"),
            output(true, "Error: Command failed with exit code 1"),
        ];
        let facts = read(&parts, &mut EntryLimits::default());
        assert_eq!(facts.len(), 1, "{facts:?}");
        assert!(
            matches!(&facts[0], Fact::Action(action) if action.line() == "ran `grep -rn sluice src` → found nothing"),
            "{facts:?}"
        );
    }

    #[test]
    fn what_another_agent_reports_is_told_as_a_text() {
        let report = format!(
            "The lock fails because its gate is open. {}",
            "It is old. ".repeat(40)
        );
        let facts = |name: &'static str| {
            let output = Part::Output {
                call_id: "".into(),
                name: name.into(),
                failed: false,
                text: report.clone().into(),
            };
            read(&[output], &mut EntryLimits::default())
        };
        for agent in ["Task", "TaskOutput", "dispatch_agent"] {
            assert!(
                matches!(&facts(agent)[..], [Fact::Reported { text, forms }] if *text == report.trim() && !forms.is_empty()),
                "{agent}"
            );
        }
        for other in ["TaskUpdate", "cat", "get_agent_info", "reagent_search"] {
            assert!(facts(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn of_a_trace_what_it_leads_to_is_the_error() {
        let errors = |text: &str| {
            let parts = [output(true, text)];
            let facts = read(&parts, &mut EntryLimits::default());
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
        let facts = read(&parts, &mut EntryLimits::default());
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
        let facts = read(&parts, &mut EntryLimits::default());
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
