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
    assert_eq!(NEEDED.of(9_u32), 4);
    assert_eq!(NEEDED.of(u32::MAX), u32::MAX / 5 * 4);
    assert_eq!(LARGE_UNIT.of(u64::MAX), u64::MAX / 2);
    assert_eq!(TEXT_BYTES.of(usize::MAX), usize::MAX / 2);
}

#[test]
fn each_share_rounds_as_the_written_fraction() {
    for n in sizes() {
        for share in [LARGE_UNIT, STORY, TEXT_BYTES, LEAST_OF_LENGTH] {
            assert_eq!(share.of(n), n / 2, "{n}");
        }
        assert_eq!(SHORTENED.of(n), n / 3, "{n}");
        for share in [MEASURED_TEXT, RESERVED_SUMMARY, BEFORE_SIGN, NEWEST_OF_CHAT] {
            assert_eq!(share.of(n), n / 4, "{n}");
        }
        assert_eq!(NEEDED.of(n), n / 5 * 4, "{n}");
        assert_eq!(LAST_ERROR.of(n), n / 5 * 3, "{n}");
        for share in [SHORTENED_MORE, LEFT_BY_TEXT] {
            assert_eq!(share.of(n), n / 10, "{n}");
        }
        assert_eq!(POSSIBLE_ERROR.of(n), n / 8, "{n}");
        assert_eq!(UNUSED.of(n), n / 4 * 3, "{n}");
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
fn the_share_of_the_text_falls_as_more_of_the_conversation_fits() {
    for (free, all) in budgets() {
        let of_all = u64::from(free) * 1_000 / u64::from(all.max(1));
        for (work, most, fall) in [(Work::Tools, 600, 750), (Work::Chat, 950_u64, 300)] {
            let share = most.saturating_sub(of_all * fall / 1_000).clamp(120, most);
            let tokens = u32::try_from(u64::from(free) * share / 1_000).unwrap_or(u32::MAX);
            assert_eq!(
                text_tokens(work, free, all, u32::MAX),
                tokens,
                "{free} of {all}"
            );
        }
    }
    // Nearly all must go: three fifths. Everything nearly fits: 12 per cent.
    assert_eq!(text_tokens(Work::Tools, 1_000, 1_000_000, 10), 600);
    assert_eq!(text_tokens(Work::Tools, 1_000, 1_000, 10), 120);
    assert_eq!(text_tokens(Work::Chat, 1_000, 1_000, 10), 650);
    // The newest unit of a chat comes first, if it is small.
    assert_eq!(text_tokens(Work::Chat, 1_000, 1_000_000, 250), 750);
    assert_eq!(text_tokens(Work::Chat, 1_000, 1_000_000, 251), 950);
}
