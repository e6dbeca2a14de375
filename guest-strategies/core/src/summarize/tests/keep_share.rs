//! Keeping by a share of the window, PL-I1 and the vectors of planck's later versions.

use super::*;
use baler_strategy::testing::call;

/// Keeps `share` of a window of 1000 tokens.
fn kept(recording: Recording, share: f64) -> Vec<usize> {
    let recording = with_answer(recording, "S");
    let mut situation = recording.situation(PLENTY);
    situation.context_window = 1_000;
    situation.insertion_overhead = 0;
    let config = format!(r#"{{"keep-share":{share}}}"#);
    attempt(&recording, &situation, &config)
        .unwrap_or_else(|failure| panic!("failed: {failure:?}"))
        .kept()
}

/// Steps that cost so much.
fn costs(costs: &[u32]) -> Recording {
    costs.iter().fold(Recording::new(), |recording, tokens| {
        recording.step("x", []).tokens(*tokens)
    })
}

/// PV1: 100 tokens fit a budget of 100, 200 do not.
#[test]
fn what_fits_the_share_stays() {
    assert_eq!(kept(costs(&[100; 12]), 0.1), [11]);
}

/// PV8: the newest stays, even alone over the share.
#[test]
fn the_newest_always_stays() {
    assert_eq!(kept(costs(&[100, 1_000]), 0.1), [1]);
}

/// PV9, PV10, PL-I1: the walk stops at the first that does not fit.
#[test]
fn the_walk_stops_at_the_first_that_does_not_fit() {
    assert_eq!(kept(costs(&[10, 200, 60, 40]), 0.1), [2, 3]);
    assert_eq!(kept(costs(&[50; 12]), 0.1), [10, 11]);
}

/// PV11: what costs nothing fits.
#[test]
fn what_costs_nothing_fits() {
    assert_eq!(kept(costs(&[200, 0, 100]), 0.1), [1, 2]);
}

/// PL-I1: the share is widened to whole units: a step stays whose newest output fits.
#[test]
fn the_share_is_widened_to_whole_units() {
    let recording = costs(&[200]).step("", [call("cat", "{}", &chars(200))]);
    let wide = recording.clone().tokens(500).user(&chars(160));
    assert_eq!(kept(wide, 0.1), [1, 2]);
    let narrow = recording.tokens(500).user(&chars(240));
    assert_eq!(kept(narrow, 0.1), [2]);
}

/// ALL-N12: by default a tenth of the window stays, or of the budget where none is known.
#[test]
fn a_tenth_stays_by_default() {
    let recording = with_answer(costs(&[100; 12]), "S");
    assert_eq!(summarized(&recording, 1_000, "").kept(), [11]);
}

#[test]
fn units_may_be_counted_instead() {
    let recording = with_answer(costs(&[100; 12]), "S");
    let tested = summarized(&recording, PLENTY, r#"{"keep-last-units":2}"#);
    assert_eq!(tested.kept(), [10, 11]);
}
