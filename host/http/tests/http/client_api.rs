use baler_generated::{Kind, broken_at};
use baler_host::{Format, Strategy};
use serde_json::{Value, json};

use crate::support::{generated_conversation, get, host, journey, post, serve};

#[tokio::test(flavor = "multi_thread")]
async fn compact_fits_conversations_of_every_format_to_the_budget() {
    let server = serve(|builder| builder).await;
    let host = host();
    for kind in Kind::ALL {
        let mut compacted = 0;
        for seed in 0..4 {
            let document = generated_conversation(kind, seed);
            let format: Format = kind.name().parse().expect("a format");
            let body = format!(
                r#"{{"conversation":{document},"format":"{}","budget":"50%"}}"#,
                format.name()
            );
            let response = post(&server, "/v1/compact", &body).await;
            assert_eq!(response.status, 200, "{}", response.body);
            let answer = response.json();
            let receipt = &answer["receipt"];
            assert_eq!(answer["outcome"], receipt["outcome"]);
            assert_eq!(receipt["format"], kind.name());
            let result = host.read(answer["document"].to_string()).expect("reads");
            assert!(result.broken().next().is_none(), "{kind:?} {seed}");
            if answer["outcome"] == "compacted" {
                compacted += 1;
                let tokens = |name: &str| receipt["tokens"][name].as_u64().expect("a number");
                assert!(tokens("after") < tokens("before"));
                let limit = tokens("budget").max(tokens("floor"));
                assert!(tokens("after") <= limit, "{kind:?} {seed}: {receipt}");
            }
        }
        assert!(compacted > 0, "{kind:?}");
    }
}

#[tokio::test]
async fn compact_keeps_messages_byte_identical() {
    let server = serve(|builder| builder).await;
    let kept = r#"{ "content" : "The second\u0020one, please.","role":"user", "x":1.0e0 }"#;
    let early = format!("Leg after leg: {}", "by night train, ".repeat(100));
    let document = format!(
        r#"{{"model":"gpt-4o","messages":[{{"role":"user","content":"Go."}},{{"role":"assistant","content":"{early}"}},{kept}]}}"#
    );
    let body = format!(r#"{{"conversation":{document},"budget":100}}"#);
    let response = post(&server, "/v1/compact", &body).await;
    assert_eq!(response.json()["outcome"], "compacted", "{}", response.body);
    assert!(response.body.contains(kept));
    let unchanged = post(&server, "/v1/compact", &body.replace("100}", "100000}")).await;
    assert_eq!(unchanged.json()["outcome"], "unchanged");
    assert!(unchanged.body.contains(&document));
}

#[tokio::test]
async fn compact_accepts_every_member() {
    let server = serve(|builder| builder).await;
    let asked = json!({
        "conversation": journey(), "strategy": ["native:truncate", "native:digest"], "budget": 800,
        "pins": [0, 4], "context-window": 8000, "max-bytes": 100_000, "max-media": 3, "used": 1_200,
        "repair": true, "required": true, "instructions": "Keep the prices.", "live-from": 20,
        "context": {"turns-left": 3}, "cached-units": 2, "failures-in-a-row": 1, "words": true,
    });
    let response = post(&server, "/v1/compact", &asked.to_string()).await;
    let answer = response.json();
    assert_eq!(response.status, 200, "{answer}");
    assert_eq!(answer["receipt"]["strategy"], "native:truncate");
    assert_eq!(answer["receipt"]["trigger"], "manual");
    assert_eq!(answer["receipt"]["tokens"]["before"], 1_200);
    assert!(response.body.contains("Leg 4 of the journey"));
}

#[tokio::test]
async fn compact_repairs_a_broken_conversation_on_request() {
    let server = serve(|builder| builder).await;
    let mut broken = journey();
    broken["messages"][3] = json!({"role": "tool", "tool_call_id": "nobody", "content": "aye"});
    let ask = |repair| json!({"conversation": broken, "repair": repair}).to_string();
    let refused = post(&server, "/v1/compact", &ask(false)).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (422, "invalid-conversation")
    );
    let message = refused.json()["error"]["message"].clone();
    let message = message.as_str().expect("a text");
    assert!(
        message.contains("message 4: ") && message.contains("(CHAT-1)"),
        "{message}"
    );
    let answer = post(&server, "/v1/compact", &ask(true)).await.json();
    assert_eq!(answer["outcome"], "compacted");
    assert!(
        !answer["receipt"]["repairs"]
            .as_array()
            .expect("a list")
            .is_empty()
    );
    let gate = post(
        &server,
        "/v1/should-compact",
        &json!({"conversation": broken, "budget": 10}).to_string(),
    )
    .await;
    assert_eq!(
        (gate.status, gate.code().as_str()),
        (422, "invalid-conversation")
    );
}

#[tokio::test]
async fn receipt_lists_the_first_repairs_and_counts_all() {
    const MANY: usize = 100_000;
    let server = serve(|builder| builder).await;
    let document = broken_at(MANY);
    let repaired: Value = serde_json::from_str(&broken_at(0)).expect("JSON");
    let ask = |repair: bool| {
        format!(r#"{{"conversation":{document},"budget":1000000,"repair":{repair}}}"#)
    };
    let length = |list: &Value| list.as_array().map(Vec::len);
    let refused = post(&server, "/v1/compact", &ask(false)).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("; and more; set"), "{}", refused.body);
    let response = post(&server, "/v1/compact", &ask(true)).await;
    // The repaired document is small, and so is its receipt.
    assert!(response.body.len() < document.len());
    let answer = response.json();
    assert_eq!(answer["outcome"], "repaired", "{}", response.body);
    assert_eq!(answer["document"], repaired);
    let receipt = &answer["receipt"];
    assert_eq!(length(&receipt["repairs"]), Some(1_000));
    assert_eq!(receipt["repair-counts"]["total"], MANY);
    assert_eq!(length(&receipt["originals"]), Some(1_000));
    assert_eq!(receipt["original-count"], MANY);
}

/// A conversation with an empty text, which breaks a rule that is only a warning.
fn warned() -> Value {
    let mut warned = journey();
    let text = warned["messages"][2]["content"].clone();
    let part = |text: &Value| json!({"type": "text", "text": text});
    warned["messages"][2]["content"] = json!([part(&json!("")), part(&text)]);
    warned
}

#[tokio::test]
async fn warnings_alone_do_not_prevent_compaction() {
    let server = serve(|builder| builder).await;
    let body = json!({"conversation": warned(), "budget": 300}).to_string();
    let answer = post(&server, "/v1/compact", &body).await.json();
    assert_eq!(answer["outcome"], "compacted", "{answer}");
    let violation = &answer["receipt"]["violations"][0];
    assert_eq!(
        (&violation["rule"], &violation["severity"]),
        (&json!("ALL-6"), &json!("warning"))
    );
    let gate = post(&server, "/v1/should-compact", &body).await;
    assert_eq!(gate.status, 200, "{gate:?}");
}

#[tokio::test]
async fn should_compact_returns_the_decision_and_who_made_it() {
    let server = serve(|builder| builder).await;
    let ask = |more: &str| format!(r#"{{"conversation":{}{more}}}"#, journey());
    for (more, decision) in [
        (r#","budget":100"#, "compact"),
        (r#","budget":100000"#, "wait"),
        (r#","context-window":1000"#, "compact"),
        (r#","context-window":128000"#, "wait"),
        (r#","context-window":10000,"budget":"1%""#, "compact"),
    ] {
        let answer = post(&server, "/v1/should-compact", &ask(more)).await.json();
        assert_eq!(answer["decision"], decision, "{more}: {answer}");
        assert_eq!(answer["decided-by"], "baler");
        assert_eq!(answer["over-budget"], decision == "compact");
    }
    let chain =
        serve(|builder| builder.chain(vec![Strategy::truncate(), Strategy::digest()])).await;
    let answer = post(&chain, "/v1/should-compact", &ask(r#","budget":100"#)).await;
    assert_eq!(
        answer.status, 200,
        "the first of the chain is asked: {answer:?}"
    );
    let unclear = post(&server, "/v1/should-compact", &ask("")).await;
    assert_eq!((unclear.status, unclear.code().as_str()), (400, "budget"));
}

/// PL-12
#[tokio::test]
async fn clients_name_strategies_but_never_files_or_urls() {
    let server = serve(|builder| builder).await;
    let list = post(&server, "/v1/introspect", "{}").await.json();
    assert_eq!(
        list["strategies"],
        json!(["native:digest", "native:truncate"])
    );
    assert_eq!(list["default"], json!(["native:digest"]));
    let one = post(&server, "/v1/introspect", r#"{"strategy":"native:digest"}"#)
        .await
        .json();
    assert_eq!(one["native"], true);
    for name in [
        "./untrusted.wasm",
        "/etc/passwd",
        "http://127.0.0.1:1/",
        "sliding-window",
    ] {
        for path in ["/v1/compact", "/v1/should-compact", "/v1/introspect"] {
            let body = json!({"conversation": journey(), "budget": 100, "strategy": name});
            let refused = post(&server, path, &body.to_string()).await;
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (400, "unknown-strategy")
            );
            assert!(!refused.body.contains(name), "{}", refused.body);
        }
    }
    let twice = ["native:digest", "native:truncate", "native:digest"];
    let body = json!({"conversation": journey(), "budget": 100, "strategy": twice});
    let refused = post(&server, "/v1/compact", &body.to_string()).await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "chain"));
}

#[tokio::test]
async fn session_log_is_accepted_as_a_string() {
    let server = serve(|builder| builder).await;
    let line = |role: &str, text: &str| {
        json!({"type": role, "uuid": text, "sessionId": "s", "message": {"role": role, "content": text}}).to_string()
    };
    let log = [
        line("user", "Lisbon to Oslo."),
        line("assistant", "By train or by plane?"),
        line("user", "By train."),
    ]
    .join("\n");
    let body = json!({"conversation": log, "budget": 1000}).to_string();
    let response = post(&server, "/v1/compact", &body).await;
    assert_eq!(response.status, 200, "{}", response.body);
    assert_eq!(response.json()["receipt"]["format"], "anthropic");
}

#[tokio::test]
async fn metrics_count_requests_and_outcomes_and_hold_no_text() {
    let server = serve(|builder| builder).await;
    let secret = "Leg 0 of the journey";
    let body = json!({"conversation": journey(), "budget": 200}).to_string();
    assert_eq!(post(&server, "/v1/compact", &body).await.status, 200);
    assert_eq!(post(&server, "/v1/compact", "{").await.status, 400);
    let figures = get(&server, "/metrics").await;
    assert!(figures.headers["content-type"].starts_with("text/plain"));
    for line in [
        "baler_requests_total{route=\"compact\",status=\"200\"} 1",
        "baler_requests_total{route=\"compact\",status=\"400\"} 1",
        "baler_errors_total{code=\"malformed\"} 1",
        "baler_request_seconds_count{route=\"compact\"} 2",
        "baler_compactions_total{outcome=\"compacted\"} 1",
        "baler_attempts_total{result=\"accepted\"} 1",
        "baler_running 0",
    ] {
        assert!(figures.body.contains(line), "{line}:\n{}", figures.body);
    }
    assert!(!figures.body.contains(secret));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_are_all_served() {
    let server = std::sync::Arc::new(serve(|builder| builder).await);
    let body: Value = json!({"conversation": journey(), "budget": 200});
    let body = std::sync::Arc::new(body.to_string());
    let requests: Vec<_> = (0..60)
        .map(|_| {
            let (server, body) = (server.clone(), body.clone());
            tokio::spawn(async move { post(&server, "/v1/compact", &body).await })
        })
        .collect();
    for request in requests {
        let response = request.await.expect("no panic");
        assert_eq!(response.status, 200, "{}", response.body);
        assert_eq!(response.json()["outcome"], "compacted");
    }
}
