//! Within the budget, and within what may be asked.

use baler_strategy::testing::pending;

use super::*;

/// A question, and another to shorten the answer.
const QUESTIONS: usize = 2;

#[test]
fn every_budget_is_kept() {
    let long = testing::account("Nothing particular mended.", 400);
    for story in [STORY, &long] {
        let recording = with_answer(ledger(), story);
        let situation = recording.situation(0);
        let mut written = 0;
        // `reduced` checks that the plan is legal and fits.
        for budget in (situation.floor..situation.used).step_by(97) {
            let tested = reduced(&recording, budget);
            assert!(recording.asked().len() <= QUESTIONS);
            written += u32::from(told(&tested) == "written");
        }
        assert!(written > 20, "{written}");
    }
}

#[test]
fn an_answer_that_is_too_long_is_shortened_or_cut_at_a_sentence() {
    let long = testing::account("Nothing particular mended.", 400);
    let recording = ledger().model(ScriptedModel::answering(&long).then(STORY));
    let tested = reduced(&recording, 1_500);
    assert!(text(&tested).starts_with(STORY));
    assert_eq!(tested.count("model-calls"), Some(2));
    let recording = with_answer(ledger(), &long);
    let tested = reduced(&recording, 1_500);
    let text = text(&tested);
    assert!(text.contains("mended. …\n\n## "), "{text}");
    assert!(text.contains(RULE) && text.contains(ERROR), "{text}");
}

#[test]
fn pins_and_pending_calls_stay() {
    let recording = Recording::new().user("Begin.").step("Keep this.", []).pin();
    let recording = (0..20).fold(recording, |recording, part| {
        recording.step("", [read(&format!("src/part_{part}.rs"))])
    });
    let recording = recording.step("", [pending("shell", r#"{"command":"git commit"}"#)]);
    let recording = with_answer(recording, STORY);
    let tested = reduced(&recording, 1_000);
    let kept = tested.kept();
    assert!(
        kept.contains(&1) && kept.contains(&22),
        "{}",
        tested.render()
    );
    assert!(!recording.asked()[0].prompt.contains("Keep this."));
}

#[test]
fn the_result_is_not_told_again() {
    let recording = with_answer(
        Recording::new().summary(STORY).user("Go on."),
        "never asked",
    );
    assert!(reduced(&recording, 10_000).unchanged().is_some());
    assert!(recording.asked().is_empty());
}

#[test]
fn whatever_comes_the_result_fits_or_there_is_a_reason() {
    testing::fits_or_gives_a_reason::<TieredModel>([
        "",
        r#"{"recent":0,"min-tokens":9}"#,
        r#"{"max-output-tokens":64}"#,
        r#"{"recent":10,"min-tokens":0}"#,
    ]);
}

#[test]
fn limits_of_bytes_and_media_bound_it_too() {
    let recording = with_answer(
        ledger(),
        &testing::account("Nothing particular mended.", 200),
    );
    let units = baler_strategy::Source::units(&recording);
    let mut written = 0;
    for limit in (4_000..30_000).step_by(1_000) {
        let mut situation = recording.situation(100_000);
        situation.max_bytes = Some(limit);
        let tested = testing::attempt::<TieredModel>(&recording, &situation, "").expect("a plan");
        let kept: u32 = tested.kept().iter().map(|unit| units[*unit].bytes).sum();
        let added = if told(&tested) == "written" {
            written += 1;
            u32::try_from(text(&tested).len()).expect("small")
        } else {
            0
        };
        assert!(kept + added <= limit, "{limit}");
    }
    assert!(written > 5, "{written}");
}

/// The host shortens them where it has to; a strategy neither edits nor removes them.
#[test]
fn unseen_outputs_stay_as_they_are() {
    let recording = ledger().step("", [read("src/new.rs")]).unseen(60);
    let recording = with_answer(recording, STORY);
    let whole = recording.situation(0);
    let mut plans = 0;
    for budget in (whole.floor..whole.used).step_by(97) {
        let tested = reduced(&recording, budget);
        plans += u32::from(tested.plan().is_some());
        let shown = tested.render();
        assert!(
            tested.plan().is_none() || shown.contains("\nkeep 25 step protected"),
            "{budget}: {shown}"
        );
    }
    assert!(plans > 10, "{plans}");
}
