//! The rules of Gemini, each with a conversation that breaks it alone and one that keeps it.

use serde_json::{Value, json};

use crate::formats::rules::tests::{Case, error, warning};

/// The cases of all rules that Gemini checks.
pub(crate) fn cases() -> Vec<Case> {
    [
        shared(),
        roles(),
        calls_and_responses(),
        signatures(),
        members(),
    ]
    .concat()
}

fn shared() -> Vec<Case> {
    vec![
        error("ALL-1", [0])
            .broken(json!([]))
            .valid(json!([hello()])),
        warning("ALL-4", [2])
            .broken(json!([hello(), calls(&["a", "a"]), answers(&["a", "a"])]))
            .valid(json!([
                hello(),
                calls(&["a"]),
                answers(&["a"]),
                calls(&["a"]),
                answers(&["a"]),
                nameless(),
                nameless_answer()
            ])),
        error("ALL-8", [0])
            .broken(json!([{"role": "user", "parts": vec![picture(); 3_601]}]))
            .valid(json!([{"role": "user", "parts": vec![picture(); 3_600]}])),
    ]
}

fn roles() -> Vec<Case> {
    vec![
        warning("GEM-1", [1])
            .broken(json!([says(), hello()]))
            .valid(json!([hello(), says()])),
        error("GEM-1", [2])
            .broken(json!([hello(), {"role": "system", "parts": [{"text": "s"}]}]))
            .valid(json!([{"parts": [{"text": "no role is the user's"}]}])),
        warning("GEM-1", [3])
            .broken(json!([hello(), calls(&["a"]), {"role": "function", "parts": [answer("a")]}]))
            .valid(json!([hello(), calls(&["a"]), {"role": "user", "parts": [answer("a")]}])),
    ]
}

fn calls_and_responses() -> Vec<Case> {
    vec![
        error("GEM-2", [2])
            .broken(json!([hello(), calls(&["a", "b"]), answers(&["a"]), hello()]))
            .valid(json!([hello(), calls(&["a", "b"]), answers(&["b", "a"]), hello()])),
        warning("GEM-2", [4, 5])
            // Some servers take neighbours for one content.
            .broken(json!([
                hello(),
                calls(&["a", "b", "c"]),
                answers(&["b"]),
                answers(&["a"]),
                answers(&["c"])
            ]))
            .valid(json!([hello(), calls(&["a", "b", "c"])])),
        error("GEM-2", [3])
            .broken(json!([hello(), says(), calls(&["a"]), answers(&["a"])]))
            .valid(json!([
                hello(),
                calls(&["a"]),
                answers(&["a"]),
                calls(&["b"]),
                answers(&["b"])
            ])),
        warning("GEM-2", [3])
            .broken(json!([hello(), nameless(), {"role": "user", "parts": [{"functionResponse": {"name": "write", "response": {}}}]}]))
            .valid(json!([hello(), nameless(), nameless_answer()])),
        warning("GEM-2", [3])
            // The API looks at their number.
            .broken(json!([hello(), calls(&["a", "b"]), answers(&["a", "a"]), hello()]))
            .valid(json!([hello(), calls(&["a", "b"]), answers(&["a", "b"]), hello()])),
        warning("GEM-2", [3])
            .broken(json!([
                hello(),
                calls(&["a"]),
                models_answer(),
                calls(&["b"]),
                answers(&["b"])
            ]))
            .valid(json!([hello(), calls(&["a"]), answers(&["a"]), says()])),
        warning("GEM-2", [3])
            .broken(json!([hello(), calls(&["a"]), calls(&["b"]), answers(&["a", "b"])]))
            .valid(json!([hello(), calls(&["a", "b"]), answers(&["a", "b"])])),
        error("GEM-2", [2, 4, 4])
            // The second content is out of place, and so is what it holds.
            .broken(json!([hello(), calls(&["a", "b", "c"]), answers(&["a"]), answers(&["x"]), hello()]))
            .valid(json!([hello(), calls(&["a", "b", "c"]), answers(&["a", "b", "c"]), hello()])),
        warning("GEM-2", [2])
            .broken(json!({"contents": [hello(), calls(&["a"]), hello()]}))
            .valid(json!({"contents": [hello(), calls(&["a"]), answers(&["a"]), hello()]})),
        error("GEM-2", [2])
            .broken(json!({"tools": [reader()], "contents": [hello(), calls(&["a"]), hello()]}))
            .valid(json!({"tools": [reader()], "contents": [hello(), calls(&["a"]), answers(&["a"]), hello()]})),
        error("GEM-2", [2])
            // The tools may be in the cache.
            .broken(json!({"cachedContent": "cachedContents/quay", "contents": [hello(), calls(&["a"]), hello()]}))
            .valid(json!({"cachedContent": "cachedContents/quay", "contents": [hello(), calls(&["a"]), answers(&["a"])]})),
    ]
}

fn reader() -> Value {
    json!({"functionDeclarations": [{"name": "read", "parameters": {"type": "OBJECT"}}]})
}

fn signatures() -> Vec<Case> {
    vec![
        warning("GEM-3", [4])
            .broken(json!([
                hello(),
                signed("a"),
                answers(&["a"]),
                calls(&["b"]),
                answers(&["b"])
            ]))
            // Turns before the current one are not looked at.
            .valid(json!([
                hello(),
                signed("a"),
                answers(&["a"]),
                hello(),
                calls(&["b"]),
                answers(&["b"])
            ])),
        error("GEM-3", [4])
            .broken(with(named(), calls(&["b"])))
            .valid(with(named(), signed("b"))),
        error("GEM-3", [4])
            .broken(with(of_level(), calls(&["b"])))
            .valid(with(of_level(), signed("b"))),
        warning("GEM-3", [4])
            // Older models have a budget of thinking.
            .broken(with(
                json!({"model": "gemini-2.5-pro", "generation_config": {"thinking_config": {"thinking_budget": -1}}}),
                calls(&["b"]),
            ))
            .valid(with(json!({"model": "gemini-2.5-pro"}), signed("b"))),
    ]
}

fn members() -> Vec<Case> {
    vec![
        error("GEM-4", [3])
            .broken(json!([hello(), calls(&["a"]), {"role": "user", "parts": [{"functionResponse": {"name": "read", "id": "a", "response": "ok"}}]}]))
            .valid(json!([hello(), calls(&["a"]), answers(&["a"])])),
        warning("GEM-4", [3])
            .broken(json!([hello(), calls(&["a"]), {"role": "user", "parts": [{"functionResponse": {"name": "read", "id": "a"}}]}]))
            .valid(json!([hello(), calls(&["a"]), {"role": "user", "parts": [{"functionResponse": {"name": "read", "id": "a", "response": {}}}]}])),
        error("GEM-5", [2])
            .broken(json!([hello(), {"role": "model", "parts": []}]))
            .valid(json!([hello(), says()])),
        warning("GEM-5", [2])
            .broken(json!([hello(), {"role": "model", "parts": [{"text": ""}]}]))
            // What is signed goes back as it came, empty or not.
            .valid(json!([hello(), {"role": "model", "parts": [{"text": "", "thoughtSignature": "c2ln"}]}])),
        error("GEM-5", [2])
            // One part may stand without its list.
            .broken(json!([hello(), {"role": "model", "parts": {}}]))
            .valid(json!([{"role": "user", "parts": {"text": "Fix the leap year bug."}}, {"role": "model", "parts": {"text": "Done."}}])),
        error("GEM-5", [2])
            .broken(json!([hello(), {"role": "model", "parts": [{}]}]))
            .valid(json!([hello(), {"role": "model", "parts": [{"executableCode": {"code": "1"}}]}])),
        error("GEM-5", [2])
            .broken(json!([hello(), {"role": "model", "parts": [{"thought": true}]}]))
            .valid(json!([
                hello(),
                {"role": "model", "parts": [{"thought": true, "thoughtSignature": "c2ln"}, {"text": "Done."}]}
            ])),
        warning("GEM-7", [2])
            .broken(json!([hello(), {"role": "model", "parts": [{"functionCall": {"args": {}}}]}]))
            .valid(json!([hello(), nameless()])),
    ]
}

fn hello() -> Value {
    json!({"role": "user", "parts": [{"text": "Fix the leap year bug."}]})
}

fn says() -> Value {
    json!({"role": "model", "parts": [{"text": "Done."}]})
}

fn call(id: &str) -> Value {
    json!({"functionCall": {"name": "read", "id": id, "args": {}}})
}

fn answer(id: &str) -> Value {
    json!({"functionResponse": {"name": "read", "id": id, "response": {"output": "ok"}}})
}

fn calls(ids: &[&str]) -> Value {
    json!({"role": "model", "parts": ids.iter().map(|id| call(id)).collect::<Vec<_>>()})
}

fn answers(ids: &[&str]) -> Value {
    json!({"role": "user", "parts": ids.iter().map(|id| answer(id)).collect::<Vec<_>>()})
}

fn signed(id: &str) -> Value {
    let call = json!({"name": "read", "id": id, "args": {}});
    json!({"role": "model", "parts": [{"functionCall": call, "thoughtSignature": "c2ln"}]})
}

/// A call without an id, in the other spelling.
fn nameless() -> Value {
    json!({"role": "model", "parts": [{"function_call": {"name": "read", "args": {}}}]})
}

fn nameless_answer() -> Value {
    json!({"role": "user", "parts": [{"function_response": {"name": "read", "response": {}}}]})
}

/// A response in a content of the model.
fn models_answer() -> Value {
    json!({"role": "model", "parts": [answer("a")]})
}

fn picture() -> Value {
    json!({"fileData": {"mimeType": "image/png", "fileUri": "gs://a/b.png"}})
}

/// A request of two steps, the first of which is signed.
fn with(mut body: Value, second: Value) -> Value {
    body["contents"] = json!([
        hello(),
        signed("a"),
        answers(&["a"]),
        second,
        answers(&["b"])
    ]);
    body
}

fn named() -> Value {
    json!({"model": "models/gemini-3.5-flash"})
}

fn of_level() -> Value {
    json!({"generationConfig": {"thinkingConfig": {"thinkingLevel": "high"}}})
}
