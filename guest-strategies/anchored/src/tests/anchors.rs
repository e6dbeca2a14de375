//! Older user messages that stay.

use super::*;

/// One turn of 1000 tokens after these messages, and the newest turn.
fn after(messages: &[&str]) -> Recording {
    let recording = messages
        .iter()
        .fold(Recording::new(), |recording, text| recording.user(text))
        .step("work", [])
        .tokens(1_000);
    with_answer(turn(recording, "next", 10), "Work.")
}

fn retaining(tokens: u32) -> String {
    format!(r#"{{"preserve-turns":1,"max-retained-user-tokens":{tokens}}}"#)
}

/// A10, AP-S12: from the newest backwards, and no partial message.
#[test]
fn no_message_is_kept_in_part() {
    let recording = Recording::new()
        .user("old message")
        .step("work", [])
        .tokens(1_000)
        .user("new message");
    let recording = with_answer(recording, "Work.");
    let config = r#"{"preserve-turns":0,"max-retained-user-tokens":3}"#;
    assert_eq!(anchored(&recording, PLENTY, config).kept(), [2]);
    let recording = after(&["abcdefghij"]);
    assert_eq!(anchored(&recording, PLENTY, &retaining(1)).kept(), [2, 3]);
    assert!(prompt(&recording).starts_with("User: abcdefghij\n\nAssistant: work\n\n"));
}

/// A11: a message that stays is not in the transcript, another with the same words is.
#[test]
fn a_message_that_stays_is_not_summarised() {
    let recording = after(&["Please refactor auth", "Please refactor auth"]);
    let tested = anchored(&recording, PLENTY, &retaining(5));
    assert_eq!(tested.kept(), [1, 3, 4]);
    assert_eq!(
        prompt(&recording).matches("Please refactor auth").count(),
        1
    );
}

/// A17, AP-S12: the walk stops at the first that does not fit, and skips none.
#[test]
fn the_walk_stops_at_the_first_that_does_not_fit() {
    let [short, long, newest] = [40, 400, 20].map(|length| "x".repeat(length));
    let recording = after(&[&short, &long, &newest]);
    assert_eq!(
        anchored(&recording, PLENTY, &retaining(20)).kept(),
        [2, 4, 5]
    );
}

/// A18, AP-S12: what costs just what is left stays.
#[test]
fn the_last_token_counts() {
    let recording = after(&["new message"]);
    assert_eq!(
        anchored(&recording, PLENTY, &retaining(3)).kept(),
        [0, 2, 3]
    );
    assert_eq!(anchored(&recording, PLENTY, &retaining(2)).kept(), [2, 3]);
}

/// AP-S11, AP-S13, AP-I3, AP-3: they stay in their order, and blank ones are no anchors.
#[test]
fn anchors_stay_in_order() {
    let recording = after(&["first", " ", "second"]);
    let tested = anchored(&recording, PLENTY, ONE);
    assert_eq!(tested.kept(), [0, 2, 4, 5]);
}

/// A program speaks in the user's role, too.
#[test]
fn what_a_program_wrote_is_no_anchor() {
    let printed = "<bash-stdout>Push to prod.</bash-stdout>";
    let recording = after(&["first", printed, &format!("{printed}\nWhy?")]);
    let tested = anchored(&recording, PLENTY, ONE);
    assert_eq!(tested.kept(), [0, 2, 4, 5]);
    let shown = "Program: <bash-stdout>Push to prod.</bash-stdout>\n\nAssistant: work\n\n";
    assert!(prompt(&recording).starts_with(shown));
}

/// AP-N7: an anchor is the message itself, with its pictures, which count as well.
#[test]
fn an_anchor_keeps_its_pictures() {
    let recording = Recording::new()
        .user("Look at this.")
        .attached("image/png", None)
        .step("A cat.", [])
        .tokens(1_000);
    let recording = with_answer(turn(recording, "next", 10), "A cat was seen.");
    let tested = anchored(&recording, PLENTY, ONE);
    assert_eq!(tested.kept(), [0, 2, 3]);
    // 300 tokens of the picture and 4 of the text.
    assert_eq!(anchored(&recording, PLENTY, &retaining(303)).kept(), [2, 3]);
    assert!(prompt(&recording).starts_with("User: Look at this.\n[image]\n\n"));
}

/// AP-N6: anchors have a quarter of the request at most, whatever the config says.
#[test]
fn anchors_are_bounded_by_the_window() {
    let texts: Vec<String> = (0..10).map(|n| n.to_string().repeat(400)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let recording = after(&texts);
    // A quarter of 2000 tokens holds five messages of 100 tokens.
    let tested = anchored(&recording, 2_000, ONE);
    assert_eq!(tested.kept(), [5, 6, 7, 8, 9, 11, 12]);
}

/// AP-N1, ALL-N2: where every older unit is an anchor, the model is not asked.
#[test]
fn anchors_alone_are_not_summarised() {
    let recording = Recording::new().user("one").user("two");
    let recording = with_answer(turn(recording, "next", 10), "never asked");
    let tested = anchored(&recording, PLENTY, ONE);
    assert_eq!(
        tested.unchanged(),
        Some("there is nothing to summarise except units that are kept")
    );
    assert!(recording.asked().is_empty());
}
