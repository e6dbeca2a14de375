//! What kind of item a raw one is.

use std::borrow::Cow;

use crate::json::{self, Members};
use crate::logs::body;
use crate::logs::codex::agents;
use crate::logs::codex::context::is_context;
use crate::model::format::Format;
use crate::model::message::Role;

/// An item of the history, as raw JSON.
pub(super) struct Item<'a> {
    pub(super) raw: Cow<'a, str>,
    pub(super) kind: Kind<'a>,
    /// Whether a turn begins with it.
    pub(super) begins_turn: bool,
}

pub(super) enum Kind<'a> {
    /// A call that the client answers.
    Call {
        /// It may be empty.
        id: Cow<'a, str>,
        /// The type of an output that says that there is none; `None` if its form is not known.
        output: Option<&'static str>,
    },
    Output {
        id: Cow<'a, str>,
    },
    Reasoning,
    /// A message of the assistant, or a call that the provider answers itself.
    Reply,
    /// What the user said.
    User,
    /// A message of anybody else, or what Codex itself says in the user's name.
    Input,
    /// What a compaction wrote: the text alone, until [`Item::tell`] makes a message of it.
    Summary,
    /// A compaction, or what is not known.
    Other,
}

impl<'a> Item<'a> {
    /// `None` if the item is not one of the API (LCX-9) or says nothing.
    pub(super) fn new(raw: &'a str, members: &Members<'a>) -> Option<Self> {
        // The type of a message may be absent.
        let tag = members
            .text("type")
            .or_else(|| members.get("role").map(|_| Cow::Borrowed("message")))?;
        let own_id = || {
            let id = (tag == "local_shell_call").then(|| members.text("id"))?;
            id.filter(|id| !id.is_empty())
        };
        let id = members.text("call_id").or_else(own_id);
        let is_hosted = members.text("execution").as_deref() == Some("server");
        let kind = match (&*tag, id) {
            ("ghost_snapshot" | "other", _) => return None,
            ("message", _) if is_empty(members) => return None,
            ("message", _) => match members.text("role").as_deref() {
                Some("assistant") => Kind::Reply,
                // One text of Codex's own makes all of the message its own.
                Some("user") if !texts(members).any(|text| is_context(&text)) => Kind::User,
                Some(_) => Kind::Input,
                None => return None,
            },
            ("reasoning", _) => Kind::Reasoning,
            // Codex answers a call of its own shell as it answers a function.
            ("function_call" | "local_shell_call", Some(id)) => Kind::Call {
                id,
                output: Some("function_call_output"),
            },
            ("custom_tool_call", Some(id)) => Kind::Call {
                id,
                output: Some("custom_tool_call_output"),
            },
            ("shell_call" | "computer_call" | "apply_patch_call", Some(id)) => {
                Kind::Call { id, output: None }
            }
            // The provider may run the search itself, and then nothing answers it.
            ("tool_search_call", Some(id)) if !is_hosted => Kind::Call { id, output: None },
            ("tool_search_output", id) if is_hosted || id.is_none() => Kind::Other,
            (tag, Some(id)) if tag.ends_with("_output") => Kind::Output { id },
            (
                "function_call" | "custom_tool_call" | "local_shell_call" | "shell_call"
                | "computer_call" | "apply_patch_call",
                None,
            ) => return None,
            (tag, None) if tag.ends_with("_output") => return None,
            (tag, _) if tag.ends_with("_call") => Kind::Reply,
            _ => Kind::Other,
        };
        let begins_turn = match kind {
            Kind::User => true,
            Kind::Reply => only_text(members).is_some_and(|text| agents::is_message(&text)),
            _ => tag == "agent_message",
        };
        Some(Self {
            raw: Cow::Borrowed(raw),
            kind,
            begins_turn,
        })
    }

    /// A summary that was recorded.
    pub(super) fn summary(text: Cow<'a, str>) -> Self {
        Self {
            raw: text,
            kind: Kind::Summary,
            begins_turn: false,
        }
    }

    /// A message of another agent that a line of its own records; `None` if that says nothing.
    pub(super) fn of_agent(members: &Members<'_>) -> Option<Self> {
        Some(Self {
            raw: Cow::Owned(agents::item(members)?),
            kind: Kind::Other,
            begins_turn: true,
        })
    }

    /// Makes the message that stands for a recorded summary. Only of those that are seen: it is
    /// longer than the line that it may come from.
    pub(super) fn tell(&mut self) {
        let text = body::said_in(&self.raw);
        self.raw = Cow::Owned(Format::OpenAiResponses.text_message(Role::User, &text));
    }

    /// The id of a call that the client answers.
    pub(super) fn call_id(&self) -> Option<&str> {
        match &self.kind {
            Kind::Call { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Whether it is a message of anybody but the model, which compactions keep.
    pub(super) fn is_said(&self) -> bool {
        matches!(self.kind, Kind::User | Kind::Input)
    }
}

/// Whether it is known that an item holds nothing for the model.
pub(super) fn says_nothing(members: &Members<'_>) -> bool {
    match members.text("type").as_deref() {
        Some("ghost_snapshot" | "other") => true,
        Some("message") | None => is_empty(members),
        Some(_) => false,
    }
}

/// Whether a message holds nothing.
fn is_empty(members: &Members<'_>) -> bool {
    match members.raw("content") {
        None => true,
        Some(text) if json::is_text(text) => json::is_blank(text),
        Some(list) => list.chars().all(|c| "[] \t\r\n".contains(c)),
    }
}

/// The text of a user message that is one text.
pub(super) fn user_text<'a>(members: &Members<'a>) -> Option<Cow<'a, str>> {
    if members.text("role").as_deref() != Some("user") {
        return None;
    }
    only_text(members)
}

/// The text of a message that is one text.
fn only_text<'a>(members: &Members<'a>) -> Option<Cow<'a, str>> {
    let mut texts = texts(members);
    let text = texts.next()?;
    texts.next().is_none().then_some(text)
}

/// The texts of a message, in order. A part without one has an empty one.
fn texts<'a>(members: &Members<'a>) -> impl Iterator<Item = Cow<'a, str>> {
    let whole = members.text("content");
    let parts: Vec<Members<'a>> = members
        .present("content")
        .filter(|_| whole.is_none())
        .and_then(|content| serde_json::from_str(content.get()).ok())
        .unwrap_or_default();
    let of_parts = |part: Members<'a>| part.text("text").unwrap_or_default();
    whole.into_iter().chain(parts.into_iter().map(of_parts))
}
