//! `baler eval`, on recordings that were made up here, with figures that can be worked out by hand.

#![cfg(feature = "eval")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests end the test where something is not as it should be"
)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

/// What must never be printed.
const PRIVATE: &str = "the bread is in the oven";

/// A folder of recordings, and the program with a state folder of its own.
struct Bench(TempDir);

impl Bench {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_baler"))
            .current_dir(self.0.path())
            .env("BALER_STATE", self.path("state"))
            .arg("eval")
            .args(arguments)
            .output()
            .unwrap()
    }

    fn figures(&self, arguments: &[&str]) -> Value {
        let mut all = vec!["corpus", "--json", "figures.json"];
        all.extend(arguments);
        let ran = self.run(&all);
        assert!(ran.status.success(), "{}", said(&ran));
        serde_json::from_str(&fs::read_to_string(self.path("figures.json")).unwrap()).unwrap()
    }
}

fn said(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr)
}

/// Six files are named in the first message and again in the last one; between them are 18
/// messages of about 200 characters that name nothing. So at each cut six names are needed, all
/// of them far, and only what keeps the first message has them.
fn baking() -> String {
    let files = "oven.rs, dough.rs, flour.rs, salt.rs, yeast.rs and water.rs";
    let filler = format!("{PRIVATE} and ").repeat(7);
    let mut messages = vec![json!({"role": "user", "content": format!("Read {files}.")})];
    for message in 0..18 {
        let role = ["assistant", "user"][message % 2];
        messages.push(json!({"role": role, "content": filler}));
    }
    messages.push(json!({"role": "assistant", "content": format!("I have read {files}.")}));
    json!({"model": "gpt-4o", "messages": messages}).to_string()
}

fn mean(figures: &Value, strategy: &str, budget: f64, figure: &str) -> f64 {
    let rows = figures["summary"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["strategy"] == strategy && row["budget"] == budget && row["set"] == "all")
        .expect("it was measured");
    row["figures"][figure]["mean"].as_f64().unwrap()
}

#[test]
fn recall_is_the_share_of_needed_names_that_are_left() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    let figures = bench.figures(&["--strategy", "native:digest", "--budget", "50%"]);
    for (strategy, share) in [
        ("keep-last", 0.0),
        ("first+last", 1.0),
        ("native:digest", 1.0),
    ] {
        assert_eq!(mean(&figures, strategy, 0.5, "recall"), share, "{strategy}");
        assert_eq!(mean(&figures, strategy, 0.5, "far"), share, "{strategy}");
    }
    // 20 units, cut behind the 8th, 12th and 16th.
    let rows = figures["conversations"][0]["rows"].as_array().unwrap();
    let mut cuts: Vec<u64> = rows.iter().filter_map(|row| row["cut"].as_u64()).collect();
    cuts.dedup();
    assert_eq!(cuts, [8, 12, 16]);
    for row in rows {
        let measured = &row["measured"];
        assert!(measured["size"].as_f64().unwrap() <= 0.51, "{row}");
        assert_eq!(measured["is-invalid"], false);
    }
}

#[test]
fn no_text_of_a_message_is_printed_or_written() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    let ran = bench.run(&["corpus", "--json", "figures.json", "--resume", "done.jsonl"]);
    assert!(ran.status.success(), "{}", said(&ran));
    for text in [
        said(&ran),
        fs::read_to_string(bench.path("figures.json")).unwrap(),
        fs::read_to_string(bench.path("done.jsonl")).unwrap(),
    ] {
        assert!(!text.contains(PRIVATE) && !text.contains("dough.rs"));
    }
    assert!(!bench.path("state/archive").exists());
}

#[test]
fn what_is_done_is_not_done_again() {
    let bench = Bench::new();
    bench
        .file("corpus/bakery/one.json", &baking())
        .file("corpus/bakery/two.json", &baking());
    let arguments = [
        "corpus",
        "--strategy",
        "native:digest",
        "--resume",
        "done.jsonl",
    ];
    let first = bench.run(&arguments);
    assert!(first.status.success(), "{}", said(&first));
    let done = fs::read_to_string(bench.path("done.jsonl")).unwrap();
    assert_eq!(done.lines().count(), 2);
    // The second line was cut off by a crash.
    let cut = done.len() - 40;
    bench.file("done.jsonl", &done[..cut]);
    let again = bench.run(&arguments);
    assert!(again.status.success(), "{}", said(&again));
    let done = fs::read_to_string(bench.path("done.jsonl")).unwrap();
    assert_eq!(done.lines().count(), 2, "{done}");
    let recall = |ran: &Output| {
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        text.lines()
            .find(|line| line.starts_with("| native:digest"))
            .map(|line| line.split('|').take(4).collect::<String>())
    };
    assert_eq!(recall(&first), recall(&again));
}

#[test]
fn a_conversation_that_broke_a_rule_is_told_apart() {
    let bench = Bench::new();
    let orphan = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Look."},
        {"role": "tool", "tool_call_id": "c1", "content": "nothing asked for it"},
    ]});
    bench
        .file("corpus/bakery/one.json", &baking())
        .file("corpus/bakery/orphan.json", &orphan.to_string())
        .file("corpus/bakery/notes.txt", "not a conversation")
        .file("corpus/bakery/half.json", "{\"messages\": [");
    let ran = bench.run(&["corpus", "--strategy", "native:truncate"]);
    let said = said(&ran);
    assert!(
        said.contains("1 that break a rule of their format"),
        "{said}"
    );
    assert!(said.contains("bakery: 1 conversations, 3 cuts"), "{said}");
}

#[test]
fn wrong_use_is_told_with_what_to_do() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    bench.file("empty/readme.txt", "");
    for (arguments, expected) in [
        (&["nowhere"][..], "there is no folder `nowhere`"),
        (&["empty"], "no conversation was found in `empty`"),
        (&["corpus", "--set", "butcher"], "it has bakery"),
        (&["corpus", "--budget", "0%"], "a percentage is wanted"),
        (&["corpus", "--budget", "10"], "a percentage is wanted"),
        (&["corpus", "--strategy", "summarize"], "asks a model"),
        (&["corpus", "--strategy", "tierd"], "did you mean `tiered`?"),
        (
            &["corpus", "--recorded", "--budget", "5%"],
            "cannot be used with",
        ),
    ] {
        let ran = bench.run(arguments);
        assert_eq!(ran.status.code(), Some(2), "{arguments:?}: {}", said(&ran));
        assert!(
            said(&ran).contains(expected),
            "{arguments:?}: {}",
            said(&ran)
        );
    }
    bench.file("done.jsonl", "no JSON\n{}\n");
    let ran = bench.run(&["corpus", "--resume", "done.jsonl"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        said(&ran).contains("line 1 of `done.jsonl` is no result"),
        "{}",
        said(&ran)
    );
}

#[test]
fn a_recorded_compaction_is_measured_at_the_size_of_its_own_summary() {
    let bench = Bench::new();
    let line = |kind: &str, number: usize, content: Value| {
        json!({"type": kind, "uuid": format!("u{number}"), "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": kind, "id": format!("m{number}"), "model": "claude-sonnet-4", "content": content}})
        .to_string()
    };
    let files = "oven.rs, dough.rs, flour.rs, salt.rs, yeast.rs and water.rs";
    let filler = format!("{PRIVATE} and ").repeat(7);
    let mut lines = vec![line("user", 0, json!(format!("Read {files}.")))];
    for number in 1..10 {
        let kind = ["user", "assistant"][number % 2];
        let content = match kind {
            "user" => json!(filler),
            _ => json!([{"type": "text", "text": filler}]),
        };
        lines.push(line(kind, number, content));
    }
    lines.push(json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "sessionId": "s", "content": "compacted"}).to_string());
    lines.push(json!({"type": "user", "uuid": "sum", "sessionId": "s", "isCompactSummary": true,
        "message": {"role": "user", "content": "Three of the files were oven.rs, dough.rs and flour.rs."}}).to_string());
    lines.push(line("user", 20, json!("Go on.")));
    lines.push(line(
        "assistant",
        21,
        json!([{"type": "text", "text": format!("I have read {files}.")}]),
    ));
    bench.file("corpus/kitchen/session.jsonl", &(lines.join("\n") + "\n"));
    let figures = bench.figures(&["--recorded", "--strategy", "native:digest"]);
    assert_eq!(mean(&figures, "recorded", 0.0, "recall"), 0.5);
    assert_eq!(mean(&figures, "keep-last", 0.0, "recall"), 0.0);
}
