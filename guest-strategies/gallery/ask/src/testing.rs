//! What every strategy of the gallery that asks a model must pass.

#![allow(
    clippy::panic,
    reason = "for tests: an error should fail the test at once"
)]

use baler_strategy::testing::{Recording, ScriptedModel, TestRun, call};
use baler_strategy::{Failure, Finish, ModelError, ModelRequest, Situation, Strategy};
use baler_strategy_core::summary::testing as shared;

/// A conversation of some turns: in each the user says `request N`, and the model calls a tool and answers. The model that
/// may be asked answers `summary`.
#[must_use]
pub fn turns(number: usize, summary: &str) -> Recording {
    let turn = |recording: Recording, n: usize| {
        recording
            .user(&format!("request {n}"))
            .tokens(20)
            .step(
                "I look.",
                [call("read", r#"{"path":"a.rs"}"#, "fn main() {}")],
            )
            .tokens(400)
            .step(&format!("answer {n}"), [])
            .tokens(80)
    };
    shared::with_answer((0..number).fold(Recording::new(), turn), summary)
}

/// Runs `S` and returns the run with the requests to the model.
///
/// # Panics
/// Panics if the strategy fails, or if its plan breaks a rule of the contract or exceeds the budget.
#[track_caller]
pub fn asked<S: Strategy>(
    recording: &Recording,
    situation: &Situation,
    config: &str,
) -> (TestRun, Vec<ModelRequest>) {
    match shared::attempt::<S>(recording, situation, config) {
        Ok(tested) => (tested, recording.asked()),
        Err(failure) => panic!("failed: {failure:?}"),
    }
}

/// Checks what holds for all of these strategies: results fit, no text speaks for the user, and without a summary there is a
/// failure. `config` must make the strategy summarise all but the newest unit, with one request.
///
/// # Panics
/// Panics if that does not hold.
pub fn holds<S: Strategy>(config: &str) {
    shared::no_output_speaks_for_the_user::<S>(config);
    shared::no_earlier_text_speaks_for_the_user::<S>(config);
    shared::fits_or_gives_a_reason::<S>(["", config, "", config]);
    let history = || {
        let old = Recording::new().user("old").tokens(2_000);
        old.step("done", []).tokens(2_000).user("new").tokens(20)
    };
    let attempt = |recording: &Recording| {
        shared::attempt::<S>(recording, &recording.situation(1_500), config)
    };
    for script in [
        ScriptedModel::ending("I will not.", Finish::Refusal),
        ScriptedModel::ending("Half a sum", Finish::Length),
        ScriptedModel::answering(" \n"),
        ScriptedModel::failing(ModelError::Refused("policy".to_owned())),
    ] {
        let failure = attempt(&history().model(script));
        assert!(matches!(failure, Err(Failure::Model(_))), "{failure:?}");
    }
    let failure = attempt(&history());
    assert!(matches!(failure, Err(Failure::Model(_))), "{failure:?}");
    // Two requests: the second is to shorten the answer, which is cut in the end.
    let long = history().model(ScriptedModel::answering(&shared::account(
        "It was so.",
        400,
    )));
    let tested = attempt(&long).unwrap_or_else(|failure| panic!("failed: {failure:?}"));
    assert!(tested.tokens() <= 1_500 && tested.render().contains('…'));
    assert_eq!(tested.count("model-calls"), Some(2));
}
