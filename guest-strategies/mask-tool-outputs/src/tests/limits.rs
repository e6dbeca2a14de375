use baler_strategy::testing::{Recording, call};

use super::{ALL, agent, letters, masked, masked_in, read};

#[test]
fn masking_stops_where_the_budget_is_met() {
    let recording = agent();
    let tested = masked(&recording, recording.situation(0).used - 500, "");
    assert_eq!(letters(&tested), "kkrrkkkk");
    assert!(tested.fits());
}

#[test]
fn within_the_budget_nothing_is_masked_nor_read() {
    let recording = agent();
    assert!(masked(&recording, 100_000, "").unchanged().is_some());
    assert_eq!(recording.units_read(), 0);
}

#[test]
fn where_masking_is_not_enough_the_oldest_units_go() {
    let tested = masked(&agent(), 1200, "");
    assert_eq!(letters(&tested), "kkddddkk");
    assert!(tested.fits());
    assert_eq!(tested.count("units-removed"), Some(4));
    assert_eq!(
        letters(&masked(&agent(), 1200, r#"{"then-drop":false}"#)),
        "kkrrrkkk"
    );
}

#[test]
fn below_the_floor_only_what_is_protected_stays() {
    let tested = masked(&agent(), 1, "");
    assert_eq!(tested.kept(), [0, 1]);
    assert!(tested.fits());
}

#[test]
fn summaries_are_removed_last() {
    let recording = Recording::new()
        .user("The task.")
        .tokens(20)
        .summary("So far.")
        .tokens(100)
        .step("", [])
        .tokens(100)
        .step("", [])
        .tokens(100);
    assert_eq!(masked(&recording, 130, "").kept(), [0, 1]);
    assert_eq!(masked(&recording, 30, "").kept(), [0]);
}

#[test]
fn reading_is_economical() {
    let recording = (0..1000).fold(Recording::new().user("Go."), |recording, n| {
        recording.step("", [read(&n.to_string())])
    });
    let budget = recording.situation(0).used - 1000;
    assert!(masked(&recording, budget, "").fits());
    // Two runs, each of which reads a slice from either end.
    assert!(
        recording.units_read() <= 2 * (8 + 64),
        "{}",
        recording.units_read()
    );
}

#[test]
fn a_host_that_gives_small_slices_changes_nothing() {
    let whole = masked(&agent(), 0, ALL).render();
    assert_eq!(masked(&agent().slices_of(1), 0, ALL).render(), whole);
}

#[test]
fn too_many_media_cost_only_the_units_that_hold_them() {
    let recording = Recording::new()
        .user("Look.")
        .step("no picture", [])
        .step("", [call("look", "{}", "").with_picture()])
        .step("", [call("look", "{}", "").with_picture()]);
    let mut situation = recording.situation(100_000);
    situation.max_media = Some(1);
    assert_eq!(masked_in(&recording, &situation, "").kept(), [0, 1, 3]);
}

#[test]
fn everything_protected_changes_nothing() {
    let recording = Recording::new().system("Be brief.").user("Hello.");
    assert!(masked(&recording, 1, "").unchanged().is_some());
    assert!(masked(&Recording::new(), 1, "").unchanged().is_some());
    assert!(
        masked(&Recording::new().step("alone", []), 1, "")
            .unchanged()
            .is_some()
    );
}

/// The host shortens them where it has to; a strategy neither edits nor removes them.
#[test]
fn unseen_outputs_stay_as_they_are() {
    let recording = agent().step("", [read("g")]).unseen(60);
    let mut plans = 0;
    for budget in (0..recording.situation(0).used).step_by(97) {
        let tested = masked(&recording, budget, r#"{"keep":0}"#);
        plans += u32::from(tested.plan().is_some());
        let shown = tested.render();
        let stays = tested.plan().is_none() || shown.contains("\nkeep 8 step protected");
        assert!(stays, "{budget}: {shown}");
    }
    assert!(plans > 10, "{plans}");
}

/// The task, ten small steps, and a step that printed 10,000 tokens before the model answered.
fn small_steps_and_a_log(log: baler_strategy::testing::Call) -> Recording {
    let task = Recording::new().user("Pay the bills.");
    (0..10)
        .fold(task, |recording, n| {
            let paid = call("pay", &n.to_string(), "paid");
            recording.step("", [paid]).tokens(100)
        })
        .step("", [log])
        .step("All are paid.", [])
        .user("Which ones?")
}

#[test]
fn a_huge_output_is_shortened_before_older_units_go() {
    let log = call("log", "{}", &"ворота закрыты\n".repeat(1_500));
    let tested = masked(&small_steps_and_a_log(log), 2_000, "");
    assert_eq!(letters(&tested), "kkkkkkkkkkkrkk");
    assert!(tested.fits());
    // What the others leave of the budget is for the excerpt.
    assert!(tested.tokens() > 1_700, "{}", tested.tokens());
    assert_eq!(tested.count("outputs-masked"), Some(0));
}

#[test]
fn a_huge_output_that_must_not_be_shortened_goes_alone() {
    let log = call("log", "{}", &"ворота закрыты\n".repeat(1_500)).fixed();
    let tested = masked(&small_steps_and_a_log(log), 2_000, "");
    assert_eq!(letters(&tested), "kkkkkkkkkkkdkk");
    assert!(tested.fits());
}
