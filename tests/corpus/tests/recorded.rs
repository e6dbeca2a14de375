//! The program `recorded`: which requests count for and against rules, and its exit codes.

#![allow(clippy::expect_used, reason = "helpers of tests are tests")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use baler_corpus::recorded::EXCEPTIONS;
use serde_json::{Value, json};

const CHAT: &str = "https://api.example.org/v1/chat/completions";
const MESSAGES: &str = "https://api.example.org/v1/messages";

/// A folder of one test, with a set of recorded requests.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
        if path.exists() {
            fs::remove_dir_all(&path).expect("removes the folder of an earlier run");
        }
        fs::create_dir_all(path.join("garden")).expect("makes a folder");
        Self(path)
    }

    /// Adds requests, each as status, address, name of the recording and body.
    fn with(self, requests: &[(u16, &str, &str, Value)]) -> Self {
        let mut index = String::new();
        for (number, (status, address, recording, body)) in requests.iter().enumerate() {
            let body = body.to_string();
            let bytes = body.len();
            index += &format!("{number}.json\t{status}\t{address}\t{bytes}\t{recording}\ttext\n");
            fs::write(self.0.join(format!("garden/{number}.json")), body).expect("writes a body");
        }
        fs::write(self.0.join("garden/INDEX.tsv"), index).expect("writes an index");
        self
    }

    /// Runs the program, and returns its exit code, standard output and standard error.
    fn run(&self) -> (Option<i32>, String, String) {
        run(&[self.0.to_str().expect("is UTF-8")])
    }
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_recorded"));
    let ran = program.args(arguments).output().expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("is UTF-8");
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
}

fn asks() -> Value {
    json!({"role": "user", "content": "Water the secret ferns."})
}

/// A request of OpenAI Chat with an answer to a call that nobody made.
fn orphan() -> Value {
    json!({"model": "gpt-5.2", "messages": [asks(), {"role": "tool", "tool_call_id": "c1", "content": "wet"}]})
}

fn valid() -> Value {
    json!({"model": "gpt-5.2", "messages": [asks()]})
}

/// A request of Anthropic whose call and result have these ids, with white space before the call.
fn with_ids(call: &str, result: &str) -> Value {
    let call = json!({"type": "tool_use", "id": call, "name": "water", "input": {"bed": "北"}});
    let result = json!({"type": "tool_result", "tool_use_id": result, "content": "wet"});
    json!({"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [
        asks(),
        {"role": "assistant", "content": [{"type": "text", "text": " "}, call]},
        {"role": "user", "content": [result]},
    ]})
}

#[test]
fn accepted_request_with_an_error_fails() {
    let folder = Folder::new("accepted_request_with_an_error_fails").with(&[
        (200, CHAT, "", valid()),
        (200, CHAT, "", orphan()),
        (
            200,
            CHAT,
            "",
            json!({"messages": [{"role": "gardener", "content": "a"}]}),
        ),
    ]);
    let (code, told, _) = folder.run();
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.starts_with("3 requests: 3 accepted, 0 refused, 0 counted apart\n"),
        "{told}"
    );
    assert!(
        told.contains("\naccepted, and baler reports an error: 2\n  garden/1.json: CHAT-1\n  garden/2.json: message 1: "),
        "{told}"
    );
    assert!(told.contains("\n| CHAT-1 | 0 | 1 | 0 |\n"), "{told}");
    assert!(!told.contains("secret"), "{told}");
}

#[test]
fn warnings_and_exceptions_do_not_fail() {
    let excepted = EXCEPTIONS[0];
    let folder = Folder::new("warnings_and_exceptions_do_not_fail").with(&[
        (200, MESSAGES, "", with_ids("a", "a")),
        (201, MESSAGES, excepted.recording, with_ids("a", "b")),
    ]);
    let (code, told, _) = folder.run();
    assert_eq!(code, Some(0), "{told}");
    assert!(
        told.contains("\naccepted, and baler reports an error: 0\n"),
        "{told}"
    );
    for rule in excepted.rules {
        let line = format!("\n  garden/1.json: {rule}, {}\n", excepted.reason);
        assert!(told.contains(&line), "{told}");
        assert!(
            told.contains(&format!("\n| {rule} | 0 | 0 | 0 |\n")),
            "{told}"
        );
    }
    assert!(told.contains("\n| ANTH-6 | 0 | 0 | 2 |\n"), "{told}");
}

#[test]
fn refused_request_supports_the_rules_that_it_breaks_or_is_listed() {
    let folder = Folder::new("refused_request_supports_rules").with(&[
        (400, CHAT, "", orphan()),
        (422, CHAT, "", orphan()),
        (400, CHAT, "", valid()),
    ]);
    let (code, told, _) = folder.run();
    assert_eq!(code, Some(0), "{told}");
    assert!(
        told.starts_with("3 requests: 0 accepted, 3 refused, 0 counted apart\n"),
        "{told}"
    );
    assert!(told.contains("\n| CHAT-1 | 2 | 0 | 0 |\n"), "{told}");
    let listed = "\nrefused, and baler reports nothing (for their conversation or not): 1\n  garden/2.json\n";
    assert!(told.contains(listed), "{told}");
}

#[test]
fn what_tells_nothing_about_rules_is_counted_by_its_reason() {
    let embeddings = "https://api.example.org/v1/embeddings";
    let folder = Folder::new("what_tells_nothing_about_rules").with(&[
        (401, CHAT, "", orphan()),
        (429, CHAT, "", orphan()),
        (429, CHAT, "", valid()),
        (200, embeddings, "", json!({"model": "m", "input": "ferns"})),
        (
            200,
            "https://api.example.org/v9/talk",
            "",
            json!({"prompt": "ferns"}),
        ),
    ]);
    let (code, told, _) = folder.run();
    assert_eq!(code, Some(0), "{told}");
    let expected = "\
5 requests: 0 accepted, 0 refused, 5 counted apart
  apart: 1 an unknown format
  apart: 1 answered with 401
  apart: 2 answered with 429
  apart: 1 no conversation
";
    assert!(told.starts_with(expected), "{told}");
}

#[test]
fn what_cannot_be_read_ends_the_run_with_2() {
    let folder = Folder::new("what_cannot_be_read");
    let (code, _, error) = folder.run();
    assert_eq!(code, Some(2));
    assert!(error.contains("expected an INDEX.tsv"), "{error}");
    let folder = folder.with(&[(200, CHAT, "", valid())]);
    assert_eq!(folder.run().0, Some(0));
    fs::remove_file(folder.0.join("garden/0.json")).expect("removes a body");
    let (code, _, error) = folder.run();
    assert_eq!(code, Some(2));
    assert!(error.contains("0.json"), "{error}");
    for (line, told) in [
        (
            "0.json\tOK\thttps://api.example.org",
            "expected a status such as 200; found: OK",
        ),
        ("0.json\t200", "found columns: 2"),
    ] {
        fs::write(folder.0.join("garden/INDEX.tsv"), line).expect("writes an index");
        let (code, _, error) = folder.run();
        assert_eq!(code, Some(2));
        assert!(
            error.contains("INDEX.tsv, line 1") && error.contains(told),
            "{error}"
        );
    }
}

#[test]
fn help_is_printed_when_asked_for_and_beside_wrong_arguments() {
    let (code, told, _) = run(&["--help"]);
    assert_eq!(code, Some(0));
    assert!(told.contains("Usage: recorded FOLDER"), "{told}");
    let wrong: [&[&str]; 3] = [&[], &["--verbose"], &["a", "b"]];
    for arguments in wrong {
        let (code, told, error) = run(arguments);
        assert_eq!((code, told.as_str()), (Some(2), ""));
        assert!(
            error.contains("expected one folder") && error.contains("Usage:"),
            "{error}"
        );
    }
}
