//! Arguments as people type them. What they come to is worked out in `settings`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use baler_host::{Budget, Format, Pins};
use clap::Args;

/// Where the conversation comes from and how it is read.
#[derive(Debug, Args)]
pub(crate) struct ConversationArguments {
    /// The conversation: a request body in a provider's wire format, its list of messages, or
    /// the log of a session of Claude Code, Codex, pi or gemini-cli, which becomes the request
    /// body of its next request. `-`, or nothing, reads it from standard input
    #[arg(value_name = "FILE", help_heading = "Conversation")]
    pub(crate) file: Option<PathBuf>,

    /// Wire format of the conversation: auto, openai-chat, openai-responses, anthropic, gemini
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "auto",
        help_heading = "Conversation"
    )]
    pub(crate) format: FormatArgument,

    /// What counts tokens: `auto` goes by the model that the conversation names; or a
    /// vocabulary, such as o200k_base or cl100k_base
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        help_heading = "Conversation"
    )]
    pub(crate) tokenizer: String,

    /// Tokens that the provider reported for the whole conversation (input and output of its
    /// last response): counts are corrected to agree with it. Where the model's vocabulary is
    /// known, they are never corrected downwards [default: what a log recorded]
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true, value_parser = reported, help_heading = "Conversation")]
    pub(crate) used: Option<u32>,

    /// The request that was sent last. What stands unchanged at the beginning of both is in the
    /// provider's cache, and the receipt tells what becomes of that
    #[arg(long, value_name = "FILE", help_heading = "Conversation")]
    pub(crate) previous: Option<PathBuf>,

    /// Repair what breaks a rule of the format before anything else is done, and what `baler
    /// validate` warns of as well. Signed and encrypted messages are never edited; where a broken
    /// rule would be left, nothing is done
    #[arg(long, help_heading = "Conversation")]
    pub(crate) repair: bool,
}

impl ConversationArguments {
    /// Of a command that only looks at a conversation.
    pub(crate) fn of(format: FormatArgument) -> Self {
        Self {
            file: None,
            format,
            tokenizer: "auto".to_owned(),
            used: None,
            previous: None,
            repair: false,
        }
    }
}

/// What is wanted.
#[derive(Debug, Args)]
pub(crate) struct GoalArguments {
    /// How large the result may be: a number of tokens, all included; or a share such as 50%,
    /// which means what always stays (system prompt, tools, instructions) and that share of
    /// the tokens of all the rest [default: 50%]
    #[arg(
        long,
        value_name = "TOKENS|N%",
        allow_hyphen_values = true,
        help_heading = "Goal"
    )]
    pub(crate) budget: Option<Budget>,

    /// The most bytes of the result, such as 30MB. Where what has to stay is larger, the result is
    /// as small as it can be, and the run says so [default: what the provider takes]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = size, help_heading = "Goal")]
    pub(crate) max_bytes: Option<usize>,

    /// The most pictures, documents and the like in the result [default: what the provider
    /// takes]
    #[arg(long, value_name = "N", help_heading = "Goal")]
    pub(crate) max_media: Option<u32>,

    /// The model's context window, for strategies that want to know. It sets no budget
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true, value_parser = window, help_heading = "Goal")]
    pub(crate) context_window: Option<u32>,

    /// What must not be removed: `first-user`, which is often the task; `none`; or numbers of units
    /// as `baler compact --dry-run` shows them, from 0, such as 0,3,4. Instructions, the newest user
    /// message, pending tool calls and tool outputs that the model has not seen always stay, the
    /// last shortened if they have to be
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "first-user",
        allow_hyphen_values = true,
        help_heading = "Goal"
    )]
    pub(crate) pin: PinArgument,

    /// Why it is asked for, which strategies may go by: threshold, overflow, manual, scheduled
    /// [default: threshold; manual with --instructions]
    #[arg(
        long,
        value_name = "WHY",
        hide_possible_values = true,
        help_heading = "Goal"
    )]
    pub(crate) trigger: Option<TriggerArgument>,

    /// What to keep in mind, for strategies that ask a model: such as "keep the API design"
    #[arg(long, value_name = "TEXT", help_heading = "Goal")]
    pub(crate) instructions: Option<String>,

    /// What your program knows beside the conversation, for strategies that want it: JSON (turns
    /// left, memory, data …), or @FILE for a file that holds it
    #[arg(long, value_name = "JSON|@FILE", help_heading = "Goal")]
    pub(crate) context: Option<String>,

    /// Do not leave it at a strategy that wants nothing done: `compact` asks the next one, also
    /// after a failure that a strategy reports, and `should-compact` says `compact`
    #[arg(long, help_heading = "Goal")]
    pub(crate) required: bool,
}

/// What a strategy may use, and where the host keeps its own things.
#[derive(Debug, Args)]
pub(crate) struct SandboxArguments {
    /// Fuel of a call, about one for each instruction [default: 4000000000]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = fuel, help_heading = "Sandbox")]
    pub(crate) fuel: Option<u64>,

    /// Time on the clock of a call, such as 500ms or 10s [default: 2s; with a model, what the
    /// strategy asks for, 600s at most; so for one behind a URL]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time, help_heading = "Sandbox")]
    pub(crate) timeout: Option<Duration>,

    /// Memory of a call, such as 64MiB [default: 64MiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = memory, help_heading = "Sandbox")]
    pub(crate) memory: Option<usize>,

    /// Folder for the key that summaries are marked with, for compiled strategies, and for the
    /// archive where no other is named
    /// [default: $BALER_STATE, else $XDG_STATE_HOME/baler, else ~/.local/state/baler]
    #[arg(long, value_name = "DIR", help_heading = "Sandbox")]
    pub(crate) state: Option<PathBuf>,
}

/// Why a compaction is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TriggerArgument {
    /// A threshold of yours was crossed
    Threshold,
    /// The provider refused the request as too long
    Overflow,
    /// Somebody asked for it
    Manual,
    /// A schedule said so
    Scheduled,
}

/// A wire format, or finding out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormatArgument(pub(crate) Option<Format>);

impl FromStr for FormatArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "auto" {
            return Ok(Self(None));
        }
        text.parse().map(|format| Self(Some(format))).map_err(|_| {
            let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
            format!("known formats: auto, {}", known.join(", "))
        })
    }
}

/// A share, from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShareArgument(pub(crate) f64);

impl FromStr for ShareArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_suffix('%')
            .and_then(|percent| percent.trim().parse::<f64>().ok())
            .filter(|percent| (0.0..=100.0).contains(percent))
            .map(|percent| Self(percent / 100.0))
            .ok_or_else(|| "give a share such as 10%".to_owned())
    }
}

/// What stays in any case.
#[derive(Debug, Clone)]
pub(crate) struct PinArgument(pub(crate) Pins);

impl FromStr for PinArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "first-user" => Ok(Self(Pins::FirstUser)),
            "none" => Ok(Self(Pins::None)),
            numbers => numbers
                .split(',')
                .map(|number| number.trim().parse().ok())
                .collect::<Option<_>>()
                .map(|units| Self(Pins::Units(units)))
                .ok_or_else(|| {
                    "give first-user, none, or numbers of units such as 0,3,4".to_owned()
                }),
        }
    }
}

fn tokens(text: &str) -> Result<u32, String> {
    let number = whole(text)
        .ok_or("give a number of tokens such as 8000, or, for a budget, a share such as 50%")?;
    u32::try_from(number)
        .map_err(|_| format!("no request has so many tokens; the most is {}", u32::MAX))
}

fn window(text: &str) -> Result<u32, String> {
    match tokens(text)? {
        0 => {
            Err("no model has a window of 0 tokens; leave it out where it is not known".to_owned())
        }
        tokens => Ok(tokens),
    }
}

fn reported(text: &str) -> Result<u32, String> {
    match whole(text) {
        None => Err("give the number that the provider reported, such as 48210".to_owned()),
        Some(0) => {
            Err("no provider reports 0 tokens; leave it out where nothing was reported".to_owned())
        }
        Some(_) => tokens(text),
    }
}

fn fuel(text: &str) -> Result<u64, String> {
    match whole(text) {
        None => Err("give a whole number such as 4000000000".to_owned()),
        Some(0) => Err("without fuel no strategy runs; give at least 1".to_owned()),
        Some(fuel) => Ok(fuel),
    }
}

/// Nobody waits longer for a compaction, and no clock overflows.
const MOST_TIME: Duration = Duration::from_secs(24 * 60 * 60);

fn time(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Err(_) => Err("give a number with its unit, such as 500ms, 2s or 1m".to_owned()),
        Ok(Duration::ZERO) => Err("without time no strategy runs; give at least 1ms".to_owned()),
        Ok(time) if time > MOST_TIME => Err("give a day (24h) at most".to_owned()),
        Ok(time) => Ok(time),
    }
}

/// What a 32-bit memory can have.
const MOST_MEMORY: u64 = 4 << 30;

fn memory(text: &str) -> Result<usize, String> {
    match bytes(text)? {
        0 => Err("without memory no strategy runs; most need some MiB".to_owned()),
        bytes if bytes > MOST_MEMORY => Err("a strategy can have 4GiB at most".to_owned()),
        bytes => here(bytes),
    }
}

pub(crate) fn size(text: &str) -> Result<usize, String> {
    match bytes(text)? {
        0 => Err("nothing fits into 0 bytes".to_owned()),
        bytes => here(bytes),
    }
}

fn here(bytes: u64) -> Result<usize, String> {
    usize::try_from(bytes).map_err(|_| "this machine has no room for so much".to_owned())
}

fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 7] = [
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1_000),
        ("B", 1),
    ];
    let lower = text.trim().to_ascii_lowercase();
    let (number, unit) = UNITS
        .iter()
        .find_map(|(name, bytes)| Some((lower.strip_suffix(&name.to_ascii_lowercase())?, *bytes)))
        .unwrap_or((&lower, 1));
    let bytes = whole(number.trim())
        .ok_or("give a size such as 64MiB, 64MB, or a number of bytes")?
        .saturating_mul(unit);
    Ok(bytes)
}

/// A whole number; `_` may part its digits.
fn whole(text: &str) -> Option<u64> {
    if text.starts_with(['_', '+']) {
        return None;
    }
    text.replace('_', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_of_both_kinds() {
        assert_eq!(memory("64MiB"), Ok(64 << 20));
        assert_eq!(memory("64 mb"), Ok(64_000_000));
        assert_eq!(memory("65_536"), Ok(65_536));
        for wrong in ["0", "-1", "1.5MiB", "MiB", "5GiB", "x"] {
            assert!(memory(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pins_are_named_or_numbered() {
        let pins = |text: &str| text.parse::<PinArgument>().map(|pins| pins.0);
        assert_eq!(pins("first-user"), Ok(Pins::FirstUser));
        assert_eq!(pins("0, 3"), Ok(Pins::Units(vec![0, 3])));
        for wrong in ["", "first", "1,,2", "-1"] {
            assert!(pins(wrong).is_err(), "{wrong}");
        }
    }
}
