//! Reading a conversation.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;
use std::thread;

use anyhow::{Context as _, anyhow};
use baler_host::{
    Conversation, Host,
    conversation::rules::{Severity, Violation},
    conversation::session_logs::{LogFacts, LogKind},
    conversation::tokenizers::Tokenizer,
    conversation::{ReadError, ReadOptions},
};
use serde::Deserialize;

use crate::arguments::ConversationArguments;
use crate::exit::Failure;
use crate::files::Seen;
use crate::output::{self, CHANGED, FAINT, Messages, styled};
use crate::progress::Progress;
use crate::{descriptor, figures, files, stdout};

/// The most bytes of a conversation. No model takes nearly as much; a file of this size is the
/// wrong one.
const LIMIT: u64 = 1 << 30;

/// The most broken rules that are told one by one.
const VIOLATIONS: usize = 20;

/// Reads the bytes of a conversation from a file, or from standard input.
pub(crate) fn read(file: Option<&Path>, command: &str) -> Result<Vec<u8>, Failure> {
    read_and_look(file, command).map(|(bytes, _)| bytes)
}

/// As [`read`], and what the file was like just before, where it is a regular one.
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
        return Err(anyhow!("it is a folder"));
    }
    if metadata.len() > LIMIT {
        return Err(too_large());
    }
    let file = File::open(file)?;
    // Before it is read: what is written meanwhile may not have been.
    let seen = Seen::of(&file.metadata()?);
    Ok((limited(file)?, seen))
}

/// All of `source`, which has no more than a conversation may have.
pub(crate) fn limited(source: impl Read) -> anyhow::Result<Vec<u8>> {
    files::bounded(source, LIMIT)?.ok_or_else(too_large)
}

fn too_large() -> anyhow::Error {
    files::too_large(
        LIMIT,
        "which no model's context window holds; give one request at a time",
    )
}

/// Unpacks the vocabulary that will count `document`, beside other work.
pub(crate) fn warm_up(chosen: Option<&Tokenizer>, document: &[u8]) {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow, default)]
        model: Cow<'a, str>,
    }
    let tokenizer = chosen.cloned().unwrap_or_else(|| {
        // A bare list of messages names no model; and what is wrong is told by who reads it.
        let head = serde_json::from_slice::<Head<'_>>(document).ok();
        Tokenizer::for_model(head.as_ref().map_or("", |head| &head.model))
    });
    // Nobody waits for it: who counts first waits for the vocabulary, and unpacks it where the
    // system gives no thread.
    drop(thread::Builder::new().spawn(move || tokenizer.warm_up()));
}

/// The conversation in `document`, read as `arguments` say.
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
        tell_log(kind, &facts, messages);
    }
    if let Some(used) = arguments.used {
        tell_used(used, &conversation, messages);
    }
    if arguments.repair {
        let repaired = conversation.repaired();
        // Nothing half mended comes out.
        if !repaired.is_broken() {
            conversation = repaired;
        }
    }
    if let Some(file) = &arguments.previous {
        let previous = read_previous(host, file)?;
        if previous.format() != conversation.format() {
            return Err(Failure::wrong_use(anyhow!(
                "the previous request is in the format {}, and this one in {}; the cache that one \
                 filled is another provider's",
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

/// Tells when the provider's figure is too far from what was counted to be for this conversation.
fn tell_used(used: u32, conversation: &Conversation, messages: Messages) {
    let counted = conversation.tokens();
    let beyond = conversation.tokens_not_shown();
    // Of a document without system prompt and tools all overhead is what it does not show.
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
            "--used {} does not fit this conversation: {why}, and so it counts as {} tokens; give what \
             was reported for exactly this conversation",
            figures::number(used),
            figures::number(counted)
        ));
    }
}

/// Tells what of a log is not in the conversation, as far as it might be missed.
fn tell_log(kind: LogKind, facts: &LogFacts, messages: Messages) {
    let counts = [
        (
            facts.broken_lines,
            "line that cannot be read",
            "lines that cannot be read",
        ),
        (
            usize::from(facts.unfinished_last_line),
            "half-written last line",
            "",
        ),
        (
            facts.other_branches,
            "message of a branch that was left",
            "messages of branches that were left",
        ),
        (
            facts.missing_messages,
            "message that a compaction kept and that is not in the log",
            "messages that a compaction kept and that are not in the log",
        ),
        (
            facts.aborted_responses,
            "response that was broken off",
            "responses that were broken off",
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
            "block of thinking, which the model takes only behind its own system prompt and tools",
            "blocks of thinking, which the model takes only behind its own system prompt and tools",
        ),
        (
            facts.dropped_attachments,
            "attachment in which no text for the model is known",
            "attachments in which no text for the model is known",
        ),
    ];
    let left_out: Vec<String> = counts
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| {
            let what = if *count == 1 { one } else { many };
            format!("{} {what}", figures::number(*count as u64))
        })
        .collect();
    if !left_out.is_empty() {
        messages.warn(&format!(
            "not everything in this {kind} log is part of the conversation: {}",
            left_out.join(", ")
        ));
    }
    if facts.sessions > 1 {
        messages.warn(&format!(
            "this {kind} log holds lines of {}, and they are read as one conversation; \
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

/// Tells which rules of its format a conversation breaks, or would break after a repair, and
/// what to do about each. Warnings and sizes are no reason to leave it alone, and are not told.
pub(crate) fn tell_violations(conversation: &Conversation, arguments: &ConversationArguments) {
    let repaired = conversation.repaired();
    let (left, advice) = if arguments.repair {
        (repaired, "--repair cannot mend that, so nothing was done")
    } else if repaired.repairs().is_empty() {
        let advice = "nothing was done, and --repair can mend none of it";
        (conversation.clone(), advice)
    } else {
        let advice = "nothing was done; --repair mends what can be mended";
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
        text.push_str(&told(violation));
    }
    if places > violations.len() {
        text.push_str(&format!(
            "\n  … and {} more",
            figures::number((places - violations.len()) as u64)
        ));
    }
    output::error(&text);
}

/// A broken rule, with what to do about it.
pub(crate) fn told(violation: &Violation) -> String {
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
