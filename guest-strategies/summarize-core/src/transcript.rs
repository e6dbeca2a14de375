//! A conversation as text, for the model to read.
//!
//! A line begins with a label or a bracket of ours only where a part begins, whatever a text or a
//! name holds: two conversations that say different things, or by another voice, never read alike.

#[cfg(test)]
mod tests;

use baler_digest::{
    EARLIER_LABEL, PROGRAM_LABEL, REWRITTEN, indented, on_one_line, one_word, parted, quoted,
};
use baler_strategy::{
    Content, Conversation, Media, Message, Part, PartTraits, Role, ToolCall, ToolOutput,
};

use crate::excerpt::excerpt;

/// The most characters of each part that a transcript shows.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    text: usize,
    arguments: usize,
    output: usize,
}

/// From the widest to the narrowest. What people and the model say stays whole as long as
/// shorter outputs help.
const BOUNDS: [Bounds; 4] = [
    Bounds::of(usize::MAX, 4_000, 16_000),
    Bounds::of(usize::MAX, 1_000, 4_000),
    Bounds::of(usize::MAX, 400, 1_000),
    Bounds::of(4_000, 200, 300),
];

/// Where one unit alone is too long, nothing is shown of it but excerpts of so many characters.
const NARROWEST: usize = 50;

/// The longest name of an author or tool that is shown.
const NAME: usize = 64;

impl Bounds {
    const fn of(text: usize, arguments: usize, output: usize) -> Self {
        Self {
            text,
            arguments,
            output,
        }
    }

    fn at_most(self, limit: usize) -> Self {
        Self::of(
            self.text.min(limit),
            self.arguments.min(limit),
            self.output.min(limit),
        )
    }
}

/// A transcript that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transcript {
    pub text: String,
    pub tokens: u32,
    /// how many of the oldest units are not in it
    pub left_out: usize,
}

/// The transcript of these units with at most so many tokens. Tool outputs become shorter
/// first, then the oldest units are left out, and the newest is shortened last. None where
/// even that does not fit.
pub(crate) fn fitting(
    conversation: &Conversation<'_>,
    units: &[usize],
    room: u32,
) -> Option<Transcript> {
    for bounds in BOUNDS {
        let paragraphs = paragraphs(conversation, units, bounds);
        if let Some(transcript) = whole(conversation, &paragraphs, 0, room) {
            return Some(transcript);
        }
    }
    let narrow = BOUNDS[BOUNDS.len() - 1];
    let shown = paragraphs(conversation, units, narrow);
    let mut left_out = fitting_from(conversation, &shown, room);
    while left_out < shown.len() {
        if let Some(transcript) = whole(conversation, &shown[left_out..], left_out, room) {
            return Some(transcript);
        }
        left_out += (shown.len() - left_out).div_ceil(2);
    }
    let newest = units.get(units.len().checked_sub(1)?..)?;
    let mut limit = narrow.text;
    while limit >= NARROWEST {
        let shown = paragraphs(conversation, newest, narrow.at_most(limit));
        if let Some(transcript) = whole(conversation, &shown, units.len() - 1, room) {
            return Some(transcript);
        }
        limit /= 2;
    }
    None
}

/// These units' paragraphs with the line that says what is missing, if they fit.
fn whole(
    conversation: &Conversation<'_>,
    shown: &[String],
    left_out: usize,
    room: u32,
) -> Option<Transcript> {
    let mut text = String::new();
    if left_out > 0 {
        text = format!(
            "[The {left_out} oldest parts of the conversation do not fit here and are left out.]"
        );
    }
    for paragraph in shown.iter().filter(|paragraph| !paragraph.is_empty()) {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(paragraph);
    }
    let tokens = conversation.count(&text);
    (tokens <= room).then_some(Transcript {
        text,
        tokens,
        left_out,
    })
}

/// The first unit from which on all fit, counted one by one.
fn fitting_from(conversation: &Conversation<'_>, shown: &[String], room: u32) -> usize {
    const LINE: u32 = 24;
    let mut left = room.saturating_sub(LINE);
    for (index, text) in shown.iter().enumerate().rev() {
        match left.checked_sub(conversation.count(text).saturating_add(1)) {
            Some(rest) => left = rest,
            None => return index + 1,
        }
    }
    0
}

/// The paragraphs of each unit, joined by blank lines.
fn paragraphs(conversation: &Conversation<'_>, units: &[usize], bounds: Bounds) -> Vec<String> {
    let mut shown = Vec::with_capacity(units.len());
    for run in units.chunk_by(|unit, next| unit + 1 == *next) {
        let range = run[0]..run[run.len() - 1] + 1;
        shown.extend(
            conversation
                .read(range)
                .map(|(_, messages)| of_unit(&messages, bounds)),
        );
    }
    shown
}

fn of_unit(messages: &[Message], bounds: Bounds) -> String {
    let calls = messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter(|part| matches!(part.content, Content::Call(_)))
        .count();
    let mut paragraphs = Vec::new();
    for message in messages {
        let mut said: Vec<String> = Vec::new();
        let label = label(message);
        let told = parted(&users_texts(message));
        for (part, told) in message.parts.iter().zip(&told) {
            let is_earlier = part.traits.contains(PartTraits::REWRITTEN);
            let paragraph = match &part.content {
                Content::Call(call) => of_call(call, bounds),
                Content::Output(output) => of_output(output, is_earlier, calls > 1, bounds),
                // A paragraph of its own: what the message's author says next begins with the
                // author's label again.
                Content::Text(text) if is_earlier && !text.trim().is_empty() => {
                    labelled(EARLIER_LABEL, text, bounds)
                }
                _ => {
                    let Some(program) = told.by_programs() else {
                        say(&label, part, bounds, &mut said);
                        continue;
                    };
                    let own = told.own_words();
                    said.extend(own.map(|own| labelled(&label, &own, bounds)));
                    labelled(PROGRAM_LABEL, &program, bounds)
                }
            };
            flush(&mut said, &mut paragraphs);
            paragraphs.push(paragraph);
        }
        flush(&mut said, &mut paragraphs);
    }
    // Names of tools and files, too: all of it is quoted, whatever part it comes from.
    quoted(&paragraphs.join("\n\n")).into_owned()
}

/// Whether the user says something in these messages. What programs wrote in the user's place is not the
/// user's, nor is what a compaction wrote.
pub fn has_users_words(messages: &[Message]) -> bool {
    messages.iter().any(|message| {
        let told = parted(&users_texts(message));
        told.iter().any(|told| told.own_words().is_some())
    })
}

/// For each part its text, where the message has the user's role and no compaction wrote it; else an empty
/// one.
fn users_texts(message: &Message) -> Vec<&str> {
    let is_users = message.role == Role::User;
    let texts = message.parts.iter().map(|part| match &part.content {
        Content::Text(text) if is_users && !part.traits.contains(PartTraits::REWRITTEN) => {
            text.as_str()
        }
        _ => "",
    });
    texts.collect()
}

fn flush(said: &mut Vec<String>, paragraphs: &mut Vec<String>) {
    if !said.is_empty() {
        paragraphs.push(said.join("\n"));
        said.clear();
    }
}

fn label(message: &Message) -> String {
    let role = match message.role {
        Role::System => "System",
        Role::Developer => "Developer",
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool result",
    };
    match message.name.as_deref().map(word).as_deref() {
        None | Some("") => role.to_owned(),
        Some(name) => format!("{role} ({name})"),
    }
}

/// Adds what is said; none of it is thinking, which a model writes for itself. What is no text has
/// a line to itself, where no text can stand.
fn say(label: &str, part: &Part, bounds: Bounds, said: &mut Vec<String>) {
    let line = match &part.content {
        Content::Text(text) if text.trim().is_empty() => return,
        Content::Text(text) => {
            said.push(labelled(label, text, bounds));
            return;
        }
        Content::Media(media) => placeholder(media),
        Content::Opaque(kind) if is_thinking(kind) => return,
        Content::Opaque(kind) => format!("[{}]", name(kind)),
        Content::Thinking(_) | Content::Call(_) | Content::Output(_) => return,
    };
    if said.is_empty() {
        said.push(format!("{label}:"));
    }
    said.push(line);
}

fn labelled(label: &str, text: &str, bounds: Bounds) -> String {
    let text = excerpt(text.trim_end(), bounds.text);
    format!("{label}: {}", indented(&text))
}

fn of_call(call: &ToolCall, bounds: Bounds) -> String {
    let arguments = excerpt(call.arguments.trim_end(), bounds.arguments);
    format!("Call: {} {}", word(&call.name), indented(&arguments))
        .trim_end()
        .to_owned()
}

/// With the name of the tool where the unit has several calls.
fn of_output(output: &ToolOutput, is_earlier: bool, named: bool, bounds: Bounds) -> String {
    let mut marks = Vec::new();
    if named && !output.name.is_empty() {
        marks.push(word(&output.name));
    }
    if output.failed {
        marks.push("failed".to_owned());
    }
    if is_earlier {
        marks.push(REWRITTEN.to_owned());
    }
    let marks = match marks.join(", ").as_str() {
        "" => String::new(),
        marks => format!(" ({marks})"),
    };
    let text = excerpt(output.text.trim_end(), bounds.output);
    let result = format!("Tool result{marks}: {}", indented(&text));
    let mut lines = vec![result.trim_end().to_owned()];
    lines.extend(output.media.iter().map(placeholder));
    lines.join("\n")
}

/// What stands for a picture, document or the like.
fn placeholder(media: &Media) -> String {
    let word = match media.kind.split(['/', '_']).next().unwrap_or_default() {
        word @ ("image" | "audio" | "video") => word,
        "input" if media.kind.ends_with("image") => "image",
        "input" if media.kind.ends_with("audio") => "audio",
        _ => "file",
    };
    match media.name.as_deref().map(name).as_deref() {
        None | Some("") => format!("[{word}]"),
        Some(name) => format!("[{word}: {name}]"),
    }
}

fn is_thinking(kind: &str) -> bool {
    kind.contains("thinking") || kind.contains("reasoning")
}

/// A name on one line, not too long.
fn name(text: &str) -> String {
    excerpt(&on_one_line(text), NAME)
}

/// The same of a tool or an author: what follows it is no part of it.
fn word(text: &str) -> String {
    one_word(&name(text))
}
