//! What can be told of a unit once it is gone.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use super::actions::Action;
use super::rules::Strength;
use super::section::{Section, entries};
use super::{errors, open, rules, text, values};
use crate::conversation::message::{Call, Content, Message, Output, Part};
use crate::conversation::{Conversation, Role};

/// The most bytes of a request, of a rule, and of any other line.
const REQUEST: usize = 4_000;
const RULE: usize = 2_000;
const SAID: usize = 240;
const EARLIER: usize = 1_000;

/// The most sentences of one message that can be rules.
const RULES_OF_MESSAGE: usize = 2_000;

/// Lines from which on a user's message may hold a tool's output.
const PASTED: usize = 5;

/// One fact, as it can stand in a digest.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fact {
    Request(String),
    Rule(Strength, String),
    Action(Action),
    /// What an earlier digest said of what was done.
    Done(String),
    Said(String),
    Error {
        line: String,
        /// It stood in a tool's output.
        of_tool: bool,
    },
    Value {
        /// Which of the lines of its output it is; ids stand in the first.
        number: usize,
        line: String,
    },
    Open(String),
    Earlier(String),
}

/// The facts of the units that were read so far.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    conversation: &'a Conversation,
    units: Vec<Option<Vec<Fact>>>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(conversation: &'a Conversation) -> Self {
        Self {
            conversation,
            units: vec![None; conversation.units().len()],
        }
    }

    /// Reads all units that are not `kept`, as far as they were not read before.
    pub(super) fn read(&mut self, kept: &[bool]) {
        for (unit, facts) in self.units.iter_mut().enumerate() {
            if !kept[unit] && facts.is_none() {
                *facts = Some(read(self.conversation, unit));
            }
        }
    }

    /// The facts of the units that are not `kept`, in order and numbered.
    pub(super) fn of_dropped(&self, kept: &[bool]) -> Vec<(usize, &Fact)> {
        self.units
            .iter()
            .zip(kept)
            .filter(|(_, kept)| !**kept)
            .filter_map(|(facts, _)| facts.as_ref())
            .flatten()
            .enumerate()
            .collect()
    }
}

fn read(conversation: &Conversation, unit: usize) -> Vec<Fact> {
    let messages = conversation.messages(unit);
    let outputs: Vec<Told<'_>> = messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| Told::of(conversation, part))
        .collect();
    let mut answers = Answers::of(&outputs);
    let mut next_output = outputs.iter();
    let mut facts = Vec::new();
    for message in messages {
        for part in &message.parts {
            match &part.content {
                Content::Text(place) => {
                    let opened = conversation.opened(part);
                    match (message.role, opened) {
                        (Role::Assistant, None) => {
                            read_said(&conversation.text(place), message, &mut facts)
                        }
                        (Role::Assistant, Some(opened)) => {
                            read_said(&opened.text, message, &mut facts)
                        }
                        (_, Some(opened)) => read_summary(&opened.text, &mut facts),
                        (Role::User, None) => read_request(&conversation.text(place), &mut facts),
                        _ => {}
                    }
                }
                Content::Call(call) => {
                    read_call(conversation, call, answers.take(call), &mut facts);
                }
                Content::Output(output) => {
                    let told = next_output.next();
                    let text = told.map_or("", |told| &told.text);
                    let before = facts.len();
                    read_errors(text, true, &mut facts);
                    if facts.len() == before
                        && told.is_some_and(Told::failed)
                        && let Some(line) = errors::last_line(text)
                    {
                        let of_tool = true;
                        facts.push(Fact::Error { line, of_tool });
                    }
                    let lines = values::lines(&output.name, text).into_iter().enumerate();
                    facts.extend(lines.map(|(number, line)| Fact::Value { number, line }));
                }
                Content::Thinking(_) | Content::Media(_) | Content::Opaque(_) => {}
            }
        }
    }
    facts
}

/// An output with its text.
struct Told<'a> {
    output: &'a Output,
    text: Cow<'a, str>,
}

impl<'a> Told<'a> {
    fn of(conversation: &'a Conversation, part: &'a Part) -> Option<Self> {
        let Content::Output(output) = &part.content else {
            return None;
        };
        let text = match conversation.opened(part) {
            Some(opened) => Cow::Owned(opened.text),
            None => output.text(conversation.source()),
        };
        Some(Self { output, text })
    }

    fn failed(&self) -> bool {
        self.output.failed || errors::exited_badly(&self.text)
    }
}

/// Outputs by what their calls are found by: ids, or names where there are none.
struct Answers<'a> {
    by_id: HashMap<&'a str, &'a Told<'a>>,
    by_name: HashMap<&'a str, VecDeque<&'a Told<'a>>>,
}

impl<'a> Answers<'a> {
    fn of(outputs: &'a [Told<'a>]) -> Self {
        let mut answers = Self {
            by_id: HashMap::new(),
            by_name: HashMap::new(),
        };
        for told in outputs {
            let Output { call_id, name, .. } = told.output;
            if call_id.is_empty() {
                answers.by_name.entry(name).or_default().push_back(told);
            } else {
                answers.by_id.insert(call_id, told);
            }
        }
        answers
    }

    /// The output of a call. Calls without ids are asked for in their order.
    fn take(&mut self, call: &Call) -> Option<&'a Told<'a>> {
        if call.id.is_empty() {
            self.by_name.get_mut(call.name.as_str())?.pop_front()
        } else {
            self.by_id.get(call.id.as_str()).copied()
        }
    }
}

fn read_request(text: &str, facts: &mut Vec<Fact>) {
    let mut is_all_rules = text.len() <= RULE;
    let mut left = RULES_OF_MESSAGE;
    for sentence in rules::sentences(text) {
        match rules::strength(sentence) {
            Some(strength) if left > 0 => {
                left -= 1;
                facts.push(Fact::Rule(strength, text::line(sentence, RULE)));
            }
            _ => is_all_rules = false,
        }
    }
    // What stands there as rules need not stand there twice.
    if !is_all_rules {
        facts.push(Fact::Request(text::block(text, REQUEST)));
    }
    if text.lines().nth(PASTED).is_some() {
        read_errors(text, false, facts);
    }
}

fn read_said(text: &str, message: &Message, facts: &mut Vec<Fact>) {
    facts.extend(open::lines(text).into_iter().map(Fact::Open));
    if message.calls().next().is_none()
        && let Some(command) = fenced_command(text)
    {
        facts.push(Fact::Action(Action::of_command(command)));
    }
    if let Some(first) = text
        .lines()
        .map(str::trim)
        .find(|line| line.len() > 1 && !line.starts_with("```"))
    {
        facts.push(Fact::Said(text::line(first, SAID)));
    }
}

/// The command of an agent that speaks in blocks of shell instead of calls.
fn fenced_command(text: &str) -> Option<&str> {
    let (_, block) = text.split_once("```")?;
    let (language, block) = block.split_once('\n')?;
    let (command, _) = block.split_once("```")?;
    matches!(
        language.trim(),
        "bash" | "sh" | "shell" | "console" | "zsh" | "powershell"
    )
    .then(|| command.trim())
    .filter(|command| !command.is_empty())
}

fn read_call(
    conversation: &Conversation,
    call: &Call,
    output: Option<&Told<'_>>,
    facts: &mut Vec<Fact>,
) {
    let arguments = call
        .arguments
        .as_ref()
        .map_or(Cow::Borrowed(""), |place| conversation.text(place));
    let failed = output.is_some_and(Told::failed);
    let answer = output.map(|told| &*told.text);
    facts.push(Fact::Action(Action::of_call(
        &call.name, &arguments, failed, answer,
    )));
    facts.extend(open::tasks(&arguments).into_iter().map(Fact::Open));
}

fn read_errors(text: &str, of_tool: bool, facts: &mut Vec<Fact>) {
    let lines = errors::lines(text).into_iter().rev();
    facts.extend(lines.map(|line| Fact::Error { line, of_tool }));
}

/// An earlier summary: what it holds goes on in the same sections.
fn read_summary(text: &str, facts: &mut Vec<Fact>) {
    for (section, entry) in entries(text) {
        match section {
            Section::Requests => {
                let rules = rules::sentences(&entry)
                    .filter(|sentence| !sentence.ends_with('…'))
                    .filter_map(|sentence| {
                        Some(Fact::Rule(
                            rules::strength(sentence)?,
                            text::line(sentence, RULE),
                        ))
                    });
                facts.extend(rules);
                facts.push(Fact::Request(text::block(&entry, REQUEST)));
            }
            Section::Rules => {
                let strength = rules::strength(&entry).unwrap_or(Strength::Rule);
                facts.push(Fact::Rule(strength, text::line(&entry, RULE)));
            }
            Section::Done => facts.push(match Action::of_line(&entry) {
                Some(action) => Fact::Action(action),
                None => Fact::Done(text::line(&entry, EARLIER)),
            }),
            Section::Said => facts.push(Fact::Said(text::line(&entry, SAID))),
            Section::Errors => facts.push(Fact::Error {
                line: text::line(&entry, RULE),
                of_tool: true,
            }),
            Section::Values => facts.push(Fact::Value {
                number: 0,
                line: text::line(&entry, EARLIER),
            }),
            Section::Open => facts.push(Fact::Open(text::line(&entry, EARLIER))),
            Section::Earlier => facts.push(Fact::Earlier(text::line(&entry, EARLIER))),
        }
    }
}
