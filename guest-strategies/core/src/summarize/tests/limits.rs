use super::*;
use baler_strategy::testing::{call, pending};

/// Instructions, the task, ten steps of 1000 tokens each.
fn agent() -> Recording {
    (0..10).fold(
        Recording::new()
            .system("Be careful.")
            .tokens(50)
            .user("Fix it.")
            .tokens(30),
        |recording, n| {
            recording
                .step(&format!("step {n}"), [call("ls", "{}", "a b")])
                .tokens(1_000)
        },
    )
}

const SHORT: &str = "Six steps were done.";

/// PL-N4, PU-N5, ALL-N7: what does not fit beside the summary is summarised as well.
#[test]
fn the_budget_bounds_whatever_the_config_says() {
    let recording = with_answer(agent(), SHORT);
    let tested = summarized(&recording, 5_000, r#"{"keep-last-units":10}"#);
    assert_eq!(tested.kept(), [0, 1, 9, 10, 11]);
    assert_eq!(tested.count("units-summarized"), Some(7));
}

#[test]
fn the_summary_follows_what_it_stands_for() {
    let recording = with_answer(agent(), SHORT);
    let tested = summarized(&recording, PLENTY, r#"{"keep-last-units":1}"#);
    assert!(tested.render().starts_with(
        "keep 0 instructions protected
keep 1 user protected
insert \"Six steps were done.\"
\
         drop 2 step
"
    ));
}

#[test]
fn a_summary_that_is_too_long_for_the_room_is_cut_at_a_sentence() {
    let recording = with_answer(agent(), &testing::account("It was done.", 400));
    let tested = summarized(&recording, 1_200, r#"{"keep-last-units":1}"#);
    assert!(summary(&tested).ends_with("done. …"));
    assert_eq!(tested.count("model-calls"), Some(2));
}

#[test]
fn pins_and_pending_calls_stay() {
    let recording = agent()
        .step("keep this", [])
        .tokens(100)
        .pin()
        .step("", [])
        .tokens(1_000)
        .step("", [pending("make", "")])
        .tokens(100);
    let recording = with_answer(recording, SHORT);
    let tested = summarized(&recording, PLENTY, r#"{"keep-last-units":1}"#);
    assert_eq!(tested.kept(), [0, 1, 12, 14]);
    assert!(
        tested
            .render()
            .contains("keep 12 step protected\ninsert \"Six steps were done.\"\ndrop 13 step\n")
    );
}

/// PL-N4: where nothing fits beside what must stay, that is a failure and says so.
#[test]
fn without_room_for_a_summary_it_fails() {
    for budget in [0, 80, 120] {
        let recording = with_answer(agent(), SHORT);
        let failure = attempt(&recording, &recording.situation(budget), "");
        assert_eq!(
            failure,
            Err(Failure::Other(
                "the budget leaves too few tokens for a summary".to_owned()
            ))
        );
        assert!(recording.asked().is_empty());
    }
}

/// PL-N5: what cannot become smaller is not tried.
#[test]
fn what_is_as_short_as_a_summary_is_left_alone() {
    let recording = with_answer(users(5, 10), "never asked");
    assert_eq!(
        summarized(&recording, PLENTY, r#"{"keep-last-units":1}"#).unchanged(),
        Some("a summary would not be shorter than the units that it replaces")
    );
    assert!(recording.asked().is_empty());
}

#[test]
fn limits_of_bytes_and_media_bound_it_too() {
    let recording = Recording::new()
        .step("", [call("look", "{}", "").with_picture()])
        .step("", [call("look", "{}", "").with_picture()])
        .user("And now?");
    let recording = with_answer(recording, "Two pictures.");
    let mut situation = recording.situation(PLENTY);
    situation.max_media = Some(1);
    let config = r#"{"keep-last-units":3}"#;
    let kept = |situation: &Situation| attempt(&recording, situation, config).map(|t| t.kept());
    assert_eq!(kept(&situation), Ok(vec![1, 2]));
    situation.max_media = None;
    situation.max_bytes = Some(7_000);
    assert_eq!(kept(&situation), Ok(vec![1, 2]));
}

/// ALL-N8, PL-N17, PU-N15: a small window of the model is heeded.
#[test]
fn the_request_fits_a_small_model() {
    let recording = (0..100)
        .fold(Recording::new(), |recording, n| {
            recording.step(&format!("{n:<4000}|"), [])
        })
        .user("Go on.");
    let script = ScriptedModel::answering(SHORT)
        .window(8_000)
        .max_output_tokens(1_000);
    let recording = recording.model(script);
    let tested = summarized(&recording, PLENTY, r#"{"keep-last-messages":1}"#);
    assert_eq!(tested.count("model-calls"), Some(1));
    let (seen, unseen) = (
        tested.count("units-summarized").unwrap_or_default(),
        tested.count("units-left-out").unwrap_or_default(),
    );
    assert!(seen + unseen == 100 && seen > 3, "{seen} {unseen}");
}

#[test]
fn text_of_any_script_is_summarised() {
    let recording = Recording::new()
        .user(&"古い話。".repeat(1_000))
        .user("新しい話");
    let recording = with_answer(recording, "古い話でした。");
    let tested = summarized(&recording, 1_000, r#"{"keep-last-messages":1}"#);
    assert_eq!(summary(&tested), "古い話でした。");
}

#[test]
fn a_pinned_step_at_the_front_leaves_room_for_a_note() {
    let recording = Recording::new()
        .step("pinned", [])
        .tokens(100)
        .pin()
        .step("old", [])
        .tokens(1_000)
        .user("new")
        .tokens(100);
    let recording = with_answer(recording, &testing::account("word", 200));
    let mut situation = recording.situation(500);
    situation.opening_note = 100;
    let tested = attempt(&recording, &situation, r#"{"keep-last-messages":1}"#)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"));
    assert!(tested.tokens() + 100 <= 500, "{}", tested.tokens());
}

/// The host shortens them where it has to; a strategy neither edits nor removes them.
#[test]
fn unseen_outputs_stay_as_they_are() {
    let recording = agent().step("", [call("ls", "{}", &"z ".repeat(3_000))]);
    let recording = with_answer(recording.unseen(60), SHORT);
    let mut plans = 0;
    for budget in (0..recording.situation(0).used).step_by(97) {
        let situation = recording.situation(budget);
        let config = r#"{"keep-last-units":1}"#;
        let Ok(tested) = attempt(&recording, &situation, config) else {
            continue;
        };
        plans += u32::from(tested.plan().is_some());
        let shown = tested.render();
        let stays = tested.plan().is_none() || shown.contains("\nkeep 12 step protected");
        assert!(stays, "{budget}: {shown}");
    }
    assert!(plans > 10, "{plans}");
}
