//! Choosing the runs of an [excerpt](crate::Rewriting::excerpt): which bytes of a text stay.

use std::ops::Range;

use crate::Conversation;

/// The fewest bytes of a run, by the contract.
pub const SHORTEST_RUN: usize = 16;

/// Returns the runs that keep the lines for which `keep` returns true, given the number of a line, from 0, and
/// its text without the line break. Runs with fewer than [`SHORTEST_RUN`] bytes are extended by the lines
/// after them, or before them at the end of the text.
///
/// ```
/// use baler_strategy::excerpt;
///
/// let output = "running 3 tests of the harbour\nok\nok\ntide: FAILED at high water\n";
/// let runs = excerpt::lines(output, |_, line| line.contains("FAILED"));
/// assert_eq!(&output[runs[0].clone()], "tide: FAILED at high water\n");
/// ```
pub fn lines(text: &str, mut keep: impl FnMut(usize, &str) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let end = start + line.len();
        let own = line.strip_suffix('\n').unwrap_or(line);
        let is_kept = keep(number, own.strip_suffix('\r').unwrap_or(own));
        match runs.last_mut() {
            Some(run) if run.end == start && (is_kept || run.len() < SHORTEST_RUN) => run.end = end,
            _ if is_kept => runs.push(start..end),
            _ => {}
        }
        start = end;
    }
    if let Some(last) = runs.pop() {
        if last.len() >= SHORTEST_RUN {
            runs.push(last);
        } else {
            let start = text.floor_char_boundary(last.end.saturating_sub(SHORTEST_RUN));
            push(&mut runs, start..last.end);
        }
    }
    runs
}

/// Returns the runs that keep the beginning and the end of a text, with about `first` and `last` bytes: two runs, or
/// one with all of a text of at most `first + last` bytes. Cuts at line breaks if there are any near. Leaves out an
/// end of fewer than [`SHORTEST_RUN`] bytes.
pub fn ends(text: &str, first: usize, last: usize) -> Vec<Range<usize>> {
    if first.saturating_add(last) >= text.len() {
        return std::iter::once(0..text.len()).collect();
    }
    let end = text.floor_char_boundary(first);
    // A cut at a line break is worth the loss of half of the bytes.
    let end = match text[..end].rfind('\n') {
        Some(line) if line >= first / 2 => line + 1,
        _ => end,
    };
    let start = text.ceil_char_boundary(text.len() - last);
    let start = match text[start..].find('\n') {
        Some(line) if line < last / 2 && start + line + 1 < text.len() => start + line + 1,
        _ => start,
    };
    let mut runs = Vec::with_capacity(2);
    for run in [0..end, start..text.len()] {
        if run.len() >= SHORTEST_RUN {
            push(&mut runs, run);
        }
    }
    runs
}

/// Returns the runs of both in order. Runs that touch or overlap become one.
///
/// ```
/// use baler_strategy::excerpt;
///
/// let log = format!("tide tables of March\n{}error: no tide at 25:00\n{}", "ok\n".repeat(99), "ok\n".repeat(99));
/// let runs = excerpt::joined(
///     excerpt::ends(&log, 40, 40),
///     excerpt::lines(&log, |_, line| line.contains("error")),
/// );
/// assert_eq!(runs.len(), 3);
/// ```
pub fn joined(
    one: impl IntoIterator<Item = Range<usize>>,
    other: impl IntoIterator<Item = Range<usize>>,
) -> Vec<Range<usize>> {
    let mut all: Vec<_> = one.into_iter().chain(other).collect();
    all.sort_unstable_by_key(|run| run.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(all.len());
    for run in all {
        match joined.last_mut() {
            Some(last) if run.start <= last.end => last.end = last.end.max(run.end),
            _ => joined.push(run),
        }
    }
    joined
}

/// Tokens of the host's first line in an excerpt, about.
const HEAD_TOKENS: u32 = 40;

/// Tokens of the host's line for a gap, about.
const GAP_TOKENS: u32 = 15;

/// Returns about the tokens that a part costs if only these runs of its text stay, the host's lines included. It
/// is worth an excerpt if this is well below [`Part::tokens`](crate::Part).
pub fn tokens(conversation: &Conversation<'_>, text: &str, runs: &[Range<usize>]) -> u32 {
    let kept = runs.iter().filter_map(|run| text.get(run.clone()));
    let kept: u32 = kept.map(|run| conversation.count(run) + GAP_TOKENS).sum();
    kept.saturating_add(HEAD_TOKENS + GAP_TOKENS)
}

/// Adds a run, joined with those before it that it touches.
fn push(runs: &mut Vec<Range<usize>>, mut run: Range<usize>) {
    while let Some(before) = runs.pop_if(|before| before.end >= run.start) {
        run.start = run.start.min(before.start);
    }
    runs.push(run);
}

#[cfg(test)]
#[expect(
    clippy::single_range_in_vec_init,
    reason = "an excerpt may have one run"
)]
mod tests {
    use super::*;

    #[test]
    fn lines_joins_neighbours_and_lengthens_short_runs() {
        let text = "a line that is long enough\nok\na second one of the same\nno\n";
        let of = |wanted: &[usize]| -> Vec<&str> {
            let runs = lines(text, |number, _| wanted.contains(&number));
            runs.into_iter().map(|run| &text[run]).collect()
        };
        assert_eq!(of(&[]), [""; 0]);
        assert_eq!(of(&[0, 1]), ["a line that is long enough\nok\n"]);
        assert_eq!(of(&[1]), ["ok\na second one of the same\n"]);
        assert_eq!(of(&[3]), [&text[text.len() - SHORTEST_RUN..]]);
        assert_eq!(
            of(&[0, 2, 3]),
            [
                "a line that is long enough\n",
                "a second one of the same\nno\n"
            ]
        );
    }

    #[test]
    fn lines_of_a_text_shorter_than_a_run_is_all_of_it() {
        assert_eq!(lines("日本\n港", |number, _| number == 1), [0..10]);
        assert!(lines("", |_, _| true).is_empty());
    }

    #[test]
    fn joined_orders_runs_and_joins_those_that_touch() {
        assert_eq!(joined([0..20, 60..80], [20..30, 70..90]), [0..30, 60..90]);
        assert_eq!(joined([40..60], [0..20]), [0..20, 40..60]);
        assert_eq!(joined([0..90], [10..20]), [0..90]);
        assert!(joined([], []).is_empty());
    }

    #[test]
    fn ends_never_splits_a_character_and_keeps_a_short_text_whole() {
        let text = "潮汐表と水深の記録です。".repeat(20);
        for first in 0..60 {
            for run in ends(&text, first, 60 - first) {
                assert!(text.get(run).is_some());
            }
        }
        assert_eq!(ends("short", 3, 2), [0..5]);
    }

    #[test]
    fn ends_cuts_at_line_breaks() {
        let text: String = (100..200)
            .map(|row| format!("row {row} of the log\n"))
            .collect();
        let runs = ends(&text, 100, 100);
        assert_eq!(&text[runs[0].clone()], &text[..95]);
        assert!(text[runs[1].clone()].starts_with("row 19"));
        assert_eq!(runs[1].end, text.len());
    }
}
