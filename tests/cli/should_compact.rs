//! `baler should-compact`.

use serde_json::Value;

use crate::conversations::broken_chat;
use crate::support::{Bench, example};

#[test]
fn should_compact_answers_on_standard_output_and_by_its_exit_code() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let goal = ["--budget", "10000"];
    let asked = |more: &[&str]| bench.run(&[&["should-compact", &input][..], &goal, more].concat());
    let yes = asked(&[]).ends(0);
    assert!(
        yes.stdout
            .starts_with("compact: baler decides: 11,777 tokens, over the budget: 10,000"),
        "{}",
        yes.stdout
    );
    let no = bench
        .run(&[
            "should-compact",
            &input,
            "--context-window",
            "16000",
            "-s",
            "sliding-window",
        ])
        .ends(3);
    assert!(no.stdout.starts_with("wait: "), "{}", no.stdout);
    let json = asked(&["--json"]).ends(0).stdout;
    assert_eq!(
        serde_json::from_str::<Value>(&json).expect("JSON")["decision"],
        "compact"
    );
    let hanging = bench.file(
        "hangs.wasm",
        baler_hostile_guests::LOOP_IN_SHOULD_COMPACT.wasm,
    );
    let ran = asked(&["-s", &hanging, "--timeout", "50ms"])
        .ends(0)
        .says(&[
            "warning: hangs failed",
            "→ report this to its author; if it needs more by design, raise the time limit",
        ]);
    assert!(
        ran.stdout.starts_with("compact: baler decides"),
        "{}",
        ran.stdout
    );
}

#[test]
fn should_compact_says_that_the_provider_refuses_a_picture() {
    let bench = Bench::new();
    // The header of a PNG of 9,000 by 16 pixels.
    let data = "iVBORw0KGgoAAAANSUhEUgAAIygAAAAQCAIAAAAAAAAA";
    let document = format!(
        r#"{{"model":"claude-sonnet-4-5","messages":[{{"role":"user","content":[{{"type":"text","text":"Measure it."}},
        {{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}]}}]}}"#
    );
    let input = bench.file("picture.json", &document);
    let ran = bench
        .run(&["should-compact", &input, "--budget", "100000"])
        .ends(0);
    let expected = "compact: baler decides: the provider refuses a picture for its size";
    assert!(ran.stdout.starts_with(expected), "{}", ran.stdout);
    let compacted = bench
        .run(&["compact", &input, "--budget", "100000"])
        .ends(0);
    let result = bench.file("result.json", &compacted.stdout);
    bench.run(&["validate", &result]).ends(0);
}

#[test]
fn should_compact_needs_a_size_or_a_window() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    for goal in [&[][..], &["--budget", "50%"]] {
        let arguments = [&["should-compact", &input][..], goal].concat();
        let ran = bench.run(&arguments).ends(2);
        assert!(
            ran.stderr.contains("--context-window TOKENS"),
            "{}",
            ran.stderr
        );
    }
    let window = ["should-compact", &input, "--context-window", "14000"];
    let ran = bench.run(&window).ends(0);
    let told = "11,777 tokens, over the budget: 11,200 (80% of the context window)";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    bench
        .run(&[&window[..], &["--budget", "90%"]].concat())
        .ends(3);
}

#[test]
fn should_compact_asks_about_the_repaired_conversation() {
    let bench = Bench::new();
    let file = bench.file("broken.json", broken_chat().to_string());
    let arguments = ["should-compact", &file, "--budget", "100000"];
    bench.run(&arguments).ends(5);
    bench.run(&[&arguments[..], &["--repair"]].concat()).ends(3);
}
