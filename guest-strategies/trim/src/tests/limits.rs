use baler_strategy::testing::{Recording, call};
use baler_strategy::{Trigger, Value};

use super::{PLENTY, alternate, flag, reason, trimmed_in, value};

/// The request, and so many steps of 100 tokens after it: one long turn.
fn agent(steps: usize) -> Recording {
    (0..steps).fold(
        Recording::new().user("Fix it.").tokens(20),
        |recording, _| recording.step("", [call("read", "{}", "text")]).tokens(100),
    )
}

/// PT-N15, PT-I12, ALL-N7
#[test]
fn over_the_budget_less_than_the_recent_turns_may_stay() {
    let tested = trimmed_in(&agent(10), &agent(10).situation(330), "");
    assert_eq!(tested.kept(), [0, 8, 9, 10]);
    assert_eq!(reason(&tested), "host_pressure");
    assert!(flag(&tested, "triggered"));
    assert_eq!(tested.count("kept-recent-turns"), Some(1));
    // Whatever the trigger says.
    let config = r#"{"keep-recent-messages":8,"trigger":{"tokens":500}}"#;
    let tested = trimmed_in(&agent(10), &agent(10).situation(330), config);
    assert_eq!(tested.kept(), [0, 8, 9, 10]);
    assert_eq!(reason(&tested), "token_pressure");
}

/// PT-N12, ALL-N6
#[test]
fn with_little_room_the_newest_calls_come_before_newer_replies() {
    let recording = agent(3).step("A long reply.", []).tokens(100);
    let tested = trimmed_in(&recording, &recording.situation(150), "");
    assert_eq!(tested.kept(), [0, 3]);
}

#[test]
fn whatever_the_budget_is_the_result_fits() {
    let recording = agent(5)
        .user("And then?")
        .tokens(30)
        .summary("So far.")
        .user("Go on");
    let used = recording.situation(0).used;
    for config in ["", r#"{"keep-recent-messages":3}"#] {
        for budget in 0..used {
            let tested = trimmed_in(&recording, &recording.situation(budget), config);
            assert!(tested.plan().is_some(), "{budget}");
        }
    }
}

/// ALL-N1
#[test]
fn an_earlier_summary_stays_as_long_as_it_fits() {
    let recording = Recording::new()
        .user("Fix it.")
        .tokens(20)
        .summary("So far.")
        .tokens(50)
        .step("one", [])
        .tokens(100)
        .user("Go on")
        .tokens(20)
        .step("two", [])
        .tokens(100);
    let config = r#"{"keep-recent-turns":1}"#;
    let kept = |budget| trimmed_in(&recording, &recording.situation(budget), config).kept();
    assert_eq!(kept(200), [0, 1, 3, 4]);
    assert_eq!(kept(100), [0, 1, 3]);
    assert_eq!(kept(60), [0, 3]);
}

#[test]
fn what_is_protected_stays_and_costs() {
    let recording = Recording::new()
        .system("Be careful.")
        .tokens(50)
        .user("Fix it.")
        .step("kept", [])
        .tokens(100)
        .pin()
        .step("old", [])
        .tokens(100)
        .user("Go on")
        .step("new", [])
        .tokens(100);
    let tested = trimmed_in(
        &recording,
        &recording.situation(300),
        r#"{"keep-recent-turns":1}"#,
    );
    assert_eq!(
        tested.render(),
        "keep 0 instructions protected\n\
         keep 1 user\n\
         keep 2 step protected\n\
         drop 3 step\n\
         keep 4 user protected\n\
         keep 5 step\n"
    );
    assert_eq!(tested.count("messages-before"), Some(5));
}

#[test]
fn below_the_floor_only_what_is_protected_stays() {
    let tested = trimmed_in(&agent(5), &agent(5).situation(1), "");
    assert_eq!(tested.kept(), [0]);
    let alone = Recording::new().step("a step without a user", []);
    assert_eq!(
        trimmed_in(&alone, &alone.situation(1), "").unchanged(),
        Some("host_pressure, but nothing to remove")
    );
    let nothing = Recording::new();
    assert!(
        trimmed_in(&nothing, &nothing.situation(1), "")
            .unchanged()
            .is_some()
    );
}

#[test]
fn who_asks_for_a_smaller_conversation_gets_one() {
    let recording = alternate(12);
    let mut situation = recording.situation(PLENTY);
    situation.trigger = Trigger::Manual(None);
    let tested = trimmed_in(&recording, &situation, "");
    assert_eq!(tested.kept(), [0, 6, 7, 8, 9, 10, 11]);
    assert_eq!(
        value(&tested, "reason"),
        Value::Text("host_pressure".to_owned())
    );
}

#[test]
fn bytes_and_media_are_limits_too() {
    let recording = (0..4).fold(Recording::new().user("Look"), |recording, _| {
        recording.step("", [call("look", "{}", "").with_picture()])
    });
    let mut situation = recording.situation(PLENTY);
    situation.max_media = Some(2);
    assert_eq!(trimmed_in(&recording, &situation, "").kept(), [0, 3, 4]);
    situation.max_media = None;
    situation.max_bytes = Some(5000);
    assert_eq!(trimmed_in(&recording, &situation, "").kept(), [0, 4]);
}

#[test]
fn a_result_that_starts_with_the_model_leaves_room_for_a_note() {
    let recording = Recording::new()
        .step("", [call("a", "{}", "")])
        .tokens(100)
        .step("", [call("b", "{}", "")])
        .tokens(100)
        .user("newest")
        .tokens(50);
    let kept = |budget| {
        let mut situation = recording.situation(budget);
        situation.opening_note = 30;
        trimmed_in(&recording, &situation, "").kept()
    };
    assert_eq!(kept(180), [1, 2]);
    assert_eq!(kept(179), [2]);
}

#[test]
fn little_is_read() {
    let recording = agent(1000);
    assert!(trimmed_in(&recording, &recording.situation(5000), "").fits());
    assert!(recording.units_read() < 10, "{}", recording.units_read());
}

#[test]
fn a_host_that_gives_small_slices_changes_nothing() {
    let config = r#"{"token-counter":"quarter","trigger":{"tokens":1},"keep-recent-messages":4}"#;
    let render = |recording: Recording| {
        trimmed_in(&recording, &recording.situation(PLENTY), config).render()
    };
    assert_eq!(render(agent(9).slices_of(1)), render(agent(9)));
}

/// The host shortens them where it has to; a strategy neither edits nor removes them.
#[test]
fn unseen_outputs_stay_as_they_are() {
    let text = "text ".repeat(300);
    let recording = agent(8).step("", [call("read", "{}", &text)]).unseen(60);
    let mut plans = 0;
    for budget in (0..recording.situation(0).used).step_by(37) {
        let tested = trimmed_in(&recording, &recording.situation(budget), "");
        plans += u32::from(tested.plan().is_some());
        let shown = tested.render();
        let stays = tested.plan().is_none() || shown.contains("\nkeep 9 step protected");
        assert!(stays, "{budget}: {shown}");
    }
    assert!(plans > 10, "{plans}");
}

/// A request, ten steps of 100 tokens, one of 10,000, and its answer; then another request.
fn agent_with_a_log(log: baler_strategy::testing::Call) -> Recording {
    agent(10)
        .step("", [log])
        .step("Fixed.", [])
        .tokens(20)
        .user("And the tests?")
        .tokens(20)
}

#[test]
fn a_huge_output_is_shortened_and_older_units_stay() {
    let recording = agent_with_a_log(call("log", "{}", &"lock gate closed\n".repeat(2_400)));
    let tested = trimmed_in(&recording, &recording.situation(2_000), "");
    assert_eq!(tested.kept(), (0..14).collect::<Vec<_>>());
    let shown = tested.render();
    assert!(
        shown.contains("\nrewrite 11 step\n  1.0 lock gate closed\n"),
        "{shown}"
    );
    let after = tested.count("estimated-tokens-after");
    assert!(after.is_some_and(|after| after <= 2_000), "{after:?}");
}

#[test]
fn a_huge_output_that_must_not_be_shortened_goes_alone() {
    let log = call("log", "{}", &"lock gate closed\n".repeat(2_400)).fixed();
    let recording = agent_with_a_log(log);
    let tested = trimmed_in(&recording, &recording.situation(2_000), "");
    let kept: Vec<usize> = (0..14).filter(|unit| *unit != 11).collect();
    assert_eq!(tested.kept(), kept);
}

#[test]
fn newest_calls_with_a_huge_output_are_shortened() {
    let recording = agent(10).step("", [call("log", "{}", &"lock gate closed\n".repeat(2_400))]);
    let tested = trimmed_in(&recording, &recording.situation(2_000), "");
    assert_eq!(tested.kept(), (0..12).collect::<Vec<_>>());
}
