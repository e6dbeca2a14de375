use serde_json::{Value, json};

use super::repair;
use crate::model::format::Format::BedrockConverse;

fn call(id: &str) -> Value {
    json!({"toolUse": {"toolUseId": id, "name": "read", "input": {}}})
}

fn uses(ids: &[&str]) -> Value {
    model(&ids.iter().map(|id| call(id)).collect::<Vec<_>>())
}

fn result(id: &str) -> Value {
    with(id, json!([{"text": "ok"}]))
}

fn with(id: &str, content: Value) -> Value {
    json!({"toolResult": {"toolUseId": id, "content": content}})
}

fn none(id: &str) -> Value {
    json!({"toolResult": {"toolUseId": id, "content": [{"text": "NOTE"}], "status": "error"}})
}

fn user(blocks: &[Value]) -> Value {
    json!({"role": "user", "content": blocks})
}

fn model(blocks: &[Value]) -> Value {
    json!({"role": "assistant", "content": blocks})
}

fn text(text: &str) -> Value {
    json!({"text": text})
}

fn hello() -> Value {
    user(&[text("潮汐表を直して。")])
}

fn says(said: &str) -> Value {
    model(&[text(said)])
}

fn reasoning() -> Value {
    json!({"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}})
}

fn point() -> Value {
    json!({"cachePoint": {"type": "default"}})
}

fn document(name: &str) -> Value {
    json!({"document": {"format": "pdf", "name": name, "source": {"bytes": "JVBERi0xLjcK"}}})
}

#[test]
fn results_of_parallel_calls_end_in_the_one_message_after_them() {
    let repairs = repair(
        BedrockConverse,
        &json!([
            hello(),
            uses(&["a", "b", "c"]),
            user(&[result("b")]),
            user(&[result("c")]),
            says("Hm."),
            user(&[result("a"), text("go on")]),
        ]),
        &json!([
            hello(),
            uses(&["a", "b", "c"]),
            user(&[result("b"), result("c"), result("a")]),
            says("Hm."),
            user(&[text("go on")]),
        ]),
    );
    assert_eq!(repairs, [("BED-4", 3), ("BED-4", 4), ("BED-4", 6)]);
}

#[test]
fn call_without_a_result_gets_a_note_unless_it_is_pending() {
    let repairs = repair(
        BedrockConverse,
        &json!([
            hello(),
            uses(&["a", "b"]),
            user(&[result("b"), text("go on")]),
            uses(&["d"])
        ]),
        &json!([
            hello(),
            uses(&["a", "b"]),
            user(&[result("b"), none("a"), text("go on")]),
            uses(&["d"])
        ]),
    );
    assert_eq!(repairs, [("BED-3", 2), ("BED-3", 3)]);
}

#[test]
fn words_do_not_join_results_where_all_are_missing() {
    let repairs = repair(
        BedrockConverse,
        &json!([hello(), uses(&["a"]), user(&[text("stop")])]),
        &json!([
            hello(),
            uses(&["a"]),
            user(&[none("a")]),
            says("ANSWER"),
            user(&[text("stop")])
        ]),
    );
    assert_eq!(repairs, [("BED-3", 2), ("BED-2", 3)]);
}

#[test]
fn neighbours_of_one_role_are_parted_by_notes() {
    let repairs = repair(
        BedrockConverse,
        &json!([says("Hi."), hello(), hello(), says("One."), says("Two.")]),
        &json!([
            user(&[text("OPENING")]),
            says("Hi."),
            hello(),
            says("ANSWER"),
            hello(),
            says("One."),
            user(&[text("OPENING")]),
            says("Two.")
        ]),
    );
    assert_eq!(repairs, [("BED-1", 1), ("BED-2", 3), ("BED-2", 5)]);
}

#[test]
fn blank_texts_go_and_messages_that_hold_nothing_else() {
    let repairs = repair(
        BedrockConverse,
        &json!([
            user(&[text(" \n"), text("a"), point()]),
            says("Hm."),
            user(&[text(""), point()]),
            says("Hm?")
        ]),
        &json!([
            user(&[text("a"), point()]),
            says("Hm."),
            user(&[text("OPENING")]),
            says("Hm?")
        ]),
    );
    assert_eq!(repairs, [("BED-6", 1), ("BED-6", 3), ("BED-6", 4)]);
}

#[test]
fn blocks_get_what_their_kind_wants() {
    let bare = |input: Value| {
        model(&[json!({"toolUse": {"toolUseId": "a", "name": "read", "input": input}})])
    };
    for (input, expected) in [
        (json!(null), json!({})),
        (json!("{\"path\": \"b\"}"), json!({"path": "b"})),
        (json!("b"), json!({"input": "b"})),
        (json!([1]), json!({"input": [1]})),
    ] {
        let repairs = repair(
            BedrockConverse,
            &json!([hello(), bare(input)]),
            &json!([hello(), bare(expected)]),
        );
        assert_eq!(repairs, [("BED-8", 2)]);
    }
    for (content, expected) in [
        (json!("ok"), json!([text("ok")])),
        (json!({"lines": [1]}), json!([{"json": {"lines": [1]}}])),
        (json!(false), json!([text("false")])),
        (json!([]), json!([text("NOTE")])),
        (json!(null), json!([text("NOTE")])),
        (json!(["a", text("b")]), json!([text("a"), text("b")])),
    ] {
        let repairs = repair(
            BedrockConverse,
            &json!([hello(), uses(&["a"]), user(&[with("a", content)])]),
            &json!([hello(), uses(&["a"]), user(&[with("a", expected)])]),
        );
        assert_eq!(repairs, [("BED-8", 3)]);
    }
    let repairs = repair(
        BedrockConverse,
        &json!([{"role": "user", "content": "Fix it."}]),
        &json!([user(&[text("Fix it.")])]),
    );
    assert_eq!(repairs, [("BED-8", 1)]);
}

#[test]
fn document_gets_a_text_beside_it_and_a_name_of_its_own() {
    let repairs = repair(
        BedrockConverse,
        &json!([
            user(&[document("tariff"), text("Read it.")]),
            says("I did."),
            user(&[document("tariff")]),
            says("I did."),
            user(&[document("料金表 (2025).pdf"), text("And this.")])
        ]),
        &json!([
            user(&[document("tariff"), text("Read it.")]),
            says("I did."),
            user(&[document("tariff-2"), text("BESIDE")]),
            says("I did."),
            user(&[document("--- (2025)-pdf"), text("And this.")])
        ]),
    );
    assert_eq!(repairs, [("BED-9", 3), ("BED-9", 3), ("BED-9", 5)]);
}

#[test]
fn cache_points_go_from_behind_reasoning_and_else_the_oldest() {
    let marked = |name: &str| user(&[text(name), point()]);
    let repairs = repair(
        BedrockConverse,
        &json!([
            marked("a"),
            model(&[reasoning(), point(), text("Hm.")]),
            marked("b"),
            says("Hm."),
            user(&[text("c"), point(), text("d"), point(), text("e"), point()])
        ]),
        &json!([
            user(&[text("a")]),
            model(&[reasoning(), text("Hm.")]),
            marked("b"),
            says("Hm."),
            user(&[text("c"), point(), text("d"), point(), text("e"), point()])
        ]),
    );
    assert_eq!(repairs, [("BED-10", 1), ("BED-10", 2)]);
}

#[test]
fn id_that_two_calls_of_a_response_have_becomes_two() {
    let repairs = repair(
        BedrockConverse,
        &json!([
            hello(),
            uses(&["a", "a"]),
            user(&[result("a"), result("a"), result("a")])
        ]),
        &json!([
            hello(),
            uses(&["a", "a-2"]),
            user(&[result("a"), result("a-2")])
        ]),
    );
    assert_eq!(repairs, [("ALL-4", 2), ("ALL-4", 3), ("ALL-4", 3)]);
}
