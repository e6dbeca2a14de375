//! Conversations of all sorts: whatever comes, the plan is valid, fits and is smaller, or there
//! is a reason why not.

use super::*;

/// ALL-N7, ALL-N10: within the budget, or a reason.
#[test]
fn whatever_comes_the_result_fits_or_there_is_a_reason() {
    testing::fits_or_gives_a_reason::<Anchored>([
        "",
        r#"{"preserve-turns":0}"#,
        r#"{"preserve-turns":5,"role":"developer"}"#,
        r#"{"preserve-turns":1,"max-retained-user-tokens":50}"#,
    ]);
}
