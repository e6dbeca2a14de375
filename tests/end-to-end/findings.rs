//! What fuzzing found, one test for each finding. The targets are in `tests/fuzz`.

use baler_host::{
    Budget, Conversation, Format, Pins, Request, Strategy, receipt::AttemptResult,
    request::ThinkingPolicy,
};
use serde_json::{Value, json};

use crate::support::{assert_good, host, listing};

fn read(document: &Value) -> Conversation {
    host().read(document.to_string()).expect("it reads")
}

/// How the units divide the messages.
fn lengths(conversation: &Conversation) -> Vec<usize> {
    let units = conversation.units().iter();
    units.map(|unit| unit.messages).collect()
}

fn reasoning(summary: &str) -> Value {
    json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": summary}]})
}

fn function_call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "signal", "arguments": "{}"})
}

// RESP-6: some gateways put reasoning before each call of a batch.
#[test]
fn a_call_waits_beside_another_one_that_is_answered_with_reasoning_between_them() {
    let conversation = read(&json!({"input": [
        {"role": "user", "content": "Signal both lighthouses."},
        reasoning("The northern one first."),
        function_call("north"),
        reasoning("Then the southern one."),
        function_call("south"),
        {"type": "function_call_output", "call_id": "south", "output": "It flashed."},
    ]}));
    assert_eq!(conversation.violations(), []);
    assert_eq!(lengths(&conversation), [1, 5]);
    assert!(conversation.units()[1].traits.pending);
}

#[test]
fn calls_wait_with_reasoning_between_them_behind_an_output_of_the_same_response() {
    let conversation = read(&json!({"input": [
        {"role": "user", "content": "Signal all lighthouses."},
        reasoning("North, then east and west."),
        function_call("north"),
        {"type": "function_call_output", "call_id": "north", "output": "It flashed."},
        function_call("east"),
        reasoning("West is left."),
        function_call("west"),
    ]}));
    assert_eq!(conversation.violations(), []);
    assert_eq!(lengths(&conversation), [1, 6]);
    assert!(conversation.units()[1].traits.pending);
}

// RESP-4: what is sent under its id needs the reasoning of its response.
#[test]
fn a_call_stays_with_its_reasoning_behind_a_late_output() {
    let output =
        |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "It flashed."});
    let conversation = read(&json!({"input": [
        {"role": "user", "content": "Signal all lighthouses."},
        function_call("north"),
        function_call("south"),
        output("north"),
        reasoning("East and west are left."),
        function_call("east"),
        output("south"),
        function_call("west"),
    ]}));
    assert_eq!(conversation.violations(), []);
    assert_eq!(lengths(&conversation), [1, 7]);
}

// RESP-4: the reasoning may be there as a reference alone.
#[test]
fn items_stay_with_the_reference_that_may_stand_for_their_reasoning() {
    let user = json!({"role": "user", "content": "Signal all lighthouses."});
    let refers = |id: &str| json!({"type": "item_reference", "id": id});
    let output =
        |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "It flashed."});
    let north = [function_call("north"), output("north")];
    let south = [function_call("south"), output("south")];
    let says = json!({"type": "message", "role": "assistant", "id": "msg_2",
                      "content": [{"type": "output_text", "text": "All flashed."}]});
    for (items, expected) in [
        // Calls that a client wrote down with their outputs.
        ([&[refers("rs_1")][..], &north, &south].concat(), vec![1, 5]),
        // Nothing waits, so another response begins.
        (
            [&[refers("rs_1")][..], &north, &[refers("rs_2")], &south].concat(),
            vec![1, 3, 3],
        ),
        (
            [
                &[reasoning("North.")][..],
                &north,
                &[refers("rs_2"), says.clone()],
            ]
            .concat(),
            vec![1, 3, 2],
        ),
        // It may stand for what the reasoning before it produced, and for reasoning.
        (
            [&[reasoning("North.")][..], &north, &[refers("msg_1"), says]].concat(),
            vec![1, 5],
        ),
    ] {
        let mut all = vec![user.clone()];
        all.extend(items);
        let conversation = read(&json!({"input": all}));
        assert_eq!(conversation.violations(), []);
        assert_eq!(lengths(&conversation), expected, "{all:?}");
    }
}

#[test]
fn a_request_for_approval_waits_beside_another_one_with_reasoning_between_them() {
    let request = |id: &str| {
        json!({"type": "mcp_approval_request", "id": id, "server_label": "harbour",
               "name": "open_gate", "arguments": "{}"})
    };
    let conversation = read(&json!({"input": [
        {"role": "user", "content": "Open both gates."},
        reasoning("The outer one first."),
        request("outer"),
        reasoning("Then the inner one."),
        request("inner"),
    ]}));
    assert_eq!(conversation.violations(), []);
    assert_eq!(lengths(&conversation), [1, 4]);
    assert!(conversation.units()[1].traits.pending);
}

// I4: who is asked for approval may ask something else first.
#[tokio::test]
async fn a_request_for_approval_waits_whatever_stands_behind_it() {
    let user = |text: &str| json!({"role": "user", "content": text});
    let asks = json!({"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "harbour",
        "name": "open_gate", "arguments": "{}"});
    let allows =
        json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true});
    let mut items = vec![
        user("Open the outer gate."),
        asks,
        user("What does it lead to?"),
    ];
    for hall in 0..6 {
        items.push(json!({"role": "assistant", "content": listing("hall", 200)}));
        items.push(user(&format!("And behind hall {hall}?")));
    }
    let conversation = read(&json!({"input": items}));
    assert_eq!(conversation.violations(), []);
    assert!(conversation.units()[1].traits.pending);
    let mut grown = read(&json!({"input": items[..2]}));
    for item in &items[2..] {
        grown.append(&item.to_string()).expect("it is an item");
    }
    assert_eq!(grown.units(), conversation.units());
    for strategy in [Strategy::truncate(), Strategy::digest()] {
        let request = Request::default().with_budget(Budget::Share(0.2));
        let compaction = host()
            .compact(&conversation, &[strategy], &request)
            .await
            .expect("no archive that could fail");
        assert!(compaction.is_compacted());
        assert_good(&conversation, &compaction, host());
        assert!(compaction.document().contains("mcp_approval_request"));
        // The answer that comes later has what it answers.
        let mut after = compaction.conversation().clone();
        after.append(&allows.to_string()).expect("it is an item");
        assert_eq!(after.violations(), []);
    }
    items.insert(2, allows);
    let answered = read(&json!({"input": items}));
    assert_eq!(answered.violations(), []);
    assert!(!answered.units()[1].traits.pending);
}

// RESP-2: nothing of the client's answers a tool that the provider runs.
#[test]
fn a_search_of_the_providers_own_needs_no_output_though_it_has_a_call_id() {
    let conversation = read(&json!({"input": [
        {"role": "user", "content": "When is high water at Brest?"},
        {"type": "web_search_call", "id": "ws_1", "call_id": "tides", "status": "completed"},
        {"role": "assistant", "content": "At 05:12."},
        {"role": "user", "content": "And at Saint-Malo?"},
    ]}));
    assert_eq!(conversation.violations(), []);
}

// RESP-1, RESP-2: the same for a search for tools, whose `call_id` is null then.
#[test]
fn a_search_for_tools_that_the_provider_ran_is_neither_call_nor_output() {
    let searched = |kind: &str, id: &str| {
        json!({"type": kind, "id": id, "execution": "server", "call_id": null,
               "status": "completed", "arguments": {}, "tools": []})
    };
    let conversation = read(&json!({"input": [
        {"role": "user", "content": "Dredge the channel."},
        reasoning("I need a tool for that."),
        searched("tool_search_call", "tsc_1"),
        searched("tool_search_output", "tso_1"),
        function_call("dredge"),
        {"type": "function_call_output", "call_id": "dredge", "output": "Six metres deep."},
    ]}));
    assert_eq!(conversation.violations(), []);
}

// RESP-1: only an output that names no `call_id` may mean the item.
#[test]
fn an_output_answers_the_call_of_its_id_before_an_item_of_that_id() {
    let output =
        |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "It flashed."});
    let mut other = function_call("south");
    other["id"] = json!("north");
    let items = [
        json!({"role": "user", "content": "Signal both lighthouses."}),
        function_call("north"),
        other,
        output("north"),
        output("south"),
        json!({"role": "user", "content": "Thank you."}),
    ];
    let whole = read(&json!({"input": items}));
    assert_eq!(whole.violations(), []);
    let mut grown = read(&json!({"input": items[..3]}));
    for item in &items[3..] {
        grown.append(&item.to_string()).expect("it is an item");
    }
    assert_eq!(grown.violations(), []);
}

// ALL-4
#[test]
fn a_recording_that_repeats_the_id_of_a_call_in_a_later_step_keeps_both() {
    let moored = |message: &str| {
        json!({"id": message, "type": "gemini", "content": "", "toolCalls": [{
            "id": "moor-1", "name": "moor", "args": {"berth": 4}, "status": "success",
            "result": [{"functionResponse": {"id": "moor-1", "name": "moor", "response": {"output": "fast"}}}],
        }]})
    };
    let conversation = read(&json!({
        "sessionId": "s", "projectHash": "p", "startTime": "t", "lastUpdated": "t",
        "messages": [
            {"id": "1", "type": "user", "content": "Moor the barge."},
            moored("2"),
            {"id": "3", "type": "user", "content": "And once more."},
            moored("4"),
        ],
    }));
    assert_eq!(conversation.violations(), []);
    let (_, facts) = conversation.log().expect("it is a log");
    assert_eq!(facts.dropped_calls, 0);
    assert_eq!(conversation.document().matches("moor-1").count(), 4);
}

// GEM-2: a response names the call that it answers.
#[test]
fn a_recorded_call_without_a_name_is_left_out() {
    let conversation = read(&json!({
        "sessionId": "s", "projectHash": "p", "startTime": "t", "lastUpdated": "t",
        "messages": [
            {"id": "1", "type": "user", "content": "Hoist the flag."},
            {"id": "2", "type": "gemini", "content": "", "toolCalls": [
                {"id": "hoist-1", "name": "hoist", "args": {}, "status": "success", "result": "up"},
                {"name": "", "args": {}, "status": "success", "result": "up"},
            ]},
        ],
    }));
    assert_eq!(conversation.violations(), []);
    let (_, facts) = conversation.log().expect("it is a log");
    assert_eq!(facts.dropped_calls, 1);
}

// An output without an id took its name from any call without one.
#[test]
fn output_without_an_id_breaks_the_same_rules_read_or_appended() {
    let answer = json!({"role": "user", "parts": [
        {"functionResponse": {"name": "", "response": {"output": "up"}}},
        {"functionResponse": {"name": "strike", "response": {"output": "down"}}},
    ]});
    let mut contents = vec![
        json!({"role": "user", "parts": [{"text": "Hoist the flag, and strike it again."}]}),
        json!({"role": "model", "parts": [
            {"functionCall": {"name": "", "args": {}}},
            {"functionCall": {"name": "strike", "args": {}}},
        ]}),
    ];
    let mut grown = read(&json!({"contents": contents}));
    grown.append(&answer.to_string()).expect("it is a message");
    contents.push(answer);
    let whole = read(&json!({"contents": contents}));
    assert_eq!(whole.violations(), grown.violations());
}

// GEM-3: a stand-in for a signature, as for calls that were never signed.
#[test]
fn a_call_of_another_api_in_a_turn_that_gemini_signs_is_signed_too() {
    let called = |api: &str, call: Value| {
        json!({"type": "message", "message": {"role": "assistant", "api": api, "model": "m",
               "content": [call], "stopReason": "toolUse"}})
    };
    let lines = [
        json!({"type": "session", "id": "s", "provider": "google"}),
        json!({"type": "message", "message": {"role": "user", "content": "Caulk the hull."}}),
        called(
            "openai-responses",
            json!({"type": "toolCall", "id": "bow", "name": "caulk", "arguments": {}}),
        ),
        json!({"type": "message", "message": {"role": "toolResult", "toolCallId": "bow",
               "toolName": "caulk", "content": [{"type": "text", "text": "Tight."}]}}),
        called(
            "google-generative-ai",
            json!({"type": "toolCall", "id": "stern", "name": "caulk", "arguments": {},
                   "thoughtSignature": "c2ln"}),
        ),
    ]
    .map(|line| line.to_string());
    let conversation = host().read(lines.join("\n")).expect("it reads");
    assert_eq!(conversation.format(), Format::Gemini);
    assert_eq!(conversation.violations(), []);
    let document = conversation.document();
    assert_eq!(
        document.matches("thoughtSignature").count(),
        2,
        "{document}"
    );
}

/// A Codex log of these items, and the `call_id` or else the type of each item that was read.
fn codex(items: &[Value]) -> (Conversation, Vec<String>) {
    let line =
        |item| json!({"timestamp": "t", "type": "response_item", "payload": item}).to_string();
    let lines: Vec<String> = items.iter().map(line).collect();
    let conversation = host().read(lines.join("\n")).expect("it reads");
    let names = (0..conversation.units().len())
        .flat_map(|unit| conversation.raw_messages(unit))
        .map(|raw| serde_json::from_str::<Value>(raw).expect("JSON"))
        .map(|item| {
            item.get("call_id")
                .unwrap_or(&item["type"])
                .as_str()
                .map(str::to_owned)
        })
        .collect::<Option<_>>()
        .expect("all have one");
    (conversation, names)
}

fn message(role: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": text})
}

// RESP-3: Codex writes an output down while the response still goes on.
#[test]
fn an_output_between_reasoning_and_its_product_is_read_in_front_of_them() {
    let (conversation, names) = codex(&[
        message("user", "Ring the bell, then report."),
        function_call("bell"),
        reasoning("It rings."),
        json!({"type": "function_call_output", "call_id": "bell", "output": "Dong."}),
        message("assistant", "The bell rang."),
    ]);
    assert_eq!(conversation.violations(), []);
    let expected = ["message", "bell", "bell", "reasoning", "message"];
    assert_eq!(names, expected);
}

// RESP-2: an output that is made up for a call without one must not part pending calls.
#[test]
fn a_call_without_a_recorded_output_is_answered_in_front_of_pending_ones() {
    let (conversation, names) = codex(&[
        message("user", "Ring all bells."),
        function_call("bow"),
        function_call("stern"),
        json!({"type": "function_call_output", "call_id": "bow", "output": "Dong."}),
        function_call("port"),
        reasoning("One is left."),
        function_call("starboard"),
    ]);
    assert_eq!(conversation.violations(), []);
    let expected = [
        "message",
        "bow",
        "stern",
        "bow",
        "stern",
        "port",
        "reasoning",
        "starboard",
    ];
    assert_eq!(names, expected);
}

// RESP-2: gateways give calls empty ids, which no request may have.
#[test]
fn a_logged_call_with_an_empty_id_gets_one() {
    let (conversation, names) = codex(&[
        message("user", "Ring the bell."),
        function_call(""),
        json!({"type": "tool_search_call", "call_id": "", "execution": "client", "arguments": {}}),
        function_call("bell"),
        message("user", "Why is it so quiet?"),
    ]);
    assert_eq!(conversation.violations(), []);
    // Nobody knows what answers the search.
    let expected = ["message", "call_1", "bell", "call_1", "bell", "message"];
    assert_eq!(names, expected);
}

// CHAT-2, CHAT-5: the same in a log of pi.
#[test]
fn a_call_with_an_empty_id_in_a_log_of_pi_gets_one() {
    let call = |id: &str| json!({"type": "toolCall", "id": id, "name": "ring", "arguments": {}});
    let said = |message: Value| json!({"type": "message", "message": message}).to_string();
    let lines = [
        json!({"type": "session", "id": "s", "provider": "openai"}).to_string(),
        said(json!({"role": "user", "content": "Ring the bell."})),
        said(
            json!({"role": "assistant", "api": "openai-completions", "model": "m",
                    "content": [call("bell"), call("")], "stopReason": "toolUse"}),
        ),
        said(json!({"role": "user", "content": "Why is it so quiet?"})),
    ];
    let conversation = host().read(lines.join("\n")).expect("it reads");
    assert_eq!(conversation.format(), Format::OpenAiChat);
    assert_eq!(conversation.violations(), []);
    let (_, facts) = conversation.log().expect("it is a log");
    assert_eq!((facts.dropped_calls, facts.completed_calls), (0, 2));
}

// ANTH-3: and in one of Claude Code.
#[test]
fn a_call_with_an_empty_id_in_a_log_of_claude_code_gets_one() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "ring", "input": {}});
    let line = |kind: &str, id: &str, message: Value| {
        json!({"type": kind, "uuid": id, "sessionId": "s", "message": message}).to_string()
    };
    let lines = [
        line(
            "user",
            "1",
            json!({"role": "user", "content": "Ring the bell."}),
        ),
        line(
            "assistant",
            "2",
            json!({"id": "m", "role": "assistant", "model": "claude-opus-4-5",
              "content": [call("bell"), call("")]}),
        ),
        line(
            "user",
            "3",
            json!({"role": "user", "content": "Why is it so quiet?"}),
        ),
    ];
    let conversation = host().read(lines.join("\n")).expect("it reads");
    let (_, facts) = conversation.log().expect("it is a log");
    assert_eq!((facts.dropped_calls, facts.completed_calls), (0, 2));
    assert_eq!(conversation.violations(), []);
}

// I4, GEM-3: else the unsigned steps of the turn before become part of the signed one.
#[tokio::test]
async fn a_remark_beside_an_output_does_not_stand_for_the_request() {
    let said = |role: &str, part: Value| json!({"role": role, "parts": [part]});
    let step = |call: &str, signature: Value| {
        let mut part = json!({"functionCall": {"id": call, "name": "tar", "args": {}}});
        if signature.is_string() {
            part["thoughtSignature"] = signature;
        }
        let output = json!({"output": listing("seam", 60)});
        let response = json!({"functionResponse": {"id": call, "name": "tar", "response": output}});
        [said("model", part), said("user", response)]
    };
    let mut contents = vec![said("user", json!({"text": listing("first_boat", 900)}))];
    contents.extend((0..4).flat_map(|seam| step(&format!("first-{seam}"), Value::Null)));
    contents.push(said("user", json!({"text": listing("second_boat", 900)})));
    contents.extend(step("second", json!("c2ln")));
    let remark = json!({"text": "Mind the paint."});
    contents.last_mut().expect("there is one")["parts"]
        .as_array_mut()
        .expect("a list")
        .push(remark);
    let conversation = read(&json!({"contents": contents}));
    let request = Request::default()
        .with_pins(Pins::None)
        .with_budget(Budget::Share(0.3));
    let compaction = host()
        .compact(&conversation, &[Strategy::digest()], &request)
        .await
        .expect("no archive that could fail");
    assert_eq!(compaction.receipt().attempts.len(), 1);
    assert_good(&conversation, &compaction, host());
    assert!(compaction.document().contains("let second_boat_0 "));
}

// GEM-3: Gemini 2.5 signs some of its calls, and takes all of them.
#[tokio::test]
async fn a_turn_that_is_signed_in_part_is_left_alone_only_where_a_newer_model_is_to_go_on() {
    let said = |role: &str, part: Value| json!({"role": role, "parts": [part]});
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let output = |name: &str| {
        let response = json!({"output": listing(name, 400)});
        said(
            "user",
            json!({"functionResponse": {"name": name, "response": response}}),
        )
    };
    let mut signed = call("tar");
    signed["thoughtSignature"] = json!("c2ln");
    let contents = json!([
        said("user", json!({"text": "Tar the seams, then caulk them."})),
        said("model", signed),
        output("tar"),
        said("model", call("caulk")),
        output("caulk"),
    ]);
    let level = |level: Value| json!({"thinkingConfig": level});
    for (body, is_of_3) in [
        (json!({"contents": contents}), false),
        (
            json!({"contents": contents, "generationConfig": level(json!({"thinkingBudget": -1}))}),
            false,
        ),
        (
            json!({"contents": contents, "generationConfig": level(json!({"thinkingLevel": "low"}))}),
            true,
        ),
        (
            json!({"contents": contents, "model": "gemini-3-pro-preview"}),
            true,
        ),
    ] {
        let conversation = read(&body);
        assert_eq!(conversation.is_broken(), is_of_3);
        assert_eq!(conversation.violation_counts().total, 1);
        let request = Request::default().with_budget(Budget::Share(0.5));
        let compaction = host()
            .compact(&conversation, &[Strategy::truncate()], &request)
            .await
            .expect("no archive that could fail");
        assert_eq!(compaction.is_compacted(), !is_of_3);
    }
}

// CHAT-3: vLLM puts an empty list into answers without calls, and takes it back.
#[tokio::test]
async fn answers_of_vllm_with_an_empty_list_of_calls_are_compacted() {
    let mut messages = vec![json!({"role": "user", "content": "Splice the ropes."})];
    for rope in 0..8 {
        messages
            .push(json!({"role": "assistant", "content": listing("rope", 200), "tool_calls": []}));
        messages.push(json!({"role": "user", "content": format!("And rope {rope}.")}));
    }
    let conversation = read(&json!({"model": "Qwen/Qwen3-32B", "messages": messages}));
    assert!(!conversation.is_broken());
    let compaction = host()
        .compact(&conversation, &[Strategy::truncate()], &Request::default())
        .await
        .expect("no archive that could fail");
    assert!(compaction.is_compacted());
    assert!(!compaction.receipt().fell_back);
}

// CHAT-6: some servers refuse a message that lost it.
#[tokio::test]
async fn thinking_beside_a_text_stays_where_thinking_is_to_go() {
    let mut messages = vec![json!({"role": "user", "content": "Splice the ropes."})];
    for rope in 0..8 {
        messages.push(
            json!({"role": "assistant", "content": format!("Rope {rope} is spliced."),
                             "reasoning_content": "A long splice holds better."}),
        );
        messages.push(json!({"role": "user", "content": "And the next one."}));
    }
    let conversation = read(&json!({"messages": messages}));
    let mut request = Request::default();
    request.policy.thinking = ThinkingPolicy::Drop;
    let compaction = host()
        .compact(&conversation, &[Strategy::truncate()], &request)
        .await
        .expect("no archive that could fail");
    assert!(compaction.is_compacted());
    assert_good(&conversation, &compaction, host());
    assert!(compaction.document().contains("reasoning_content"));
    assert_eq!(compaction.receipt().units.thinking_removed, 0);
}

/// A tool loop of a model that was asked to think, and a step that is too large to stay.
fn open_loop(model: &str) -> Conversation {
    let mut messages = vec![json!({"role": "user", "content": "Sound the harbour."})];
    for berth in 0..9 {
        let id = format!("toolu_{berth}");
        messages.push(json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": format!("Berth {berth}."), "signature": "c2ln"},
            {"type": "tool_use", "id": id, "name": "sound", "input": {"berth": berth}},
        ]}));
        let lines = if berth == 8 { 900 } else { 60 };
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": listing("depth", lines)},
        ]}));
        if berth == 7 {
            // To the API this is one message with the outputs in front of it (ANTH-2).
            messages.push(json!({"role": "user", "content": "Be quick, the tide is going out."}));
        }
    }
    read(
        &json!({"model": model, "max_tokens": 2048, "messages": messages,
                 "thinking": {"type": "enabled", "budget_tokens": 1024}}),
    )
}

// ANTH-5: it has to begin with thinking, unless the model binds thinking to what came before.
#[tokio::test]
async fn an_open_loop_that_is_asked_to_lose_its_thinking_is_compacted() {
    for (model, loses_thinking) in [("claude-opus-4-5", false), ("claude-opus-5-5", true)] {
        let conversation = open_loop(model);
        let mut request = Request::default();
        request.policy.thinking = ThinkingPolicy::Drop;
        request.budget = Budget::Share(0.2);
        let compaction = host()
            .compact(&conversation, &[Strategy::digest()], &request)
            .await
            .expect("no archive that could fail");
        assert_eq!(compaction.receipt().attempts.len(), 1, "{model}");
        assert_good(&conversation, &compaction, host());
        let after: Value = serde_json::from_str(compaction.document()).expect("JSON");
        let mut messages = after["messages"].as_array().expect("messages").iter();
        let last = messages.rfind(|message| message["role"] == "assistant");
        let last = last.expect("the newest step stays");
        let begins_with_thinking = last["content"][0]["type"] == "thinking";
        assert_eq!(begins_with_thinking, !loses_thinking, "{model}");
    }
}

/// What a native strategy came to, for every fifth budget from what must stay up to all.
async fn assert_accepted_within_every_budget(
    conversation: &Conversation,
    strategy: &Strategy,
    pins: &Pins,
) {
    let mut accepted = 0;
    for budget in (0..conversation.tokens()).step_by(5) {
        let request = Request::default()
            .with_budget(Budget::Tokens(budget))
            .with_pins(pins.clone());
        let compaction = host()
            .compact(conversation, std::slice::from_ref(strategy), &request)
            .await
            .expect("no archive that could fail");
        for attempt in &compaction.receipt().attempts {
            let result = &attempt.result;
            assert!(
                matches!(result, AttemptResult::Accepted),
                "{budget}: {result:?}"
            );
            accepted += 1;
        }
    }
    assert!(accepted > 100, "only {accepted} results");
}

// GEM-2, I3: the host puts a note between messages of the model's that become neighbours.
#[tokio::test]
async fn a_digest_leaves_room_for_notes_where_units_are_passed_over() {
    let said = |role: &str, text: String| json!({"role": role, "parts": [{"text": text}]});
    let mut contents = vec![said("user", "Load the ship for Bergen.".to_owned())];
    for crate_number in 0..30 {
        contents.push(said("model", format!("Crate {crate_number} is aboard.")));
        contents.push(said(
            "user",
            format!("Never stack anything on crate {crate_number}, and tell me its weight."),
        ));
    }
    contents.push(said("model", "All crates are aboard.".to_owned()));
    contents.push(said("user", listing("manifest", 900)));
    contents.push(said("model", "The manifest has 75 lines.".to_owned()));
    contents.push(said("user", "Cast off.".to_owned()));
    let conversation = read(&json!({"contents": contents}));
    let digest = Strategy::digest();
    assert_accepted_within_every_budget(&conversation, &digest, &Pins::FirstUser).await;
}

// I3
#[tokio::test]
async fn truncation_leaves_room_for_notes_beside_its_own() {
    let mut messages = vec![
        json!({"role": "user", "content": "Survey the coast."}),
        json!({"role": "assistant", "content": listing("plan", 150)}),
        json!({"role": "assistant", "content": "I begin in the north."}),
        json!({"role": "user", "content": "Fine."}),
    ];
    for cape in 0..12 {
        let id = format!("toolu_{cape}");
        messages.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "sound", "input": {"cape": cape}},
        ]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": "12 fathoms"},
        ]}));
    }
    messages.push(json!({"role": "user", "content": "Go on."}));
    let conversation = read(&json!({"model": "claude-sonnet-4-5", "messages": messages}));
    let truncate = Strategy::truncate();
    assert_accepted_within_every_budget(&conversation, &truncate, &Pins::Units(vec![0, 2])).await;
}

// ANTH-5
#[tokio::test]
async fn the_newest_step_stays_where_it_alone_begins_with_thinking() {
    let step = |id: &str, first: serde_json::Value, output: &str| {
        let call = json!({"type": "tool_use", "id": id, "name": "sound", "input": {}});
        [
            json!({"role": "assistant", "content": [first, {"type": "thinking", "thinking": "Deep.", "signature": "c2ln"}, call]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]}),
        ]
    };
    // A block of a later time, which is not known to be thinking.
    let unknown = json!({"type": "musing", "data": "c2ln"});
    let hidden = json!({"type": "redacted_thinking", "data": "c2ln"});
    let mut messages = vec![
        json!({"role": "user", "content": "Survey the coast."}),
        json!({"role": "assistant", "content": listing("plan", 150)}),
        json!({"role": "user", "content": "Begin."}),
    ];
    messages.extend(step("toolu_1", unknown, "12 fathoms"));
    messages.extend(step("toolu_2", hidden, &listing("soundings", 200)));
    let conversation = read(&json!({
        "model": "claude-sonnet-4-5",
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": messages,
    }));
    for strategy in [Strategy::truncate(), Strategy::digest()] {
        assert_accepted_within_every_budget(&conversation, &strategy, &Pins::FirstUser).await;
    }
}
