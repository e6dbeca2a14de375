use serde_json::{Value, json};

use super::pi::{call, entry, reply, result, start, user};
use super::{body, log, messages};
use crate::conversation::Conversation;
use crate::logs::Log;
use crate::model::format::Format;

fn farm(api: &str, thinking: &str) -> Log {
    log(&[
        start(),
        entry(json!({"role": "user", "content": [
            {"type": "text", "text": "Weigh this."},
            {"type": "image", "data": "iVBORw0=", "mimeType": "image/png"},
        ]})),
        reply(
            api,
            json!([
                {"type": "thinking", "thinking": "Hm.", "thinkingSignature": thinking},
                {"type": "text", "text": "", "textSignature": "msg_1"},
                call("c|fc_1"),
                call("c|fc_2"),
            ]),
        ),
        result("c|fc_1", "40 kg"),
        entry(
            json!({"role": "toolResult", "toolCallId": "c|fc_2", "toolName": "weigh", "isError": true,
            "content": [{"type": "image", "data": "AAAA", "mimeType": "image/jpeg"}]}),
        ),
        reply(api, json!([{"type": "text", "text": "Forty."}])),
    ])
}

// LPI-4, LPI-7: the API of the last response decides; ids that come twice get their own.
#[test]
fn chat_gets_calls_with_texts_as_arguments_and_pictures_from_the_user() {
    let log = farm("openai-completions", "reasoning_content");
    assert_eq!(log.format, Format::OpenAiChat);
    let arguments = "{\"animal\":\"goat\"}";
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "weigh", "arguments": arguments}});
    assert_eq!(
        messages(&log),
        [
            json!({"role": "user", "content": [
                {"type": "text", "text": "Weigh this."},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0="}},
            ]}),
            json!({"role": "assistant", "content": null, "tool_calls": [call("c"), call("c_2")]}),
            json!({"role": "tool", "tool_call_id": "c", "content": "40 kg"}),
            json!({"role": "tool", "tool_call_id": "c_2", "content": "(see the picture below)"}),
            json!({"role": "user", "content": [
                {"type": "text", "text": "(pictures of the tool results above)"},
                {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}},
            ]}),
            json!({"role": "assistant", "content": "Forty."}),
        ]
    );
    assert_eq!(log.reported, Some((881, 6)));
}

#[test]
fn responses_get_the_reasoning_item_that_the_signature_is() {
    let item = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA=="}"#;
    let log = farm("openai-responses", item);
    assert_eq!(log.format, Format::OpenAiResponses);
    assert!(log.document.contains(item));
    let kinds: Vec<Value> = messages(&log).iter().map(|m| m["type"].clone()).collect();
    let kinds: Vec<&str> = kinds
        .iter()
        .map(|kind| kind.as_str().unwrap_or("user"))
        .collect();
    assert_eq!(
        kinds,
        [
            "user",
            "reasoning",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output",
            "message"
        ]
    );
    let items = messages(&log);
    assert_eq!(
        items[4],
        json!({"type": "function_call_output", "call_id": "c", "output": "40 kg"})
    );
    assert_eq!(
        items[5]["output"][0]["image_url"],
        "data:image/jpeg;base64,AAAA"
    );
    assert_eq!(items[2]["arguments"], "{\"animal\":\"goat\"}");
}

#[test]
fn gemini_gets_one_turn_of_responses_and_keeps_signatures() {
    let log = farm("google-generative-ai", "U2ln");
    assert_eq!(
        (log.format, log.model.as_deref()),
        (Format::Gemini, Some("model-test"))
    );
    assert!(body(&log).get("model").is_none());
    let contents = messages(&log);
    assert_eq!(
        contents[0]["parts"][1]["inlineData"]["mimeType"],
        "image/png"
    );
    assert_eq!(
        contents[1]["parts"][0],
        json!({"text": "Hm.", "thought": true, "thoughtSignature": "U2ln"})
    );
    assert_eq!(
        contents[1]["parts"][1]["functionCall"]["args"],
        json!({"animal": "goat"})
    );
    let answers = &contents[2]["parts"];
    assert_eq!(
        answers[0]["functionResponse"]["response"],
        json!({"output": "40 kg"})
    );
    assert_eq!(
        answers[1]["functionResponse"]["response"],
        json!({"error": ""})
    );
    assert_eq!(answers[2]["inlineData"]["data"], "AAAA");
    assert_eq!(log.reported, Some((881, 4)));
}

// GEM-3
#[test]
fn calls_of_the_current_turn_that_gemini_3_did_not_sign_get_the_stand_in() {
    let mut lines = vec![
        start(),
        user("Weigh."),
        reply("google-vertex", json!([call("a"), call("b")])),
    ];
    lines[2]["message"]["model"] = json!("gemini-3-pro");
    let parts = messages(&log(&lines))[1]["parts"].clone();
    assert_eq!(
        parts[0]["thoughtSignature"],
        "skip_thought_signature_validator"
    );
    assert!(parts[1].get("thoughtSignature").is_none());
}

#[test]
fn ids_of_another_api_become_such_as_anthropic_takes() {
    let log = log(&[
        start(),
        user("Weigh."),
        reply("openai-responses", json!([call("call.1|fc=2")])),
        result("call.1|fc=2", "40"),
        reply(
            "anthropic-messages",
            json!([{"type": "text", "text": "Forty."}]),
        ),
    ]);
    assert_eq!(messages(&log)[1]["content"][0]["id"], "call_1_fc_2");
    assert_eq!(
        messages(&log)[2]["content"][0]["tool_use_id"],
        "call_1_fc_2"
    );
}

// ALL-2: in the other formats a batch is answered as a whole or not at all (ANTH-3, GEM-2).
#[test]
fn call_at_the_end_waits_beside_answered_ones_where_the_format_lets_it() {
    let picture = entry(
        json!({"role": "toolResult", "toolCallId": "a", "toolName": "weigh", "isError": false,
        "content": [{"type": "image", "data": "AAAA", "mimeType": "image/jpeg"}]}),
    );
    for (api, first, completed) in [
        ("openai-completions", result("a", "40 kg"), 0),
        ("openai-completions", picture.clone(), 1),
        ("openai-responses", result("a", "40 kg"), 0),
        ("openai-responses", picture, 0),
        ("anthropic-messages", result("a", "40 kg"), 1),
        ("google-generative-ai", result("a", "40 kg"), 1),
    ] {
        let mut lines = vec![
            start(),
            user("Weigh both."),
            reply(api, json!([call("a"), call("b")])),
            first,
        ];
        let found = log(&lines);
        assert_eq!(found.facts.completed_calls, completed, "{api}");
        let read = Conversation::of(&found.document, Some(found.format)).expect("reads");
        assert_eq!(read.violations(), [], "{api}");
        let is_pending = read.units().iter().any(|unit| unit.traits.pending);
        assert_eq!(is_pending, completed == 0, "{api}");

        lines.push(user("Well?"));
        assert_eq!(log(&lines).facts.completed_calls, 1, "{api}");
    }
}

// ANTH-11
#[test]
fn failed_results_are_such_as_anthropic_takes() {
    let api = "anthropic-messages";
    let failed = |id: &str, content: Value| {
        entry(
            json!({"role": "toolResult", "toolCallId": id, "toolName": "weigh", "isError": true,
            "content": content}),
        )
    };
    let text = json!({"type": "text", "text": "It will not stand still."});
    let picture = json!({"type": "image", "data": "AAAA", "mimeType": "image/jpeg"});
    let log = log(&[
        start(),
        user("Weigh all."),
        reply(
            api,
            json!([call("t1"), call("t2"), call("t3"), call("t4"), call("t5")]),
        ),
        failed("t1", json!([])),
        failed("t2", json!([{"type": "text", "text": ""}])),
        failed("t3", json!([picture])),
        failed("t4", json!([text, picture])),
        failed("t5", json!([text])),
        reply(api, json!([{"type": "text", "text": "Forty."}])),
    ]);
    let results = messages(&log)[2]["content"].clone();
    for empty in [&results[0], &results[1]] {
        assert_eq!(empty["content"], "(no output)");
        assert_eq!(empty["is_error"], true);
    }
    for shown in [&results[2], &results[3]] {
        assert_eq!(shown.get("is_error"), None);
    }
    assert_eq!(results[4]["content"], json!([text]));
    assert_eq!(results[4]["is_error"], true);
    let read = Conversation::of(&log.document, Some(log.format)).expect("reads");
    assert_eq!(read.violations(), []);
}

#[test]
fn where_nothing_was_answered_the_provider_decides() {
    assert_eq!(log(&[start(), user("Hello?")]).format, Format::Anthropic);
    let mut google = start();
    google["provider"] = json!("google");
    assert_eq!(log(&[google, user("Hello?")]).format, Format::Gemini);
}

#[test]
fn api_that_is_not_known_is_that_of_the_models_maker() {
    let with = |api: &str, model: &str| {
        let mut reply = reply(api, json!([{"type": "text", "text": "Forty."}]));
        reply["message"]["model"] = json!(model);
        log(&[
            start(),
            entry(json!({"role": "user", "content": "Weigh this."})),
            reply,
        ])
        .format
    };
    assert_eq!(with("our-gateway", "claude-opus-4-5"), Format::Anthropic);
    assert_eq!(with("our-gateway", "gemini-3-pro"), Format::Gemini);
    assert_eq!(with("our-gateway", "llama-4"), Format::OpenAiChat);
    assert_eq!(
        with("openai-completions", "anthropic/claude-opus-4-5"),
        Format::OpenAiChat
    );
    assert_eq!(with("our-anthropic", "m"), Format::Anthropic);
}
