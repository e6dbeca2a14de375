//! Files that are written whole or not at all, results that are lost, and what is left behind.

use std::fs;
use std::io;

use crate::support::{Bench, Ran, example};

/// Runs the program with a standard output that nobody reads.
fn unread(bench: &Bench, arguments: &[&str]) -> Ran {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    let mut command = bench.command();
    command.args(arguments).stdout(writer);
    Ran::of(command.output().expect("it runs"))
}

#[test]
fn unread_result_is_a_failure_and_unread_listing_is_not() {
    let bench = Bench::new();
    let example = example("book-a-flight.anthropic.json");
    bench
        .run(&[
            "compact",
            &example,
            "-o",
            "out.json",
            "--receipt",
            "receipt.json",
            "-q",
        ])
        .ends(0);
    for result in [
        &["compact", &example, "-q"][..],
        &["compact", &example, "--json"],
        &["undo", "receipt.json"],
        &["report", "receipt.json"],
    ] {
        unread(&bench, result)
            .ends(1)
            .says(&["error: standard output was closed before the whole result was written"]);
    }
    for listing in [
        &["strategies"][..],
        &["strategies", "--json"],
        &["introspect", "tiered"],
    ] {
        assert_eq!(unread(&bench, listing).ends(0).stderr, "", "{listing:?}");
    }
    // The exit code is the answer, and stays it.
    let broken = bench.file(
        "broken.json",
        r#"{"messages":[{"role":"tool","tool_call_id":"c","content":"x"}]}"#,
    );
    unread(&bench, &["validate", &broken]).ends(5);
    unread(&bench, &["should-compact", &example, "--budget", "100000"]).ends(3);
}

#[cfg(target_os = "linux")]
#[test]
fn closed_standard_output_is_a_failure() {
    use std::process::Command;
    let bench = Bench::new();
    let example = example("book-a-flight.anthropic.json");
    let run = |how: &str| {
        let mut shell = Command::new("sh");
        shell
            .args([
                "-c",
                &format!("exec \"$0\" compact \"$1\" -q -s native:digest {how}"),
            ])
            .args([env!("CARGO_BIN_EXE_baler"), &example])
            .env("BALER_STATE", bench.path("state"));
        Ran::of(shell.output().expect("it runs"))
    };
    run(">&-")
        .ends(1)
        .says(&["cannot write to standard output", "started without one"]);
    // Open, but not for writing.
    run("1</dev/null")
        .ends(1)
        .says(&["cannot write to standard output"]);
    run(">/dev/full")
        .ends(1)
        .says(&["cannot write to standard output"]);
    run(">/dev/null").ends(0);
}

#[cfg(target_os = "linux")]
#[test]
fn result_beyond_the_file_size_limit_is_reported_as_a_failure() {
    use std::process::Command;
    let bench = Bench::new();
    let example = example("book-a-flight.anthropic.json");
    // 4 or 8 KiB, as the shell has it; half of the example is 28 KB.
    let run = |how: &str| {
        let command = format!(
            "ulimit -f 8 && exec \"$0\" compact \"$1\" -q -s native:digest --archive off {how}"
        );
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &command])
            .args([env!("CARGO_BIN_EXE_baler"), &example])
            .env("BALER_STATE", bench.path("state"))
            .current_dir(bench.folder.path());
        Ran::of(shell.output().expect("no signal ends it"))
    };
    run("-o out.json").ends(1).says(&["File too large"]);
    assert!(!bench.path("out.json").exists());
    run("> out.json")
        .ends(1)
        .says(&["cannot write to standard output", "File too large"]);
}

#[cfg(target_os = "linux")]
#[test]
fn help_beyond_the_file_size_limit_is_reported_as_a_failure() {
    use std::process::Command;
    let bench = Bench::new();
    for words in ["--help", "--version", "compact --help"] {
        let command = format!("ulimit -f 0 && exec \"$0\" {words} > words.txt");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &command, env!("CARGO_BIN_EXE_baler")])
            .current_dir(bench.folder.path());
        Ran::of(shell.output().expect("no signal ends it"))
            .ends(1)
            .says(&["cannot write to standard output", "File too large"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn unprintable_help_and_dry_runs_are_failures() {
    use std::process::Command;
    let bench = Bench::new();
    let example = example("book-a-flight.anthropic.json");
    let run = |command: &str, how: &str| {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!("exec \"$0\" {command} {how}")])
            .args([env!("CARGO_BIN_EXE_baler"), &example])
            .env("BALER_STATE", bench.path("state"));
        Ran::of(shell.output().expect("it runs"))
    };
    for command in ["--help", "--version", "compact --help"] {
        for how in [">&-", ">/dev/full"] {
            run(command, how)
                .ends(1)
                .says(&["cannot write to standard output"]);
        }
        run(command, ">/dev/null").ends(0);
        // Who reads it may leave.
        assert_eq!(
            unread(&bench, &command.split(' ').collect::<Vec<_>>())
                .ends(0)
                .stderr,
            ""
        );
    }
    for how in ["2>&-", "2>/dev/full"] {
        run("compact \"$1\" -n -s native:digest", how).ends(1);
        // Of all others the conversation is the result.
        run("compact \"$1\" -s native:digest", how).ends(0);
        run("compact \"$1\" -n -q -s native:digest", how).ends(0);
    }
}

#[test]
fn no_file_is_replaced_where_the_result_is_not_read() {
    let bench = Bench::new();
    let before = fs::read(example("plan-a-week.openai.json")).expect("an example");
    let file = bench.file("request.json", &before);
    unread(
        &bench,
        &[
            "compact",
            &file,
            "--json",
            "-o",
            &file,
            "--receipt",
            "receipt.json",
        ],
    )
    .ends(1);
    assert_eq!(fs::read(&file).expect("there"), before);
    unread(
        &bench,
        &["compact", &file, "-q", "--receipt", "receipt.json"],
    )
    .ends(1);
    assert_eq!(bench.entries(), ["request.json"]);
}

#[cfg(target_os = "linux")]
#[test]
fn receipt_and_conversation_are_written_both_or_not_at_all() {
    let bench = Bench::new();
    let before = fs::read(example("plan-a-week.openai.json")).expect("an example");
    let file = bench.file("request.json", &before);
    for (output, receipt) in [("/dev/full", "receipt.json"), (file.as_str(), "/dev/full")] {
        bench
            .run(&["compact", &file, "-q", "-o", output, "--receipt", receipt])
            .ends(1)
            .says(&["cannot write `/dev/full`", "No space left"]);
        assert_eq!(fs::read(&file).expect("there"), before);
        assert_eq!(bench.entries(), ["request.json"]);
    }
}

#[test]
fn temporary_files_of_killed_runs_are_removed_by_the_next_run() {
    let bench = Bench::new();
    bench.file(".baler-staged-aZ09aZ09aZ09aZ09", "half a conversation");
    bench.file(".baler-mine", "another program's");
    let input = example("plan-a-week.openai.json");
    bench
        .run(&[
            "compact",
            &input,
            "-q",
            "-s",
            "native:digest",
            "-o",
            "out.json",
            "--receipt",
            "receipt.json",
        ])
        .ends(0);
    assert_eq!(bench.entries(), [".baler-mine", "out.json", "receipt.json"]);
}

#[cfg(target_os = "linux")]
#[test]
fn error_names_the_target_and_not_the_temporary_file() {
    use std::process::Command;
    let bench = Bench::new();
    let input = example("plan-a-week.openai.json");
    // The state folder is made before no file may grow any more.
    bench.run(&["strategies"]).ends(0);
    let mut shell = Command::new("sh");
    // Not ended by the signal (25, SIGXFSZ) that comes with it, but told by an error.
    let script = "trap '' 25; ulimit -f 0; exec \"$0\" compact \"$1\" -q -s native:digest --archive off -o out.json";
    shell
        .args(["-c", script, env!("CARGO_BIN_EXE_baler"), &input])
        .env("BALER_STATE", bench.path("state"))
        .current_dir(bench.folder.path());
    let ran = Ran::of(shell.output().expect("it runs"))
        .ends(1)
        .says(&["cannot write `out.json`: File too large"]);
    assert!(!ran.stderr.contains(".baler-"), "{}", ran.stderr);
    assert_eq!(bench.entries(), [] as [&str; 0]);
}

/// A model that is asked and does not answer: the program is in the middle of its work for as
/// long as a test wants it to be.
#[cfg(target_os = "linux")]
mod in_the_middle {
    use std::fs;
    use std::io::ErrorKind;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Child, Command, Stdio};
    use std::thread;
    use std::time::Duration;

    use crate::support::{Bench, Ran, example};

    /// The program while it waits for a model, with its output and its receipt begun.
    fn asking(bench: &Bench, timeout: &str) -> (Child, TcpStream) {
        asking_about(
            bench,
            &example("fix-a-bug.openai.json"),
            "out.json",
            timeout,
        )
    }

    /// The same, of this conversation and with this output.
    fn asking_about(bench: &Bench, input: &str, output: &str, timeout: &str) -> (Child, TcpStream) {
        let model = TcpListener::bind("127.0.0.1:0").expect("a port");
        model.set_nonblocking(true).expect("set");
        let address = model.local_addr().expect("an address");
        let mut child = bench
            .command()
            .args(["compact", input, "-q"])
            .args(["-s", "summarize", "--timeout", timeout, "--archive", "off"])
            .args(["--model", &format!("http://{address}/v1#small")])
            .args(["-o", output, "--receipt", "receipt.json"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        loop {
            match model.accept() {
                Ok((question, _)) => return (child, question),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let ended = child.try_wait().expect("a child");
                    assert!(ended.is_none(), "it ended before it asked: {ended:?}");
                    thread::sleep(Duration::from_millis(10));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn a_run_that_is_ended_by_a_signal_leaves_no_file_behind() {
        let bench = Bench::new();
        // Not INT and HUP, which tests that run in the background are often deaf to. KILL can be
        // handled by nobody, so it stands for all others.
        for (name, number) in [("TERM", 15), ("KILL", 9)] {
            let (mut child, _question) = asking(&bench, "600s");
            let sent = Command::new("kill")
                .args([&format!("-{name}"), &child.id().to_string()])
                .status()
                .expect("a signal");
            assert!(sent.success());
            // By the signal and not by an exit code, so that a shell's loop ends, too.
            let ended = child.wait().expect("it ends");
            assert_eq!(ended.signal(), Some(number), "{name}: {ended}");
            assert_eq!(bench.entries(), [] as [&str; 0], "{name}");
        }
    }

    #[test]
    fn input_that_changed_meanwhile_is_not_replaced() {
        let bench = Bench::new();
        let mut content = fs::read(example("fix-a-bug.openai.json")).expect("an example");
        let input = bench.file("request.json", &content);
        let (child, question) = asking_about(&bench, &input, "./request.json", "2s");
        content.push(b'\n');
        fs::write(&input, &content).expect("writes");
        drop(question);
        Ran::of(child.wait_with_output().expect("it ends"))
            .ends(1)
            .says(&[
                "cannot write `./request.json`: another program wrote to it",
                "run this again",
            ]);
        assert_eq!(fs::read(&input).expect("there"), content);
        // Nor is there a receipt of what was not done.
        assert_eq!(bench.entries(), ["request.json"]);
    }

    #[test]
    fn receipt_that_cannot_be_put_in_place_leaves_the_output_as_it_was() {
        let bench = Bench::new();
        bench.file("out.json", "the one before");
        let (child, question) = asking(&bench, "2s");
        fs::create_dir(bench.path("receipt.json")).expect("in its way");
        drop(question);
        let ran = Ran::of(child.wait_with_output().expect("it ends"))
            .ends(1)
            .says(&["cannot write `receipt.json`"]);
        assert!(!ran.stderr.contains(".baler-"), "{}", ran.stderr);
        assert_eq!(bench.entries(), ["out.json", "receipt.json"]);
        let output = fs::read_to_string(bench.path("out.json")).expect("there");
        assert_eq!(output, "the one before");
    }

    #[test]
    fn output_that_cannot_be_put_in_place_leaves_the_receipt_as_it_was() {
        let bench = Bench::new();
        for before in [None, Some("the one before")] {
            if let Some(before) = before {
                bench.file("receipt.json", before);
            }
            let (child, question) = asking(&bench, "2s");
            fs::create_dir(bench.path("out.json")).expect("in its way");
            drop(question);
            let ran = Ran::of(child.wait_with_output().expect("it ends"))
                .ends(1)
                .says(&["cannot write `out.json`"]);
            assert!(!ran.stderr.contains(".baler-"), "{}", ran.stderr);
            let receipt = fs::read_to_string(bench.path("receipt.json")).ok();
            assert_eq!(receipt.as_deref(), before);
            // Nor is what was kept of it left.
            let both = ["out.json", "receipt.json"];
            assert_eq!(bench.entries(), both[..1 + usize::from(before.is_some())]);
            fs::remove_dir(bench.path("out.json")).expect("removes it");
        }
    }
}
