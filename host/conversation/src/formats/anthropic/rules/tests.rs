//! The rules of Anthropic Messages, each with a conversation that breaks it alone and one that keeps it.

use serde_json::{Value, json};

use crate::formats::rules::tests::{Case, broken, error, hello, warning};
use crate::model::format::Format::Anthropic;

/// The cases of all rules that Anthropic Messages checks.
pub(crate) fn cases() -> Vec<Case> {
    [
        order(),
        calls_and_results(),
        thinking_blocks(),
        empty_texts(),
        server_tools(),
        compactions(),
        cache_marks_and_sizes(),
        block_members(),
    ]
    .concat()
}

fn order() -> Vec<Case> {
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
        warning("ANTH-1", [1])
            .broken(json!([says("Hi."), hello()]))
            .valid(json!([{"role": "assistant", "content": [{"type": "compaction", "content": "We fixed it."}]}, hello()])),
        error("ANTH-1", [3])
            .broken(json!([hello(), says("Hi."), rule(), hello()]))
            // Newer models take instructions between a user's and an assistant's message, several at
            // once, and at the end; and options of the answer anywhere.
            .valid(json!([hello(), rule(), rule(), says("Oui."), directive(), hello(), rule()])),
        error("ANTH-1", [2, 3])
            .broken(json!([hello(), rule(), rule(), hello()]))
            .valid(json!([hello(), {"role": "assistant", "content": [search(), found()]}, rule(), says("Oui."), hello()])),
    ]
}

fn calls_and_results() -> Vec<Case> {
    vec![
        error("ANTH-3", [2])
            .broken(json!([
                hello(),
                uses(&["a", "b"]),
                results(&["a"]),
                says("Hm."),
                hello()
            ]))
            .valid(json!([hello(), uses(&["a", "b"])])),
        error("ANTH-3", [3])
            .broken(
                json!([hello(), uses(&["a"]), {"role": "user", "content": [text(), result("a")]}]),
            )
            .valid(
                json!([hello(), uses(&["a"]), {"role": "user", "content": [result("a"), text()]}]),
            ),
        error("ANTH-3", [4])
            .broken(json!([hello(), uses(&["a"]), hello(), results(&["a"])]))
            // Neighbours of one role are one message to the API (ANTH-2).
            .valid(json!([
                hello(),
                uses(&["a"]),
                uses(&["b"]),
                results(&["a"]),
                results(&["b"]),
                hello()
            ])),
        error("ANTH-4", [3])
            .broken(json!([hello(), says("Hm."), results(&["a"])]))
            .valid(json!([hello(), uses(&["a"]), results(&["a"])])),
        warning("ANTH-4", [3])
            .broken(json!([
                hello(),
                uses(&["a"]),
                user_with(json!({"type": "tool_result", "content": "ok"}))
            ]))
            .valid(json!([
                hello(),
                uses(&["a"]),
                user_with(json!({"type": "tool_result", "tool_use_id": "a", "content": "ok"}))
            ])),
    ]
}

fn thinking_blocks() -> Vec<Case> {
    vec![
        warning("ANTH-5", [2])
            .broken(thinks(&[&use_a()]))
            .valid(thinks(&[&thinking(), &use_a()])),
        warning("ANTH-5", [2])
            .broken(ends_empty(thinks(&[&use_a()])))
            .valid(ends_empty(thinks(&[&thinking(), &use_a()]))),
        warning("ANTH-5", [2])
            .broken(of_other_model(&uses(&["a"])))
            .valid(of_other_model(&thinking_before_use())),
    ]
}

fn empty_texts() -> Vec<Case> {
    vec![
        error("ANTH-6", [1])
            .broken(json!([{"role": "user", "content": [{"type": "text", "text": " \n"}]}]))
            .valid(json!([{"role": "user", "content": [{"type": "text", "text": "a"}]}])),
        error("ANTH-6", [1])
            .broken(json!([{"role": "user", "content": ""}]))
            .valid(json!([hello()])),
        error("ANTH-6", [2])
            .broken(json!([hello(), says("It is ")]))
            .valid(json!([hello(), says("It is "), hello()])),
        error("ANTH-6", [0])
            .broken(json!({"system": [{"type": "text", "text": ""}], "messages": [hello()]}))
            .valid(json!({"system": "", "messages": [hello()]})),
        error("ANTH-6", [2])
            .broken(json!([hello(), says(""), hello()]))
            // "all messages must have non-empty content except for the optional final assistant
            // message"
            .valid(json!([hello(), says("")])),
        error("ANTH-6", [2])
            .broken(json!([hello(), {"role": "assistant", "content": [cited(""), text()]}, hello()]))
            .valid(json!([hello(), {"role": "assistant", "content": [cited("Fixed."), text()]}, hello()])),
        error("ANTH-6", [2])
            .broken(json!([hello(), {"role": "assistant", "content": [space(), space()]}, hello()]))
            .valid(json!([hello(), {"role": "assistant", "content": [text(), text()]}, hello()])),
        // The API writes white space between cited texts and before calls.
        warning("ANTH-6", [2])
            .broken(json!([
                hello(),
                {"role": "assistant", "content": [search(), found(), cited("1900 had none."), space(), cited("2000 had one.")]},
                hello()
            ]))
            .valid(json!([
                hello(),
                {"role": "assistant", "content": [search(), found(), cited("1900 had none."), text(), cited("2000 had one.")]},
                hello()
            ])),
        warning("ANTH-6", [2])
            .broken(json!([hello(), {"role": "assistant", "content": [space(), use_a()]}, results(&["a"])]))
            .valid(json!([hello(), {"role": "assistant", "content": [text(), use_a()]}, results(&["a"])])),
    ]
}

fn server_tools() -> Vec<Case> {
    vec![
        warning("ANTH-7", [2])
            .broken(json!([hello(), {"role": "assistant", "content": [search()]}, hello()]))
            .valid(
                json!([hello(), {"role": "assistant", "content": [search(), found()]}, hello()]),
            ),
        error("ANTH-7", [2])
            .broken(json!([hello(), {"role": "assistant", "content": [found()]}]))
            // The provider paused its response.
            .valid(json!([hello(), {"role": "assistant", "content": [search()]}])),
    ]
}

fn compactions() -> Vec<Case> {
    vec![
        error("ANTH-8", [3])
            .broken(json!([
                summary(&signed()),
                hello(),
                summary(&signed()),
                hello()
            ]))
            .valid(json!([
                summary(&signed()),
                hello(),
                summary(&unsigned()),
                hello(),
                {"role": "assistant", "content": [unsigned(), text()]}
            ])),
        error("ANTH-8", [2])
            .broken(json!([hello(), {"role": "assistant", "content": [text(), signed()]}, hello()]))
            .valid(
                json!([hello(), {"role": "assistant", "content": [text(), unsigned()]}, hello()]),
            ),
        error("ANTH-8", [2])
            .broken(json!([
                hello(),
                summary(&json!({"type": "compaction", "content": ""})),
                hello()
            ]))
            // It failed, and the API passes it over.
            .valid(json!([
                hello(),
                summary(&json!({"type": "compaction", "content": null})),
                hello()
            ])),
    ]
}

fn cache_marks_and_sizes() -> Vec<Case> {
    vec![
        error("ANTH-9", [0])
            .broken(json!([marked(5)]))
            .valid(json!([marked(4)])),
        error("ANTH-9", [0])
            .broken(json!([{"role": "user", "content": "Fix it."}, uses(&["a"]), nested(5)]))
            .valid(json!([{"role": "user", "content": "Fix it."}, uses(&["a"]), nested(4)])),
        error("ANTH-9", [0])
            .broken(json!({"cache_control": {"type": "ephemeral"}, "messages": [marked(4)]}))
            .valid(json!({"cache_control": {"type": "ephemeral"}, "messages": [marked(3)]})),
        error("ANTH-10", [1])
            .broken(picture(8_001))
            .valid(picture(8_000)),
    ]
}

fn block_members() -> Vec<Case> {
    vec![
        error("ANTH-11", [2])
            .broken(json!([hello(), {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read"}]}]))
            .valid(json!([hello(), uses(&["a"])])),
        error("ANTH-11", [2])
            .broken(json!([hello(), {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": "{\"path\":\"a\"}"}]}]))
            .valid(json!([hello(), uses(&["a"])])),
        error("ANTH-11", [3])
            .broken(json!([hello(), uses(&["a"]), failed_result(&json!(""))]))
            .valid(json!([hello(), uses(&["a"]), failed_result(&json!("no such file"))])),
        error("ANTH-11", [3])
            .broken(json!([hello(), uses(&["a"]), failed_result(&json!([text(), seen()]))]))
            .valid(json!([hello(), uses(&["a"]), failed_result(&json!([text()]))])),
        error("ANTH-11", [2])
            .broken(json!([hello(), {"role": "assistant", "content": [thinking()]}]))
            .valid(json!([hello(), {"role": "assistant", "content": [thinking()]}, hello()])),
        warning("ANTH-11", [2])
            .broken(json!([hello(), {"role": "user", "content": [thinking()]}]))
            .valid(json!([hello(), {"role": "assistant", "content": [thinking(), text()]}])),
        warning("ANTH-11", [2])
            .broken(json!([hello(), {"role": "user", "content": [use_a()]}]))
            .valid(json!([hello(), uses(&["a"])])),
        error("ANTH-11", [2])
            .broken(json!([hello(), {"role": "assistant", "content": [marked_thinking(), text()]}]))
            .valid(json!([hello(), {"role": "assistant", "content": [thinking(), marked_text()]}])),
        error("ANTH-11", [3])
            .broken(json!([hello(), uses(&["a"]), failed_result(&json!({}))]))
            .valid(json!([hello(), uses(&["a"]), failed_result(&json!("{}"))])),
        warning("ANTH-11", [3])
            .broken(json!([
                hello(),
                uses(&["a"]),
                user_with(json!({"type": "tool_result", "tool_use_id": "a", "content": ["ok"]}))
            ]))
            .valid(json!([
                hello(),
                uses(&["a"]),
                user_with(
                    json!({"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "ok"}]})
                )
            ])),
    ]
}

/// An answer of the model with calls of these ids.
fn uses(ids: &[&str]) -> Value {
    let call = |id: &&str| json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
    json!({"role": "assistant", "content": ids.iter().map(call).collect::<Vec<_>>()})
}

fn use_a() -> Value {
    json!({"type": "tool_use", "id": "a", "name": "read", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}

fn results(ids: &[&str]) -> Value {
    json!({"role": "user", "content": ids.iter().map(|id| result(id)).collect::<Vec<_>>()})
}

fn failed_result(content: &Value) -> Value {
    user_with(
        json!({"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": content}),
    )
}

/// A message of the user with one block.
fn user_with(block: Value) -> Value {
    json!({"role": "user", "content": [block]})
}

fn says(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn text() -> Value {
    json!({"type": "text", "text": "go on"})
}

fn space() -> Value {
    json!({"type": "text", "text": "\n "})
}

fn cited(said: &str) -> Value {
    let citation = json!({"type": "char_location", "cited_text": "a", "document_index": 0,
        "start_char_index": 0, "end_char_index": 1});
    json!({"type": "text", "text": said, "citations": [citation]})
}

/// A call of a tool that the provider runs.
fn search() -> Value {
    json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})
}

fn found() -> Value {
    json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []})
}

fn thinking() -> Value {
    json!({"type": "thinking", "thinking": "Leap years.", "signature": "c2ln"})
}

fn marked_thinking() -> Value {
    let mut thinking = thinking();
    thinking["cache_control"] = json!({"type": "ephemeral"});
    thinking
}

/// A request with thinking on, whose only answer has these blocks.
fn thinks(blocks: &[&Value]) -> Value {
    json!({
        "model": "claude-sonnet-4-5",
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": [hello(), {"role": "assistant", "content": blocks}, results(&["a"])],
    })
}

/// The request with an empty answer at its end.
fn ends_empty(mut body: Value) -> Value {
    if let Some(messages) = body["messages"].as_array_mut() {
        messages.push(json!({"role": "assistant", "content": ""}));
    }
    body
}

/// A request with thinking on to a model that is not Anthropic's.
fn of_other_model(first: &Value) -> Value {
    json!({
        "model": "qwen3",
        "max_tokens": 1,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": [hello(), first, results(&["a"])],
    })
}

fn thinking_before_use() -> Value {
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"});
    json!({"role": "assistant", "content": [thinking, use_a()]})
}

fn rule() -> Value {
    json!({"role": "system", "content": "From now on in French."})
}

/// Sets an option of the answer, and says nothing.
fn directive() -> Value {
    json!({"role": "system", "content": [], "output_config": {"effort": "low"}})
}

fn marked_text() -> Value {
    json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}})
}

/// A message of texts with marks for the cache.
fn marked(count: usize) -> Value {
    json!({"role": "user", "content": vec![marked_text(); count]})
}

/// A tool result of texts with marks for the cache.
fn nested(count: usize) -> Value {
    user_with(
        json!({"type": "tool_result", "tool_use_id": "a", "content": vec![marked_text(); count]}),
    )
}

fn seen() -> Value {
    json!({"type": "image", "source": {"type": "url", "url": "https://example.org/plan.png"}})
}

/// A message with a PNG of this width. Its header is all that is read.
fn picture(width: u32) -> Value {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend(width.to_be_bytes());
    png.extend(10u32.to_be_bytes());
    png.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    let source = json!({"type": "base64", "media_type": "image/png", "data": base64(&png)});
    json!([user_with(json!({"type": "image", "source": source}))])
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// A compaction by threshold.
fn unsigned() -> Value {
    json!({"type": "compaction", "content": "We fixed it."})
}

/// A compaction on demand.
fn signed() -> Value {
    json!({"type": "compaction", "content": "We fixed it.", "signature": "c2ln"})
}

fn summary(block: &Value) -> Value {
    json!({"role": "assistant", "content": [block]})
}

/// What the provider holds of a thread is not in the request: instructions may come first there (ANTH-1).
#[test]
fn instructions_may_begin_a_request_only_where_it_continues_a_thread() {
    let (hello, oui, rule) = (
        json!({"role": "user", "content": "Fix the leap year bug."}),
        json!({"role": "assistant", "content": "Oui."}),
        json!({"role": "system", "content": "Antworte kurz."}),
    );
    for (thread, messages, expected) in [
        ("continue", json!([rule, oui]), vec![]),
        ("continue", json!([hello, oui, rule, hello]), vec![3]),
        ("new", json!([rule, oui]), vec![1]),
    ] {
        let request = json!({"model": "m", "max_tokens": 9, "thread": {"type": thread}, "messages": messages});
        let reader = crate::Reader::new(crate::SecretKey::random().expect("a key"))
            .with_format(Some(Anthropic));
        let conversation = reader.read(request.to_string()).expect("is read");
        let found: Vec<usize> = conversation
            .violations()
            .iter()
            .filter(|own| {
                own.rule.id() == "ANTH-1" && own.severity == crate::model::rule::Severity::Error
            })
            .map(|own| own.message)
            .collect();
        assert_eq!(found, expected, "{request}");
    }
}

/// What sets options of the answer may stand anywhere else (ANTH-1).
#[test]
fn directive_between_call_and_result_breaks_both() {
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
