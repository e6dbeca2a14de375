//! `baler expand`.

use std::fs;

use serde_json::Value;

use crate::support::{Bench, compact_with_receipt, example, read_receipt};

#[test]
fn expand_prints_removed_messages_by_reference() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let before: Value =
        serde_json::from_slice(&fs::read(&input).expect("an example")).expect("JSON");
    compact_with_receipt(&bench, &input, "receipt.json", &[]).ends(0);
    let receipt = read_receipt(&bench, "receipt.json");
    let units = receipt["archive"].as_array().expect("an archive");
    let reference = |unit: &Value| unit["reference"].as_str().expect("one").to_owned();
    let (first, last) = (reference(&units[0]), reference(&units[units.len() - 1]));

    let told = bench.run(&["expand", &first, &last, "--json"]).ends(0);
    let told: Value = serde_json::from_str(&told.stdout).expect("JSON");
    let messages = before["messages"].as_array().expect("messages");
    for reference in [&first, &last] {
        for message in told[reference].as_array().expect("messages") {
            assert!(messages.contains(message), "{message}");
        }
    }
    let shown = bench.run(&["expand", &first]).ends(0).stdout;
    assert!(shown.starts_with("[assistant]\n"), "{shown}");
    assert!(
        shown.contains("(call) list_files {\"path\": \".\"}"),
        "{shown}"
    );

    bench
        .run(&["expand", "abc"])
        .ends(2)
        .says(&["expected a reference of 20 hex digits, found `abc`; receipts and placeholders name references"]);
    for json in [&["--json"][..], &[]] {
        let arguments = [&["expand", &first, "3f2a90c41be07d5512aa"][..], json].concat();
        let ran = bench.run(&arguments).ends(2).says(&[
            "nothing is stored under `3f2a90c41be07d5512aa` in `",
            "archive`",
        ]);
        assert_eq!(ran.stdout, "", "the first one was there");
    }
    let twice = bench.run(&["expand", &first, &last, &first]).ends(0);
    let once = bench.run(&["expand", &first, &last]).ends(0);
    assert_eq!(twice.stdout, once.stdout);
    let twice = bench.run(&["expand", &first, &first, "--json"]).ends(0);
    let once = bench.run(&["expand", &first, "--json"]).ends(0);
    assert_eq!(twice.stdout, once.stdout);
}

/// What lies under its own digest, and yet is nothing that an archive writes.
#[test]
fn planted_entry_is_not_printed_for_another_reference() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    compact_with_receipt(&bench, &input, "receipt.json", &[]).ends(0);
    // printf '1,"3f2a90c41be07d5512aa":[]' | sha256sum | head -c 20
    let planted = "405b0cd75def5af617e4";
    bench.file(
        &format!("state/archive/entries/{planted}.json"),
        r#"1,"3f2a90c41be07d5512aa":[]"#,
    );
    let ran = bench.run(&["expand", planted, "--json"]).ends(1);
    let ran = ran.says(&[
        "the content of `405b0cd75def5af617e4` in the archive `",
        "is damaged",
    ]);
    assert_eq!(ran.stdout, "");
}

#[test]
fn expand_prints_large_entries_whole() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    compact_with_receipt(&bench, &input, "receipt.json", &[]).ends(0);
    // Two of 40 MiB. (python3 -c 'print("[\"" + "x" * (40 << 20) + "\"]", end="")' | sha256sum)
    let entries = [("fb8731f785e37c41678e", "x"), ("177b4f7ca5c56af7edee", "y")];
    let members = entries.map(|(reference, letter)| {
        let content = format!("[\"{}\"]", letter.repeat(40 << 20));
        let name = format!("state/archive/entries/{reference}.json");
        bench.file(&name, &content);
        format!("\"{reference}\":{content}")
    });
    let [(x, _), (y, _)] = entries;
    let told = bench.run(&["expand", x, y, "--json"]).ends(0).stdout;
    assert!(told == format!("{{{}}}\n", members.join(",")));
}

/// Nobody writes into it.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_archive_does_not_hold_up_expand() {
    use crate::support::Ran;
    use std::process::Stdio;
    use std::time::{Duration, Instant};
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    compact_with_receipt(&bench, &input, "receipt.json", &[]).ends(0);
    let receipt = read_receipt(&bench, "receipt.json");
    let reference = receipt["archive"][0]["reference"].as_str().expect("one");
    let entry = bench
        .path("state/archive/entries")
        .join(format!("{reference}.json"));
    fs::remove_file(&entry).expect("removes it");
    let made = std::process::Command::new("mkfifo").arg(&entry).status();
    assert!(made.expect("it runs").success());
    for arguments in [&["expand", reference][..], &["undo", "receipt.json"]] {
        let mut child = bench
            .command()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let until = Instant::now() + Duration::from_secs(60);
        while child.try_wait().expect("can be asked").is_none() {
            if Instant::now() > until {
                child.kill().expect("is killed");
                panic!("{arguments:?} waits for ever");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ran::of(child.wait_with_output().expect("it ends"))
            .ends(1)
            .says(&[
                "error: cannot read the archive `",
                "expected a regular file at `entries/",
            ]);
    }
}
