//! The example in the README of the strategies.

use super::*;

const README: &str = include_str!("../../../../README.md");

/// ALL-N16: documents and code agree.
#[test]
fn the_example_is_what_happens() {
    let recording = testing::example();
    let tested = summarized(&recording, 1_000, r#"{"keep-last-messages":1}"#);
    assert!(README.contains(r#"`{"keep-last-messages":1}`"#));
    let shown = tested.render();
    assert!(README.contains(&shown), "{shown}");
    let prompt = &recording.asked()[0].prompt;
    assert!(README.contains(prompt.as_str()), "{prompt}");
}
