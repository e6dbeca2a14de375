//! The input of `baler compact`: what it reads, and the errors where it cannot.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Bench, example};

#[test]
fn unreadable_input_is_reported_with_its_kind() {
    let bench = Bench::new();
    let example = fs::read(example("fix-a-bug.openai.json")).expect("an example");
    let deep = format!(
        r#"{{"messages":[{{"role":"user","content":{}1{}}}]}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let cases: [(&str, &[u8], &str); 13] = [
        ("empty", b"", "the document is empty"),
        ("blank", b" \n ", "the document is empty"),
        (
            "truncated",
            &example[..5_000],
            "not JSON: EOF while parsing",
        ),
        (
            "not UTF-8",
            b"{\"messages\": \"\xff\"}",
            "not UTF-8: the byte at offset 14",
        ),
        ("prose", b"hello there", "not JSON"),
        (
            "a number",
            b"99999999999999999999999999999999",
            "expected the document to be an object or a list",
        ),
        (
            "a request without a conversation",
            br#"{"model":"m","prompt":"x"}"#,
            "holds no conversation: give a request body",
        ),
        (
            "a response",
            br#"{"id":"r","choices":[{"message":{"role":"assistant","content":"x"}}]}"#,
            "looks like a response; give the request",
        ),
        (
            "a role of its own",
            br#"{"messages":[{"role":"wizard","content":"x"}]}"#,
            "message 1: `wizard` is not a role",
        ),
        (
            "a key twice",
            br#"{"messages":[{"role":"user","role":"user","content":"x"}]}"#,
            "message 1: key `role` comes twice",
        ),
        ("deep", deep.as_bytes(), "message 1: "),
        (
            "a log of an unknown program",
            b"{\"type\":\"said\",\"text\":\"x\"}\n{\"type\":\"said\",\"text\":\"y\"}\n",
            "looks like a log of lines from an unknown program; supported logs: claude-code, claude-stream-json, codex, pi",
        ),
        (
            "a log of a program that is not read",
            b"{\"type\":\"init\",\"session_id\":\"d\",\"model\":\"gemini-3-pro\"}\n",
            "a log of `gemini --output-format stream-json`, which baler cannot read",
        ),
    ];
    for (name, input, message) in cases {
        let file = bench.file("input.json", input);
        for ran in [
            bench.run(&["compact", &file]),
            bench.run_with_input(&["compact", "-"], input),
        ] {
            assert_eq!(
                (ran.code, ran.stdout.as_str()),
                (5, ""),
                "{name}: {}",
                ran.stderr
            );
            assert!(
                ran.stderr.starts_with("error: cannot read ") && ran.stderr.contains(message),
                "{name}: {}",
                ran.stderr
            );
            assert!(ran.stderr.len() < 600, "{name}: {}", ran.stderr);
        }
    }
}

#[test]
fn input_that_is_not_a_file_is_reported_with_a_remedy() {
    let bench = Bench::new();
    bench.run(&["compact", "nowhere.json"]).ends(5).says(&[
        "cannot read `nowhere.json`; name a readable file",
        "No such file",
    ]);
    bench
        .run(&["compact", "."])
        .ends(5)
        .says(&["cannot read `.`", "it is a folder"]);
    bench
        .run(&["compact"])
        .ends(5)
        .says(&["the document is empty"]);
}

#[cfg(unix)]
#[test]
fn input_without_read_permission_is_reported() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    let file = bench.file("closed.json", "{}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).expect("closed");
    // Root may read everything, and then there is nothing to see here.
    if fs::read(&file).is_err() {
        bench
            .run(&["compact", &file])
            .ends(5)
            .says(&["closed.json", "Permission denied"]);
    }
}

#[test]
fn a_session_log_becomes_the_request_of_its_provider() {
    let bench = Bench::new();
    // Its program is still writing.
    let whole = fs::read_to_string(example("fix-a-clock.claude-code.jsonl")).expect("an example");
    let log = bench.file("session.jsonl", &(whole + r#"{"parentUuid":"u0"#));
    let ran = bench.run(&["compact", &log, "--budget", "40%"]).ends(0);
    assert!(
        ran.stderr.contains("half-written last line"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stdout.contains("a sub-agent's words"));
    let body: Value = serde_json::from_str(&ran.stdout).expect("a request body");
    assert_eq!(body["model"], "claude-sonnet-4-5");
    bench
        .run_with_input(&["validate"], ran.stdout.as_bytes())
        .ends(0);
}

#[test]
fn lines_of_a_session_log_that_are_not_understood_are_told() {
    let bench = Bench::new();
    let line = |kind: &str, id: &str, message: Value| {
        json!({"type": kind, "uuid": id, "sessionId": "s", "message": message}).to_string()
    };
    let log = [
        line("user", "u1", json!({"role": "user", "content": "Count the piers."})),
        json!({"type": "hologram", "sessionId": "s"}).to_string(),
        json!({"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": "Now."})
            .to_string(),
        line(
            "assistant",
            "a1",
            json!({"id": "m1", "role": "assistant", "model": "claude-sonnet-4-5",
                   "content": [{"type": "text", "text": "Two."}]}),
        ),
    ]
    .join("\n");
    let ran = bench.run_with_input(&["validate"], log.as_bytes()).ends(0);
    for told in [
        "1 line of an unknown kind",
        "1 queued message that the model has not seen",
    ] {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
}
