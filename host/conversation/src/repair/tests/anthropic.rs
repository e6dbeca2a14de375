use serde_json::{Value, json};

use super::{hello, read, repair};
use crate::model::format::Format::Anthropic;

fn uses(ids: &[&str]) -> Value {
    let blocks: Vec<Value> = ids
        .iter()
        .map(|id| json!({"type": "tool_use", "id": id, "name": "read", "input": {}}))
        .collect();
    json!({"role": "assistant", "content": blocks})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}

fn none(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "NOTE", "is_error": true})
}

fn user(blocks: &[Value]) -> Value {
    json!({"role": "user", "content": blocks})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn says(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

#[test]
fn id_of_an_earlier_response_stays_and_a_second_result_goes() {
    let repairs = repair(
        Anthropic,
        &json!([
            hello(),
            uses(&["a"]),
            user(&[result("a")]),
            uses(&["a", "b"]),
            user(&[result("b"), result("a"), result("b")])
        ]),
        &json!([
            hello(),
            uses(&["a"]),
            user(&[result("a")]),
            uses(&["a", "b"]),
            user(&[result("b"), result("a")])
        ]),
    );
    assert_eq!(repairs, [("ALL-4", 5)]);
    let repairs = repair(
        Anthropic,
        &json!([
            hello(),
            uses(&["a", "a"]),
            user(&[result("a"), result("a")])
        ]),
        &json!([
            hello(),
            uses(&["a", "a-2"]),
            user(&[result("a"), result("a-2")])
        ]),
    );
    assert_eq!(repairs, [("ALL-4", 2), ("ALL-4", 3)]);
}

#[test]
fn result_goes_to_its_use_or_goes_altogether() {
    let repairs = repair(
        Anthropic,
        &json!([
            hello(),
            uses(&["a", "b"]),
            user(&[result("b")]),
            says("Hm."),
            user(&[result("a"), text("go on")]),
            says("Hm."),
            user(&[result("x")])
        ]),
        &json!([
            hello(),
            uses(&["a", "b"]),
            user(&[result("a")]),
            user(&[result("b")]),
            says("Hm."),
            user(&[text("go on")]),
            says("Hm.")
        ]),
    );
    assert_eq!(repairs, [("ANTH-4", 5), ("ANTH-4", 7)]);
}

#[test]
fn where_a_message_goes_the_models_words_stay_apart() {
    let repairs = repair(
        Anthropic,
        &json!([
            hello(),
            says("One."),
            user(&[result("x")]),
            says("Two."),
            hello()
        ]),
        &json!([hello(), says("One."), {"role": "user", "content": "OPENING"}, says("Two."), hello()]),
    );
    assert_eq!(repairs, [("ANTH-4", 3), ("ANTH-4", 4)]);
}

#[test]
fn use_without_a_result_gets_a_note_unless_it_is_pending() {
    let repairs = repair(
        Anthropic,
        &json!([
            hello(),
            uses(&["a", "b"]),
            uses(&["c"]),
            user(&[result("b"), text("go on")]),
            uses(&["d"])
        ]),
        &json!([
            hello(),
            uses(&["a", "b"]),
            uses(&["c"]),
            user(&[none("a"), none("c")]),
            user(&[result("b"), text("go on")]),
            uses(&["d"])
        ]),
    );
    assert_eq!(repairs, [("ANTH-3", 2), ("ANTH-3", 3)]);
}

#[test]
fn results_come_first_in_their_turn() {
    let repairs = repair(
        Anthropic,
        &json!([
            hello(),
            uses(&["a", "b"]),
            user(&[text("x"), result("a"), text("y"), result("b")])
        ]),
        &json!([
            hello(),
            uses(&["a", "b"]),
            user(&[result("a"), result("b"), text("x"), text("y")])
        ]),
    );
    assert_eq!(repairs, [("ANTH-3", 3)]);
    let repairs = repair(
        Anthropic,
        &json!([
            hello(),
            uses(&["a", "b", "c"]),
            user(&[result("a"), text("x")]),
            user(&[text("y"), result("b")]),
            user(&[result("c")])
        ]),
        &json!([
            hello(),
            uses(&["a", "b", "c"]),
            user(&[result("b")]),
            user(&[result("c")]),
            user(&[result("a"), text("x")]),
            user(&[text("y")])
        ]),
    );
    assert_eq!(repairs, [("ANTH-3", 4), ("ANTH-3", 5)]);
}

#[test]
fn blank_texts_go_and_messages_that_hold_nothing_else() {
    let repairs = repair(
        Anthropic,
        &json!([user(&[text("a"), text("")]), says("Hm."), user(&[]), {"role": "user", "content": ""}, says(" \n"), user(&[text("\u{3000}"), text(" ")]), hello()]),
        &json!([user(&[text("a")]), says("Hm."), hello()]),
    );
    assert_eq!(repairs, [1, 3, 4, 5, 6].map(|message| ("ANTH-6", message)));
}

#[test]
fn white_space_beside_other_blocks_stays() {
    let mut calls = uses(&["a", "b"]);
    let blocks = calls["content"].as_array_mut().expect("is one");
    blocks.insert(0, text(" \n"));
    let answers = user(&[result("a"), result("b")]);
    let document = json!([hello(), calls, answers]);
    assert_eq!(repair(Anthropic, &document, &document), []);
    // What is empty goes, whatever it stands beside.
    let model = |blocks: &[Value]| json!({"role": "assistant", "content": blocks});
    let repairs = repair(
        Anthropic,
        &json!([
            hello(),
            model(&[text("α"), text(" "), text(""), text("β")]),
            hello()
        ]),
        &json!([hello(), model(&[text("α"), text(" "), text("β")]), hello()]),
    );
    assert_eq!(repairs, [("ANTH-6", 2)]);
    // At the end of a request the API refuses it.
    let repairs = repair(
        Anthropic,
        &json!([hello(), model(&[text("Done."), text(" ")])]),
        &json!([hello(), model(&[text("Done.")])]),
    );
    assert_eq!(repairs, [("ANTH-6", 2), ("ANTH-6", 2)]);
}

#[test]
fn white_space_at_the_end_goes_and_the_rest_keeps_its_spelling() {
    let document =
        r#"[{"role":"user","content":"a"},{"role":"assistant","content":"\u00e9 \"b\" \n\u0020"}]"#;
    let after = read(Anthropic, document).repaired();
    assert_eq!(after.document(), document.replace(r" \n\u0020", ""));
    let signed = json!([hello(), {"role": "assistant", "content": [{"type": "thinking", "thinking": "a", "signature": "c2ln"}, text("b ")]}]);
    assert_eq!(repair(Anthropic, &signed, &signed), []);
}

#[test]
fn halves_of_server_tools_go_where_nothing_beside_them_is_sealed() {
    let search =
        || json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "t", "content": []});
    let model = |blocks: &[Value]| json!({"role": "assistant", "content": blocks});
    let repairs = repair(
        Anthropic,
        &json!([
            hello(),
            model(&[text("a"), search()]),
            hello(),
            model(&[found]),
            hello(),
            model(&[search()])
        ]),
        &json!([
            hello(),
            model(&[text("a")]),
            hello(),
            hello(),
            model(&[search()])
        ]),
    );
    assert_eq!(repairs, [("ANTH-7", 2), ("ANTH-7", 4)]);
    let thinking = json!({"type": "thinking", "thinking": "a", "signature": "c2ln"});
    let document = json!([hello(), model(&[thinking, search()]), hello()]);
    assert_eq!(repair(Anthropic, &document, &document), []);
}

#[test]
fn of_too_many_cache_marks_the_oldest_go() {
    let marked =
        |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
    let repairs = repair(
        Anthropic,
        &json!({"system": [marked("s")], "messages": [user(&[marked("a"), marked("b")]), says("Hm."), user(&[marked("c"), marked("d"), marked("e")])]}),
        &json!({"system": [marked("s")], "messages": [user(&[text("a"), text("b")]), says("Hm."), user(&[marked("c"), marked("d"), marked("e")])]}),
    );
    assert_eq!(repairs, [("ANTH-9", 1), ("ANTH-9", 1)]);
}

#[test]
fn note_comes_before_the_models_first_words() {
    let repairs = repair(
        Anthropic,
        &json!([user(&[result("a")]), says("Hi."), hello()]),
        &json!([{"role": "user", "content": "OPENING"}, says("Hi."), hello()]),
    );
    assert_eq!(repairs, [("ANTH-4", 1), ("ANTH-1", 2)]);
}

#[test]
fn result_in_a_message_of_the_models_goes_to_the_user_at_once() {
    let mut both = uses(&["a"]);
    let blocks = both["content"].as_array_mut().expect("is one");
    blocks.push(result("a"));
    let repairs = repair(
        Anthropic,
        &json!([hello(), both, hello()]),
        &json!([hello(), uses(&["a"]), user(&[result("a")]), hello()]),
    );
    assert_eq!(repairs, [("ANTH-4", 2)]);
    let alone = json!({"role": "assistant", "content": [result("a")]});
    let repairs = repair(
        Anthropic,
        &json!([hello(), uses(&["a"]), alone, hello()]),
        &json!([hello(), uses(&["a"]), user(&[result("a")]), hello()]),
    );
    assert_eq!(repairs, [("ANTH-4", 3)]);
}

#[test]
fn blocks_get_what_their_type_wants() {
    let bare = |input: Value| json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": input}]});
    for (input, expected) in [
        (json!(null), json!({})),
        (json!("{\"path\": \"b\"}"), json!({"path": "b"})),
        (json!("b"), json!({"input": "b"})),
        (json!([1]), json!({"input": [1]})),
    ] {
        let repairs = repair(
            Anthropic,
            &json!([hello(), bare(input)]),
            &json!([hello(), bare(expected)]),
        );
        assert_eq!(repairs, [("ANTH-11", 2)]);
    }
    let picture =
        json!({"type": "image", "source": {"type": "url", "url": "https://example.org/plan.png"}});
    let with = |content: Value| json!({"type": "tool_result", "tool_use_id": "a", "content": content, "is_error": true});
    repair(
        Anthropic,
        &json!([hello(), uses(&["a"]), user(&[with(json!([]))])]),
        &json!([hello(), uses(&["a"]), user(&[with(json!("NOTE"))])]),
    );
    repair(
        Anthropic,
        &json!([hello(), uses(&["a"]), user(&[with(json!([picture]))])]),
        &json!([
            hello(),
            uses(&["a"]),
            user(&[json!({"type": "tool_result", "tool_use_id": "a", "content": [picture]})])
        ]),
    );
}

#[test]
fn thinking_behind_a_repair_goes_where_the_model_binds_it() {
    let thinks = |text: &str| json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, {"type": "text", "text": text}]});
    let broken = json!([
        hello(),
        thinks("a"),
        user(&[result("x"), text("go on")]),
        thinks("b"),
        hello()
    ]);
    let with = |model: &str, messages: Value| json!({"model": model, "messages": messages});
    let repairs = repair(
        Anthropic,
        &with("claude-opus-5-5", broken.clone()),
        &with(
            "claude-opus-5-5",
            json!([hello(), thinks("a"), user(&[text("go on")]), {"role": "assistant", "content": [{"type": "text", "text": "b"}]}, hello()]),
        ),
    );
    assert_eq!(repairs, [("ANTH-4", 3), ("ANTH-5", 4)]);
    repair(
        Anthropic,
        &with("claude-opus-4-5", broken),
        &with(
            "claude-opus-4-5",
            json!([
                hello(),
                thinks("a"),
                user(&[text("go on")]),
                thinks("b"),
                hello()
            ]),
        ),
    );
}

#[test]
fn thinking_behind_a_removed_cache_mark_stays_where_the_model_binds_it() {
    let marked =
        |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
    let thinks = json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, text("a")]});
    let with = |first: Value| json!({"model": "claude-opus-5-5", "messages": [user(&[first, marked("b"), marked("c"), marked("d"), marked("e")]), thinks, hello()]});
    let repairs = repair(Anthropic, &with(marked("a")), &with(text("a")));
    assert_eq!(repairs, [("ANTH-9", 1)]);
}

#[test]
fn instructions_in_the_middle_go_behind_the_users_next_turn() {
    let rule = |text: &str| json!({"role": "system", "content": text});
    let repairs = repair(
        Anthropic,
        &json!([
            hello(),
            says("Hm."),
            rule("a"),
            rule("b"),
            hello(),
            hello(),
            rule("c"),
            says("Hm.")
        ]),
        &json!([
            hello(),
            says("Hm."),
            hello(),
            hello(),
            rule("a"),
            rule("b"),
            rule("c"),
            says("Hm.")
        ]),
    );
    assert_eq!(repairs, [("ANTH-1", 3), ("ANTH-1", 4)]);
    let repairs = repair(
        Anthropic,
        &json!([hello(), says("Hm."), rule("a"), says("Oui.")]),
        &json!([hello(), says("Hm."), {"role": "user", "content": "OPENING"}, rule("a"), says("Oui.")]),
    );
    assert_eq!(repairs, [("ANTH-1", 3)]);
    let first = json!([rule("a"), hello()]);
    assert_eq!(repair(Anthropic, &first, &first), []);
}

#[test]
fn instructions_keep_a_legal_place_where_bound_thinking_leaves_a_repair() {
    let rule = json!({"role": "system", "content": "In French."});
    let thinks = json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]});
    let with = |messages: Value| json!({"model": "claude-opus-5-5", "messages": messages});
    repair(
        Anthropic,
        &with(json!([
            user(&[result("x"), text("go on")]),
            rule,
            thinks,
            hello()
        ])),
        &with(json!([user(&[text("go on")]), hello(), rule])),
    );
}

#[test]
fn result_of_other_json_becomes_a_text_and_bare_texts_blocks() {
    let with = |content: Value| json!({"type": "tool_result", "tool_use_id": "a", "content": content, "is_error": true});
    for (content, expected) in [
        (json!({}), json!("{}")),
        (json!(false), json!("false")),
        (
            json!({"lines": [1]}),
            json!(json!({"lines": [1]}).to_string()),
        ),
        (json!(["a", text("b")]), json!([text("a"), text("b")])),
        // Nothing is in there, and an error has to say something.
        (json!([""]), json!("NOTE")),
    ] {
        let repairs = repair(
            Anthropic,
            &json!([hello(), uses(&["a"]), user(&[with(content)])]),
            &json!([hello(), uses(&["a"]), user(&[with(expected)])]),
        );
        assert_eq!(repairs, [("ANTH-11", 3)]);
    }
}

#[test]
fn server_tool_whose_code_calls_the_clients_tools_keeps_its_use_and_result() {
    let model = |blocks: &[Value]| json!({"role": "assistant", "content": blocks});
    let runs = json!({"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {}});
    let calls = json!({"type": "tool_use", "id": "a", "name": "read", "input": {},
        "caller": {"type": "code_execution_20250825", "tool_id": "s"}});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]});
    let ran = json!({"type": "code_execution_tool_result", "tool_use_id": "s", "content": {}});
    let stray = json!({"type": "web_search_tool_result", "tool_use_id": "t", "content": []});
    let whole = [
        hello(),
        model(&[runs.clone(), calls.clone()]),
        result.clone(),
        model(&[ran, text("b")]),
        hello(),
    ];
    let with_last = |last: Value| Value::from([&whole[..], &[last, hello()]].concat());
    let repairs = repair(
        Anthropic,
        &with_last(model(&[text("c"), stray])),
        &with_last(model(&[text("c")])),
    );
    assert_eq!(repairs, [("ANTH-7", 6)]);
    // The call would name a use that is not there.
    let document = json!([
        hello(),
        model(&[runs, calls]),
        result,
        model(&[text("b")]),
        hello()
    ]);
    assert_eq!(repair(Anthropic, &document, &document), []);
}
