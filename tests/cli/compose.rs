//! `baler compose`.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Bench, example};

const KEY: &str = "ghp_k2Jq8Wm4Zt6Rb1Xc9Vn3Lp7Hs5Df0Gy";
const PASSWORD: &str = "stern4711bow";
const ADDRESS: &str = "mira@harbour.example";

/// An output of many lines with secrets after the first ones.
fn leak(lines: usize) -> String {
    let line = |line: usize| format!("berth {line} has a tide of {} m\n", line % 9);
    let some: String = (0..10).map(line).collect();
    let more: String = (10..lines).map(line).collect();
    format!(
        "{some}QUAY_TOKEN={KEY}\npassword: {PASSWORD}\nby {ADDRESS}\n-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----\n{more}",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(6)
    )
}

/// A conversation whose tools show secrets.
fn conversation() -> String {
    let mut messages = vec![json!({"role": "user", "content": "Why is the tide service down?"})];
    for step in 0..12 {
        let id = format!("call_{step}");
        messages.push(
            json!({"role": "assistant", "content": format!("I look, {step}."), "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "shell", "arguments": "{}"}}
            ]}),
        );
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": leak(20 + 10 * step)}));
    }
    messages.push(json!({"role": "assistant", "content": "It has no rights."}));
    messages.push(json!({"role": "user", "content": "Go on."}));
    json!({"model": "gpt-4o", "messages": messages}).to_string()
}

#[test]
fn redact_keeps_secrets_out_of_what_a_strategy_writes_and_keeps() {
    let bench = Bench::new();
    let input = bench.file("request.json", conversation());
    for strategy in ["sliding-window", "tiered", "mask-tool-outputs"] {
        let composed = format!("redacting-{strategy}.wasm");
        let ran = bench
            .run(&["compose", "redact", strategy, "-o", &composed])
            .ends(0);
        assert!(ran.stderr.contains("`baler introspect "), "{}", ran.stderr);
        for budget in ["900", "3000"] {
            let run = |strategy: &str| {
                let budgeted = ["--budget", budget, "--strategy", strategy, "--json"];
                let ran = bench
                    .run(&[&["compact", &input][..], &budgeted].concat())
                    .ends(0);
                serde_json::from_str::<Value>(&ran.stdout).expect("JSON")
            };
            let told = run(&composed);
            let name = &told["receipt"]["attempts"][0]["strategy"];
            assert_eq!(*name, *format!("redacting-{strategy}"), "{told}");
            assert_eq!(
                told["receipt"]["attempts"].as_array().map(Vec::len),
                Some(1)
            );
            let written = told["conversation"].to_string();
            for secret in [KEY, PASSWORD, ADDRESS, "MIIEvQIBADANBgkq"] {
                assert!(!written.contains(secret), "{strategy} {budget}: {written}");
            }
            let result = bench.file("result.json", &written);
            bench.run(&["validate", &result]).ends(0);
        }
    }
}

#[test]
fn a_composed_strategy_says_what_it_is_made_of() {
    let bench = Bench::new();
    bench
        .run(&[
            "compose",
            "redact",
            "tiered",
            "sliding-window",
            "-o",
            "all.wasm",
            "-q",
        ])
        .ends(0)
        .says(&[]);
    let ran = bench.run(&["introspect", "all.wasm", "--json"]).ends(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let own = &told["claims"];
    assert_eq!(own["name"], "redact-tiered-or-sliding-window");
    let schema: Value =
        serde_json::from_str(own["config-schema"].as_str().expect("a text")).expect("JSON");
    let members: Vec<_> = schema["properties"]
        .as_object()
        .expect("members")
        .keys()
        .collect();
    assert_eq!(members, ["first", "otherwise", "redact"]);
    let input = bench.file("request.json", conversation());
    for (config, code, says) in [
        (
            r#"{"redact": {"addresses": []}, "otherwise": {"keep": {"units": 1}}}"#,
            0,
            "",
        ),
        (r#"{"redact": {"addreses": []}}"#, 2, "addreses"),
        (r#"{"keep": {"units": 1}}"#, 2, "keep"),
    ] {
        let ran = bench.run(&[
            "compact",
            &input,
            "--strategy",
            "all.wasm",
            "--config",
            config,
            "--budget",
            "3000",
        ]);
        assert_eq!(ran.code, code, "{config}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{config}: {}", ran.stderr);
    }
}

#[test]
fn the_second_strategy_runs_if_the_first_fails() {
    let bench = Bench::new();
    bench.file("fails.wasm", baler_hostile_guests::DECLARED_FAILURE.wasm);
    bench
        .run(&["compose", "fails.wasm", "sliding-window", "-o", "both.wasm"])
        .ends(0);
    let input = bench.file("request.json", conversation());
    let compact = [
        "compact",
        &input,
        "--budget",
        "3000",
        "--json",
        "--strategy",
    ];
    let tried = |strategy: &str| {
        let ran = bench.run(&[&compact[..], &[strategy]].concat());
        let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        (ran.code, told["receipt"]["attempts"][0].clone())
    };
    let (_, alone) = tried("fails.wasm");
    assert!(alone.to_string().contains("declared"), "{alone}");
    let (code, both) = tried("both.wasm");
    assert_eq!(code, 0, "{both}");
    assert!(both.to_string().contains("window-tokens"), "{both}");
}

#[test]
fn the_same_components_give_the_same_bytes_wherever_they_are() {
    let bench = Bench::new();
    let window = baler_strategies::by_name("sliding-window")
        .expect("ships")
        .wasm;
    bench.file("mine.wasm", window);
    for (strategy, output) in [("mine.wasm", "one.wasm"), ("sliding-window", "other.wasm")] {
        bench
            .run(&["compose", "redact", strategy, "-o", output])
            .ends(0);
    }
    let read = |name| fs::read(bench.path(name)).expect("a component");
    assert_eq!(read("one.wasm"), read("other.wasm"));
    // What is composed can be composed again.
    bench
        .run(&["compose", "redact", "one.wasm", "-o", "twice.wasm"])
        .ends(0);
    bench.run(&["introspect", "twice.wasm"]).ends(0);
}

#[test]
fn what_cannot_be_composed_is_refused_by_name_and_nothing_is_written() {
    let bench = Bench::new();
    let core = wat::parse_str("(module)").expect("a module");
    bench.file("core.wasm", core);
    bench.file("text.wasm", "hello");
    bench.file(
        "nothing.wasm",
        wat::parse_str("(component)").expect("a component"),
    );
    let asks = r#"(component
        (import "acme:tools/clock@1.0.0" (instance))
        (instance $strategy)
        (export "baler:compaction/strategy@0.1.0" (instance $strategy)))"#;
    bench.file("asks.wasm", wat::parse_str(asks).expect("a component"));
    let later =
        r#"(component (instance $it) (export "baler:compaction/strategy@9.9.0" (instance $it)))"#;
    bench.file("later.wasm", wat::parse_str(later).expect("a component"));
    for (first, second, says) in [
        (
            "core.wasm",
            "tiered",
            "`core.wasm`: it is a core module and not a component; wrap it first",
        ),
        ("redact", "text.wasm", "`text.wasm`: it is not WebAssembly"),
        (
            "nothing.wasm",
            "tiered",
            "`nothing.wasm`: it exports no `baler:compaction/strategy@0.1.0`",
        ),
        (
            "redact",
            "asks.wasm",
            "`asks.wasm`: it imports `acme:tools/clock@1.0.0`, which neither",
        ),
        (
            "redact",
            "later.wasm",
            "`later.wasm`: it exports `baler:compaction/strategy@9.9.0`",
        ),
        (
            "tiered",
            "redact",
            "`redact`: it is a filter before a strategy, and none follows",
        ),
        ("redact", "nowhere.wasm", "cannot read `nowhere.wasm`"),
    ] {
        let ran = bench.run(&["compose", first, second, "-o", "out.wasm"]);
        assert_eq!(ran.code, 5, "{first} {second}: {}", ran.stderr);
        assert!(
            ran.stderr.contains(says),
            "{first} {second}: {}",
            ran.stderr
        );
        assert!(!bench.path("out.wasm").exists(), "{first} {second}");
    }
    // Something that has the name of a strategy, but none of its functions.
    let empty =
        r#"(component (instance $it) (export "baler:compaction/strategy@0.1.0" (instance $it)))"#;
    bench.file("empty.wasm", wat::parse_str(empty).expect("a component"));
    bench
        .run(&["compose", "redact", "empty.wasm", "-o", "out.wasm"])
        .ends(5)
        .says(&["the components do not fit together at `baler:compaction/strategy@0.1.0`"]);
    bench.run(&["compose", "tiered", "-o", "out.wasm"]).ends(2);
    bench
        .run(&["compose", "redakt", "tiered", "-o", "out.wasm"])
        .ends(2)
        .says(&[
            "`redakt` is neither a file nor something that ships",
            "filters are: redact",
        ]);
    bench
        .run(&["compose", "redact", "empty.wasm", "-o", "empty.wasm"])
        .ends(2)
        .says(&["would replace it"]);
}

#[test]
fn a_filter_alone_is_no_strategy() {
    let bench = Bench::new();
    let filter = baler_strategies::filter_by_name("redact")
        .expect("ships")
        .wasm;
    bench.file("filter.wasm", filter);
    bench
        .run(&[
            "compact",
            &example("fix-a-bug.openai.json"),
            "--strategy",
            "filter.wasm",
        ])
        .ends(2)
        .says(&["it is a filter before a strategy: `baler compose "]);
}
