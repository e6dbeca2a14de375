use crate::compactor::{CompactorOptions, Triggers};

fn share(window: u32, share: f64) -> CompactorOptions {
    CompactorOptions {
        context_window: Some(window),
        triggers: Triggers {
            share: Some(share),
            ..Triggers::NONE
        },
        ..CompactorOptions::default()
    }
}

/// P21, P22, P23, PL-S1, PL-9
#[test]
fn the_threshold_is_the_truncated_share_of_the_window() {
    for (window, ratio, expected) in [(1001, 0.8, 800), (999, 0.8, 799), (100, 0.57, 56)] {
        assert_eq!(share(window, ratio).threshold(), Some(expected));
    }
    assert_eq!(CompactorOptions::default().triggers.share, Some(0.8));
}

/// PAIN-13, PAIN-15
#[test]
fn the_lowest_of_several_triggers_counts() {
    let mut options = share(200_000, 0.9);
    options.triggers.reserve = Some(30_000);
    assert_eq!(options.threshold(), Some(170_000));
    options.triggers.tokens = Some(100_000);
    assert_eq!(options.threshold(), Some(100_000));
    assert_eq!(CompactorOptions::default().threshold(), None);
}

/// PAIN-25, TV8, TV10, PT-I5, ALL-N12
#[test]
fn options_that_make_no_sense_are_named_with_what_is_allowed() {
    type Change = fn(&mut CompactorOptions);
    let cases: [(Change, &str); 11] = [
        (
            |options| options.triggers.share = Some(0.0),
            "`triggers.share` must be more than 0",
        ),
        (
            |options| options.triggers.share = Some(f64::NAN),
            "`triggers.share`",
        ),
        (
            |options| options.triggers.tokens = Some(0),
            "`triggers.tokens` must be at least 1",
        ),
        (
            |options| options.triggers.messages = Some(0),
            "`triggers.messages`",
        ),
        (
            |options| options.triggers.turns = Some(0),
            "`triggers.turns`",
        ),
        (
            |options| options.triggers.bytes = Some(0),
            "`triggers.bytes`",
        ),
        (
            |options| options.triggers.reserve = Some(9),
            "`triggers.reserve` needs `context-window`",
        ),
        (
            |options| options.context_window = Some(0),
            "`context-window`",
        ),
        (
            |options| options.target_share = 0.95,
            "`target-share` must be more than 0 and at most 0.9",
        ),
        (|options| options.target_tokens = Some(0), "`target-tokens`"),
        (|options| options.early = Some(1.5), "`early`"),
    ];
    for (change, expected) in cases {
        let mut options = CompactorOptions::default();
        change(&mut options);
        let error = options.check().expect_err(expected).to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    assert_eq!(CompactorOptions::default().check(), Ok(()));
}
