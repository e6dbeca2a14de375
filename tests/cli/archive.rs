//! What left, and how a conversation comes back: `undo`, `expand`, `archive`.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

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
fn a_run_that_changes_nothing_leaves_the_receipt_that_undoes_the_one_before() {
    let bench = Bench::new();
    let before = fs::read_to_string(example("plan-a-week.openai.json")).expect("an example");
    let file = bench.file("now.json", &before);
    let digest = ["-s", "native:digest", "-o", &file];
    compact(&bench, &file, "r.json", &digest).ends(0);
    let first = fs::read_to_string(bench.path("r.json")).expect("a receipt");
    let wide = [&digest[..], &["--budget", "100000"][..]].concat();
    compact(&bench, &file, "r.json", &wide)
        .ends(3)
        .says(&["warning: `r.json` stays as it is"]);
    let json = [&wide[..], &["--json"][..]].concat();
    let told = compact(&bench, &file, "r.json", &json).ends(3);
    let told: Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!(told["receipt-kept"], true);
    assert_eq!(told["receipt"]["outcome"], "unchanged");
    let broken = bench.file("broken.json", super::broken_chat().to_string());
    compact(&bench, &broken, "r.json", &["-s", "native:digest"])
        .ends(5)
        .says(&["warning: `r.json` stays as it is"]);
    let last = fs::read_to_string(bench.path("r.json")).expect("a receipt");
    assert_eq!(last, first);
    assert_eq!(bench.run(&["undo", "r.json"]).ends(0).stdout, before);
    // What cannot undo anything is replaced, as ever.
    bench.file("other.json", "{}");
    for _ in 0..2 {
        let told = compact(&bench, &file, "other.json", &json).ends(3);
        assert!(!told.stdout.contains("receipt-kept"), "{}", told.stdout);
        assert_eq!(receipt(&bench, "other.json")["outcome"], "unchanged");
    }
}

#[test]
fn a_run_without_an_archive_leaves_the_receipt_that_undoes_the_one_before() {
    let bench = Bench::new();
    let before = fs::read_to_string(example("plan-a-week.openai.json")).expect("an example");
    let file = bench.file("now.json", &before);
    let digest = ["-s", "native:digest", "-o", &file];
    compact(&bench, &file, "r.json", &digest).ends(0);
    let first = fs::read_to_string(bench.path("r.json")).expect("a receipt");
    // Half of what is left.
    let off = ["-s", "native:truncate", "-o", &file, "--archive", "off"];
    let off = [&off[..], &["--budget", "50%"]].concat();
    compact(&bench, &file, "r.json", &off)
        .ends(0)
        .says(&["warning: `r.json` stays as it is", "nothing was archived"]);
    let now = fs::read_to_string(&file).expect("a conversation");
    assert!(now.len() < before.len() / 2, "{}", now.len());
    let last = fs::read_to_string(bench.path("r.json")).expect("a receipt");
    assert_eq!(last, first);
    assert_eq!(bench.run(&["undo", "r.json"]).ends(0).stdout, before);
}

#[test]
fn a_receipt_is_read_with_a_byte_order_mark_too() {
    let bench = Bench::new();
    let input = example("plan-a-week.openai.json");
    let before = fs::read_to_string(&input).expect("an example");
    compact(&bench, &input, "r.json", &["-s", "native:digest"]).ends(0);
    let receipt = fs::read_to_string(bench.path("r.json")).expect("a receipt");
    let marked = bench.file("marked.json", format!("\u{feff}{receipt}"));
    assert_eq!(bench.run(&["undo", &marked]).ends(0).stdout, before);
    let page = bench.run(&["report", &marked]).ends(0).stdout;
    assert!(page.contains("native:digest"), "{page}");
    // It is a receipt for a run that changed nothing, too.
    let wide = ["-s", "native:digest", "--budget", "100000"];
    compact(&bench, &input, "marked.json", &wide)
        .ends(3)
        .says(&["warning: `marked.json` stays as it is"]);
    let config = bench.file("config.json", "\u{feff}{\"keep\": 5}");
    let config = format!("@{config}");
    let arguments = ["compact", &input, "-q", "-s", "mask-tool-outputs"];
    bench
        .run(&[&arguments[..], &["--config", &config]].concat())
        .ends(0);
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
        .says(&["what was removed is lost: there is no archive"]);
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
fn a_planted_entry_cannot_answer_for_another_reference() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    compact(&bench, &input, "receipt.json", &[]).ends(0);
    // printf '1,"3f2a90c41be07d5512aa":[]' | sha256sum | head -c 20
    let planted = "405b0cd75def5af617e4";
    bench.file(
        &format!("state/archive/entries/{planted}.json"),
        r#"1,"3f2a90c41be07d5512aa":[]"#,
    );
    let ran = bench.run(&["expand", planted, "--json"]).ends(1);
    let ran = ran.says(&[
        "what is stored under `405b0cd75def5af617e4` in `",
        "is damaged",
    ]);
    assert_eq!(ran.stdout, "");
}

#[test]
fn entries_that_are_not_kept_until_they_are_printed_come_out_whole() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    compact(&bench, &input, "receipt.json", &[]).ends(0);
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
        .says(&[" in `mine`"]);
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

#[test]
fn an_archive_in_memory_is_refused() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let wrong = "`memory:` is no place for an archive";
    for command in [
        &["compact", &input][..],
        &["compact", &input, "--dry-run"],
        &["expand", "3f2a90c41be07d5512aa"],
        &["archive"],
    ] {
        let ran = bench.run(&[command, &["--archive", "memory:"]].concat());
        assert_eq!(ran.ends(2).says(&[wrong]).stdout, "");
        let mut command_in = bench.command();
        command_in.env("BALER_ARCHIVE", "memory:").args(command);
        Ran::of(command_in.output().expect("it runs"))
            .ends(2)
            .says(&[wrong]);
    }
    #[cfg(feature = "http")]
    bench
        .run(&["serve", "--listen", "127.0.0.1:0", "--archive", "memory:"])
        .ends(2)
        .says(&[wrong]);
    // A folder of that name is one.
    let folder = ["compact", &input, "--archive", "./memory:"];
    bench.run(&folder).ends(0);
}

#[test]
fn a_word_that_is_no_place_makes_no_folder_of_that_name() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    for (typed, wrong) in [
        (
            "OFF",
            "`OFF` is no place for an archive; expected a folder or a URL",
        ),
        (
            "Off",
            "`off` in lower case (a folder of that name is `./Off`)",
        ),
        ("", "`--archive` is empty; expected a folder, or a URL"),
        ("none", "the word `off` (a folder of that name is `./none`)"),
        (" off", "has white space around the name"),
        ("mine\n", "has white space around the name"),
        ("~", "only a shell knows what `~` stands for"),
        ("~/bales", "give the whole path"),
        ("s3:bucket", "a URL has `://` behind its scheme"),
        ("S3:/bucket/prefix", "a URL has `://` behind its scheme"),
        ("gs:bucket", "a folder of that name begins with `./gs:`"),
        ("az:", "a URL has `://` behind its scheme"),
        ("https:bucket", "a URL has `://` behind its scheme"),
        ("file:/bales", "a URL has `://` behind its scheme"),
    ] {
        for command in [
            &["compact", &input][..],
            &["expand", "3f2a90c41be07d5512aa"],
            &["archive"],
        ] {
            let ran = bench.run(&[command, &["--archive", typed]].concat());
            assert_eq!(ran.ends(2).says(&[wrong]).stdout, "");
        }
    }
    // A server has no such word.
    #[cfg(feature = "http")]
    bench
        .run(&["serve", "--listen", "127.0.0.1:0", "--archive", "off"])
        .ends(2)
        .says(&["`off` is no place for an archive"]);
    assert_eq!(bench.entries(), [] as [&str; 0]);
    let folder = ["compact", &input, "--archive", "./OFF"];
    bench.run(&folder).ends(0);
    assert_eq!(bench.entries(), ["OFF"]);
    for folder in ["./~", "./s3:bucket", "./ off/", "2026:bales"] {
        bench.run(&["compact", &input, "--archive", folder]).ends(0);
    }
}

#[cfg(feature = "cloud")]
#[test]
fn keys_of_a_store_come_from_the_environment() {
    use baler_models::testing::{Reply, ScriptedServer};

    let bench = Bench::new();
    let server = ScriptedServer::start([]).expect("a server");
    server.set_default_reply(Reply::body(
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

/// A folder that no umask opens to others.
fn private_folder(bench: &Bench, name: &str) -> std::path::PathBuf {
    let path = bench.path(name);
    fs::create_dir(&path).expect("a folder");
    #[cfg(unix)]
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("set");
    path
}

/// Arguments by which the folder of the default archive cannot be made, and the environment's home.
fn places_that_cannot_be_made(bench: &Bench) -> Vec<(Vec<String>, Option<&'static str>)> {
    let file = bench.file("not-a-folder", "");
    // The state folder can be used, but not for an archive.
    let half = private_folder(bench, "half");
    fs::write(half.join("archive"), "in the way").expect("writes");
    let state = |folder: String| vec!["--state".to_owned(), folder];
    vec![
        (state(format!("{file}/state")), None),
        (state(half.to_str().expect("UTF-8").to_owned()), None),
        (Vec::new(), Some("/dev/null")),
        (Vec::new(), Some("")),
    ]
}

fn run_at(bench: &Bench, home: Option<&str>, arguments: &[&str]) -> Ran {
    let mut command = bench.command();
    if let Some(home) = home {
        command.env_remove("BALER_STATE").env("HOME", home);
    }
    Ran::of(command.args(arguments).output().expect("it runs"))
}

#[test]
fn compact_writes_nothing_where_the_default_archive_cannot_be_made() {
    let bench = Bench::new();
    let before = fs::read(example("fix-a-bug.openai.json")).expect("an example");
    let input = bench.file("c.json", &before);
    for (place, home) in places_that_cannot_be_made(&bench) {
        let place: Vec<&str> = place.iter().map(String::as_str).collect();
        let entries = bench.entries();
        for loud in [&["-q"][..], &["--json"], &[]] {
            let files = ["-o", &input, "--receipt", "r.json"];
            for files in [&files[..], &[]] {
                let arguments = [&["compact", &input][..], files, loud, &place].concat();
                let ran = run_at(&bench, home, &arguments).ends(1).says(&[
                    "error: cannot use the state folder (",
                    "nothing was compacted",
                    "--state",
                    "--archive",
                    "`off`",
                ]);
                assert_eq!(ran.stdout, "", "{arguments:?}");
                assert_eq!(fs::read(&input).expect("is there"), before);
                assert_eq!(bench.entries(), entries);
            }
        }
    }
}

#[test]
fn what_needs_no_default_archive_goes_on_where_it_cannot_be_made() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    for (place, home) in places_that_cannot_be_made(&bench) {
        let place: Vec<&str> = place.iter().map(String::as_str).collect();
        let run = |arguments: &[&str]| run_at(&bench, home, &[arguments, &place].concat());
        run(&["compact", &input, "--archive", "off"])
            .ends(0)
            .says(&["there is no archive"]);
        run(&[
            "compact",
            &input,
            "--archive",
            "mine",
            "--receipt",
            "r.json",
        ])
        .ends(0);
        run(&["undo", "r.json", "--archive", "mine"]).ends(0);
        run(&["compact", &input, "--dry-run"]).ends(0);
        run(&["should-compact", &input, "--budget", "10"]).ends(0);
        run(&["introspect", "sliding-window"]).ends(0);
        run(&["strategies"]).ends(0);
        bench.run(&["validate", &input]).ends(0);
        fs::remove_dir_all(bench.path("mine")).expect("removes it");
        fs::remove_file(bench.path("r.json")).expect("removes it");
    }
}

#[test]
fn a_dry_run_tells_that_the_default_archive_cannot_be_made() {
    let bench = Bench::new();
    let file = bench.file("not-a-folder", "");
    let input = example("fix-a-bug.openai.json");
    let state = format!("{file}/state");
    bench
        .run(&["compact", &input, "--dry-run", "--state", &state])
        .ends(0)
        .says(&["warning: ", "without --dry-run nothing would be compacted"]);
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
fn unfinished_files_of_killed_runs_are_told_and_cleared() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    compact(&bench, &input, "receipt.json", &[]).ends(0);
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

/// Nobody writes into it.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_archive_does_not_hold_up_expand() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    compact(&bench, &input, "receipt.json", &[]).ends(0);
    let receipt = receipt(&bench, "receipt.json");
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
