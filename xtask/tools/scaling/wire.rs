//! Messages as the formats spell them. Texts are given as they stand in JSON, without their
//! quotation marks.

use baler_generated::Kind;

/// A call of a tool, and its output.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    /// A JSON object.
    pub(crate) arguments: String,
    pub(crate) output: String,
}

impl Call {
    pub(crate) fn new(id: impl Into<String>, output: impl Into<String>) -> Self {
        let id = id.into();
        Self {
            arguments: format!(r#"{{"path":"ledger/{id}.txt"}}"#),
            id,
            output: output.into(),
        }
    }

    /// The call with this number.
    pub(crate) fn number(number: usize) -> Self {
        Self::new(format!("c{number}"), line(number))
    }
}

/// Words that are like no other number's, about 20 tokens.
pub(crate) fn line(number: usize) -> String {
    format!(
        "Berth {number} of the harbour took in {} tons of grain in the night.",
        number % 977
    )
}

/// The same, about 70 tokens: what a placeholder is shorter than.
pub(crate) fn paragraph(number: usize) -> String {
    (0..4).map(|part| line(number * 4 + part) + " ").collect()
}

/// A text as it stands in JSON, with its quotation marks.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub(crate) fn user(wire: Kind, text: &str) -> String {
    match wire {
        Kind::Gemini => format!(r#"{{"role":"user","parts":[{{"text":"{text}"}}]}}"#),
        Kind::BedrockConverse => format!(r#"{{"role":"user","content":[{{"text":"{text}"}}]}}"#),
        _ => format!(r#"{{"role":"user","content":"{text}"}}"#),
    }
}

pub(crate) fn said(wire: Kind, text: &str) -> String {
    match wire {
        Kind::Gemini => format!(r#"{{"role":"model","parts":[{{"text":"{text}"}}]}}"#),
        Kind::BedrockConverse => {
            format!(r#"{{"role":"assistant","content":[{{"text":"{text}"}}]}}"#)
        }
        _ => format!(r#"{{"role":"assistant","content":"{text}"}}"#),
    }
}

/// A message of the user's of these parts.
pub(crate) fn user_of(wire: Kind, parts: &[String]) -> String {
    let parts = parts.join(",");
    match wire {
        Kind::Gemini => format!(r#"{{"role":"user","parts":[{parts}]}}"#),
        _ => format!(r#"{{"role":"user","content":[{parts}]}}"#),
    }
}

/// A message of the model's of these parts.
pub(crate) fn said_of(wire: Kind, parts: &[String]) -> String {
    let parts = parts.join(",");
    match wire {
        Kind::Gemini => format!(r#"{{"role":"model","parts":[{parts}]}}"#),
        _ => format!(r#"{{"role":"assistant","content":[{parts}]}}"#),
    }
}

/// A part of a message of the user's.
pub(crate) fn text_part(wire: Kind, text: &str) -> String {
    match wire {
        Kind::OpenAiChat | Kind::Anthropic => format!(r#"{{"type":"text","text":"{text}"}}"#),
        Kind::OpenAiResponses => format!(r#"{{"type":"input_text","text":"{text}"}}"#),
        Kind::Gemini | Kind::BedrockConverse => format!(r#"{{"text":"{text}"}}"#),
    }
}

/// A picture of one pixel.
pub(crate) fn picture(wire: Kind) -> String {
    const DATA: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    match wire {
        Kind::OpenAiChat => format!(
            r#"{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{DATA}"}}}}"#
        ),
        Kind::OpenAiResponses => {
            format!(r#"{{"type":"input_image","image_url":"data:image/png;base64,{DATA}"}}"#)
        }
        Kind::Anthropic => format!(
            r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{DATA}"}}}}"#
        ),
        Kind::Gemini => {
            format!(r#"{{"inlineData":{{"mimeType":"image/png","data":"{DATA}"}}}}"#)
        }
        Kind::BedrockConverse => {
            format!(r#"{{"image":{{"format":"png","source":{{"bytes":"{DATA}"}}}}}}"#)
        }
    }
}

/// One response of the model's that makes all these calls.
pub(crate) fn calling(wire: Kind, calls: &[Call]) -> Vec<String> {
    let each: Vec<String> = calls.iter().map(|call| asked(wire, call)).collect();
    match wire {
        Kind::OpenAiChat => vec![format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#,
            each.join(",")
        )],
        Kind::OpenAiResponses => each,
        Kind::Anthropic | Kind::Gemini | Kind::BedrockConverse => vec![said_of(wire, &each)],
    }
}

fn asked(wire: Kind, call: &Call) -> String {
    let Call { id, arguments, .. } = call;
    match wire {
        Kind::OpenAiChat => format!(
            r#"{{"id":"{id}","type":"function","function":{{"name":"read","arguments":{}}}}}"#,
            quoted(arguments)
        ),
        Kind::OpenAiResponses => format!(
            r#"{{"type":"function_call","call_id":"{id}","name":"read","arguments":{}}}"#,
            quoted(arguments)
        ),
        Kind::Anthropic => {
            format!(r#"{{"type":"tool_use","id":"{id}","name":"read","input":{arguments}}}"#)
        }
        Kind::Gemini => {
            format!(r#"{{"functionCall":{{"id":"{id}","name":"read","args":{arguments}}}}}"#)
        }
        Kind::BedrockConverse => {
            format!(r#"{{"toolUse":{{"toolUseId":"{id}","name":"read","input":{arguments}}}}}"#)
        }
    }
}

/// The outputs of these calls.
pub(crate) fn outputs(wire: Kind, calls: &[Call]) -> Vec<String> {
    let each: Vec<String> = calls
        .iter()
        .map(|call| answered(wire, &call.id, &format!(r#""{}""#, call.output)))
        .collect();
    match wire {
        Kind::OpenAiChat | Kind::OpenAiResponses => each,
        Kind::Anthropic | Kind::Gemini | Kind::BedrockConverse => vec![user_of(wire, &each)],
    }
}

/// An output, whose content is given as JSON: a message of its own, or a part of one.
pub(crate) fn answered(wire: Kind, id: &str, content: &str) -> String {
    match wire {
        Kind::OpenAiChat => {
            format!(r#"{{"role":"tool","tool_call_id":"{id}","content":{content}}}"#)
        }
        Kind::OpenAiResponses => {
            format!(r#"{{"type":"function_call_output","call_id":"{id}","output":{content}}}"#)
        }
        Kind::Anthropic => {
            format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":{content}}}"#)
        }
        Kind::Gemini => format!(
            r#"{{"functionResponse":{{"id":"{id}","name":"read","response":{{"output":{content}}}}}}}"#
        ),
        // There it is a list in any case.
        Kind::BedrockConverse if content.starts_with('"') => {
            answered(wire, id, &format!(r#"[{{"text":{content}}}]"#))
        }
        Kind::BedrockConverse => {
            format!(r#"{{"toolResult":{{"toolUseId":"{id}","content":{content}}}}}"#)
        }
    }
}

/// A step: one response with these calls, and their outputs.
pub(crate) fn step(wire: Kind, calls: &[Call]) -> Vec<String> {
    let mut messages = calling(wire, calls);
    messages.extend(outputs(wire, calls));
    messages
}

/// The conversation around a step: the task in front, and a word of the user's behind it.
pub(crate) fn around(wire: Kind, messages: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut whole = vec![user(wire, "Count what came into the harbour.")];
    whole.extend(messages);
    whole.push(user(wire, "And what went out?"));
    whole
}
