//! What `--output` and `--receipt` may name, and what becomes of what stood there.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};

use crate::support::{Bench, Ran, example};

/// A compaction of an example, with these arguments added.
fn compact(bench: &Bench, more: &[&str]) -> Ran {
    let input = example("plan-a-week.openai.json");
    let arguments = ["compact", &input, "-q", "-s", "native:digest"];
    bench.run(&[&arguments[..], more].concat())
}

fn text(bench: &Bench, name: &str) -> String {
    fs::read_to_string(bench.path(name)).expect("a file")
}

#[test]
fn a_session_log_on_standard_input_is_never_replaced_by_a_request() {
    let bench = Bench::new();
    let log = fs::read(example("fix-a-clock.claude-code.jsonl")).expect("an example");
    let file = bench.file("session.jsonl", &log);
    fs::hard_link(&file, bench.path("other.jsonl")).expect("a link");
    for (input, output) in [
        (None, "session.jsonl"),
        (Some("-"), "session.jsonl"),
        (None, "other.jsonl"),
    ] {
        let mut command = bench.command();
        command.arg("compact").args(input).args(["-o", output]);
        command.stdin(File::open(&file).expect("there"));
        Ran::of(command.output().expect("it runs"))
            .ends(2)
            .says(&["would replace the claude-code log"]);
        assert_eq!(fs::read(&file).expect("there"), log);
    }
    // A request body may be replaced, however it comes.
    let file = bench.file(
        "request.json",
        fs::read(example("plan-a-week.openai.json")).expect("an example"),
    );
    let mut command = bench.command();
    command.args(["compact", "-q", "-s", "native:digest", "-o", "request.json"]);
    command.stdin(File::open(&file).expect("there"));
    Ran::of(command.output().expect("it runs")).ends(0);
}

#[test]
fn impossible_target_is_refused_before_anything_is_written() {
    let bench = Bench::new();
    bench.file("receipt.json", "the one before");
    let too_long = "n".repeat(256);
    for (output, why) in [
        ("new/", "that is a folder's name"),
        ("new/.", "that is a folder's name"),
        (too_long.as_str(), "give it a shorter name"),
    ] {
        compact(&bench, &["-o", output, "--receipt", "receipt.json"])
            .ends(1)
            .says(&["cannot write `", why]);
        assert_eq!(text(&bench, "receipt.json"), "the one before", "{output}");
        assert_eq!(bench.entries(), ["receipt.json"], "{output}");
    }
    // As long as a name may be.
    compact(&bench, &["-o", &too_long[1..]]).ends(0);
}

#[test]
fn dangling_link_is_refused_and_stays() {
    let bench = Bench::new();
    symlink("nothing", bench.path("dangling")).expect("a link");
    symlink("loop", bench.path("loop")).expect("a link");
    for link in ["dangling", "loop"] {
        compact(&bench, &["-o", link])
            .ends(1)
            .says(&["cannot write `", "it is a link that leads to no file"]);
        let there = fs::symlink_metadata(bench.path(link)).expect("there");
        assert!(there.is_symlink(), "{link}");
    }
    assert_eq!(bench.entries(), ["dangling", "loop"]);
}

#[test]
fn a_result_goes_through_links_of_folders_but_not_through_another_users() {
    let bench = Bench::new();
    fs::create_dir(bench.path("real")).expect("is made");
    symlink("real", bench.path("linked")).expect("a link");
    compact(
        &bench,
        &["-o", "linked/out.json", "--receipt", "linked/receipt.json"],
    )
    .ends(0);
    for file in ["real/out.json", "real/receipt.json"] {
        assert!(bench.path(file).is_file(), "{file}");
    }
    let there = fs::symlink_metadata(bench.path("linked")).expect("there");
    assert!(there.is_symlink());
    let before = text(&bench, "real/out.json");
    // In a folder where everybody may make links, the link of a folder leads astray like that of a file.
    fs::create_dir(bench.path("shared")).expect("is made");
    let everybody = fs::Permissions::from_mode(0o1777);
    fs::set_permissions(bench.path("shared"), everybody).expect("set");
    symlink("../real", bench.path("shared/folder")).expect("a link");
    compact(&bench, &["-o", "shared/folder/out.json"]).ends(0);
    // Only root may give a link away.
    if lchown(bench.path("shared/folder"), Some(12_345), None).is_err() {
        return;
    }
    for target in ["shared/folder/out.json", "shared/folder/new.json"] {
        for option in ["-o", "--receipt"] {
            compact(&bench, &[option, target])
                .ends(1)
                .says(&["cannot write `", "a link that another user put into"]);
        }
    }
    assert!(!bench.path("real/new.json").exists());
    assert_eq!(text(&bench, "real/out.json"), before);
}

#[test]
fn an_open_descriptor_is_written_to_and_its_file_not_replaced() {
    let bench = Bench::new();
    let expected = compact(&bench, &[]).ends(0).stdout;
    for output in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let file = bench.file("all.json", "before\n");
        let inode = fs::metadata(&file).expect("there").ino();
        let mut command = bench.command();
        let input = example("plan-a-week.openai.json");
        command.args(["compact", &input, "-q", "-s", "native:digest", "-o", output]);
        let all = OpenOptions::new().append(true).open(&file);
        command.stdout(all.expect("there"));
        Ran::of(command.output().expect("it runs")).ends(0);
        assert_eq!(
            text(&bench, "all.json"),
            format!("before\n{expected}"),
            "{output}"
        );
        assert_eq!(fs::metadata(&file).expect("there").ino(), inode, "{output}");
    }
    // A link to one is no other file, and a pipe is written to as before.
    symlink("/dev/stdout", bench.path("link")).expect("a link");
    let piped = compact(&bench, &["-o", "link"]).ends(0);
    assert_eq!(piped.stdout, expected);
}

#[test]
fn descriptor_is_written_to_at_its_position() {
    use std::process::Command;
    let bench = Bench::new();
    let input = example("plan-a-week.openai.json");
    let script = "exec 3>all.txt; echo before >&3; \
        \"$0\" compact \"$1\" -q -s native:digest -o out.json --receipt \"$2\" && echo after >&3";
    for name in ["/dev/fd/3", "/proc/self/fd/3", "/proc/thread-self/fd/3"] {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script, env!("CARGO_BIN_EXE_baler"), &input, name])
            .env("BALER_STATE", bench.path("state"))
            .current_dir(bench.folder.path());
        Ran::of(shell.output().expect("it runs")).ends(0);
        let all = text(&bench, "all.txt");
        let receipt = all.strip_prefix("before\n").expect("it stays");
        let receipt = receipt.strip_suffix("after\n").expect("it stands behind");
        let receipt: serde_json::Value = serde_json::from_str(receipt).expect("JSON");
        assert_eq!(receipt["outcome"], "compacted", "{name}");
    }
}

#[test]
fn a_descriptor_that_the_program_was_not_started_with_is_refused() {
    use std::process::Command;
    let bench = Bench::new();
    let input = example("plan-a-week.openai.json");
    let run = |name: &str, how: &str| {
        // Nor with any that the tests were started with.
        let close: String = (3..10).map(|number| format!(" {number}>&-")).collect();
        let script = format!("exec {close}; \"$0\" compact \"$1\" -q --receipt \"$2\" {how}");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script, env!("CARGO_BIN_EXE_baler"), &input, name])
            .env("BALER_STATE", bench.path("state"))
            .current_dir(bench.folder.path());
        Ran::of(shell.output().expect("it runs"))
    };
    // Some of these are files of the program's own.
    for name in [
        "/dev/fd/3",
        "/dev/fd/4",
        "/dev/fd/5",
        "/proc/self/fd/3",
        "/proc/thread-self/fd/3",
        "/dev/fd/4000",
    ] {
        run(name, "")
            .ends(1)
            .says(&["cannot write `", "was not started with such a descriptor"]);
    }
    bench.file("read.txt", "stays");
    run("/dev/fd/3", "3<read.txt")
        .ends(1)
        .says(&["open for reading only"]);
    assert_eq!(text(&bench, "read.txt"), "stays");
}

#[test]
fn receipt_replaces_no_file_that_the_run_reads() {
    let bench = Bench::new();
    let input = fs::read(example("plan-a-week.openai.json")).expect("an example");
    bench.file("previous.json", &input);
    bench.file("context.json", "{}");
    bench.file("key", "k3y");
    for arguments in [
        &["--previous", "previous.json", "--receipt", "previous.json"][..],
        &["--context", "@context.json", "--receipt", "context.json"],
        &[
            "--model",
            "openai:gpt-5-mini",
            "--model-key",
            "file:key",
            "--receipt",
            "key",
        ],
    ] {
        compact(&bench, arguments)
            .ends(2)
            .says(&["in use for something else"]);
    }
    assert_eq!(fs::read(bench.path("previous.json")).expect("there"), input);
    assert_eq!(text(&bench, "context.json"), "{}");
    assert_eq!(text(&bench, "key"), "k3y");
    // Standard input is read as well.
    let file = bench.file("request.json", &input);
    let mut command = bench.command();
    command.args(["compact", "-q", "--receipt", "request.json"]);
    command.stdin(File::open(&file).expect("there"));
    Ran::of(command.output().expect("it runs"))
        .ends(2)
        .says(&["in use for something else"]);
    assert_eq!(fs::read(&file).expect("there"), input);
}

#[test]
fn output_replaces_neither_config_nor_key_nor_strategy() {
    let bench = Bench::new();
    // It makes the key.
    compact(&bench, &[]).ends(0);
    let key = fs::read(bench.path("state/key")).expect("a key");
    bench.file("config.json", "{}");
    bench.file("mine.wasm", "a component");
    for option in ["-o", "--receipt"] {
        for arguments in [
            &["--config", "@config.json", option, "config.json"][..],
            &["-s", "mine.wasm", option, "mine.wasm"],
            &["--context", "@config.json", option, "./config.json"],
            &[option, "state/key"],
        ] {
            compact(&bench, arguments)
                .ends(2)
                .says(&["in use for something else"]);
        }
    }
    assert_eq!(text(&bench, "config.json"), "{}");
    assert_eq!(text(&bench, "mine.wasm"), "a component");
    assert_eq!(fs::read(bench.path("state/key")).expect("a key"), key);
    // What was compacted last may be replaced by what is now.
    let input = fs::read(example("plan-a-week.openai.json")).expect("an example");
    bench.file("last.json", &input);
    compact(&bench, &["--previous", "last.json", "-o", "last.json"]).ends(0);
}

#[cfg(feature = "http")]
#[test]
fn the_file_of_tokens_that_the_environment_names_is_not_replaced() {
    let bench = Bench::new();
    bench.file("tokens", "a.example=s3cret-t0ken");
    let input = example("plan-a-week.openai.json");
    for option in ["-o", "--receipt"] {
        let mut command = bench.command();
        command
            .env("BALER_REMOTE_TOKEN_FILE", "tokens")
            .args(["compact", &input, "-q", "-s", "native:digest"])
            .args([option, "./tokens"]);
        Ran::of(command.output().expect("it runs"))
            .ends(2)
            .says(&["in use for something else"]);
        assert_eq!(text(&bench, "tokens"), "a.example=s3cret-t0ken");
    }
}

/// A compaction whose standard output is this file, written to its end.
fn compact_into(bench: &Bench, file: &str, arguments: &[&str]) -> Ran {
    let mut command = bench.command();
    command.args(["compact", "-q", "-s", "native:digest"]);
    command.args(arguments);
    let opened = OpenOptions::new().append(true).open(bench.path(file));
    command.stdout(opened.expect("there"));
    Ran::of(command.output().expect("it runs"))
}

#[test]
fn no_file_is_written_both_by_its_name_and_as_standard_output() {
    let bench = Bench::new();
    let input = example("plan-a-week.openai.json");
    bench.file("x.json", "");
    for arguments in [
        &["--json", "-o", "x.json"][..],
        &["--json", "--receipt", "x.json"],
        &["--receipt", "x.json"],
        &["--receipt", "/dev/stdout"],
    ] {
        compact_into(
            &bench,
            "x.json",
            &[&[input.as_str()][..], arguments].concat(),
        )
        .ends(2)
        .says(&["names the file or pipe that standard output goes to"]);
        assert_eq!(text(&bench, "x.json"), "");
    }
    // Nothing else goes there.
    let alone = [input.as_str(), "-o", "out.json", "--receipt", "/dev/stdout"];
    compact_into(&bench, "x.json", &alone).ends(0);
    let receipt: serde_json::Value = serde_json::from_str(&text(&bench, "x.json")).expect("JSON");
    assert_eq!(receipt["outcome"], "compacted");
}

#[test]
fn two_results_are_not_written_to_one_pipe() {
    let bench = Bench::new();
    for arguments in [
        &["--receipt", "/dev/stdout"][..],
        &["--json", "-o", "/dev/fd/1"],
        &["--json", "-o", "out.json", "--receipt", "/proc/self/fd/1"],
    ] {
        let ran = compact(&bench, arguments).ends(2);
        let ran = ran.says(&["names the file or pipe that standard output goes to"]);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
    let ran = compact(&bench, &["-o", "/dev/stdout", "--receipt", "/dev/fd/1"]).ends(2);
    let ran = ran.says(&["`--receipt` names a file that is in use for something else"]);
    assert_eq!(ran.stdout, "");
    assert_eq!(bench.entries(), [] as [&str; 0]);
    // Each into a pipe of its own.
    let ran = compact(&bench, &["-o", "/dev/stdout", "--receipt", "/dev/stderr"]).ends(0);
    let receipt: serde_json::Value = serde_json::from_str(&ran.stderr).expect("JSON");
    assert_eq!(receipt["outcome"], "compacted");
    assert!(ran.stdout.starts_with('{'), "{}", ran.stdout);
}

#[test]
fn nothing_is_written_into_the_file_that_is_read() {
    use std::process::Command;
    let bench = Bench::new();
    let input = fs::read(example("plan-a-week.openai.json")).expect("an example");
    let file = bench.file("d.json", &input);
    let into = "goes to the file that the conversation is read from";
    compact_into(&bench, "d.json", &["d.json"])
        .ends(2)
        .says(&["standard output", into]);
    compact_into(&bench, "d.json", &["d.json", "-o", "/dev/stdout"])
        .ends(2)
        .says(&["`/dev/stdout`", into]);
    for script in [
        "\"$0\" compact d.json -q -o /dev/fd/3 3>>d.json",
        "\"$0\" compact d.json -q -o /dev/fd/3 3<>d.json",
        "\"$0\" compact -q < d.json >> d.json",
    ] {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script, env!("CARGO_BIN_EXE_baler")])
            .env("BALER_STATE", bench.path("state"))
            .current_dir(bench.folder.path());
        Ran::of(shell.output().expect("it runs"))
            .ends(2)
            .says(&[into]);
    }
    assert_eq!(fs::read(&file).expect("there"), input);
    // By its name it is replaced.
    compact(&bench, &["-o", "out.json"]).ends(0);
    bench
        .run(&["compact", &file, "-q", "-s", "native:digest", "-o", &file])
        .ends(0);
    assert_eq!(text(&bench, "d.json"), text(&bench, "out.json"));
}

#[test]
fn second_name_of_a_file_that_the_run_reads_is_recognised() {
    let bench = Bench::new();
    let input = fs::read(example("plan-a-week.openai.json")).expect("an example");
    let file = bench.file("request.json", &input);
    fs::hard_link(&file, bench.path("second.json")).expect("a link");
    bench
        .run(&["compact", &file, "-q", "--receipt", "second.json"])
        .ends(2)
        .says(&["in use for something else"]);
    let log = fs::read(example("fix-a-clock.claude-code.jsonl")).expect("an example");
    let log = bench.file("session.jsonl", log);
    fs::hard_link(&log, bench.path("second.jsonl")).expect("a link");
    bench
        .run(&["compact", &log, "-q", "-o", "second.jsonl"])
        .ends(2)
        .says(&["would replace the claude-code log"]);
    // Neither is there yet.
    symlink(".", bench.path("here")).expect("a link");
    compact(&bench, &["-o", "new.json", "--receipt", "here/new.json"])
        .ends(2)
        .says(&["in use for something else"]);
}

#[test]
fn undone_document_does_not_replace_its_receipt() {
    use std::process::Command;
    let bench = Bench::new();
    compact(&bench, &["-o", "out.json", "--receipt", "receipt.json"]).ends(0);
    let receipt = text(&bench, "receipt.json");
    bench
        .run(&["undo", "receipt.json", "-o", "./receipt.json"])
        .ends(2)
        .says(&["would replace the receipt"]);
    let mut command = bench.command();
    command.args(["undo", "-o", "receipt.json"]);
    command.stdin(File::open(bench.path("receipt.json")).expect("there"));
    Ran::of(command.output().expect("it runs"))
        .ends(2)
        .says(&["would replace the receipt"]);
    // Nor does it stand behind it.
    for script in [
        "\"$0\" undo receipt.json >> receipt.json",
        "\"$0\" undo < receipt.json >> receipt.json",
        "\"$0\" report receipt.json >> receipt.json",
        "\"$0\" validate receipt.json >> receipt.json",
        "\"$0\" should-compact receipt.json --budget 9 --json >> receipt.json",
    ] {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script, env!("CARGO_BIN_EXE_baler")])
            .env("BALER_STATE", bench.path("state"))
            .current_dir(bench.folder.path());
        Ran::of(shell.output().expect("it runs"))
            .ends(2)
            .says(&["standard output goes to the file that is read"]);
    }
    assert_eq!(text(&bench, "receipt.json"), receipt);
}

#[test]
fn no_result_of_any_command_replaces_the_key_or_a_file_in_use() {
    let bench = Bench::new();
    compact(&bench, &["-o", "out.json", "--receipt", "receipt.json"]).ends(0);
    let key = fs::read(bench.path("state/key")).expect("a key");
    for command in ["undo", "report"] {
        bench
            .run(&[command, "receipt.json", "-o", "state/key"])
            .ends(2)
            .says(&["`--output` names a file that is in use for something else"]);
    }
    assert_eq!(fs::read(bench.path("state/key")).expect("a key"), key);
    let input = example("plan-a-week.openai.json");
    bench.file("config.json", "{}");
    bench.file("last.json", fs::read(&input).expect("an example"));
    let before = text(&bench, "last.json");
    for (file, option, value) in [
        ("config.json", "--config", "@config.json"),
        ("last.json", "--previous", "last.json"),
    ] {
        compact_into(&bench, file, &[input.as_str(), option, value])
            .ends(2)
            .says(&["standard output goes to the file that is read"]);
    }
    assert_eq!(text(&bench, "config.json"), "{}");
    assert_eq!(text(&bench, "last.json"), before);
}

#[test]
fn no_result_of_any_command_replaces_what_an_archive_keeps() {
    let bench = Bench::new();
    for folder in ["state/archive", "mine"] {
        let place = ["--archive", folder];
        let named = if folder == "mine" { &place[..] } else { &[] };
        let made = ["-o", "out.json", "--receipt", "receipt.json"];
        compact(&bench, &[&made[..], named].concat()).ends(0);
        let entries = fs::read_dir(bench.path(folder).join("entries")).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        let entry = names.first().expect("an entry").to_str().expect("UTF-8");
        let entry = format!("{folder}/entries/{entry}");
        let marker = format!("{folder}/baler-archive");
        symlink(bench.path(&entry), bench.path("link.json")).expect("a link");
        let new = format!("{folder}/undo/new.json");
        let own = "names a file of an archive";
        let before = (text(&bench, &entry), text(&bench, &marker));
        for target in [&*entry, &*marker, "link.json", &*new] {
            for option in ["-o", "--receipt"] {
                compact(&bench, &[option, target]).ends(2).says(&[own]);
                let off = [option, target, "--archive", "off"];
                compact(&bench, &off).ends(2).says(&[own]);
            }
            for command in ["undo", "report"] {
                let ran = bench.run(&[command, "receipt.json", "-o", target]);
                ran.ends(2).says(&[own]);
            }
        }
        assert_eq!((text(&bench, &entry), text(&bench, &marker)), before);
        assert!(!bench.path(&new).exists());
        fs::remove_file(bench.path("link.json")).expect("removes it");
    }
    // What else lies in its folder is not the archive's.
    compact(&bench, &["-o", "mine/out.json"]).ends(0);
}

#[test]
fn a_replaced_file_keeps_its_owner_and_permissions() {
    let bench = Bench::new();
    let input = fs::read(example("plan-a-week.openai.json")).expect("an example");
    let file = bench.file("request.json", &input);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("set");
    // Only root may give a file away; anybody else's stays their own.
    let theirs = chown(&file, Some(12_345), Some(54_321)).is_ok();
    let before = fs::metadata(&file).expect("there");
    bench
        .run(&["compact", &file, "-q", "-s", "native:digest", "-o", &file])
        .ends(0);
    let after = fs::metadata(&file).expect("there");
    assert_ne!(after.ino(), before.ino());
    assert_eq!(
        (after.uid(), after.gid()),
        (before.uid(), before.gid()),
        "{theirs}"
    );
    assert_eq!(after.mode() & 0o7777, 0o640);
}
