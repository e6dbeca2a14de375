//! Conversations of all sorts: whatever comes, the plan is valid, fits and is smaller, or there
//! is a reason why not.

use super::*;

/// ALL-N7, ALL-N10: within the budget, or a reason.
#[test]
fn whatever_comes_the_result_fits_or_there_is_a_reason() {
    testing::fits_or_gives_a_reason::<Summarize>([
        "",
        r#"{"preset":"planck","keep-last-messages":2}"#,
        r#"{"preset":"puck"}"#,
        r#"{"keep-last-units":50,"max-output-tokens":200}"#,
    ]);
}
