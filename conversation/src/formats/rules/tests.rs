//! Each rule of each format by a conversation that breaks it and nothing else, and one that is
//! just not broken. A test makes sure that no check goes without.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::{RuleCounts, ViolationCounts};
use crate::conversation::Conversation;
use crate::listed::MOST_LISTED;
use crate::model::format::Format::{self, Anthropic, Gemini, OpenAiChat, OpenAiResponses};
use crate::model::rule::{Rule, Severity};

/// A format, the id of a rule, messages that break it with the numbers of those that do, and
/// messages that do not.
pub(crate) type Case = (Format, &'static str, Value, Vec<usize>, Value);

/// Ids of broken rules with the messages' numbers.
fn broken(format: Format, document: &Value) -> Vec<(&'static str, usize)> {
    Conversation::of(&document.to_string(), Some(format))
        .unwrap_or_else(|error| panic!("{document}: {error}"))
        .violations()
        .iter()
        .map(|found| (found.rule.id(), found.message))
        .collect()
}

fn hello() -> Value {
    json!({"role": "user", "content": "Fix the leap year bug."})
}

fn chat() -> Vec<Case> {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}});
    let calls = |ids: &[&str]| json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(|id| call(id)).collect::<Vec<_>>()});
    let answer = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "ok"});
    let old_call = json!({"role": "assistant", "content": null, "function_call": {"name": "read", "arguments": "{}"}});
    let old_answer = json!({"role": "function", "name": "read", "content": "ok"});
    let system = json!({"role": "system", "content": "Be brief."});
    let object = json!({"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "read", "arguments": {}}}]});
    vec![
        (
            OpenAiChat,
            "ALL-1",
            json!([system]),
            vec![0],
            json!([system, hello()]),
        ),
        (OpenAiChat, "ALL-1", json!([]), vec![0], json!([hello()])),
        (
            OpenAiChat,
            "ALL-4",
            json!([hello(), calls(&["a", "a"]), answer("a"), answer("a")]),
            vec![2],
            json!([
                hello(),
                calls(&["a"]),
                answer("a"),
                calls(&["a"]),
                answer("a")
            ]),
        ),
        (
            OpenAiChat,
            "ALL-4",
            json!([hello(), calls(&["a"]), answer("a"), answer("a")]),
            vec![4],
            json!([hello(), calls(&["a", "b"]), answer("b"), answer("a")]),
        ),
        (
            OpenAiChat,
            "ALL-6",
            json!([{"role": "user", "content": [{"type": "text", "text": ""}]}]),
            vec![1],
            json!([{"role": "user", "content": ""}]),
        ),
        (
            OpenAiChat,
            "ALL-6",
            json!([{"role": "user", "content": []}]),
            vec![1],
            json!([hello()]),
        ),
        (
            OpenAiChat,
            "ALL-8",
            json!([{"role": "user", "content": vec![picture_url(); 1_501]}]),
            vec![0],
            json!([{"role": "user", "content": vec![picture_url(); 1_500]}]),
        ),
        (
            OpenAiChat,
            "CHAT-1",
            json!([hello(), answer("a")]),
            vec![2],
            json!([hello(), calls(&["a"]), answer("a")]),
        ),
        (
            OpenAiChat,
            "CHAT-1",
            json!([hello(), calls(&["a"]), answer("a"), {"role": "tool", "content": "ok"}]),
            vec![4],
            json!([hello(), calls(&["a"]), answer("a"), hello()]),
        ),
        (
            OpenAiChat,
            "CHAT-2",
            json!([hello(), calls(&["a", "b"]), answer("a"), hello()]),
            vec![2],
            // Pending at the end.
            json!([hello(), calls(&["a", "b"]), answer("a")]),
        ),
        (
            OpenAiChat,
            "CHAT-3",
            json!([hello(), {"role": "assistant", "content": null}]),
            vec![2],
            json!([hello(), {"role": "assistant", "content": null, "refusal": "No."}]),
        ),
        (
            OpenAiChat,
            "CHAT-3",
            json!([hello(), {"role": "assistant", "content": "Done.", "tool_calls": []}]),
            vec![2],
            json!([hello(), {"role": "assistant", "content": ""}]),
        ),
        (
            OpenAiChat,
            "CHAT-3",
            json!([{"role": "user"}]),
            vec![1],
            json!([hello()]),
        ),
        (
            OpenAiChat,
            "CHAT-4",
            json!([hello(), object, answer("a")]),
            vec![2],
            json!([hello(), calls(&["a"]), answer("a")]),
        ),
        (
            OpenAiChat,
            "CHAT-3",
            json!([hello(), calls(&["a"]), {"role": "tool", "tool_call_id": "a", "content": null}]),
            vec![3],
            json!([hello(), calls(&["a"]), {"role": "tool", "tool_call_id": "a", "content": ""}]),
        ),
        (
            OpenAiChat,
            "CHAT-3",
            json!([hello(), calls(&["a"]), {"role": "tool", "tool_call_id": "a", "content": []}]),
            vec![3],
            // The older role takes null.
            json!([hello(), old_call, {"role": "function", "name": "read", "content": null}]),
        ),
        (
            OpenAiChat,
            "CHAT-3",
            json!([hello(), {"role": "assistant", "reasoning_content": "Leap years."}]),
            vec![2],
            json!([hello(), {"role": "assistant", "reasoning_content": "Leap years.", "content": "Done."}]),
        ),
        (
            OpenAiChat,
            "CHAT-4",
            json!([hello(), {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "read", "arguments": "{}"}}]}]),
            vec![2],
            json!([hello(), {"role": "assistant", "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "read", "input": ""}}]}]),
        ),
        (
            OpenAiChat,
            "CHAT-4",
            json!([hello(), {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "read"}}]}]),
            vec![2],
            json!([hello(), calls(&["a"])]),
        ),
        (
            OpenAiChat,
            "CHAT-4",
            json!([hello(), {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"arguments": "{}"}}]}]),
            vec![2],
            json!([hello(), calls(&["a"])]),
        ),
        (
            OpenAiChat,
            "CHAT-5",
            json!([hello(), old_call, hello()]),
            vec![2],
            json!([hello(), old_call, old_answer, hello()]),
        ),
        (
            OpenAiChat,
            "CHAT-5",
            json!([hello(), old_answer]),
            vec![2],
            json!([hello(), old_call]),
        ),
        (
            OpenAiChat,
            "CHAT-3",
            json!([hello(), calls(&["a"]), {"role": "tool", "tool_call_id": "a", "content": {"exit": 0}}]),
            vec![3],
            json!([hello(), calls(&["a"]), {"role": "tool", "tool_call_id": "a", "content": "{\"exit\":0}"}]),
        ),
        (
            OpenAiChat,
            "CHAT-3",
            json!([hello(), old_call, {"role": "function", "name": "read", "content": true}]),
            vec![3],
            json!([hello(), old_call, {"role": "function", "name": "read", "content": "true"}]),
        ),
    ]
}

fn picture_url() -> Value {
    json!({"type": "image_url", "image_url": {"url": "https://example.org/plan.png"}})
}

fn responses() -> Vec<Case> {
    let reasoning =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"});
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "ok"});
    let asks = json!({"type": "mcp_approval_request", "id": "mcpr_1", "name": "pay", "arguments": "{}", "server_label": "bank"});
    let allows =
        json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true});
    let says = json!({"type": "message", "role": "assistant", "id": "msg_1", "content": [{"type": "output_text", "text": "Done."}]});
    let unnamed = json!({"type": "message", "role": "assistant", "id": "", "content": [{"type": "output_text", "text": "Done."}]});
    let shell = json!({"type": "local_shell_call", "id": "lsh_1", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}});
    let shell_output = json!({"type": "local_shell_call_output", "id": "lsh_1", "output": "src"});
    let named_output =
        json!({"type": "local_shell_call_output", "id": "lsh_1", "call_id": "c", "output": "src"});
    let named = |mut item: Value, id: &str| {
        item["id"] = json!(id);
        item
    };
    vec![
        (
            OpenAiResponses,
            "ALL-1",
            json!([{"role": "developer", "content": "Be brief."}]),
            vec![0],
            json!([{"role": "developer", "content": "Be brief."}, hello()]),
        ),
        (
            OpenAiResponses,
            "ALL-4",
            json!([hello(), call("a"), call("a"), output("a"), output("a")]),
            vec![3],
            json!([hello(), call("a"), output("a"), call("a"), output("a")]),
        ),
        // A reference may be the output of a call before it, and of none behind it.
        (
            OpenAiResponses,
            "ALL-4",
            json!([hello(), {"type": "item_reference", "id": "fc_1"}, call("a"), call("a"), output("a"), output("a")]),
            vec![4],
            json!([hello(), call("a"), {"type": "item_reference", "id": "fco_1"}, call("a"), output("a")]),
        ),
        (
            OpenAiResponses,
            "ALL-4",
            json!([hello(), call("a"), output("a"), output("a"), {"type": "item_reference", "id": "fc_1"}]),
            vec![4],
            json!([hello(), call("a"), output("a"), {"type": "item_reference", "id": "fc_1"}, output("a")]),
        ),
        (
            OpenAiResponses,
            "ALL-6",
            json!([{"role": "user", "content": [{"type": "input_text", "text": ""}]}]),
            vec![1],
            json!([{"role": "user", "content": [{"type": "input_text", "text": "a"}]}]),
        ),
        (
            OpenAiResponses,
            "ALL-8",
            json!([{"role": "user", "content": vec![json!({"type": "input_image", "image_url": "https://example.org/plan.png"}); 1_501]}]),
            vec![0],
            json!([{"role": "user", "content": vec![json!({"type": "input_image", "image_url": "https://example.org/plan.png"}); 1_500]}]),
        ),
        (
            OpenAiResponses,
            "RESP-1",
            json!([hello(), output("a")]),
            vec![2],
            // A reference may stand for the call.
            json!([hello(), {"type": "item_reference", "id": "fc_1"}, output("a")]),
        ),
        (
            OpenAiResponses,
            "RESP-1",
            json!([hello(), allows]),
            vec![2],
            json!([hello(), asks, allows]),
        ),
        (
            OpenAiResponses,
            "RESP-2",
            json!([hello(), call("a"), call("b"), output("b"), hello()]),
            vec![2],
            json!([hello(), call("a"), call("b"), output("b")]),
        ),
        (
            OpenAiResponses,
            "RESP-2",
            json!([hello(), shell, hello()]),
            vec![2],
            json!([hello(), shell, shell_output, hello()]),
        ),
        (
            OpenAiResponses,
            "RESP-2",
            json!([hello(), {"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "x"}, hello()]),
            vec![2],
            json!([hello(), {"type": "function_call", "call_id": "a", "name": "wait", "arguments": "{}", "async": true}, hello()]),
        ),
        (
            OpenAiResponses,
            "RESP-3",
            json!([hello(), reasoning, hello()]),
            vec![2],
            json!([hello(), reasoning, says, hello()]),
        ),
        (
            OpenAiResponses,
            "RESP-5",
            json!([hello(), {"type": "reasoning", "encrypted_content": "gAAA"}, says]),
            vec![2],
            json!([hello(), {"type": "reasoning", "summary": []}, says]),
        ),
        (
            OpenAiResponses,
            "RESP-5",
            json!({"store": false, "input": [hello(), {"type": "reasoning", "id": "rs_1", "summary": []}, says]}),
            vec![2],
            json!({"store": false, "input": [hello(), reasoning, says]}),
        ),
        (
            OpenAiResponses,
            "RESP-8",
            json!([hello(), says, hello(), says]),
            vec![4],
            // An empty id is none.
            json!([hello(), unnamed, hello(), unnamed]),
        ),
        (
            OpenAiResponses,
            "RESP-8",
            json!([
                hello(),
                named(call("c"), "lsh_1"),
                named(output("c"), "lsh_1")
            ]),
            vec![3],
            // The output of a local shell call names the item of its call.
            json!([hello(), shell, named_output, hello()]),
        ),
        (
            OpenAiResponses,
            "RESP-1",
            json!([hello(), call("a"), {"type": "custom_tool_call_output", "call_id": "a", "output": "ok"}]),
            vec![3],
            json!([hello(), {"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "x"}, {"type": "custom_tool_call_output", "call_id": "a", "output": "ok"}]),
        ),
        (
            OpenAiResponses,
            "RESP-9",
            json!([hello(), {"type": "function_call", "call_id": "a", "name": "read", "arguments": {"path": "a"}}]),
            vec![2],
            json!([hello(), call("a")]),
        ),
        (
            OpenAiResponses,
            "RESP-9",
            json!([hello(), {"type": "function_call", "call_id": "a", "arguments": "{}"}]),
            vec![2],
            json!([hello(), call("a")]),
        ),
        (
            OpenAiResponses,
            "RESP-9",
            json!([hello(), call("a"), {"type": "function_call_output", "call_id": "a", "output": null}]),
            vec![3],
            json!([hello(), call("a"), {"type": "function_call_output", "call_id": "a", "output": ""}]),
        ),
        (
            OpenAiResponses,
            "RESP-1",
            json!([hello(), shell, {"type": "custom_tool_call_output", "call_id": "c", "output": "src"}]),
            vec![3],
            // Codex answers its own shell so.
            json!([hello(), shell, output("c")]),
        ),
        (
            OpenAiResponses,
            "RESP-2",
            json!([hello(), {"type": "item_reference", "id": "fco_1"}, call("a"), hello()]),
            vec![3],
            // A reference may stand for the output.
            json!([hello(), call("a"), {"type": "item_reference", "id": "fco_1"}, hello()]),
        ),
    ]
}

fn anthropic() -> Vec<Case> {
    let uses = |ids: &[&str]| json!({"role": "assistant", "content": ids.iter().map(|id| json!({"type": "tool_use", "id": id, "name": "read", "input": {}})).collect::<Vec<_>>()});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
    let results = |ids: &[&str]| json!({"role": "user", "content": ids.iter().map(|id| result(id)).collect::<Vec<_>>()});
    let text = json!({"type": "text", "text": "go on"});
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []});
    let thinking = json!({"type": "thinking", "thinking": "Leap years.", "signature": "c2ln"});
    let thinks = |blocks: &[&Value]| json!({"model": "claude-sonnet-4-5", "thinking": {"type": "enabled", "budget_tokens": 1024}, "messages": [hello(), {"role": "assistant", "content": blocks}, results(&["a"])]});
    let ends_empty = |mut body: Value| {
        if let Some(messages) = body["messages"].as_array_mut() {
            messages.push(json!({"role": "assistant", "content": ""}));
        }
        body
    };
    let use_a = json!({"type": "tool_use", "id": "a", "name": "read", "input": {}});
    let marked = |count: usize| json!({"role": "user", "content": vec![json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}); count]});
    let picture = |width: u32| {
        // The header of a PNG, which is all that is read of it.
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend(width.to_be_bytes());
        png.extend(10u32.to_be_bytes());
        png.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
        json!([{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64(&png)}}]}])
    };
    let says = |text: &str| json!({"role": "assistant", "content": text});
    let rule = json!({"role": "system", "content": "From now on in French."});
    let directive = json!({"role": "system", "content": [], "output_config": {"effort": "low"}});
    let use_of_a = uses(&["a"]);
    let error = |content: &Value| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": content}]});
    let marked_text = json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}});
    let nested = |count: usize| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": vec![marked_text.clone(); count]}]});
    let seen =
        json!({"type": "image", "source": {"type": "url", "url": "https://example.org/plan.png"}});
    let unsigned = json!({"type": "compaction", "content": "We fixed it."});
    let signed = json!({"type": "compaction", "content": "We fixed it.", "signature": "c2ln"});
    let summary = |block: &Value| json!({"role": "assistant", "content": [block]});
    let cited = |said: &str| json!({"type": "text", "text": said, "citations": [{"type": "char_location", "cited_text": "a", "document_index": 0, "start_char_index": 0, "end_char_index": 1}]});
    let mut marked_thinking = thinking.clone();
    marked_thinking["cache_control"] = json!({"type": "ephemeral"});
    vec![
        (Anthropic, "ALL-1", json!([]), vec![0], json!([hello()])),
        (
            Anthropic,
            "ALL-4",
            json!([hello(), uses(&["a", "a"]), results(&["a", "a"])]),
            vec![2],
            json!([
                hello(),
                uses(&["a"]),
                results(&["a"]),
                uses(&["a"]),
                results(&["a"])
            ]),
        ),
        (
            Anthropic,
            "ANTH-1",
            json!([says("Hi."), hello()]),
            vec![1],
            json!([{"role": "assistant", "content": [{"type": "compaction", "content": "We fixed it."}]}, hello()]),
        ),
        (
            Anthropic,
            "ANTH-1",
            json!([hello(), says("Hi."), rule, hello()]),
            vec![3],
            // Newer models take instructions between a user's and an assistant's message, several at
            // once, and at the end; and options of the answer anywhere.
            json!([hello(), rule, rule, says("Oui."), directive, hello(), rule]),
        ),
        (
            Anthropic,
            "ANTH-1",
            json!([hello(), rule, rule, hello()]),
            vec![2, 3],
            json!([hello(), {"role": "assistant", "content": [search, found]}, rule, says("Oui."), hello()]),
        ),
        (
            Anthropic,
            "ANTH-3",
            json!([
                hello(),
                uses(&["a", "b"]),
                results(&["a"]),
                says("Hm."),
                hello()
            ]),
            vec![2],
            json!([hello(), uses(&["a", "b"])]),
        ),
        (
            Anthropic,
            "ANTH-3",
            json!([hello(), uses(&["a"]), {"role": "user", "content": [text, result("a")]}]),
            vec![3],
            json!([hello(), uses(&["a"]), {"role": "user", "content": [result("a"), text]}]),
        ),
        (
            Anthropic,
            "ANTH-3",
            json!([hello(), uses(&["a"]), hello(), results(&["a"])]),
            vec![4],
            // Neighbours of one role are one message to the API (ANTH-2).
            json!([
                hello(),
                uses(&["a"]),
                uses(&["b"]),
                results(&["a"]),
                results(&["b"]),
                hello()
            ]),
        ),
        (
            Anthropic,
            "ANTH-4",
            json!([hello(), says("Hm."), results(&["a"])]),
            vec![3],
            json!([hello(), uses(&["a"]), results(&["a"])]),
        ),
        (
            Anthropic,
            "ANTH-5",
            thinks(&[&use_a]),
            vec![2],
            thinks(&[&thinking, &use_a]),
        ),
        (
            Anthropic,
            "ANTH-5",
            ends_empty(thinks(&[&use_a])),
            vec![2],
            ends_empty(thinks(&[&thinking, &use_a])),
        ),
        (
            Anthropic,
            "ANTH-6",
            json!([{"role": "user", "content": [{"type": "text", "text": " \n"}]}]),
            vec![1],
            json!([{"role": "user", "content": [{"type": "text", "text": "a"}]}]),
        ),
        (
            Anthropic,
            "ANTH-6",
            json!([{"role": "user", "content": ""}]),
            vec![1],
            json!([hello()]),
        ),
        (
            Anthropic,
            "ANTH-6",
            json!([hello(), says("It is ")]),
            vec![2],
            json!([hello(), says("It is "), hello()]),
        ),
        (
            Anthropic,
            "ANTH-7",
            json!([hello(), {"role": "assistant", "content": [search]}, hello()]),
            vec![2],
            json!([hello(), {"role": "assistant", "content": [search, found]}, hello()]),
        ),
        (
            Anthropic,
            "ANTH-7",
            json!([hello(), {"role": "assistant", "content": [found]}]),
            vec![2],
            // The provider paused its response.
            json!([hello(), {"role": "assistant", "content": [search]}]),
        ),
        (
            Anthropic,
            "ANTH-8",
            json!([summary(&signed), hello(), summary(&signed), hello()]),
            vec![3],
            json!([
                summary(&signed),
                hello(),
                summary(&unsigned),
                hello(),
                {"role": "assistant", "content": [unsigned, text]}
            ]),
        ),
        (
            Anthropic,
            "ANTH-8",
            json!([hello(), {"role": "assistant", "content": [text, signed]}, hello()]),
            vec![2],
            json!([hello(), {"role": "assistant", "content": [text, unsigned]}, hello()]),
        ),
        (
            Anthropic,
            "ANTH-8",
            json!([
                hello(),
                summary(&json!({"type": "compaction", "content": ""})),
                hello()
            ]),
            vec![2],
            // It failed, and the API passes it over.
            json!([
                hello(),
                summary(&json!({"type": "compaction", "content": null})),
                hello()
            ]),
        ),
        (
            Anthropic,
            "ANTH-9",
            json!([marked(5)]),
            vec![0],
            json!([marked(4)]),
        ),
        (
            Anthropic,
            "ANTH-9",
            json!([{"role": "user", "content": "Fix it."}, use_of_a, nested(5)]),
            vec![0],
            json!([{"role": "user", "content": "Fix it."}, use_of_a, nested(4)]),
        ),
        (
            Anthropic,
            "ANTH-9",
            json!({"cache_control": {"type": "ephemeral"}, "messages": [marked(4)]}),
            vec![0],
            json!({"cache_control": {"type": "ephemeral"}, "messages": [marked(3)]}),
        ),
        (
            Anthropic,
            "ANTH-6",
            json!({"system": [{"type": "text", "text": ""}], "messages": [hello()]}),
            vec![0],
            json!({"system": "", "messages": [hello()]}),
        ),
        (
            Anthropic,
            "ANTH-6",
            json!([hello(), says(""), hello()]),
            vec![2],
            // "all messages must have non-empty content except for the optional final assistant
            // message"
            json!([hello(), says("")]),
        ),
        (
            Anthropic,
            "ANTH-6",
            json!([hello(), {"role": "assistant", "content": [cited(""), text]}, hello()]),
            vec![2],
            json!([hello(), {"role": "assistant", "content": [cited("Fixed."), text]}, hello()]),
        ),
        (
            Anthropic,
            "ANTH-10",
            picture(8_001),
            vec![1],
            picture(8_000),
        ),
        (
            Anthropic,
            "ANTH-11",
            json!([hello(), {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read"}]}]),
            vec![2],
            json!([hello(), uses(&["a"])]),
        ),
        (
            Anthropic,
            "ANTH-11",
            json!([hello(), {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": "{\"path\":\"a\"}"}]}]),
            vec![2],
            json!([hello(), uses(&["a"])]),
        ),
        (
            Anthropic,
            "ANTH-11",
            json!([hello(), use_of_a, error(&json!(""))]),
            vec![3],
            json!([hello(), use_of_a, error(&json!("no such file"))]),
        ),
        (
            Anthropic,
            "ANTH-11",
            json!([hello(), use_of_a, error(&json!([text, seen]))]),
            vec![3],
            json!([hello(), use_of_a, error(&json!([text]))]),
        ),
        (
            Anthropic,
            "ANTH-11",
            json!([hello(), {"role": "assistant", "content": [thinking]}]),
            vec![2],
            json!([hello(), {"role": "assistant", "content": [thinking]}, hello()]),
        ),
        (
            Anthropic,
            "ANTH-11",
            json!([hello(), {"role": "user", "content": [thinking]}]),
            vec![2],
            json!([hello(), {"role": "assistant", "content": [thinking, text]}]),
        ),
        (
            Anthropic,
            "ANTH-11",
            json!([hello(), {"role": "user", "content": [use_a]}]),
            vec![2],
            json!([hello(), uses(&["a"])]),
        ),
        (
            Anthropic,
            "ANTH-11",
            json!([hello(), {"role": "assistant", "content": [marked_thinking, text]}]),
            vec![2],
            json!([hello(), {"role": "assistant", "content": [thinking, marked_text]}]),
        ),
        (
            Anthropic,
            "ANTH-11",
            json!([hello(), use_of_a, error(&json!({}))]),
            vec![3],
            json!([hello(), use_of_a, error(&json!("{}"))]),
        ),
    ]
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn gemini() -> Vec<Case> {
    let hello = json!({"role": "user", "parts": [{"text": "Fix the leap year bug."}]});
    let call = |id: &str| json!({"functionCall": {"name": "read", "id": id, "args": {}}});
    let answer = |id: &str| json!({"functionResponse": {"name": "read", "id": id, "response": {"output": "ok"}}});
    let calls = |ids: &[&str]| json!({"role": "model", "parts": ids.iter().map(|id| call(id)).collect::<Vec<_>>()});
    let answers = |ids: &[&str]| json!({"role": "user", "parts": ids.iter().map(|id| answer(id)).collect::<Vec<_>>()});
    let nameless =
        json!({"role": "model", "parts": [{"function_call": {"name": "read", "args": {}}}]});
    let nameless_answer =
        json!({"role": "user", "parts": [{"function_response": {"name": "read", "response": {}}}]});
    let models_answer = json!({"role": "model", "parts": [answer("a")]});
    let says = json!({"role": "model", "parts": [{"text": "Done."}]});
    let signed = |id: &str| json!({"role": "model", "parts": [{"functionCall": {"name": "read", "id": id, "args": {}}, "thoughtSignature": "c2ln"}]});
    let picture = json!({"fileData": {"mimeType": "image/png", "fileUri": "gs://a/b.png"}});
    let with = |mut body: Value, second: Value| {
        body["contents"] = json!([hello, signed("a"), answers(&["a"]), second, answers(&["b"])]);
        body
    };
    let named = json!({"model": "models/gemini-3.5-flash"});
    let of_level = json!({"generationConfig": {"thinkingConfig": {"thinkingLevel": "high"}}});
    vec![
        (Gemini, "ALL-1", json!([]), vec![0], json!([hello])),
        (
            Gemini,
            "ALL-4",
            json!([hello, calls(&["a", "a"]), answers(&["a", "a"])]),
            vec![2],
            json!([
                hello,
                calls(&["a"]),
                answers(&["a"]),
                calls(&["a"]),
                answers(&["a"]),
                nameless,
                nameless_answer
            ]),
        ),
        (
            Gemini,
            "ALL-8",
            json!([{"role": "user", "parts": vec![picture.clone(); 3_601]}]),
            vec![0],
            json!([{"role": "user", "parts": vec![picture; 3_600]}]),
        ),
        (
            Gemini,
            "GEM-1",
            json!([says, hello]),
            vec![1],
            json!([hello, says]),
        ),
        (
            Gemini,
            "GEM-1",
            json!([hello, {"role": "system", "parts": [{"text": "s"}]}]),
            vec![2],
            json!([{"parts": [{"text": "no role is the user's"}]}]),
        ),
        (
            Gemini,
            "GEM-1",
            json!([hello, calls(&["a"]), {"role": "function", "parts": [answer("a")]}]),
            vec![3],
            json!([hello, calls(&["a"]), {"role": "user", "parts": [answer("a")]}]),
        ),
        (
            Gemini,
            "GEM-2",
            json!([hello, calls(&["a", "b"]), answers(&["a"]), hello]),
            vec![2],
            json!([hello, calls(&["a", "b"]), answers(&["b", "a"]), hello]),
        ),
        (
            Gemini,
            "GEM-2",
            json!([hello, calls(&["a", "b"]), answers(&["a"]), answers(&["b"])]),
            vec![2, 4],
            json!([hello, calls(&["a", "b"])]),
        ),
        (
            Gemini,
            "GEM-2",
            json!([hello, says, calls(&["a"]), answers(&["a"])]),
            vec![3],
            json!([
                hello,
                calls(&["a"]),
                answers(&["a"]),
                calls(&["b"]),
                answers(&["b"])
            ]),
        ),
        (
            Gemini,
            "GEM-2",
            json!([hello, nameless, {"role": "user", "parts": [{"functionResponse": {"name": "write", "response": {}}}]}]),
            vec![3],
            json!([hello, nameless, nameless_answer]),
        ),
        (
            Gemini,
            "GEM-2",
            // The API looks at their number.
            json!([hello, calls(&["a", "b"]), answers(&["a", "a"]), hello]),
            vec![3],
            json!([hello, calls(&["a", "b"]), answers(&["a", "b"]), hello]),
        ),
        (
            Gemini,
            "GEM-2",
            json!([
                hello,
                calls(&["a"]),
                models_answer,
                calls(&["b"]),
                answers(&["b"])
            ]),
            vec![3],
            json!([hello, calls(&["a"]), answers(&["a"]), says]),
        ),
        (
            Gemini,
            "GEM-3",
            json!([
                hello,
                signed("a"),
                answers(&["a"]),
                calls(&["b"]),
                answers(&["b"])
            ]),
            vec![4],
            // Turns before the current one are not looked at.
            json!([
                hello,
                signed("a"),
                answers(&["a"]),
                hello,
                calls(&["b"]),
                answers(&["b"])
            ]),
        ),
        (
            Gemini,
            "GEM-3",
            with(named.clone(), calls(&["b"])),
            vec![4],
            with(named, signed("b")),
        ),
        (
            Gemini,
            "GEM-3",
            with(of_level.clone(), calls(&["b"])),
            vec![4],
            with(of_level, signed("b")),
        ),
        (
            Gemini,
            "GEM-3",
            // Older models have a budget of thinking.
            with(
                json!({"model": "gemini-2.5-pro", "generation_config": {"thinking_config": {"thinking_budget": -1}}}),
                calls(&["b"]),
            ),
            vec![4],
            with(json!({"model": "gemini-2.5-pro"}), signed("b")),
        ),
        (
            Gemini,
            "GEM-4",
            json!([hello, calls(&["a"]), {"role": "user", "parts": [{"functionResponse": {"name": "read", "id": "a", "response": "ok"}}]}]),
            vec![3],
            json!([hello, calls(&["a"]), answers(&["a"])]),
        ),
        (
            Gemini,
            "GEM-5",
            json!([hello, {"role": "model", "parts": []}]),
            vec![2],
            json!([hello, says]),
        ),
        (
            Gemini,
            "GEM-5",
            json!([hello, {"role": "model", "parts": [{"text": ""}]}]),
            vec![2],
            // What is signed goes back as it came, empty or not.
            json!([hello, {"role": "model", "parts": [{"text": "", "thoughtSignature": "c2ln"}]}]),
        ),
        (
            Gemini,
            "GEM-5",
            json!([hello, {"role": "model", "parts": [{}]}]),
            vec![2],
            json!([hello, {"role": "model", "parts": [{"executableCode": {"code": "1"}}]}]),
        ),
        (
            Gemini,
            "GEM-7",
            json!([hello, {"role": "model", "parts": [{"functionCall": {"args": {}}}]}]),
            vec![2],
            json!([hello, nameless]),
        ),
    ]
}

/// What local servers and gateways take, and their clients send.
fn lenient() -> Vec<Case> {
    let function = json!({"name": "read", "arguments": "{}"});
    let calls = |call: Value| json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let call = calls(json!({"id": "a", "type": "function", "function": function}));
    let nameless = calls(json!({"type": "function", "function": function}));
    let answer = json!({"role": "tool", "tool_call_id": "a", "content": "ok"});
    let item_call =
        json!({"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"});
    let reasoning = json!({"type": "reasoning", "summary": [], "encrypted_content": "AAAA"});
    let says = json!({"type": "message", "role": "assistant", "content": "Hm."});
    let plain = |content: &Value| json!({"type": "reasoning", "id": "rs_1", "summary": [], "content": content});
    let uses = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {}}]});
    let result = |result: Value| json!({"role": "user", "content": [result]});
    let of_other_model = |first: &Value| {
        json!({"model": "qwen3", "max_tokens": 1, "thinking": {"type": "enabled", "budget_tokens": 1024},
            "messages": [hello(), first, result(json!({"type": "tool_result", "tool_use_id": "a", "content": "ok"}))]})
    };
    let mut thinks = uses.clone();
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"});
    if let Some(blocks) = thinks["content"].as_array_mut() {
        blocks.insert(0, thinking);
    }
    vec![
        (
            OpenAiChat,
            "CHAT-1",
            json!([hello(), call, {"role": "tool", "content": "ok"}]),
            vec![3],
            json!([hello(), call, answer]),
        ),
        (
            OpenAiChat,
            "CHAT-4",
            json!([hello(), nameless]),
            vec![2],
            json!([hello(), call]),
        ),
        (
            OpenAiChat,
            "CHAT-1",
            // It stands behind the call, whatever it calls the tool.
            json!([hello(), call, {"role": "tool", "name": "files__read", "content": "ok"}]),
            vec![3],
            json!([hello(), call, {"role": "tool", "tool_call_id": "a", "name": "files__read", "content": "ok"}]),
        ),
        (
            OpenAiResponses,
            "RESP-3",
            json!({"store": false, "input": [hello(), reasoning, hello()]}),
            vec![2],
            json!({"store": false, "input": [hello(), reasoning, says, hello()]}),
        ),
        (
            OpenAiResponses,
            "RESP-5",
            json!({"model": "gpt-oss-20b", "store": false, "input": [hello(), plain(&json!([])), says]}),
            vec![2],
            json!({"model": "gpt-oss-20b", "store": false, "input": [hello(), reasoning, says]}),
        ),
        (
            OpenAiResponses,
            "RESP-5",
            json!({"store": false, "input": [hello(), plain(&json!([{"type": "reasoning_text", "text": "Hm."}])), says]}),
            vec![2],
            json!({"store": false, "input": [hello(), reasoning, says]}),
        ),
        (
            Anthropic,
            "ANTH-4",
            json!([
                hello(),
                uses,
                result(json!({"type": "tool_result", "content": "ok"}))
            ]),
            vec![3],
            json!([
                hello(),
                uses,
                result(json!({"type": "tool_result", "tool_use_id": "a", "content": "ok"}))
            ]),
        ),
        (
            OpenAiChat,
            "CHAT-3",
            json!([hello(), call, {"role": "tool", "tool_call_id": "a", "content": ["ok"]}]),
            vec![3],
            json!([hello(), call, {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "ok"}]}]),
        ),
        (
            OpenAiResponses,
            "RESP-9",
            json!([hello(), item_call, {"type": "function_call_output", "call_id": "a", "output": ["ok"]}]),
            vec![3],
            json!([hello(), item_call, {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "ok"}]}]),
        ),
        (
            OpenAiResponses,
            "RESP-9",
            json!([hello(), item_call, {"type": "function_call_output", "output": "ok"}, hello()]),
            vec![3],
            json!([hello(), item_call, {"type": "function_call_output", "call_id": "a", "output": "ok"}, hello()]),
        ),
        (
            Anthropic,
            "ANTH-11",
            json!([
                hello(),
                uses,
                result(json!({"type": "tool_result", "tool_use_id": "a", "content": ["ok"]}))
            ]),
            vec![3],
            json!([
                hello(),
                uses,
                result(
                    json!({"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "ok"}]})
                )
            ]),
        ),
        (
            Anthropic,
            "ANTH-5",
            of_other_model(&uses),
            vec![2],
            of_other_model(&thinks),
        ),
    ]
}

pub(crate) fn all() -> Vec<Case> {
    [chat(), responses(), anthropic(), gemini(), lenient()].concat()
}

#[test]
fn a_conversation_that_breaks_one_rule_is_told_so_and_nothing_else() {
    for (format, rule, document, messages, _) in all() {
        let expected: Vec<(&str, usize)> =
            messages.into_iter().map(|number| (rule, number)).collect();
        assert_eq!(broken(format, &document), expected, "{format}: {document}");
    }
}

/// Cases that no provider is known to refuse: a format, a rule, which of its cases.
const WARNINGS: &[(Format, &str, usize)] = &[
    (OpenAiChat, "ALL-1", 0),
    (OpenAiChat, "ALL-6", 0),
    (OpenAiChat, "ALL-6", 1),
    (OpenAiChat, "CHAT-1", 2),
    (OpenAiChat, "CHAT-1", 3),
    (OpenAiChat, "CHAT-3", 4),
    (OpenAiChat, "CHAT-3", 8),
    (OpenAiChat, "CHAT-4", 1),
    (OpenAiChat, "CHAT-4", 4),
    (OpenAiChat, "CHAT-5", 0),
    (OpenAiChat, "CHAT-5", 1),
    (OpenAiResponses, "ALL-1", 0),
    (OpenAiResponses, "ALL-6", 0),
    (OpenAiResponses, "RESP-1", 1),
    (OpenAiResponses, "RESP-3", 1),
    (OpenAiResponses, "RESP-5", 2),
    (OpenAiResponses, "RESP-5", 3),
    (OpenAiResponses, "RESP-9", 2),
    (OpenAiResponses, "RESP-9", 3),
    (OpenAiResponses, "RESP-9", 4),
    (Anthropic, "ANTH-1", 0),
    (Anthropic, "ANTH-4", 1),
    (Anthropic, "ANTH-5", 0),
    (Anthropic, "ANTH-5", 1),
    (Anthropic, "ANTH-5", 2),
    (Anthropic, "ANTH-7", 0),
    (Anthropic, "ANTH-11", 5),
    (Anthropic, "ANTH-11", 6),
    (Anthropic, "ANTH-11", 9),
    (Gemini, "ALL-4", 0),
    (Gemini, "GEM-1", 0),
    (Gemini, "GEM-1", 2),
    (Gemini, "GEM-2", 3),
    (Gemini, "GEM-2", 4),
    (Gemini, "GEM-2", 5),
    (Gemini, "GEM-3", 0),
    (Gemini, "GEM-3", 3),
    (Gemini, "GEM-7", 0),
];

/// As the table of evidence in docs/wire-formats.md says.
#[test]
fn violation_is_an_error_where_a_refusal_is_known_and_a_warning_elsewhere() {
    let mut seen: HashMap<(Format, &str), usize> = HashMap::new();
    let mut warnings = HashSet::new();
    for (format, rule, document, ..) in all() {
        let number = seen.entry((format, rule)).or_default();
        let conversation = Conversation::of(&document.to_string(), Some(format)).expect("reads");
        let mut found = conversation.violations().iter();
        if found.all(|found| found.severity == Severity::Warning) {
            warnings.insert((format, rule, *number));
        }
        *number += 1;
    }
    assert_eq!(warnings, WARNINGS.iter().copied().collect());
}

/// CHAT-3: vLLM puts an empty list into answers without calls, and takes it back.
#[test]
fn an_empty_list_of_calls_is_an_error_for_models_of_openais_alone() {
    let says = json!({"role": "assistant", "content": "Done.", "tool_calls": []});
    for (model, expected) in [
        ("", Severity::Error),
        ("gpt-5", Severity::Error),
        ("openai/o4-mini", Severity::Error),
        ("openai/gpt-oss-20b", Severity::Warning),
        ("Qwen/Qwen3-32B", Severity::Warning),
    ] {
        let body = json!({"model": model, "messages": [hello(), says, hello()]});
        let conversation = Conversation::of(&body.to_string(), Some(OpenAiChat)).expect("reads");
        let found = conversation.violations().iter();
        let found: Vec<_> = found.map(|own| (own.rule, own.severity)).collect();
        assert_eq!(found, [(Rule::Chat3, expected)], "{model}");
    }
}

/// CHAT-4: there are APIs that name no type of a function, and none that take another type for it.
#[test]
fn a_call_without_its_type_is_an_error_unless_it_is_of_a_function() {
    let function = json!({"name": "read", "arguments": "{}"});
    let custom = json!({"name": "read", "input": ""});
    for (call, expected) in [
        (json!({"id": "a", "function": function}), Severity::Warning),
        (json!({"id": "a", "custom": custom}), Severity::Error),
        (
            json!({"id": "a", "type": 1, "function": function}),
            Severity::Error,
        ),
        (
            json!({"id": "a", "type": null, "function": function}),
            Severity::Error,
        ),
    ] {
        let messages = json!([hello(), {"role": "assistant", "tool_calls": [call]}]);
        let conversation = Conversation::of(&messages.to_string(), Some(OpenAiChat));
        let conversation = conversation.expect("reads");
        let found = conversation.violations().iter();
        let found: Vec<_> = found.map(|own| (own.rule, own.severity)).collect();
        assert_eq!(found, [(Rule::Chat4, expected)], "{messages}");
    }
}

#[test]
fn a_conversation_that_just_keeps_a_rule_is_valid() {
    for (format, rule, _, _, document) in all() {
        assert_eq!(broken(format, &document), [], "{format} {rule}: {document}");
    }
}

/// RESP-8: OpenAI's Agents SDK gives every item of other APIs the same id, and takes it off again.
#[test]
fn an_id_that_a_program_made_up_is_none() {
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

/// What sets options of the answer may stand anywhere else (ANTH-1).
#[test]
fn nothing_stands_between_a_call_and_its_result() {
    let options = json!({"role": "system", "content": [], "output_config": {"effort": "low"}});
    let hello = json!({"role": "user", "content": "Fix the leap year bug."});
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {}}]});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]});
    assert_eq!(
        broken(Anthropic, &json!([hello, call, options, result])),
        [("ANTH-3", 2), ("ANTH-4", 4)]
    );
    let around = json!([hello, options, call, result, options]);
    assert_eq!(broken(Anthropic, &around), []);
}

#[test]
fn every_check_of_every_format_has_a_case() {
    let cases = all();
    for format in Format::ALL {
        for check in format.wire().checks() {
            assert!(
                cases
                    .iter()
                    .any(|(own, rule, ..)| own == format && *rule == check.rule.id()),
                "{format} {}",
                check.rule
            );
        }
    }
}

#[test]
fn every_rule_has_an_id_of_its_own_and_a_remedy_and_belongs_to_a_format() {
    let ids: std::collections::HashSet<&str> = crate::model::rule::Rule::ALL
        .iter()
        .map(|rule| rule.id())
        .collect();
    assert_eq!(ids.len(), crate::model::rule::Rule::ALL.len());
    for rule in crate::model::rule::Rule::ALL {
        assert!(!rule.remedy().is_empty(), "{rule}");
        assert!(
            Format::ALL.iter().any(|format| format
                .wire()
                .checks()
                .iter()
                .any(|check| check.rule == *rule)),
            "no format checks {rule}"
        );
    }
}

#[test]
fn of_many_violations_the_first_are_listed_and_all_are_counted() {
    const MANY: usize = 100_000;
    let document = format!(r#"{{"contents":[{}{{}}]}}"#, "{},".repeat(MANY - 1));
    let conversation = Conversation::of(&document, None).expect("reads");
    let counts = ViolationCounts {
        total: MANY,
        errors: MANY,
        warnings: 0,
        rules: vec![RuleCounts {
            rule: Rule::Gem5,
            errors: MANY,
            warnings: 0,
        }],
    };
    assert_eq!(conversation.violation_counts(), &counts);
    assert_eq!(counts.fatal(), MANY);
    let listed = conversation.violations().iter().map(|own| own.message);
    assert!(listed.eq(1..=MOST_LISTED));
}

#[test]
fn an_error_is_listed_behind_any_number_of_warnings() {
    let empty = json!({"role": "user", "content": [{"type": "text", "text": ""}]});
    let mut messages = vec![empty; 2 * MOST_LISTED];
    messages.push(json!({"role": "tool", "tool_call_id": "a", "content": "ok"}));
    let document = Value::from(messages).to_string();
    let conversation = Conversation::of(&document, Some(OpenAiChat)).expect("reads");
    assert!(conversation.is_broken());
    let broken: Vec<_> = conversation.broken().map(|own| own.message).collect();
    assert_eq!(broken, [2 * MOST_LISTED + 1]);
    let listed = conversation.violations().iter().map(|own| own.message);
    let expected = (1..MOST_LISTED).chain([2 * MOST_LISTED + 1]);
    assert!(listed.eq(expected));
    let of = |rule, errors, warnings| RuleCounts {
        rule,
        errors,
        warnings,
    };
    let counts = conversation.violation_counts();
    assert_eq!(
        counts.rules,
        [of(Rule::All6, 0, 2 * MOST_LISTED), of(Rule::Chat1, 1, 0)]
    );
}

#[test]
fn what_is_wrong_twice_in_a_message_is_counted_once() {
    let part = |text: &str| json!({"type": "text", "text": text});
    let messages = json!([{"role": "user", "content": [part(""), part("a"), part("")]}]);
    let conversation = Conversation::of(&messages.to_string(), Some(OpenAiChat)).expect("reads");
    assert_eq!(conversation.violation_counts().total, 1);
    assert_eq!(conversation.violations().len(), 1);
}
