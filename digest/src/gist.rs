//! Shortens what the model said to the pieces that say most: its beginning, its end, and those with many names.

use std::borrow::Cow;

use super::decisions;
use super::scan;
use super::sentences::each_sentence;
use super::text;

/// Most bytes of the shorter forms of a text.
const LIMITS: [usize; 4] = [250, 500, 900, 1_800];

/// The longer forms of a text, of which the writer has one. They are made when they are asked for.
#[derive(Debug, Clone)]
pub(super) struct Longer<'a> {
    whole: Cow<'a, str>,
    /// How many of [`LIMITS`] the known forms have used.
    used: usize,
}

impl<'a> Longer<'a> {
    /// Returns the forms behind the shortest one.
    pub(super) const fn of(whole: Cow<'a, str>) -> Self {
        Self { whole, used: 1 }
    }

    /// Returns the whole as the only longer form.
    pub(super) const fn whole(whole: Cow<'a, str>) -> Self {
        Self {
            whole,
            used: LIMITS.len(),
        }
    }

    /// Returns the next longer form, and those after it.
    pub(super) fn next(self) -> (Cow<'a, str>, Option<Self>) {
        let Self { whole, used } = self;
        match LIMITS.get(used).filter(|limit| whole.len() > **limit) {
            None => (whole, None),
            Some(limit) => {
                let form = of(&whole, *limit).into();
                let used = used + 1;
                (form, Some(Self { whole, used }))
            }
        }
    }
}

/// Returns the shortest form of what the model said; `None` if the whole is short.
pub(super) fn shortest(said: &str) -> Option<String> {
    (said.len() > LIMITS[0]).then(|| of(said, LIMITS[0]))
}

/// A line of more bytes is taken apart into its sentences.
const LINE: usize = 160;

/// Most pieces that are looked at: the first and the last ones.
const PIECES: usize = 400;

/// What a piece is worth: any at all; each of its names, of which at most [`NAMES`] count; the first one, the last one, and one
/// with a reason, finding or plan.
const ANY: f64 = 0.02;
const NAMES: usize = 5;
const FIRST: f64 = 2.0;
const LAST: f64 = 1.5;
const FINDING: f64 = 2.0;

/// What a number is worth, as a share of any other name: without its line it means little.
const NUMBER: f64 = 0.4;

/// Words with which a sentence says what is to be done.
const PLANS: [&str; 6] = [
    "should ", "need to", "needs to", "must ", "the plan", "the fix",
];

/// Bytes that count for any piece, so that short ones do not win by their length alone.
const AROUND: f64 = 30.0;

/// Marks where pieces are left out.
const GAP: &str = " …";

/// Returns at most `limit` bytes of an entry in lines, the first of which is not indented.
pub(super) fn of(said: &str, limit: usize) -> String {
    let pieces = pieces(said);
    let mut best: Vec<(f64, usize)> = pieces
        .iter()
        .enumerate()
        .map(|(index, piece)| (worth(piece, index, pieces.len()), index))
        .collect();
    best.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let mut chosen = Vec::new();
    let mut used = GAP.len();
    // A longer form has all that the shorter ones have.
    let shorter = LIMITS.into_iter().filter(|shorter| *shorter < limit);
    for limit in shorter.chain([limit]) {
        for (_, index) in &best {
            let bytes = pieces[*index].len() + SEPARATOR.len() + GAP.len();
            if used + bytes <= limit && !chosen.contains(index) {
                used += bytes;
                chosen.push(*index);
            }
        }
    }
    chosen.sort_unstable();
    let Some(first) = chosen.first() else {
        return text::shorten(said, limit).into_owned();
    };
    let mut written = match first {
        0 => String::new(),
        _ => format!("{} ", GAP.trim_start()),
    };
    written.push_str(&pieces[*first]);
    for pair in chosen.windows(2) {
        if pair[1] > pair[0] + 1 {
            written.push_str(GAP);
        }
        written.push_str(SEPARATOR);
        written.push_str(&pieces[pair[1]]);
    }
    if chosen.last() != Some(&(pieces.len() - 1)) {
        written.push_str(GAP);
    }
    written
}

/// Between two lines of an entry.
const SEPARATOR: &str = "\n  ";

/// Returns the lines of an entry, and of long lines their sentences. Lines of code say nothing without the others, so
/// they are left out.
fn pieces(said: &str) -> Vec<Cow<'_, str>> {
    let mut pieces = Vec::new();
    let mut is_code = false;
    for line in said.lines() {
        // It may be a gist itself.
        let line = line.trim().trim_end_matches(GAP);
        if line.starts_with(text::FENCE) {
            is_code = !is_code;
        }
        let says = !is_code && line.chars().any(char::is_alphanumeric);
        if says && line.len() <= LINE {
            pieces.push(Cow::Borrowed(line));
        } else if says {
            each_sentence(line, &mut |sentence| {
                pieces.push(Cow::Owned(sentence.to_owned()));
            });
        }
    }
    if pieces.len() > PIECES {
        pieces.drain(PIECES / 2..pieces.len() - PIECES / 2);
    }
    pieces
}

/// Whether a piece says what is to be done.
fn plans(piece: &str) -> bool {
    let begins = |first| matches!(first, b's' | b'n' | b'm' | b't');
    decisions::has_sign(piece, &PLANS, begins)
}

/// Returns what a piece is worth for its length.
fn worth(text: &str, index: usize, count: usize) -> f64 {
    let names = scan::names(text).take(NAMES).map(|name| {
        match name.bytes().all(|byte| byte.is_ascii_digit()) {
            true => NUMBER,
            false => 1.0,
        }
    });
    let names: f64 = names.sum();
    let mut worth = ANY + names;
    if index == 0 {
        worth += FIRST;
    }
    if index + 1 == count {
        worth += LAST;
    }
    if decisions::says_why(text) || plans(text) {
        worth += FINDING;
    }
    worth / (text.len() as f64 + AROUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_most_stays_in_its_order() {
        let filler =
            "We looked at it for a while, and then at it again, as one does.\n  ".repeat(9);
        let said = format!(
            "The sluice is mended.\n\n  {filler}- `src/sluice.rs:57` counts `wheel_turns` twice\n  {filler}\n  Shall I mend `src/lock.rs` too?"
        );
        assert_eq!(
            of(&said, 130),
            "The sluice is mended. …\n  - `src/sluice.rs:57` counts `wheel_turns` twice …\n  Shall I mend `src/lock.rs` too?"
        );
        for limit in [0, 5, 40, 300, 900] {
            assert!(of(&said, limit).len() <= limit.max(3), "{limit}");
        }
    }

    #[test]
    fn long_paragraphs_are_taken_apart() {
        let said = format!(
            "{}The gate jams because `turn` in src/sluice.rs counts twice. {}",
            "It is late and the tide is low. ".repeat(8),
            "The rest is well. ".repeat(8)
        );
        let short = of(&said, 120);
        assert!(short.contains("The gate jams because"), "{short}");
        assert!(short.len() <= 120);
    }
}
