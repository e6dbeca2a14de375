//! `baler cache`.

use std::fs;

use serde_json::Value;

use crate::support::{Bench, example};

#[test]
fn cache_is_shown_and_cleared_and_filled_again() {
    let bench = Bench::new();
    // A folder of its own: other tests share theirs.
    let state = bench.path("own-state");
    let state = state.to_str().expect("UTF-8");
    let size = |more: &[&str]| -> Value {
        let arguments = [&["cache"][..], more, &["--state", state, "--json"]].concat();
        let shown = bench.run(&arguments).ends(0).stdout;
        serde_json::from_str(&shown).expect("JSON")
    };
    assert_eq!(size(&[])["entries"], 0, "the folder does not exist yet");
    let week = example("plan-a-week.openai.json");
    let compact = || {
        let strategy = [
            "--strategy",
            "sliding-window",
            "--state",
            state,
            "--dry-run",
        ];
        bench
            .run(&[&["compact", &week][..], &strategy].concat())
            .ends(0);
    };
    compact();
    let full = size(&[]);
    assert_eq!(full["entries"], 1);
    assert!(full["bytes"].as_u64() > Some(10_000), "{full}");
    assert!(full["bytes"].as_u64() < full["limit"].as_u64(), "{full}");
    fs::write(bench.path("own-state/compiled/notes.txt"), "mine").expect("writes");
    let shown = bench.run(&["cache", "--state", state]).ends(0).stdout;
    assert!(
        shown.contains("1 compiled strategy; the limit is 1 GiB"),
        "{shown}"
    );
    assert_eq!(size(&["clear"])["bytes"], full["bytes"]);
    assert_eq!(size(&[])["entries"], 0);
    assert!(bench.path("own-state/compiled/notes.txt").exists());
    compact();
    assert_eq!(size(&[]), full);
}
