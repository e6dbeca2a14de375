//! `baler archive`, and how `compact` stores removed content.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::support::{
    Bench, Ran, compact_with_receipt, example, examples, private_folder, read_receipt,
};

#[test]
fn the_archive_is_shown_and_cleared_by_age() {
    let bench = Bench::new();
    bench
        .run(&["archive"])
        .ends(2)
        .says(&["there is no archive in `", "nothing was stored there yet"]);
    compact_with_receipt(
        &bench,
        &example("fix-a-bug.openai.json"),
        "receipt.json",
        &[],
    )
    .ends(0);
    let told = bench.run(&["archive", "--json"]).ends(0);
    let told: Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!(told["compactions"], 1);
    // Each unit, and the texts around the messages.
    let receipt = read_receipt(&bench, "receipt.json");
    assert_eq!(
        told["entries"],
        receipt["units"]["before"].as_u64().expect("units") + 1
    );
    let place = bench.path("state/archive");
    assert_eq!(told["archive"].as_str(), place.to_str());

    let young = bench.run(&["archive", "gc", "--older-than", "30d"]).ends(0);
    assert!(
        young
            .stdout
            .contains("cleared: 0 B in 0 entries of 0 compactions"),
        "{young:?}"
    );
    let would = bench
        .run(&["archive", "gc", "--older-than", "0s", "--dry-run"])
        .ends(0);
    assert!(would.stdout.contains("would be cleared: "), "{would:?}");
    assert!(
        would.stdout.contains(" in 0 entries of 1 compaction"),
        "{would:?}"
    );
    bench.run(&["undo", "receipt.json"]).ends(0);
    bench.run(&["archive", "gc", "--older-than", "0s"]).ends(0);
    bench.run(&["undo", "receipt.json"]).ends(2);
    bench
        .run(&["archive", "gc", "--older-than", "old"])
        .ends(2)
        .says(&["give a number with its unit, such as 30d or 12h"]);
}

#[test]
fn archive_gc_refuses_a_folder_that_is_no_archive() {
    let bench = Bench::new();
    let blog = private_folder(&bench, "blog");
    for inner in ["entries", "undo"] {
        fs::create_dir(blog.join(inner)).expect("a folder");
    }
    let post = bench.file("blog/entries/post.md", "hi");
    let old = std::time::SystemTime::now() - Duration::from_secs(900 * 24 * 60 * 60);
    let file = fs::File::options().append(true).open(&post).expect("opens");
    file.set_modified(old).expect("is set");
    let input = example("fix-a-bug.openai.json");
    for command in [
        &["archive", "gc", "--older-than", "30d"][..],
        &["archive", "gc", "--older-than", "30d", "-n"],
        &["archive"],
        &["compact", &input],
    ] {
        bench
            .run(&[command, &["--archive", "blog"]].concat())
            .ends(2)
            .says(&["there is no archive in `blog`", "that no archive wrote"]);
    }
    assert_eq!(fs::read_to_string(post).expect("is there"), "hi");
    assert_eq!(fs::read_dir(blog).expect("there").count(), 2);
}

#[test]
fn unfinished_files_of_killed_runs_are_listed_and_cleared() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    compact_with_receipt(&bench, &input, "receipt.json", &[]).ends(0);
    let left = bench.file("state/archive/staging/aZ09aZ09aZ09aZ09.part", "half");
    let told = bench.run(&["archive"]).ends(0).stdout;
    assert!(
        told.contains(" of 1 compaction, and 1 unfinished file\n"),
        "{told}"
    );
    let gc = ["archive", "gc", "--older-than", "30d"];
    let told = bench
        .run(&[&gc[..], &["--dry-run"]].concat())
        .ends(0)
        .stdout;
    let clearing = "4 B in 0 entries of 0 compactions, and 1 unfinished file\n";
    assert!(
        told.contains(&format!("would be cleared: {clearing}")),
        "{told}"
    );
    assert!(fs::exists(&left).expect("can be told"));
    let told = bench.run(&gc).ends(0).stdout;
    assert!(told.contains(&format!("cleared: {clearing}")), "{told}");
    assert!(!fs::exists(&left).expect("can be told"));
}

#[test]
fn commands_that_look_into_an_archive_create_nothing() {
    let bench = Bench::new();
    let empty = private_folder(&bench, "empty");
    let url = format!("file://{}", bench.path("nowhere").display());
    let receipt = r#"{"outcome": "compacted", "undo": "3f2a90c41be07d5512aa"}"#;
    bench.file("r.json", receipt);
    let entries = bench.entries();
    for place in ["nowhere", "empty", &url] {
        for command in [
            &["archive"][..],
            &["archive", "gc", "--older-than", "0s"],
            &["archive", "gc", "--older-than", "0s", "-n"],
            &["expand", "3f2a90c41be07d5512aa"],
            &["undo", "r.json"],
        ] {
            bench
                .run(&[command, &["--archive", place]].concat())
                .ends(2)
                .says(&["there is no archive in `", "nothing was stored there yet"]);
        }
    }
    assert_eq!(bench.entries(), entries);
    assert_eq!(fs::read_dir(empty).expect("there").count(), 0);
    assert!(!bench.path("state/archive").exists());
}

#[test]
fn commands_that_compact_nothing_create_no_archive() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    bench.run(&["validate", &input]).ends(0);
    bench.run(&["should-compact", &input, "--budget", "10"]);
    bench.run(&["introspect", "trim"]).ends(0);
    assert!(!bench.path("state/archive").exists());
}

#[test]
fn several_programs_store_in_one_place_at_once() {
    let bench = Bench::new();
    let runs: Vec<_> = [examples(), examples()]
        .concat()
        .into_iter()
        .enumerate()
        .map(|(run, input)| {
            let receipt = format!("receipt-{run}.json");
            let child = bench
                .command()
                .args(["compact", &input, "-q", "--receipt", &receipt])
                .stdout(Stdio::null())
                .spawn()
                .expect("it runs");
            (child, receipt, input)
        })
        .collect();
    for (mut child, receipt, input) in runs {
        assert!(child.wait().expect("it ends").success(), "{input}");
        let undone = bench.run(&["undo", &receipt]).ends(0);
        assert_eq!(
            undone.stdout,
            fs::read_to_string(input).expect("an example")
        );
    }
}

/// A disk without room for another byte.
#[cfg(unix)]
#[test]
fn compact_changes_nothing_on_a_full_disk() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    // The key is made while there is room.
    bench
        .run(&["compact", &input, "--budget", "100000"])
        .ends(0);
    let mut shell = std::process::Command::new("sh");
    let limited = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
    shell
        .args([
            "-c",
            limited,
            "sh",
            env!("CARGO_BIN_EXE_baler"),
            "compact",
            &input,
        ])
        .env_clear()
        .env("NO_COLOR", "1")
        .env("BALER_STATE", bench.path("state"))
        .stdin(Stdio::null());
    let ran = Ran::of(shell.output().expect("it runs")).ends(1).says(&[
        "error: cannot write to the archive `",
        "state/archive`: File too large",
        "so nothing was compacted: check the archive, or name another one by --archive",
    ]);
    assert_eq!(ran.stdout, "");
    assert_eq!(
        fs::read_dir(bench.path("state/archive/entries"))
            .expect("there")
            .count(),
        0
    );
}
