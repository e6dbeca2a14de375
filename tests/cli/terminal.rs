//! What a terminal is made to do: nothing. Names and arguments that hold escape sequences are
//! shown, whichever way they get into a message.

use crate::support::{Bench, Ran, example};

/// Sets a window's title and clears the screen, by both kinds of control characters, turns the
/// direction of writing, and hides something.
const HOSTILE: &str = "\u{1b}]0;OWNED\u{7}\u{1b}[2J\u{9b}2J\r\u{202e}\u{ad}\u{fe00}\u{e0100}";

#[track_caller]
fn assert_harmless(text: &str, what: &str) {
    let hidden = ['\u{202e}', '\u{ad}', '\u{fe00}', '\u{e0100}'];
    let active = |c: char| c != '\n' && c != '\t' && (c.is_control() || hidden.contains(&c));
    assert!(!text.contains(active), "{what}: {text:?}");
}

#[test]
fn hostile_names_and_arguments_are_escaped_in_every_message() {
    let bench = Bench::new();
    let good = example("fix-a-bug.openai.json");
    let in_no_folder = format!("no/{HOSTILE}");
    let at = format!("@{HOSTILE}");
    let option = format!("--{HOSTILE}");
    let key = format!("file:{HOSTILE}");
    let model = format!("{HOSTILE}:a-model");
    bench
        .run(&["compact", &good, "-q", "--archive", "archive"])
        .ends(0);
    let receipt = bench.file(&format!("receipt{HOSTILE}"), "{\"receipt\": 2}");
    let cases: &[&[&str]] = &[
        &["compact", HOSTILE],
        &["validate", HOSTILE],
        &["undo", HOSTILE],
        &["report", HOSTILE],
        &["report", &receipt],
        &["should-compact", HOSTILE, "--budget", "9"],
        &["compact", &good, "-o", &in_no_folder],
        &["compact", &good, "--receipt", &in_no_folder],
        &["report", &good, "-o", &in_no_folder],
        &["compact", &good, "--config", &at],
        &["compact", &good, "--context", &at],
        &["compact", &good, "--format", HOSTILE],
        &["compact", &good, "--tokenizer", HOSTILE],
        &["compact", &good, "--budget", HOSTILE],
        &["compact", &good, "--model", &model],
        &["compact", &good, "--model", "openai:x", "--model-key", &key],
        &[
            "compact",
            &good,
            "--archive",
            "/dev/null/archive",
            "--pin",
            HOSTILE,
        ],
        &["archive", "--archive", HOSTILE],
        &["expand", HOSTILE, "--archive", "archive"],
        &["compact", &option],
        &[HOSTILE],
        #[cfg(feature = "eval")]
        &["eval", HOSTILE],
    ];
    for arguments in cases {
        let ran = bench.run(arguments);
        assert_ne!(ran.code, 0, "{arguments:?}");
        assert_harmless(&ran.stderr, &format!("{arguments:?}"));
        assert_harmless(&ran.stdout, &format!("{arguments:?}"));
        // What is shown of it is told nevertheless.
        assert!(
            ran.stderr.contains("]0;OWNED"),
            "{arguments:?}: {}",
            ran.stderr
        );
    }
}

#[test]
fn names_and_arguments_forge_no_line_of_a_message() {
    let bench = Bench::new();
    let good = example("fix-a-bug.openai.json");
    let forging = "a\nerror: FORGED\n";
    let in_no_folder = format!("no/{forging}");
    let at = format!("@{forging}");
    let key = format!("file:{forging}");
    let place = format!("{forging}b");
    bench
        .run(&["compact", &good, "-q", "--archive", "archive"])
        .ends(0);
    let receipt = bench.file(
        "receipt.json",
        r#"{"outcome":"a\nerror: FORGED","undo":"b\nerror: FORGED"}"#,
    );
    let repaired = bench.file("repaired.json", r#"{"outcome":"a\nerror: FORGED"}"#);
    let cases: &[&[&str]] = &[
        &["compact", forging],
        &["report", forging],
        &["compact", &good, "-o", &in_no_folder],
        &["compact", &good, "--config", &at],
        &[
            "compact",
            &good,
            "--state",
            &in_no_folder,
            "--archive",
            "/dev/null/a\nerror: FORGED",
        ],
        &["compact", &good, "--tokenizer", forging],
        &["compact", &good, "--budget", forging],
        &["compact", &good, "--model", "openai:x", "--model-key", &key],
        &["compact", &good, "-s", forging],
        &["archive", "--archive", &place],
        &["expand", forging, "--archive", "archive"],
        &["undo", &receipt, "--archive", "archive"],
        &["undo", &repaired],
        &[forging],
        #[cfg(feature = "eval")]
        &["eval", forging],
    ];
    for arguments in cases {
        let ran = bench.run(arguments);
        assert_ne!(ran.code, 0, "{arguments:?}");
        let forged = |line: &str| line.starts_with("error: FORGED");
        assert!(
            !ran.stderr.lines().any(forged),
            "{arguments:?}: {}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains("FORGED"),
            "{arguments:?}: {}",
            ran.stderr
        );
    }
}

#[test]
fn placeholder_of_balers_colours_in_a_name_gives_no_colour() {
    let bench = Bench::new();
    let mut command = bench.command();
    let command = command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
    let command = command.args(["compact", "\u{fdd0}[32mvalid"]);
    let ran = Ran::of(command.output().expect("it runs")).ends(5);
    assert!(!ran.stderr.contains("\u{1b}[32m"), "{:?}", ran.stderr);
    assert!(
        ran.stderr.contains("`\\u{fdd0}[32mvalid`"),
        "{:?}",
        ran.stderr
    );
}

#[test]
fn errors_quote_long_arguments_shortened() {
    let bench = Bench::new();
    let good = example("fix-a-bug.openai.json");
    let key = format!("{{\"{}\": 1}}", "k".repeat(3 << 20));
    bench.file("config.json", key);
    let receipt = format!("{{\"outcome\": \"{}\"}}", "o".repeat(3 << 20));
    bench.file("receipt.json", receipt);
    for (arguments, end) in [
        (
            &["compact", &good, "-s", "tiered", "--config", "@config.json"][..],
            "shows what it takes.\n",
        ),
        (
            &["undo", "receipt.json"],
            "use your own copy of the original\n",
        ),
    ] {
        let ran = bench.run(arguments);
        assert_ne!(ran.code, 0, "{arguments:?}");
        assert!(
            ran.stderr.len() < 5_000,
            "{arguments:?}: {}",
            ran.stderr.len()
        );
        // What to do about it is told nevertheless.
        assert!(ran.stderr.ends_with(end), "{arguments:?}: {}", ran.stderr);
    }
}

#[cfg(feature = "eval")]
#[test]
fn hostile_sets_and_files_of_a_corpus_are_escaped() {
    use std::fs;
    let bench = Bench::new();
    let folder = bench.path("corpus").join(format!("set{HOSTILE}"));
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(
        folder.join(format!("broken{HOSTILE}.json")),
        "{\"messages\": 7}",
    )
    .expect("a file");
    fs::copy(example("fix-a-bug.openai.json"), folder.join("one.json")).expect("a file");
    for arguments in [
        &["eval", "corpus", "--set", HOSTILE][..],
        &[
            "eval",
            "corpus",
            "--strategy",
            "native:truncate",
            "--budget",
            "50%",
        ],
    ] {
        let Ran { stdout, stderr, .. } = bench.run(arguments);
        assert_harmless(&stderr, &format!("{arguments:?}"));
        assert_harmless(&stdout, &format!("{arguments:?}"));
    }
}

#[test]
fn help_and_styles_work_although_names_are_escaped() {
    let bench = Bench::new();
    let mut command = bench.command();
    let command = command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
    let ran = Ran::of(
        command
            .args(["compact", HOSTILE])
            .output()
            .expect("it runs"),
    )
    .ends(5);
    assert!(
        ran.stderr
            .starts_with("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m cannot read `\\u{1b}]0;"),
        "{:?}",
        ran.stderr
    );
    let wrong = bench.run(&["compact", "--budgt", "9"]).ends(2);
    assert!(
        wrong
            .stderr
            .starts_with("error: unexpected argument '--budgt' found\n"),
        "{}",
        wrong.stderr
    );
    assert!(wrong.stderr.contains("'--budget'"), "{}", wrong.stderr);
    assert!(bench.run(&[]).ends(2).stderr.contains("Usage: baler"));
}

#[cfg(target_os = "linux")]
mod on_a_terminal {
    use std::fs::File;
    use std::io::Read as _;
    use std::process::Stdio;

    use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};

    use crate::support::Bench;

    /// What the program writes to a terminal, and how it ends.
    fn run(bench: &Bench, arguments: &[&str]) -> (Vec<u8>, Option<i32>) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let screen = openpt(flags).expect("a terminal");
        unlockpt(&screen).expect("unlocked");
        let side = || Stdio::from(ioctl_tiocgptpeer(&screen, flags).expect("its other side"));
        let mut command = bench.command();
        command.args(arguments).stdout(side()).stderr(side());
        let mut child = command.spawn().expect("it runs");
        // With it this program's handles of the other side go, so that there is an end.
        drop(command);
        let (mut screen, mut shown) = (File::from(screen), Vec::new());
        let mut some = [0; 4096];
        // The end of a terminal is an error.
        while let Ok(read @ 1..) = screen.read(&mut some) {
            shown.extend_from_slice(&some[..read]);
        }
        (shown, child.wait().expect("it ends").code())
    }

    #[test]
    fn a_document_is_shown_as_the_same_json_without_what_a_terminal_acts_on() {
        let bench = Bench::new();
        let document =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"a\u{9b}2J\u{202e}\u{7f}b\"}]}";
        let file = bench.file("request.json", document);
        let (shown, code) = run(
            &bench,
            &[
                "compact",
                &file,
                "-q",
                "-s",
                "native:truncate",
                "--budget",
                "9000",
            ],
        );
        let shown = String::from_utf8(shown).expect("UTF-8");
        assert_eq!(code, Some(0), "{shown}");
        super::assert_harmless(&shown.replace("\r\n", "\n"), "a document");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(read(&shown), read(document));
        // However the terminal is named.
        for output in ["/dev/stdout", "/dev/stderr", "/proc/self/fd/1"] {
            let again = run(
                &bench,
                &[
                    "compact",
                    &file,
                    "-q",
                    "-s",
                    "native:truncate",
                    "--budget",
                    "9000",
                    "-o",
                    output,
                ],
            );
            let again = (String::from_utf8(again.0).expect("UTF-8"), again.1);
            assert_eq!(again, (shown.clone(), Some(0)), "{output}");
        }
        // Where nobody looks on it is what it was.
        let piped = bench
            .run(&["compact", &file, "-q", "--budget", "9000"])
            .ends(0);
        assert_eq!(piped.stdout, document);
    }
}
