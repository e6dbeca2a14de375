//! What a conversation says, part by part.

use std::borrow::Cow;

use super::text;

/// A part of a unit, as far as something can be told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text in the user's role. What programs are known to write there is told apart when it is read.
    User(Cow<'a, str>),
    /// Text in the user's role that a program wrote: no rule and no request.
    Program(Cow<'a, str>),
    /// Text of the model's.
    Assistant {
        /// What it says.
        text: Cow<'a, str>,
        /// Whether the message calls tools.
        calls: bool,
    },
    /// A call of a tool.
    Call {
        /// What its output names; empty where the format has no ids.
        id: Cow<'a, str>,
        /// The tool.
        name: Cow<'a, str>,
        /// JSON.
        arguments: Cow<'a, str>,
    },
    /// What a tool gave back.
    Output {
        /// The call that it answers; empty where the format has no ids.
        call_id: Cow<'a, str>,
        /// The tool; empty where it is not known.
        name: Cow<'a, str>,
        /// It is marked as a failure.
        failed: bool,
        /// What it says.
        text: Cow<'a, str>,
    },
    /// A text that an earlier compaction wrote of what it left out.
    Summary(Cow<'a, str>),
}

impl Part<'_> {
    /// The same part, with nothing copied.
    pub(crate) fn borrowed(&self) -> Part<'_> {
        match self {
            Self::User(text) => Part::User(Cow::Borrowed(text)),
            Self::Program(text) => Part::Program(Cow::Borrowed(text)),
            Self::Assistant { text, calls } => Part::Assistant {
                text: Cow::Borrowed(text),
                calls: *calls,
            },
            Self::Call {
                id,
                name,
                arguments,
            } => Part::Call {
                id: Cow::Borrowed(id),
                name: Cow::Borrowed(name),
                arguments: Cow::Borrowed(arguments),
            },
            Self::Output {
                call_id,
                name,
                failed,
                text,
            } => Part::Output {
                call_id: Cow::Borrowed(call_id),
                name: Cow::Borrowed(name),
                failed: *failed,
                text: Cow::Borrowed(text),
            },
            Self::Summary(text) => Part::Summary(Cow::Borrowed(text)),
        }
    }
}

/// Whether an output is data, and not text, wrapped or not.
pub(crate) fn is_data(output: &str) -> bool {
    output.trim_start().starts_with(['{', '[']) && matches!(unwrapped(output), Cow::Borrowed(_))
}

/// The text in an output. Some programs wrap it in JSON: then what stands under `output`, or its
/// strings, where one of them has more than one line.
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
