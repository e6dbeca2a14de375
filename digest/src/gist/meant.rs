//! What the user's answer refers to.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::statements::words_of;

/// Returns from 0 to 1 how likely each piece is what an answer refers to; empty if none is. `Option 2, please` refers to
/// the lines of that option: what stands below a line with its words, up to the next line of a list with numbers.
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
