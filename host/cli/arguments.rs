//! The arguments that several commands share, and their parsers. `settings` makes requests and hosts of them.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use baler_host::{Budget, Format, Pins};
use clap::Args;

/// Options for where the conversation comes from and how it is read.
#[derive(Debug, Args)]
pub(crate) struct ConversationArguments {
    /// The conversation: a request body in a provider's wire format, its list of messages, or a session log
    /// of Claude Code, Codex, pi, gemini-cli, Cline, Roo Code, OpenCode, Copilot CLI or Factory Droid (baler makes
    /// the request body that the session would send next). `-`, or no FILE, reads standard input
    #[arg(value_name = "FILE", help_heading = "Conversation")]
    pub(crate) file: Option<PathBuf>,

    /// Wire format of the conversation: auto (detect it), openai-chat, openai-responses, anthropic, gemini,
    /// bedrock-converse
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "auto",
        help_heading = "Conversation"
    )]
    pub(crate) format: FormatArgument,

    /// Vocabulary that counts tokens, such as o200k_base or cl100k_base; `auto` chooses that of the model
    /// which the conversation names
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        help_heading = "Conversation"
    )]
    pub(crate) tokenizer: String,

    /// Tokens that the provider reported for this conversation: input and output of its last response, such
    /// as 48210. baler corrects its counts to agree; if it knows the model's vocabulary, never downwards
    /// [default: what a session log recorded]
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true, value_parser = reported, help_heading = "Conversation")]
    pub(crate) used: Option<u32>,

    /// File with the request that was sent last. The messages at the beginning that are the same in both
    /// requests are in the provider's cache, and the receipt says how many cached tokens cannot be used again
    #[arg(long, value_name = "FILE", help_heading = "Conversation")]
    pub(crate) previous: Option<PathBuf>,

    /// Repair broken rules of the wire format first, including those that `baler validate` only warns about.
    /// Signed and encrypted messages are never edited. If an error would remain, nothing is done
    #[arg(long, help_heading = "Conversation")]
    pub(crate) repair: bool,
}

impl ConversationArguments {
    /// Returns the arguments of a command that only reads a conversation, with every other option at its
    /// default.
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

/// Options for what a compaction should achieve.
#[derive(Debug, Args)]
pub(crate) struct GoalArguments {
    /// Tokens that the result should fit in, everything included, such as 8000; or a share such as 50%: the
    /// overhead (system prompt, tools, instructions), which always stays, and that share of all other tokens
    /// [default: 50%]
    #[arg(
        long,
        value_name = "TOKENS|N%",
        allow_hyphen_values = true,
        help_heading = "Goal"
    )]
    pub(crate) budget: Option<Budget>,

    /// Maximum size of the result, such as 30MB. If protected content alone is larger, the result is as small
    /// as possible, and baler says so [default: the provider's limit]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = size, help_heading = "Goal")]
    pub(crate) max_bytes: Option<usize>,

    /// Maximum number of images, documents and other media in the result [default: the provider's limit]
    #[arg(long, value_name = "N", help_heading = "Goal")]
    pub(crate) max_media: Option<u32>,

    /// Context window of the model that the conversation is for, in tokens, such as 200000: the most that one
    /// request to the model may have. Some strategies read it; it does not limit the result, which --budget
    /// does. If this option is missing, strategies treat the window as unknown
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true, value_parser = window, help_heading = "Goal")]
    pub(crate) context_window: Option<u32>,

    /// Pinned units, which must not be removed: `first-user`, the first message of the user, which is often the
    /// task; numbers of units that stay besides it, from 0, such as 3,4 (`baler compact --dry-run` shows
    /// them); or `none`.
    /// Instructions, the newest user message, pending tool calls, and tool outputs that the model has not seen
    /// are always protected. So is everything else that the user wrote, the newest first, up to a share of the
    /// budget. baler shortens these outputs and messages if they are too large
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "first-user",
        allow_hyphen_values = true,
        help_heading = "Goal"
    )]
    pub(crate) pin: PinArgument,

    /// Reason for the compaction, which strategies may consider: threshold, overflow, manual, scheduled
    /// [default: threshold; with --instructions: manual]
    #[arg(
        long,
        value_name = "WHY",
        hide_possible_values = true,
        help_heading = "Goal"
    )]
    pub(crate) trigger: Option<TriggerArgument>,

    /// What to keep in mind, for strategies that ask a model, such as "keep the API design"
    #[arg(long, value_name = "TEXT", help_heading = "Goal")]
    pub(crate) instructions: Option<String>,

    /// What your program knows and the conversation does not say, for strategies that read it: JSON (turns
    /// left, memory, data …), or @FILE for a file that holds it
    #[arg(long, value_name = "JSON|@FILE", help_heading = "Goal")]
    pub(crate) context: Option<String>,

    /// Compact even if a strategy declines: `compact` then tries the next strategy, also after a declared
    /// failure, and `should-compact` answers `compact`
    #[arg(long, help_heading = "Goal")]
    pub(crate) required: bool,
}

/// Limits of each call into a strategy, and the state folder.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SandboxArguments {
    /// Fuel limit of each call into a strategy; an instruction uses about 1 [default: 4000000000]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = fuel, help_heading = "Sandbox")]
    pub(crate) fuel: Option<u64>,

    /// Time limit of each call into a strategy, such as 500ms or 10s [default: 2s; with a model, and for a
    /// strategy behind a URL, what the strategy asks for, at most 600s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time, help_heading = "Sandbox")]
    pub(crate) timeout: Option<Duration>,

    /// Memory limit of each call into a strategy, such as 64MiB [default: 64MiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = memory, help_heading = "Sandbox")]
    pub(crate) memory: Option<usize>,

    /// State folder: holds the secret key by which baler recognises the summaries that it wrote, compiled
    /// strategies, and the default archive [default: $BALER_STATE, else $XDG_STATE_HOME/baler, else
    /// ~/.local/state/baler]
    #[arg(long, value_name = "DIR", help_heading = "Sandbox")]
    pub(crate) state: Option<PathBuf>,

    /// File that lists strategies by name with what each may do, or `off` for none [default: the `baler.toml` of the
    /// working folder or of the closest folder above it; until you run `baler trust`, only what it forbids counts]
    #[arg(long, value_name = "FILE|off", help_heading = "Sandbox")]
    pub(crate) project: Option<PathBuf>,
}

/// The reason for a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TriggerArgument {
    /// The caller's threshold was crossed
    Threshold,
    /// The provider refused the request as too long
    Overflow,
    /// A person requested it
    Manual,
    /// A schedule requested it
    Scheduled,
}

/// A wire format; `None` detects it.
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

/// A share from 0 to 1, typed as a percentage.
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

/// The units that the caller pins (`--pin`).
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
    let (digits, times) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => (text, 1),
    };
    let number = whole(digits).ok_or(
        "give a number of tokens such as 8000 or 8k, or, for a budget, a share such as 50%",
    )?;
    u32::try_from(number.saturating_mul(times))
        .map_err(|_| format!("expected at most {} tokens", u32::MAX))
}

pub(crate) fn window(text: &str) -> Result<u32, String> {
    match tokens(text)? {
        0 => Err("expected at least 1 token; leave it out if the window is unknown".to_owned()),
        tokens => Ok(tokens),
    }
}

fn reported(text: &str) -> Result<u32, String> {
    match whole(text) {
        None => Err("give the number that the provider reported, such as 48210".to_owned()),
        Some(0) => {
            Err("expected at least 1 token; leave it out if nothing was reported".to_owned())
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

/// The longest `--timeout`. Longer times are useless, and could overflow a clock.
const MAX_TIME: Duration = Duration::from_secs(24 * 60 * 60);

fn time(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Err(_) => Err("give a number with its unit, such as 500ms, 2s or 1m".to_owned()),
        Ok(Duration::ZERO) => Err("without time no strategy runs; give at least 1ms".to_owned()),
        Ok(time) if time > MAX_TIME => Err("give at most a day (24h)".to_owned()),
        Ok(time) => Ok(time),
    }
}

/// Bytes that a 32-bit memory can have.
const MAX_MEMORY: u64 = 4 << 30;

fn memory(text: &str) -> Result<usize, String> {
    match bytes(text)? {
        0 => Err("without memory no strategy runs; most need some MiB".to_owned()),
        bytes if bytes > MAX_MEMORY => Err("a strategy can have 4GiB at most".to_owned()),
        bytes => addressable(bytes),
    }
}

/// Reads a size of at least one byte, such as `64MiB`.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    match bytes(text)? {
        0 => Err("expected at least 1 byte".to_owned()),
        bytes => addressable(bytes),
    }
}

fn addressable(bytes: u64) -> Result<usize, String> {
    usize::try_from(bytes).map_err(|_| "this machine cannot address so many bytes".to_owned())
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

/// Reads a whole number, whose digits may be separated by `_`.
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
