mod anchors;

mod turns;

mod limits;

mod example;

mod all_sorts;

use baler_strategy::testing::{Recording, ScriptedModel, TestRun};
use baler_strategy::{
    Conversation, Decision, Failure, Finish, ModelError, Piece, Purpose, Role, Situation, Strategy,
};
use baler_strategy_core::summary::testing::{self, with_answer};

use crate::{Anchored, Config};

const PLENTY: u32 = 100_000;

/// A question and its answer; the answer has so many tokens.
fn turn(recording: Recording, said: &str, tokens: u32) -> Recording {
    recording
        .user(said)
        .step(&format!("answer to {said}"), [])
        .tokens(tokens)
}

fn attempt(recording: &Recording, situation: &Situation, config: &str) -> Result<TestRun, Failure> {
    testing::attempt::<Anchored>(recording, situation, config)
}

#[track_caller]
fn anchored_in(recording: &Recording, situation: &Situation, config: &str) -> TestRun {
    attempt(recording, situation, config).unwrap_or_else(|failure| panic!("failed: {failure:?}"))
}

#[track_caller]
fn anchored(recording: &Recording, budget: u32, config: &str) -> TestRun {
    anchored_in(recording, &recording.situation(budget), config)
}

/// The prompt of the only request.
#[track_caller]
fn prompt(recording: &Recording) -> String {
    let asked = recording.asked();
    assert_eq!(asked.len(), 1);
    asked[0].prompt.clone()
}

const ONE: &str = r#"{"preserve-turns":1}"#;

/// A1, AP-S14, AP-S16, AP-S17, AP-11: the older user message, the summary in its tags under the
/// developer role, the preserved turn; the model sees the rest and a line that asks it.
#[test]
fn the_summary_stands_between_anchors_and_the_newest_turns() {
    let recording = Recording::new()
        .user("old request")
        .step("old answer", [])
        .tokens(1_000)
        .user("recent request")
        .step("recent answer", []);
    let recording = with_answer(recording, " summary text\n");
    let config = r#"{"preserve-turns":1,"max-retained-user-tokens":100,"role":"developer"}"#;
    let tested = anchored(&recording, PLENTY, config);
    assert_eq!(
        tested.render(),
        "keep 0 user\n\
         insert \"<context_summary>\\nsummary text\\n</context_summary>\"\n\
         drop 1 step\n\
         keep 2 user protected\n\
         keep 3 step\n"
    );
    assert_eq!(
        prompt(&recording),
        "Assistant: old answer\n\nSummarize the conversation."
    );
    let inserted = tested.plan().map_or(&[][..], |plan| &plan.pieces);
    let is_the_developers = inserted.iter().any(|piece| match piece {
        Piece::Insert(insertion) => {
            (insertion.role, insertion.purpose) == (Role::Developer, Purpose::Summary)
        }
        _ => false,
    });
    assert!(is_the_developers);
}

/// A2, AP-S18, AP-13, AP-N18, ALL-N3: what is no summary is a failure, and the history
/// stays.
#[test]
fn what_is_no_summary_is_a_failure() {
    let history = || turn(turn(Recording::new(), "old", 1_000), "new", 10);
    for script in [
        ScriptedModel::ending("I will not.", Finish::Refusal),
        ScriptedModel::ending("Half a sum", Finish::Length),
        ScriptedModel::answering(" \n"),
        ScriptedModel::answering("<context_summary>\n</context_summary>"),
        ScriptedModel::failing(ModelError::Refused("policy".to_owned())),
    ] {
        let recording = history().model(script);
        let failure = attempt(&recording, &recording.situation(PLENTY), ONE);
        assert!(matches!(failure, Err(Failure::Model(_))), "{failure:?}");
    }
}

/// A5, AP-1: at 950 of 1000 it is time, and no model is asked for that; the result of the
/// next turn has the anchors, the summary, the preserved turn and the new message.
#[test]
fn the_next_turn_finds_a_compacted_history() {
    let recording = turn(Recording::new(), "old one", 400);
    let recording = turn(recording, "old two", 400);
    let recording = turn(recording, "trigger compact", 100)
        .user("after compact")
        .live();
    let recording = with_answer(recording, "Two old matters.");
    let mut situation = recording.situation(900);
    situation.context_window = 1_000;
    situation.used = 950;
    let config = Config::default();
    let decision = Anchored::should_compact(&Conversation::new(&recording), &situation, &config);
    assert!(matches!(decision, Ok(Decision::Compact(_))));
    assert!(recording.asked().is_empty());
    assert_eq!(
        anchored_in(&recording, &situation, ONE).render(),
        "keep 0 user\n\
         drop 1 step\n\
         keep 2 user\n\
         insert \"<context_summary>\\nTwo old matters.\\n</context_summary>\"\n\
         drop 3 step\n\
         keep 4 user\n\
         keep 5 step\n\
         keep 6 user protected\n"
    );
}

/// A8, AH5, AP-S6, AP-10, AP-I4: what is live is neither summarised nor counted as a turn.
#[test]
fn live_messages_are_not_touched() {
    let recording = turn(Recording::new(), "old one", 1_000);
    let recording = turn(recording, "old two", 100)
        .user("live one")
        .live()
        .step("live two", [])
        .live();
    let recording = with_answer(recording, "One old matter.");
    let tested = anchored(&recording, PLENTY, ONE);
    assert_eq!(tested.kept(), [0, 2, 3, 4, 5]);
    assert!(!prompt(&recording).contains("live"));
}

/// A23, AH4, AP-S23, AP-I7, ALL-N1: an earlier summary reaches the model as one, and the
/// new one stands for it.
#[test]
fn an_earlier_summary_is_folded_in() {
    let recording = Recording::new()
        .user("x")
        .summary("<context_summary>\nsummary 1\n</context_summary>");
    let recording = turn(turn(recording, "y", 1_000), "z", 10);
    let recording = with_answer(recording, "summary 2");
    let tested = anchored(&recording, PLENTY, ONE);
    assert_eq!(tested.kept(), [0, 2, 4, 5]);
    assert!(prompt(&recording).contains(
        "<summary_so_far>\nEarlier summary: summary 1\n</summary_so_far>\n\nAssistant: "
    ));
}

/// ALL-N5, AP-S24: the result of a compaction is not compacted again, though its anchors are
/// user messages.
#[test]
fn compacting_the_result_again_changes_nothing() {
    let recording = Recording::new()
        .user("old one")
        .user("old two")
        .summary("Two old matters.");
    let recording = with_answer(turn(recording, "new", 100), "never asked");
    for config in [ONE, ""] {
        let tested = anchored(&recording, PLENTY, config);
        assert!(tested.unchanged().is_some(), "{}", tested.render());
    }
    assert!(recording.asked().is_empty());
}

/// AP-S15, AP-I8, AP-6: what the instruction asks for, or an own one as it is.
#[test]
fn the_instruction_asks_for_a_handover() {
    let told = |config: &str| {
        let recording = turn(turn(Recording::new(), "old", 20_000), "new", 10);
        let recording = with_answer(recording, "Old matters.");
        anchored(&recording, PLENTY, config);
        recording.asked().remove(0).instructions
    };
    let own = told(ONE);
    for words in [
        "explicit requests and intents, in detail",
        "context, limits and preferences",
        "clear next steps, and a quote of the latest message",
        "Data, examples and references",
        "short and structured",
    ] {
        assert!(own.contains(words), "{words}");
    }
    assert_eq!(
        told(r#"{"preserve-turns":1,"instructions":"Be {brief}."}"#),
        "Be {brief}."
    );
}

/// The strategy itself never inserts a placeholder.
#[test]
fn there_is_a_text_for_hosts_that_give_up() {
    assert_eq!(
        crate::PLACEHOLDER,
        "(Earlier conversation omitted due to length)"
    );
}

#[test]
fn no_output_speaks_for_the_user() {
    testing::no_output_speaks_for_the_user::<Anchored>(
        r#"{"preserve-turns":1,"max-retained-user-tokens":0}"#,
    );
}

#[test]
fn no_earlier_text_speaks_for_the_user() {
    testing::no_earlier_text_speaks_for_the_user::<Anchored>(
        r#"{"preserve-turns":1,"max-retained-user-tokens":0}"#,
    );
}
