//! Writes a conversation as text, for the model to read.
//!
//! Only the first line of a part begins with a label or a bracket, whatever texts and names contain. So two
//! conversations with different content or different speakers never read the same.

#[cfg(test)]
mod tests;

use baler_digest::{EARLIER_LABEL, PROGRAM_LABEL, REWRITTEN, indented, on_one_line, one_word};
use baler_provenance::{by_author, quoted};
use baler_strategy::{
    Content, Conversation, Media, Message, Part, PartTraits, Role, ToolCall, ToolOutput,
};

use crate::summary::excerpt::excerpt;

/// The most characters of each part that a transcript shows.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    text: usize,
    arguments: usize,
    output: usize,
}

/// From the widest to the narrowest. Texts of people and the model stay whole as long as shorter outputs
/// suffice.
const BOUNDS: [Bounds; 4] = [
    Bounds::of(usize::MAX, 4_000, 16_000),
    Bounds::of(usize::MAX, 1_000, 4_000),
    Bounds::of(usize::MAX, 400, 1_000),
    Bounds::of(4_000, 200, 300),
];

/// The shortest excerpts, in characters, if a single unit is too long.
const NARROWEST: usize = 50;

/// The most characters of the name of an author or tool.
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
    /// How many of the oldest units are not in the transcript.
    pub left_out: usize,
}

/// Returns the transcript of these units in at most `room` tokens. Tool outputs are shortened first, then the
/// oldest units are left out, and the newest is shortened last. `None` if even that does not fit.
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

/// Joins the paragraphs of units, after a line that says how many are left out. `None` if they do not fit.
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

/// Returns the index of the first unit from which on all fit, counted one by one.
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

/// Returns the paragraphs of each unit, joined by blank lines.
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
        let told = by_author(&users_texts(message));
        for (part, told) in message.parts.iter().zip(&told) {
            let is_earlier = part.traits.contains(PartTraits::REWRITTEN);
            let paragraph = match &part.content {
                Content::Call(call) => of_call(call, bounds),
                Content::Output(output) => of_output(output, is_earlier, calls > 1, bounds),
                // A separate paragraph, so that the next text of the message's author has the author's label
                // again.
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
    // Everything is quoted, including names of tools and files.
    quoted(&paragraphs.join("\n\n")).into_owned()
}

/// Returns whether these messages contain words of the user. Text that programs wrote in the user's role
/// does not count, nor does text of a compaction.
pub fn has_users_words(messages: &[Message]) -> bool {
    messages.iter().any(|message| {
        let told = by_author(&users_texts(message));
        told.iter().any(|told| told.own_words().is_some())
    })
}

/// Returns the text of each part if the message has the user's role and no compaction wrote the part, and
/// otherwise an empty text.
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

/// Adds the text of a part, except thinking. Media and opaque parts get a line of their own.
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

/// Returns the paragraph of an output, with the name of the tool if the unit has several calls.
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

/// Returns the placeholder of a media part.
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

/// Returns a name on one line, shortened to [`NAME`] characters.
fn name(text: &str) -> String {
    excerpt(&on_one_line(text), NAME)
}

/// As [`name`], but as one word, so that it is separate from the text that follows.
fn word(text: &str) -> String {
    one_word(&name(text))
}
