//! `baler test` and `baler bench`: what authors learn of their strategies.

use std::fs;

use serde_json::Value;

use crate::support::Bench;

fn guest(bench: &Bench, guest: baler_hostile_guests::Guest) -> String {
    bench.file(&format!("{}.wasm", guest.name), guest.wasm)
}

/// The findings of a check, from JSON.
fn findings<'r>(report: &'r Value, check: &str) -> &'r Vec<Value> {
    let checks = report["checks"].as_array().expect("checks");
    let check = checks.iter().find(|own| own["name"] == check);
    check.expect("the check was made")["findings"]
        .as_array()
        .expect("findings")
}

#[test]
fn a_sound_strategy_passes_and_its_figures_are_told() {
    let bench = Bench::new();
    let ran = bench.run(&["test", "sliding-window"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.trim_end().ends_with("passed"), "{}", ran.stdout);

    let ran = bench.run(&["test", "sliding-window", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    for check in report["checks"].as_array().expect("checks") {
        assert_eq!(check["findings"], serde_json::json!([]), "{check}");
    }
    // A window looks at each unit once, and keeps nothing of what is older.
    let growth = report["growth"].as_f64().expect("a number");
    assert!((0.8..1.2).contains(&growth), "{growth}");
    let facts = |name: &str| {
        let kept = report["kept"].as_array().expect("figures");
        let row = kept
            .iter()
            .find(|row| row["name"] == name && row["budget-percent"] == 10);
        row.expect("a row")["facts"].as_f64().expect("a share")
    };
    assert!(facts("native:digest") > facts("sliding-window") + 0.3);
}

#[test]
fn a_plan_that_a_host_refuses_is_told_with_its_remedy_and_can_be_reproduced() {
    let bench = Bench::new();
    let file = guest(&bench, baler_hostile_guests::DROP_EVERYTHING);
    let folder = bench.path("failing");
    let folder = folder.to_str().expect("UTF-8");
    let ran = bench.run(&["test", &file, "--examples", folder]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    for words in [
        "it removes a protected unit",
        "→ keep or rewrite every unit that has the trait `protected`",
        "failed: ",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    let command = ran
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("baler "));
    let command: Vec<&str> = command.expect("a command").split(' ').collect();
    bench
        .run(&command)
        .says(&["its plan is invalid: it removes a protected unit"]);
}

#[test]
fn a_strategy_that_never_returns_is_told_soon() {
    let bench = Bench::new();
    let file = guest(&bench, baler_hostile_guests::LOOP_FOREVER);
    let ran = bench.run(&["test", &file, "--timeout", "20ms", "--json"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let plans = findings(&report, "plans");
    assert_eq!(plans[0]["times"], 40, "{plans:?}");
    assert!(
        plans[0]["problem"]
            .as_str()
            .expect("words")
            .contains("time limit of 20 ms")
    );
    assert_eq!(report["sizes"][0]["ended"], "timeout");
}

#[test]
fn what_a_strategy_declares_is_checked() {
    let bench = Bench::new();
    for (own, check, words) in [
        (
            baler_hostile_guests::PANIC_IN_INTROSPECT,
            "introspect",
            "it trapped",
        ),
        (
            baler_hostile_guests::INTROSPECT_HOSTILE_NAME,
            "introspect",
            "expected a name in kebab-case",
        ),
        (
            baler_hostile_guests::INTROSPECT_HOSTILE_NAME,
            "introspect",
            "expected a version such as 0.1.0",
        ),
        (
            baler_hostile_guests::INTROSPECT_SCHEMA_NOT_JSON,
            "config",
            "it is not JSON",
        ),
        (
            baler_hostile_guests::PANIC_IN_SHOULD_COMPACT,
            "should-compact",
            "it trapped",
        ),
        (
            baler_hostile_guests::UNCHANGED_WHEN_REQUIRED,
            "plans",
            "it declined 998 and failed 0 times",
        ),
    ] {
        let ran = bench.run(&["test", &guest(&bench, own), "--json"]);
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let found = findings(&report, check);
        let mut problems = found.iter().filter_map(|own| own["problem"].as_str());
        assert!(
            problems.any(|problem| problem.contains(words)),
            "{}: {found:?}",
            own.name
        );
    }
}

#[test]
fn bench_measures_files_beside_each_other() {
    let bench = Bench::new();
    let bytes = |name: &str| baler_strategies::by_name(name).expect("it ships").wasm;
    let files = [
        bench.file("window.wasm", bytes("sliding-window")),
        bench.file("asks.wasm", bytes("summarize")),
    ];
    let ran = bench.run(&["bench", &files[0], &files[1], "--alone"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("`asks` asks a model, and is left out"),
        "{}",
        ran.stderr
    );
    for words in ["window", "10,001", "keep-last", "gave up"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("tiered"), "{}", ran.stdout);
}

#[test]
fn test_refuses_what_is_no_strategy() {
    let bench = Bench::new();
    let text = bench.file("text.wasm", "hello");
    for (named, words) in [
        (text.as_str(), "the file is not WebAssembly"),
        ("nowhere.wasm", "cannot read the strategy"),
        ("no-such-name", "no-such-name"),
    ] {
        for command in ["test", "bench"] {
            let ran = bench.run(&[command, named]);
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
            assert!(ran.stderr.contains(words), "{}", ran.stderr);
        }
    }
    fs::write(bench.path("taken"), "").expect("a file");
    let file = guest(&bench, baler_hostile_guests::DROP_EVERYTHING);
    let ran = bench.run(&["test", &file, "--examples", "taken"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("cannot create the folder `taken`"),
        "{}",
        ran.stderr
    );
}
