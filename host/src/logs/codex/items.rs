//! What kind of item a raw one is.

use std::borrow::Cow;

use crate::formats::json::{self, Members};
use crate::logs::body;

/// An item of the history, as raw JSON.
pub(super) struct Item<'a> {
    pub(super) raw: Cow<'a, str>,
    pub(super) kind: Kind<'a>,
}

pub(super) enum Kind<'a> {
    /// A call that the client answers.
    Call {
        id: Cow<'a, str>,
        /// The type of an output that says that there is none; none where its form is not known.
        output: Option<&'static str>,
    },
    Output {
        id: Cow<'a, str>,
    },
    Reasoning,
    /// A message of the assistant, or a call that the provider answers itself.
    Reply,
    /// A message of anybody else.
    Input,
    /// A compaction, or what is not known.
    Other,
}

impl<'a> Item<'a> {
    /// None where the item is not one of the API (LCX-9) or says nothing.
    pub(super) fn new(raw: &'a str, members: &Members<'a>) -> Option<Self> {
        // The type of a message may be absent.
        let tag = members
            .text("type")
            .or_else(|| members.get("role").map(|_| Cow::Borrowed("message")))?;
        let id = members.text("call_id");
        let kind = match (&*tag, id) {
            ("ghost_snapshot" | "other", _) => return None,
            ("message", _) if is_empty(members) => return None,
            ("message", _) => match members.text("role").as_deref() {
                Some("assistant") => Kind::Reply,
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
            ("tool_search_call", Some(id))
                if members.text("execution").as_deref() == Some("client") =>
            {
                Kind::Call { id, output: None }
            }
            ("tool_search_output", Some(_))
                if members.text("execution").as_deref() != Some("client") =>
            {
                Kind::Other
            }
            (tag, Some(id)) if tag.ends_with("_output") => Kind::Output { id },
            ("function_call" | "custom_tool_call" | "function_call_output", None) => return None,
            (tag, _) if tag.ends_with("_call") => Kind::Reply,
            _ => Kind::Other,
        };
        Some(Self {
            raw: Cow::Borrowed(raw),
            kind,
        })
    }
}

/// Whether a message holds nothing.
fn is_empty(members: &Members<'_>) -> bool {
    match members.present("content").map(|raw| raw.get()) {
        None => true,
        Some(text) if json::is_text(text) => body::is_blank(text),
        Some(list) => list.len() < 64 && list.chars().all(|c| "[] \t".contains(c)),
    }
}

/// The text of a user message that is one text.
pub(super) fn user_text<'a>(members: &Members<'a>) -> Option<Cow<'a, str>> {
    if members.text("role").as_deref() != Some("user") {
        return None;
    }
    if let Some(text) = members.text("content") {
        return Some(text);
    }
    let parts: Vec<Members<'a>> = serde_json::from_str(members.present("content")?.get()).ok()?;
    match &parts[..] {
        [part] => part.text("text"),
        _ => None,
    }
}
