//! `baler undo`.

use std::fs;

use serde_json::Value;

use crate::conversations::broken_chat;
use crate::support::{Bench, compact_with_receipt, example, examples, read_receipt};

#[test]
fn every_compaction_can_be_undone_byte_for_byte() {
    let bench = Bench::new();
    for input in examples() {
        let before = fs::read_to_string(&input).expect("an example");
        compact_with_receipt(&bench, &input, "receipt.json", &["-q"]).ends(0);
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
        let ran = compact_with_receipt(&bench, &file, &name, &["--budget", share]).ends(0);
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
fn output_of_json_serves_as_receipt_and_a_repair_is_undone() {
    let bench = Bench::new();
    let document = broken_chat().to_string();
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
fn a_run_that_changes_nothing_leaves_the_receipt_that_undoes_the_one_before() {
    let bench = Bench::new();
    let before = fs::read_to_string(example("plan-a-week.openai.json")).expect("an example");
    let file = bench.file("now.json", &before);
    let digest = ["-s", "native:digest", "-o", &file];
    compact_with_receipt(&bench, &file, "r.json", &digest).ends(0);
    let first = fs::read_to_string(bench.path("r.json")).expect("a receipt");
    let wide = [&digest[..], &["--budget", "100000"][..]].concat();
    compact_with_receipt(&bench, &file, "r.json", &wide)
        .ends(0)
        .says(&["warning: `r.json` stays as it is"]);
    let json = [&wide[..], &["--json"][..]].concat();
    let told = compact_with_receipt(&bench, &file, "r.json", &json).ends(0);
    let told: Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!(told["receipt-kept"], true);
    assert_eq!(told["receipt"]["outcome"], "unchanged");
    let broken = bench.file("broken.json", broken_chat().to_string());
    compact_with_receipt(&bench, &broken, "r.json", &["-s", "native:digest"])
        .ends(5)
        .says(&["warning: `r.json` stays as it is"]);
    let last = fs::read_to_string(bench.path("r.json")).expect("a receipt");
    assert_eq!(last, first);
    assert_eq!(bench.run(&["undo", "r.json"]).ends(0).stdout, before);
    // What cannot undo anything is replaced, as ever.
    bench.file("other.json", "{}");
    for _ in 0..2 {
        let told = compact_with_receipt(&bench, &file, "other.json", &json).ends(0);
        assert!(!told.stdout.contains("receipt-kept"), "{}", told.stdout);
        assert_eq!(read_receipt(&bench, "other.json")["outcome"], "unchanged");
    }
}

#[test]
fn a_run_without_an_archive_leaves_the_receipt_that_undoes_the_one_before() {
    let bench = Bench::new();
    let before = fs::read_to_string(example("plan-a-week.openai.json")).expect("an example");
    let file = bench.file("now.json", &before);
    let digest = ["-s", "native:digest", "-o", &file];
    compact_with_receipt(&bench, &file, "r.json", &digest).ends(0);
    let first = fs::read_to_string(bench.path("r.json")).expect("a receipt");
    // Half of what is left.
    let off = ["-s", "native:truncate", "-o", &file, "--archive", "off"];
    let off = [&off[..], &["--budget", "50%"]].concat();
    compact_with_receipt(&bench, &file, "r.json", &off)
        .ends(0)
        .says(&["warning: `r.json` stays as it is", "nothing was archived"]);
    let now = fs::read_to_string(&file).expect("a conversation");
    assert!(now.len() < before.len() / 2, "{}", now.len());
    let last = fs::read_to_string(bench.path("r.json")).expect("a receipt");
    assert_eq!(last, first);
    assert_eq!(bench.run(&["undo", "r.json"]).ends(0).stdout, before);
}

#[test]
fn receipt_with_a_byte_order_mark_is_read() {
    let bench = Bench::new();
    let input = example("plan-a-week.openai.json");
    let before = fs::read_to_string(&input).expect("an example");
    compact_with_receipt(&bench, &input, "r.json", &["-s", "native:digest"]).ends(0);
    let receipt = fs::read_to_string(bench.path("r.json")).expect("a receipt");
    let marked = bench.file("marked.json", format!("\u{feff}{receipt}"));
    assert_eq!(bench.run(&["undo", &marked]).ends(0).stdout, before);
    let page = bench.run(&["report", &marked]).ends(0).stdout;
    assert!(page.contains("native:digest"), "{page}");
    // It is a receipt for a run that changed nothing, too.
    let wide = ["-s", "native:digest", "--budget", "100000"];
    compact_with_receipt(&bench, &input, "marked.json", &wide)
        .ends(0)
        .says(&["warning: `marked.json` stays as it is"]);
    let config = bench.file("config.json", "\u{feff}{\"keep\": 5}");
    let config = format!("@{config}");
    let arguments = ["compact", &input, "-q", "-s", "mask-tool-outputs"];
    bench
        .run(&[&arguments[..], &["--config", &config]].concat())
        .ends(0);
}

#[test]
fn impossible_undo_is_reported_with_its_reason() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    compact_with_receipt(&bench, &input, "wide.json", &["--budget", "100000"]).ends(0);
    bench
        .run(&["undo", "wide.json"])
        .ends(2)
        .says(&["nothing to undo: that run changed nothing"]);
    compact_with_receipt(&bench, &input, "off.json", &["--archive", "off"])
        .ends(0)
        .says(&["the removed content is lost: there is no archive"]);
    bench
        .run(&["undo", "off.json"])
        .ends(2)
        .says(&["was compacted without an archive"]);
    bench
        .run(&["undo", &input])
        .ends(5)
        .says(&["not a receipt; give the file that `--receipt` wrote"]);
    compact_with_receipt(&bench, &input, "receipt.json", &["--archive", "one"]).ends(0);
    compact_with_receipt(
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
