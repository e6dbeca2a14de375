//! The pages of `baler ui`, which are those of `baler run` and `baler proxy`.

mod browser;
mod client;
mod trying;

use std::fs;

use serde_json::{Value, json};

use crate::proxied::{TASK, provider, run};
use crate::support::{Bench, compact_with_receipt, example, private_folder, read_receipt};
use client::Served;

/// Records a session of 61 requests, some of which were compacted. Returns its name.
fn session(bench: &Bench) -> String {
    let (url, _seen) = provider();
    run(bench, &url, &["--at", "8000", "--budget", "3000"]).ends(0);
    let sessions: Value =
        serde_json::from_str(&bench.run(&["sessions", "--json"]).stdout).expect("JSON");
    sessions[0]["session"].as_str().expect("a name").to_owned()
}

/// Records a request of another program.
fn record(bench: &Bench, name: &str, exchange: &Value) {
    if !bench.path("state/sessions").exists() {
        fs::create_dir_all(bench.path("state")).expect("a folder");
        private_folder(bench, "state/sessions");
    }
    bench.file(
        &format!("state/sessions/{name}.jsonl"),
        format!("{exchange}\n"),
    );
}

/// A request that passed.
fn exchange(more: &Value) -> Value {
    let mut exchange = json!({
        "time": 1_700_000_000, "session": "s", "run": null, "program": "agent/1", "upstream": "anthropic",
        "format": "anthropic", "model": "claude-opus-5-5", "action": "passed", "why": null, "shadow": false, "again": false,
        "messages": [3, 3], "tokens": [900, 900], "bytes": [4_000, 4_000], "added-us": 200, "status": 200, "usage": null,
        "receipt": null,
    });
    for (name, value) in more.as_object().expect("members") {
        exchange[name] = value.clone();
    }
    exchange
}

#[test]
fn a_session_is_shown_with_its_compactions_and_what_they_removed() {
    let bench = Bench::new();
    let name = session(&bench);
    for aside in 0..3 {
        record(&bench, &format!("title-{aside}"), &exchange(&json!({})));
    }
    let floor = exchange(&json!({"why": "at-floor"}));
    record(&bench, "floor", &floor);
    let served = Served::start(&bench, &[]);

    let list = served.get("/ui");
    assert_eq!(list.status, 200);
    let to_session = format!("/ui/sessions/{name}");
    let (before, after) = list
        .body
        .split_once("<details id=\"aside\">")
        .expect("others are apart");
    assert!(
        before.contains(&format!("href=\"{to_session}\"")),
        "{before}"
    );
    assert!(after.contains("3 smaller sessions") && after.contains("/ui/sessions/title-0"));
    assert!(before.contains("/ui/sessions/floor") && !before.contains("title-0"));

    let page = served.get(&to_session);
    assert_eq!(page.status, 200);
    assert!(
        page.body.contains("sizes of 61 requests"),
        "the chart has a text"
    );
    assert!(page.body.contains("that came, ") && page.body.contains("without baler"));
    assert!(page.body.contains("the request was due"));
    let first = format!("{to_session}/compactions/1");
    assert!(page.body.contains(&format!("href=\"{first}\"")));

    let compaction = served.get(&first);
    assert_eq!(compaction.status, 200);
    assert!(
        compaction.body.contains("outcome of "),
        "the strip of units"
    );
    let command = format!("baler sessions {name} --receipt 1 &gt; receipt.json");
    assert!(compaction.body.contains(&command), "{}", compaction.body);
    let texts: Vec<_> = compaction.links("/ui/archive/");
    let text = served.get(texts.first().expect("something was removed"));
    assert_eq!(text.status, 200);
    assert!(text.body.contains("is dusty and quiet"), "{}", text.body);
    let file = served.get(&format!("{}/json", texts[0]));
    assert_eq!(file.header("content-type"), Some("application/json"));
    assert!(
        file.header("content-disposition")
            .is_some_and(|value| value.starts_with("attachment"))
    );
    assert!(
        serde_json::from_str::<Value>(&file.body)
            .expect("JSON")
            .is_array()
    );
}

#[test]
fn what_does_not_exist_or_no_session_names_is_not_found() {
    let bench = Bench::new();
    let name = session(&bench);
    // Is in the archive, and nobody recorded it.
    let compacted = compact_with_receipt(
        &bench,
        &example("fix-a-bug.openai.json"),
        "receipt.json",
        &["--budget", "25%", "--output", "smaller.json"],
    );
    compacted.ends(0);
    let receipt = read_receipt(&bench, "receipt.json");
    let reference = receipt["archive"][0]["reference"]
        .as_str()
        .expect("removed");
    bench.run(&["expand", reference]).ends(0);
    let served = Served::start(&bench, &[]);
    for path in [
        "/ui/sessions/nobody".to_owned(),
        "/ui/sessions/..%2Fkey".to_owned(),
        format!("/ui/sessions/{name}/compactions/0"),
        format!("/ui/sessions/{name}/compactions/99"),
        format!("/ui/sessions/{name}/compactions/one"),
        format!("/ui/archive/{reference}"),
        format!("/ui/archive/{reference}/json"),
        "/ui/archive/0123456789abcdef0123".to_owned(),
        "/ui/archive/..%2F..%2Fkey".to_owned(),
        "/ui/try/0/0".to_owned(),
        "/ui/nothing".to_owned(),
        "/v1/messages".to_owned(),
    ] {
        let answer = served.get(&path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body.contains("<h1>Not found</h1>"), "{path}");
        assert!(!answer.body.contains(TASK), "{path}");
    }
}

#[test]
fn markup_in_what_was_recorded_is_text() {
    let bench = Bench::new();
    let hostile = "<script>alert(1)</script>\"'&<img/src=x>";
    let receipt = json!({
        "receipt": 1, "outcome": hostile, "why": hostile, "strategy": hostile, "fell-back": true, "attempts": [],
        "format": hostile, "tokenizer": hostile, "trigger": hostile,
        "tokens": {"before": 900, "after": 100, "budget": 200, "floor": 10, "overhead": 1, "below-floor": false},
        "bytes": {"before": 4_000, "after": 400}, "messages": {"before": 3, "after": 1}, "cache": null,
        "units": {"before": 2, "kept": 1, "rewritten": 0, "removed": 1, "inserted": 0, "thinking-removed": 0, "texts-shortened": 0, "pictures-left-out": 0},
        "reasons": [{"first": 0, "count": 1, "code": hostile}], "archive": [{"unit": 0, "reference": hostile}],
        "undo": hostile, "time-us": 5,
    });
    let of = exchange(&json!({
        "program": hostile, "model": hostile, "upstream": hostile, "why": hostile, "status": 500, "action": "compacted",
        "run": hostile, "tokens": [900, 100], "receipt": receipt,
    }));
    record(&bench, "odd", &of);
    let served = Served::start(&bench, &[]);
    for path in [
        "/ui",
        "/ui/sessions/odd",
        "/ui/sessions/odd/compactions/1",
        "/ui/archive/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
    ] {
        let body = served.get(path).body;
        assert!(
            !body.contains("<script>") && !body.contains("<img"),
            "{path}: {body}"
        );
        if path != "/ui/archive/%3Cscript%3Ealert(1)%3C%2Fscript%3E" {
            assert!(body.contains("&lt;script&gt;"), "{path}: {body}");
        }
    }
}

#[test]
fn every_answer_forbids_what_is_not_of_the_pages() {
    let bench = Bench::new();
    let served = Served::start(&bench, &[]);
    for path in [
        "/ui",
        "/ui/try",
        "/ui/style.css",
        "/ui/script.js",
        "/ui/icon.svg",
        "/ui/nothing",
    ] {
        let answer = served.get(path);
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'self'; script-src 'self';"));
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"));
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}");
        }
        assert!(!answer.body.contains(" style=\""), "{path}");
        // A name of XML is not an address.
        let loaded = answer.body.replace("http://www.w3.org/2000/svg", "");
        assert!(
            !loaded.contains("http://") && !loaded.contains("https://"),
            "{path}"
        );
    }
    assert!(served.get("/ui").body.contains("No session yet"));
    assert_eq!(served.get("/").header("location"), Some("/ui"));
    // Under a name of its own for this machine, another site would read the pages.
    let elsewhere = served.send("GET", "/ui", "evil.example", &[], b"");
    assert_eq!(elsewhere.status, 421);
    assert_eq!(
        served.send("DELETE", "/ui", "127.0.0.1", &[], b"").status,
        405
    );
}

#[test]
fn pages_that_others_can_reach_ask_for_the_token() {
    let bench = Bench::new();
    let open = bench.run(&["ui", "--listen", "0.0.0.0:0"]).ends(2);
    assert!(open.stderr.contains("no token is set"), "{}", open.stderr);
    let token = bench.file("token", "s3cret-t0ken");
    let served = Served::start(&bench, &["--token-file", &token]);
    for headers in [&[][..], &["Authorization: Basic bWU6d3Jvbmc="]] {
        let refused = served.send("GET", "/ui", "any.example", headers, b"");
        assert_eq!(refused.status, 401);
        assert_eq!(
            refused.header("www-authenticate"),
            Some("Basic realm=\"baler\"")
        );
    }
    // `me:s3cret-t0ken`
    for shown in [
        "Authorization: Basic bWU6czNjcmV0LXQwa2Vu",
        "x-baler-token: s3cret-t0ken",
    ] {
        let page = served.send("GET", "/ui", "any.example", &[shown], b"");
        assert_eq!(page.status, 200, "{shown}");
    }
}

#[test]
fn a_proxy_serves_the_same_pages_and_passes_the_rest() {
    let bench = Bench::new();
    record(&bench, "one", &exchange(&json!({})));
    let served = Served::command(&bench, "proxy", &[]);
    assert!(served.get("/ui").body.contains("/ui/sessions/one"));
    assert!(served.get("/ui/try").body.contains("This proxy’s"));
    assert_eq!(served.get("/uix").status, 404);
    assert!(
        served
            .get("/uix")
            .body
            .contains("no upstream has this path")
    );
}
