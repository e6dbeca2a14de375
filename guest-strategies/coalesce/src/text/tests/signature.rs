use super::{assert_shows, text};

/// SG1, PT-S3, PT-S4, PT-8
#[test]
fn the_whole_text() {
    assert_eq!(
        text(
            r#"{"tools":[{"name":"search","signature":"(q :string) -> :string"}],
                "data":{"count":42},
                "memory":{"values":{"total":100}},
                "signature":"() -> {total :float}",
                "turns":[{"tool-calls":[{"name":"search","arguments":{"q":"a"}}]}],
                "turns-left":3}"#
        ),
        super::super::super::tests::SG1
    );
}

/// S12a, PT-S15, PT-S16
#[test]
fn the_expected_output_has_a_format_and_an_example() {
    assert_shows(
        &text(r#"{"signature":"() -> {total :float}"}"#),
        &["# Expected Output\n\n\
             Your final answer must match this format: `{total :float}`\n\n\
             Call `(return {:total 3.14})` when complete."],
        &["Field descriptions"],
    );
}

/// S12b, PT-S15
#[test]
fn without_a_signature_that_can_be_read_nothing_is_expected() {
    for context in [
        "{}",
        r#"{"signature":"() -> total"}"#,
        r#"{"signature":null}"#,
    ] {
        assert_shows(&text(context), &[], &["# Expected Output"]);
    }
}

/// S12c, PT-S15
#[test]
fn fields_that_the_answer_has_are_described() {
    assert_shows(
        &text(
            r#"{"signature":"() -> {total :float, name :string}",
                "field-descriptions":{"total":"The calculated total amount","other":"Nothing"}}"#,
        ),
        &["`{total :float, name :string}`\n\n\
             Field descriptions:\n  - `total`: The calculated total amount\n\n\
             Call `(return {:total 3.14, :name \"result\"})` when complete."],
        &["Nothing"],
    );
}
