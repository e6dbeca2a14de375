//! Reads conversations, and prints what is wrong with them.

use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use baler_host::{
    Conversation, Host,
    conversation::rules::{Severity, Violation},
    conversation::session_logs::{LogFacts, LogKind},
    conversation::{ReadError, ReadOptions},
};

use crate::arguments::ConversationArguments;
use crate::exit::Failure;
use crate::files::Seen;
use crate::output::{self, CHANGED, FAINT, Messages, styled};
use crate::progress::Progress;
use crate::{descriptor, figures, files, stdout};

/// Maximum number of broken rules that are listed one by one.
const VIOLATIONS: usize = 20;

/// Reads the bytes of a conversation from a file, or from standard input.
pub(crate) fn read(file: Option<&Path>, command: &str) -> Result<Vec<u8>, Failure> {
    read_and_look(file, command).map(|(bytes, _)| bytes)
}

/// Like [`read`]; also returns the identity of the file just before, if it is a regular one.
pub(crate) fn read_and_look(
    file: Option<&Path>,
    command: &str,
) -> Result<(Vec<u8>, Option<Seen>), Failure> {
    let read = match file.filter(|file| *file != Path::new("-")) {
        Some(file) => from_file(file).with_context(|| {
            format!(
                "cannot read `{}`; name a readable file, or `-` for standard input",
                file.display()
            )
        }),
        None if file.is_none() && io::stdin().is_terminal() => {
            let (what, argument) = match command {
                "undo" => ("receipt", "RECEIPT"),
                _ => ("conversation", "FILE"),
            };
            return Err(Failure::wrong_use(anyhow!(
                "no {what}: name its file, or pipe it in"
            ))
            .with_more(format!(
                "\n\nUsage: baler {command} [OPTIONS] [{argument}]\n\nFor more, try `baler {command} --help`."
            )));
        }
        None => {
            stdout::check_stdin()
                .context("cannot read standard input")
                .map_err(Failure::wrong_input)?;
            let seen = files::standard_input().and_then(|input| Seen::of(&input));
            limited(io::stdin().lock())
                .context("cannot read standard input")
                .map(|bytes| (bytes, seen))
        }
    };
    read.map_err(Failure::wrong_input)
}

fn from_file(file: &Path) -> anyhow::Result<(Vec<u8>, Option<Seen>)> {
    descriptor::check_input(file)?;
    let metadata = fs::metadata(file)?;
    if metadata.is_dir() {
        return Err(anyhow!("it is a folder; name a file"));
    }
    if metadata.len() > files::LARGEST_CONVERSATION {
        return Err(too_large());
    }
    let file = File::open(file)?;
    // Taken before reading, so that a change during reading is noticed later.
    let seen = Seen::of(&file.metadata()?);
    Ok((limited(file)?, seen))
}

/// Reads all of `source`, up to the maximum size of a conversation.
pub(crate) fn limited(source: impl Read) -> anyhow::Result<Vec<u8>> {
    files::bounded(source, files::LARGEST_CONVERSATION)?.ok_or_else(too_large)
}

fn too_large() -> anyhow::Error {
    files::too_large(
        files::LARGEST_CONVERSATION,
        "which no model's context window holds; give one request at a time",
    )
}

/// Reads the conversation in `document`, with the repair and the previous request that `arguments` name.
pub(crate) fn conversation(
    host: &Host,
    document: Vec<u8>,
    arguments: &ConversationArguments,
    messages: Messages,
) -> Result<Conversation, Failure> {
    let progress = Progress::new(messages);
    let at = |done, of| progress.at(done, of);
    let options = ReadOptions::default()
        .with_used(arguments.used)
        .with_progress(Some(&at));
    let read = host
        .read_with(document, options)
        .map_err(|error| unreadable(arguments.file.as_deref(), &error));
    progress.done();
    let mut conversation = read?;
    if let Some((kind, facts)) = conversation.log() {
        warn_about_log(kind, &facts, messages);
        tell_what_logs_lack(kind, &conversation, messages);
    }
    if let Some(used) = arguments.used {
        warn_about_used(used, &conversation, messages);
    }
    if arguments.repair {
        let repaired = conversation.repaired();
        // A conversation that is only partly repaired is not used.
        if !repaired.is_broken() {
            conversation = repaired;
        }
    }
    if let Some(file) = &arguments.previous {
        let previous = read_previous(host, file)?;
        if previous.format() != conversation.format() {
            return Err(Failure::wrong_use(anyhow!(
                "the previous request is in the format {}, and this one in {}; expected two requests \
                 to the same provider, as its cache is compared",
                previous.format(),
                conversation.format()
            )));
        }
        let unchanged = conversation.messages_unchanged_since(&previous);
        conversation.mark_sent_up_to(unchanged);
    }
    Ok(conversation)
}

fn read_previous(host: &Host, file: &Path) -> Result<Conversation, Failure> {
    let shown = figures::cleaned(&file.to_string_lossy());
    let (bytes, _) = from_file(file)
        .with_context(|| format!("cannot read the previous request `{shown}`"))
        .map_err(Failure::wrong_use)?;
    host.read_bytes(bytes).map_err(|error| {
        Failure::wrong_use(anyhow!(
            "the previous request `{shown}`: {}",
            figures::cleaned(&error.to_string())
        ))
    })
}

fn unreadable(file: Option<&Path>, error: &ReadError) -> Failure {
    let from = match file.filter(|file| *file != Path::new("-")) {
        Some(file) => format!("`{}`", figures::cleaned(&file.to_string_lossy())),
        None => "standard input".to_owned(),
    };
    // A key or name in the message may be the document's own.
    let what = figures::cleaned(&error.to_string());
    Failure::wrong_input(anyhow!("cannot read {from} as a conversation: {what}"))
}

/// Warns if the number that the provider reported is too far from the counted tokens to be of this
/// conversation.
fn warn_about_used(used: u32, conversation: &Conversation, messages: Messages) {
    let counted = conversation.tokens();
    let beyond = conversation.tokens_not_shown();
    // In a document without system prompt and tools, all overhead is invisible.
    let is_beyond = beyond > 0 && conversation.overhead() > beyond;
    if is_beyond {
        messages.warn(&format!(
            "--used {} does not fit this conversation: counts are multiplied by 4 at most, so {} of its {} \
             tokens count as overhead that the document does not show; give what was reported for exactly \
             this conversation",
            figures::number(used),
            figures::number(beyond),
            figures::number(counted)
        ));
    } else if counted.abs_diff(used) > used / 20 {
        let why = if counted < used {
            "counts are not corrected upwards so far"
        } else if conversation.tokenizer().is_exact() {
            "the vocabulary of this model is known, so the count is never corrected downwards"
        } else {
            "counts are corrected down to a quarter at most"
        };
        messages.warn(&format!(
            "--used {} does not fit this conversation: {why}, so it counts as {} tokens; give what \
             was reported for exactly this conversation",
            figures::number(used),
            figures::number(counted)
        ));
    }
}

/// Warns about a log that is not completely in the conversation, or that may hold several sessions.
fn warn_about_log(kind: LogKind, facts: &LogFacts, messages: Messages) {
    let omissions = omissions(facts);
    if !omissions.is_empty() {
        messages.warn(&format!(
            "not everything in this {kind} log is part of the conversation: {}",
            omissions.join(", ")
        ));
    }
    if facts.sessions > 1 {
        messages.warn(&format!(
            "this {kind} log holds lines of {}, which are read as one conversation; \
             if they do not belong together, give each session's lines in a file of its own",
            figures::count(facts.sessions, "session")
        ));
    }
    if facts.completed_calls > 0 {
        messages.warn(&format!(
            "{} of this {kind} log has no recorded output and got one that says so",
            figures::count(facts.completed_calls, "call")
        ));
    }
}

/// Says what a request needs that a log does not hold, and what it costs.
fn tell_what_logs_lack(kind: LogKind, conversation: &Conversation, messages: Messages) {
    let cost = match conversation.tokens_not_shown() {
        // Some logs hold them.
        0 if conversation.overhead() > 0 => return,
        0 => String::new(),
        tokens => format!(
            "; by what the provider counted, they have {} tokens",
            figures::number(tokens)
        ),
    };
    let note = format!(
        "note: the request made of a {kind} log lacks system prompt, tools and settings such as `max_tokens`, which the log \
         does not hold{cost}\n"
    );
    messages.say(&styled(FAINT, &note));
}

/// Returns what of a log is not in the conversation, with its count, singular or plural.
fn omissions(facts: &LogFacts) -> Vec<String> {
    let counts = [
        (
            facts.broken_lines,
            "line that cannot be read",
            "lines that cannot be read",
        ),
        (
            facts.unknown_lines,
            "line of an unknown kind",
            "lines of an unknown kind",
        ),
        (
            usize::from(facts.unfinished_last_line),
            "half-written last line",
            "",
        ),
        (
            facts.other_branches,
            "message of an abandoned branch",
            "messages of abandoned branches",
        ),
        (
            facts.missing_messages,
            "kept message of a compaction that is missing in the log",
            "kept messages of a compaction that are missing in the log",
        ),
        (
            facts.aborted_responses,
            "aborted response",
            "aborted responses",
        ),
        (
            facts.dropped_calls,
            "call that cannot be sent again",
            "calls that cannot be sent again",
        ),
        (
            facts.dropped_results,
            "output without its call",
            "outputs without their calls",
        ),
        (
            facts.dropped_blocks,
            "block that cannot be sent",
            "blocks that cannot be sent",
        ),
        (
            facts.dropped_thinking,
            "block of thinking, which the model accepts only after its own system prompt and tools",
            "blocks of thinking, which the model accepts only after its own system prompt and tools",
        ),
        (
            facts.dropped_attachments,
            "attachment without a known text for the model",
            "attachments without a known text for the model",
        ),
        (
            facts.queued_messages,
            "queued message that the model has not seen",
            "queued messages that the model has not seen",
        ),
        (
            facts.edited_messages,
            "content that was hidden or replaced later",
            "contents that were hidden or replaced later",
        ),
    ];
    counts
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| {
            let what = if *count == 1 { one } else { many };
            format!("{} {what}", figures::number(*count as u64))
        })
        .collect()
}

/// Prints the errors of a conversation, or those that remain after a repair, each with its remedy. Warnings
/// and sizes do not prevent a compaction and are not listed.
pub(crate) fn print_violations(conversation: &Conversation, arguments: &ConversationArguments) {
    let repaired = conversation.repaired();
    let (left, advice) = if arguments.repair {
        (repaired, "--repair cannot repair that, so nothing was done")
    } else if repaired.repairs().is_empty() {
        let advice = "nothing was done, and --repair cannot repair any of it";
        (conversation.clone(), advice)
    } else {
        let advice = "nothing was done; --repair repairs what can be repaired";
        (conversation.clone(), advice)
    };
    let mut violations = left.unrepaired();
    violations.retain(Violation::is_fatal);
    violations.truncate(VIOLATIONS);
    let places = left.violation_counts().fatal();
    let mut text = format!(
        "the conversation breaks rules of {} at {}; {advice}",
        conversation.format(),
        figures::count(places, "place")
    );
    for violation in &violations {
        text.push_str(&violation_lines(violation));
    }
    if places > violations.len() {
        text.push_str(&format!(
            "\n  … and {} more",
            figures::number((places - violations.len()) as u64)
        ));
    }
    output::error(&text);
}

/// Returns a broken rule and its remedy, as two indented lines.
pub(crate) fn violation_lines(violation: &Violation) -> String {
    let severity = match violation.severity {
        Severity::Error => String::new(),
        Severity::Warning => format!("{}: ", styled(CHANGED, "warning")),
    };
    format!(
        "\n  {severity}{}\n    {}",
        figures::cleaned(&violation.to_string()),
        styled(FAINT, &format!("→ {}", violation.rule.remedy()))
    )
}
