//! Sessions that grow beyond their window.

use std::io::Write as _;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use baler_host::Format;
use baler_proxy::{Action, Exchange, Sessions, Total};
use baler_scripted::{Provider, Report, Script, Seen};
use bytes::Bytes;
use serde_json::Value;

use crate::support::{Exchanges, anywhere, ask, builder, chat, client, folder, start, upstream};

const TASK: &str = "never move cask-00000";

fn provider(steps: usize, window: u32) -> (std::net::SocketAddr, Seen) {
    let script = Script {
        steps,
        calls: 1,
        window,
        task: TASK.to_owned(),
        lines: 40,
    };
    let provider = Provider::bind(script, anywhere()).expect("a provider");
    let (address, seen) = (provider.address(), provider.seen());
    tokio::spawn(provider.serve(std::future::pending()));
    (address, seen)
}

/// Returns whether the model ended the session.
async fn work(url: &str, format: Format, steps: usize) -> bool {
    let task = format!("Count what all cellars hold, one after the other, and {TASK}.");
    let requests = baler_scripted::work(url, format, &task, steps + 1).await;
    requests.is_ok()
}

fn assert_good(report: &Report, steps: usize, what: &str) {
    assert_eq!(report.refused, Vec::<String>::new(), "{what}");
    assert!(report.is_done, "{what}: {report:?}");
    assert_eq!((report.steps, report.without_task), (steps, 0), "{what}");
}

fn total(exchanges: &Exchanges) -> Total {
    let mut total = Total::default();
    exchanges
        .lock()
        .expect("no panic")
        .iter()
        .for_each(|exchange| total.add(exchange));
    total
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_its_window_would_end_comes_to_its_end() {
    for format in [
        Format::Anthropic,
        Format::OpenAiChat,
        Format::OpenAiResponses,
        Format::Gemini,
    ] {
        let (address, seen) = provider(60, 10_000);
        assert!(
            !work(&format!("http://{address}"), format, 60).await,
            "{format:?}"
        );
        assert_eq!(
            seen.report().too_long,
            1,
            "{format:?}: without a proxy it ends early"
        );

        let (address, seen) = provider(60, 10_000);
        let (url, exchanges) = start(builder(address, 8_000, 3_000));
        assert!(
            work(&url, format, 60).await,
            "{format:?}: {:?}",
            seen.report()
        );
        let report = seen.report();
        assert_good(&report, 60, &format!("{format:?}"));
        assert_eq!(report.too_long, 0, "{format:?}");
        let total = total(&exchanges);
        assert!(
            (3..12).contains(&total.compactions),
            "{format:?}: {total:?}"
        );
        assert!(
            report.breaks <= total.compactions,
            "{format:?}: {report:?} {total:?}"
        );
        assert!(report.cached_share > 0.8, "{format:?}: {report:?}");
        assert!(
            total.tokens_sent < total.tokens_came / 2,
            "{format:?}: {total:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_provider_refuses_as_too_long_is_sent_again_smaller() {
    for format in [
        Format::Anthropic,
        Format::OpenAiChat,
        Format::OpenAiResponses,
        Format::Gemini,
    ] {
        // The window of the model is smaller than the proxy believes.
        let (address, seen) = provider(40, 6_000);
        let (url, exchanges) = start(builder(address, 50_000, 30_000));
        assert!(
            work(&url, format, 40).await,
            "{format:?}: {:?}",
            seen.report()
        );
        let report = seen.report();
        assert_good(&report, 40, &format!("{format:?}"));
        assert!(report.too_long > 0, "{format:?}");
        let again = exchanges
            .lock()
            .expect("no panic")
            .iter()
            .filter(|one| one.again)
            .count();
        assert_eq!(again, report.too_long, "{format:?}");
    }
}

#[tokio::test]
async fn a_refusal_within_a_stream_leads_to_a_smaller_request_too() {
    let refused = "event: response.created\ndata: {\"type\":\"response.created\"}\n\nevent: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model.\"}}}\n\n";
    let said = "event: response.created\ndata: {\"type\":\"response.created\"}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n";
    let upstream = upstream(move |number, _| {
        let mut response = Response::new(Body::from(if number == 0 { refused } else { said }));
        let events = HeaderValue::from_static("text/event-stream");
        response.headers_mut().insert(header::CONTENT_TYPE, events);
        response
    });
    let (url, _) = start(builder(upstream.address, 100_000, 50_000));
    let body = chat(60, "Aino").replace("\"messages\"", "\"input\"");
    let answer = client()
        .post(format!("{url}/v1/responses"))
        .body(body.clone())
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.headers()["x-baler"], "compacted");
    assert_eq!(answer.text().await.expect("a body"), said);
    assert_eq!(upstream.count(), 2);
    assert!(upstream.last().body.len() < body.len());
    // What cannot be made smaller gets the provider's own refusal.
    let small = r#"{"model": "gpt-5", "input": "Hello!"}"#;
    let upstream = self::upstream(move |_, _| {
        let mut response = Response::new(Body::from(
            r#"{"error": {"code": "context_length_exceeded", "message": "no"}}"#,
        ));
        *response.status_mut() = StatusCode::BAD_REQUEST;
        response
    });
    let (url, _) = start(builder(upstream.address, 100_000, 50_000));
    let answer = client()
        .post(format!("{url}/v1/responses"))
        .body(small)
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    assert_eq!(upstream.count(), 1);
}

fn ok(_: usize, _: &Bytes) -> Response<Body> {
    Response::new(Body::from("{}"))
}

#[tokio::test]
async fn a_session_goes_on_as_it_was_shown_after_a_restart() {
    let upstream = upstream(ok);
    let (_folder, views) = folder();
    let done =
        async |url: &str, turns| ask(url, chat(turns, "Aino")).await.headers()["x-baler"].clone();
    let (url, _) = start(builder(upstream.address, 3_000, 1_500).views(&views));
    assert_eq!(done(&url, 30).await, "compacted");
    let before = upstream.last().body;
    let (url, _) = start(builder(upstream.address, 3_000, 1_500).views(&views));
    assert_eq!(done(&url, 30).await, "shown");
    assert_eq!(upstream.last().body, before);
    assert_eq!(done(&url, 31).await, "shown");
    let common = upstream
        .last()
        .body
        .iter()
        .zip(&before)
        .take_while(|(one, other)| one == other)
        .count();
    assert!(
        common > before.len() * 9 / 10,
        "{common} of {}",
        before.len()
    );
}

#[tokio::test]
async fn what_a_provider_refuses_of_baler_goes_on_as_it_came() {
    let whole = chat(30, "Aino").len();
    let upstream = upstream(move |_, body| {
        let mut response = Response::new(Body::from(
            r#"{"error": {"message": "Invalid `signature` in `thinking` block"}}"#,
        ));
        if body.len() < whole {
            *response.status_mut() = StatusCode::BAD_REQUEST;
        }
        response
    });
    let (_folder, views) = folder();
    let (url, exchanges) = start(builder(upstream.address, 2_000, 800).views(&views));
    for (done, requests) in [
        ("passed; why=refused-by-provider", 2),
        ("passed; why=tried-recently", 3),
    ] {
        let body = chat(30, "Aino");
        let answer = ask(&url, body.clone()).await;
        assert_eq!(
            (
                answer.status().as_u16(),
                answer.headers()["x-baler"].to_str().ok()
            ),
            (200, Some(done))
        );
        assert_eq!(upstream.last().body, body);
        assert_eq!(upstream.count(), requests);
        drop(answer.bytes().await);
    }
    assert_eq!(
        std::fs::read_dir(views).expect("a folder").count(),
        0,
        "the view is forgotten"
    );
    let told = exchanges.lock().expect("no panic").clone();
    let of = |one: &Exchange| (one.status, one.again, one.action, one.receipt.is_some());
    assert_eq!(
        told.iter().map(of).collect::<Vec<_>>(),
        [
            (400, false, Action::Compacted, true),
            (200, true, Action::Passed, false),
            (200, false, Action::Passed, false),
        ]
    );
    assert!(told.iter().all(|one| one.session == told[0].session));
    let total = total(&exchanges);
    assert_eq!((total.requests, total.failed), (2, 0));
    assert_eq!(total.tokens_came, total.tokens_sent);
}

#[tokio::test]
async fn what_a_compaction_removed_is_on_record_though_the_client_left_while_it_worked() {
    let upstream = upstream(ok);
    let body = chat(400, "Aino");
    let left = async |patience: Duration| {
        let (url, exchanges) = start(builder(upstream.address, 2_000, 800));
        let request = client()
            .post(format!("{url}/v1/chat/completions"))
            .body(body.clone())
            .timeout(patience);
        let has_left = request.send().await.is_err();
        for _ in 0..100 {
            if let Some(one) = exchanges.lock().expect("no panic").first().cloned() {
                return has_left.then_some(one);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        None
    };
    // A machine may be slow to send the body, or quick to compact it.
    for patience in [20, 40, 80, 160, 320, 640] {
        if let Some(one) = left(Duration::from_millis(patience)).await {
            assert_eq!((one.status, one.action), (0, Action::Compacted));
            assert!(one.receipt.is_some() && !one.session.is_empty());
            return;
        }
    }
    panic!("no client left within the time of a compaction");
}

#[tokio::test]
async fn sessions_with_one_name_do_not_mix() {
    let upstream = upstream(ok);
    let (url, exchanges) = start(builder(upstream.address, 2_000, 800));
    for turns in [25, 26, 40, 41] {
        for name in ["Aino", "Väinö"] {
            let request = client()
                .post(format!("{url}/v1/chat/completions"))
                .header("x-session-id", "same");
            request
                .body(chat(turns, name))
                .send()
                .await
                .expect("an answer");
            let sent = String::from_utf8(upstream.last().body.to_vec()).expect("text");
            let other = if name == "Aino" { "Väinö" } else { "Aino" };
            assert!(
                sent.contains(name) && !sent.contains(other),
                "{turns} {name}"
            );
            assert!(sent.contains("never enter harbour 13"));
            assert!(sent.contains(r#""extra": {"kept": [1, 2]}"#));
        }
    }
    let told = exchanges.lock().expect("no panic");
    assert!(
        told.iter()
            .all(|exchange| exchange.session == "same" && exchange.model == "gpt-4o")
    );
    assert!(
        told.iter()
            .any(|exchange| exchange.action == Action::Compacted && exchange.receipt.is_some())
    );
}

#[tokio::test]
async fn a_compressed_request_is_compacted_too() {
    let upstream = upstream(ok);
    let (url, _) = start(builder(upstream.address, 2_000, 800));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(chat(30, "Aino").as_bytes()).expect("memory");
    let gzip = gzip.finish().expect("memory");
    let compressed = |encoding: &'static str| {
        client()
            .post(format!("{url}/v1/chat/completions"))
            .header("content-encoding", encoding)
            .body(gzip.clone())
            .send()
    };
    assert_eq!(
        compressed("gzip").await.expect("an answer").headers()["x-baler"],
        "compacted"
    );
    let got = upstream.last();
    assert!(!got.headers.contains_key("content-encoding"));
    assert!(serde_json::from_slice::<Value>(&got.body).is_ok());
    assert_eq!(
        compressed("br").await.expect("an answer").headers()["x-baler"],
        "passed; why=content-encoding"
    );
    assert_eq!(upstream.last().body, gzip);
}

#[tokio::test]
async fn in_the_shadow_everything_goes_on_as_it_came() {
    let upstream = upstream(ok);
    let (_folder, views) = folder();
    let shadow = builder(upstream.address, 2_000, 800).shadow(true);
    let (url, exchanges) = start(shadow.views(&views));
    let body = chat(30, "Aino");
    let answer = ask(&url, body.clone()).await;
    assert_eq!(answer.headers()["x-baler"], "shadow; would=compacted");
    assert_eq!(upstream.last().body, body);
    drop(answer.bytes().await);
    let told = exchanges.lock().expect("no panic");
    let [came, sent] = told[0].tokens;
    assert!(sent < came / 2 && told[0].shadow);
    assert!(!views.exists(), "another proxy would show the view");
}

#[tokio::test]
async fn what_is_recorded_of_a_session_can_be_read_again() {
    let upstream = upstream(ok);
    let (url, exchanges) = start(builder(upstream.address, 2_000, 800));
    for turns in [30, 31] {
        let answer = ask(&url, chat(turns, "Aino")).await;
        drop(answer.bytes().await);
    }
    let (_folder, path) = folder();
    let sessions = Sessions::open(&path).expect("a folder");
    let told = exchanges.lock().expect("no panic").clone();
    for exchange in &told {
        sessions.add(exchange).expect("is written");
    }
    let names = sessions.names();
    assert_eq!(names, [told[0].session.clone()]);
    assert_eq!(sessions.exchanges(&names[0]).expect("is read"), told);
    assert!(sessions.exchanges("../views").is_err());
    std::fs::create_dir(path.join("a-folder.jsonl")).expect("a folder");
    let nothing = sessions.exchanges("a-folder").unwrap_or_default();
    assert_eq!(nothing, []);
    let text = std::fs::read_to_string(path.join(format!("{}.jsonl", names[0]))).expect("a file");
    assert!(!text.contains("harbour") && !text.contains("Aino"));
}

/// A request of a session with this many turns, each of which begins with the one before.
fn growing(turns: usize) -> String {
    let mut body: Value = serde_json::from_str(&chat(turns, "the Petrel")).expect("JSON");
    body["messages"].as_array_mut().expect("a list").pop();
    body.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_stays_within_what_the_provider_counts() {
    // Several times what the proxy counts.
    let tokens = |bytes: usize| bytes * 2 / 3;
    let upstream = upstream(move |_, body| {
        let usage = format!(r#""usage": {{"prompt_tokens": {}}}"#, tokens(body.len()));
        Response::new(Body::from(format!(r#"{{"choices": [], {usage}}}"#)))
    });
    let (at, turn) = (12_000, tokens(growing(2).len() - growing(1).len()));
    let (url, exchanges) = start(builder(upstream.address, at, 6_000));
    for turns in 1..80 {
        let answer = ask(&url, growing(turns)).await;
        assert_eq!(answer.status(), StatusCode::OK);
        answer.bytes().await.expect("the whole answer");
        let sent = tokens(upstream.last().body.len());
        // The newest turn is not counted yet.
        assert!(
            sent < at as usize + turn,
            "{sent} tokens after {turns} turns"
        );
    }
    let total = total(&exchanges);
    assert!((2..12).contains(&total.compactions), "{total:?}");
    let largest = exchanges.lock().expect("no panic");
    let largest = largest.iter().map(|one| one.tokens[1]).max();
    assert!(largest < Some(at / 2), "by its own count: {largest:?}");
}
