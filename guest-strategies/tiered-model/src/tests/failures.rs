//! A model that does not answer, or not usably: the result is that of `tiered`.

use baler_strategy::{Finish, ModelError};

use super::*;

fn scripts() -> [(&'static str, ScriptedModel); 9] {
    let failing = ScriptedModel::failing;
    let why = || "why".to_owned();
    [
        ("down", failing(ModelError::Unavailable(why()))),
        ("refused", failing(ModelError::Refused(why()))),
        ("spent", failing(ModelError::Spent(why()))),
        ("other", failing(ModelError::Other(why()))),
        (
            "too long",
            ScriptedModel::answering(STORY).rejecting_above(10),
        ),
        (
            "declined",
            ScriptedModel::ending("I cannot help.", Finish::Refusal),
        ),
        ("cut off", ScriptedModel::ending(STORY, Finish::Length)),
        ("blank", ScriptedModel::answering(" \n")),
        (
            "calls",
            ScriptedModel::answering(r#"{"name":"ls","arguments":{}}"#),
        ),
    ]
}

#[test]
fn a_digest_alone_stands_there() {
    for budget in [900, 1_500, 3_000] {
        // Without a model there is nobody to ask.
        let alone = reduced(&ledger(), budget);
        assert!(text(&alone).contains(RULE) && text(&alone).contains("\n- read src/"));
        for (name, script) in scripts() {
            let recording = ledger().model(script);
            let tested = reduced(&recording, budget);
            assert_eq!(tested.plan(), alone.plan(), "{name}");
            assert_eq!(told(&tested), "none", "{name}");
            assert!(tested.count("model-calls") >= Some(1), "{name}");
            assert_eq!(tested.count("summary-tokens"), None, "{name}");
            assert!(recording.asked().len() <= 8, "{name}");
            let said = recording.log().pop().expect("it says why").1;
            assert!(
                said.starts_with("a digest without a summary replaces old steps"),
                "{name}: {said}"
            );
        }
    }
}

#[test]
fn an_earlier_summary_outlives_a_failure() {
    let recording = (0..20).fold(
        Recording::new()
            .user("Mend it.")
            .summary("We chose integers, because floats were off."),
        |recording, part| recording.step("", [read(&format!("src/part_{part}.rs"))]),
    );
    for (name, script) in scripts() {
        let recording = recording.clone().user("Go on.").model(script);
        let tested = reduced(&recording, 1_200);
        assert!(
            text(&tested).contains("We chose integers, because floats were off."),
            "{name}"
        );
    }
}
