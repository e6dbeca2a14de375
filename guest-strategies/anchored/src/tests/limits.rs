use super::*;

/// A long loop of tools in a single turn.
fn agent() -> Recording {
    (0..10).fold(
        Recording::new().system("Be careful.").user("Fix it."),
        |recording, n| recording.step(&format!("step {n}"), []).tokens(1_000),
    )
}

/// AP-N11: a single turn that is too large is compacted as well.
#[test]
fn a_long_loop_is_compacted() {
    let recording = with_answer(agent(), "Ten steps.");
    let tested = anchored(&recording, 5_000, "");
    assert_eq!(tested.kept(), [0, 1]);
    assert_eq!(tested.count("units-summarized"), Some(10));
}

#[test]
fn without_room_for_a_summary_it_fails() {
    let recording = with_answer(agent(), "never asked");
    for budget in [0, 60] {
        let failure = attempt(&recording, &recording.situation(budget), "");
        assert!(matches!(failure, Err(Failure::Other(_))), "{failure:?}");
    }
    assert!(recording.asked().is_empty());
}

#[test]
fn a_long_summary_has_its_share_of_the_room() {
    let recording = turn(turn(Recording::new(), "old", 5_000), "new", 100);
    let recording = with_answer(recording, &testing::account("It was so.", 400));
    let tested = anchored(&recording, 1_000, ONE);
    assert!(
        tested
            .render()
            .contains("It was so. …\\n</context_summary>")
    );
    assert_eq!(tested.count("model-calls"), Some(2));
}

/// ALL-N8: the request fits the model's window, however long the history is.
#[test]
fn the_request_fits_a_small_model() {
    let recording = (0..50).fold(Recording::new(), |recording, n| {
        turn(recording, &format!("{n:<2000}|"), 1_000)
    });
    let script = ScriptedModel::answering("Much was said.").window(4_000);
    let recording = recording.model(script);
    let config = r#"{"max-retained-user-tokens":0,"max-output-tokens":1000}"#;
    let tested = anchored(&recording, PLENTY, config);
    assert_eq!(tested.count("model-calls"), Some(1));
    assert!(tested.count("units-left-out") > Some(0));
}

#[test]
fn limits_of_media_take_turns_away_too() {
    let recording = ["one", "two", "three"]
        .into_iter()
        .fold(Recording::new(), |recording, text| {
            turn(recording, text, 500).attached("image", None)
        });
    let recording = with_answer(recording, "Pictures.");
    let mut situation = recording.situation(PLENTY);
    situation.max_media = Some(1);
    let tested = anchored_in(&recording, &situation, "");
    assert_eq!(tested.kept(), [0, 2, 4, 5]);
}

#[test]
fn text_of_any_script_is_anchored() {
    let recording = turn(turn(Recording::new(), "古い話", 1_000), "新しい話", 10);
    let recording = with_answer(recording, "昔の話。");
    let tested = anchored(&recording, PLENTY, ONE);
    assert_eq!(tested.kept(), [0, 2, 3]);
    assert!(tested.render().contains("<context_summary>\\n昔の話。\\n"));
}

/// PL-I9: what the user asked to keep in mind is handed on.
#[test]
fn what_the_user_wants_kept_is_handed_on() {
    let recording = turn(turn(Recording::new(), "old", 1_000), "new", 10);
    let recording = with_answer(recording, "The API.");
    let mut situation = recording.situation(PLENTY);
    situation.trigger = baler_strategy::Trigger::Manual(Some("keep the API".to_owned()));
    anchored_in(&recording, &situation, ONE);
    assert!(
        recording.asked()[0]
            .instructions
            .contains("in particular: keep the API")
    );
}

/// The host shortens them where it has to; a strategy neither edits nor removes them.
#[test]
fn unseen_outputs_stay_as_they_are() {
    let output = baler_strategy::testing::call("ls", "{}", &"z ".repeat(3_000));
    let recording = with_answer(agent().step("", [output]).unseen(60), "Ten steps.");
    let mut plans = 0;
    for budget in (0..recording.situation(0).used).step_by(97) {
        let Ok(tested) = attempt(&recording, &recording.situation(budget), "") else {
            continue;
        };
        plans += u32::from(tested.plan().is_some());
        let shown = tested.render();
        let stays = tested.plan().is_none() || shown.contains("\nkeep 12 step protected");
        assert!(stays, "{budget}: {shown}");
    }
    assert!(plans > 10, "{plans}");
}
