//! `--output` and `--receipt` of `baler compact`, on every platform.

use std::fs;

use serde_json::Value;

use crate::support::{Bench, example};

#[test]
fn output_and_receipt_are_written_and_removed_messages_archived() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let ran = bench
        .run(&[
            "compact",
            &input,
            "-o",
            "out.json",
            "--receipt",
            "receipt.json",
            "--archive",
            "archive",
        ])
        .ends(0)
        .says(&["archived ", " in `archive`"]);
    assert_eq!(ran.stdout, "");
    assert_eq!(bench.entries(), ["archive", "out.json", "receipt.json"]);
    let receipt: Value =
        serde_json::from_slice(&fs::read(bench.path("receipt.json")).expect("a receipt"))
            .expect("JSON");
    let archived = receipt["archive"].as_array().expect("an archive");
    assert!(!archived.is_empty());
    for unit in archived {
        let stored = bench.path("archive/entries").join(format!(
            "{}.json",
            unit["reference"].as_str().expect("a reference")
        ));
        serde_json::from_slice::<Vec<Value>>(&fs::read(stored).expect("stored")).expect("messages");
    }
    let out = fs::read_to_string(bench.path("out.json")).expect("an output");
    assert_eq!(receipt["bytes"]["after"], out.len());
}

#[test]
fn a_file_can_be_compacted_in_place_and_keeps_its_permissions() {
    let bench = Bench::new();
    let file = bench.file(
        "request.json",
        fs::read(example("plan-a-week.openai.json")).expect("an example"),
    );
    #[cfg(unix)]
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o640)).expect("set");
    let before = fs::metadata(&file).expect("there");
    bench
        .run(&["compact", &file, "-o", &file, "--quiet"])
        .ends(0);
    let after = fs::metadata(&file).expect("there");
    assert!(after.len() < before.len());
    assert_eq!(after.permissions(), before.permissions());
    assert_eq!(bench.entries(), ["request.json"]);
}

#[test]
fn unwritable_output_is_refused_before_anything_is_done() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    fs::create_dir(bench.path("folder")).expect("a folder");
    for (output, message) in [
        ("no/out.json", "`no/out.json`: No such file or directory"),
        ("folder", "it is a folder; name a file in it"),
    ] {
        let ran = bench
            .run(&[
                "compact",
                &input,
                "-o",
                output,
                "--archive",
                "archive",
                "--receipt",
                "receipt.json",
            ])
            .ends(1)
            .says(&["error: cannot write", message]);
        assert_eq!(ran.stdout, "");
        assert_eq!(bench.entries(), ["folder"]);
    }
}

#[test]
fn receipt_never_replaces_another_file() {
    let bench = Bench::new();
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("in.json");
    fs::copy(example("fix-a-bug.openai.json"), &input).expect("copies");
    let before = fs::read(&input).expect("reads");
    let detour = folder.path().join(".").join("in.json");
    let output = folder.path().join("out.json");
    let (input, detour, output) = (
        input.to_string_lossy(),
        detour.to_string_lossy(),
        output.to_string_lossy(),
    );
    for arguments in [
        vec!["compact", &input, "--receipt", &detour],
        vec!["compact", &input, "--output", &output, "--receipt", &output],
    ] {
        let ran = bench.run(&arguments).ends(2);
        assert!(
            ran.stderr.contains("in use for something else"),
            "{}",
            ran.stderr
        );
        assert_eq!(fs::read(&*input).expect("reads"), before);
        assert!(!fs::exists(&*output).expect("looks"));
    }
}

#[test]
fn a_session_log_is_never_replaced_by_a_request() {
    let bench = Bench::new();
    let log = fs::read(example("fix-a-clock.claude-code.jsonl")).expect("an example");
    let file = bench.file("session.jsonl", &log);
    let ran = bench.run(&["compact", &file, "--output", &file]).ends(2);
    assert!(
        ran.stderr.contains("would replace the claude-code log"),
        "{}",
        ran.stderr
    );
    assert_eq!(fs::read(&file).expect("still there"), log);
}
