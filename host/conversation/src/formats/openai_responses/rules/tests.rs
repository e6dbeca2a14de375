//! The rules of OpenAI Responses, each with a conversation that breaks it alone and one that keeps it.

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::formats::rules::tests::{Case, broken, error, hello, warning};
use crate::model::format::Format::OpenAiResponses;

/// The cases of all rules that OpenAI Responses checks.
pub(crate) fn cases() -> Vec<Case> {
    [
        shared(),
        outputs(),
        calls(),
        reasoning_items(),
        ids(),
        members(),
    ]
    .concat()
}

fn shared() -> Vec<Case> {
    vec![
        warning("ALL-1", [0])
            .broken(json!([{"role": "developer", "content": "Be brief."}]))
            .valid(json!([{"role": "developer", "content": "Be brief."}, hello()])),
        warning("ALL-1", [0])
            // The rest is stored, and `/responses/compact` accepts it alone.
            .broken(json!({"previous_response_id": "resp_1", "input": []}))
            .valid(json!({"previous_response_id": "resp_1", "input": [hello()]})),
        error("ALL-1", [0])
            .broken(json!({"input": []}))
            .valid(json!({"input": [hello()]})),
        error("ALL-4", [3])
            .broken(json!([hello(), call("a"), call("a"), output("a"), output("a")]))
            .valid(json!([hello(), call("a"), output("a"), call("a"), output("a")])),
        // A reference may be the output of a call before it, and of none after it.
        error("ALL-4", [4])
            .broken(json!([hello(), {"type": "item_reference", "id": "fc_1"}, call("a"), call("a"), output("a"), output("a")]))
            .valid(json!([hello(), call("a"), {"type": "item_reference", "id": "fco_1"}, call("a"), output("a")])),
        error("ALL-4", [4])
            .broken(json!([hello(), call("a"), output("a"), output("a"), {"type": "item_reference", "id": "fc_1"}]))
            .valid(json!([hello(), call("a"), output("a"), {"type": "item_reference", "id": "fc_1"}, output("a")])),
        warning("ALL-6", [1])
            .broken(json!([{"role": "user", "content": [{"type": "input_text", "text": ""}]}]))
            .valid(json!([{"role": "user", "content": [{"type": "input_text", "text": "a"}]}])),
        error("ALL-8", [0])
            .broken(json!([{"role": "user", "content": vec![json!({"type": "input_image", "image_url": "https://example.org/plan.png"}); 1_501]}]))
            .valid(json!([{"role": "user", "content": vec![json!({"type": "input_image", "image_url": "https://example.org/plan.png"}); 1_500]}])),
    ]
}

fn outputs() -> Vec<Case> {
    vec![
        error("RESP-1", [2])
            .broken(json!([hello(), output("a")]))
            // A reference may stand for the call.
            .valid(json!([hello(), {"type": "item_reference", "id": "fc_1"}, output("a")])),
        warning("RESP-1", [2])
            .broken(json!([hello(), allows()]))
            .valid(json!([hello(), asks(), allows()])),
        error("RESP-1", [3])
            .broken(json!([hello(), call("a"), {"type": "custom_tool_call_output", "call_id": "a", "output": "ok"}]))
            .valid(json!([hello(), {"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "x"}, {"type": "custom_tool_call_output", "call_id": "a", "output": "ok"}])),
        error("RESP-1", [3])
            .broken(json!([hello(), shell(), {"type": "custom_tool_call_output", "call_id": "c", "output": "src"}]))
            // Codex answers its own shell so.
            .valid(json!([hello(), shell(), output("c")])),
        error("RESP-1", [3])
            .broken(json!([hello(), search(), {"type": "custom_tool_call_output", "call_id": "s", "output": "tides"}]))
            // A client may run the search as a function of its own.
            .valid(json!([hello(), search(), output("s"), hello()])),
    ]
}

fn calls() -> Vec<Case> {
    vec![
        error("RESP-2", [2])
            .broken(json!([hello(), call("a"), call("b"), output("b"), hello()]))
            .valid(json!([hello(), call("a"), call("b"), output("b")])),
        error("RESP-2", [2])
            .broken(json!([hello(), shell(), hello()]))
            .valid(json!([hello(), shell(), shell_output(), hello()])),
        error("RESP-2", [2])
            .broken(json!([hello(), {"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "x"}, hello()]))
            .valid(json!([hello(), {"type": "function_call", "call_id": "a", "name": "wait", "arguments": "{}", "async": true}, hello()])),
        error("RESP-2", [3])
            .broken(json!([hello(), {"type": "item_reference", "id": "fco_1"}, call("a"), hello()]))
            // A reference may stand for the output.
            .valid(json!([hello(), call("a"), {"type": "item_reference", "id": "fco_1"}, hello()])),
    ]
}

fn reasoning_items() -> Vec<Case> {
    vec![
        error("RESP-3", [2])
            .broken(json!([hello(), reasoning(), hello()]))
            .valid(json!([hello(), reasoning(), says(), hello()])),
        warning("RESP-3", [2])
            .broken(json!({"store": false, "input": [hello(), encrypted(), hello()]}))
            .valid(json!({"store": false, "input": [hello(), encrypted(), hm(), hello()]})),
        error("RESP-5", [2])
            .broken(json!([hello(), {"type": "reasoning", "encrypted_content": "gAAA"}, says()]))
            .valid(json!([hello(), {"type": "reasoning", "summary": []}, says()])),
        error("RESP-5", [2])
            .broken(json!({"store": false, "input": [hello(), {"type": "reasoning", "id": "rs_1", "summary": []}, says()]}))
            .valid(json!({"store": false, "input": [hello(), reasoning(), says()]})),
        warning("RESP-5", [2])
            .broken(json!({"model": "gpt-oss-20b", "store": false, "input": [hello(), plain(&json!([])), hm()]}))
            .valid(json!({"model": "gpt-oss-20b", "store": false, "input": [hello(), encrypted(), hm()]})),
        warning("RESP-5", [2])
            .broken(json!({"store": false, "input": [hello(), plain(&json!([{"type": "reasoning_text", "text": "Hm."}])), hm()]}))
            .valid(json!({"store": false, "input": [hello(), encrypted(), hm()]})),
    ]
}

fn ids() -> Vec<Case> {
    vec![
        error("RESP-8", [4])
            .broken(json!([hello(), says(), hello(), says()]))
            // An empty id is none.
            .valid(json!([hello(), unnamed(), hello(), unnamed()])),
        error("RESP-8", [3])
            .broken(json!([
                hello(),
                named(call("c"), "lsh_1"),
                named(output("c"), "lsh_1")
            ]))
            // The output of a local shell call names the item of its call.
            .valid(json!([hello(), shell(), named_output(), hello()])),
        warning("RESP-8", [4])
            .broken(of_other_model("rs_1"))
            .valid(of_other_model("rs_2")),
    ]
}

fn members() -> Vec<Case> {
    vec![
        error("RESP-9", [2])
            .broken(json!([hello(), {"type": "function_call", "call_id": "a", "name": "read", "arguments": {"path": "a"}}]))
            .valid(json!([hello(), call("a")])),
        error("RESP-9", [2])
            .broken(json!([hello(), {"type": "function_call", "call_id": "a", "arguments": "{}"}]))
            .valid(json!([hello(), call("a")])),
        warning("RESP-9", [3])
            .broken(json!([hello(), call("a"), {"type": "function_call_output", "call_id": "a", "output": null}]))
            .valid(json!([hello(), call("a"), {"type": "function_call_output", "call_id": "a", "output": ""}])),
        warning("RESP-9", [3])
            .broken(json!([hello(), call("a"), {"type": "function_call_output", "call_id": "a", "output": ["ok"]}]))
            .valid(json!([hello(), call("a"), {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "ok"}]}])),
        warning("RESP-9", [3])
            .broken(json!([hello(), call("a"), {"type": "function_call_output", "output": "ok"}, hello()]))
            .valid(json!([hello(), call("a"), {"type": "function_call_output", "call_id": "a", "output": "ok"}, hello()])),
    ]
}

fn reasoning() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"})
}

/// Reasoning without an id.
fn encrypted() -> Value {
    json!({"type": "reasoning", "summary": [], "encrypted_content": "AAAA"})
}

/// Reasoning that is not encrypted.
fn plain(content: &Value) -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [], "content": content})
}

/// A request to a model that is not OpenAI's, with two reasoning items in one response.
fn of_other_model(second: &str) -> Value {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    json!({
        "model": "grok-4.3",
        "store": false,
        "input": [hello(), reasoning(), search, named(reasoning(), second), says(), hello()],
    })
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "ok"})
}

/// A search for tools that the client does.
fn search() -> Value {
    let arguments = json!({"queries": ["潮汐"]});
    json!({"type": "tool_search_call", "call_id": "s", "execution": "client", "arguments": arguments})
}

fn shell() -> Value {
    let action = json!({"type": "exec", "command": ["ls"]});
    json!({"type": "local_shell_call", "id": "lsh_1", "call_id": "c", "action": action})
}

fn shell_output() -> Value {
    json!({"type": "local_shell_call_output", "id": "lsh_1", "output": "src"})
}

fn named_output() -> Value {
    json!({"type": "local_shell_call_output", "id": "lsh_1", "call_id": "c", "output": "src"})
}

fn asks() -> Value {
    json!({"type": "mcp_approval_request", "id": "mcpr_1", "name": "pay", "arguments": "{}", "server_label": "bank"})
}

fn allows() -> Value {
    json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true})
}

fn says() -> Value {
    let text = json!({"type": "output_text", "text": "Done."});
    json!({"type": "message", "role": "assistant", "id": "msg_1", "content": [text]})
}

fn unnamed() -> Value {
    named(says(), "")
}

/// An answer that is a text alone, without an id.
fn hm() -> Value {
    json!({"type": "message", "role": "assistant", "content": "Hm."})
}

fn named(mut item: Value, id: &str) -> Value {
    item["id"] = json!(id);
    item
}

/// RESP-8: OpenAI's Agents SDK gives every item of other APIs the same id, and takes it off again.
#[test]
fn made_up_id_may_repeat() {
    let items = |id: &str| {
        let text = json!({"type": "output_text", "text": "It is in date.rs.", "annotations": []});
        json!([
            hello(),
            {"type": "reasoning", "id": id, "summary": []},
            {"type": "function_call", "id": id, "call_id": "a", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "id": id, "call_id": "a", "output": "ok"},
            {"type": "message", "id": id, "role": "assistant", "status": "completed", "content": [text]},
            hello(),
        ])
    };
    for id in ["__fake_id__", "__fake_id__63456181"] {
        let document = items(id);
        assert_eq!(broken(OpenAiResponses, &document), [], "{id}");
        let conversation = Conversation::of(&document.to_string(), Some(OpenAiResponses));
        let conversation = conversation.expect("reads");
        let messages = conversation.all_messages().iter();
        let sealed: Vec<bool> = messages.map(|own| own.opaque).collect();
        assert_eq!(sealed, [false, true, false, false, false, false], "{id}");
    }
    assert_eq!(
        broken(OpenAiResponses, &items("msg_1")),
        [("RESP-8", 3), ("RESP-8", 4), ("RESP-8", 5)]
    );
}
