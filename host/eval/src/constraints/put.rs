//! Puts a sentence into a conversation, as the user's words.

use std::ops::Range;

use baler_host::conversation::{Role, UnitKind};
use baler_host::{Conversation, Format, Host};
use serde_json::Value;

use super::ConstraintPlace;
use crate::cases;

/// The most places that are tried for a new message. For each the whole conversation is read again.
const ATTEMPTS: usize = 8;

/// A message of the user, with the sentence.
struct Written {
    unit: usize,
    /// Where the message is in the document.
    place: Range<usize>,
    message: String,
}

/// Returns the conversation with the sentence: as one more paragraph of a user message or, if there is none at this
/// place, as a new message after a step. The newest user message always stays, so it gets the sentence only if it is
/// also the first one. `None` if the format allows no message there.
pub(super) fn put(
    host: &Host,
    conversation: &Conversation,
    place: ConstraintPlace,
    sentence: &str,
) -> Option<Conversation> {
    let written = written(conversation, sentence);
    let between = written
        .get(1..written.len().saturating_sub(1))
        .unwrap_or_default();
    let chosen = match place {
        ConstraintPlace::First => written.first(),
        ConstraintPlace::Middle => between.get(between.len().saturating_sub(1) / 2),
        // The only one is that in the middle.
        ConstraintPlace::Late => between.last().filter(|_| between.len() > 1),
    };
    let Some(chosen) = chosen else {
        return put_between(host, conversation, place, &written, sentence);
    };
    let document = conversation.document();
    let before = document.get(..chosen.place.start)?;
    let behind = document.get(chosen.place.end..)?;
    let changed = format!("{before}{}{behind}", chosen.message);
    read(host, conversation.format(), changed)
}

/// Returns each message of the user with the sentence.
fn written(conversation: &Conversation, sentence: &str) -> Vec<Written> {
    let places = conversation.message_places();
    let units = conversation.units().iter().enumerate();
    let users = units.filter(|(_, unit)| unit.kind == UnitKind::User);
    let written = users.filter_map(|(index, unit)| {
        let raw = conversation.raw_messages(index).next()?;
        Some(Written {
            unit: index,
            place: places.get(unit.first_message)?.clone()?,
            message: with_paragraph(raw, sentence)?,
        })
    });
    written.collect()
}

/// Returns the message with the sentence as a further paragraph of the last text in which the user says something.
/// `None` if there is no such text, or if the paragraph would belong to what a program wrote.
fn with_paragraph(raw: &str, sentence: &str) -> Option<String> {
    let mut message: Value = serde_json::from_str(raw).ok()?;
    let text = last_text(&mut message)?;
    text.push_str("\n\n");
    text.push_str(sentence);
    let is_users = baler_provenance::own_words(text).contains(sentence);
    is_users.then(|| message.to_string())
}

fn last_text(message: &mut Value) -> Option<&mut String> {
    let is_users = |text: &str| !text.trim().is_empty() && !baler_provenance::is_by_program(text);
    let mut contents = ["content", "parts"].into_iter();
    let name = contents.find(|name| message.get(*name).is_some())?;
    match message.get_mut(name)? {
        Value::String(text) => Some(text).filter(|text| is_users(text)),
        Value::Array(parts) => {
            let texts = parts
                .iter_mut()
                .filter_map(|part| match part.get_mut("text") {
                    Some(Value::String(text)) => Some(text),
                    _ => None,
                });
            let mut users = texts.filter(|text| is_users(text));
            users.next_back()
        }
        _ => None,
    }
}

/// Returns the conversation with the sentence as a message of its own, behind the step that is nearest to the place,
/// and before the user's newest message if there are several.
fn put_between(
    host: &Host,
    conversation: &Conversation,
    place: ConstraintPlace,
    written: &[Written],
    sentence: &str,
) -> Option<Conversation> {
    let units = conversation.units();
    let target = match place {
        ConstraintPlace::First => 1,
        ConstraintPlace::Middle => units.len() / 2,
        ConstraintPlace::Late => units.len() * 5 / 6,
    };
    let newest = written.last().filter(|_| written.len() > 1);
    let newest = newest.map_or(units.len(), |written| written.unit);
    let is_step = |unit: usize| units[unit].kind == UnitKind::Step && !units[unit].traits.pending;
    let mut nearest: Vec<usize> = (1..units.len()).filter(|unit| is_step(unit - 1)).collect();
    nearest.sort_by_key(|unit| (*unit > newest, unit.abs_diff(target)));
    let places = conversation.message_places();
    let document = conversation.document();
    let message = conversation.format().text_message(Role::User, sentence);
    nearest.into_iter().take(ATTEMPTS).find_map(|unit| {
        let start = places.get(units[unit].first_message)?.as_ref()?.start;
        let (before, behind) = document.split_at_checked(start)?;
        let longer = format!("{before}{message}, {behind}");
        read(host, conversation.format(), longer)
    })
}

/// Returns the conversation of a document; `None` if it breaks a rule of its format.
fn read(host: &Host, format: Format, document: String) -> Option<Conversation> {
    cases::read_as(host, document, Some(format)).filter(|conversation| !conversation.is_broken())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SENTENCE: &str = "Das Passwort von {quay-19} \"nie\" zeigen: 決して。";

    fn put_into(format: Format, document: &Value, place: ConstraintPlace) -> Option<Value> {
        let host = Host::builder().build().expect("a host");
        let conversation = cases::read_as(&host, document.to_string(), Some(format));
        let conversation = conversation.expect("reads");
        assert!(!conversation.is_broken(), "{format}");
        let put = put(&host, &conversation, place, SENTENCE)?;
        assert_eq!(put.format(), format);
        Some(serde_json::from_str(put.document()).expect("JSON"))
    }

    fn paragraph(text: &str) -> String {
        format!("{text}\n\n{SENTENCE}")
    }

    /// A body of each format, in which the user says `words` in turn, between steps with calls; with the name of the
    /// list of messages.
    fn bodies(words: &[&str]) -> [(Format, Value, &'static str); 5] {
        let (mut chat, mut responses) = (Vec::new(), Vec::new());
        let (mut anthropic, mut gemini, mut bedrock) = (Vec::new(), Vec::new(), Vec::new());
        for (turn, text) in words.iter().enumerate() {
            chat.push(json!({"role": "user", "content": text}));
            responses.push(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}));
            anthropic.push(json!({"role": "user", "content": [{"type": "text", "text": text}]}));
            gemini.push(json!({"role": "user", "parts": [{"text": text}]}));
            bedrock.push(json!({"role": "user", "content": [{"text": text}]}));
            for step in 0..4 {
                let id = format!("call_{turn}_{step}");
                let call = json!({"id": id, "type": "function", "function": {"name": "tide", "arguments": "{}"}});
                chat.push(json!({"role": "assistant", "content": "I look.", "tool_calls": [call]}));
                chat.push(json!({"role": "tool", "tool_call_id": id, "content": "low"}));
                responses.push(json!({"type": "function_call", "call_id": id, "name": "tide", "arguments": "{}"}));
                responses
                    .push(json!({"type": "function_call_output", "call_id": id, "output": "low"}));
                let id = format!("toolu_{turn}_{step}");
                anthropic.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "tide", "input": {}}]}));
                anthropic.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "low"}]}));
                bedrock.push(json!({"role": "assistant", "content": [{"toolUse": {"toolUseId": id, "name": "tide", "input": {}}}]}));
                bedrock.push(json!({"role": "user", "content": [{"toolResult": {"toolUseId": id, "content": [{"text": "low"}]}}]}));
                gemini.push(json!({"role": "model", "parts": [{"functionCall": {"name": "tide", "args": {}}}]}));
                gemini.push(json!({"role": "user", "parts": [{"functionResponse": {"name": "tide", "response": {"tide": "low"}}}]}));
            }
            chat.push(json!({"role": "assistant", "content": "It is low."}));
            responses.push(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is low.", "annotations": []}]}));
            anthropic.push(json!({"role": "assistant", "content": "It is low."}));
            gemini.push(json!({"role": "model", "parts": [{"text": "It is low."}]}));
            bedrock.push(json!({"role": "assistant", "content": [{"text": "It is low."}]}));
        }
        [
            (
                Format::OpenAiChat,
                json!({"model": "gpt-4o", "messages": chat}),
                "messages",
            ),
            (
                Format::OpenAiResponses,
                json!({"model": "gpt-4o", "input": responses}),
                "input",
            ),
            (
                Format::Anthropic,
                json!({"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": anthropic}),
                "messages",
            ),
            (Format::Gemini, json!({"contents": gemini}), "contents"),
            (
                Format::BedrockConverse,
                json!({"toolConfig": {"tools": []}, "messages": bedrock}),
                "messages",
            ),
        ]
    }

    /// Returns the texts of the user, where the messages are written as in [`bodies`].
    fn users_texts(messages: &Value) -> Vec<String> {
        let messages = messages.as_array().expect("messages").iter();
        let users = messages.filter(|message| message["role"] == "user");
        let texts = users.filter_map(|message| {
            let part = match &message["content"] {
                Value::Null => &message["parts"][0]["text"],
                Value::Array(parts) => &parts[0]["text"],
                text => text,
            };
            part.as_str().map(str::to_owned)
        });
        texts.collect()
    }

    #[test]
    fn a_message_of_the_user_gets_a_paragraph_in_every_format() {
        let words = ["Sail.", "Row on.", "潮は?", "Reef it.", "Home."];
        for (format, body, list) in bodies(&words) {
            for (place, which) in ConstraintPlace::ALL.into_iter().zip([0, 2, 3]) {
                let put = put_into(format, &body, place).expect("there is a place");
                let mut expected = words.map(str::to_owned);
                expected[which] = paragraph(words[which]);
                assert_eq!(users_texts(&put[list]), expected, "{format} {place:?}");
                let length = |body: &Value| body[list].as_array().map(Vec::len);
                assert_eq!(length(&put), length(&body));
            }
        }
    }

    #[test]
    fn without_another_message_of_the_user_a_new_one_stands_between_steps() {
        for (format, body, list) in bodies(&["Sail home."]) {
            let first = put_into(format, &body, ConstraintPlace::First).expect("a place");
            assert_eq!(users_texts(&first[list]), [paragraph("Sail home.")]);
            for place in [ConstraintPlace::Middle, ConstraintPlace::Late] {
                let put = put_into(format, &body, place).expect("there is a place");
                let texts = users_texts(&put[list]);
                assert_eq!(texts, ["Sail home.", SENTENCE], "{format} {place:?}");
                let length = |body: &Value| body[list].as_array().map_or(0, Vec::len);
                assert_eq!(length(&put), length(&body) + 1);
            }
        }
    }

    #[test]
    fn a_new_message_comes_before_the_newest_of_the_user() {
        for (format, body, list) in bodies(&["Sail.", "Home."]) {
            for place in [ConstraintPlace::Middle, ConstraintPlace::Late] {
                let put = put_into(format, &body, place).expect("there is a place");
                let texts = users_texts(&put[list]);
                assert_eq!(texts, ["Sail.", SENTENCE, "Home."], "{format} {place:?}");
            }
        }
    }

    #[test]
    fn the_paragraph_is_never_in_what_a_program_wrote() {
        let reminder = "<system-reminder>\nMind the tide.\n</system-reminder>";
        let body = json!({"messages": [
            {"role": "user", "content": reminder},
            {"role": "user", "content": [{"type": "text", "text": "Sail."}, {"type": "text", "text": reminder}]},
            {"role": "assistant", "content": "On it."},
            {"role": "user", "content": "Home."},
        ]});
        let put = put_into(Format::OpenAiChat, &body, ConstraintPlace::First);
        let put = put.expect("there is a place");
        assert_eq!(put["messages"][0], body["messages"][0]);
        assert_eq!(put["messages"][1]["content"][0]["text"], paragraph("Sail."));
        assert_eq!(put["messages"][1]["content"][1]["text"], reminder);
    }

    #[test]
    fn a_conversation_without_steps_and_other_messages_has_no_place() {
        let body = json!({"messages": [{"role": "user", "content": "Sail."}]});
        for place in [ConstraintPlace::Middle, ConstraintPlace::Late] {
            assert_eq!(put_into(Format::OpenAiChat, &body, place), None);
        }
    }
}
