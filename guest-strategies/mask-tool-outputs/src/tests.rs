mod config;
mod limits;

use baler_strategy::Situation;
use baler_strategy::testing::{Recording, TestRun, call, failed, pending, run};

use crate::MaskToolOutputs;

/// About 500 tokens in 20 lines.
fn long(word: &str) -> String {
    (0..20).map(|n| format!("{word} {n:0>90}\n")).collect()
}

fn read(name: &str) -> baler_strategy::testing::Call {
    call("read_file", "{}", &long(name))
}

/// The task and six steps with an output of about 500 tokens each.
fn agent() -> Recording {
    let task = Recording::new().system("Be careful.").user("Fix it.");
    ["a", "b", "c", "d", "e", "f"]
        .into_iter()
        .fold(task, |recording, name| recording.step("", [read(name)]))
}

/// What stands for an output that was replaced before.
const PLACEHOLDER: &str = "[output of ls left out: 465 tokens, 20 lines, first line: \"a \
    000000000000000000000000000000000000000000000000000000000000000000000000000000…\"; \
    have it back by reference 1f0a6f6ec4a5e1c9d2b3]";

#[track_caller]
fn masked_in(recording: &Recording, situation: &Situation, config: &str) -> TestRun {
    run::<MaskToolOutputs>(recording, situation, config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"))
}

#[track_caller]
fn masked(recording: &Recording, budget: u32, config: &str) -> TestRun {
    masked_in(recording, &recording.situation(budget), config)
}

/// What became of each unit, one letter each.
fn letters(tested: &TestRun) -> String {
    tested
        .render()
        .lines()
        // Further lines of a text may begin with anything else.
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
        .map(|line| &line[..1])
        .collect()
}

const ALL: &str = r#"{"stop-at-budget":false,"then-drop":false}"#;

#[test]
fn all_but_the_newest_outputs_are_replaced() {
    let tested = masked(&agent(), 0, ALL);
    assert_eq!(
        tested.render().lines().take(5).collect::<Vec<_>>(),
        [
            "keep 0 instructions protected",
            "keep 1 user protected",
            "rewrite 2 step",
            "  1.0 [output of read_file left out: 465 tokens, 20 lines, first line: \"a \
             000000000000000000000000000000000000000000000000000000000000000000000000000000…\"; \
             have it back by reference ref-2]",
            "rewrite 3 step",
        ]
    );
    assert_eq!(letters(&tested), "kkrrrkkk");
    assert_eq!(tested.count("outputs-masked"), Some(3));
    let saved = u64::from(tested.count("tokens-saved").unwrap_or_default());
    assert_eq!(
        tested.tokens() + saved,
        u64::from(agent().situation(0).used)
    );
}

#[test]
fn parallel_outputs_count_one_by_one() {
    let recording = Recording::new()
        .user("Look.")
        .step("", [read("a"), read("b"), read("c")])
        .step("", [read("d")]);
    let tested = masked(
        &recording,
        0,
        r#"{"keep":2,"stop-at-budget":false,"then-drop":false}"#,
    );
    let rendered = tested.render();
    assert!(
        rendered.contains("  1.0 [") && rendered.contains("  2.0 ["),
        "{rendered}"
    );
    assert!(!rendered.contains("  3.0 ["), "{rendered}");
    assert_eq!(letters(&tested), "krk");
}

#[test]
fn keeping_no_output_masks_them_all() {
    let tested = masked(
        &agent(),
        0,
        r#"{"keep":0,"stop-at-budget":false,"then-drop":false}"#,
    );
    assert_eq!(letters(&tested), "kkrrrrrr");
    assert!(
        masked(
            &agent(),
            0,
            r#"{"keep":6,"stop-at-budget":false,"then-drop":false}"#
        )
        .unchanged()
        .is_some()
    );
}

#[test]
fn pinned_pending_and_live_units_stay_as_they_are() {
    let recording = Recording::new()
        .user("Look.")
        .step("", [read("a")])
        .pin()
        .step("", [read("b")])
        .step("", [read("c")])
        .live()
        .step("", [read("d"), pending("wait", "{}")]);
    let config = r#"{"keep":0,"stop-at-budget":false,"then-drop":false}"#;
    assert_eq!(letters(&masked(&recording, 0, config)), "kkrkk");
}

#[test]
fn a_failed_output_keeps_its_error() {
    let text = long("trying") + "error: the disk is full\nsee above\n";
    let recording = Recording::new()
        .user("Go.")
        .step("", [failed("cargo", "", &text)]);
    let tested = masked(&recording, 0, r#"{"keep":0,"then-drop":false}"#);
    assert!(
        tested
            .render()
            .contains("it failed: \"error: the disk is full\"")
    );
}

#[test]
fn what_must_not_or_need_not_change_stays() {
    let recording = Recording::new()
        .user("Look.")
        .step("", [call("ls", "{}", PLACEHOLDER).rewritten()])
        .step("", [read("b").fixed()])
        .step("", [read("c").with_picture()])
        .step("", [call("ls", "{}", "short")])
        .tokens(900)
        .step("", [call("mcp__notes__get", "{}", &long("e"))])
        .step("", [call("retrieve", "{}", &long("f"))])
        .step("", [read("g")]);
    let config = r#"{"keep":0,"exclude":["retrieve","mcp__notes__*"],"stop-at-budget":false,"then-drop":false}"#;
    assert_eq!(letters(&masked(&recording, 0, config)), "kkkkkkkr");
}

#[test]
fn an_output_that_a_placeholder_would_not_shorten_stays() {
    // 75 tokens: no placeholder and its mark of 40 tokens are that short.
    let recording = Recording::new()
        .user("Go.")
        .step("", [call("ls", "{}", &"x".repeat(300))]);
    let config = r#"{"keep":0,"min-tokens":0,"then-drop":false}"#;
    let mut situation = recording.situation(0);
    assert!(
        masked_in(
            &recording,
            &situation,
            &config.replace("0,\"then", "60,\"then")
        )
        .plan()
        .is_some()
    );
    situation.insertion_overhead = 60;
    assert!(
        masked_in(&recording, &situation, config)
            .unchanged()
            .is_some()
    );
}

#[test]
fn text_of_any_script_is_cut_on_a_character() {
    let text = "長い出力です。".repeat(200);
    let recording = Recording::new()
        .user("見て。")
        .step("", [call("読む", "{}", &text)])
        .without_archive();
    let tested = masked(&recording, 0, r#"{"keep":0,"then-drop":false}"#);
    let rendered = tested.render();
    assert!(
        rendered.contains("[output of 読む left out: 1050 tokens, 1 line, first line: \"長い"),
        "{rendered}"
    );
    assert!(rendered.ends_with("…\"]\n"), "{rendered}");
}

#[test]
fn compacting_the_result_again_changes_nothing() {
    let recording = Recording::new()
        .user("Look.")
        .step("", [call("ls", "{}", PLACEHOLDER).rewritten()])
        .step("", [read("b")]);
    let config = r#"{"keep":1,"min-tokens":0,"then-drop":false}"#;
    // Even where marks cost nothing.
    let mut situation = recording.situation(0);
    situation.insertion_overhead = 0;
    let tested = masked_in(&recording, &situation, config);
    assert!(tested.unchanged().is_some());
}

#[test]
fn a_long_rewritten_output_is_replaced_like_any_other() {
    let recording = Recording::new()
        .user("Look.")
        .step("", [read("a").rewritten()])
        .step("", [read("b")]);
    let config = r#"{"keep":0,"stop-at-budget":false,"then-drop":false}"#;
    assert_eq!(letters(&masked(&recording, 0, config)), "krr");
}
