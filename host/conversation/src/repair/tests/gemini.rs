use serde_json::{Value, json};

use super::repair;
use crate::model::format::Format::Gemini;

fn hello() -> Value {
    user(&[json!({"text": "Fix the leap year bug."})])
}

fn user(parts: &[Value]) -> Value {
    json!({"role": "user", "parts": parts})
}

fn model(parts: &[Value]) -> Value {
    json!({"role": "model", "parts": parts})
}

fn call(id: &str) -> Value {
    json!({"functionCall": {"name": "read", "id": id, "args": {}}})
}

fn answer(id: &str) -> Value {
    json!({"functionResponse": {"name": "read", "id": id, "response": {"output": "ok"}}})
}

fn none(id: &str) -> Value {
    json!({"functionResponse": {"name": "read", "id": id, "response": {"error": "NOTE"}}})
}

fn says(text: &str) -> Value {
    model(&[json!({"text": text})])
}

#[test]
fn id_of_an_earlier_response_stays_and_a_second_response_goes() {
    let repairs = repair(
        Gemini,
        &json!([
            hello(),
            model(&[call("a")]),
            user(&[answer("a")]),
            model(&[call("a")]),
            user(&[answer("a"), answer("a")])
        ]),
        &json!([
            hello(),
            model(&[call("a")]),
            user(&[answer("a")]),
            model(&[call("a")]),
            user(&[answer("a")])
        ]),
    );
    assert_eq!(repairs, [("GEM-2", 5)]);
}

#[test]
fn responses_join_the_one_content_behind_their_calls() {
    let repairs = repair(
        Gemini,
        &json!([
            hello(),
            model(&[call("a"), call("b"), call("c")]),
            user(&[answer("a")]),
            user(&[answer("b"), answer("x")]),
            hello()
        ]),
        &json!([
            hello(),
            model(&[call("a"), call("b"), call("c")]),
            user(&[answer("a"), answer("b"), none("c")]),
            hello()
        ]),
    );
    assert_eq!(repairs, [2, 3, 3, 4, 4].map(|message| ("GEM-2", message)));
}

#[test]
fn calls_and_responses_in_neighbouring_contents_become_steps_of_one_each() {
    let repairs = repair(
        Gemini,
        &json!([
            hello(),
            model(&[call("a")]),
            model(&[call("b")]),
            user(&[answer("a"), answer("b")]),
            says("Done.")
        ]),
        &json!([
            hello(),
            model(&[call("a")]),
            user(&[answer("a")]),
            model(&[call("b")]),
            user(&[answer("b")]),
            says("Done.")
        ]),
    );
    assert_eq!(repairs, [("GEM-2", 4)]);
}

#[test]
fn one_part_in_place_of_a_list_gets_no_company() {
    let alone = json!({"role": "user", "parts": answer("a")});
    let document = json!([hello(), model(&[call("a"), call("b")]), alone, hello()]);
    assert_eq!(repair(Gemini, &document, &document), []);
}

#[test]
fn content_of_responses_moves_as_it_is() {
    let repairs = repair(
        Gemini,
        &json!([hello(), model(&[call("a")]), hello(), user(&[answer("a")])]),
        &json!([hello(), model(&[call("a")]), user(&[answer("a")]), hello()]),
    );
    assert_eq!(repairs, [("GEM-2", 4)]);
}

#[test]
fn call_without_a_response_gets_a_note_in_its_own_spelling() {
    let old = || json!({"function_call": {"name": "read", "args": {}}});
    let none_old = json!({"function_response": {"name": "read", "response": {"error": "NOTE"}}});
    let repairs = repair(
        Gemini,
        &json!([
            hello(),
            model(&[call("a"), old()]),
            hello(),
            model(&[call("z")])
        ]),
        &json!([
            hello(),
            model(&[call("a"), old()]),
            user(&[none("a"), none_old]),
            hello(),
            model(&[call("z")])
        ]),
    );
    assert_eq!(repairs, [("GEM-2", 2), ("GEM-2", 2)]);
}

#[test]
fn calls_do_not_stand_behind_the_models_words() {
    let repairs = repair(
        Gemini,
        &json!([
            hello(),
            says("Hm."),
            model(&[call("a")]),
            user(&[answer("a")])
        ]),
        &json!([
            hello(),
            says("Hm."),
            user(&[json!({"text": "OPENING"})]),
            model(&[call("a")]),
            user(&[answer("a")])
        ]),
    );
    assert_eq!(repairs, [("GEM-2", 3)]);
}

#[test]
fn response_that_is_no_object_becomes_one() {
    let response = |response: Value| json!({"functionResponse": {"name": "read", "id": "a", "response": response}});
    for (old, new) in [
        (json!("ok"), json!({"output": "ok"})),
        (json!([1]), json!({"output": [1]})),
        (json!(null), json!({"output": null})),
    ] {
        let repairs = repair(
            Gemini,
            &json!([hello(), model(&[call("a")]), user(&[response(old)])]),
            &json!([hello(), model(&[call("a")]), user(&[response(new)])]),
        );
        assert_eq!(repairs, [("GEM-4", 3)]);
    }
    repair(
        Gemini,
        &json!([
            hello(),
            model(&[call("a")]),
            user(&[json!({"functionResponse": {"name": "read", "id": "a"}})])
        ]),
        &json!([hello(), model(&[call("a")]), user(&[response(json!({}))])]),
    );
}

#[test]
fn empty_parts_go_and_contents_that_hold_nothing_else() {
    let repairs = repair(
        Gemini,
        &json!([hello(), model(&[json!({}), json!({"text": "a"}), json!({"text": ""})]), user(&[]), {"role": "user"}, says("b")]),
        &json!([
            hello(),
            says("a"),
            user(&[json!({"text": "OPENING"})]),
            says("b")
        ]),
    );
    assert_eq!(repairs, [2, 3, 4, 5].map(|message| ("GEM-5", message)));
    let signed = json!({"text": "a", "thoughtSignature": "c2ln"});
    let document = json!([hello(), model(&[signed, json!({"text": ""})])]);
    assert_eq!(repair(Gemini, &document, &document), []);
    let signature = json!({"thought": true, "thoughtSignature": "c2ln"});
    let signs = model(&[signature, json!({"text": "a"})]);
    let repairs = repair(
        Gemini,
        &json!([hello(), signs, user(&[])]),
        &json!([hello(), signs]),
    );
    assert_eq!(repairs, [("GEM-5", 3)]);
}

#[test]
fn note_comes_before_the_models_first_words() {
    let repairs = repair(
        Gemini,
        &json!([says("Hi."), hello()]),
        &json!([user(&[json!({"text": "OPENING"})]), says("Hi."), hello()]),
    );
    assert_eq!(repairs, [("GEM-1", 1)]);
}

#[test]
fn response_under_another_name_is_that_of_the_only_call_before_it() {
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let answer =
        |name: &str| json!({"functionResponse": {"name": name, "response": {"output": "ok"}}});
    let repairs = repair(
        Gemini,
        &json!([
            hello(),
            model(&[call("read"), call("list")]),
            user(&[answer("list"), answer("reader")])
        ]),
        &json!([
            hello(),
            model(&[call("read"), call("list")]),
            user(&[answer("list"), answer("read")])
        ]),
    );
    assert_eq!(repairs, [("GEM-2", 3)]);
}
