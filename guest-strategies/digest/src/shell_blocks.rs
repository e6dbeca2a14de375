//! Commands of agents that write blocks of shell instead of calls: which ran, and which were only proposed.

use std::borrow::Cow;

use super::actions::Action;
use super::errors;
use super::facts::Fact;
use super::part::Part;
use super::text::FENCE;

/// Most bytes of a block within a text that has to be shortened.
const BLOCK: usize = 160;

/// Beginnings of a program's answer to such a block. Only the answer shows that the command ran: a model may
/// propose a command that the user does not want.
const ANSWERS: [&str; 6] = [
    // mini-swe-agent, which does not put all of them in a form that is known for a program's
    "<returncode>",
    "<output>",
    STOPPED,
    // Agents that call tools in text
    "<tool_response",
    "<tool_result",
    "<function_results",
];

/// Beginnings of answers whose whole form identifies a program: SWE-agent and others, OpenHands, and AutoGen.
const BY_PROGRAM: [&str; 4] = [
    "Observation:",
    "OBSERVATION:",
    "EXECUTION RESULT of [",
    "exitcode: ",
];

/// Beginning of the answer of mini-swe-agent if the command took too long.
const STOPPED: &str = "The last command <command>";

/// The newest command that the model wrote and that has no answer yet, with the number of its unit.
#[derive(Debug, Default)]
pub(crate) struct ProposedCommand(Option<(usize, String)>);

impl ProposedCommand {
    /// Reads the next unit. Returns the commands that ran, each with the number of the unit that contains it.
    pub(crate) fn read(&mut self, unit: usize, parts: &[Part<'_>]) -> Vec<(usize, Fact)> {
        let mut ran = Vec::new();
        for part in parts {
            match part {
                Part::Assistant { text, calls: false } => {
                    if let Some(command) = command(text) {
                        self.0 = Some((unit, command.to_owned()));
                    }
                }
                Part::User(text) | Part::Program(text) if is_answer(part, text) => {
                    let failed = errors::exited_with_failure(text) || begins_with(text, STOPPED);
                    if let Some((unit, command)) = self.0.take() {
                        let action = Action::of_command(&command, failed, Some(output(text)));
                        ran.push((unit, Fact::Action(Box::new(action))));
                    }
                }
                // The answer may be next to what the user says.
                Part::User(_) | Part::Program(_) | Part::Thinking(_) => {}
                _ => self.0 = None,
            }
        }
        // The user's turn is over, and contained no answer.
        if matches!(parts.last(), Some(Part::User(_) | Part::Program(_))) {
            self.0 = None;
        }
        ran
    }
}

/// Returns the output within the answer of a program, without its tags.
fn output(answer: &str) -> &str {
    let inner = answer.split_once("<output>").map_or("", |(_, rest)| rest);
    inner
        .split_once("</output>")
        .map_or(inner, |(inner, _)| inner)
}

fn is_answer(part: &Part<'_>, text: &str) -> bool {
    let begins = |answer: &&str| begins_with(text, answer);
    ANSWERS.iter().any(begins) || matches!(part, Part::Program(_)) && BY_PROGRAM.iter().any(begins)
}

fn begins_with(text: &str, start: &str) -> bool {
    text.trim_start().starts_with(start)
}

/// Returns a text without its first block of shell, if `has_run` says that the command ran.
pub(super) fn without_block_that_ran<'t>(
    text: &'t str,
    has_run: impl Fn(&Action) -> bool,
) -> Cow<'t, str> {
    let ran = command(text).filter(|command| {
        // Lines of an entry are indented.
        let command = command.replace("\n  ", "\n");
        has_run(&Action::of_command(&command, false, None))
    });
    let Some(command) = ran else {
        return Cow::Borrowed(text);
    };
    let start = command.as_ptr().addr() - text.as_ptr().addr();
    let before = text[..start]
        .rfind(FENCE)
        .map_or("", |fence| &text[..fence]);
    let behind = &text[start + command.len()..];
    let behind = behind.split_once(FENCE).map_or("", |(_, behind)| behind);
    let rest = format!("{}{}", before.trim_end(), behind.trim_end());
    Cow::Owned(rest.trim_start().to_owned())
}

/// Returns the command in the first block of shell of a text. Blocks of other code before it show what it is about.
pub(super) fn command(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let (_, block) = rest.split_once(FENCE)?;
        let (block, behind) = block.split_once(FENCE)?;
        if let Some(command) = command_in(block) {
            return Some(command);
        }
        rest = behind;
    }
}

/// Returns the command in a block of code, which begins with its language.
fn command_in(block: &str) -> Option<&str> {
    let (language, command) = block.split_once('\n')?;
    matches!(
        language.trim(),
        "bash" | "sh" | "shell" | "console" | "zsh" | "powershell"
    )
    .then(|| command.trim())
    .filter(|command| !command.is_empty())
}

/// Shortens the blocks of a text by the model with a command and more than `limit` bytes to their beginnings:
/// the model's own words say more, such as that nothing ran.
pub(super) fn with_short_blocks(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit || command(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut short = String::new();
    for (index, piece) in text.split(FENCE).enumerate() {
        if index > 0 {
            short.push_str(FENCE);
        }
        if index.is_multiple_of(2) || piece.len() <= BLOCK {
            short.push_str(piece);
            continue;
        }
        let end = piece.floor_char_boundary(BLOCK);
        short.push_str(piece[..end].trim_end());
        short.push_str("…\n");
    }
    Cow::Owned(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROPOSAL: &str =
        "I would run this:\n```sh\n./deploy.sh production --force\n```\nI have not done it.";

    fn said(text: &str) -> Part<'_> {
        let text = text.into();
        Part::Assistant { text, calls: false }
    }

    fn ran(answer: Part<'_>) -> Vec<(usize, String)> {
        let mut proposed = ProposedCommand::default();
        assert!(proposed.read(0, &[said(PROPOSAL)]).is_empty());
        let ran = proposed.read(1, &[answer]);
        // What answers once answers nothing more.
        let again = Part::Program("<returncode>0</returncode>\n<output>".into());
        assert!(proposed.read(2, &[again]).is_empty());
        ran.into_iter()
            .filter_map(|(unit, fact)| match fact {
                Fact::Action(action) => Some((unit, action.line())),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn the_first_block_of_shell_is_the_command_whatever_code_is_before_it() {
        let text =
            "It is this:\n```python\nheat = 7\n```\nSo:\n```bash\nmake heat\n```\n```sh\nls\n```";
        assert_eq!(command(text), Some("make heat"));
        let rest = without_block_that_ran(text, |_| true);
        assert!(
            rest.contains("heat = 7") && !rest.contains("make heat"),
            "{rest}"
        );
        assert_eq!(command("```python\nheat = 7\n```\n```bash\nmake"), None);
        assert_eq!(command("```"), None);
    }

    #[test]
    fn a_command_without_an_answer_did_not_run() {
        for answer in [
            Part::User("No, wait with that.".into()),
            Part::Program("<system-reminder>Be brief.</system-reminder>".into()),
        ] {
            assert!(ran(answer).is_empty());
        }
        let mut proposed = ProposedCommand::default();
        let call = Part::Call {
            id: "a".into(),
            name: "look".into(),
            arguments: "{}".into(),
        };
        let output = Part::Program("Observation:\nfour boats".into());
        assert!(proposed.read(0, &[said(PROPOSAL), call, output]).is_empty());
    }

    #[test]
    fn a_command_that_a_program_answers_ran() {
        let line = "ran `./deploy.sh production --force`";
        for (answer, line) in [
            (
                "<returncode>0</returncode>\n<output>\n</output>",
                line.to_owned(),
            ),
            (
                "<returncode>1</returncode>\n<output>\n</output>",
                format!("{line} — failed"),
            ),
            ("Observation:\ndone", line.to_owned()),
            (
                "exitcode: 0 (execution succeeded)\nCode output: done",
                line.to_owned(),
            ),
            (
                "exitcode: 2 (execution failed)\nCode output: no",
                format!("{line} — failed"),
            ),
            ("<output>done</output>", format!("{line} → done")),
        ] {
            assert_eq!(ran(Part::Program(answer.into())), [(0, line)]);
        }
        let answer = Part::User("<output>done</output>".into());
        assert_eq!(ran(answer), [(0, format!("{line} → done"))]);
        // The user speaks.
        assert!(ran(Part::User("Observation: it is late.".into())).is_empty());
    }

    #[test]
    fn words_next_to_a_long_block_are_kept() {
        let block = "echo moored\n".repeat(100);
        let text = format!("I would run:\n```bash\n{block}```\nI have not done it.");
        let short = with_short_blocks(&text, 700);
        assert!(
            short.len() < 300 && short.ends_with("…\n```\nI have not done it."),
            "{short}"
        );
        assert_eq!(with_short_blocks(PROPOSAL, 700), PROPOSAL);
    }
}
