//! Reading files that have no end, and things that are no files.

use std::fs;
use std::process::Command;
use std::thread;

use crate::support::{Bench, example};

/// A pipe in the file system. Whoever opens it gets this, if anybody does.
fn pipe(bench: &Bench, name: &str, content: impl Into<Vec<u8>>) -> String {
    let (path, content) = (bench.path(name), content.into());
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("a pipe").success());
    let shown = path.to_str().expect("UTF-8").to_owned();
    // It waits for a reader, and is left alone with that where none may come.
    thread::spawn(move || fs::write(path, content));
    shown
}

#[test]
fn endless_file_is_read_to_its_limit_which_is_reported() {
    let bench = Bench::new();
    let input = example("plan-a-week.openai.json");
    let cases: [(&[&str], &str); 4] = [
        (
            &["--config", "@/dev/zero"],
            "the config `/dev/zero`: it has more than 16 MiB",
        ),
        (
            &["--context", "@/dev/zero"],
            "the context `/dev/zero`: it has more than 16 MiB",
        ),
        (
            &["--model", "openai:small", "--model-key", "file:/dev/zero"],
            "at most 8192 bytes",
        ),
        (
            &["--strategy", "/dev/zero"],
            "expected a regular file, found a device",
        ),
    ];
    for (option, limit) in cases {
        bench
            .run(&[&["compact", &input][..], option].concat())
            .ends(2)
            .says(&[limit]);
    }
}

#[test]
fn unreadable_key_is_reported_with_its_cause_once() {
    let bench = Bench::new();
    let input = example("plan-a-week.openai.json");
    let key = ["--model", "openai:small", "--model-key", "file:nowhere"];
    let ran = bench
        .run(&[&["compact", &input][..], &key].concat())
        .ends(2)
        .says(&["`nowhere` cannot be read: No such file"]);
    assert_eq!(
        ran.stderr.matches("No such file").count(),
        1,
        "{}",
        ran.stderr
    );
}

#[test]
fn a_strategy_that_is_no_regular_file_is_refused_without_waiting() {
    let bench = Bench::new();
    let strategy = pipe(&bench, "strategy.wasm", "not WebAssembly");
    let input = example("plan-a-week.openai.json");
    for arguments in [
        &["compact", &input, "--strategy", &strategy][..],
        &["introspect", &strategy],
    ] {
        bench.run(arguments).ends(2).says(&[
            "strategy.wasm",
            "expected a regular file, found a pipe (FIFO)",
        ]);
    }
}

#[test]
fn conversation_and_config_are_read_from_pipes() {
    let bench = Bench::new();
    let example = example("fix-a-bug.openai.json");
    let config = r#"{"keep": 5}"#;
    let arguments = ["-q", "-s", "mask-tool-outputs", "--config"];
    let plain = bench
        .run(&[&["compact", &example][..], &arguments, &[config]].concat())
        .ends(0);
    let conversation = pipe(
        &bench,
        "conversation",
        fs::read(&example).expect("an example"),
    );
    let config = format!("@{}", pipe(&bench, "config", config));
    let piped = bench
        .run(
            &[
                &["compact", &conversation][..],
                &arguments,
                &[config.as_str()],
            ]
            .concat(),
        )
        .ends(0);
    assert_eq!(piped.stdout, plain.stdout);
}

#[cfg(target_os = "linux")]
#[test]
fn closed_standard_input_is_reported_and_not_read_as_empty() {
    use crate::support::Ran;
    let bench = Bench::new();
    let input = example("plan-a-week.openai.json");
    let run = |arguments: &str, how: &str| {
        let script = format!("exec \"$0\" {arguments} {how}");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script, env!("CARGO_BIN_EXE_baler"), &input])
            .env("BALER_STATE", bench.path("state"));
        Ran::of(shell.output().expect("it runs"))
    };
    let missing = "the program was started without standard input";
    for arguments in [
        "validate",
        "validate -",
        "validate /dev/fd/0",
        "validate /dev/stdin",
        "undo /proc/self/fd/0",
    ] {
        run(arguments, "<&-")
            .ends(5)
            .says(&["cannot read", missing]);
    }
    run(
        "should-compact \"$1\" --budget 9 --context @/dev/stdin",
        "<&-",
    )
    .ends(2)
    .says(&["cannot read the context", missing]);
    // The same with one.
    run("validate /dev/fd/0", "< \"$1\"").ends(0);
}
