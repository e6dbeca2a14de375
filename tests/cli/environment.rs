//! What the environment may hold: bytes that are no text, other programs' variables, no room for
//! threads.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

use crate::support::{Bench, Ran, example};

/// Bytes that are not UTF-8, behind `start`.
fn broken(start: &str) -> OsString {
    let mut bytes = start.as_bytes().to_vec();
    bytes.push(0xff);
    OsStr::from_bytes(&bytes).to_owned()
}

fn run_with(bench: &Bench, name: &OsStr, value: &OsStr, arguments: &[&str]) -> Ran {
    let mut command = bench.command();
    command.env(name, value).args(arguments);
    Ran::of(command.output().expect("it runs"))
}

#[test]
fn only_variables_of_the_store_must_be_unicode() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let url = format!("file://{}", bench.path("mine").display());
    let arguments = ["compact", &input, "--archive", &url];
    for name in [OsString::from("LS_COLORS"), broken("LS_"), broken("AWS_")] {
        run_with(&bench, &name, &broken("x"), &arguments).ends(0);
    }
    let own = OsStr::new("AWS_SECRET_ACCESS_KEY");
    let ran = run_with(&bench, own, &broken("mackerel"), &arguments)
        .ends(2)
        .says(&["the environment variable `AWS_SECRET_ACCESS_KEY` is not UTF-8"]);
    assert_eq!(ran.stdout, "");
    assert!(!ran.stderr.contains("mackerel"), "{}", ran.stderr);
}

#[test]
fn archive_variable_that_is_not_unicode_is_an_error() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let variable = OsStr::new("BALER_ARCHIVE");
    for arguments in [&["compact", &input][..], &["archive"]] {
        run_with(&bench, variable, &broken("a"), arguments)
            .ends(2)
            .says(&["$BALER_ARCHIVE is not UTF-8"]);
    }
    assert!(!bench.path("state/archive").exists());
    let typed = ["compact", &input, "--archive", "mine"];
    run_with(&bench, variable, &broken("a"), &typed).ends(0);
}

#[test]
fn all_commands_find_the_archive_in_a_state_folder_of_any_name() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let before = std::fs::read_to_string(&input).expect("an example");
    // No text; and what reads like a URL.
    for state in [broken("st"), OsString::from("s3://bucket/prefix")] {
        let run = |arguments: &[&str]| {
            let mut command = bench.command();
            command.args(arguments).arg("--state").arg(&state);
            Ran::of(command.output().expect("it runs"))
        };
        run(&["compact", &input, "--receipt", "r.json"]).ends(0);
        assert!(bench.folder.path().join(&state).join("archive").exists());
        assert_eq!(run(&["undo", "r.json"]).ends(0).stdout, before);
        let shown = run(&["archive"]).ends(0).stdout;
        assert!(shown.contains(" of 1 compaction"), "{shown}");
        run(&["archive", "gc", "--older-than", "30d"]).ends(0);
    }
}

#[test]
fn relative_home_is_ignored() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let mut command = bench.command();
    command
        .env_remove("BALER_STATE")
        .env("HOME", "here")
        .args(["compact", &input]);
    Ran::of(command.output().expect("it runs"))
        .ends(1)
        .says(&["neither $XDG_STATE_HOME nor $HOME says where, by an absolute path"]);
    assert!(!bench.path("here").exists());
}

#[test]
fn compiler_variable_alone_does_not_start_the_compiler() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let variable = OsStr::new("BALER_CHILD_LIMITS");
    for arguments in [
        &["validate", &input][..],
        // It starts a compiler of its own, since nothing is compiled in this state folder.
        &["introspect", "sliding-window", "--state", "own"],
    ] {
        run_with(&bench, variable, OsStr::new("1"), arguments).ends(0);
    }
}

/// No thread can have a stack of this size.
#[cfg(target_pointer_width = "64")]
#[test]
fn lack_of_threads_is_survived_or_reported() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let (variable, size) = (
        OsStr::new("RUST_MIN_STACK"),
        OsStr::new("1152921504606846976"),
    );
    let native = [
        "compact",
        &input,
        "--archive",
        "off",
        "-s",
        "native:truncate",
    ];
    run_with(&bench, variable, size, &native).ends(0);
    run_with(&bench, variable, size, &["introspect", "sliding-window"])
        .ends(1)
        .says(&["error: cannot use `sliding-window`: ", "gives no thread"]);
}

/// A command that runs baler with these arguments under limits of the shell's.
#[cfg(target_os = "linux")]
fn under(bench: &Bench, limits: &str, arguments: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    let script = format!("{limits} && exec \"$@\"");
    shell
        .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_baler")])
        .args(arguments)
        .env_clear()
        .env("NO_COLOR", "1")
        .env("BALER_STATE", bench.path("state"))
        .current_dir(bench.folder.path())
        .stdin(Stdio::null());
    shell
}

/// A memory of a component takes 4 GiB of addresses.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn lack_of_memory_is_a_failure_of_the_machine_and_not_of_the_strategy() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    // Compiled while there is room.
    bench.run(&["introspect", "sliding-window"]).ends(0);
    let arguments = ["compact", &input, "-s", "sliding-window", "--json"];
    let mut shell = under(&bench, "ulimit -v 4000000", &arguments);
    let ran = Ran::of(shell.output().expect("it runs")).ends(4);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let first = &told["receipt"]["attempts"][0];
    assert_eq!(first["result"]["result"], "host", "{first}");
    assert_eq!(told["receipt"]["strategy"], "native:digest");
}

#[cfg(target_os = "linux")]
#[test]
fn too_few_descriptors_are_reported_as_a_failure() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let compact = ["compact", &input, "-q", "-s", "native:digest"];
    bench.run(&compact).ends(0);
    for most in 6..24 {
        let limits = format!("ulimit -n {most}");
        for arguments in [&compact[..], &["validate", &input], &["--version"]] {
            let mut shell = under(&bench, &limits, arguments);
            let ran = Ran::of(shell.output().expect("it runs"));
            let told = format!("{limits}: {} {}", ran.code, ran.stderr);
            match ran.code {
                0 => assert!(most > 6, "{told}"),
                code => {
                    assert_eq!(code, 1, "{told}");
                    assert!(told.contains("Too many open files"), "{told}");
                }
            }
        }
    }
}

/// Rust aborts where an allocation fails. Under the lowest limits the program cannot even be loaded.
#[cfg(target_os = "linux")]
#[test]
fn too_little_address_space_is_reported_as_a_failure() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let compact = ["compact", &input, "-q", "-s", "native:digest"];
    let (mut is_told, mut is_done) = (false, false);
    for megabytes in (40..=1_600).step_by(40) {
        let limits = format!("ulimit -v {megabytes}000");
        let output = under(&bench, &limits, &compact).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let told = format!("{limits}: {:?} {said}", output.status);
        match output.status.code() {
            Some(0) => is_done = true,
            Some(1) => {
                assert!(said.starts_with("error: ") && !is_done, "{told}");
                is_told |= said.contains("address space that every run needs");
            }
            _ => assert!(!is_told && !is_done, "{told}"),
        }
    }
    assert!(is_told && is_done);
}

/// Lower limits than its own, which only root may raise again.
#[cfg(target_os = "linux")]
#[test]
fn compiler_keeps_inherited_limits_that_are_lower_than_its_own() {
    let bench = Bench::new();
    for limits in ["ulimit -t 60", "ulimit -t 5", "ulimit -v 1000000"] {
        let mut shell = under(&bench, limits, &["baler-compile-component"]);
        shell.env("BALER_CHILD_LIMITS", "{}");
        // It got as far as to the component, which is none.
        let ran = Ran::of(shell.output().expect("it runs")).ends(1);
        assert!(!ran.stderr.is_empty(), "{limits}");
        assert!(!ran.stderr.contains("limits"), "{limits}: {}", ran.stderr);
    }
}
