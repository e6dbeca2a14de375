use baler_host::{Archive, Conversation, Format, Strategy};
use serde_json::{Value, json};

use crate::support::{bundled, compacted_by, host, host_beside, listing, share};

/// Twenty questions, of which each third takes a tool: parallel calls, one of which fails, and signed reasoning.
fn journey() -> Value {
    let text = |text: &str| json!({"text": text});
    let mut messages = vec![
        json!({"role": "user", "content": [text("Plane die Reise nach Vigo. Never pay in advance.")]}),
    ];
    for leg in 0..20 {
        if leg % 3 == 0 {
            let (a, b) = (format!("tooluse_{leg}_a"), format!("tooluse_{leg}_b"));
            messages.extend([
                json!({"role": "assistant", "content": [
                    {"reasoningContent": {"reasoningText": {"text": "Both at once.", "signature": "c2ln"}}},
                    {"toolUse": {"toolUseId": a, "name": "trains", "input": {"leg": leg}}},
                    {"toolUse": {"toolUseId": b, "name": "fares", "input": {"leg": leg}}}]}),
                json!({"role": "user", "content": [
                    {"toolResult": {"toolUseId": b, "content": [text("no fare known")], "status": "error"}},
                    {"toolResult": {"toolUseId": a, "content": [text(&listing(&format!("train{leg}"), 200))]}}]}),
            ]);
        }
        let answer = format!("Leg {leg}, 列車:\n{}", listing(&format!("leg{leg}"), 80));
        let asks = format!(
            "And leg {}?\n{}",
            leg + 1,
            listing(&format!("wish{leg}"), 40)
        );
        messages.extend([
            json!({"role": "assistant", "content": [text(&answer)]}),
            json!({"role": "user", "content": [text(&asks), {"cachePoint": {"type": "default"}}]}),
        ]);
        // The point moves to the newest message.
        if leg < 19
            && let Some(blocks) = messages
                .last_mut()
                .and_then(|last| last["content"].as_array_mut())
        {
            blocks.pop();
        }
    }
    json!({
        "system": [text("You book journeys."), {"cachePoint": {"type": "default"}}],
        "toolConfig": {"tools": [
            {"toolSpec": {"name": "trains", "inputSchema": {"json": {"type": "object"}}}},
            {"toolSpec": {"name": "fares", "inputSchema": {"json": {"type": "object"}}}}]},
        "inferenceConfig": {"maxTokens": 1024},
        "messages": messages,
    })
}

fn read(document: &Value) -> Conversation {
    let conversation = host().read(document.to_string()).expect("it reads");
    assert_eq!(conversation.format(), Format::BedrockConverse);
    assert_eq!(conversation.violations(), []);
    conversation
}

fn messages(document: &str) -> Vec<Value> {
    let body: Value = serde_json::from_str(document).expect("JSON");
    body["messages"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn results_alternate_between_the_roles_whatever_left() {
    let host = host();
    let mut strategies = vec![Strategy::digest(), Strategy::truncate()];
    for name in ["sliding-window", "tiered"] {
        strategies.push(bundled(host, name).await);
    }
    let before = read(&journey());
    let mut notes = 0;
    for strategy in &strategies {
        for part in [0.25, 0.5] {
            let what = format!("{} {part}", strategy.name());
            let after = compacted_by(strategy, &before, &share(part)).await;
            assert!(after.is_compacted(), "{what}");
            let roles: Vec<String> = messages(after.document())
                .iter()
                .map(|message| message["role"].to_string())
                .collect();
            assert!(
                roles.windows(2).all(|pair| pair[0] != pair[1]),
                "{what}: {roles:?}"
            );
            notes += messages(after.document())
                .iter()
                .filter(|own| own["role"] == "assistant" && own.to_string().contains("<baler:note"))
                .count();
        }
    }
    assert!(notes > 0, "no note in the role of the model");
}

#[tokio::test]
async fn masked_result_stays_a_list_of_blocks_with_its_status() {
    let strategy = bundled(host(), "mask-tool-outputs").await;
    let after = compacted_by(&strategy, &read(&journey()), &share(0.8)).await;
    let blocks = messages(after.document())
        .into_iter()
        .flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    let masked: Vec<Value> = blocks
        .filter(|block| block.to_string().contains("<baler:rewritten"))
        .collect();
    assert!(!masked.is_empty());
    for block in masked {
        let content = block["toolResult"]["content"].as_array().expect("a list");
        assert_eq!(content.len(), 1, "{block}");
        assert!(content[0]["text"].is_string(), "{block}");
    }
}

#[tokio::test]
async fn compaction_is_undone_byte_for_byte() {
    let archive = Archive::in_memory();
    let host = host_beside(|builder| builder.archive(archive.clone()));
    let before = read(&journey());
    let after = host
        .compact(&before, &[Strategy::truncate()], &share(0.3))
        .await
        .expect("an archive that stores");
    let undo = after.receipt().undo.clone().expect("something left");
    assert_eq!(archive.undo(&undo).await.as_deref(), Ok(before.document()));
}
