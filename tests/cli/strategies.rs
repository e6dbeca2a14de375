//! `baler strategies`, and the names of strategies.

use std::fs;

use serde_json::Value;

use crate::support::{Bench, example};

#[test]
fn strategies_are_listed_and_can_be_asked() {
    let bench = Bench::new();
    let list = bench.run(&["strategies", "--json"]).ends(0).stdout;
    let list: Vec<Value> = serde_json::from_str(&list).expect("JSON");
    assert!(list.len() >= 4);
    let words = bench.run(&["strategies"]).ends(0).stdout;
    for strategy in list {
        let name = strategy["name"].as_str().expect("a name");
        assert!(words.contains(name));
        assert!(
            !strategy["description"]
                .as_str()
                .expect("a description")
                .is_empty(),
            "{name}"
        );
        let shown = bench.run(&["introspect", name]).ends(0).stdout;
        assert!(shown.starts_with(&format!("{name}\n")), "{shown}");
        let json = bench.run(&["introspect", name, "--json"]).ends(0).stdout;
        assert_eq!(
            serde_json::from_str::<Value>(&json).expect("JSON")["strategy"],
            name
        );
        if strategy["native"] == false {
            assert!(
                shown.contains("What it declares:")
                    && shown.contains("contract  baler:compaction@0.1.0")
                    && shown.contains("not frozen before the first release")
            );
        }
    }
}

#[test]
fn strategies_of_one_name_are_refused() {
    let bench = Bench::new();
    fs::create_dir(bench.path("mine")).expect("a folder");
    let bundled = baler_strategies::by_name("sliding-window").expect("bundled");
    for file in ["theirs.wasm", "mine/theirs.wasm", "trim.wasm"] {
        bench.file(file, bundled.wasm);
    }
    let input = example("fix-a-bug.openai.json");
    bench
        .run(&[
            "compact",
            &input,
            "-s",
            "theirs.wasm",
            "-s",
            "mine/theirs.wasm",
        ])
        .ends(2)
        .says(&[
            "`theirs.wasm` and `mine/theirs.wasm` have the same name, `theirs`",
            "rename one of the files",
        ]);
    bench
        .run(&["compact", &input, "-s", "theirs.wasm", "-s", "trim.wasm"])
        .ends(0);
}

#[test]
fn another_file_with_the_name_of_a_shipped_or_listed_strategy_keeps_its_ending() {
    let bench = Bench::new();
    let wasm = |name| baler_strategies::by_name(name).expect("bundled").wasm;
    bench.file("Tiered.wasm", wasm("sliding-window"));
    bench.file("mine.wasm", wasm("sliding-window"));
    bench.file("trim.wasm", wasm("trim"));
    bench.file(
        "baler.toml",
        "[strategies.mine]\nsource = { path = 'elsewhere.wasm' }",
    );
    let input = example("fix-a-bug.openai.json");
    for (file, name) in [
        ("Tiered.wasm", "Tiered.wasm"),
        ("mine.wasm", "mine.wasm"),
        ("trim.wasm", "trim"),
    ] {
        let ran = bench.run(&["compact", &input, "-s", file, "--json", "--dry-run"]);
        let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(told["receipt"]["attempts"][0]["strategy"], name);
    }
}

#[test]
fn strategy_file_cannot_have_the_name_of_a_native_strategy() {
    let bench = Bench::new();
    let strategy = bench.file(
        "native:digest.wasm",
        baler_hostile_guests::LOOP_FOREVER.wasm,
    );
    bench
        .run(&[
            "compact",
            &example("fix-a-bug.openai.json"),
            "-s",
            &strategy,
            "--timeout",
            "50ms",
        ])
        .ends(4)
        .says(&[
            "native-digest: it exceeded its time limit",
            "native:digest: its plan was applied",
        ]);
}
