//! Turns: read from the steps of the conversation, or provided by the program.

use baler_strategy::{Content, Message, Role, ToolCall, ToolOutput};

use crate::context::TurnOfProgram;
use crate::limits::cut;
use crate::print::Printer;
use crate::value::Value;

/// The tool whose outputs are printed lines.
pub(crate) const PRINTLN: &str = "println";

/// The most characters that are shown of an error.
const ERROR: usize = 1000;
/// The most items, and the most characters, of a value in a program or an error.
const ITEMS: usize = 10;
const CHARACTERS: usize = 400;

/// A completed turn: one response of the model and its results.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Turn {
    pub calls: Vec<Call>,
    pub prints: Vec<String>,
    /// the error, if the turn failed
    pub failure: Option<Failed>,
    /// whether the turn has a result of its own, in addition to the results of its calls
    pub has_result: bool,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub name: String,
    pub arguments: Value,
    /// the result as text
    pub result: Option<String>,
}

/// An attempt that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    pub program: Option<String>,
    pub message: String,
}

impl Turn {
    /// Returns the turn of a step. Of each result it keeps `excerpt` characters.
    pub(crate) fn of_step(messages: &[Message], excerpt: usize) -> Self {
        let parts = || messages.iter().flat_map(|message| &message.parts);
        let outputs: Vec<&ToolOutput> = parts()
            .filter_map(|part| match &part.content {
                Content::Output(output) => Some(output),
                _ => None,
            })
            .collect();
        // Text of the user next to outputs is not a reply of the model.
        let mut replies = messages
            .iter()
            .filter(|message| message.role != Role::User)
            .flat_map(|message| &message.parts);
        let mut turn = Self {
            has_result: replies.any(
                |part| matches!(&part.content, Content::Text(text) if !text.trim().is_empty()),
            ),
            ..Self::default()
        };
        let mut next = 0;
        for part in parts() {
            let Content::Call(call) = &part.content else {
                continue;
            };
            let output = answer(call, next, &outputs);
            next += 1;
            if call.name == PRINTLN {
                let lines = output.map_or("", |output| output.text.as_str()).lines();
                turn.prints.extend(lines.map(str::to_owned));
            } else {
                turn.calls.push(Call {
                    name: call.name.clone(),
                    arguments: Value::of_arguments(&call.arguments),
                    result: output.map(|output| cut(&output.text, excerpt)),
                });
            }
        }
        turn.failure = outputs
            .iter()
            .rfind(|output| output.failed)
            .map(|output| Failed {
                program: program(&turn.calls),
                message: cut(output.text.trim(), ERROR),
            });
        turn
    }

    /// Returns the turn that the program provides.
    pub(crate) fn of_program(turn: &TurnOfProgram, excerpt: usize) -> Self {
        let result = |value: &Value| match value {
            Value::Text(text) => cut(text, excerpt),
            value => cut(&printed(value), excerpt),
        };
        Self {
            calls: turn
                .tool_calls
                .iter()
                .map(|call| Call {
                    name: call.name.clone(),
                    arguments: call.arguments.clone().unwrap_or(Value::Map(Vec::new())),
                    result: call.result.as_ref().map(result),
                })
                .collect(),
            prints: turn.prints.clone(),
            failure: turn.has_failed().then(|| Failed {
                program: turn.program.clone(),
                message: cut(&message(turn.error.as_ref()), ERROR),
            }),
            has_result: turn.result.is_some(),
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }
}

/// Returns the output of a call: by its id, or, if it has none, by its position.
fn answer<'a>(call: &ToolCall, place: usize, outputs: &[&'a ToolOutput]) -> Option<&'a ToolOutput> {
    if call.id.is_empty() {
        return outputs.get(place).copied();
    }
    outputs
        .iter()
        .find(|output| output.call_id == call.id)
        .copied()
}

/// Returns the calls as a program, with a line for each. The form `name(…)` is reserved for calls that did
/// not fail.
fn program(calls: &[Call]) -> Option<String> {
    let lines: Vec<String> = calls
        .iter()
        .map(|call| format!("({} {})", call.name, printed(&call.arguments)))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns the text of an error: its message, else its reason, else the value itself.
fn message(error: Option<&Value>) -> String {
    let Some(error) = error else {
        return "unknown".to_owned();
    };
    let field = |name| error.get(name).filter(|value| **value != Value::Nil);
    match field("message")
        .or_else(|| field("reason"))
        .unwrap_or(error)
    {
        Value::Text(text) | Value::Keyword(text) => text.clone(),
        value => printed(value),
    }
}

fn printed(value: &Value) -> String {
    Printer::new(ITEMS, CHARACTERS).print(value)
}
