//! `baler eval`, on recordings that were made up here, with figures that can be worked out by hand.

#![cfg(feature = "eval")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests end the test where something is not as it should be"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

mod state;

/// What must never be printed.
const PRIVATE: &str = "the bread is in the oven";

/// A folder of recordings, and the program with a state folder of its own.
struct Bench(TempDir);

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        state::in_folder(folder.path());
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command("eval", arguments)
    }

    fn command(&self, command: &str, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_baler"))
            .current_dir(self.0.path())
            .env("BALER_STATE", self.path("state"))
            .arg(command)
            .args(arguments)
            .output()
            .unwrap()
    }

    fn figures(&self, arguments: &[&str]) -> Value {
        let mut all = vec!["corpus", "--json", "figures.json"];
        all.extend(arguments);
        let ran = self.run(&all);
        assert!(ran.status.success(), "{}", said(&ran));
        serde_json::from_str(&fs::read_to_string(self.path("figures.json")).unwrap()).unwrap()
    }
}

fn said(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr)
}

/// Six files are named in the first message and again in the last one; between them are 18
/// messages of about 200 characters that name nothing. So at each cut six names are needed, all
/// of them far, and only what keeps the first message has them.
fn baking() -> String {
    let files = "oven.rs, dough.rs, flour.rs, salt.rs, yeast.rs and water.rs";
    let filler = format!("{PRIVATE} and ").repeat(7);
    let mut messages = vec![json!({"role": "user", "content": format!("Read {files}.")})];
    for message in 0..18 {
        let role = ["assistant", "user"][message % 2];
        messages.push(json!({"role": role, "content": filler}));
    }
    messages.push(json!({"role": "assistant", "content": format!("I have read {files}.")}));
    json!({"model": "gpt-4o", "messages": messages}).to_string()
}

fn mean(figures: &Value, strategy: &str, budget: f64, figure: &str) -> f64 {
    let rows = figures["summary"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["strategy"] == strategy && row["budget"] == budget && row["set"] == "all")
        .expect("it was measured");
    row["figures"][figure]["mean"].as_f64().unwrap()
}

#[test]
fn recall_is_the_share_of_needed_names_that_are_left() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    let figures = bench.figures(&["--strategy", "native:digest", "--budget", "50%"]);
    for (strategy, share) in [
        ("keep-last", 0.0),
        ("first+last", 1.0),
        ("native:digest", 1.0),
    ] {
        assert_eq!(mean(&figures, strategy, 0.5, "recall"), share, "{strategy}");
        assert_eq!(mean(&figures, strategy, 0.5, "far"), share, "{strategy}");
    }
    // 20 units, cut behind the 8th, 12th and 16th.
    let rows = figures["conversations"][0]["rows"].as_array().unwrap();
    let mut cuts: Vec<u64> = rows.iter().filter_map(|row| row["cut"].as_u64()).collect();
    cuts.dedup();
    assert_eq!(cuts, [8, 12, 16]);
    for row in rows {
        let measured = &row["measured"];
        assert!(measured["size"].as_f64().unwrap() <= 0.51, "{row}");
        // A digest of this takes less than half of the history; baselines have no such figure.
        let used = measured["used"].as_f64();
        assert_eq!(used.is_some(), row["strategy"] == "native:digest", "{row}");
        assert!(used.is_none_or(|used| used > 0.0 && used <= 1.0), "{row}");
        assert_eq!(measured["is-invalid"], false);
    }
}

/// The same in tool outputs, so that each cut ends with one that the model has not seen.
fn baking_with_tools() -> String {
    let mut body: Value = serde_json::from_str(&baking()).unwrap();
    let whole = body["messages"].as_array().unwrap();
    let (first, last) = (whole[0].clone(), whole[whole.len() - 1].clone());
    let mut messages = vec![first];
    for step in 0..18 {
        let id = format!("call-{step}");
        let call =
            json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        let output = format!("{PRIVATE} and ").repeat(100);
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
    }
    messages.push(last);
    body["messages"] = json!(messages);
    body.to_string()
}

#[test]
fn eval_checks_that_unseen_outputs_are_kept_with_their_calls() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking_with_tools());
    let strategies = ["native:digest", "native:truncate", "sliding-window"];
    let mut arguments = vec!["--budget", "5%"];
    for strategy in strategies {
        arguments.extend(["--strategy", strategy]);
    }
    let figures = bench.figures(&arguments);
    for strategy in strategies {
        assert_eq!(
            mean(&figures, strategy, 0.05, "unseen-kept"),
            1.0,
            "{strategy}"
        );
    }
    let rows = figures["conversations"][0]["rows"].as_array().unwrap();
    let of = |strategy: &str| {
        rows.iter()
            .filter(|row| row["strategy"] == strategy)
            .count()
    };
    assert_eq!(of("native:digest"), 3);
    for row in rows {
        let measured = &row["measured"];
        assert_eq!(measured["is-invalid"], false, "{row}");
        assert_eq!(measured["is-over"], false, "{row}");
        let is_baseline = !strategies.contains(&row["strategy"].as_str().unwrap());
        assert_eq!(measured["unseen-kept"].is_null(), is_baseline, "{row}");
    }
}

/// Twelve turns, each with a short message of the user, a call whose output is long, and an answer. The first message names
/// six files, and the last answer does again.
fn mooring() -> String {
    let files = "oven.rs, dough.rs, flour.rs, salt.rs, yeast.rs and water.rs";
    let mut messages = Vec::new();
    for turn in 0..12 {
        let words = match turn {
            0 => format!("Read {files}."),
            _ => format!("次は波止場 {turn} です, look there too."),
        };
        messages.push(json!({"role": "user", "content": words}));
        let id = format!("call-{turn}");
        let call =
            json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        let output = format!("{PRIVATE} and ").repeat(210);
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
        let answer = match turn {
            11 => format!("I have read {files}."),
            _ => "I looked.".to_owned(),
        };
        messages.push(json!({"role": "assistant", "content": answer}));
    }
    json!({"model": "gpt-4o", "messages": messages}).to_string()
}

/// Returns the rows of constraints of one method.
fn constraints<'f>(figures: &'f Value, strategy: &str) -> Vec<&'f Value> {
    let rows = figures["conversations"][0]["constraints"]
        .as_array()
        .unwrap();
    let rows = rows.iter().filter(|row| row["strategy"] == strategy);
    rows.collect()
}

#[test]
fn constraints_are_measured_in_three_places_at_each_cut() {
    let bench = Bench::new();
    bench.file("corpus/harbour/one.json", &mooring());
    let arguments = [
        "--constraints",
        "--strategy",
        "native:digest",
        "--budget",
        "10%",
    ];
    let figures = bench.figures(&arguments);
    // A tenth of the history is less than one output, of which the newest take all.
    let expected: [(&str, &[&str]); 2] = [("keep-last", &[]), ("first+last", &["first"])];
    for (strategy, kept) in expected {
        let rows = constraints(&figures, strategy);
        // 36 units, cut behind the 14th, 21st and 28th: after 19, 28 and 37 messages.
        for cut in [19, 28, 37] {
            let own: Vec<&&Value> = rows.iter().filter(|row| row["cut"] == cut).collect();
            let places: Vec<&str> = own.iter().filter_map(|row| row["place"].as_str()).collect();
            assert_eq!(places, ["first", "middle", "late"], "{strategy} {cut}");
            let there: Vec<&str> = own
                .iter()
                .filter(|row| row["kept"] == true)
                .filter_map(|row| row["place"].as_str())
                .collect();
            assert_eq!(there, kept, "{strategy} {cut}");
        }
        assert_eq!(rows.len(), 9);
    }
    let summary = figures["constraints"].as_array().unwrap();
    let of = |strategy: &str, figure: &str| {
        let row = summary
            .iter()
            .find(|row| row["strategy"] == strategy && row["set"] == "all");
        row.expect("it was measured")["figures"][figure]["mean"].as_f64()
    };
    assert_eq!(of("first+last", "first"), Some(1.0));
    assert_eq!(of("first+last", "late"), Some(0.0));
    assert_eq!(of("keep-last", "constraints"), Some(0.0));
    // The same sentence in each run.
    let again = bench.figures(&arguments);
    assert_eq!(
        again["conversations"][0]["constraints"],
        figures["conversations"][0]["constraints"]
    );
}

/// The host keeps what the user says within its share, whatever a strategy decides.
#[test]
fn constraints_within_the_share_of_the_user_are_all_there() {
    let bench = Bench::new();
    bench.file("corpus/harbour/one.json", &mooring());
    let strategies = ["native:digest", "native:truncate", "sliding-window", "trim"];
    let mut arguments = vec!["--constraints", "--budget", "10%", "--budget", "25%"];
    for strategy in strategies {
        arguments.extend(["--strategy", strategy]);
    }
    let figures = bench.figures(&arguments);
    for strategy in strategies {
        let rows = constraints(&figures, strategy);
        assert_eq!(rows.len(), 18);
        for row in rows {
            // Ten messages of about 40 characters in at least 3,000.
            assert_eq!(row["within-share"], true, "{row}");
            assert_eq!(row["kept"], true, "{row}");
        }
    }
}

#[test]
fn constraints_have_a_table_only_if_they_are_measured() {
    let bench = Bench::new();
    bench.file("corpus/harbour/one.json", &mooring());
    let plain = [
        "corpus",
        "--strategy",
        "native:truncate",
        "--resume",
        "done.jsonl",
    ];
    let ran = bench.run(&plain);
    assert!(ran.status.success(), "{}", said(&ran));
    assert!(!said(&ran).contains("Constraints"), "{}", said(&ran));
    let with = [&plain[..], &["--constraints"]].concat();
    let ran = bench.run(&with);
    assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
    let told = "constraints: false there, true now";
    assert!(said(&ran).contains(told), "{}", said(&ran));
    fs::remove_file(bench.path("done.jsonl")).unwrap();
    for _ in 0..2 {
        // The second time from the file.
        let ran = bench.run(&with);
        assert!(ran.status.success(), "{}", said(&ran));
        let text = said(&ran);
        let table = text.split_once("### Constraints\n").expect("a table").1;
        assert!(table.contains("\n| first+last | 10 % | 0.33 | "), "{table}");
        assert!(!text.contains(PRIVATE));
    }
    let ran = bench.run(&["corpus", "--constraints", "--recorded"]);
    assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
}

#[test]
fn no_text_of_a_message_is_printed_or_written() {
    let bench = Bench::new();
    bench
        .file("corpus/bakery/one.json", &baking())
        .file("corpus/plans/week.json", &planned(&asked()));
    let ran = bench.run(&["corpus", "--json", "figures.json", "--resume", "done.jsonl"]);
    assert!(ran.status.success(), "{}", said(&ran));
    for text in [
        said(&ran),
        fs::read_to_string(bench.path("figures.json")).unwrap(),
        fs::read_to_string(bench.path("done.jsonl")).unwrap(),
    ] {
        assert!(!text.contains(PRIVATE) && !text.contains("dough.rs"));
        assert!(!text.contains("Olga") && !text.to_lowercase().contains("blue pike"));
    }
    assert!(!bench.path("state/archive").exists());
}

#[test]
fn resume_measures_only_what_is_missing() {
    let bench = Bench::new();
    bench
        .file("corpus/bakery/one.json", &baking())
        .file("corpus/bakery/two.json", &baking());
    let arguments = [
        "corpus",
        "--strategy",
        "native:digest",
        "--resume",
        "done.jsonl",
    ];
    let first = bench.run(&arguments);
    assert!(first.status.success(), "{}", said(&first));
    let done = fs::read_to_string(bench.path("done.jsonl")).unwrap();
    // What is measured, and a line for each.
    assert_eq!(done.lines().count(), 3);
    // The last line was cut off by a crash.
    let cut = done.len() - 40;
    bench.file("done.jsonl", &done[..cut]);
    let again = bench.run(&arguments);
    assert!(again.status.success(), "{}", said(&again));
    let done = fs::read_to_string(bench.path("done.jsonl")).unwrap();
    assert_eq!(done.lines().count(), 3, "{done}");
    let recall = |ran: &Output| {
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        text.lines()
            .find(|line| line.starts_with("| native:digest"))
            .map(|line| line.split('|').take(4).collect::<String>())
            .expect("a row of native:digest")
    };
    assert_eq!(recall(&first), recall(&again));
    for (option, told) in [
        (
            ["--budget", "10%"],
            "budgets: 50 100 250 500 there, 100 now",
        ),
        (
            ["--strategy", "native:truncate"],
            "strategies: native:digest there, native:digest, native:truncate now",
        ),
        (
            ["--fuel", "1"],
            "limits: fuel 4000000000, 2s, 67108864 bytes of memory there, fuel 1, 2s, 67108864 bytes of memory now",
        ),
    ] {
        let other = bench.run(&[&arguments[..], &option].concat());
        assert_eq!(other.status.code(), Some(2), "{}", said(&other));
        assert!(said(&other).contains(told), "{}", said(&other));
        assert_eq!(fs::read_to_string(bench.path("done.jsonl")).unwrap(), done);
    }
}

#[test]
fn runs_of_all_parts_measure_each_conversation_once() {
    let bench = Bench::new();
    for name in ["one", "two", "three", "four", "five"] {
        bench.file(&format!("corpus/bakery/{name}.json"), &baking());
    }
    // Without the last figure of each row, the times, which differ from run to run.
    let run = |options: &[&str]| {
        let arguments = ["corpus", "--strategy", "native:digest"];
        let ran = bench.run(&[&arguments[..], options].concat());
        assert!(ran.status.success(), "{}", said(&ran));
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        let rows = text
            .lines()
            .map(|line| match line.rmatch_indices('|').nth(1) {
                Some((end, _)) => line[..end].to_owned(),
                None => line.to_owned(),
            });
        rows.collect::<Vec<_>>()
    };
    let mut merged = String::new();
    // More parts than conversations: the last ones have none.
    for part in 1..=7 {
        let file = format!("part-{part}.jsonl");
        run(&["--part", &format!("{part}/7"), "--resume", &file]);
        let lines = fs::read_to_string(bench.path(&file)).unwrap();
        assert_eq!(
            lines.lines().count(),
            if part <= 5 { 2 } else { 1 },
            "{part}"
        );
        let first = if part == 1 { 0 } else { 1 };
        merged.extend(lines.split_inclusive('\n').skip(first));
    }
    bench.file("merged.jsonl", &merged);
    let together = run(&["--resume", "merged.jsonl"]);
    assert!(together.iter().any(|row| row.contains("native:digest")));
    assert_eq!(together, run(&[]));
    assert_eq!(
        fs::read_to_string(bench.path("merged.jsonl")).unwrap(),
        merged
    );
    for wrong in ["0/2", "3/2", "1", "1/0", "a/b"] {
        let ran = bench.run(&["corpus", "--part", wrong]);
        assert_eq!(ran.status.code(), Some(2));
        assert!(said(&ran).contains("such as 2/8"), "{}", said(&ran));
    }
}

#[test]
fn resumed_figures_are_those_of_these_recordings_as_they_are_now() {
    let bench = Bench::new();
    bench
        .file("corpus/bakery/one.json", &baking())
        .file("corpus/bakery/two.json", &baking())
        .file("other/kitchen/one.json", &baking());
    let run = |corpus: &str| {
        let strategy = ["--strategy", "native:truncate", "--budget", "50%"];
        let ran = bench.run(&[&[corpus][..], &strategy, &["--resume", "done.jsonl"]].concat());
        assert!(ran.status.success(), "{}", said(&ran));
        let noted = fs::read_to_string(bench.path("done.jsonl")).unwrap();
        (said(&ran), noted.lines().count())
    };
    let (first, noted) = run("corpus");
    assert!(
        first.contains("- bakery: 2 conversations, 6 cuts"),
        "{first}"
    );
    assert_eq!(noted, 3);
    let (other, noted) = run("other");
    assert!(
        other.contains("- kitchen: 1 conversations, 3 cuts"),
        "{other}"
    );
    assert!(!other.contains("bakery"), "{other}");
    assert_eq!(noted, 4);
    // It has one cut, at its end.
    bench.file("corpus/bakery/one.json", &planned(&asked()));
    for _ in 0..2 {
        let (changed, noted) = run("corpus");
        let told = "- bakery: 2 conversations, 4 cuts";
        assert!(changed.contains(told), "{changed}");
        assert!(!changed.contains("kitchen"), "{changed}");
        // Measured again once.
        assert_eq!(noted, 5);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_another_run_writes_to_is_not_resumed() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    let arguments = [
        "corpus",
        "--strategy",
        "native:truncate",
        "--resume",
        "done.jsonl",
        "--threads",
        "256",
    ];
    let first = bench.run(&arguments);
    assert!(first.status.success(), "{}", said(&first));
    let other_run = fs::File::open(bench.path("done.jsonl")).unwrap();
    other_run.lock().unwrap();
    // The last line is one that the other run has not finished.
    let done = fs::read_to_string(bench.path("done.jsonl")).unwrap();
    let half = &done[..done.len() - 40];
    bench.file("done.jsonl", half);
    let second = bench.run(&arguments);
    assert_eq!(second.status.code(), Some(2), "{}", said(&second));
    let told = "another run is writing to `done.jsonl`";
    assert!(said(&second).contains(told), "{}", said(&second));
    assert_eq!(
        fs::read_to_string(bench.path("done.jsonl")).unwrap(),
        half,
        "the other run's line was cut off"
    );
    drop(other_run);
    let third = bench.run(&arguments);
    assert!(third.status.success(), "{}", said(&third));
    let whole = fs::read_to_string(bench.path("done.jsonl")).unwrap();
    assert_eq!(whole.lines().next(), done.lines().next());
    assert_eq!(whole.lines().count(), 2, "{whole}");
}

#[cfg(unix)]
#[test]
fn a_file_behind_another_users_link_is_not_resumed() {
    use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};

    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    fs::create_dir(bench.path("shared")).unwrap();
    fs::set_permissions(bench.path("shared"), fs::Permissions::from_mode(0o1777)).unwrap();
    let link = bench.path("shared/done.jsonl");
    symlink(bench.path("victim.jsonl"), &link).unwrap();
    // Only root may give a link away.
    if lchown(&link, Some(12_345), None).is_err() {
        return;
    }
    let arguments = [
        "corpus",
        "--strategy",
        "native:truncate",
        "--resume",
        "shared/done.jsonl",
    ];
    // Neither is a new file made there, nor half a line taken off one that is.
    for half in [None, Some("half a line")] {
        if let Some(half) = half {
            bench.file("victim.jsonl", half);
        }
        let ran = bench.run(&arguments);
        assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
        let told = "a link that another user put into";
        assert!(said(&ran).contains(told), "{}", said(&ran));
        let left = fs::read_to_string(bench.path("victim.jsonl")).ok();
        assert_eq!(left.as_deref(), half);
    }
}

#[test]
fn a_file_of_something_else_is_not_resumed_and_stays() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    for foreign in ["my notes", "{\"at\": 7}", "{\"at\":\"50\""] {
        bench.file("notes", foreign);
        let ran = bench.run(&[
            "corpus",
            "--strategy",
            "native:truncate",
            "--resume",
            "notes",
        ]);
        assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
        assert!(
            said(&ran).contains("line 1 of `notes` does not say what was measured"),
            "{}",
            said(&ran)
        );
        assert_eq!(fs::read_to_string(bench.path("notes")).unwrap(), foreign);
    }
}

#[test]
fn a_file_to_resume_from_is_read_within_bounds() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    // A hole, which takes no room on the disk.
    let size = (1 << 30) + 1;
    let huge = fs::File::create(bench.path("huge")).unwrap();
    huge.set_len(size).unwrap();
    let ran = bench.run(&[
        "corpus",
        "--strategy",
        "native:truncate",
        "--resume",
        "huge",
    ]);
    assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
    assert!(
        said(&ran).contains("cannot read `huge`: it has more than 1 GiB"),
        "{}",
        said(&ran)
    );
    assert_eq!(huge.metadata().unwrap().len(), size);
}

#[test]
fn a_line_that_was_cut_off_anywhere_is_taken_off() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    let arguments = [
        "corpus",
        "--strategy",
        "native:truncate",
        "--resume",
        "done",
    ];
    let first = bench.run(&arguments);
    assert!(first.status.success(), "{}", said(&first));
    let done = fs::read(bench.path("done")).unwrap();
    let head = done.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let in_a_character = [&done[..head], b"{\"set\":\"\xc3"].concat();
    for cut in [
        &done[..0],
        &done[..head / 2],
        &done[..head - 1],
        &in_a_character,
    ] {
        fs::write(bench.path("done"), cut).unwrap();
        let again = bench.run(&arguments);
        assert!(again.status.success(), "{}", said(&again));
        let lines = fs::read_to_string(bench.path("done")).unwrap();
        // What is measured, and the one conversation.
        assert_eq!(lines.lines().count(), 2, "{lines}");
        assert!(lines.as_bytes().starts_with(&done[..head]), "{lines}");
    }
}

#[test]
fn lines_without_figures_are_reported_and_measured_again() {
    let bench = Bench::new();
    bench
        .file("corpus/bakery/one.json", &baking())
        .file("corpus/bakery/two.json", &baking());
    let strategy = ["--strategy", "native:truncate", "--threads", "1"];
    let arguments = [&["corpus", "--resume", "done"][..], &strategy].concat();
    let first = bench.run(&arguments);
    assert!(first.status.success(), "{}", said(&first));
    let done = fs::read_to_string(bench.path("done")).unwrap();
    let lines: Vec<&str> = done.lines().collect();
    let [head, one, two] = lines[..] else {
        panic!("{done}");
    };
    // Half of the first, as a full disk left it, and behind it all of the second.
    bench.file("done", &format!("{head}\n{}{two}\n{two}\n", &one[..200]));
    let again = bench.run(&arguments);
    assert!(again.status.success(), "{}", said(&again));
    let told = "1 line of `done` cannot be read as figures, the first of them line 2";
    assert!(said(&again).contains(told), "{}", said(&again));
    let cuts = "- bakery: 2 conversations, 6 cuts";
    assert!(said(&again).contains(cuts), "{}", said(&again));
    // The second was not measured again.
    let done = fs::read_to_string(bench.path("done")).unwrap();
    assert_eq!(done.lines().count(), 4, "{done}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_no_half_line_to_resume_from() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    let arguments = ["corpus", "--resume", "done"];
    let strategy = ["--strategy", "native:truncate"];
    // 4 or 8 KiB, as the shell has it; the conversation's line has more than 16.
    let ran = Command::new("sh")
        .args(["-c", "ulimit -f 8 && exec \"$0\" eval \"$@\""])
        .arg(env!("CARGO_BIN_EXE_baler"))
        .args(arguments)
        .args(strategy)
        .current_dir(bench.0.path())
        .env("BALER_STATE", bench.path("state"))
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
    assert!(said(&ran).contains("cannot write `done`"), "{}", said(&ran));
    let done = fs::read_to_string(bench.path("done")).unwrap();
    assert_eq!(done.lines().count(), 1, "{done}");
    assert!(done.ends_with('\n'), "{done}");
    let again = bench.run(&[&arguments[..], &strategy].concat());
    assert!(again.status.success(), "{}", said(&again));
    let done = fs::read_to_string(bench.path("done")).unwrap();
    assert_eq!(done.lines().count(), 2, "{done}");
    assert!(done.len() > 16 << 10, "{}", done.len());
}

#[test]
fn figures_are_written_whole_and_never_among_the_recordings() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    let one = bench.path("corpus/bakery/one.json");
    for option in ["--json", "--markdown", "--resume"] {
        for file in ["corpus/bakery/one.json", "corpus/../corpus/new.json"] {
            let ran = bench.run(&["corpus", "--strategy", "native:truncate", option, file]);
            assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
            let told = format!("`{option}` would write a file among the recorded conversations");
            assert!(said(&ran).contains(&told), "{}", said(&ran));
        }
        assert_eq!(fs::read_to_string(&one).unwrap(), baking());
        assert!(!bench.path("corpus/new.json").exists());
    }
    for folder in ["corpus", "corpus/bakery", "corpus/new", "corpus/new/charts"] {
        let ran = bench.run(&["corpus", "--charts", folder]);
        assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
        let told = "`--charts` would write a file among the recorded conversations";
        assert!(said(&ran).contains(told), "{}", said(&ran));
        assert!(!bench.path("corpus/new").exists());
    }
    // Refused before anything is measured, and so before anything is noted.
    for option in ["--json", "--markdown"] {
        let place = "nowhere/figures";
        let ran = bench.run(&["corpus", "--resume", "done", option, place]);
        assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
        assert!(
            said(&ran).contains("cannot write `nowhere/figures`"),
            "{}",
            said(&ran)
        );
        assert!(!bench.path("done").exists());
    }
    bench.file("taken/far.svg/file", "").file("file", "");
    for (folder, told) in [
        ("taken", "cannot write `taken/far.svg`: it is a folder"),
        ("file/charts", "cannot make the folder `file/charts`"),
    ] {
        let ran = bench.run(&["corpus", "--resume", "done", "--charts", folder]);
        assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
        assert!(said(&ran).contains(told), "{}", said(&ran));
        assert!(!bench.path("done").exists());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn tables_come_out_where_the_figures_cannot_be_written() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    let arguments = ["corpus", "--strategy", "native:truncate"];
    let ran = bench.run(&[&arguments[..], &["--json", "/dev/full"]].concat());
    assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
    assert!(
        said(&ran).contains("cannot write `/dev/full`"),
        "{}",
        said(&ran)
    );
    let cuts = "- bakery: 1 conversations, 3 cuts";
    assert!(said(&ran).contains(cuts), "{}", said(&ran));
}

#[cfg(target_os = "linux")]
#[test]
fn recordings_that_cannot_be_named_are_left_out_and_reported() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    for name in [b"o\xfe.json", b"o\xff.json"] {
        let file = bench.path("corpus/bakery").join(OsStr::from_bytes(name));
        fs::write(file, baking()).unwrap();
    }
    let ran = bench.run(&["corpus", "--strategy", "native:truncate"]);
    assert!(ran.status.success(), "{}", said(&ran));
    let told = said(&ran);
    assert_eq!(
        told.matches("is left out: expected a name in UTF-8")
            .count(),
        2,
        "{told}"
    );
    assert!(told.contains("- bakery: 1 conversations, 3 cuts"), "{told}");
}

#[test]
fn no_file_is_written_for_two_purposes() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    for (one, other) in [
        ("--json", "--markdown"),
        ("--json", "--resume"),
        ("--markdown", "--resume"),
    ] {
        let ran = bench.run(&["corpus", one, "out", other, "corpus/../out"]);
        assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
        let told = format!("`{one}` and `{other}` name the same file");
        assert!(said(&ran).contains(&told), "{}", said(&ran));
        assert!(!bench.path("out").exists());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn figures_do_not_go_where_the_tables_go() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    let arguments = ["corpus", "--strategy", "native:truncate"];
    let ran = bench.run(&[&arguments[..], &["--json", "/dev/stdout"]].concat());
    assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
    let told = "`--json` names the file or pipe that standard output goes to";
    assert!(said(&ran).contains(told), "{}", said(&ran));
    let both = ["--json", "/dev/stdout", "--markdown", "/dev/fd/1"];
    let ran = bench.run(&[&arguments[..], &both].concat());
    assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
    let told = "`--json` and `--markdown` name the same file";
    assert!(said(&ran).contains(told), "{}", said(&ran));
    let alone = ["--json", "/dev/stdout", "--markdown", "tables.md"];
    let ran = bench.run(&[&arguments[..], &alone].concat());
    assert!(ran.status.success(), "{}", said(&ran));
    let figures: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(figures["conversations"][0]["set"], "bakery");
}

#[test]
fn figures_replace_neither_the_key_nor_a_strategy() {
    let bench = Bench::new();
    bench
        .file("corpus/bakery/one.json", &baking())
        .file("state/key", "k3y")
        .file("mine.wasm", "a component");
    for option in ["--json", "--markdown", "--resume"] {
        for file in ["state/key", "mine.wasm"] {
            let ran = bench.run(&["corpus", "--strategy", "mine.wasm", option, file]);
            assert_eq!(ran.status.code(), Some(2), "{option}: {}", said(&ran));
            let told = format!("`{option}` names a file that is in use for something else");
            assert!(said(&ran).contains(&told), "{}", said(&ran));
        }
    }
    assert_eq!(fs::read_to_string(bench.path("state/key")).unwrap(), "k3y");
    let strategy = fs::read_to_string(bench.path("mine.wasm")).unwrap();
    assert_eq!(strategy, "a component");
}

#[cfg(unix)]
#[test]
fn the_name_of_a_set_forges_no_line_of_a_table() {
    let bench = Bench::new();
    bench.file("corpus/bakery\n- FORGED/one.json", &baking());
    let ran = bench.run(&["corpus", "--strategy", "native:truncate"]);
    assert!(ran.status.success(), "{}", said(&ran));
    let said = said(&ran);
    assert!(
        said.contains("- bakery - FORGED: 1 conversations, 3 cuts"),
        "{said}"
    );
    assert!(
        !said.lines().any(|line| line.starts_with("- FORGED")),
        "{said}"
    );
}

#[test]
fn unreadable_recordings_are_named_and_the_rest_is_measured() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    fs::write(bench.path("corpus/bakery/odd.json"), b"{\"messages\": \xff").unwrap();
    bench.file("corpus/bakery/half.json", "{\"messages\": [");
    // A hole, which takes no room on the disk, beyond what is read.
    let huge = fs::File::create(bench.path("corpus/bakery/huge.json")).unwrap();
    huge.set_len((1 << 30) + 1).unwrap();
    let ran = bench.run(&["corpus", "--strategy", "native:truncate"]);
    assert!(ran.status.success(), "{}", said(&ran));
    let said = said(&ran);
    for left in ["odd.json", "half.json", "huge.json"] {
        assert!(said.contains(&format!("{left}` is left out: ")), "{said}");
    }
    assert!(said.contains("bakery: 1 conversations, 3 cuts"), "{said}");
}

#[test]
fn conversations_that_break_a_rule_are_counted_apart() {
    let bench = Bench::new();
    let orphan = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Look."},
        {"role": "tool", "tool_call_id": "c1", "content": "nothing asked for it"},
    ]});
    bench
        .file("corpus/bakery/one.json", &baking())
        .file("corpus/bakery/orphan.json", &orphan.to_string())
        .file("corpus/bakery/notes.txt", "not a conversation")
        .file("corpus/bakery/half.json", "{\"messages\": [");
    let ran = bench.run(&["corpus", "--strategy", "native:truncate"]);
    let said = said(&ran);
    assert!(
        said.contains("left out, break a rule of their format: 1 (`bakery/orphan.json#0`)"),
        "{said}"
    );
    assert!(said.contains("bakery: 1 conversations, 3 cuts"), "{said}");
}

#[test]
fn wrong_use_is_reported_with_a_remedy() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    bench.file("empty/readme.txt", "");
    for (arguments, expected) in [
        (&["nowhere"][..], "there is no folder `nowhere`"),
        (&["empty"], "no conversation was found in `empty`"),
        (&["corpus", "--set", "butcher"], "it has bakery"),
        (&["corpus", "--budget", "0%"], "expected a percentage from"),
        (&["corpus", "--budget", "10"], "expected a percentage from"),
        (&["corpus", "--budget", "0.04%"], "from 0.1% to 100%"),
        (&["corpus", "--budget", "12.34%"], "in steps of 0.1%"),
        (&["corpus", "--budget", "100.1%"], "from 0.1% to 100%"),
        (&["corpus", "--strategy", "summarize"], "asks a model"),
        (&["corpus", "--strategy", "tierd"], "did you mean `tiered`?"),
        (
            &["corpus", "--recorded", "--budget", "5%"],
            "cannot be used with",
        ),
        (
            &["corpus", "--threads", "0"],
            "expected a number from 1 to 256",
        ),
        (
            &["corpus", "--threads", "257"],
            "expected a number from 1 to 256",
        ),
    ] {
        let ran = bench.run(arguments);
        assert_eq!(ran.status.code(), Some(2), "{arguments:?}: {}", said(&ran));
        assert!(
            said(&ran).contains(expected),
            "{arguments:?}: {}",
            said(&ran)
        );
    }
    bench.file("done.jsonl", "no JSON\n{}\n");
    let ran = bench.run(&["corpus", "--resume", "done.jsonl"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(
        said(&ran).contains("line 1 of `done.jsonl` does not say what was measured"),
        "{}",
        said(&ran)
    );
}

#[test]
fn strategies_of_one_name_are_refused_and_not_joined() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    let trim = baler_strategies::by_name("trim").unwrap();
    for file in ["x/mine.wasm", "y/mine.wasm", "keep-last.wasm"] {
        bench.file(file, "");
        fs::write(bench.path(file), trim.wasm).unwrap();
    }
    for (one, other, name) in [
        ("x/mine.wasm", "y/mine.wasm", "mine"),
        ("keep-last.wasm", "trim", "keep-last"),
        ("native:truncate", "native:truncate", "native:truncate"),
    ] {
        let ran = bench.run(&["corpus", "--strategy", one, "--strategy", other]);
        assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
        let told = match name {
            "keep-last" => "`keep-last` is the name of a baseline".to_owned(),
            "native:truncate" => "`native:truncate` is named more than once".to_owned(),
            _ => format!("have the same name, `{name}`"),
        };
        assert!(said(&ran).contains(&told), "{}", said(&ran));
    }
}

#[test]
fn least_budget_is_named_and_a_repeated_budget_counts_once() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &baking());
    let budgets = ["--budget", "0.1%", "--budget", "0.1%"];
    let arguments = [&["--strategy", "native:truncate"][..], &budgets].concat();
    let figures = bench.figures(&arguments);
    // Four baselines and the strategy, at each of three cuts.
    let rows = figures["conversations"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 15);
    assert!(rows.iter().all(|row| row["budget"] == 1));
    let tables = said(&bench.run(&[&["corpus"][..], &arguments[..]].concat()));
    assert!(tables.contains("### 0.1 % of the history"), "{tables}");
}

/// A session that its program compacted, with what it wrote itself: three of six names.
fn compacted_session() -> String {
    let line = |kind: &str, number: usize, content: Value| {
        json!({"type": kind, "uuid": format!("u{number}"), "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": kind, "id": format!("m{number}"), "model": "claude-sonnet-4", "content": content}})
        .to_string()
    };
    let files = "oven.rs, dough.rs, flour.rs, salt.rs, yeast.rs and water.rs";
    let filler = format!("{PRIVATE} and ").repeat(7);
    let mut lines = vec![line("user", 0, json!(format!("Read {files}.")))];
    for number in 1..10 {
        let kind = ["user", "assistant"][number % 2];
        let content = match kind {
            "user" => json!(filler),
            _ => json!([{"type": "text", "text": filler}]),
        };
        lines.push(line(kind, number, content));
    }
    lines.push(json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "sessionId": "s", "content": "compacted"}).to_string());
    lines.push(json!({"type": "user", "uuid": "sum", "sessionId": "s", "isCompactSummary": true,
        "message": {"role": "user", "content": "Three of the files were oven.rs, dough.rs and flour.rs."}}).to_string());
    lines.push(line("user", 20, json!("Go on.")));
    lines.push(line(
        "assistant",
        21,
        json!([{"type": "text", "text": format!("I have read {files}.")}]),
    ));
    lines.join("\n") + "\n"
}

#[test]
fn a_recorded_compaction_is_measured_at_the_size_of_its_own_summary() {
    let bench = Bench::new();
    bench.file("corpus/kitchen/session.jsonl", &compacted_session());
    let figures = bench.figures(&["--recorded", "--strategy", "native:digest"]);
    assert_eq!(mean(&figures, "recorded", 0.0, "recall"), 0.5);
    assert_eq!(mean(&figures, "keep-last", 0.0, "recall"), 0.0);
}

/// `xtask/fidelity.py` works them out once more, from the JSON alone.
#[test]
fn the_tables_of_the_docs_are_those_that_the_command_prints() {
    let bench = Bench::new();
    bench
        .file("corpus/bakery/one.json", &baking())
        .file("corpus/kitchen/session.jsonl", &compacted_session());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["xtask/fidelity.py", "docs/fidelity.md"] {
        bench.file(name, &fs::read_to_string(root.join(name)).unwrap());
    }
    let printed = |json: &str, more: &[&str]| {
        let strategies = ["--strategy", "native:digest", "--strategy", "tiered"];
        let ran = bench.run(&[&["corpus", "--json", json][..], &strategies, more].concat());
        assert!(ran.status.success(), "{}", said(&ran));
        String::from_utf8(ran.stdout).unwrap()
    };
    let plain = printed("plain.json", &["--budget", "10%", "--budget", "50%"]);
    let recorded = printed("recorded.json", &["--recorded"]);
    let script = Command::new("python3")
        .args(["xtask/fidelity.py", "plain.json", "recorded.json"])
        .current_dir(bench.0.path())
        .output();
    // Nothing else of the project needs Python.
    let Ok(ran) = script else { return };
    assert!(ran.status.success(), "{}", said(&ran));
    let written = fs::read_to_string(bench.path("docs/fidelity.md")).unwrap();
    let (_, recorded) = recorded.split_once("### ").unwrap();
    let tables = plain.replace("### ", "### At ");
    for printed in [&*tables, recorded] {
        let verdict = printed.rfind("### ").expect("it is there");
        let legend = printed.find("Shares from 0 to 1").expect("it is there");
        let (part, said) = (&printed[..legend], &printed[verdict..]);
        assert!(said.contains("What this says"), "{said}");
        assert!(written.contains(part.trim_end()), "{part}\n\n{written}");
    }
    let best = "\n| tiered / best baseline (which) | bakery |";
    assert!(written.contains(best), "{written}");
}

/// A person plans a week and hums between the sentences, so that each message has 100 characters.
/// The meeting and the dinner move.
fn week() -> Vec<Value> {
    [
        "Swimming is on Monday at 18:30 in the Nordbad, please note.",
        "Noted, with a towel.",
        "それから会議は水曜日の朝です。",
        "わかりました。",
        "Dinner with Olga on Thursday, at the Three Geese, for two.",
        "How nice!",
        "会議は木曜日に変わりました！",
        "木よう日ですね。",
        "Olga cannot stand geese: we dine at the Blue Pike instead.",
        "Then no Three Geese for Olga.",
    ]
    .iter()
    .enumerate()
    .map(|(number, text)| {
        let hummed = text.chars().chain(" la".chars().cycle());
        let content: String = hummed.take(100).collect();
        let role = ["user", "assistant"][number % 2];
        json!({"role": role, "id": format!("d{number}"), "content": content})
    })
    .collect()
}

/// Four messages are named: those at 0, 4, 6 and 8.
fn asked() -> Value {
    json!([
        {"question": "When do I swim?", "answer": "18.30", "evidence": ["d0"]},
        {"question": "会議はいつですか？", "answer": "木曜日", "evidence": [6],
            "outdated": ["水曜日"]},
        {"question": "Where do we dine?", "answer": "the blue pike", "evidence": [4, 8],
            "outdated": ["Three Geese"]},
    ])
}

fn planned(questions: &Value) -> String {
    json!({"model": "gpt-4o", "messages": week(), "questions": questions}).to_string()
}

#[test]
fn evidence_is_what_is_left_of_the_messages_that_questions_name() {
    let bench = Bench::new();
    bench.file("corpus/plans/week.json", &planned(&asked()));
    let mut arguments = vec!["--strategy", "native:truncate"];
    for budget in ["10%", "30%", "60%", "100%"] {
        arguments.extend(["--budget", budget]);
    }
    let figures = bench.figures(&arguments);
    let third = 1.0 / 3.0;
    for (strategy, budget, evidence, strict, answers) in [
        // The last message alone. It has an old value of the dinner.
        ("keep-last", 0.1, 0.0, 0.0, 0.0),
        // 7, 8 and 9: of the dinner the new value, but not both messages.
        ("keep-last", 0.3, 0.25, 0.0, third),
        // 0, 8 and 9.
        ("first+last", 0.3, 0.5, third, 2.0 * third),
        // 4 to 9: all but the swimming.
        ("keep-last", 0.6, 0.75, 2.0 * third, 2.0 * third),
        // 4, 6 and 8 are the newest words of the user, which get half of what the budget leaves.
        ("native:truncate", 0.6, 0.75, 2.0 * third, 2.0 * third),
        ("random", 1.0, 1.0, 1.0, 1.0),
        ("native:truncate", 1.0, 1.0, 1.0, 1.0),
    ] {
        let of = |figure| mean(&figures, strategy, budget, figure);
        let told = format!("{strategy} at {budget}");
        assert_eq!(of("evidence"), evidence, "{told}");
        assert_eq!(of("evidence-strict"), strict, "{told}");
        assert_eq!(of("answers"), answers, "{told}");
    }
    // No cut has five names that are needed later: only the end counts.
    let rows = figures["conversations"][0]["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["cut"] == 10));
    assert!(figures["summary"][0]["figures"].get("recall").is_none());
}

#[test]
fn evidence_has_a_table_where_questions_are_asked_and_none_elsewhere() {
    let bench = Bench::new();
    let lines = format!("{}\n{}\n", planned(&asked()), planned(&json!([])));
    bench
        .file("corpus/plans/weeks.jsonl", &lines)
        .file("corpus/bakery/one.json", &baking());
    let arguments = ["corpus", "--strategy", "native:digest", "--budget", "30%"];
    let all = said(&bench.run(&arguments));
    let row = "\n| keep-last | 0.25 (of 1) | 0.00 (of 1) | 0.33 (of 1) | 0.30 (of 1) | 1 |\n";
    assert!(all.contains("- plans: 1 conversations, 1 cuts"), "{all}");
    assert!(
        all.contains("left out, too little was needed later: 1 ("),
        "{all}"
    );
    assert!(
        all.contains(row) && all.contains("evidence strict"),
        "{all}"
    );
    let bakery = said(&bench.run(&[&arguments[..], &["--set", "bakery"]].concat()));
    assert!(bakery.contains("| keep-last |"), "{bakery}");
    assert!(!bakery.contains("evidence"), "{bakery}");
}

#[test]
fn wrong_questions_are_reported_with_file_and_place_and_measured_once_corrected() {
    let bench = Bench::new();
    let mut wrong = asked();
    wrong[2]["evidence"] = json!([4, 10]);
    bench
        .file("corpus/bakery/one.json", &baking())
        .file("corpus/plans/week.json", &planned(&wrong));
    let arguments = [
        "corpus",
        "--strategy",
        "native:truncate",
        "--resume",
        "done.jsonl",
    ];
    let first = bench.run(&arguments);
    assert!(first.status.success(), "{}", said(&first));
    let told =
        "- plans, week.json#0: `questions[2].evidence[1]` is past the end of 10 messages: 10\n";
    assert!(said(&first).contains(told), "{}", said(&first));
    assert!(said(&first).contains("- bakery: 1 conversations, 3 cuts"));
    // They are not noted as done.
    let done = fs::read_to_string(bench.path("done.jsonl")).unwrap();
    assert_eq!(done.lines().count(), 2, "{done}");
    bench.file("corpus/plans/week.json", &planned(&asked()));
    let again = bench.run(&arguments);
    assert!(again.status.success(), "{}", said(&again));
    assert!(said(&again).contains("- plans: 1 conversations, 1 cuts"));
    assert!(!said(&again).contains("`questions"), "{}", said(&again));
}

#[test]
fn messages_are_named_alike_in_every_format() {
    let bench = Bench::new();
    let asked =
        json!([{"question": "When does the bakery open?", "answer": "6:15", "evidence": [2]}]);
    let with = |mut body: Value| {
        body["questions"] = asked.clone();
        body.to_string()
    };
    // The third message is what a tool found; it belongs to one unit with the second.
    let hours = "The bakery opens at 6:15, and the smell wakes the street.";
    let (ask, thanks) = ("When can I have a croissant?", "So early! Thanks.");
    let chat = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": ask},
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function",
            "function": {"name": "hours", "arguments": "{\"of\":\"bakery\"}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": hours},
        {"role": "user", "content": thanks},
    ]});
    let anthropic = json!({"model": "claude-sonnet-4", "max_tokens": 100, "messages": [
        {"role": "user", "content": ask},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "c1", "name": "hours", "input": {"of": "bakery"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": hours}]},
        {"role": "assistant", "content": thanks},
    ]});
    let responses = json!({"model": "gpt-5", "input": [
        {"role": "user", "content": ask},
        {"type": "function_call", "call_id": "c1", "name": "hours",
            "arguments": "{\"of\":\"bakery\"}"},
        {"type": "function_call_output", "call_id": "c1", "output": hours},
        {"role": "user", "content": thanks},
    ]});
    let gemini = json!({"contents": [
        {"role": "user", "parts": [{"text": ask}]},
        {"role": "model", "parts": [{"functionCall": {"name": "hours", "args": {"of": "bakery"}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "hours", "response": {"output": hours}}}]},
        {"role": "model", "parts": [{"text": thanks}]},
    ]});
    bench
        .file("corpus/chat/one.json", &with(chat))
        .file("corpus/anthropic/one.json", &with(anthropic))
        .file("corpus/responses/one.json", &with(responses))
        .file("corpus/gemini/one.json", &with(gemini));
    let figures = bench.figures(&["--strategy", "native:truncate", "--budget", "100%"]);
    let rows = figures["summary"].as_array().unwrap();
    for set in ["chat", "anthropic", "responses", "gemini"] {
        for strategy in ["keep-last", "native:truncate"] {
            let row = rows
                .iter()
                .find(|row| row["set"] == set && row["strategy"] == strategy);
            let row = &row.expect("it was measured")["figures"];
            for figure in ["evidence", "evidence-strict", "answers"] {
                assert_eq!(row[figure]["mean"], 1.0, "{figure} of {strategy} in {set}");
            }
        }
    }
}

/// An agent that reads four files, edits one of them, and goes on with all of them.
fn mending() -> String {
    let call = |id: usize, tool: &str, path: &str| {
        json!({"role": "assistant", "content": format!("Now I look after the file with number {id} of the list."), "tool_calls": [{"id": format!("c{id}"), "type": "function",
            "function": {"name": tool, "arguments": json!({"path": path}).to_string()}}]})
    };
    let output = |id: usize, text: &str| json!({"role": "tool", "tool_call_id": format!("c{id}"), "content": text});
    let files = [
        "src/bake/oven.rs",
        "src/bake/dough.rs",
        "src/sell/till.rs",
        "src/sell/shelf.rs",
        "src/sell/price_list.rs",
        "src/bake/salt.rs",
    ];
    let mut messages = vec![
        json!({"role": "user", "content": "Mend the till of the bakery. Never touch the oven."}),
    ];
    for round in 0..2 {
        for (number, file) in files.iter().enumerate() {
            let id = round * 10 + number;
            let tool = if number == 2 {
                "edit_file"
            } else {
                "read_file"
            };
            messages.push(call(id, tool, file));
            messages.push(output(
                id,
                &format!("fn warm_{number}() {{ {PRIVATE} }}\n").repeat(8),
            ));
        }
        messages.push(json!({"role": "user", "content": "Go on with the rest of them, please."}));
    }
    json!({"model": "gpt-4o", "messages": messages}).to_string()
}

#[test]
fn figures_of_context_paths_and_state_tell_lines_from_lists() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &mending());
    let figures = bench.figures(&["--strategy", "native:digest", "--budget", "50%"]);
    let of = |strategy: &str, figure: &str| mean(&figures, strategy, 0.5, figure);
    for figure in ["recall", "in-context", "paths", "state"] {
        assert!(
            of("native:digest", figure) > 0.9,
            "{figure}: {}",
            of("native:digest", figure)
        );
        // The oldest steps are gone.
        assert!(
            of("keep-last", figure) < of("native:digest", figure),
            "{figure}"
        );
    }
}

#[test]
fn explain_lists_what_was_lost_of_one_conversation() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &mending());
    bench.file("corpus/bakery/two.json", &mending());
    let explain = |named: &str| {
        bench.run(&[
            "corpus",
            "--explain",
            named,
            "--strategy",
            "native:truncate",
            "--budget",
            "25%",
        ])
    };
    let ran = explain("bakery/one.json#0");
    assert!(ran.status.success(), "{}", said(&ran));
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(text.contains("### native:truncate: keeps"), "{text}");
    assert!(text.contains("### keep-last: keeps"), "{text}");
    assert!(
        text.contains("- lost: path `src/bake/oven.rs`, last in a call of `read_file`, message "),
        "{text}"
    );
    let ran = explain("one");
    assert!(ran.status.success(), "{}", said(&ran));
    for (named, told) in [
        ("bakery/", "2 conversations are called"),
        ("three", "no conversation is called `three`"),
    ] {
        let ran = explain(named);
        assert_eq!(ran.status.code(), Some(2));
        assert!(said(&ran).contains(told), "{}", said(&ran));
    }
}

#[test]
fn readers_get_texts_and_questions_and_their_answers_are_scored() {
    let bench = Bench::new();
    bench.file("corpus/bakery/one.json", &mending());
    let test = |folder: &str| {
        bench.run(&[
            "corpus",
            "--strategy",
            "native:digest",
            "--budget",
            "50%",
            "--reader-files",
            folder,
            "--reader-questions",
            "3",
        ])
    };
    let ran = test("reader");
    assert!(ran.status.success(), "{}", said(&ran));
    assert!(
        said(&ran).contains("5 sheets in `reader` have no answers yet"),
        "{}",
        said(&ran)
    );
    let sheet = fs::read_to_string(bench.path("reader/native-digest/000.md")).unwrap();
    let (left, questions) = sheet
        .split_once("# What the agent did next")
        .expect("two parts");
    let key: Value =
        serde_json::from_str(&fs::read_to_string(bench.path("reader/key.json")).unwrap()).unwrap();
    let names: Vec<&str> = key["sheets"][0]["answers"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|answer| answer["name"].as_str())
        .collect();
    assert_eq!(names.len(), 3);
    for name in &names {
        assert!(
            !questions.contains(name),
            "{name} is given away: {questions}"
        );
        assert!(left.contains(name), "{name} is in the digest");
    }
    // One right, one wrong, one unknown.
    let answers = format!("1: `{}`\n2: src/none.rs\n3: UNKNOWN\n", names[0]);
    bench.file("reader/native-digest/000.txt", &answers);
    let ran = test("reader");
    assert!(ran.status.success(), "{}", said(&ran));
    assert!(
        said(&ran).contains("| native:digest | 1 | 0.33 | 1 | 1 | 0 | 1 |"),
        "{}",
        said(&ran)
    );
    // Another test does not take the folder over.
    bench.file("corpus/bakery/two.json", &mending().replace("till", "shop"));
    let ran = test("reader");
    assert!(!ran.status.success());
    assert!(
        said(&ran).contains("belongs to another reader test"),
        "{}",
        said(&ran)
    );
    // Not among the recordings.
    let ran = test("corpus/reader");
    assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
}

#[test]
fn tune_compares_configs_and_says_when_the_difference_is_noise() {
    let bench = Bench::new();
    for number in 0..6 {
        bench.file(
            &format!("corpus/bakery/{number}.json"),
            &mending().replace("bakery", &format!("bakery{number}")),
        );
    }
    let tune = |strategy: &str, goal: &str| {
        bench.command(
            "tune",
            &[
                "corpus",
                "--strategy",
                strategy,
                "--goal",
                goal,
                "--budget",
                "25%",
                "--resume",
                "scores.jsonl",
                "--configs",
                "8",
            ],
        )
    };
    let ran = tune("mask-tool-outputs", "recall");
    assert!(ran.status.success(), "{}", said(&ran));
    let first = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(first.contains("| the default | "), "{first}");
    assert!(first.contains("Choosing among these gains "), "{first}");
    // All six conversations are the same but for a name, so either all gain or none does.
    assert!(
        first.contains("keep the default") || first.contains("Use: --config '{"),
        "{first}"
    );
    let scores = fs::read_to_string(bench.path("scores.jsonl")).unwrap();
    assert!(scores.lines().count() > 8, "{scores}");
    // What is known is not measured again.
    let again = tune("mask-tool-outputs", "recall");
    assert_eq!(String::from_utf8_lossy(&again.stdout), first);
    assert_eq!(
        fs::read_to_string(bench.path("scores.jsonl")).unwrap(),
        scores
    );
    let other = tune("mask-tool-outputs", "state");
    assert_eq!(other.status.code(), Some(2));
    assert!(
        said(&other).contains("holds scores of something else"),
        "{}",
        said(&other)
    );
    let native = bench.command("tune", &["corpus", "--strategy", "native:digest"]);
    assert_eq!(native.status.code(), Some(2));
    assert!(
        said(&native).contains("takes no config"),
        "{}",
        said(&native)
    );
    let ran = bench.command(
        "tune",
        &["corpus", "--strategy", "tiered", "--goal", "beauty"],
    );
    assert_eq!(ran.status.code(), Some(2));
    assert!(
        said(&ran).contains("expected one of recall, in-context, state, answers"),
        "{}",
        said(&ran)
    );
}
