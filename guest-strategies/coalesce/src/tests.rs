mod config;
mod limits;
mod whole;

use baler_strategy::testing::{Recording, TestRun, call, run};
use baler_strategy::{Insertion, Piece, Situation};

use crate::Coalesce;

const PLENTY: u32 = 1_000_000;

/// No turn stays unchanged: the vectors of ptc_runner know no recent turns.
const ALL: &str = r#"{"keep-recent-turns":0}"#;

/// The text of SG1 behind the task and a blank line.
pub(crate) const SG1: &str = "\
;; === tools ===
tool/search(q string) -> string

;; === data/ ===
data/count                    ; integer, sample: 42

;; === user/ (your prelude) ===
total                         ; = integer, sample: 100

# Expected Output

Your final answer must match this format: `{total :float}`

Call `(return {:total 3.14})` when complete.

;; Tool calls made:
;   search({:q \"a\"})

Turns left: 3";

/// Instructions, the task, and so many steps of 1000 tokens.
fn agent(steps: usize) -> Recording {
    let task = Recording::new().system("Test system prompt").user("Find X");
    (0..steps).fold(task, |recording, n| {
        let arguments = format!(r#"{{"q":{n}}}"#);
        recording
            .step("", [call("search", &arguments, "found")])
            .tokens(1000)
    })
}

#[track_caller]
fn coalesced_in(recording: &Recording, situation: &Situation, config: &str) -> TestRun {
    let tested = run::<Coalesce>(recording, situation, config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"));
    assert!(
        tested.plan().is_none() || tested.fits(),
        "over budget: {}",
        tested.render()
    );
    tested
}

#[track_caller]
fn coalesced(recording: &Recording, budget: u32, config: &str) -> TestRun {
    coalesced_in(recording, &recording.situation(budget), config)
}

/// The one insertion of the plan.
#[track_caller]
fn inserted(tested: &TestRun) -> &Insertion {
    let pieces = tested.plan().map_or(&[][..], |plan| &plan.pieces);
    let mut insertions = pieces.iter().filter_map(|piece| match piece {
        Piece::Insert(insertion) => Some(insertion),
        _ => None,
    });
    match (insertions.next(), insertions.next()) {
        (Some(insertion), None) => insertion,
        _ => panic!("not one insertion: {}", tested.render()),
    }
}

#[track_caller]
fn text(tested: &TestRun) -> &str {
    &inserted(tested).text
}
