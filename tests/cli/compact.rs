//! `baler compact`: its results, its report on standard error, and `--json`.

use std::fs;

use serde_json::{Value, json};

use crate::conversations::{chat_with_a_warning, half_mendable};
use crate::support::{Bench, example, examples};

fn messages(document: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(document).expect("JSON");
    ["messages", "input", "contents"]
        .iter()
        .find_map(|list| document[*list].as_array())
        .expect("messages")
        .clone()
}

#[test]
fn every_example_gets_smaller_with_every_strategy_and_stays_valid() {
    let bench = Bench::new();
    for file in examples() {
        let before = fs::read_to_string(&file).expect("an example");
        for strategy in [
            "native:digest",
            "native:truncate",
            "sliding-window",
            "mask-tool-outputs",
        ] {
            let ran = bench
                .run(&["compact", &file, "--strategy", strategy])
                .ends(0);
            assert!(ran.stdout.len() < before.len(), "{file} with {strategy}");
            assert!(
                ran.stderr.contains(&format!("compacted by {strategy}")),
                "{}",
                ran.stderr
            );
            let first_of_user = |document: &str| {
                messages(document)
                    .into_iter()
                    .find(|message| message["role"] == "user")
            };
            assert_eq!(
                first_of_user(&ran.stdout),
                first_of_user(&before),
                "{file} with {strategy}"
            );
            // What came out is valid: a run over it finds nothing to do, not something wrong.
            let again = bench
                .run_with_input(&["compact", "--budget", "100%"], ran.stdout.as_bytes())
                .ends(0);
            assert_eq!(again.stdout, ran.stdout);
        }
    }
}

#[test]
fn messages_for_people_hold_no_text_of_the_conversation() {
    let bench = Bench::new();
    for strategy in ["native:digest", "mask-tool-outputs"] {
        let ran = bench
            .run(&["compact", &example("fix-a-bug.openai.json"), "-s", strategy])
            .ends(0);
        for word in ["abacus", "depth", "CHANGELOG", "brackets", "cargo"] {
            assert!(!ran.stderr.contains(word), "{word}: {}", ran.stderr);
        }
    }
}

#[test]
fn conversation_within_its_budget_comes_back_byte_for_byte() {
    let bench = Bench::new();
    let odd = "\u{feff} { \"messages\" : [ {\"role\":\"user\",\"content\":\"h\\u0069\", \"x\": 1.50e0} ] ,\r\n\"z\":1e2 }\n\n";
    let ran = bench
        .run_with_input(&["compact", "--budget", "1000"], odd.as_bytes())
        .ends(0);
    assert_eq!(ran.stdout, odd);
    assert!(
        ran.stderr
            .starts_with("unchanged: the conversation is within its budget\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn huge_numbers_and_unknown_fields_stay_as_they_are_written() {
    let bench = Bench::new();
    let document = r#"{"messages":[{"role":"user","content":"x","n":1e999999,"m":-99999999999999999999999999}],"seed":1e400}"#;
    let ran = bench.run_with_input(&["compact"], document.as_bytes());
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, document),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_came_of_asking_a_strategy_twice_is_in_the_report_and_in_the_receipt() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    let once = ["compact", &file, "-s", "sliding-window"];
    let twice = [&once[..], &["--verify"]].concat();
    for (arguments, expected) in [(&once[..], Value::Null), (&twice[..], json!("same"))] {
        let ran = bench.run(&[arguments, &["--json"]].concat()).ends(0);
        let run: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(run["receipt"]["attempts"][0]["verification"], expected);
    }
    let silent = bench.run(&once).ends(0);
    assert!(!silent.stderr.contains("verified"), "{}", silent.stderr);
    bench
        .run(&twice)
        .ends(0)
        .says(&["verified  asked twice, with the same answer"]);
}

#[test]
fn a_dry_run_writes_nothing() {
    let bench = Bench::new();
    let ran = bench
        .run(&[
            "compact",
            &example("fix-a-bug.openai.json"),
            "--dry-run",
            "--archive",
            "archive",
            "--output",
            "out.json",
            "--receipt",
            "receipt.json",
        ])
        .ends(0)
        .says(&[
            "rewritten",
            "would be compacted by tiered",
            "would archive ",
            " in `archive`",
        ]);
    assert_eq!(ran.stdout, "");
    assert_eq!(bench.entries(), [] as [&str; 0]);
}

#[test]
fn json_holds_conversation_receipt_and_units() {
    let bench = Bench::new();
    let input = example("book-a-flight.anthropic.json");
    let ran = bench.run(&["compact", &input, "--json"]).ends(0);
    assert_eq!(ran.stderr, "");
    let plain = bench.run(&["compact", &input]).ends(0).stdout;
    assert!(
        ran.stdout
            .starts_with(&format!("{{\"conversation\":{},", plain.trim()))
    );
    let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(value["receipt"]["outcome"], "compacted");
    let units = value["units"].as_array().expect("units");
    let after: u64 = units
        .iter()
        .map(|unit| unit["tokens-after"].as_u64().expect("tokens"))
        .sum();
    assert!(
        after
            <= value["receipt"]["tokens"]["after"]
                .as_u64()
                .expect("tokens")
    );
    assert_eq!(
        units.iter().filter(|unit| unit["unit"].is_u64()).count() as u64,
        value["receipt"]["units"]["before"]
    );
    assert_eq!(
        units
            .iter()
            .filter(|unit| unit["outcome"] == "removed")
            .count() as u64,
        value["receipt"]["units"]["removed"]
    );

    let dry = bench
        .run(&["compact", &input, "--json", "--dry-run"])
        .ends(0);
    let dry: Value = serde_json::from_str(&dry.stdout).expect("JSON");
    assert!(dry.get("conversation").is_none());
    assert_eq!(dry["units"], value["units"]);
}

#[test]
fn quiet_prints_errors_only() {
    let bench = Bench::new();
    let ran = bench
        .run(&["compact", &example("fix-a-bug.openai.json"), "-q"])
        .ends(0);
    assert_eq!(ran.stderr, "");
    bench
        .run(&["compact", "nowhere.json", "-q"])
        .ends(5)
        .says(&["error: "]);
}

#[test]
fn strip_of_a_long_conversation_stays_short() {
    let bench = Bench::new();
    let mut messages = vec![json!({"role": "system", "content": "Be brief."})];
    for turn in 0..2_000 {
        messages.push(json!({"role": "user", "content": format!("question {turn}")}));
        messages.push(json!({"role": "assistant", "content": format!("answer {turn}")}));
    }
    let document = json!({ "messages": messages }).to_string();
    let ran = bench
        .run_with_input(&["compact", "--dry-run"], document.as_bytes())
        .ends(0)
        .says(&["mixed"]);
    assert!(ran.stderr.lines().count() < 80, "{}", ran.stderr);
}

#[test]
fn compact_reports_unseen_outputs_that_it_shortened() {
    let bench = Bench::new();
    let mut body = chat_with_a_warning();
    let messages = body["messages"].as_array_mut().expect("messages");
    messages.truncate(3);
    messages[2]["content"] = json!("a line of a long chart\n".repeat(2_000));
    let file = bench.file("unseen.json", body.to_string());
    let receipt = bench.path("receipt.json");
    let receipt_file = receipt.to_str().expect("UTF-8");
    let arguments = [
        "compact",
        &file,
        "--budget",
        "2000",
        "--receipt",
        receipt_file,
    ];
    let ran = bench.run(&arguments);
    assert!([0, 4].contains(&ran.code), "{}", ran.stderr);
    let ran = ran.says(&["\n  texts     shortened 1 that must stay and was too long\n"]);
    assert!(
        ran.stdout.contains("is shortened; whole: "),
        "{}",
        ran.stdout
    );
    let told: Value = serde_json::from_slice(&fs::read(&receipt).expect("is there")).expect("JSON");
    assert_eq!(told["units"]["texts-shortened"], 1);
    let page = bench.run(&["report", receipt_file]).ends(0);
    let shown = "shortened 1 text that must stay";
    assert!(page.stdout.contains(shown), "{}", page.stdout);
}

#[test]
fn reported_usage_and_the_previous_request_correct_the_counts() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    let ran = bench
        .run(&[
            "compact",
            &file,
            "--used",
            "20000",
            "--previous",
            &file,
            "--json",
        ])
        .ends(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let before = told["receipt"]["tokens"]["before"]
        .as_u64()
        .expect("a number");
    assert!(before.abs_diff(20_000) < 400, "{before}");
    let cache = &told["receipt"]["cache"];
    assert_eq!(cache["tokens-cached"], before);
    assert!(cache["tokens-thrown-away"].as_u64() > Some(0), "{cache}");
    // A little over the budget, with all of it cached and one request to follow, it can wait.
    let tokens = bench
        .run(&["should-compact", &file, "--budget", "11000", "--json"])
        .ends(0);
    assert!(tokens.stdout.contains("\"compact\""), "{}", tokens.stdout);
    let waits = bench
        .run(&[
            "should-compact",
            &file,
            "--budget",
            "11000",
            "--previous",
            &file,
            "--requests-ahead",
            "1",
        ])
        .ends(3);
    let told = "over the budget: 11,000, but what the provider has cached";
    assert!(waits.stdout.contains(told), "{}", waits.stdout);
}

#[test]
fn figures_and_requests_of_another_conversation_are_reported() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    bench
        .run(&["compact", &file, "--used", "9000000"])
        .ends(0)
        .says(&["warning: --used 9,000,000 does not fit this conversation"]);
    let ran = bench.run(&["compact", &file, "--used", "14000"]).ends(0);
    assert!(!ran.stderr.contains("does not fit"), "{}", ran.stderr);
    // What happened is told: it names a model whose vocabulary is known, unless another is chosen.
    let few = ["compact", "-n", &file, "--used", "1000"];
    bench.run(&few).says(&[
        "the vocabulary of this model is known, so the count is never corrected downwards",
    ]);
    bench
        .run(&[&few[..], &["--tokenizer", "cl100k_base"]].concat())
        .says(&["counts are corrected down to a quarter at most"]);
    let other = bench.file("other.json", half_mendable());
    bench
        .run(&["compact", &file, "--previous", &other])
        .ends(2)
        .says(&["the previous request is in the format anthropic, and this one in openai-chat"]);
}

#[test]
fn limit_below_the_protected_units_gives_the_smallest_result() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    let arguments = [
        "compact",
        &file,
        "--budget",
        "90%",
        "--max-bytes",
        "10",
        "--json",
    ];
    let ran = bench.run(&arguments).ends(4);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let receipt = &told["receipt"];
    assert_eq!(receipt["below-floor"], json!(["bytes"]));
    assert_eq!(receipt["strategy"], "native:truncate");
    let after = receipt["tokens"]["after"].as_u64().expect("a number");
    let floor = receipt["tokens"]["floor"].as_u64().expect("a number");
    assert!(after >= floor && after < floor + 100, "{after} {floor}");
    bench
        .run(&["compact", &file, "--max-bytes", "10"])
        .ends(4)
        .says(&["the limit of bytes is below the floor, so only protected content is kept"]);
    // So it is told where nothing can be done for it.
    let only = r#"{"messages":[{"role":"user","content":"Water the roses."}]}"#;
    for more in [&["--budget", "1"][..], &["--budget", "9000"]] {
        let arguments = [&["compact", "-n", "--max-bytes", "10"][..], more].concat();
        bench
            .run_with_input(&arguments, only.as_bytes())
            .ends(3)
            .says(&[
                "unchanged: ",
                "the limit of bytes is below the size of protected content, so the result exceeds it",
            ]);
    }
}
