use baler_strategy::testing::{Recording, call, run};

use super::{PLENTY, agent, window};
use crate::SlidingWindow;

#[test]
fn by_default_the_window_fills_the_budget() {
    let tested = window(&agent(), 380, "");
    assert_eq!(tested.kept(), [0, 1, 4, 5, 6]);
    assert_eq!(tested.tokens(), 380);
    assert_eq!(window(&agent(), 379, "{}").kept(), [0, 1, 5, 6]);
}

#[test]
fn the_budget_bounds_whatever_the_config_says() {
    for config in [
        r#"{"keep":{"units":5}}"#,
        r#"{"keep":{"messages":99}}"#,
        r#"{"keep":{"tokens":9999}}"#,
    ] {
        assert_eq!(
            window(&agent(), 300, config).kept(),
            [0, 1, 5, 6],
            "{config}"
        );
    }
}

#[test]
fn bytes_and_media_bound_it_too() {
    let recording = Recording::new()
        .step("", [call("look", "{}", "").with_picture()])
        .step("", [call("look", "{}", "").with_picture()])
        .user("And now?");
    let mut situation = recording.situation(PLENTY);
    situation.max_media = Some(1);
    let tested = run::<SlidingWindow>(&recording, &situation, "").map(|tested| tested.kept());
    assert_eq!(tested, Ok(vec![1, 2]));
    situation.max_media = None;
    situation.max_bytes = Some(5000);
    let tested = run::<SlidingWindow>(&recording, &situation, "").map(|tested| tested.kept());
    assert_eq!(tested, Ok(vec![1, 2]));
}

#[test]
fn an_earlier_summary_outlives_the_window() {
    let recording = Recording::new()
        .user("The task.")
        .tokens(20)
        .summary("What happened so far.")
        .tokens(100)
        .step("", [])
        .tokens(100)
        .step("", [])
        .tokens(100);
    assert_eq!(window(&recording, 220, "").kept(), [0, 1, 3]);
    assert_eq!(
        window(&recording, 300, r#"{"keep":{"units":1}}"#).kept(),
        [0, 1, 3]
    );
    // It has to go only where it does not fit.
    assert_eq!(window(&recording, 119, "").kept(), [0]);
}

#[test]
fn below_the_floor_only_what_is_protected_stays() {
    assert_eq!(window(&agent(), 10, "").kept(), [0, 1]);
}

#[test]
fn everything_protected_changes_nothing() {
    let recording = Recording::new().system("Be brief.").user("Hello.");
    assert!(window(&recording, 1, "").unchanged().is_some());
    assert!(window(&Recording::new(), 1, "").unchanged().is_some());
}

#[test]
fn a_single_unit_that_cannot_fit_is_not_removed() {
    let recording = Recording::new()
        .step("A step without a user.", [])
        .tokens(100);
    assert_eq!(
        window(&recording, 50, "").unchanged(),
        Some("the newest unit does not fit the budget")
    );
    assert!(window(&recording, 200, "").unchanged().is_some());
}

#[test]
fn a_window_that_starts_with_the_model_leaves_room_for_a_note() {
    let recording = Recording::new()
        .step("", [])
        .tokens(100)
        .step("", [])
        .tokens(100)
        .user("newest")
        .tokens(50);
    let kept = |budget| {
        let mut situation = recording.situation(budget);
        situation.opening_note = 30;
        run::<SlidingWindow>(&recording, &situation, "")
            .unwrap_or_else(|failure| panic!("failed: {failure:?}"))
            .kept()
    };
    assert_eq!(kept(180), [1, 2]);
    assert_eq!(kept(179), [2]);
}

/// The host shortens them where it has to; a strategy neither edits nor removes them.
#[test]
fn unseen_outputs_stay_as_they_are() {
    let recording = agent().step("", [call("ls", "{}", &"z ".repeat(600))]);
    let recording = recording.unseen(60);
    let mut plans = 0;
    for budget in (0..recording.situation(0).used).step_by(23) {
        let tested = window(&recording, budget, "");
        plans += u32::from(tested.plan().is_some());
        let shown = tested.render();
        let stays = tested.plan().is_none() || shown.contains("\nkeep 7 step protected");
        assert!(stays, "{budget}: {shown}");
    }
    assert!(plans > 10, "{plans}");
}
