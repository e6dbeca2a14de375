//! `--model`, `--instructions` and `--context`.

use std::fs;

use crate::support::{Bench, Ran, example};

#[test]
fn a_key_of_the_environment_is_not_sent_over_plain_http_to_another_machine() {
    let bench = Bench::new();
    let run = |model: &str| {
        let mut command = bench.command();
        command
            .env("BALER_MODEL_KEY", "sk-1234567890")
            .args(["compact", &example("plan-a-week.openai.json")])
            .args(["--dry-run", "--strategy", "native:truncate"])
            .args(["--model", model]);
        Ran::of(command.output().expect("it runs"))
    };
    run("http://gulls.example/v1#m")
        .ends(2)
        .says(&["can be read on its way to http://gulls.example/v1"]);
    run("http://127.0.0.1:9/v1#m").ends(0);
}

#[test]
fn strategy_gets_no_model_without_an_option() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    for strategy in ["tiered-model", "summarize", "anchored", "native:summarize"] {
        bench
            .run(&["compact", &file, "-s", strategy])
            .ends(2)
            .says(&["wants to ask a model, and none is granted to it", "--model"]);
    }
    let gone = ["--model", "http://127.0.0.1:9/v1#small", "--timeout", "1s"];
    let summarize = [&["compact", &file, "-s", "summarize"][..], &gone].concat();
    let ran = bench.run(&summarize).ends(3).says(&[
        "unchanged: the strategy declared a failure",
        "the model did not answer: check that its server is running",
        "asked     a model ",
    ]);
    let document = fs::read_to_string(&file).expect("an example");
    assert_eq!(ran.stdout.trim(), document.trim());
    // Required, it is done without a model.
    bench
        .run(&[&summarize[..], &["--required"]].concat())
        .ends(4)
        .says(&["compacted by native:digest: a fallback"]);
    // Who names a model and no strategy gets one that does without an answer.
    bench
        .run(&[&["compact", &file, "--budget", "20%"][..], &gone].concat())
        .ends(0)
        .says(&[
            "compacted by tiered-model",
            "→ the model did not answer: check that its server is running",
            "asked     a model ",
        ]);
}

#[test]
fn unused_model_is_warned_about() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    let model = ["--model", "http://127.0.0.1:9/v1#small", "--timeout", "1s"];
    let run = |strategies: &[&str]| {
        let arguments = [&["compact", &file, "-n"][..], &model, strategies].concat();
        bench.run(&arguments)
    };
    run(&["-s", "sliding-window", "-s", "native:digest"])
        .ends(0)
        .says(&[
            "warning: --model is named, and `sliding-window` and `native:digest` ask no model",
            "`native:summarize`",
            "`tiered-model`",
        ]);
    let default: &[&str] = &[];
    for asking in [default, &["-s", "sliding-window", "-s", "summarize"]] {
        let ran = run(asking);
        assert!(!ran.stderr.contains("warning:"), "{}", ran.stderr);
    }
    let quiet = run(&["-s", "sliding-window", "-q"]).ends(0);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn unused_instructions_and_context_are_warned_about() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    let run = |arguments: &[&str]| {
        let arguments = [&["compact", &file, "-n"][..], arguments].concat();
        bench.run(&arguments)
    };
    let instructions = ["--instructions", "keep the API design"];
    run(&instructions).says(&[
        "warning: --instructions are given, and `tiered` reads none",
        "--model",
    ]);
    let context = ["--context", "{}"];
    run(&[
        &["-s", "sliding-window", "-s", "native:digest"][..],
        &context,
    ]
    .concat())
    .says(&[
        "warning: --context is given, and `sliding-window` and `native:digest` read none",
        "`trim`",
    ]);
    let model = ["--model", "http://127.0.0.1:9/v1#small", "--timeout", "1s"];
    for read in [
        [&model[..], &instructions].concat(),
        [&["-s", "trim"][..], &context].concat(),
        [&["-s", "tiered", "-s", "coalesce"][..], &context].concat(),
    ] {
        let ran = run(&read);
        assert!(!ran.stderr.contains("warning:"), "{}", ran.stderr);
    }
    let gate = ["should-compact", &file, "--budget", "9000"];
    bench
        .run(&[&gate[..], &context].concat())
        .ends(0)
        .says(&["warning: --context is given, and `tiered` reads none"]);
}
