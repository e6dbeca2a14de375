//! Reading files that have no end, and things that are no files.

use std::fs;
use std::process::Command;
use std::thread;

use super::{Bench, example};

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
fn a_file_without_an_end_is_read_up_to_its_limit_which_is_told() {
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
            "expected a regular file, and it is a device",
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
            "expected a regular file, and it is a pipe (FIFO)",
        ]);
    }
}

#[test]
fn a_conversation_and_a_config_may_come_out_of_a_pipe() {
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
