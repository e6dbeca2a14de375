//! Conversations that break rules, with and without `--repair`.

use std::fs;

use baler_generated::broken_at;
use serde_json::{Value, json};

use crate::conversations::{REPAIRS, broken_chat, chat_with_a_warning, half_mendable, places};
use crate::support::Bench;

#[test]
fn broken_rule_is_reported_with_its_place_and_remedy_and_nothing_is_done() {
    let bench = Bench::new();
    let document = json!({"messages": [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c9", "content": "a secret"},
        {"role": "user", "content": "bye"}]})
    .to_string();
    let ran = bench
        .run_with_input(&["compact"], document.as_bytes())
        .ends(5)
        .says(&[
            "error: the conversation breaks rules of openai-chat",
            "message 2: ",
            "(ALL-4)",
            "→ give every tool call a unique id",
        ])
        .says(&["message 3: ", "CHAT-1", "→ "]);
    assert_eq!(ran.stdout, document);
    assert!(!ran.stderr.contains("secret"));
    bench
        .run_with_input(&["should-compact", "--budget", "9"], document.as_bytes())
        .ends(5)
        .says(&["message 2", "→"]);
}

#[test]
fn compact_tolerates_warnings_and_its_repair_removes_them() {
    let bench = Bench::new();
    let file = bench.file("warned.json", chat_with_a_warning().to_string());
    let arguments = ["compact", &file, "-s", "native:truncate", "--budget", "50%"];
    let ran = bench.run(&[&arguments[..], &["--json"]].concat()).ends(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(told["receipt"]["outcome"], "compacted");
    assert_eq!(told["receipt"]["violations"][0]["severity"], "warning");

    let ran = bench.run(&["validate", &file, "--repair"]).ends(0);
    let told = [
        "\n--repair would make 1 change\n",
        "(ALL-6)\nand no broken rule would remain\n",
    ];
    assert!(
        told.iter().all(|told| ran.stdout.contains(told)),
        "{}",
        ran.stdout
    );
    let ran = bench
        .run(&["compact", &file, "--repair", "--budget", "100000"])
        .ends(0);
    let repaired = bench
        .run_with_input(&["validate"], ran.stdout.as_bytes())
        .ends(0);
    assert!(!repaired.stdout.contains("warning"), "{}", repaired.stdout);
}

#[test]
fn repair_is_not_advised_where_it_would_repair_nothing() {
    let bench = Bench::new();
    // Nobody but the model can name what it called.
    let call = json!({"id": "c1", "type": "function", "function": {"arguments": "{}"}});
    let document = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Find the treasure."},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "only sand here; ".repeat(50)},
        {"role": "user", "content": "Dig deeper."},
    ]});
    let file = bench.file("nameless.json", document.to_string());
    let ran = bench
        .run(&["compact", &file, "--budget", "60%", "-s", "native:truncate"])
        .ends(5)
        .says(&["nothing was done, and --repair cannot repair any of it"]);
    assert_eq!(ran.stdout, document.to_string());
}

#[test]
fn a_conversation_that_breaks_rules_is_refused_without_repair_and_compacted_with_it() {
    let bench = Bench::new();
    let document = broken_chat().to_string();
    let file = bench.file("broken.json", &document);
    let arguments = ["compact", &file, "--budget", "60%", "-s", "native:truncate"];
    let ran = bench
        .run(&arguments)
        .ends(5)
        .says(&["nothing was done; --repair repairs what can be repaired"]);
    assert_eq!(ran.stdout, document);

    let repaired = [&arguments[..], &["--repair"]].concat();
    let ran = bench.run(&repaired).ends(0).says(&[
        "compacted by native:truncate",
        "repaired  3 changes for ALL-4, CHAT-1",
        "archived ",
    ]);
    assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    bench
        .run_with_input(&["validate"], ran.stdout.as_bytes())
        .ends(0);

    let with_json = [&repaired[..], &["--json", "--archive", "bales"]].concat();
    let ran = bench.run(&with_json).ends(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let receipt = &told["receipt"];
    assert_eq!(receipt["outcome"], "compacted");
    assert_eq!(receipt["violations"], json!([]));
    assert_eq!(places(&receipt["repairs"]), REPAIRS);
    for original in receipt["originals"].as_array().expect("a list") {
        let reference = original["reference"].as_str().expect("a reference");
        let stored = fs::read(
            bench
                .path("bales/entries")
                .join(format!("{reference}.json")),
        );
        let stored: Value = serde_json::from_slice(&stored.expect("is there")).expect("JSON");
        let number = original["message"].as_u64().expect("a number") as usize;
        assert_eq!(stored, json!([broken_chat()["messages"][number - 1]]));
    }
}

#[test]
fn a_conversation_within_its_budget_comes_out_repaired() {
    let bench = Bench::new();
    let file = bench.file("broken.json", broken_chat().to_string());
    let arguments = ["compact", &file, "--repair", "--budget", "100000"];
    let mut expected = broken_chat();
    let messages = expected["messages"].as_array_mut().expect("messages");
    messages.remove(3);
    messages[3]["tool_calls"][1]["id"] = json!("c1-2");
    messages[5]["tool_call_id"] = json!("c1-2");

    let ran = bench.run(&[&arguments[..], &["--archive", "bales"]].concat());
    let ran = ran.ends(0).says(&[
        "repaired, not compacted: the conversation is within its budget",
        "archived 3 messages as they were before the repair in `bales`",
    ]);
    let out: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(out, expected);
    bench
        .run_with_input(&["compact", "--budget", "100000"], ran.stdout.as_bytes())
        .ends(0);

    let dry = [&arguments[..], &["--dry-run", "--receipt", "receipt.json"]].concat();
    let ran = bench.run(&dry).ends(0).says(&["would be repaired"]);
    assert_eq!(ran.stdout, "");
    assert_eq!(bench.entries(), ["bales", "broken.json"]);
}

#[test]
fn unrepairable_violation_is_reported_and_nothing_is_done() {
    let bench = Bench::new();
    let file = bench.file("broken.json", half_mendable());
    for command in ["compact", "should-compact"] {
        let arguments = [command, &file, "--repair", "--budget", "9"];
        let ran = bench.run(&arguments).ends(5).says(&[
            "breaks rules of anthropic at 1 place; --repair cannot repair that, so nothing was done",
            "message 3: a text part is empty (ANTH-6)",
            "→ remove the empty text",
        ]);
        assert!(!ran.stderr.contains("message 2"), "{}", ran.stderr);
        if command == "compact" {
            assert_eq!(ran.stdout, half_mendable());
        }
    }
}

#[test]
fn cache_prefix_ends_at_the_first_repair() {
    let bench = Bench::new();
    let file = bench.file("broken.json", broken_chat().to_string());
    let compacted = |previous: &str| -> Value {
        let goal = ["--budget", "60%", "-s", "native:truncate"];
        let more = ["--repair", "--json", "--previous", previous];
        let ran = bench.run(&[&["compact", &file][..], &goal, &more].concat());
        serde_json::from_str(&ran.ends(0).stdout).expect("JSON")
    };
    let told = compacted(&file);
    let units = told["units"].as_array().expect("a list").iter();
    let before_it: u64 = units
        .filter(|entry| entry["unit"].as_u64().is_some_and(|unit| unit < 2))
        .filter_map(|entry| entry["tokens-before"].as_u64())
        .sum();
    assert_eq!(told["receipt"]["cache"]["tokens-cached"], before_it);
    // What was sent last was repaired as well.
    let repaired = bench.run(&["compact", &file, "--repair", "--budget", "100000"]);
    let repaired = bench.file("repaired.json", repaired.ends(0).stdout);
    let told = compacted(&repaired);
    assert_eq!(
        told["receipt"]["cache"]["tokens-cached"],
        told["receipt"]["tokens"]["before"]
    );
}

#[test]
fn first_of_many_violations_are_listed_and_all_are_counted() {
    let many = 10_000;
    let bench = Bench::new();
    let file = bench.file("many.json", broken_at(many));
    let ran = bench.run(&["validate", &file, "--repair"]).ends(0);
    let parts = [
        "break rules at 10,000 places\n  message 2: a content has no parts (GEM-5)",
        "\n  … and 9,000 more (GEM-5)\n",
        "\n--repair would make 10,000 changes\n  message 2: ",
        "\n  … and 9,000 more (GEM-5)\nand no broken rule would remain\n",
    ];
    let mut rest = ran.stdout.as_str();
    for part in parts {
        let at = rest.find(part).expect(part);
        rest = &rest[at + part.len()..];
    }
    assert_eq!(ran.stdout.matches("\n  message ").count(), 2_000);

    let broken = json!({"total": many, "errors": many, "warnings": 0, "rules": [{"rule": "GEM-5", "errors": many, "warnings": 0}]});
    let mended = json!({"total": many, "rules": [{"rule": "GEM-5", "repairs": many}]});
    let length = |list: &Value| list.as_array().map(Vec::len);
    let ran = bench
        .run(&["validate", &file, "--repair", "--json"])
        .ends(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(length(&told["violations"]), Some(1_000));
    assert_eq!(told["violation-counts"], broken);
    assert_eq!(length(&told["repairs"]), Some(1_000));
    assert_eq!(told["repair-counts"], mended);
    assert_eq!(told["unrepaired-counts"]["total"], 0);

    let compact = |more: &[&str]| {
        let arguments = [
            "compact",
            &file,
            "--budget",
            "100000",
            "-s",
            "native:truncate",
        ];
        bench.run(&[&arguments[..], more].concat())
    };
    let receipt = |more: &[&str], code| -> Value {
        let ran = compact(more).ends(code);
        let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        told["receipt"].clone()
    };
    let unchanged = receipt(&["--json"], 5);
    assert_eq!(length(&unchanged["violations"]), Some(1_000));
    assert_eq!(unchanged["violation-counts"], broken);
    let repaired = receipt(&["--json", "--repair"], 0);
    assert_eq!(repaired["outcome"], "repaired");
    assert_eq!(length(&repaired["repairs"]), Some(1_000));
    assert_eq!(repaired["repair-counts"], mended);
    assert_eq!(length(&repaired["originals"]), Some(1_000));
    assert_eq!(repaired["original-count"], many);
    compact(&[]).ends(5).says(&[
        "breaks rules of gemini at 10,000 places",
        "… and 9,980 more",
    ]);
    compact(&["--repair"]).ends(0).says(&[
        "repaired  10,000 changes for GEM-5; the receipt (--receipt, --json) lists the first 1,000",
        "10,000 messages as they were before the repair",
    ]);
}
