mod planck;
mod puck;
mod keep_share;
mod earlier;
mod limits;
mod example;
mod all_sorts;

use crate::summary::testing::{self, with_answer};
use baler_strategy::testing::{Recording, ScriptedModel, TestRun};
use baler_strategy::{
    Conversation, Decision, Failure, Insertion, ModelError, Piece, Situation, Strategy,
};

use crate::summarize::{Config, Summarize};

const PLENTY: u32 = 100_000;

/// Text of so many characters; four of them are a token.
fn chars(number: usize) -> String {
    "x".repeat(number)
}

/// So many user messages of so many characters.
fn users(messages: usize, length: usize) -> Recording {
    (0..messages).fold(Recording::new(), |recording, _| {
        recording.user(&chars(length))
    })
}

/// So many questions with an answer each, of 1000 tokens whatever is in them.
fn talk(questions: usize) -> Recording {
    (1..=questions).fold(Recording::new(), |recording, n| {
        recording
            .user(&format!("Q{n}"))
            .tokens(1_000)
            .step(&format!("A{n}"), [])
            .tokens(1_000)
    })
}

fn failing(recording: Recording, why: &str) -> Recording {
    recording.model(ScriptedModel::failing(ModelError::Unavailable(
        why.to_owned(),
    )))
}

fn attempt(recording: &Recording, situation: &Situation, config: &str) -> Result<TestRun, Failure> {
    testing::attempt::<Summarize>(recording, situation, config)
}

#[track_caller]
fn summarized(recording: &Recording, budget: u32, config: &str) -> TestRun {
    attempt(recording, &recording.situation(budget), config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"))
}

fn insertions(tested: &TestRun) -> Vec<&Insertion> {
    let pieces = tested.plan().map_or(&[][..], |plan| &plan.pieces);
    let inserted = pieces.iter().filter_map(|piece| match piece {
        Piece::Insert(insertion) => Some(insertion),
        _ => None,
    });
    inserted.collect()
}

#[track_caller]
fn summary(tested: &TestRun) -> &str {
    match insertions(tested)[..] {
        [one] => &one.text,
        _ => panic!("not one insertion: {}", tested.render()),
    }
}

/// What the strategy says with so many tokens in use of such a window.
fn gate(used: u32, context_window: u32, config: &str) -> Decision {
    let recording = with_answer(Recording::new(), "never asked");
    let mut situation = recording.situation(PLENTY);
    situation.used = used;
    situation.context_window = context_window;
    let config: Config = serde_json::from_str(config).expect("it is a config");
    let conversation = Conversation::new(&recording);
    let decision = Summarize::should_compact(&conversation, &situation, &config);
    assert!(recording.asked().is_empty());
    decision.expect("it has no way to fail")
}

fn compacts(used: u32, context_window: u32, config: &str) -> bool {
    matches!(gate(used, context_window, config), Decision::Compact(_))
}

#[test]
fn no_output_speaks_for_the_user() {
    testing::no_output_speaks_for_the_user::<Summarize>("");
}

#[test]
fn no_earlier_text_speaks_for_the_user() {
    testing::no_earlier_text_speaks_for_the_user::<Summarize>("");
}
