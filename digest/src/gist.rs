//! Shortens what the model said to the pieces that say most: its beginning, its end, and those with many names.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::decisions;
use super::facts::announces;
use super::scan;
use super::sentences::each_sentence;
use super::signs::Signs;
use super::statements::words_of;
use super::text;
use super::weights;

/// Most bytes of the shorter forms of a text.
const LIMITS: [usize; 4] = [250, 500, 900, 1_800];

/// The longer forms of a text, of which the writer has one. They are made when they are asked for.
#[derive(Debug, Clone)]
pub(super) struct Longer<'a> {
    whole: Cow<'a, str>,
    /// How many of [`LIMITS`] the known forms have used.
    used: usize,
    /// What the user answered; empty if that is not known.
    answer: &'a str,
}

impl<'a> Longer<'a> {
    /// Returns the forms behind the shortest one.
    pub(super) const fn of(whole: Cow<'a, str>) -> Self {
        Self {
            whole,
            used: 1,
            answer: "",
        }
    }

    /// Returns the shortest form of what the user answered with `answer`, and the longer ones.
    pub(super) fn answered(whole: Cow<'a, str>, answer: &'a str) -> (Cow<'a, str>, Option<Self>) {
        let all = Self {
            whole,
            used: 0,
            answer,
        };
        all.next()
    }

    /// Returns the whole as the only longer form.
    pub(super) const fn whole(whole: Cow<'a, str>) -> Self {
        Self {
            whole,
            used: LIMITS.len(),
            answer: "",
        }
    }

    /// Returns how much of the worth of a form the rest of the next one has.
    pub(super) const fn rest(&self) -> f64 {
        match self.answer.is_empty() {
            true => weights::REST,
            false => weights::REST_OF_ANSWERED,
        }
    }

    /// Returns the next longer form, and those after it.
    pub(super) fn next(self) -> (Cow<'a, str>, Option<Self>) {
        let Some(limit) = LIMITS
            .get(self.used)
            .filter(|limit| self.whole.len() > **limit)
        else {
            return (self.whole, None);
        };
        let form = of(&self.whole, *limit, self.answer).into();
        let used = self.used + 1;
        (form, Some(Self { used, ..self }))
    }
}

/// Returns the shortest form of what the model said; `None` if the whole is short.
pub(super) fn shortest(said: &str) -> Option<String> {
    (said.len() > LIMITS[0]).then(|| of(said, LIMITS[0], ""))
}

/// A line of more bytes is taken apart into its sentences.
const LINE: usize = 160;

/// Most pieces that are looked at: the first and the last ones.
const PIECES: usize = 400;

/// What a piece is worth: any at all; each of its names, of which at most [`NAMES`] count; the first one, the last one, and one
/// with a reason, finding or plan.
const ANY: f64 = 0.02;
const NAMES: usize = 4;
const FIRST: f64 = 4.0;
const LAST: f64 = 2.0;
const FINDING: f64 = 4.0;

/// How much more a piece is worth near the beginning, where a text says what it is about, and how many pieces count as near.
const LEAD: f64 = 1.0;
const NEAR: f64 = 4.0;

/// How much of its worth a piece has that announces what came next: `Let me look at it.`
const ANNOUNCED: f64 = 0.3;

/// What a number is worth, as a share of any other name: without its line it means little.
const NUMBER: f64 = 0.4;

/// Words with which a sentence says what is to be done, or that it is done; and weaker ones.
static PLANS: Signs<9> = Signs::new([
    "the plan",
    "the fix",
    "step ",
    "fixed",
    "enough",
    "confirmed",
    "verified",
    "tests pass",
    "definitely",
]);
static WISHES: Signs<4> = Signs::new(["should ", "need to", "needs to", "must "]);

/// Bytes that count for any piece, so that short ones do not win by their length alone.
const AROUND: f64 = 30.0;

/// Marks where pieces are left out.
const GAP: &str = " …";

/// Returns at most `limit` bytes of an entry in lines, the first of which is not indented: of what the user answered,
/// if that is known, above all what the `answer` refers to.
pub(super) fn of(said: &str, limit: usize, answer: &str) -> String {
    let pieces = pieces(said);
    let meant = meant(&pieces, answer);
    // `You are right. Let me see:` and headings say nothing yet.
    let says = |piece: &Cow<'_, str>| !piece.starts_with('#') && !announces(piece);
    let first = pieces.iter().position(says).unwrap_or(0);
    let mut best: Vec<(f64, usize)> = pieces
        .iter()
        .enumerate()
        .map(|(index, piece)| {
            let meant = meant.get(index).copied().unwrap_or(0.0);
            let per_byte = meant * MEANT / (piece.len() as f64 + AROUND);
            (worth(piece, index, first, pieces.len()) + per_byte, index)
        })
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
    let mut pieces: Vec<Cow<'_, str>> = Vec::new();
    let mut is_code = false;
    // Whether the line before announced the code.
    let mut is_announced = false;
    for line in said.lines() {
        // It may be a gist itself.
        let line = line.trim().trim_end_matches(GAP);
        if line.starts_with(text::FENCE) {
            is_code = !is_code;
            continue;
        }
        if is_code && is_announced {
            if let Some(piece) = pieces.last_mut() {
                is_announced = add_code(piece.to_mut(), line);
            }
        } else if !is_code && !line.is_empty() {
            is_announced = line.ends_with(':');
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

/// What a piece is worth to which the user's answer refers.
const MEANT: f64 = 12.0;

/// Returns from 0 to 1 how likely each piece is what an answer refers to; empty if none is. `Option 2, please` refers to
/// the lines of that option: what stands below a line with its words, up to the next line of a list with numbers.
fn meant(pieces: &[Cow<'_, str>], answer: &str) -> Vec<f64> {
    let asked = words(answer);
    let shared: Vec<BTreeSet<String>> = pieces
        .iter()
        .map(|piece| {
            words(piece)
                .into_iter()
                .filter(|word| asked.contains(word))
                .collect()
        })
        .collect();
    let mut pieces_with: BTreeMap<&str, usize> = BTreeMap::new();
    for word in shared.iter().flatten() {
        *pieces_with.entry(word).or_default() += 1;
    }
    // A word of many pieces points to none of them.
    let points = |word: &String| {
        pieces_with
            .get(&**word)
            .map_or(0.0, |count| 1.0 / *count as f64)
    };
    let mut meant: Vec<f64> = shared
        .iter()
        .map(|words| words.iter().map(points).sum())
        .collect();
    let most = meant.iter().copied().fold(0.0, f64::max);
    if most == 0.0 {
        return Vec::new();
    }
    meant.iter_mut().for_each(|share| *share /= most);
    let is_best = |index: &usize| meant[*index] >= 1.0;
    let by_number =
        |index: &usize| number(&pieces[*index]).is_some_and(|number| asked.contains(number));
    let all = 0..pieces.len();
    let Some(best) = all
        .clone()
        .rev()
        .find(by_number)
        .or_else(|| all.clone().find(is_best))
    else {
        return Vec::new();
    };
    meant[best] = 1.0;
    if number(&pieces[best]).is_some() {
        let below = pieces
            .iter()
            .skip(best + 1)
            .take_while(|piece| number(piece).is_none());
        let below = below.take(BELOW).count();
        meant[best + 1..=best + below].fill(0.9);
    }
    meant
}

/// Most pieces below the line of a list that count as one with it.
const BELOW: usize = 12;

/// Returns the words by which an answer can refer to a piece.
fn words(text: &str) -> BTreeSet<String> {
    let numbers = text.split(|c: char| !c.is_alphanumeric());
    let numbers =
        numbers.filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty());
    let mut words = words_of(text);
    words.extend(numbers.map(str::to_owned));
    words
}

/// Returns the number of a piece that is an entry of a list with numbers: `2. **Option 2:**`.
fn number(piece: &str) -> Option<&str> {
    let piece = piece.trim_start_matches(['*', '#', ' ']);
    let behind = piece.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = &piece[..piece.len() - behind.len()];
    (!number.is_empty() && behind.starts_with(['.', ')'])).then_some(number)
}

/// Most bytes of the code that a piece announces.
const CODE: usize = 90;

/// Adds a line of the code that a piece announces. Returns whether another may follow.
fn add_code(piece: &mut String, line: &str) -> bool {
    let (before, code) = match piece
        .strip_suffix('`')
        .and_then(|begun| begun.rsplit_once(": `"))
    {
        Some((before, code)) => (before.len(), format!("{code} {line}")),
        None => (piece.trim_end_matches(':').len(), line.to_owned()),
    };
    if code.len() > CODE {
        return false;
    }
    piece.truncate(before);
    piece.push_str(": `");
    piece.push_str(&code);
    piece.push('`');
    true
}

/// Returns what a piece is worth because it gives a reason, a finding or a plan.
fn finding(piece: &str) -> f64 {
    if decisions::says_why(piece) || PLANS.are_in(piece) {
        return FINDING;
    }
    match piece.starts_with("So ") || WISHES.are_in(piece) {
        true => FINDING / 2.0,
        false => 0.0,
    }
}

/// Returns what a piece is worth for its length.
fn worth(text: &str, index: usize, first: usize, count: usize) -> f64 {
    let names = scan::names(text).take(NAMES).map(|name| {
        match name.bytes().all(|byte| byte.is_ascii_digit()) {
            true => NUMBER,
            false => 1.0,
        }
    });
    let names: f64 = names.sum();
    let behind = index.saturating_sub(first) as f64;
    let mut worth = ANY + names * (1.0 + LEAD * (-behind / NEAR).exp());
    if index == first {
        worth += FIRST;
    }
    if index + 1 == count {
        worth += LAST;
    }
    worth += finding(text);
    if announces(text) {
        worth *= ANNOUNCED;
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
            of(&said, 130, ""),
            "The sluice is mended. …\n  - `src/sluice.rs:57` counts `wheel_turns` twice …\n  Shall I mend `src/lock.rs` too?"
        );
        for limit in [0, 5, 40, 300, 900] {
            assert!(of(&said, limit, "").len() <= limit.max(3), "{limit}");
        }
    }

    #[test]
    fn long_paragraphs_are_taken_apart() {
        let said = format!(
            "{}The gate jams because `turn` in src/sluice.rs counts twice. {}",
            "It is late and the tide is low. ".repeat(8),
            "The rest is well. ".repeat(8)
        );
        let short = of(&said, 120, "");
        assert!(short.contains("The gate jams because"), "{short}");
        assert!(short.len() <= 120);
    }

    #[test]
    fn of_what_the_user_answered_the_part_that_is_meant_comes_first() {
        let option = |number: usize| {
            format!(
                "{number}. **Option {number}:**\n   - Ferry: FB{number}71\n   - Pier: {number}\n   - Fare: {number}0 euros\n"
            )
        };
        let said = format!(
            "Here are the ferries to Oslo on Friday:\n\n{}\nWhich of these options do you want me to book?",
            (1..=4).map(option).collect::<String>()
        );
        let short = of(&said, 130, "Option 3, please.");
        for line in ["Ferry: FB371", "Pier: 3", "Fare: 30 euros"] {
            assert!(short.contains(line), "{line}: {short}");
        }
        assert!(!of(&said, 130, "").contains("Fare: 30 euros"));
        // Without a number the words point to it.
        let said = "The oven is mended.\n- Shall I mend the mill as well?\n- The barn has a new door, which is green, as was wanted.\n".to_owned()
            + &"- All of the rest is well.\n".repeat(9);
        let short = of(&said, 60, "yes, the mill as well");
        assert!(short.contains("Shall I mend the mill"), "{short}");
    }

    #[test]
    fn a_line_that_announces_code_has_its_first_lines() {
        let said = "The name is made up in the sidebar:\n```ts\nconst user = {\n  name: given || \"Guest\",\n  mail: \"-\",\n  more: \"of this, and of that, and of this, and of that\",\n};\n```\nLet me see:\n```\n```\nIt is done.";
        let pieces = pieces(said);
        assert_eq!(
            pieces,
            [
                "The name is made up in the sidebar: `const user = { name: given || \"Guest\", mail: \"-\",`",
                "Let me see:",
                "It is done."
            ]
        );
    }

    #[test]
    fn announcements_and_headings_say_less_than_plans() {
        let said = "## What I see\nLet me look at the gates of the lock first, and then at its sluice.\nThe plan is to turn the sluice by hand until then.\nLet me look at it now, and then at the others.";
        assert_eq!(
            of(said, 66, ""),
            "… The plan is to turn the sluice by hand until then. …"
        );
    }
}
