//! What the user's answer refers to.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::statements::words_of;

/// Returns from 0 to 1 how likely each piece is what an answer refers to; empty if none is. `Option 2, please` refers to
/// the lines of that option: what stands below the entry of a list with its number, or with its words, up to the next
/// entry.
pub(super) fn shares(pieces: &[Cow<'_, str>], answer: &str) -> Vec<f64> {
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
    // Of several lists the last one is meant.
    let mut entries: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, piece) in pieces.iter().enumerate() {
        if let Some(number) = number(piece).filter(|number| chooses(answer, number, piece)) {
            entries.insert(number, index);
        }
    }
    let mut best: Vec<usize> = entries.into_values().collect();
    if best.is_empty() {
        best.extend(meant.iter().position(|share| *share >= 1.0));
    }
    for best in best {
        meant[best] = 1.0;
        if number(&pieces[best]).is_some() {
            let others = pieces.iter().skip(best + 1);
            let below = others.take_while(|piece| number(piece).is_none());
            let below = below.take(BELOW).count();
            meant[best + 1..=best + below].fill(WITH_ENTRY);
        }
    }
    meant
}

/// How likely the lines below an entry are meant if the entry is.
const WITH_ENTRY: f64 = 0.9;

/// Whether an answer chooses the entry with this number by it: `2`, `1 and 3`, `option 2`, or with a word of the entry
/// before it. `For 2 people` chooses none.
fn chooses(answer: &str, number: &str, entry: &str) -> bool {
    const BEFORE: [&str; 10] = [
        "option", "number", "no", "nr", "item", "choice", "and", "or", "the", "take",
    ];
    let mut before: Option<&str> = None;
    for word in answer
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        if word == number {
            let is_known = |before: &str| {
                BEFORE
                    .iter()
                    .any(|known| known.eq_ignore_ascii_case(before))
                    || !words_of(before).is_disjoint(&words_of(entry))
            };
            if before.is_none_or(is_known) {
                return true;
            }
        }
        before = Some(word);
    }
    false
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
    let behind = behind.strip_prefix(['.', ')'])?;
    // `3.5 hours` is not an entry.
    let is_entry = behind.is_empty() || behind.starts_with([' ', '*']);
    (!number.is_empty() && is_entry).then_some(number)
}
