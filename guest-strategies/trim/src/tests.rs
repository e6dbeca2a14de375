mod config;
mod limits;
mod vectors;

use baler_strategy::testing::{Recording, TestRun, run};
use baler_strategy::{Situation, Value};

use crate::Trim;

const PLENTY: u32 = 1_000_000;

/// So many messages, alternately of the user and the model, 25 tokens each.
fn alternate(messages: usize) -> Recording {
    (1..=messages).fold(Recording::new(), |recording, n| {
        let text = n.to_string();
        match n % 2 {
            1 => recording.user(&text).tokens(25),
            _ => recording.step(&text, []).tokens(25),
        }
    })
}

#[track_caller]
fn trimmed_in(recording: &Recording, situation: &Situation, config: &str) -> TestRun {
    let tested = run::<Trim>(recording, situation, config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"));
    assert!(
        tested.plan().is_none() || situation.used <= situation.budget || tested.fits(),
        "over budget: {}",
        tested.render()
    );
    tested
}

/// The result when a turn is about to start and there is room for everything.
#[track_caller]
fn trimmed(recording: &Recording, turn: u32, config: &str) -> TestRun {
    let mut situation = recording.situation(PLENTY);
    situation.context = format!(r#"{{"turn":{turn}}}"#);
    trimmed_in(recording, &situation, config)
}

fn value(tested: &TestRun, metric: &str) -> Value {
    let mut metrics = tested.report.metrics.iter();
    metrics
        .find(|found| found.name == metric)
        .map(|found| found.value.clone())
        .unwrap_or_else(|| panic!("no metric `{metric}`"))
}

fn flag(tested: &TestRun, metric: &str) -> bool {
    value(tested, metric) == Value::Flag(true)
}

fn reason(tested: &TestRun) -> String {
    match value(tested, "reason") {
        Value::Text(reason) => reason,
        other => panic!("no text: {other:?}"),
    }
}
