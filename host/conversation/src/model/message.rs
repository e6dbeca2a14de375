//! Messages and their parts, as places in the document.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use baler_provenance::failures::BEGINNING;

use crate::exact::exact;
use crate::json::{self, Place};
use crate::marks::Site;
use crate::model::document::Document;
use crate::model::rule::{Rule, Severity};

/// The role of a message, in the words of the wire formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// System instructions.
    System,
    /// Developer instructions (OpenAI formats).
    Developer,
    /// The user, or a tool output in a format that carries outputs under this role.
    User,
    /// The model.
    Assistant,
    /// A tool output, in a format that has a role for it.
    Tool,
}

impl Role {
    /// Returns the name of the role in the wire formats.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// Whether messages of this role are instructions, not part of the exchange.
    #[must_use]
    pub const fn instructs(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }

    /// Where a mark in a text of a message of this role stands; none in a tool's message, which
    /// holds outputs.
    pub const fn site(self) -> Option<Site<'static>> {
        match self {
            // Gateways rename one into the other.
            Self::System | Self::Developer => Some(Site::Instructions),
            Self::User => Some(Site::User),
            Self::Assistant => Some(Site::Assistant),
            Self::Tool => None,
        }
    }
}

/// One message of the document. There may be a million of them, so members that few messages have lie behind
/// one pointer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Message {
    /// The role.
    pub role: Role,
    /// The parts, in order.
    pub parts: Vec<Part>,
    /// The place of the whole message in the document.
    pub place: Place,
    /// The place of the value of `content`; `None` if absent.
    pub content: Option<Place>,
    /// Whether the message holds a signed, encrypted or unknown part. It may be removed, never changed.
    pub opaque: bool,
    /// The number of marks for the provider's cache.
    pub cache_marks: u32,
    /// Whether the message has a list of calls that is empty.
    pub has_empty_calls: bool,
    /// Whether the message is instructions without text that only set options of the answer.
    pub is_directive: bool,
    /// Whether the message begins with a part that the provider accepts only at the start of a conversation.
    pub stands_first: bool,
    /// Whether the message is instructions that apply until the next message of the user.
    pub expires: bool,
    /// Whether the message is a summary that another program wrote, according to its session log. Nothing in
    /// the document marks it as one.
    pub is_recorded_summary: bool,
    /// Whether the message holds an output that the model had not answered when the conversation was read, although
    /// an answer stands behind it, according to its session log.
    pub is_late: bool,
    /// Whether the message has the role of the model but is no answer: a list of tools, a reference to
    /// another item, or an item of an unknown type.
    pub is_not_said: bool,
    /// `None` if all members are empty.
    pub(crate) extras: Option<Box<Extras>>,
}

/// Members that few messages have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extras {
    /// The name of the speaker.
    name: Option<String>,
    /// The provider's id of the item, in a format whose items have one.
    id: Option<String>,
    /// Broken rules that the reader of the message found.
    flaws: Vec<Flaw>,
    /// The places, in order, where texts begin in which no mark opens.
    closed: Vec<usize>,
}

/// The kind of a call of a function.
pub(crate) const FUNCTION: &str = "function";

/// The kind of a local shell call. Their outputs may name the item of the call, or be those of functions.
pub(crate) const LOCAL_SHELL: &str = "local shell";

/// The kind of a call that searches for tools. OpenAI also takes the output of a function for its output.
pub(crate) const TOOL_SEARCH: &str = "search";

/// A rule that a message breaks by itself, whatever the messages around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flaw {
    /// The rule that it breaks.
    pub rule: Rule,
    /// Whether the provider refuses the request because of it.
    pub severity: Severity,
    /// What is wrong, without any text of the conversation.
    pub what: &'static str,
}

/// A part of a message.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Part {
    /// The content.
    pub content: Content,
    /// The place of the part in the document: an element of a content list, or the value itself.
    pub place: Place,
}

impl Part {
    /// Whether it is a text of no characters.
    pub(crate) fn is_empty_text(&self) -> bool {
        matches!(&self.content, Content::Text(place) if place.len() == 2)
    }

    /// Whether it is the output of a tool.
    pub(crate) fn is_output(&self) -> bool {
        matches!(self.content, Content::Output(_))
    }

    /// A text that is all of a value.
    pub(crate) fn text(place: Place) -> Self {
        Self {
            content: Content::Text(place.clone()),
            place,
        }
    }
}

/// The content of a part. Texts are places of raw JSON strings, which are decoded on demand. Anything
/// larger is boxed: most parts are texts.
#[derive(Debug, Clone)]
pub enum Content {
    /// A text.
    Text(Place),
    /// The model's thinking.
    Thinking(Place),
    /// A tool call.
    Call(Box<Call>),
    /// A tool output.
    Output(Box<Output>),
    /// A picture, document or the like.
    Media(Box<Media>),
    /// A part whose content baler does not interpret.
    Opaque(Box<Opaque>),
}

impl Content {
    /// An opaque part of this kind, without a link to another part.
    pub(crate) fn opaque(kind: impl Into<String>, meaning: Meaning) -> Self {
        Self::linked(kind, meaning, Link::None)
    }

    /// An opaque part of this kind, which belongs to another part.
    pub(crate) fn linked(kind: impl Into<String>, meaning: Meaning, link: Link) -> Self {
        Self::Opaque(Box::new(Opaque {
            kind: kind.into(),
            meaning,
            link,
        }))
    }

    /// Whether a part of the model is a request to a tool that the provider runs, or the result of one.
    #[must_use]
    pub fn is_hosted(&self) -> bool {
        matches!(self, Self::Opaque(opaque) if opaque.link != Link::None)
    }

    /// Whether the part is thinking, readable or not.
    pub fn is_thinking(&self) -> bool {
        match self {
            Self::Thinking(_) => true,
            Self::Opaque(opaque) => opaque.meaning == Meaning::Thinking,
            _ => false,
        }
    }
}

/// A part whose content baler does not interpret.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opaque {
    /// The format's name of the part, such as `redacted_thinking`, or a name given by its reader. For
    /// display only: `meaning` says what the part is.
    pub kind: String,
    /// What the part is, in terms that all formats share.
    pub meaning: Meaning,
    /// The part that belongs to it.
    pub link: Link,
}

/// What an [`Opaque`] part is, in terms that all formats share. The reader of each format decides it, so
/// nothing else needs to know how a provider spells the part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Meaning {
    /// None of the others.
    #[default]
    Other,
    /// The model's thinking, hidden. It can be removed like readable thinking.
    Thinking,
    /// Reasoning that only the provider can read.
    Reasoning,
    /// Instructions inside a message of the user.
    Instructions,
    /// What a compaction by the provider left; it stands for everything before it.
    Compaction,
    /// A request that the provider compact everything before it.
    CompactionRequest,
    /// A request that the user approve a call, which may take any time.
    ApprovalRequest,
    /// A picture that the provider made.
    Picture,
    /// No content: a signature in place of a text, an empty refusal, a failed compaction.
    Empty,
}

/// The relation of an opaque part to another part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// None.
    None,
    /// A request that a part with this id answers.
    Opens(String),
    /// The answer to the request with this id.
    Closes(String),
    /// A request to a tool that the provider runs, or the result of one, without an id that pairs them.
    Hosted,
    /// A reference to an item of unknown type that the document does not show.
    Unknown,
}

impl Opaque {
    /// Whether the part is a picture that the provider made.
    pub fn is_picture(&self) -> bool {
        self.meaning == Meaning::Picture
    }

    /// Whether the part says nothing to the reader of an answer.
    pub(crate) fn says_nothing(&self) -> bool {
        matches!(self.meaning, Meaning::Reasoning | Meaning::Empty)
    }
}

/// A tool call.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Call {
    /// The provider's id of the call; may be empty.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The place of the arguments: a JSON string that holds JSON, or the JSON value itself.
    pub arguments: Option<Place>,
    /// Whether the output may come later, with other messages in between.
    pub detached: bool,
    /// The kind that the output must have, in a format with several kinds; else empty.
    pub kind: &'static str,
}

/// A tool output.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Output {
    /// The id of the call that it answers.
    pub call_id: String,
    /// The kind of call that the output can answer; empty if any.
    pub kind: &'static str,
    /// The name of the tool, if the output or its call has it; else empty.
    pub name: String,
    /// Whether the output reports a failure.
    pub failed: bool,
    /// Whether the program that ran the tool says so in a field of the format. No text of a tool can pretend that.
    pub marked_failed: bool,
    /// The places of the texts, in order.
    pub texts: Vec<Place>,
    /// Blocks that are not texts, in order; they stay when the texts are rewritten.
    pub others: Vec<(Place, Media)>,
    /// The value that holds texts and blocks.
    pub content: Option<Place>,
}

/// A picture, document, recording or other file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Media {
    /// The MIME type, or the name that the format gives the type.
    pub kind: String,
    /// The name of the file; `None` if absent.
    pub name: Option<String>,
    /// The size of the data in the request, in bytes.
    pub bytes: u32,
    /// The place of the data, as base64 or as a URL that holds it; `None` if the data is elsewhere.
    pub data: Option<Place>,
    /// Whether the model made it while it was thinking.
    pub is_thought: bool,
}

impl Media {
    /// Whether it is a picture, by its type or by the format's name of the part.
    pub fn is_picture(&self) -> bool {
        self.kind.contains("image")
    }
}

/// The text of a raw JSON string, or raw JSON as it stands.
pub(crate) fn text_at<'a>(document: &'a Document, place: &Place) -> Cow<'a, str> {
    let raw = document.at(place);
    if json::is_text(raw) {
        json::decode(raw)
    } else {
        Cow::Borrowed(raw)
    }
}

impl Output {
    /// The texts, joined by line breaks.
    pub fn text<'a>(&self, document: &'a Document) -> Cow<'a, str> {
        match self.texts.as_slice() {
            [one] => text_at(document, one),
            many => Cow::Owned(
                many.iter()
                    .map(|place| text_at(document, place))
                    .collect::<Vec<_>>()
                    .join("\n"),
            ),
        }
    }
}

impl Message {
    /// A message without parts.
    pub fn new(role: Role, place: Place) -> Self {
        Self {
            role,
            parts: Vec::new(),
            place,
            content: None,
            opaque: false,
            cache_marks: 0,
            has_empty_calls: false,
            is_directive: false,
            stands_first: false,
            expires: false,
            is_recorded_summary: false,
            is_late: false,
            is_not_said: false,
            extras: None,
        }
    }

    /// A message that is one part.
    pub(crate) fn of(role: Role, place: Place, content: Content) -> Self {
        let mut message = Self::new(role, place.clone());
        message.parts.push(Part { content, place });
        message
    }

    /// The name of who speaks, where the message tells.
    pub fn name(&self) -> Option<&str> {
        self.extras.as_ref()?.name.as_deref()
    }

    /// The provider's id of the item, in a format whose items have one.
    pub fn id(&self) -> Option<&str> {
        self.extras.as_ref()?.id.as_deref()
    }

    /// Broken rules that the reader of the message found.
    pub(crate) fn flaws(&self) -> &[Flaw] {
        self.extras
            .as_ref()
            .map_or(&[], |extras| extras.flaws.as_slice())
    }

    /// Sets the name of who speaks.
    pub(crate) fn set_name(&mut self, name: Option<String>) {
        if name.is_some() {
            self.extras.get_or_insert_default().name = name;
        }
    }

    /// Sets the provider's id of the item.
    pub(crate) fn set_id(&mut self, id: Option<String>) {
        if id.is_some() {
            self.extras.get_or_insert_default().id = id;
        }
    }

    /// Notes that no mark opens in the texts that begin at these places.
    pub fn close(&mut self, mut texts: Vec<usize>) {
        if !texts.is_empty() {
            texts.sort_unstable();
            self.extras.get_or_insert_default().closed = texts;
        }
    }

    /// Whether no mark opens in a part of it.
    pub fn is_closed(&self, part: &Part) -> bool {
        self.extras
            .as_ref()
            .is_some_and(|extras| extras.closed.binary_search(&part.place.start).is_ok())
    }

    /// Frees the unused capacity of the lists.
    pub fn shrink(&mut self) {
        exact(&mut self.parts);
        for part in &mut self.parts {
            if let Content::Output(output) = &mut part.content {
                exact(&mut output.texts);
                exact(&mut output.others);
            }
        }
    }

    fn note(&mut self, rule: Rule, severity: Severity, what: &'static str) {
        let flaws = &mut self.extras.get_or_insert_default().flaws;
        let flaw = Flaw {
            rule,
            severity,
            what,
        };
        // There are few kinds of them, and a message may have a million parts.
        if !flaws.contains(&flaw) {
            flaws.push(flaw);
        }
    }

    /// Notes that it breaks a rule by itself.
    pub(crate) fn flaw(&mut self, rule: Rule, what: &'static str) {
        self.note(rule, Severity::Error, what);
    }

    /// Notes that it is unusual in what a rule is about.
    pub fn warning(&mut self, rule: Rule, what: &'static str) {
        self.note(rule, Severity::Warning, what);
    }

    /// Where a mark in a part of it would stand; `None` if no mark can.
    pub fn site<'a>(&self, part: &'a Part) -> Option<Site<'a>> {
        match (&part.content, self.role) {
            (Content::Output(output), _) if output.call_id.is_empty() => {
                Some(Site::Output(&output.name))
            }
            (Content::Output(output), _) => Some(Site::Output(&output.call_id)),
            (Content::Text(_), role) => role.site(),
            _ => None,
        }
    }

    /// The tool calls in it.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match &part.content {
            Content::Call(call) => Some(&**call),
            _ => None,
        })
    }

    /// Whether it calls tools.
    pub(crate) fn has_calls(&self) -> bool {
        self.calls().next().is_some()
    }

    /// Whether it holds outputs of tools.
    pub(crate) fn has_outputs(&self) -> bool {
        self.outputs().next().is_some()
    }

    /// The tool outputs in it.
    pub fn outputs(&self) -> impl Iterator<Item = &Output> {
        self.parts.iter().filter_map(|part| match &part.content {
            Content::Output(output) => Some(&**output),
            _ => None,
        })
    }

    /// Pictures, documents and the like, those in outputs included.
    pub fn media(&self) -> impl Iterator<Item = &Media> {
        self.parts.iter().flat_map(|part| {
            let (own, inner) = match &part.content {
                Content::Media(media) => (Some(&**media), [].as_slice()),
                Content::Output(output) => (None, output.others.as_slice()),
                _ => (None, [].as_slice()),
            };
            own.into_iter().chain(inner.iter().map(|(_, media)| media))
        })
    }

    /// Whether it answers calls of the model, or what the model asked leave for.
    pub fn answers(&self) -> bool {
        self.has_outputs()
            || self
                .opaques()
                .any(|opaque| matches!(opaque.link, Link::Closes(_)))
    }

    /// Parts that are not read.
    pub(crate) fn opaques(&self) -> impl Iterator<Item = &Opaque> {
        self.parts.iter().filter_map(|part| match &part.content {
            Content::Opaque(opaque) => Some(&**opaque),
            _ => None,
        })
    }

    /// The indices of its parts that `is_wanted` tells.
    pub(crate) fn parts_where(&self, is_wanted: impl Fn(&Part) -> bool) -> Vec<usize> {
        let parts = self.parts.iter().enumerate();
        let wanted = parts.filter(|(_, part)| is_wanted(part));
        wanted.map(|(index, _)| index).collect()
    }

    /// The indices of its parts that are thinking, shown or not.
    pub fn thinking(&self) -> Vec<usize> {
        self.parts_where(|part| part.content.is_thinking())
    }

    /// The same that stand in the list of its content. What stands beside the content is bound to
    /// nothing, and some servers refuse its absence (CHAT-6).
    pub fn thinking_in_content(&self) -> Vec<usize> {
        let mut thinking = self.thinking();
        thinking.retain(|index| {
            let part = &self.parts[*index].place;
            let list = self.content.as_ref();
            list.is_some_and(|list| list.start < part.start && part.end < list.end)
        });
        thinking
    }

    /// Whether something is left of it without its thinking.
    pub fn can_lose_thinking(&self) -> bool {
        let thinking = self.thinking().len();
        thinking == self.thinking_in_content().len() && thinking < self.parts.len()
    }

    /// Whether it begins with thinking, or with what stands for all that was thought before.
    pub fn begins_with_thinking(&self) -> bool {
        self.parts.first().is_none_or(|part| {
            part.content.is_thinking()
                || matches!(&part.content, Content::Opaque(opaque) if opaque.meaning == Meaning::Compaction)
        })
    }

    /// Whether instructions in the middle may come after it, in a format that moves them: it is the
    /// user's, or ends with the result of a server's own tool.
    pub fn takes_instructions_behind(&self) -> bool {
        let last = self.parts.last().map(|part| &part.content);
        self.role == Role::User
            || matches!(last, Some(Content::Opaque(opaque)) if matches!(opaque.link, Link::Closes(_)))
    }

    /// Whether it asks the provider to compact all that comes before it.
    pub fn asks_to_compact(&self) -> bool {
        self.opaques()
            .any(|opaque| opaque.meaning == Meaning::CompactionRequest)
    }

    /// Whether it stands for an item that may be anything: what a tool returned, an approval, a
    /// provider's own compaction.
    pub fn may_be_anything(&self) -> bool {
        self.opaques().any(|opaque| opaque.link == Link::Unknown)
    }

    /// Whether a provider's own compaction stands in it.
    pub fn has_compaction(&self) -> bool {
        self.opaques()
            .any(|opaque| opaque.meaning == Meaning::Compaction)
    }
}

impl Output {
    /// Whether it has a text in a place where another one can stand.
    pub fn has_replaceable_text(&self) -> bool {
        !self.texts.is_empty() && self.content.is_some()
    }

    /// Sets the call that the output answers, by its id and name.
    pub fn answer(&mut self, id: &str, name: &str) {
        if self.call_id != id {
            id.clone_into(&mut self.call_id);
        }
        if self.name.is_empty() {
            name.clone_into(&mut self.name);
        }
    }

    /// The first [`BEGINNING`](baler_provenance::failures::BEGINNING) characters of the first text, so that a long output
    /// costs nothing.
    #[must_use]
    pub fn beginning(&self, document: &Document) -> String {
        let first = self.texts.first().cloned();
        let raw = first.and_then(|place| document.get(place));
        raw.map(beginning).unwrap_or_default()
    }

    /// Whether a text, as raw JSON, begins like one that reports a failure, or of a call that was not let
    /// run. For outputs without a flag for it. Only the beginning is read, so that a long output costs nothing.
    pub(crate) fn begins_like_a_failure(raw: &str) -> bool {
        baler_provenance::begins_like_a_failure(&beginning(raw))
    }
}

/// The beginning of a text as raw JSON, without blanks in front.
fn beginning(raw: &str) -> String {
    if json::is_text(raw) {
        let text = json::chars(raw).skip_while(|c| *c == ' ');
        text.take(BEGINNING).collect()
    } else {
        raw.chars().take(BEGINNING).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of a text costs both and the pointers to them, and the shortest has 30 bytes.
    #[test]
    fn message_and_part_stay_small() {
        let pointers = |count: usize| count * size_of::<usize>();
        assert!(size_of::<Message>() <= pointers(11));
        assert!(size_of::<Part>() <= pointers(5));
    }

    #[test]
    fn output_that_refuses_its_call_is_a_failure() {
        for (raw, expected) in [
            (r#""  Error: no berth""#, true),
            (r#"{"error": "no berth"}"#, true),
            (r#""exec command rejected by user""#, true),
            (
                r#""Permission to use Bash with command git push --force origin main has been denied.""#,
                true,
            ),
            (r#""four boats""#, false),
            ("null", false),
        ] {
            assert_eq!(Output::begins_like_a_failure(raw), expected, "{raw}");
        }
    }

    #[test]
    fn shrunk_message_has_no_room_for_more() {
        let mut message = Message::new(Role::User, 0..0);
        let content = Content::Text(0..0);
        message.parts.push(Part {
            content,
            place: 0..0,
        });
        message.shrink();
        assert_eq!((message.parts.len(), message.parts.capacity()), (1, 1));
    }
}
