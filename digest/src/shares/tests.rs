use super::*;

/// Sizes at which rounding could differ: all small ones, and some around powers of two and ten.
fn sizes() -> impl Iterator<Item = u32> {
    let large = (10..32).flat_map(|bit| {
        let power = 1_u32 << bit;
        [power - 1, power, power + 1, power / 3 * 2 + 7]
    });
    let tens = (4..10).flat_map(|digits| {
        let power = 10_u32.pow(digits);
        [power - 1, power, power + 1]
    });
    (0..10_000).chain(large).chain(tens).chain([u32::MAX])
}

#[test]
fn a_share_divides_before_it_multiplies() {
    assert_eq!(RULES.of(9_u32), 4);
    assert_eq!(RULES.of(u32::MAX), u32::MAX / 5 * 4);
    assert_eq!(LARGE_UNIT.of(u64::MAX), u64::MAX / 2);
    assert_eq!(TEXT_BYTES.of(usize::MAX), usize::MAX / 2);
}

#[test]
fn each_share_rounds_as_the_written_fraction() {
    for n in sizes() {
        let halves = [LARGE_UNIT, STORY, NAMES, REQUESTS, ONE_REQUEST, DECISIONS];
        let more_halves = [DONE_AGAIN, COMPLETED_REQUESTS, TEXT_BYTES, LEAST_OF_LENGTH];
        for share in halves.into_iter().chain(more_halves) {
            assert_eq!(share.of(n), n / 2, "{n}");
        }
        for share in [DONE, ERRORS, SUMMARY, SHORTENED] {
            assert_eq!(share.of(n), n / 3, "{n}");
        }
        for share in [TASKS, OPEN, MEASURED_TEXT, RESERVED_SUMMARY, BEFORE_SIGN] {
            assert_eq!(share.of(n), n / 4, "{n}");
        }
        for share in [NEEDED, RULES] {
            assert_eq!(share.of(n), n / 5 * 4, "{n}");
        }
        for share in [LAST_ERROR, VALUES, SAID] {
            assert_eq!(share.of(n), n / 5 * 3, "{n}");
        }
        for share in [SHORTENED_MORE, LEAST_OF_NEWEST] {
            assert_eq!(share.of(n), n / 10, "{n}");
        }
        for share in [POSSIBLE_ERROR, NAMES_OF_CHAT] {
            assert_eq!(share.of(n), n / 8, "{n}");
        }
        assert_eq!(EARLIER.of(n), n / 5 * 2, "{n}");
        assert_eq!(UNUSED.of(n), n / 4 * 3, "{n}");
        assert_eq!(KEPT_SUMMARIES.of(n), n / 5, "{n}");
        assert_eq!(EXCERPT_MARGIN.of(n), n / 20, "{n}");
    }
}

#[test]
fn lines_of_an_excerpt_have_half_of_it_rounded_down() {
    // As a product of floats, up to the 2^53 bytes that no text has.
    for n in sizes() {
        let bytes = u64::from(n) * 65_537 + 3;
        assert_eq!(EXCERPT_LINES.of(bytes), (bytes as f64 * 0.5) as u64);
    }
}

#[test]
fn rules_may_take_a_small_digest_whole() {
    for (tokens, of_rules) in [(0, 0), (499, 499), (500, 400), (504, 400), (505, 404)] {
        assert_eq!(rules(tokens), of_rules, "{tokens}");
    }
}

/// Budgets with conversations: those of less than the budget, and those of many times as much.
fn budgets() -> impl Iterator<Item = (u32, u32)> {
    let conversations = |free: u32| {
        let multiples = (0..40_u64).map(move |tenths| u64::from(free) * (tenths + 5) / 7);
        let others = [0, 1, 999, 1_000_000, u64::from(u32::MAX)];
        multiples
            .chain(others)
            .filter_map(|all| u32::try_from(all).ok())
    };
    sizes().flat_map(move |free| conversations(free).map(move |all| (free, all)))
}

#[test]
fn the_text_of_native_digest_rounds_as_a_product_of_decimals() {
    for (free, all) in budgets() {
        let of_all = f64::from(free) / f64::from(all.max(1));
        let share = (0.6 - of_all * 0.75).clamp(0.12, 0.6);
        assert_eq!(text_tokens(free, all), (f64::from(free) * share) as u32);
    }
    // Nearly all must go: three fifths. Everything nearly fits: 12 per cent.
    assert_eq!(text_tokens(1_000, 1_000_000), 599);
    assert_eq!(text_tokens(1_000, 1_000), 120);
}

#[test]
fn the_text_of_the_tiers_rounds_its_share_to_per_mille() {
    for (free, all) in budgets() {
        let of_all = u64::from(free) * 1_000 / u64::from(all.max(1));
        let share = 600_u64.saturating_sub(of_all * 750 / 1_000).clamp(120, 600);
        let tokens = u32::try_from(u64::from(free) * share / 1_000).unwrap_or(u32::MAX);
        assert_eq!(text_tokens_per_mille(free, all), tokens, "{free} of {all}");
    }
    assert_eq!(text_tokens_per_mille(1_000, 1_000_000), 600);
}

#[test]
fn host_and_guests_plan_the_same_text_but_for_rounding() {
    for (free, all) in budgets() {
        let (exact, rounded) = (text_tokens(free, all), text_tokens_per_mille(free, all));
        assert!(exact <= rounded.saturating_add(1), "{free} of {all}");
        let most = u64::from(exact) + 1 + u64::from(free) / 500;
        assert!(u64::from(rounded) <= most, "{free} of {all}");
    }
}
