//! The rules of Bedrock Converse, each with a conversation that breaks it alone and one that keeps it.

use serde_json::{Value, json};

use crate::formats::rules::tests::{Case, broken, error, warning};
use crate::model::format::Format::BedrockConverse;

/// The cases of all rules that Bedrock Converse checks.
pub(crate) fn cases() -> Vec<Case> {
    [
        shared(),
        order(),
        calls_and_results(),
        texts_and_reasoning(),
        block_members(),
        documents(),
        cache_points(),
    ]
    .concat()
}

fn shared() -> Vec<Case> {
    vec![
        error("ALL-1", [0])
            .broken(json!([]))
            .valid(json!([hello()])),
        error("ALL-4", [2])
            .broken(json!([hello(), uses(&["a", "a"]), results(&["a", "a"])]))
            .valid(json!([
                hello(),
                uses(&["a"]),
                results(&["a"]),
                uses(&["a"]),
                results(&["a"])
            ])),
        error("ALL-4", [3])
            .broken(json!([hello(), uses(&["a"]), results(&["a", "a"])]))
            .valid(json!([hello(), uses(&["a"]), results(&["a"])])),
        error("ALL-8", [0])
            .broken(json!([user(&vec![picture(); 101])]))
            .valid(json!([user(&vec![picture(); 100])])),
    ]
}

fn order() -> Vec<Case> {
    vec![
        warning("BED-1", [1])
            .broken(json!([says("こんにちは。"), hello()]))
            .valid(json!([hello(), says("こんにちは。")])),
        warning("BED-1", [2])
            .broken(json!([hello(), {"role": "system", "content": [text("From now on in French.")]}, says("Oui.")]))
            .valid(json!({"system": [text("In French.")], "messages": [hello(), says("Oui.")]})),
        warning("BED-2", [2])
            .broken(json!([hello(), hello()]))
            .valid(json!([hello(), says("Hm."), hello()])),
        warning("BED-2", [3])
            .broken(json!([hello(), says("Hm."), says("Well.")]))
            .valid(json!([hello(), says("Hm."), hello(), says("Well.")])),
    ]
}

fn calls_and_results() -> Vec<Case> {
    vec![
        error("BED-3", [2])
            .broken(json!([hello(), uses(&["a", "b"]), results(&["b"])]))
            // They may still be pending.
            .valid(json!([hello(), uses(&["a", "b"])])),
        error("BED-3", [2])
            .broken(json!([hello(), uses(&["a"]), hello()]))
            // Their order is free, and words may stand on either side.
            .valid(json!([
                hello(),
                uses(&["a", "b"]),
                user(&[text("潮汐表"), result("b"), result("a"), text("go on")])
            ])),
        error("BED-4", [3])
            .broken(json!([hello(), says("Hm."), results(&["a"])]))
            .valid(json!([hello(), uses(&["a"]), results(&["a"])])),
        error("BED-4", [3])
            .broken(json!([hello(), uses(&["a"]), results(&["a", "b"])]))
            .valid(json!([hello(), uses(&["a", "b"]), results(&["a", "b"])])),
        error("BED-4", [2])
            .broken(json!([hello(), {"role": "assistant", "content": [result("a")]}]))
            .valid(json!([hello(), says("Hm.")])),
        error("BED-5", [0])
            .broken(json!({"messages": [hello(), uses(&["a"]), results(&["a"])]}))
            .valid(json!({"messages": [hello(), uses(&["a"]), results(&["a"])], "toolConfig": tools()})),
    ]
}

fn texts_and_reasoning() -> Vec<Case> {
    vec![
        warning("BED-6", [1])
            .broken(json!([user(&[text(" \n"), text("a")])]))
            .valid(json!([user(&[text("a")])])),
        error("BED-6", [2])
            .broken(json!([hello(), says(" \n")]))
            .valid(json!([hello(), says(".\n")])),
        error("BED-6", [2])
            .broken(json!([hello(), {"role": "assistant", "content": []}]))
            .valid(json!([hello(), says("Hm.")])),
        error("BED-6", [1])
            .broken(json!([user(&[guarded("")]), says("Hm.")]))
            .valid(json!([user(&[guarded("Is it safe?")]), says("Hm.")])),
        error("BED-6", [0])
            .broken(json!({"system": [text("")], "messages": [hello()]}))
            .valid(json!({"system": [text("Be brief."), point()], "messages": [hello()]})),
        warning("BED-7", [2])
            .broken(thinks(&uses(&["a"])))
            .valid(thinks(&assistant(&[reasoning(), call("a")]))),
    ]
}

fn block_members() -> Vec<Case> {
    vec![
        error("BED-8", [1])
            .broken(json!([{"role": "user", "content": "Fix it."}]))
            .valid(json!([user(&[text("Fix it.")])])),
        error("BED-8", [2])
            .broken(json!([hello(), assistant(&[json!({"toolUse": {"toolUseId": "a", "name": "read", "input": "{}"}})])]))
            .valid(json!([hello(), uses(&["a"])])),
        error("BED-8", [2])
            .broken(json!([hello(), assistant(&[json!({"toolUse": {"toolUseId": "a", "name": "functions read", "input": {}}})])]))
            .valid(json!([hello(), assistant(&[json!({"toolUse": {"toolUseId": "tooluse_a.1:b-2", "name": "mcp__read-file", "input": {}}})])])),
        error("BED-8", [2, 3])
            .broken(json!([hello(), uses(&["call|fc"]), results(&["call|fc"])]))
            .valid(json!([hello(), uses(&["call_fc"]), results(&["call_fc"])])),
        error("BED-8", [3])
            .broken(json!([hello(), uses(&["a"]), user(&[with(json!("ok"))])]))
            .valid(json!([hello(), uses(&["a"]), user(&[with(json!([{"json": {"lines": [1]}}]))])])),
        warning("BED-8", [3])
            .broken(json!([hello(), uses(&["a"]), user(&[with(json!([]))])]))
            .valid(json!([hello(), uses(&["a"]), user(&[with(json!([picture()]))])])),
        warning("BED-8", [1])
            .broken(json!([user(&[text("a"), reasoning()])]))
            .valid(json!([hello(), assistant(&[reasoning(), text("a")])])),
        warning("BED-8", [1])
            .broken(json!([user(&[text("a"), call("a")])]))
            .valid(json!([hello(), uses(&["a"])])),
        warning("BED-8", [2])
            .broken(json!([hello(), assistant(&[picture(), text("So.")])]))
            .valid(json!([user(&[picture(), text("So?")]), says("So.")])),
    ]
}

fn documents() -> Vec<Case> {
    vec![
        error("BED-9", [1])
            .broken(json!([user(&[document("tariff")])]))
            .valid(json!([user(&[document("tariff"), text("Read it.")])])),
        error("BED-9", [3])
            .broken(json!([
                user(&[document("tariff"), text("Read it.")]),
                says("I did."),
                user(&[document("tariff"), text("Now this.")])
            ]))
            .valid(json!([
                user(&[document("tariff"), text("Read it.")]),
                says("I did."),
                user(&[document("tariff (2)"), text("Now this.")])
            ])),
        error("BED-9", [1])
            .broken(json!([user(&[document("料金表.pdf"), text("Read it.")])]))
            .valid(json!([user(&[
                document("Tariff_2025 [final] (2) - en"),
                text("Read it.")
            ])])),
        error("BED-9", [1])
            .broken(json!([user(&many_documents(6))]))
            .valid(json!([user(&many_documents(5))])),
    ]
}

fn cache_points() -> Vec<Case> {
    vec![
        error("BED-10", [0])
            .broken(json!({"system": [text("a"), point()], "messages": [marked(4)]}))
            .valid(json!({"system": [text("a"), point()], "messages": [marked(3)]})),
        error("BED-10", [0])
            .broken(json!({"toolConfig": {"tools": [tool(), point()]}, "messages": [marked(4)]}))
            .valid(json!({"toolConfig": {"tools": [tool(), point()]}, "messages": [marked(3)]})),
        error("BED-10", [2])
            .broken(json!([
                hello(),
                assistant(&[reasoning(), point(), text("So.")])
            ]))
            .valid(json!([
                hello(),
                assistant(&[reasoning(), text("So."), point()])
            ])),
    ]
}

fn hello() -> Value {
    user(&[text("Fix the leap year bug.")])
}

fn user(blocks: &[Value]) -> Value {
    json!({"role": "user", "content": blocks})
}

fn assistant(blocks: &[Value]) -> Value {
    json!({"role": "assistant", "content": blocks})
}

fn says(said: &str) -> Value {
    assistant(&[text(said)])
}

fn text(text: &str) -> Value {
    json!({"text": text})
}

fn guarded(text: &str) -> Value {
    json!({"guardContent": {"text": {"text": text, "qualifiers": ["query"]}}})
}

fn call(id: &str) -> Value {
    json!({"toolUse": {"toolUseId": id, "name": "read", "input": {"path": "a"}}})
}

fn uses(ids: &[&str]) -> Value {
    assistant(&ids.iter().map(|id| call(id)).collect::<Vec<_>>())
}

fn result(id: &str) -> Value {
    json!({"toolResult": {"toolUseId": id, "content": [{"text": "ok"}], "status": "success"}})
}

fn results(ids: &[&str]) -> Value {
    user(&ids.iter().map(|id| result(id)).collect::<Vec<_>>())
}

/// A result of call `a` with this content.
fn with(content: Value) -> Value {
    json!({"toolResult": {"toolUseId": "a", "content": content}})
}

fn reasoning() -> Value {
    json!({"reasoningContent": {"reasoningText": {"text": "Leap years.", "signature": "c2ln"}}})
}

/// A request with thinking on, whose only answer this is.
fn thinks(answer: &Value) -> Value {
    json!({
        "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        "toolConfig": tools(),
        "messages": [hello(), answer, results(&["a"])],
    })
}

fn tool() -> Value {
    json!({"toolSpec": {"name": "read", "inputSchema": {"json": {"type": "object"}}}})
}

fn tools() -> Value {
    json!({"tools": [tool()]})
}

fn picture() -> Value {
    json!({"image": {"format": "png", "source": {"s3Location": {"uri": "s3://plans/a.png"}}}})
}

fn document(name: &str) -> Value {
    json!({"document": {"format": "pdf", "name": name, "source": {"bytes": "JVBERi0xLjcK"}}})
}

fn many_documents(count: usize) -> Vec<Value> {
    let documents = (0..count).map(|number| document(&format!("sheet {number}")));
    documents.chain([text("Read them.")]).collect()
}

fn point() -> Value {
    json!({"cachePoint": {"type": "default"}})
}

/// A message with marks for the cache.
fn marked(count: usize) -> Value {
    let blocks = (0..count).flat_map(|number| [text(&format!("sheet {number}")), point()]);
    user(&blocks.collect::<Vec<_>>())
}

/// Without the request around them nobody knows which tools there are (BED-5).
#[test]
fn bare_list_needs_no_tools() {
    let list = json!([hello(), uses(&["a"]), results(&["a"])]);
    assert_eq!(broken(BedrockConverse, &list), []);
}
