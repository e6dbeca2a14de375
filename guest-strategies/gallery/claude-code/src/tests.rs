use baler_gallery_ask::testing::{asked, holds, turns};
use baler_strategy::testing::{Recording, ScriptedModel};
use baler_strategy::{Conversation, Decision, Situation, Strategy, Trigger};

use crate::{ClaudeCode as Own, Config};

#[test]
fn everything_that_is_not_protected_is_replaced() {
    let recording = turns(3, "They looked at main.").user("and now?");
    let situation = Situation {
        trigger: Trigger::Manual(Some("keep the API".to_owned())),
        ..recording.situation(100_000)
    };
    let (tested, asked_) = asked::<Own>(&recording, &situation, "");
    assert_eq!(tested.kept(), [9]);
    assert!(
        tested
            .render()
            .contains("before:\\n\\nThey looked at main.\"\ndrop 0 user")
    );
    let told = &asked_[0].instructions;
    for heading in [
        "1. Primary Request and Intent:",
        "2. Key Technical Concepts:",
        "3. Files and Code Sections:",
        "4. Errors and fixes:",
        "5. Problem Solving:",
        "6. All user messages:",
        "7. Pending Tasks:",
        "8. Current Work:",
        "9. Optional Next Step:",
    ] {
        assert!(told.contains(&format!("\n{heading}\n")), "{told}");
    }
    assert!(
        told.contains("asks for this in particular: keep the API"),
        "{told}"
    );
    assert!(
        asked_[0]
            .prompt
            .ends_with("\n\nSummarize the conversation above, under the nine headings.")
    );
}

#[test]
fn an_earlier_summary_is_folded_in_without_its_header() {
    let earlier = "This session goes on from a conversation that became too long. What was said and done before:\n\nThe parser is done.";
    let recording = Recording::new()
        .summary(earlier)
        .step("more", [])
        .tokens(3_000)
        .user("and now?");
    let recording = recording.model(ScriptedModel::answering("The parser is done, and more."));
    let (tested, asked_) = asked::<Own>(&recording, &recording.situation(1_000), "");
    assert_eq!(tested.kept(), [2]);
    assert!(
        asked_[0]
            .prompt
            .contains("Earlier summary: The parser is done.\n")
    );
}

#[test]
fn it_is_time_when_the_reserve_is_reached() {
    let recording = turns(2, "");
    let decide = |context_window| {
        let situation = Situation {
            context_window,
            ..recording.situation(9)
        };
        Own::should_compact(
            &Conversation::new(&recording),
            &situation,
            &Config::default(),
        )
    };
    assert!(matches!(decide(34_000), Ok(Decision::Compact(_))));
    assert!(matches!(decide(34_001), Ok(Decision::Wait(_))));
    assert!(matches!(decide(0), Ok(Decision::HostDecides)));
}

#[test]
fn what_holds_for_all() {
    holds::<Own>("");
}
