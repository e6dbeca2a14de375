use serde_json::{Value, json};

use super::{hello, read, repair};
use crate::model::format::Format::OpenAiResponses;

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "ok"})
}

fn says(id: &str, text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "id": id, "content": [{"type": "output_text", "text": text}]})
}

fn reasoning(id: &str) -> Value {
    json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "gAAA"})
}

#[test]
fn call_id_of_a_call_that_still_waits_is_renamed_with_its_output() {
    let repairs = repair(
        OpenAiResponses,
        &json!([
            hello(),
            call("a"),
            call("a"),
            output("a"),
            output("a"),
            call("a"),
            output("a"),
            hello()
        ]),
        &json!([
            hello(),
            call("a"),
            call("a-2"),
            output("a"),
            output("a-2"),
            call("a"),
            output("a"),
            hello()
        ]),
    );
    assert_eq!(repairs, [("ALL-4", 3), ("ALL-4", 5)]);
}

#[test]
fn output_in_front_of_its_call_goes_behind_the_batch_and_others_go() {
    let repairs = repair(
        OpenAiResponses,
        &json!([
            hello(),
            output("a"),
            output("x"),
            call("a"),
            call("b"),
            output("b"),
            hello()
        ]),
        &json!([
            hello(),
            call("a"),
            call("b"),
            output("b"),
            output("a"),
            hello()
        ]),
    );
    assert_eq!(repairs, [("RESP-1", 2), ("RESP-1", 3)]);
}

#[test]
fn calls_get_outputs_of_their_own_type() {
    let custom = json!({"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "x"});
    let shell = json!({"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}});
    let repairs = repair(
        OpenAiResponses,
        &json!([
            hello(),
            call("a"),
            custom,
            hello(),
            shell,
            hello(),
            call("z")
        ]),
        &json!([
            hello(), call("a"), custom,
            {"type": "function_call_output", "call_id": "a", "output": "NOTE"},
            {"type": "custom_tool_call_output", "call_id": "c", "output": "NOTE"},
            hello(), hello(), call("z")
        ]),
    );
    assert_eq!(repairs, [("RESP-2", 2), ("RESP-2", 3), ("RESP-2", 5)]);
    let repairs = repair(
        OpenAiResponses,
        &json!([hello(), reasoning("r"), shell, hello()]),
        &json!([hello(), hello()]),
    );
    assert_eq!(repairs, [("RESP-2", 2), ("RESP-2", 3)]);
    // The reasoning may be that of the call.
    let document = json!([hello(), reasoning("r"), shell, says("m", "a"), hello()]);
    assert_eq!(repair(OpenAiResponses, &document, &document), []);
}

#[test]
fn reasoning_that_nothing_follows_goes() {
    let repairs = repair(
        OpenAiResponses,
        &json!([
            hello(),
            reasoning("r"),
            reasoning("s"),
            hello(),
            reasoning("t"),
            says("m", "a"),
            reasoning("u")
        ]),
        &json!([hello(), hello(), reasoning("t"), says("m", "a")]),
    );
    assert_eq!(repairs, [("RESP-3", 2), ("RESP-3", 3), ("RESP-3", 7)]);
}

#[test]
fn reasoning_gets_a_summary() {
    let bare = json!({"type": "reasoning", "encrypted_content": "gAAA"});
    let empty = json!({"type": "reasoning", "summary": null, "encrypted_content": "gAAA"});
    let whole = json!({"type": "reasoning", "summary": [], "encrypted_content": "gAAA"});
    let repairs = repair(
        OpenAiResponses,
        &json!([hello(), bare, empty, says("m", "a")]),
        &json!([hello(), whole, whole, says("m", "a")]),
    );
    assert_eq!(repairs, [("RESP-5", 2), ("RESP-5", 3)]);
}

#[test]
fn same_item_again_goes_and_another_one_loses_the_id() {
    let mut other = says("m", "b");
    other.as_object_mut().expect("is one").remove("id");
    let repairs = repair(
        OpenAiResponses,
        &json!([
            hello(),
            says("m", "a"),
            hello(),
            says("m", "a"),
            says("m", "b"),
            says("m", "b")
        ]),
        &json!([hello(), says("m", "a"), hello(), other]),
    );
    assert_eq!(repairs, [("RESP-8", 4), ("RESP-8", 5), ("RESP-8", 6)]);
    let mut sealed = reasoning("r");
    sealed["encrypted_content"] = json!("gBBB");
    let document = json!([
        hello(),
        reasoning("r"),
        says("m", "a"),
        sealed,
        says("n", "b")
    ]);
    assert_eq!(repair(OpenAiResponses, &document, &document), []);
}

#[test]
fn items_of_one_id_stay_where_the_model_is_not_openais() {
    let items = json!([
        hello(),
        says("m", "a"),
        hello(),
        says("m", "a"),
        says("m", "b")
    ]);
    let document = json!({"model": "grok-4.3", "input": items});
    assert_eq!(repair(OpenAiResponses, &document, &document), []);
    let repairs = |model: &str| {
        let body = json!({"model": model, "input": items}).to_string();
        read(OpenAiResponses, &body).repaired().repairs().len()
    };
    assert_eq!(repairs("gpt-5.2"), 2);
}

#[test]
fn empty_text_behind_reasoning_stays_as_a_whole() {
    let empty = json!({"role": "assistant", "content": [{"type": "output_text", "text": ""}]});
    let repairs = repair(
        OpenAiResponses,
        &json!([hello(), reasoning("r"), empty, empty]),
        &json!([hello(), reasoning("r"), {"role": "assistant", "content": ""}]),
    );
    assert_eq!(repairs, [("ALL-6", 3), ("ALL-6", 4)]);
}

#[test]
fn output_of_another_kind_gets_that_of_its_call_or_goes() {
    let custom = json!({"type": "custom_tool_call_output", "call_id": "a", "output": "ok"});
    let call = json!({"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"});
    let output = json!({"type": "function_call_output", "call_id": "a", "output": "ok"});
    let shell = json!({"type": "shell_call_output", "call_id": "a", "output": []});
    let repairs = repair(
        OpenAiResponses,
        &json!([hello(), call, custom]),
        &json!([hello(), call, output]),
    );
    assert_eq!(repairs, [("RESP-1", 3)]);
    let none = json!({"type": "function_call_output", "call_id": "a", "output": "NOTE"});
    let repairs = repair(
        OpenAiResponses,
        &json!([hello(), call, shell, hello()]),
        &json!([hello(), call, none, hello()]),
    );
    assert_eq!(repairs, [("RESP-2", 2), ("RESP-1", 3)]);
}

#[test]
fn outputs_of_one_id_go_to_the_calls_of_their_kind() {
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"});
    let custom = |id: &str| json!({"type": "custom_tool_call", "call_id": id, "name": "patch", "input": "x"});
    let output = |kind: &str, id: &str| json!({"type": kind, "call_id": id, "output": kind});
    let (function, patch) = ("function_call_output", "custom_tool_call_output");
    repair(
        OpenAiResponses,
        &json!([
            hello(),
            call("a"),
            custom("a"),
            output(patch, "a"),
            output(function, "a")
        ]),
        &json!([
            hello(),
            call("a"),
            custom("a-2"),
            output(patch, "a-2"),
            output(function, "a")
        ]),
    );
}

#[test]
fn arguments_and_outputs_become_texts() {
    let repairs = repair(
        OpenAiResponses,
        &json!([
            hello(),
            {"type": "function_call", "call_id": "a", "name": "read", "arguments": {"path": "b"}},
            {"type": "function_call_output", "call_id": "a", "output": {"text": "c"}},
            {"type": "custom_tool_call", "call_id": "d", "name": "patch"},
            {"type": "custom_tool_call_output", "call_id": "d", "output": null}
        ]),
        &json!([
            hello(),
            {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{\"path\":\"b\"}"},
            {"type": "function_call_output", "call_id": "a", "output": "{\"text\":\"c\"}"},
            {"type": "custom_tool_call", "call_id": "d", "name": "patch", "input": ""},
            {"type": "custom_tool_call_output", "call_id": "d", "output": "NOTE"}
        ]),
    );
    assert_eq!(
        repairs,
        [("RESP-9", 2), ("RESP-9", 3), ("RESP-9", 4), ("RESP-9", 5)]
    );
}

fn named(mut item: Value, id: &str) -> Value {
    item["id"] = json!(id);
    item
}

fn without(mut item: Value, key: &str) -> Value {
    item.as_object_mut().expect("is one").remove(key);
    item
}

#[test]
fn reasoning_goes_in_front_of_what_it_produced_where_that_has_an_id() {
    let searches = json!({"type": "web_search_call", "id": "ws", "status": "completed"});
    for product in [named(call("a"), "fc"), searches, says("m", "a")] {
        let output = product["call_id"].as_str().map(output);
        let items =
            |items: Vec<Value>| Value::from([items, output.iter().cloned().collect()].concat());
        // The one that stands with the other stays with it.
        let repairs = repair(
            OpenAiResponses,
            &items(vec![
                hello(),
                reasoning("r"),
                reasoning("s"),
                hello(),
                product.clone(),
            ]),
            &items(vec![
                hello(),
                hello(),
                reasoning("r"),
                reasoning("s"),
                product,
            ]),
        );
        assert_eq!(repairs, [("RESP-3", 2), ("RESP-3", 3)]);
    }
    // What has reasoning of its own, or no id, or comes after another response needs none.
    for rest in [
        vec![reasoning("t"), says("m", "a")],
        vec![without(says("m", "a"), "id")],
        vec![without(says("m", "a"), "id"), hello(), says("n", "b")],
    ] {
        let before = [vec![hello(), reasoning("r"), hello()], rest.clone()].concat();
        let after = [vec![hello(), hello()], rest].concat();
        let repairs = repair(OpenAiResponses, &before.into(), &after.into());
        assert_eq!(repairs, [("RESP-3", 2)]);
    }
}

#[test]
fn output_that_names_the_item_of_a_call_is_none_of_that_call() {
    let repairs = repair(
        OpenAiResponses,
        &json!([
            hello(),
            named(call("a"), "fc"),
            output("fc"),
            output("a"),
            hello()
        ]),
        &json!([hello(), named(call("a"), "fc"), output("a"), hello()]),
    );
    assert_eq!(repairs, [("RESP-1", 3)]);
    let alone = json!([hello(), named(call("a"), "fc"), output("fc"), hello()]);
    let rules = super::read(OpenAiResponses, &alone.to_string());
    let rules: Vec<_> = rules
        .broken()
        .map(|own| (own.rule.id(), own.message))
        .collect();
    assert_eq!(rules, [("RESP-2", 2), ("RESP-1", 3)]);
}

#[test]
fn outputs_of_empty_ids_go_to_the_calls_of_their_kind_and_stay() {
    let custom = json!({"type": "custom_tool_call", "call_id": "", "name": "read", "input": "{}"});
    let custom_output = json!({"type": "custom_tool_call_output", "call_id": "", "output": "b"});
    for outputs in [
        [output(""), custom_output.clone()],
        [custom_output.clone(), output("")],
        [without(output(""), "call_id"), custom_output],
    ] {
        let [first, second] = outputs;
        let document = json!([hello(), call(""), custom, first, second, hello()]);
        let before = super::read(OpenAiResponses, &document.to_string());
        assert_eq!(before.broken().count(), 0, "{document}");
        assert_eq!(before.units().len(), 3);
        assert_eq!(repair(OpenAiResponses, &document, &document), []);
    }
    let [shell, shell_output] = ["shell_call", "shell_call_output"]
        .map(|kind| json!({"type": kind, "call_id": "", "output": [], "action": {}}));
    // The output of a call that is not there does not take that of another kind with it.
    let repairs = repair(
        OpenAiResponses,
        &json!([hello(), call(""), shell_output, output(""), hello()]),
        &json!([hello(), call(""), output(""), hello()]),
    );
    assert_eq!(repairs, [("RESP-1", 3)]);
    let both = json!([hello(), call(""), shell, output(""), shell_output, hello()]);
    assert_eq!(repair(OpenAiResponses, &both, &both), []);
}

#[test]
fn outputs_without_ids_get_those_of_their_calls_where_no_other_call_waits() {
    let nameless = without(output(""), "call_id");
    for (before, after) in [
        (
            vec![call("a"), nameless.clone(), hello()],
            vec![call("a"), output("a"), hello()],
        ),
        // Another output names the first call.
        (
            vec![call("a"), call("b"), nameless.clone(), output("a")],
            vec![call("a"), call("b"), output("b"), output("a")],
        ),
        (
            vec![call("a"), nameless.clone(), call("a"), nameless.clone()],
            vec![call("a"), output("a"), call("a"), output("a")],
        ),
    ] {
        let [before, after] =
            [before, after].map(|items| Value::from([vec![hello()], items].concat()));
        let repairs = repair(OpenAiResponses, &before, &after);
        assert!(!repairs.is_empty(), "{before}");
        assert!(repairs.iter().all(|(rule, _)| *rule == "RESP-9"));
    }
    // It may be the output of either call; nobody gives a call an id; one that has an id of its own
    // stays as it is.
    for stays in [
        vec![call("a"), call("b"), nameless.clone()],
        vec![named(without(call(""), "call_id"), "fc"), nameless.clone()],
        vec![call("a"), named(nameless, "fco"), hello()],
    ] {
        let document = Value::from([vec![hello()], stays].concat());
        let before = super::read(OpenAiResponses, &document.to_string());
        assert_eq!(before.broken().count(), 0, "{document}");
        assert_eq!(repair(OpenAiResponses, &document, &document), []);
    }
}

#[test]
fn shell_call_without_a_call_id_gets_no_output_of_its_own() {
    let shell = json!({"type": "shell_call", "id": "sh", "action": {"commands": ["ls"]}});
    let document = json!([hello(), shell]);
    assert_eq!(repair(OpenAiResponses, &document, &document), []);
}

#[test]
fn output_of_a_function_answers_a_local_shell_call() {
    let shell = |id: &str| json!({"type": "local_shell_call", "call_id": id, "status": "completed", "action": {"type": "exec", "command": ["ls"]}});
    let typed = |kind: &str, id: &str| json!({"type": kind, "call_id": id, "output": "ok"});
    let own = "local_shell_call_output";
    for document in [
        json!([hello(), shell("a"), output("a"), hello()]),
        // An output of its own kind has the first claim.
        json!([
            hello(),
            shell(""),
            call(""),
            output(""),
            typed(own, ""),
            hello()
        ]),
        json!([
            hello(),
            shell(""),
            call(""),
            typed(own, ""),
            output(""),
            hello()
        ]),
    ] {
        let before = super::read(OpenAiResponses, &document.to_string());
        assert_eq!(before.broken().count(), 0, "{document}");
        assert_eq!(before.units().len(), 3, "{document}");
        assert_eq!(repair(OpenAiResponses, &document, &document), []);
    }
    let mut note = output("a");
    note["output"] = json!("NOTE");
    let repairs = repair(
        OpenAiResponses,
        &json!([hello(), shell("a"), hello()]),
        &json!([hello(), shell("a"), note, hello()]),
    );
    assert_eq!(repairs, [("RESP-2", 2)]);
    // That of a custom tool has the same form.
    let custom = typed("custom_tool_call_output", "a");
    let repairs = repair(
        OpenAiResponses,
        &json!([hello(), shell("a"), custom, hello()]),
        &json!([hello(), shell("a"), output("a"), hello()]),
    );
    assert_eq!(repairs, [("RESP-1", 3)]);
    // The other way round no program does it.
    let mut note = output("b");
    note["output"] = json!("NOTE");
    let repairs = repair(
        OpenAiResponses,
        &json!([hello(), call("b"), typed(own, "b"), hello()]),
        &json!([hello(), call("b"), note, hello()]),
    );
    assert_eq!(repairs, [("RESP-2", 2), ("RESP-1", 3)]);
}

#[test]
fn what_a_reference_may_stand_for_stays() {
    let allows =
        json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true});
    let empty = json!({"role": "user", "content": [{"type": "input_text", "text": ""}]});
    for reference in [
        json!({"type": "item_reference", "id": "mcpr_1"}),
        json!({"id": "mcpr_1"}),
    ] {
        let repairs = repair(
            OpenAiResponses,
            &json!([hello(), reference, hello(), allows, empty]),
            &json!([hello(), reference, hello(), allows]),
        );
        assert_eq!(repairs, [("ALL-6", 5)]);
    }
    // It may be the output of a call before it, and is none of one after it.
    let reference = json!({"id": "fco_1"});
    let mut note = output("b");
    note["output"] = json!("NOTE");
    let repairs = repair(
        OpenAiResponses,
        &json!([hello(), call("a"), reference, hello(), call("b"), hello()]),
        &json!([
            hello(),
            call("a"),
            reference,
            hello(),
            call("b"),
            note,
            hello()
        ]),
    );
    assert_eq!(repairs, [("RESP-2", 5)]);
}

#[test]
fn calls_of_a_program_keep_their_caller() {
    let program =
        |id: &str| json!({"type": "program", "call_id": id, "code": "read()", "fingerprint": "f"});
    let caller = json!({"type": "program", "caller_id": "p"});
    let with_caller = |mut item: Value| {
        item["caller"] = caller.clone();
        item
    };
    let done = json!({"type": "program_output", "call_id": "p", "result": "ok"});
    let mut note = with_caller(output("b"));
    note["output"] = json!("NOTE");
    let repairs = repair(
        OpenAiResponses,
        &json!([
            hello(),
            program("p"),
            with_caller(call("a")),
            with_caller(call("b")),
            with_caller(output("a")),
            done,
            hello()
        ]),
        &json!([
            hello(),
            program("p"),
            with_caller(call("a")),
            with_caller(call("b")),
            with_caller(output("a")),
            note,
            done,
            hello()
        ]),
    );
    assert_eq!(repairs, [("RESP-2", 4)]);
}
