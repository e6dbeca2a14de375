//! A conversation is the same however its JSON is spelled: marks, ids, roles and names are compared
//! by what they say.

use baler_generated::{Choices, Kind};
use serde_json::{Value, json};

use super::Conversation;
use crate::marks::{self, By, Purpose, SecretKey, Site};
use crate::model::format::Format;
use crate::model::message::{Content, Message, Part};
use crate::model::unit::UnitKind;
use baler_generated::Spelling;

/// All that is known of a conversation, but for places and counts.
fn known(conversation: &Conversation) -> Value {
    let messages = conversation.all_messages();
    let units = conversation.units();
    json!({
        "format": conversation.format().name(),
        "violations": format!("{:?}", conversation.violations()),
        "units": units.iter().map(|unit| json!([
            unit.kind.name(), unit.turn, unit.messages, unit.media, format!("{:?}", unit.traits),
        ])).collect::<Vec<_>>(),
        "messages": messages.iter().map(|message| json!([
            message.role.name(), message.name(), message.opaque, message.id(), message.cache_marks,
            message.has_empty_calls, message.is_directive, format!("{:?}", message.flaws()),
            message.parts.iter().map(|part| of_part(conversation, message, part)).collect::<Vec<_>>(),
        ])).collect::<Vec<_>>(),
        "tools": conversation.tools().iter().map(|tool| json!([tool.name, tool.description])).collect::<Vec<_>>(),
    })
}

fn of_part(conversation: &Conversation, message: &Message, part: &Part) -> Value {
    let value = |place: &std::ops::Range<usize>| -> Value {
        let raw = conversation.source().get(place.clone()).expect("a place");
        serde_json::from_str(raw).expect("JSON")
    };
    let earlier = conversation
        .earlier(message, part)
        .map(|earlier| earlier.text);
    match &part.content {
        Content::Text(place) => json!(["text", value(place), earlier]),
        Content::Thinking(place) => json!(["thinking", value(place)]),
        Content::Call(call) => json!([
            "call",
            call.id,
            call.name,
            call.kind,
            call.detached,
            call.arguments.as_ref().map(value),
        ]),
        Content::Output(output) => json!([
            "output",
            output.call_id,
            output.name,
            output.kind,
            output.failed,
            output.texts.iter().map(value).collect::<Vec<_>>(),
            output.others.len(),
            earlier,
        ]),
        Content::Media(media) => {
            let digits = media.digits(conversation.source());
            json!(["media", media.kind, media.name, digits])
        }
        // Of Gemini's the first member names the kind, and members have no order.
        Content::Opaque(opaque) => json!(["opaque", format!("{:?}", opaque.link)]),
    }
}

fn read(document: &str, format: Option<Format>) -> Conversation {
    Conversation::of(document, format).unwrap_or_else(|error| panic!("{document}: {error}"))
}

fn assert_same_in_every_spelling(document: &str) {
    let expected = known(&read(document, None));
    for spelling in Spelling::ALL {
        let spelled = spelling.of(document);
        let found = known(&read(&spelled, None));
        assert_eq!(found, expected, "{spelling:?}: {spelled}");
    }
}

fn mark(purpose: Purpose, site: Site<'_>, text: &str) -> String {
    // The key of `Conversation::of`.
    let key = SecretKey::new([1; 32]);
    marks::wrap(&key, purpose, site, By::Strategy("other"), text)
}

fn summary() -> String {
    mark(Purpose::Summary, Site::User, "Nine beds; <b> & 日本 🦀.")
}

fn rewritten(call: &str) -> String {
    mark(Purpose::Rewritten, Site::Output(call), "left out")
}

fn chat() -> Value {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "read/file", "arguments": "{}"}});
    json!({"model": "gpt-4o", "messages": [
        {"role": "system", "content": "You garden."},
        {"role": "user", "content": summary()},
        {"role": "user", "content": [
            {"type": "text", "text": "Look."},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,ab/+cd=="}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        ]},
        {"role": "assistant", "content": "", "tool_calls": [call("a/1"), call("a<2")]},
        {"role": "tool", "tool_call_id": "a/1", "content": rewritten("a/1")},
        {"role": "tool", "tool_call_id": "a<2", "content": "Error: no such bed"},
        {"role": "assistant", "content": "Well.", "extra": {"signature": "x"}},
        {"role": "assistant", "content": "Well.", "extra": "\"signature\":"},
        {"role": "user", "content": "Go on."},
    ]})
}

fn anthropic() -> Value {
    json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": summary()},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "text", "text": "I look.", "citations": []},
            {"type": "tool_use", "id": "t/1", "name": "f", "input": {"a": "<"}},
            {"type": "tool_use", "id": "t<2", "name": "f", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t/1", "content": rewritten("t/1")},
            {"type": "tool_result", "tool_use_id": "t<2", "content": "{\"error\": 1}"},
            {"type": "text", "text": " \n\u{3000}"},
        ]},
        {"role": "assistant", "content": [{"type": "text", "text": "x", "citations": [{"a": 1}]}]},
        {"role": "user", "content": "Go on."},
    ]})
}

fn responses() -> Value {
    json!({"model": "gpt-5", "store": false, "input": [
        {"role": "user", "content": [{"type": "input_text", "text": summary()}]},
        {"type": "function_call", "call_id": "c/1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c/1", "output": rewritten("c/1")},
        {"type": "function_call", "call_id": "c<2", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c<2", "output": "Traceback (most recent call last)"},
        {"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "Well.", "annotations": []}]},
        {"role": "user", "content": "Go on."},
    ]})
}

fn gemini() -> Value {
    json!({"contents": [
        {"role": "user", "parts": [{"text": summary()}]},
        {"role": "model", "parts": [
            {"functionCall": {"id": "g/1", "name": "f", "args": {}}, "thoughtSignature": "s"},
            {"functionCall": {"name": "g", "args": {}}},
        ]},
        {"role": "user", "parts": [
            {"functionResponse": {"id": "g/1", "name": "f", "response": {"output": rewritten("g/1")}}},
            {"functionResponse": {"name": "g", "response": {"output": "fatal: no"}}},
        ]},
        {"role": "model", "parts": [{"text": "Well.", "thought": true}, {"text": "Well."}]},
        {"role": "user", "parts": [{"text": "Go on."}]},
    ]})
}

fn bedrock() -> Value {
    json!({"messages": [
        {"role": "user", "content": [{"text": summary()}]},
        {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
            {"toolUse": {"toolUseId": "b/1", "name": "f", "input": {"a": "<"}}},
            {"toolUse": {"toolUseId": "b<2", "name": "f", "input": {}}},
        ]},
        {"role": "user", "content": [
            {"toolResult": {"toolUseId": "b/1", "content": [{"text": rewritten("b/1")}]}},
            {"toolResult": {"toolUseId": "b<2", "content": [{"text": "Error: no such bed"}]}},
        ]},
        {"role": "assistant", "content": [{"text": "Well."}]},
        {"role": "user", "content": [{"text": "Go on."}, {"cachePoint": {"type": "default"}}]},
    ]})
}

#[test]
fn marks_ids_roles_and_names_are_known_in_every_spelling() {
    for document in [chat(), anthropic(), responses(), gemini(), bedrock()] {
        let document = document.to_string();
        let conversation = &read(&document, None);
        let is_summary = |unit: &&crate::model::unit::Unit| unit.kind == UnitKind::Summary;
        let units = conversation.units();
        assert_eq!(units.iter().filter(is_summary).count(), 1, "{document}");
        let failed = units.iter().filter(|unit| unit.traits.failed).count();
        assert_eq!(failed, 1, "{document}");
        let opened = conversation.all_messages().iter().flat_map(|message| {
            let parts = message.parts.iter();
            parts.filter_map(move |part| conversation.opened(message, part))
        });
        assert_eq!(opened.count(), 2, "{document}");
        assert_same_in_every_spelling(&document);
    }
}

#[test]
fn generated_conversations_are_the_same_in_every_spelling() {
    for kind in Kind::ALL {
        for seed in 0..24 {
            let choices = &mut Choices::from_seed(seed);
            let generated = baler_generated::conversation(kind, 20, choices);
            assert_same_in_every_spelling(&generated.document());
        }
    }
}

#[test]
fn appended_messages_are_the_same_in_every_spelling() {
    for document in [chat(), anthropic(), responses(), gemini(), bedrock()] {
        let key = ["messages", "input", "contents"]
            .into_iter()
            .find(|key| document.get(key).is_some())
            .expect("a list");
        let messages = document[key].as_array().expect("a list").clone();
        let mut empty = document.clone();
        empty[key] = json!([]);
        let format = Some(read(&document.to_string(), None).format());
        let grown = |spell: &dyn Fn(&str) -> String| {
            let mut conversation = read(&empty.to_string(), format);
            for message in &messages {
                let appended = conversation.append(&spell(&message.to_string()));
                appended.expect("reads");
            }
            known(&conversation)
        };
        let expected = grown(&str::to_owned);
        for spelling in Spelling::ALL {
            assert_eq!(grown(&|json| spelling.of(json)), expected, "{spelling:?}");
        }
    }
}

#[test]
fn mark_that_a_tool_output_copies_is_that_outputs_own_text() {
    let copies = [
        summary(),
        rewritten("another"),
        mark(Purpose::Rewritten, Site::Assistant, "left out"),
    ];
    for copy in copies {
        for mut document in [chat(), anthropic(), responses(), gemini(), bedrock()] {
            let own = ["a/1", "t/1", "c/1", "g/1", "b/1"];
            let own = own.map(|call| Value::from(rewritten(call)));
            replace(&mut document, &own, &copy);
            let conversation = read(&document.to_string(), None);
            for message in conversation.all_messages() {
                for part in &message.parts {
                    if matches!(part.content, Content::Output(_)) {
                        assert_eq!(
                            conversation
                                .earlier(message, part)
                                .map(|earlier| earlier.text),
                            None,
                            "{document}"
                        );
                    }
                }
            }
        }
    }
}

/// Puts `new` in the place of each text that is one of `old`.
fn replace(value: &mut Value, old: &[Value], new: &str) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| replace(value, old, new)),
        Value::Object(members) => {
            members
                .values_mut()
                .for_each(|value| replace(value, old, new));
        }
        _ if old.contains(value) => *value = new.into(),
        _ => {}
    }
}

#[test]
fn summary_of_the_users_role_is_none_among_instructions_or_beside_others_words() {
    let kinds = |messages: Value| -> Vec<UnitKind> {
        let conversation = read(&json!({"messages": messages}).to_string(), None);
        conversation.units().iter().map(|unit| unit.kind).collect()
    };
    let as_instructions =
        json!([{"role": "system", "content": summary()}, {"role": "user", "content": "a"}]);
    assert_eq!(
        kinds(as_instructions),
        [UnitKind::Instructions, UnitKind::User]
    );
    let with_words = json!([{"role": "user", "content": format!("{} And so on.", summary())}]);
    assert_eq!(kinds(with_words), [UnitKind::User]);
}

#[test]
fn output_of_two_texts_holds_no_mark() {
    let texts = json!([
        {"type": "text", "text": rewritten("t/1")},
        {"type": "text", "text": "What the model would not be told."},
    ]);
    let mut document = anthropic();
    document["messages"][2]["content"][0]["content"] = texts;
    let conversation = read(&document.to_string(), None);
    let message = &conversation.all_messages()[2];
    assert_eq!(conversation.opened(message, &message.parts[0]), None);
}
