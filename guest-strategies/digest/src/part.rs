//! The parts of a conversation, as the digest reads them.

use std::borrow::Cow;

use super::secrets::masked;
use super::text;

/// A part of a unit that the digest can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text in the user's role. What programs are known to write there is separated when the part is read.
    User(Cow<'a, str>),
    /// Text in the user's role that a program wrote: contains no rule and no request.
    Program(Cow<'a, str>),
    /// Text by the model.
    Assistant {
        /// The text.
        text: Cow<'a, str>,
        /// Whether the message calls tools.
        calls: bool,
    },
    /// What the model thought before it said or did something.
    Thinking(Cow<'a, str>),
    /// A tool call.
    Call {
        /// Id by which its output refers to it; empty if the format has no ids.
        id: Cow<'a, str>,
        /// Name of the tool.
        name: Cow<'a, str>,
        /// Arguments as JSON.
        arguments: Cow<'a, str>,
    },
    /// A tool output.
    Output {
        /// Id of the call that it answers; empty if the format has no ids.
        call_id: Cow<'a, str>,
        /// Name of the tool; empty if unknown.
        name: Cow<'a, str>,
        /// Whether it is marked as a failure.
        failed: bool,
        /// The text.
        text: Cow<'a, str>,
    },
    /// A summary that an earlier compaction wrote.
    Summary(Cow<'a, str>),
}

impl Part<'_> {
    /// Replaces secrets in its text.
    pub(crate) fn mask_secrets(&mut self) {
        let (Self::User(text)
        | Self::Program(text)
        | Self::Assistant { text, .. }
        | Self::Thinking(text)
        | Self::Call {
            arguments: text, ..
        }
        | Self::Output { text, .. }
        | Self::Summary(text)) = self;
        if let Cow::Owned(masked) = masked(text) {
            *text = Cow::Owned(masked);
        }
    }
}

/// Whether an output is data in JSON, and not a text, wrapped in JSON or not.
pub(crate) fn is_data(output: &str) -> bool {
    output.trim_start().starts_with(['{', '[']) && matches!(unwrapped(output), Cow::Borrowed(_))
}

/// Returns the text of an output. If a program wrapped it in JSON, that is the member `output`, or all
/// strings if one of them has more than one line.
pub(crate) fn unwrapped(output: &str) -> Cow<'_, str> {
    let is_wrapped =
        output.starts_with('{') && (output.contains("\\n") || output.starts_with("{\"output\""));
    if !is_wrapped {
        return Cow::Borrowed(output);
    }
    let Some(serde_json::Value::Object(members)) = text::parsed(output) else {
        return Cow::Borrowed(output);
    };
    if let Some(text) = members.get("output").and_then(serde_json::Value::as_str) {
        return Cow::Owned(text.to_owned());
    }
    let texts: Vec<&str> = members
        .values()
        .filter_map(serde_json::Value::as_str)
        .collect();
    if texts.iter().any(|text| text.contains('\n')) {
        Cow::Owned(texts.join("\n"))
    } else {
        Cow::Borrowed(output)
    }
}
