//! `baler validate`.

use serde_json::{Value, json};

use crate::conversations::{REPAIRS, broken_chat, chat_with_a_warning, half_mendable, places};
use crate::support::{Bench, example, examples};

#[test]
fn validate_names_each_broken_rule_with_its_place_and_remedy() {
    let bench = Bench::new();
    for file in examples() {
        let ran = bench.run(&["validate", &file]).ends(0);
        assert!(ran.stdout.starts_with("valid: "), "{}", ran.stdout);
    }
    let broken = bench.file(
        "broken.json",
        json!({"model": "claude-sonnet-4-5", "messages": [
            {"role": "user", "content": "Weigh anchor, secret captain."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "weigh", "input": {}}]},
            {"role": "user", "content": [{"type": "text", "text": ""}]},
        ]})
        .to_string(),
    );
    let ran = bench.run(&["validate", &broken]).ends(5);
    for told in [
        "invalid: 3 messages of anthropic break rules at 2 places",
        "message 2: a `tool_use` has no `tool_result` in the next message (ANTH-3)",
        "→ answer every `tool_use`",
        "message 3: a text part is empty (ANTH-6)",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("secret"), "{}", ran.stdout);
    let ran = bench.run(&["validate", &broken, "--json"]).ends(5);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(told["valid"], false);
    assert_eq!(told["format"], "anthropic");
    assert_eq!(told["violations"][0]["rule"], "ANTH-3");
    assert_eq!(told["violations"][0]["message"], 2);
    assert_eq!(told["violations"][0]["severity"], "error");
    assert!(told["violations"][0]["remedy"].is_string());
    let ran = bench.run(&["validate", &broken, "-q"]).ends(5);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
}

#[test]
fn validate_shows_warnings_of_a_valid_conversation() {
    let bench = Bench::new();
    let file = bench.file("warned.json", chat_with_a_warning().to_string());
    let ran = bench.run(&["validate", &file]).ends(0);
    for told in [
        "valid: 5 messages of openai-chat\nwarnings at 1 place: ",
        "\n  warning: message 5: a text part is empty (ALL-6)\n    → remove the empty text",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
    bench.run(&["validate", &file, "-q"]).ends(0);
    let ran = bench.run(&["validate", &file, "--json"]).ends(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(told["valid"], true);
    assert_eq!(places(&told["violations"]), [("ALL-6", 5)]);
    assert_eq!(told["violations"][0]["severity"], "warning");

    // Errors come first, and alone decide.
    let mut both = chat_with_a_warning();
    both["messages"][2]["tool_call_id"] = json!("c2");
    let both = bench.file("both.json", both.to_string());
    let ran = bench.run(&["validate", &both]).ends(5);
    let at = |words: &str| {
        ran.stdout
            .find(words)
            .unwrap_or_else(|| panic!("{words}: {}", ran.stdout))
    };
    assert!(at("(CHAT-1)") < at("\nwarnings at 1 place: "));
    assert!(!ran.stdout.contains("warning: message 3"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("secret"), "{}", ran.stdout);
}

#[test]
fn validate_reports_what_a_repair_would_change_and_leave() {
    let bench = Bench::new();
    let file = bench.file("broken.json", broken_chat().to_string());
    bench.run(&["validate", &file]).ends(5);
    let ran = bench.run(&["validate", &file, "--repair"]).ends(0);
    let told = "\n--repair would make 3 changes\n  message 4: left out: an output without a call (CHAT-1)\n";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("and no broken rule would remain\n"));
    let ran = bench.run(&["validate", &file, "--repair", "--json"]);
    let told: Value = serde_json::from_str(&ran.ends(0).stdout).expect("JSON");
    assert_eq!(told["valid"], false);
    assert_eq!(places(&told["repairs"]), REPAIRS);
    assert_eq!(told["unrepaired"], json!([]));

    let file = bench.file("half.json", half_mendable());
    let ran = bench.run(&["validate", &file, "--repair"]).ends(5);
    assert!(
        ran.stdout.contains("\n--repair would make 1 change\n  message 2: left out: a message without content (ANTH-6)\nand broken rules would remain at 1 place\n  message 3: "),
        "{}",
        ran.stdout
    );
    assert_eq!(bench.entries(), ["broken.json", "half.json"]);
    let valid = example("fix-a-bug.openai.json");
    let ran = bench.run(&["validate", &valid, "--repair"]).ends(0);
    assert!(ran.stdout.starts_with("valid: ") && !ran.stdout.contains("repair"));
}
