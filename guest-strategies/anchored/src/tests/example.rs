//! The example in the README of the strategies.

use super::*;

const README: &str = include_str!("../../../README.md");

/// ALL-N16: documents and code agree.
#[test]
fn the_example_is_what_happens() {
    let recording = testing::example();
    let tested = anchored(&recording, 1_000, r#"{"preserve-turns":1}"#);
    assert!(README.contains(r#"`{"preserve-turns":1}`"#));
    let shown = tested.render();
    assert!(README.contains(&shown), "{shown}");
    let prompt = &recording.asked()[0].prompt;
    let (so_far, rest) = prompt.split_once("</summary_so_far>").expect("it is there");
    assert!(
        README.contains(so_far) && README.contains(rest.trim()),
        "{prompt}"
    );
}
