use baler_strategy::testing::{Recording, call, failed};
use baler_strategy::{Piece, Placement, Situation};

use super::{ALL, PLENTY, agent, coalesced, coalesced_in, inserted, text};

/// ALL-N7, PT-I12
#[test]
fn whatever_the_budget_is_the_result_fits_or_nothing_changes() {
    let recording = agent(30).tool("search", &"long ".repeat(100), "{}");
    let used = recording.situation(0).used;
    let mut rendered = 0;
    for budget in (0..used).step_by(97) {
        let tested = coalesced(&recording, budget, "");
        rendered += u32::from(tested.plan().is_some());
    }
    assert!(rendered > 300, "{rendered}");
}

/// ALL-N1, ALL-N7, ALL-N14
#[test]
fn all_kinds_of_units_fit_or_nothing_changes() {
    let recording = (0..6).fold(Recording::new().system("Be brief."), |recording, n| {
        recording
            .user(&"asked ".repeat(100))
            .summary(&format!("summary {n} {}", "so far ".repeat(200)))
            .step("", [failed("make", "{}", &"error ".repeat(300))])
            .step("", [call("println", "{}", &"line\n".repeat(200))])
            .step(&"reply ".repeat(100), [])
            .other(&"other ".repeat(50))
    });
    let recording = recording.tool("println", "", "{}").user("Go on");
    let used = recording.situation(0).used;
    let mut rendered = 0;
    for (budget, keep) in (0..used).step_by(61).zip((0..5).cycle()) {
        let config = format!(r#"{{"keep-recent-turns":{keep}}}"#);
        let tested = coalesced(&recording, budget, &config);
        rendered += u32::from(tested.plan().is_some());
    }
    assert!(rendered > 90, "{rendered}");
}

/// ALL-N1, PT-N5
#[test]
fn many_earlier_summaries_leave_the_newest() {
    let recording = (0..9).fold(Recording::new().user("Find X"), |recording, n| {
        recording.summary(&format!("Summary {n}.")).tokens(5000)
    });
    let tested = coalesced(
        &recording,
        1000,
        r#"{"keep-recent-turns":0,"entry-limit":2}"#,
    );
    assert!(
        text(&tested)
            .contains("\n\n;; Earlier summary:\nSummary 7.\n\n;; Earlier summary:\nSummary 8.\n\n")
    );
    assert_eq!(tested.count("entries-removed"), Some(7));
}

/// PT-I2
#[test]
fn fewer_turns_stay_where_there_is_no_room_for_more() {
    let kept = |budget| coalesced(&agent(5), budget, "").count("recent-turns-kept");
    assert_eq!(kept(4000), Some(3));
    assert_eq!(kept(3000), Some(2));
    assert_eq!(kept(1500), Some(1));
    assert_eq!(kept(500), Some(0));
}

/// PT-I2
#[test]
fn of_many_recent_turns_as_many_stay_as_fit() {
    let config = r#"{"keep-recent-turns":400}"#;
    let kept = |budget| coalesced(&agent(300), budget, config).count("recent-turns-kept");
    assert_eq!(kept(200_900), Some(200));
    assert_eq!(kept(50_900), Some(50));
    assert_eq!(kept(900), Some(0));
}

/// PT-N5
#[test]
fn a_text_that_does_not_fit_becomes_shorter() {
    let recording = agent(20);
    let long = coalesced(&recording, PLENTY, ALL);
    assert_eq!(long.count("shortened"), Some(0));
    assert_eq!(long.count("tool-calls-shown"), Some(20));
    let short = coalesced(&recording, u32::try_from(long.tokens()).unwrap() - 1, ALL);
    assert_eq!(short.count("shortened"), Some(1 + 1));
    assert_eq!(short.count("tool-calls-shown"), Some(10));
    assert_eq!(short.count("tool-calls-removed"), Some(10));
    assert!(
        text(&short).contains(";   search({:q 19})"),
        "the newest stay"
    );
}

#[test]
fn without_room_for_a_text_nothing_changes() {
    let tested = coalesced(&agent(5), 10, "");
    assert_eq!(
        tested.unchanged(),
        Some("the budget leaves too few tokens for the text")
    );
}

#[test]
fn a_text_that_is_no_shorter_is_not_written() {
    let recording = Recording::new()
        .user("Find X")
        .step("", [call("search", "{}", "")]);
    assert_eq!(
        coalesced(&recording, PLENTY, ALL).unchanged(),
        Some("the text would not be shorter than the units that it replaces")
    );
}

#[test]
fn a_task_that_does_not_fit_leaves_its_beginning() {
    let recording = Recording::new()
        .user("Find X")
        .tokens(9000)
        .step("", [call("search", "{}", "")])
        .tokens(1000)
        .user("Go on");
    let tested = coalesced(&recording, 2000, ALL);
    assert_eq!(tested.kept(), [2]);
    assert_eq!(inserted(&tested).placement, Placement::Alone);
    assert!(text(&tested).contains(";; The user also said:\n;   Find X\n"));
    // With room it stays, though nothing protects it.
    let tested = coalesced(&recording, 9500, ALL);
    assert_eq!(tested.kept(), [0, 2]);
    assert_eq!(inserted(&tested).placement, Placement::JoinBefore);
}

/// A signed compaction of the provider's has to stand first.
#[test]
fn nothing_is_put_in_front_of_a_providers_own_compaction() {
    let recording = Recording::new()
        .step("", [])
        .opaque("compaction")
        .pin()
        .user("Read this.")
        .attached("application/pdf", Some("tides.pdf"))
        .tokens(9000)
        .step("", [call("search", "{}", "")])
        .tokens(1000)
        .user("Go on");
    let tested = coalesced(&recording, 2000, ALL);
    assert_eq!(tested.kept(), [0, 3]);
    let pieces = tested.plan().map_or(&[][..], |plan| &plan.pieces);
    assert!(
        matches!(pieces, [Piece::Keep(first), Piece::Insert(_), ..] if first.count == 1),
        "{}",
        tested.render()
    );
}

#[test]
fn bytes_and_media_are_limits_too() {
    let recording = (0..5).fold(Recording::new().user("Look"), |recording, _| {
        recording
            .step("", [call("look", "{}", "").with_picture()])
            .tokens(1000)
    });
    let mut situation = recording.situation(PLENTY);
    situation.max_media = Some(2);
    let kept =
        |situation: &Situation| coalesced_in(&recording, situation, "").count("recent-turns-kept");
    assert_eq!(kept(&situation), Some(2));
    situation.max_media = None;
    situation.max_bytes = Some(5000);
    assert_eq!(kept(&situation), Some(1));
}

#[test]
fn a_result_that_starts_with_the_model_leaves_room_for_a_note() {
    let recording = Recording::new()
        .step("", [call("pinned", "{}", "")])
        .tokens(100)
        .pin()
        .user("Find X")
        .step("", [call("search", "{}", "")])
        .tokens(1000);
    let mut situation = recording.situation(PLENTY);
    let fitting = coalesced_in(&recording, &situation, ALL).tokens();
    situation.budget = u32::try_from(fitting).unwrap();
    assert!(coalesced_in(&recording, &situation, ALL).plan().is_some());
    situation.opening_note = 30;
    assert!(coalesced_in(&recording, &situation, ALL).plan().is_none());
}

#[test]
fn a_host_that_gives_small_slices_changes_nothing() {
    let whole = coalesced(&agent(9), PLENTY, "").render();
    assert_eq!(
        coalesced(&agent(9).slices_of(1), PLENTY, "").render(),
        whole
    );
}

#[test]
fn without_an_archive_there_are_no_references() {
    let tested = coalesced(&agent(5).without_archive(), PLENTY, "");
    assert!(text(&tested).ends_with(";; Results left out: 2"));
}

#[test]
fn only_the_newest_references_are_named() {
    let tested = coalesced(&agent(50), PLENTY, ALL);
    let text = text(&tested);
    let (_, references) = text.rsplit_once(": ").unwrap();
    assert_eq!(references.split(", ").count(), 10);
    assert!(references.ends_with("ref-51"), "{references}");
}

/// The host shortens them where it has to; a strategy neither edits nor removes them.
#[test]
fn unseen_outputs_stay_as_they_are() {
    let found = "found ".repeat(600);
    let recording = agent(8).step("", [call("search", "{}", &found)]).unseen(60);
    let mut plans = 0;
    for budget in (0..recording.situation(0).used).step_by(97) {
        let tested = coalesced(&recording, budget, ALL);
        plans += u32::from(tested.plan().is_some());
        let shown = tested.render();
        let stays = tested.plan().is_none() || shown.contains("\nkeep 10 step protected");
        assert!(stays, "{budget}: {shown}");
    }
    assert!(plans > 10, "{plans}");
}
