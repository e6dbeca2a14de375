use std::sync::{Arc, LazyLock};

use baler_host::{
    Budget, Compaction, Compiler, Conversation, Host, HostBuilder, Request, Strategy,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A host with a state folder of its own, compiling in a child as the program does.
pub(crate) struct TestHost {
    pub(crate) host: Host,
    state: TempDir,
}

impl std::ops::Deref for TestHost {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.host
    }
}

pub(crate) fn builder(state: &TempDir) -> HostBuilder {
    Host::builder()
        .state(state.path())
        // Most tests are not about it.
        .without_archive()
        .compiler(Compiler::Program(env!("CARGO_BIN_EXE_baler").into()))
}

pub(crate) fn host_with(change: impl FnOnce(HostBuilder) -> HostBuilder) -> TestHost {
    let state = tempfile::tempdir().expect("a folder");
    TestHost {
        host: change(builder(&state)).build().expect("a host"),
        state,
    }
}

/// One host for all tests that do not change it, so that each component compiles once.
pub(crate) fn host() -> &'static TestHost {
    static HOST: LazyLock<TestHost> = LazyLock::new(|| host_with(|builder| builder));
    &HOST
}

/// A host in the state folder of `host()`. What one of these compiled, all others with its key run.
pub(crate) fn host_beside(change: impl FnOnce(HostBuilder) -> HostBuilder) -> Host {
    change(builder(&host().state)).build().expect("a host")
}

/// A strategy that ships with baler, as a guest.
pub(crate) async fn bundled(host: &Host, name: &str) -> Strategy {
    let bundled = baler_strategies::by_name(name).expect("it ships with baler");
    let strategy = host.load(name, bundled.wasm).await.expect("loads");
    match baler_strategies::writes_digests(bundled.wasm) {
        true => strategy.writing_digests(),
        false => strategy,
    }
}

pub(crate) fn half() -> Request {
    share(0.5)
}

pub(crate) fn share(share: f64) -> Request {
    Request::default().with_budget(Budget::Share(share))
}

/// Lines as a tool prints them: `tokens` is a rough size.
pub(crate) fn listing(topic: &str, tokens: usize) -> String {
    (0..tokens / 12 + 1)
        .map(|line| format!("{line:>4} | let {topic}_{line} = parse(&input[{line}..])?;\n"))
        .collect()
}

pub(crate) fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
}

/// What a strategy makes of a conversation: by itself, and good in every way.
pub(crate) async fn compacted_by(
    strategy: &Strategy,
    conversation: &Conversation,
    request: &Request,
) -> Compaction {
    let host = host();
    let compaction = host
        .compact(conversation, std::slice::from_ref(strategy), request)
        .await
        .expect("no archive that could fail");
    assert_good(conversation, &compaction, host);
    let receipt = compaction.receipt();
    assert!(!receipt.fell_back, "{:?}", receipt.attempts);
    compaction
}

pub(crate) fn output(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

/// An OpenAI Chat request with all that a plan can get wrong: instructions, parallel calls, a
/// failure, thinking, a picture, signed reasoning, a pending call.
pub(crate) fn chat() -> String {
    let body = json!({
        "model": "gpt-4o",
        "temperature": 1.0,
        "tools": [{"type": "function", "function": {"name": "read", "description": "Reads a file.", "parameters": {"type": "object"}}}],
        "messages": [
            {"role": "system", "content": "You mend programs. Be brief."},
            {"role": "user", "content": "Mend the parser of the tariff tables; never touch vendor/."},
            {"role": "assistant", "content": null, "reasoning_content": "Both files at once.", "tool_calls": [
                call("c1", "read", &json!({"path": "src/parser.rs"})),
                call("c2", "test", &json!({"filter": "tariff"})),
            ]},
            output("c1", &format!("The tariff tables of all harbours on the coast, in the order of their names, 関税表:\n{}", listing("tariff", 700))),
            output("c2", &format!("error: 3 tests failed\n{}", listing("failure", 500))),
            {"role": "assistant", "content": format!("The lexer drops the last column.\n{}", listing("thought", 400))},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]},
            {"role": "assistant", "content": "Looking at the sheet.", "reasoning_content": "The sheet has nine columns.", "reasoning_details": [{"type": "reasoning.encrypted", "data": "bm90aGluZw=="}], "tool_calls": [
                call("c3", "read", &json!({"path": "src/lexer.rs"})),
            ]},
            output("c3", &listing("lexer", 600)),
            {"role": "user", "content": "最後の列を必ず残してください。 The rest can wait."},
            {"role": "assistant", "content": "Done so far.", "tool_calls": [call("c4", "edit", &json!({"path": "src/lexer.rs", "line": 41}))]},
            output("c4", "ok"),
            {"role": "user", "content": "Now run the whole suite, please."},
            {"role": "assistant", "content": null, "tool_calls": [call("c5", "test", &json!({})), call("c6", "lint", &json!({}))]},
            output("c5", "running 212 tests"),
        ],
        "seed": 7,
    });
    body.to_string()
}

/// The same with a tool output that answers nothing and an id that two calls of one response have, and the rules
/// and messages that a repair of it names.
pub(crate) fn broken_chat() -> (String, [(&'static str, usize); 3]) {
    let mut body: Value = serde_json::from_str(&chat()).expect("JSON");
    let messages = body["messages"].as_array_mut().expect("a list");
    let calls = messages[10]["tool_calls"].as_array_mut().expect("a list");
    calls.push(call("c4", "test", &json!({})));
    messages.insert(12, output("c4", "passed"));
    messages.insert(6, output("c9", &listing("stray", 100)));
    (
        body.to_string(),
        [("CHAT-1", 7), ("ALL-4", 12), ("ALL-4", 14)],
    )
}

/// An Anthropic request: signed thinking, parallel calls with a failure, a picture in an
/// output, text behind outputs.
pub(crate) fn anthropic() -> String {
    let body = json!({
        "model": "claude-sonnet-4-5",
        "max_tokens": 1024,
        "system": [{"type": "text", "text": "You book journeys.", "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "search", "description": "Finds trains.", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "Book me Porto to Vigo on Friday. Only direct trains!"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Two searches.", "signature": "c2lnbmVk"},
                {"type": "text", "text": "I look for both stations."},
                {"type": "tool_use", "id": "t1", "name": "search", "input": {"from": "Porto Campanhã"}},
                {"type": "tool_use", "id": "t2", "name": "search", "input": {"from": "Porto São Bento"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": listing("train", 700)},
                {"type": "tool_result", "tool_use_id": "t2", "is_error": true, "content": [{"type": "text", "text": format!("timeout\n{}", listing("retry", 500))}]},
            ]},
            {"role": "assistant", "content": [{"type": "text", "text": format!("Friday has these.\n{}", listing("train", 300))}]},
            {"role": "user", "content": "What does the platform look like?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t3", "name": "photo", "input": {"platform": 4}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t3", "content": [
                    {"type": "text", "text": listing("photo", 400)},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
                ]},
                {"type": "text", "text": "And is there a lift?"},
            ]},
            {"role": "assistant", "content": "Yes, at the northern end."},
            {"role": "user", "content": "Take the train at 08:13."},
        ],
    });
    body.to_string()
}

/// What a person would look at first: the result, whatever the strategy did.
pub(crate) fn assert_good(before: &Conversation, compaction: &Compaction, host: &Host) {
    let receipt = compaction.receipt();
    let after = host.read(compaction.document()).expect("the result reads");
    assert_eq!(after.violations(), [], "the result breaks rules");
    assert_eq!(after.format(), before.format());
    if compaction.is_compacted() {
        assert!(receipt.tokens.after < receipt.tokens.before, "not smaller");
        let target = receipt.tokens.budget.max(receipt.tokens.floor);
        assert!(receipt.tokens.after <= target, "{:?}", receipt.tokens);
    } else {
        assert_eq!(compaction.document(), before.document(), "changed");
    }
    assert_kept_verbatim(before, compaction);
}

/// I2 and I4: kept messages are there byte for byte, in order; and no protected unit left.
fn assert_kept_verbatim(before: &Conversation, compaction: &Compaction) {
    use baler_host::{conversation::UnitKind, receipt::UnitOutcome};
    let mut rest = compaction.document();
    for (unit, outcome) in compaction.changes().outcomes().iter().enumerate() {
        let known = &before.units()[unit];
        if *outcome == UnitOutcome::Removed {
            assert_ne!(known.kind, UnitKind::Instructions, "instructions left");
            assert!(!known.traits.pending, "a pending call left");
        }
        if *outcome != UnitOutcome::Kept {
            continue;
        }
        for message in before.raw_messages(unit) {
            // A user message may have been joined; its own parts are checked elsewhere.
            match rest.find(message) {
                Some(at) => rest = &rest[at + message.len()..],
                None => assert_eq!(known.kind, UnitKind::User, "unit {unit} is not verbatim"),
            }
        }
    }
    let newest = before
        .units()
        .iter()
        .rposition(|unit| unit.traits.user_text);
    if let Some(newest) = newest {
        assert_ne!(
            compaction.changes().outcomes()[newest],
            UnitOutcome::Removed,
            "the newest user message left"
        );
    }
}

/// A conversation as one line for each message: role, kinds of parts, first characters.
pub(crate) fn render(document: &str) -> String {
    let body: Value = serde_json::from_str(document).expect("JSON");
    let list = body.get("messages").unwrap_or(&body);
    let mut lines = String::new();
    for message in list.as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or("?");
        let content = match &message["content"] {
            Value::String(text) => short(text),
            Value::Array(parts) => parts.iter().map(part).collect::<Vec<_>>().join(" + "),
            _ => String::new(),
        };
        let calls: Vec<&str> = message["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|call| call["id"].as_str())
            .collect();
        let answers = message["tool_call_id"].as_str().unwrap_or_default();
        lines.push_str(
            format!("{role} {answers} {content} {}", calls.join(","))
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .as_str(),
        );
        lines.push('\n');
    }
    lines
}

fn part(part: &Value) -> String {
    let text = part["text"]
        .as_str()
        .or(part["content"].as_str())
        .unwrap_or_default();
    format!("{}:{}", part["type"].as_str().unwrap_or("?"), short(text))
}

fn short(text: &str) -> String {
    let seal = text
        .find(" seal=\"")
        .map(|at| text[at..].chars().take(26).collect::<String>());
    let text = match seal {
        Some(seal) => text.replace(&seal, ""),
        None => text.to_owned(),
    };
    text.chars().take(60).collect::<String>().replace('\n', "⏎")
}

/// The conversation of a test, read.
pub(crate) fn read(host: &Host, document: &str) -> Conversation {
    let conversation = host.read(Arc::<str>::from(document)).expect("reads");
    assert_eq!(
        conversation.violations(),
        [],
        "the test's own conversation is invalid"
    );
    conversation
}
