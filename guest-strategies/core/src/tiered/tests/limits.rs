use baler_strategy::testing::{Recording, call};

use super::{ledger, listing, read, reduced, reduced_in, used};

#[test]
fn every_budget_is_kept() {
    let recording = ledger();
    let floor = recording.situation(0).floor;
    // `reduced` checks that the plan is legal and fits.
    let plans = (floor..used(&recording))
        .step_by(37)
        .filter(|budget| reduced(&recording, *budget).plan().is_some())
        .count();
    assert!(plans > 10, "{plans}");
}

#[test]
fn below_the_floor_only_what_is_protected_stays() {
    let tested = reduced(&ledger(), 1);
    assert_eq!(tested.kept(), [0, 9]);
    // There is no digest that could stand for the rest.
    let plan = tested.plan().expect("a plan");
    let codes: Vec<&str> = plan.reasons.iter().map(|reason| &*reason.code).collect();
    assert_eq!(codes, ["removed"]);
}

#[test]
fn a_unit_that_is_too_large_alone_is_cut_to_what_there_is_room_for() {
    let recording = Recording::new()
        .user("Look.")
        .step("", [read("src/a.rs", "carry_over")]);
    let tested = reduced(&recording, used(&recording) - 250);
    let shown = tested.render();
    assert_eq!(tested.count("outputs-cut"), Some(1), "{shown}");
}

/// The answer says what the outputs before it say, and the text has the names in it.
#[test]
fn an_answer_that_does_not_fit_ends_the_window_if_the_text_needs_the_room() {
    let ferry = |number: usize| {
        format!(
            "{number}. **Ferry {number}**\n   - Code: FB{number}71\n   - It leaves at {number} in the morning and is there at noon\n"
        )
    };
    let ferries: String = (1..=9).map(ferry).collect();
    let recording = Recording::new()
        .user("I want to go to Oslo.")
        .step(
            "",
            [call(
                "find_ferries",
                r#"{"to":"Oslo"}"#,
                &listing("ferry_list"),
            )],
        )
        .step(
            &format!("These ferries go to Oslo:\n\n{ferries}\nWhich one shall I book?"),
            [],
        )
        .user("Number 7, please.");
    let tested = reduced(&recording, 220);
    let shown = tested.render();
    assert_eq!(tested.kept(), [0, 3], "{shown}");
    assert!(shown.contains("FB771"), "{shown}");
    assert!(shown.contains("called find_ferries"), "{shown}");
    let recording = (0..20).fold(Recording::new().user("Look."), |recording, step| {
        recording.step(&format!("Step {step}."), [call("sound", "{}", "9 m")])
    });
    let recording = recording
        .step(&ferries.repeat(9), [])
        .user("Number 7, please.");
    let kept = reduced(&recording, 900).kept().len();
    assert!(kept > 10, "{kept} are kept");
}

#[test]
fn too_many_media_cost_only_units_that_hold_them() {
    let recording = Recording::new()
        .user("Look.")
        .step("no picture", [])
        .step("", [call("look", "{}", "").with_picture()])
        .step("", [call("look", "{}", "").with_picture()]);
    let mut situation = recording.situation(100_000);
    situation.max_media = Some(1);
    let tested = reduced_in(&recording, &situation, "");
    assert!(
        tested.kept().contains(&1) && tested.kept().contains(&3),
        "{}",
        tested.render()
    );
    assert!(!tested.kept().contains(&2));
}

#[test]
fn odd_conversations_come_back_as_they_are() {
    for recording in [
        Recording::new(),
        Recording::new().system("Be brief.").user("Hello."),
        Recording::new().step("alone", []),
    ] {
        assert!(reduced(&recording, 1).unchanged().is_some());
    }
}

#[test]
fn a_config_with_a_typo_is_refused() {
    let recording = ledger();
    let failure = baler_strategy::testing::run::<crate::tiered::Tiered>(
        &recording,
        &recording.situation(900),
        r#"{"recnt": 2}"#,
    );
    assert!(format!("{failure:?}").contains("recnt"));
}

/// The host shortens them where it has to; a strategy neither edits nor removes them.
#[test]
fn unseen_outputs_stay_as_they_are() {
    let recording = ledger()
        .step("", [read("src/new.rs", "new_book")])
        .unseen(60);
    let whole = recording.situation(0);
    let mut plans = 0;
    for budget in (whole.floor..whole.used).step_by(61) {
        let tested = reduced(&recording, budget);
        plans += u32::from(tested.plan().is_some());
        let shown = tested.render();
        let stays = tested.plan().is_none() || shown.contains("\nkeep 10 step protected");
        assert!(stays, "{budget}: {shown}");
    }
    assert!(plans > 10, "{plans}");
}
