//! A few of the generated guests of `examples/smith`.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests are tests"
)]

#[path = "../examples/smith/guests.rs"]
mod guests;

#[tokio::test]
async fn generated_guests_end_as_faults_or_are_refused() {
    let tally = guests::run(150, 7)
        .await
        .expect("nothing got more than a fault");
    println!("{tally}");
    assert!(tally.called > 100, "{tally}");
    assert!(tally.ends.len() > 2, "{tally}");
}
