mod example;

mod failures;

mod limits;

mod story;

use baler_strategy::testing::{Recording, ScriptedModel, TestRun, call, failed, run};
use baler_strategy::{Piece, Value};
use baler_strategy_core::summary::testing::{self, with_answer};

use crate::TieredModel;

/// What a model answers that does as it is told.
const STORY: &str = "The sums were off because the carry starts at one; that was found by running \
                     the tests. Next the tariff has to be looked at.";

const RULE: &str = "Never touch vendor/!";
const ERROR: &str = "error: total is 41, expected 42";

/// About 450 tokens.
fn listing(symbol: &str) -> String {
    (0..40)
        .map(|line| format!("    // line {line} of {symbol} is about nothing in particular\n"))
        .collect()
}

fn read(path: &str) -> baler_strategy::testing::Call {
    call(
        "read_file",
        &format!(r#"{{"path":"{path}"}}"#),
        &listing(path),
    )
}

/// An agent that mends a ledger in many steps.
fn ledger() -> Recording {
    let recording = Recording::new()
        .system("You mend programs.")
        .user(&format!("The ledger is off by one. {RULE}"))
        .step(
            "I run the tests first.",
            [failed(
                "shell",
                r#"{"command":"cargo test"}"#,
                &format!("{}{ERROR}\n", listing("sums")),
            )],
        );
    let todo = r#"{"todos":[{"content":"look at the tariff","status":"pending"}]}"#;
    let recording = recording.step("", [call("todo_write", todo, "ok")]);
    (0..20)
        .fold(recording, |recording, part| {
            recording.step("", [read(&format!("src/part_{part}.rs"))])
        })
        .user("Now commit, please.")
}

#[track_caller]
fn reduced_in(recording: &Recording, budget: u32, config: &str) -> TestRun {
    testing::attempt::<TieredModel>(recording, &recording.situation(budget), config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"))
}

#[track_caller]
fn reduced(recording: &Recording, budget: u32) -> TestRun {
    reduced_in(recording, budget, "")
}

/// The one text that was inserted.
#[track_caller]
fn text(tested: &TestRun) -> &str {
    let pieces = tested.plan().map_or(&[][..], |plan| &plan.pieces);
    let mut texts = pieces.iter().filter_map(|piece| match piece {
        Piece::Insert(insertion) => Some(insertion.text.as_str()),
        _ => None,
    });
    match (texts.next(), texts.next()) {
        (Some(text), None) => text,
        _ => panic!("not one insertion: {}", tested.render()),
    }
}

fn told(tested: &TestRun) -> &str {
    let metrics = &tested.report.metrics;
    match &metrics.iter().find(|metric| metric.name == "summary") {
        Some(metric) => match &metric.value {
            Value::Text(told) => told,
            _ => "no text",
        },
        None => "nothing",
    }
}

#[test]
fn no_output_speaks_for_the_user() {
    testing::no_output_speaks_for_the_user::<TieredModel>("");
}

#[test]
fn no_earlier_text_speaks_for_the_user() {
    testing::no_earlier_text_speaks_for_the_user::<TieredModel>("");
}
