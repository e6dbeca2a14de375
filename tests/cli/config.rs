//! `--config`: checked against the schema of a strategy.

use crate::support::{Bench, example};

#[test]
fn a_config_is_checked_against_the_schema_of_the_first_strategy() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let config = bench.file("config.json", r#"{"keep": 5}"#);
    bench
        .run(&[
            "compact",
            &input,
            "-s",
            "mask-tool-outputs",
            "--config",
            &format!("@{config}"),
        ])
        .ends(0);
    bench
        .run(&[
            "compact",
            &input,
            "-s",
            "mask-tool-outputs",
            "--config",
            r#"{"kep": 5}"#,
        ])
        .ends(2)
        .says(&[
            "the config of `mask-tool-outputs` is invalid",
            "kep",
            "`baler introspect mask-tool-outputs` shows what it takes",
        ]);
    // A file is named as it was typed.
    let bundled = baler_strategies::by_name("mask-tool-outputs").expect("bundled");
    bench.file("mine.wasm", bundled.wasm);
    let arguments = ["compact", &input, "-s", "./mine.wasm", "--config"];
    bench
        .run(&[&arguments[..], &[r#"{"kep": 5}"#]].concat())
        .ends(2)
        .says(&["`baler introspect ./mine.wasm` shows what it takes"]);
    bench
        .run(&[
            "compact",
            &input,
            "-s",
            "mask-tool-outputs",
            "--config",
            "{",
        ])
        .ends(2)
        .says(&["not JSON"]);
    bench
        .run(&["compact", &input, "-s", "native:digest", "--config", "{}"])
        .ends(2)
        .says(&["`native:digest` is a native strategy and takes no config"]);
}

#[test]
fn typo_in_a_config_is_reported_with_the_allowed_fields() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    for (strategy, config, told) in [
        (
            "sliding-window",
            r#"{"kep": 1}"#,
            "('kep' was unexpected); known: keep",
        ),
        ("mask-tool-outputs", r#"{"kep": 1}"#, "known: "),
        ("coalesce", r#"{"tool-call-limt": 1}"#, "tool-call-limit"),
        ("trim", r#"{"keep-recent-turn": 1}"#, "keep-recent-turns"),
        (
            "trim",
            r#"{"token-counter": "hots"}"#,
            r#"; allowed: "host", "quarter""#,
        ),
    ] {
        bench
            .run(&["compact", &file, "-s", strategy, "--config", config])
            .ends(2)
            .says(&[told]);
    }
}
