use serde_json::{Value, json};

use super::{hello, read, repair};
use crate::model::format::Format::OpenAiChat;

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}})
}

fn calls(ids: &[&str]) -> Value {
    let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn answer(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "ok"})
}

fn none(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "NOTE"})
}

#[test]
fn id_that_its_response_used_before_gets_a_number_that_nothing_has() {
    let repairs = repair(
        OpenAiChat,
        &json!([
            hello(),
            calls(&["a"]),
            answer("a"),
            calls(&["a", "a-2", "a"]),
            answer("a-2"),
            answer("a"),
            answer("a"),
            calls(&["a"])
        ]),
        &json!([
            hello(),
            calls(&["a"]),
            answer("a"),
            calls(&["a", "a-2", "a-3"]),
            answer("a-2"),
            answer("a"),
            answer("a-3"),
            calls(&["a"])
        ]),
    );
    assert_eq!(repairs, [("ALL-4", 4), ("ALL-4", 7)]);
}

#[test]
fn calls_of_one_message_with_one_id_share_its_outputs_in_order() {
    let answered =
        |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    let repairs = repair(
        OpenAiChat,
        &json!([
            hello(),
            calls(&["a", "a"]),
            answered("a", "1"),
            answered("a", "2"),
            hello()
        ]),
        &json!([
            hello(),
            calls(&["a", "a-2"]),
            answered("a", "1"),
            answered("a-2", "2"),
            hello()
        ]),
    );
    assert_eq!(repairs, [("ALL-4", 2), ("ALL-4", 4)]);
}

#[test]
fn long_id_stays_as_long_as_providers_take() {
    let id = "é".repeat(32);
    let short = format!("{}-2", "é".repeat(27));
    repair(
        OpenAiChat,
        &json!([hello(), calls(&[&id, &id]), answer(&id), answer(&id)]),
        &json!([hello(), calls(&[&id, &short]), answer(&id), answer(&short)]),
    );
}

#[test]
fn second_answer_goes_and_the_first_stays() {
    let mut second = answer("a");
    second["content"] = json!("other");
    let repairs = repair(
        OpenAiChat,
        &json!([hello(), calls(&["a"]), answer("a"), hello(), second]),
        &json!([hello(), calls(&["a"]), answer("a"), hello()]),
    );
    assert_eq!(repairs, [("CHAT-1", 5)]);
}

#[test]
fn output_goes_to_its_call_or_goes_altogether() {
    let repairs = repair(
        OpenAiChat,
        &json!([
            answer("b"),
            hello(),
            answer("x"),
            calls(&["a", "b"]),
            hello(),
            answer("a")
        ]),
        &json!([
            hello(),
            calls(&["a", "b"]),
            answer("b"),
            answer("a"),
            hello()
        ]),
    );
    assert_eq!(repairs, [("CHAT-1", 1), ("CHAT-1", 3), ("CHAT-1", 6)]);
}

#[test]
fn call_without_an_output_gets_a_note_unless_it_is_pending() {
    let repairs = repair(
        OpenAiChat,
        &json!([
            hello(),
            calls(&["a", "b"]),
            answer("b"),
            hello(),
            calls(&["c"])
        ]),
        &json!([
            hello(),
            calls(&["a", "b"]),
            answer("b"),
            none("a"),
            hello(),
            calls(&["c"])
        ]),
    );
    assert_eq!(repairs, [("CHAT-2", 2)]);
}

#[test]
fn older_pairs_are_repaired() {
    let call = json!({"role": "assistant", "content": null, "function_call": {"name": "read", "arguments": "{}"}});
    let output = json!({"role": "function", "name": "read", "content": "ok"});
    let repairs = repair(
        OpenAiChat,
        &json!([output, hello(), call, hello(), output, call, hello()]),
        &json!([hello(), call, output, hello(), call, output, hello()]),
    );
    assert_eq!(repairs, [("CHAT-5", 1), ("CHAT-5", 5)]);
    let none = json!({"role": "function", "name": "read", "content": "NOTE"});
    repair(
        OpenAiChat,
        &json!([hello(), call, hello()]),
        &json!([hello(), call, none, hello()]),
    );
}

#[test]
fn arguments_become_the_text_of_their_bytes_and_nothing_else_changes() {
    let document = r#"[ {"role":"user", "content":"a\u0062"},{"x":1.0,"role" : "assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":{ "q": "\u00e9" }}}],"content":null}]"#;
    let after = read(OpenAiChat, document).repaired();
    assert_eq!(
        after.document(),
        document
            .replace(r#"{ "q": "\u00e9" }"#, r#""{ \"q\": \"\\u00e9\" }""#)
            .replace(",{\"x\"", ", {\"x\"")
    );
}

#[test]
fn missing_content_becomes_an_empty_text_and_empty_calls_go() {
    let repairs = repair(
        OpenAiChat,
        &json!([hello(), {"role": "assistant", "content": null, "tool_calls": []}, {"role": "user", "name": "u"}]),
        &json!([hello(), {"role": "assistant", "content": ""}, {"role": "user", "name": "u", "content": ""}]),
    );
    assert_eq!(repairs, [("CHAT-3", 2), ("CHAT-3", 2), ("CHAT-3", 3)]);
}

#[test]
fn empty_texts_go_and_messages_that_hold_nothing_else() {
    let empty = json!({"type": "text", "text": ""});
    let a = json!({"type": "text", "text": "a"});
    let mut calling = calls(&["c"]);
    calling["content"] = json!([empty]);
    let mut called = calling.clone();
    called["content"] = json!("");
    let repairs = repair(
        OpenAiChat,
        &json!([{"role": "user", "content": [empty, a, empty]}, {"role": "user", "content": [empty]}, calling]),
        &json!([{"role": "user", "content": [a]}, called]),
    );
    assert_eq!(repairs, [("ALL-6", 1), ("ALL-6", 2), ("ALL-6", 3)]);
    repair(
        OpenAiChat,
        &json!([{"role": "user", "content": [empty]}]),
        &json!([{"role": "user", "content": ""}]),
    );
}

#[test]
fn what_is_signed_is_not_edited() {
    let mut signed = calls(&["a", "a"]);
    signed["reasoning_details"] = json!([{"data": "AAAA"}]);
    let document = json!([hello(), signed, answer("a"), answer("a"), hello()]);
    assert_eq!(repair(OpenAiChat, &document, &document), []);
}

#[test]
fn what_a_call_lacks_is_given_but_for_its_name() {
    let bare = json!({"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "read"}}, {"id": "b", "custom": {"name": "patch"}}]});
    let whole = json!({"role": "assistant", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}},
        {"id": "b", "type": "custom", "custom": {"name": "patch", "input": ""}}
    ]});
    let repairs = repair(
        OpenAiChat,
        &json!([hello(), bare]),
        &json!([hello(), whole]),
    );
    assert_eq!(repairs, [("CHAT-4", 2); 4]);
    let nameless = json!([hello(), {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"arguments": "{}"}}]}]);
    assert_eq!(repair(OpenAiChat, &nameless, &nameless), []);
}

#[test]
fn message_of_thinking_alone_gets_an_empty_text() {
    let repairs = repair(
        OpenAiChat,
        &json!([hello(), {"role": "assistant", "reasoning_content": "Leap years."}]),
        &json!([hello(), {"role": "assistant", "reasoning_content": "Leap years.", "content": ""}]),
    );
    assert_eq!(repairs, [("CHAT-3", 2)]);
}

#[test]
fn output_without_an_id_gets_that_of_the_only_call_that_waits() {
    let nameless = json!({"role": "tool", "content": "ok"});
    let repairs = repair(
        OpenAiChat,
        &json!([hello(), calls(&["a", "b"]), answer("b"), nameless, hello()]),
        &json!([
            hello(),
            calls(&["a", "b"]),
            answer("b"),
            answer("a"),
            hello()
        ]),
    );
    assert_eq!(repairs, [("CHAT-1", 4)]);
    // With two that wait it is taken for the first one's, and stays as it is.
    let document = json!([hello(), calls(&["a", "b"]), nameless]);
    assert_eq!(repair(OpenAiChat, &document, &document), []);
}

#[test]
fn calls_without_an_id_get_those_of_the_outputs_behind_them() {
    let mut absent = calls(&[""]);
    let call = absent["tool_calls"][0].as_object_mut();
    call.expect("a call").remove("id");
    for nameless in [calls(&[""]), absent] {
        let repairs = repair(
            OpenAiChat,
            &json!([hello(), nameless, answer("gen-1"), hello()]),
            &json!([hello(), calls(&["gen-1"]), answer("gen-1"), hello()]),
        );
        assert_eq!(repairs, [("CHAT-1", 2)]);
    }
    // Several pair in their order; those that name each other already are not among them.
    let repairs = repair(
        OpenAiChat,
        &json!([
            hello(),
            calls(&["", "b", ""]),
            answer("gen-1"),
            answer("gen-2"),
            answer("b"),
            hello()
        ]),
        &json!([
            hello(),
            calls(&["gen-1", "b", "gen-2"]),
            answer("gen-1"),
            answer("gen-2"),
            answer("b"),
            hello()
        ]),
    );
    assert_eq!(repairs, [("CHAT-1", 2), ("CHAT-1", 2)]);
    // An output that another call waits for is not theirs.
    let repairs = repair(
        OpenAiChat,
        &json!([hello(), calls(&["a"]), calls(&[""]), answer("a"), hello()]),
        &json!([
            hello(),
            calls(&["a"]),
            answer("a"),
            calls(&[""]),
            none(""),
            hello()
        ]),
    );
    assert_eq!(repairs, [("CHAT-2", 3), ("CHAT-1", 4)]);
}

#[test]
fn output_of_a_signed_call_without_an_id_pairs_by_order() {
    let mut signed = calls(&[""]);
    signed["tool_calls"][0]["extra_content"] = json!({"google": {"thought_signature": "c2ln"}});
    let repairs = repair(
        OpenAiChat,
        &json!([hello(), signed, answer("gen-1"), hello()]),
        &json!([hello(), signed, answer(""), hello()]),
    );
    assert_eq!(repairs, [("CHAT-1", 3)]);
}

#[test]
fn output_of_other_json_becomes_a_text_of_exactly_that_json() {
    let document = r#"[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a", "content": { "q": "\u00e9" } },{"role":"tool","tool_call_id":"b","content":-1e3}]"#;
    let after = read(OpenAiChat, document).repaired();
    assert_eq!(
        after.document(),
        document
            .replace(r#"{ "q": "\u00e9" }"#, r#""{ \"q\": \"\\u00e9\" }""#)
            .replace("-1e3", "\"-1e3\"")
    );
    assert_eq!(after.violations(), []);
}

#[test]
fn bare_texts_in_the_list_of_an_output_become_parts() {
    let with = |content: Value| json!({"role": "tool", "tool_call_id": "a", "content": content});
    let b = json!({"type": "text", "text": "b"});
    let repairs = repair(
        OpenAiChat,
        &json!([hello(), calls(&["a"]), with(json!(["a", b, "c"]))]),
        &json!([
            hello(),
            calls(&["a"]),
            with(json!([{"type": "text", "text": "a"}, b, {"type": "text", "text": "c"}]))
        ]),
    );
    assert_eq!(repairs, [("CHAT-3", 3)]);
}
