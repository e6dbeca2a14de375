//! The state folder: without one, and with one that is open to others.

use std::fs;

use crate::support::{Bench, Ran, example};

#[test]
fn missing_state_folder_is_reported_and_stops_only_what_needs_an_archive() {
    let bench = Bench::new();
    let file = bench.file("not-a-folder", "");
    let input = example("fix-a-bug.openai.json");
    let ran = bench
        .run(&[
            "compact",
            &input,
            "-s",
            "sliding-window",
            "--archive",
            "off",
            "--state",
            &format!("{file}/state"),
        ])
        .ends(0)
        .says(&[
            "warning: going on without a state folder",
            "not-a-folder",
            "name another folder with --state",
        ]);
    assert!(!ran.stdout.is_empty());
    let ran = Ran::of(
        bench
            .command()
            .env_remove("BALER_STATE")
            .env_remove("HOME")
            .args(["compact", &input, "--archive", "off"])
            .output()
            .expect("it runs"),
    );
    ran.ends(0)
        .says(&["neither $XDG_STATE_HOME nor $HOME says where"]);
}

#[cfg(unix)]
#[test]
fn a_state_folder_that_is_open_to_others_is_an_error() {
    let bench = Bench::new();
    let state = bench.path("open");
    fs::create_dir(&state).expect("a folder");
    fs::set_permissions(&state, std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("open");
    bench
        .run(&[
            "compact",
            &example("fix-a-bug.openai.json"),
            "--state",
            state.to_str().expect("UTF-8"),
        ])
        .ends(1)
        .says(&["is open to other users", "chmod 700"]);
}
