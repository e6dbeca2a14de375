//! `examples/agent` lives, whatever fails around it.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests end the test where something is not as it should be"
)]

#[path = "../examples/agent/life.rs"]
mod life;
#[path = "../examples/agent/numbers.rs"]
mod numbers;
#[path = "../examples/agent/provider.rs"]
mod provider;

/// PAIN-1, ALL-N1, ALL-N5, ALL-N6, ALL-N9, PL-N5, AP-12, AP-13, AP-14, AP-N9, AP-N11, PU-N1
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_lives_through_two_thousand_steps_in_a_small_window() {
    let story = life::live(1, 2_000, 0).await.expect("it lives");
    println!("{story}");
    assert_eq!(story.steps, 2_000);
    assert!(story.by_model > 20 && story.by_digest > 5, "{story}");
    assert!(story.questions_failed > 5, "{story}");
    assert!(story.overflows > 5 && story.refused > 50, "{story}");
    assert_eq!(story.restarts, 8);
    // The window is half empty after a compaction, so that the next one is steps away.
    assert!(story.most_in_a_row <= 4, "{story}");
    assert!(story.compactions() < 2_000 / 4, "{story}");
}

/// `life::live` fails where an output that the model has not seen is lost or rewritten.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_sees_every_output_even_where_one_takes_most_of_the_window() {
    let story = life::live(3, 300, 7).await.expect("it lives");
    println!("{story}");
    assert_eq!(story.steps, 300);
    assert!(story.giants > 20, "{story}");
    assert!(story.shortened > 0, "{story}");
}
