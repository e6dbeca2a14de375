//! What left, and how a conversation comes back: `undo`, `expand`, `archive`.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use super::{Bench, Ran, example, examples};

fn receipt(bench: &Bench, name: &str) -> Value {
    serde_json::from_slice(&fs::read(bench.path(name)).expect("a receipt")).expect("JSON")
}

/// Compacts an example with a receipt in this file, and gives what came out.
fn compact(bench: &Bench, input: &str, receipt: &str, more: &[&str]) -> Ran {
    let arguments = ["compact", input, "--receipt", receipt];
    bench.run(&[&arguments[..], more].concat())
}

#[test]
fn every_compaction_can_be_undone_byte_for_byte() {
    let bench = Bench::new();
    for input in examples() {
        let before = fs::read_to_string(&input).expect("an example");
        compact(&bench, &input, "receipt.json", &["-q"]).ends(0);
        let undone = bench.run(&["undo", "receipt.json"]).ends(0);
        assert_eq!(undone.stdout, before, "{input}");
        assert_eq!(undone.stderr, "");
    }
}

#[test]
fn a_chain_is_undone_one_by_one_or_in_one_go() {
    let bench = Bench::new();
    let input = example("plan-a-week.openai.json");
    let mut documents = vec![fs::read_to_string(&input).expect("an example")];
    for (index, share) in ["60%", "40%", "20%"].into_iter().enumerate() {
        let file = bench.file("now.json", documents.last().expect("one"));
        let name = format!("receipt-{index}.json");
        let ran = compact(&bench, &file, &name, &["--budget", share]).ends(0);
        documents.push(ran.stdout);
    }
    for index in [2, 1, 0] {
        let name = format!("receipt-{index}.json");
        bench.run(&["undo", &name, "-o", "back.json"]).ends(0);
        let back = fs::read_to_string(bench.path("back.json")).expect("is written");
        assert_eq!(back, documents[index]);
    }
}

#[test]
fn all_that_json_prints_is_a_receipt_too_and_a_repair_is_undone() {
    let bench = Bench::new();
    let document = super::broken_chat().to_string();
    let arguments = ["compact", "--repair", "--json", "--budget", "100000"];
    let printed = bench
        .run_with_input(&arguments, document.as_bytes())
        .ends(0);
    let undone = bench
        .run_with_input(&["undo"], printed.stdout.as_bytes())
        .ends(0);
    assert_eq!(undone.stdout, document);
}

#[test]
fn what_cannot_be_undone_is_told_with_the_reason() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    compact(&bench, &input, "wide.json", &["--budget", "100000"]).ends(3);
    bench
        .run(&["undo", "wide.json"])
        .ends(2)
        .says(&["there is nothing to undo: that run changed nothing"]);
    compact(&bench, &input, "off.json", &["--archive", "off"])
        .ends(0)
        .says(&["what left cannot be had back: there is no archive"]);
    bench
        .run(&["undo", "off.json"])
        .ends(2)
        .says(&["was compacted without an archive"]);
    bench
        .run(&["undo", &input])
        .ends(5)
        .says(&["that is no receipt; give what `--receipt` wrote"]);
    compact(&bench, &input, "receipt.json", &["--archive", "one"]).ends(0);
    compact(
        &bench,
        &input,
        "other.json",
        &["--archive", "two", "--budget", "30%"],
    )
    .ends(0);
    bench
        .run(&["undo", "receipt.json", "--archive", "nowhere"])
        .ends(2)
        .says(&["there is no archive in `nowhere`"]);
    bench
        .run(&["undo", "receipt.json", "--archive", "two"])
        .ends(0);
    fs::remove_dir_all(bench.path("two/undo")).expect("removes it");
    bench
        .run(&["undo", "receipt.json", "--archive", "two"])
        .ends(2)
        .says(&["nothing is stored under `", "` in `two`"]);
    assert!(!bench.path("nowhere").exists());
}

#[test]
fn what_left_is_shown_by_its_reference() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let before: Value =
        serde_json::from_slice(&fs::read(&input).expect("an example")).expect("JSON");
    compact(&bench, &input, "receipt.json", &[]).ends(0);
    let receipt = receipt(&bench, "receipt.json");
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
        .says(&["`abc` is no reference; receipts and placeholders name them"]);
    bench
        .run(&["expand", &first, "3f2a90c41be07d5512aa"])
        .ends(2)
        .says(&[
            "nothing is stored under `3f2a90c41be07d5512aa` in `",
            "archive`",
        ]);
}

#[test]
fn the_archive_is_shown_and_cleared_by_age() {
    let bench = Bench::new();
    bench
        .run(&["archive"])
        .ends(2)
        .says(&["there is no archive in `", "nothing was stored there yet"]);
    compact(
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
    let receipt = receipt(&bench, "receipt.json");
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
fn the_environment_names_an_archive_and_an_option_goes_before_it() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let run = |arguments: &[&str], archive: &str| {
        let mut command = bench.command();
        command.env("BALER_ARCHIVE", archive).args(arguments);
        Ran::of(command.output().expect("it runs"))
    };
    run(&["compact", &input, "--receipt", "r.json"], "mine")
        .ends(0)
        .says(&["stored in `mine`"]);
    run(&["undo", "r.json"], "mine").ends(0);
    run(&["compact", &input, "--archive", "off"], "mine")
        .ends(0)
        .says(&["there is no archive"]);
    run(&["compact", &input], "off")
        .ends(0)
        .says(&["there is no archive"]);
    run(&["archive"], "off")
        .ends(2)
        .says(&["no archive is named"]);
    for (wrong, words) in [
        ("ftp://there", "`ftp://there` is no place for an archive"),
        ("s3://", "`s3://` is no place for an archive"),
    ] {
        let ran = run(&["compact", &input], wrong).ends(2).says(&[words]);
        assert_eq!(ran.stdout, "");
    }
}

#[cfg(feature = "cloud")]
#[test]
fn keys_of_a_store_come_from_the_environment() {
    use baler_models::testing::{Reply, ScriptedServer};

    let bench = Bench::new();
    let server = ScriptedServer::start([]).expect("a server");
    server.otherwise(Reply::body(
        403,
        "application/xml",
        "<Error><Code>AccessDenied</Code></Error>",
    ));
    let mut command = bench.command();
    command
        .env("AWS_ENDPOINT", format!("http://{}", server.address()))
        .env("AWS_REGION", "eu-west-1")
        .env("AWS_ACCESS_KEY_ID", "AKIAKEY")
        .env("AWS_SECRET_ACCESS_KEY", "mackerel")
        .args(["compact", &example("fix-a-bug.openai.json")])
        .args(["--archive", "s3://bales/one"]);
    let ran = Ran::of(command.output().expect("it runs"))
        .ends(1)
        .says(&["error: cannot read the archive `s3://bales/one`: ", "403"]);
    assert_eq!(ran.stdout, "");
    assert!(!ran.stderr.contains("mackerel"), "{}", ran.stderr);
    let request = &server.requests()[0];
    assert!(
        request.path.starts_with("/bales/one/entries/"),
        "{}",
        request.path
    );
    let signed = request.header("authorization").expect("it is signed");
    assert!(
        signed.starts_with("AWS4-HMAC-SHA256 Credential=AKIAKEY/"),
        "{signed}"
    );
}

/// A disk without room for another byte.
#[cfg(unix)]
#[test]
fn on_a_full_disk_nothing_is_compacted() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    // The key is made while there is room.
    bench
        .run(&["compact", &input, "--budget", "100000"])
        .ends(3);
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
        "so nothing was compacted: see to the archive, or name another one by --archive",
    ]);
    assert_eq!(ran.stdout, "");
    assert_eq!(
        fs::read_dir(bench.path("state/archive/entries"))
            .expect("there")
            .count(),
        0
    );
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

#[test]
fn commands_that_compact_nothing_make_no_archive() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    bench.run(&["validate", &input]).ends(0);
    bench.run(&["should-compact", &input, "--budget", "10"]);
    bench.run(&["introspect", "trim"]).ends(0);
    assert!(!bench.path("state/archive").exists());
}
