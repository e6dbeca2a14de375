//! What the model does in a session.

use serde_json::{Value, json};

/// A session of tool calls.
#[derive(Debug, Clone)]
pub struct Script {
    /// Number of steps before the model ends the session.
    pub steps: usize,
    /// Calls of each step, made together.
    pub calls: usize,
    /// Tokens of the model's window, as baler counts them.
    pub window: u32,
    /// A part of the task, which has to be in every request of the session.
    pub task: String,
    /// Lines of each output.
    pub lines: usize,
}

/// A tool call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

/// Tools that run a shell command, with the name of the argument that holds it, and whether that is a list.
const SHELLS: [(&str, &str, bool); 7] = [
    ("Bash", "command", false),
    ("bash", "command", false),
    ("exec_command", "cmd", false),
    ("shell_command", "command", false),
    ("run_shell_command", "command", false),
    ("local_shell", "command", true),
    ("shell", "command", true),
];

impl Script {
    /// Returns what is only in the output of a call.
    pub(crate) fn code(call: usize) -> String {
        format!(
            "cask-{:05x}",
            call.wrapping_mul(7_919).wrapping_add(0x3_1415) & 0xf_ffff
        )
    }

    /// Returns the numbers of the calls of a step.
    const fn numbers(&self, step: usize) -> std::ops::Range<usize> {
        step * self.calls..(step + 1) * self.calls
    }

    /// Decides whether a text has the outputs of a step.
    pub(crate) fn has_outputs(&self, step: usize, text: &str) -> bool {
        self.numbers(step)
            .all(|call| text.contains(&Self::code(call)))
    }

    /// Returns the calls of a step by a tool that the request offers; none if it offers none that runs commands.
    pub(crate) fn calls(&self, step: usize, tools: &[&str]) -> Vec<Call> {
        let calls = self.numbers(step);
        calls
            .filter_map(|number| self.call(number, tools))
            .collect()
    }

    fn call(&self, number: usize, tools: &[&str]) -> Option<Call> {
        let (name, argument, is_list) = SHELLS.iter().find(|(name, ..)| tools.contains(name))?;
        let lines = self.lines;
        // Its parts are only in the output, not in the command.
        let code = Self::code(number);
        let (one, two) = code.split_at(7);
        let command = format!(
            "printf 'step {number}: cellar {one}%s holds {} litres\\n' {two}; seq -f 'shelf {number}-%g is dusty and quiet' 1 {lines}",
            number * 37 % 911
        );
        let command = match is_list {
            true => json!(["bash", "-lc", command]),
            false => json!(command),
        };
        let mut arguments = json!({"description": format!("Look at cellar {number}")});
        arguments[*argument] = command;
        Some(Call {
            id: format!("call_{number:04}"),
            name: (*name).to_owned(),
            arguments,
        })
    }
}
