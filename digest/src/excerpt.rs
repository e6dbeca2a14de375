//! A text cut to what matters in it: errors, and the names that are most likely used again.

use std::collections::BTreeMap;

use crate::names::Weighed;
use crate::{errors, scan, text};

/// What stands where lines were left out.
const GAP: &str = "…";

/// The most bytes of a text that are looked through.
const READ: usize = 1 << 20;

/// Lines above this size are parted at their commas, into pieces of at most this size.
const LONG: usize = 240;
const PIECE: usize = 80;

/// The share of the room for whole lines; the rest is for names alone, which take less.
const LINES: f64 = 0.5;

/// What a line that tells of an error is worth, in names.
const ERROR: f64 = 12.0;

/// What the first line is worth beyond its names: it mostly says what the text is.
const FIRST: f64 = 0.3;

/// How far an excerpt goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What is worth keeping, however little that is.
    Worth,
    /// As much as there is room for: behind what is worth keeping, the first and the last lines.
    Room,
}

/// A text cut to what matters in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The cut text.
    pub text: String,
    /// All that is worth keeping stands in it.
    pub has_all: bool,
}

/// At most about `bytes` of `own`: the lines that hold most of what is worth keeping for their
/// length, in their order. The line `must` is there whatever it holds, where there is room for it.
/// None where nothing is to be kept.
pub(crate) fn excerpt(
    names: &Weighed<'_>,
    must: Option<&str>,
    own: &str,
    bytes: usize,
    extent: Extent,
) -> Option<Excerpt> {
    let is_whole = own.len() <= READ;
    // What went wrong stands at the end.
    let own = &own[own.ceil_char_boundary(own.len().saturating_sub(READ))..];
    let must = must.filter(|line| line.len() <= bytes);
    let is_must = |line: &str| must.is_some_and(|must| errors::is_line(line, must));
    let pieces: Vec<&str> = own
        .lines()
        .flat_map(|line| parted(line, is_must(line)))
        .collect();
    let found = Found::read(names, &pieces);
    let mut worths: Vec<(f64, usize)> = pieces
        .iter()
        .enumerate()
        .filter(|(_, piece)| !piece.trim().is_empty())
        .map(|(index, piece)| {
            // A name that stands in many lines is there with any of them.
            let own = found
                .of(index)
                .map(|name| name.worth / f64::from(name.times));
            let mut worth: f64 = own.sum();
            if errors::tells(piece) {
                worth += ERROR;
            }
            if index == 0 {
                worth += FIRST;
            }
            (worth / (piece.len() + GAP.len() + 1) as f64, index)
        })
        .collect();
    let worthless: Vec<usize> = worths
        .extract_if(.., |(worth, _)| *worth <= 0.0)
        .map(|(_, index)| index)
        .collect();
    worths.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let must = pieces.iter().rposition(|piece| is_must(piece));
    let cost = |index: usize| pieces[index].len() + GAP.len() + 1;
    let left = bytes.saturating_sub(must.map_or(0, cost));
    let of_names = left - (left as f64 * LINES) as usize;
    let mut left = left - of_names;
    let mut chosen: Vec<usize> = must.into_iter().collect();
    let mut take = |chosen: &mut Vec<usize>, left: &mut usize| {
        worths.retain(|(_, index)| {
            let fits = must != Some(*index) && cost(*index) <= *left;
            if fits {
                *left -= cost(*index);
                chosen.push(*index);
            }
            !fits && must != Some(*index)
        });
    };
    take(&mut chosen, &mut left);
    let mut others = found.others(&chosen, of_names + left);
    let of_others: usize = others.iter().map(|name| name.len() + 2).sum();
    // Room that names leave goes to lines again.
    let mut unused = (of_names + left).saturating_sub(of_others);
    let before = chosen.len();
    take(&mut chosen, &mut unused);
    if chosen.len() > before {
        others = found.others(&chosen, of_others);
    }
    if extent == Extent::Room {
        for index in from_both_ends(&worthless).filter(|index| must != Some(*index)) {
            if cost(index) > unused {
                break;
            }
            unused -= cost(index);
            chosen.push(index);
        }
    }
    let has_all = is_whole && worths.is_empty();
    if chosen.is_empty() && others.is_empty() {
        return None;
    }
    chosen.sort_unstable();
    let mut excerpt = String::with_capacity(bytes);
    let mut next = 0;
    for index in chosen {
        if index > next {
            excerpt.push_str(GAP);
        }
        excerpt.push_str(&text::clean(pieces[index]));
        excerpt.push('\n');
        next = index + 1;
    }
    if next < pieces.len() {
        excerpt.push_str(GAP);
        if !others.is_empty() {
            excerpt.push(' ');
            excerpt.push_str(&others.join(", "));
        }
    }
    Some(Excerpt {
        text: excerpt.trim_end().to_owned(),
        has_all,
    })
}

/// The first, the last, the second, the last but one, and so on.
fn from_both_ends(all: &[usize]) -> impl Iterator<Item = usize> {
    let back = all.iter().rev().copied();
    let pairs = all.iter().copied().zip(back);
    pairs.flat_map(|(one, other)| [one, other]).take(all.len())
}

/// The names in the pieces of a text.
struct Found<'a> {
    names: Vec<Name<'a>>,
    /// For each piece one after the other, each name once: indices of `names`.
    in_pieces: Vec<usize>,
    /// Where those of each piece end.
    ends: Vec<usize>,
}

struct Name<'a> {
    text: &'a str,
    worth: f64,
    /// How many pieces hold it.
    times: u32,
    /// The last of them.
    last: Option<usize>,
}

impl<'a> Found<'a> {
    fn read(weighed: &Weighed<'_>, pieces: &[&'a str]) -> Self {
        let mut found = Self {
            names: Vec::new(),
            in_pieces: Vec::new(),
            ends: Vec::with_capacity(pieces.len()),
        };
        // By their index among all names of the conversation.
        let mut known: BTreeMap<usize, usize> = BTreeMap::new();
        for (number, piece) in pieces.iter().enumerate() {
            for text in scan::names(piece) {
                let Some(index) = weighed.index(text) else {
                    continue;
                };
                let next = found.names.len();
                let index = *known.entry(index).or_insert_with(|| {
                    found.names.push(Name {
                        text,
                        worth: weighed.worth(index),
                        times: 0,
                        last: None,
                    });
                    next
                });
                let name = &mut found.names[index];
                if name.last != Some(number) {
                    name.last = Some(number);
                    name.times += 1;
                    found.in_pieces.push(index);
                }
            }
            found.ends.push(found.in_pieces.len());
        }
        found
    }

    /// The names of a piece.
    fn of(&self, piece: usize) -> impl Iterator<Item = &Name<'a>> {
        self.indices(piece).iter().map(|index| &self.names[*index])
    }

    fn indices(&self, piece: usize) -> &[usize] {
        let start = piece.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.in_pieces[start..self.ends[piece]]
    }

    /// Names in pieces that were not chosen, those first that are most likely used again for what
    /// they cost, in the order of the text.
    fn others(&self, chosen: &[usize], mut room: usize) -> Vec<&'a str> {
        let mut is_told = vec![false; self.names.len()];
        for piece in chosen {
            for index in self.indices(*piece) {
                is_told[*index] = true;
            }
        }
        let mut others: Vec<(f64, usize)> = self
            .names
            .iter()
            .enumerate()
            .filter(|(index, _)| !is_told[*index])
            .map(|(index, name)| (name.worth / (name.text.len() + 2) as f64, index))
            .collect();
        others.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        others.retain(|(_, index)| {
            let cost = self.names[*index].text.len() + 2;
            let fits = cost <= room;
            room -= if fits { cost } else { 0 };
            fits
        });
        // They were found in the order of the text.
        others.sort_unstable_by_key(|(_, index)| *index);
        others
            .into_iter()
            .map(|(_, index)| self.names[index].text)
            .collect()
    }
}

/// A line, in pieces where it is long and need not stay whole.
fn parted(line: &str, whole: bool) -> impl Iterator<Item = &str> {
    let mut rest = line;
    let whole = match line.len() {
        length if whole => length,
        length if length <= LONG => LONG,
        _ => PIECE,
    };
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if rest.len() <= whole {
            return Some(std::mem::take(&mut rest));
        }
        let head = &rest[..rest.floor_char_boundary(PIECE)];
        let end = head.rfind([',', ' ', ';']).map_or(head.len(), |at| at + 1);
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use crate::{Extent, Notes, Part};

    fn notes() -> Notes {
        let mut notes = Notes::default();
        notes.read(&[Part::Assistant {
            text: "I will look at carry_over in src/ledger.rs.".into(),
            calls: true,
        }]);
        notes
    }

    #[test]
    fn errors_and_names_that_were_used_stay_in_their_order() {
        let filler = "nothing of note stands in this line at all\n".repeat(40);
        let text = format!("{filler}fn carry_over() {{}}\n{filler}error: total is 41\n{filler}");
        let excerpt = notes().excerpt(&text, 200, Extent::Worth);
        assert_eq!(
            excerpt.as_ref().map(|excerpt| &*excerpt.text),
            Some(
                "nothing of note stands in this line at all\n…fn carry_over() {}\n…error: total is 41\n…"
            )
        );
    }

    #[test]
    fn lines_without_names_fill_the_room_that_is_left_from_both_ends() {
        let lines: Vec<String> = (0..40)
            .map(|line| format!("{} 潮は七時に満ちる", "港".repeat(line % 5 + 1)))
            .collect();
        let text = format!(
            "{}\nfn carry_over() {{}}\n{}",
            lines[..20].join("\n"),
            lines[20..].join("\n")
        );
        let cut = |extent| notes().excerpt(&text, 400, extent).expect("a name");
        let of_worth = cut(Extent::Worth);
        assert!(of_worth.has_all);
        let of_worth = of_worth.text;
        let filled = cut(Extent::Room).text;
        assert!(of_worth.len() < 100, "{of_worth}");
        assert!((300..=400).contains(&filled.len()), "{filled}");
        for there in [&*lines[0], "fn carry_over() {}", &*lines[39]] {
            assert!(
                filled
                    .lines()
                    .any(|line| line.trim_start_matches('…') == there),
                "{there}: {filled}"
            );
        }
    }

    #[test]
    fn a_long_line_is_parted_at_its_commas() {
        let data = format!(
            "{{{}\"path\": \"src/ledger.rs\", {}}}",
            "\"plain\": \"words\", ".repeat(50),
            "\"plain\": \"words\", ".repeat(50)
        );
        let excerpt = notes().excerpt(&data, 300, Extent::Worth);
        assert!(excerpt.is_some_and(
            |excerpt| excerpt.text.contains("src/ledger.rs") && excerpt.text.len() < 320
        ));
    }

    #[test]
    fn the_last_error_is_there_whole_whatever_else_there_is() {
        let error = format!("error: {} is not a ledger", "very ".repeat(60));
        let mut notes = notes();
        let text = format!("error: 1\n\tcarry_over\n{error}\nsrc/ledger.rs\n");
        let output = |text: &str| Part::Output {
            call_id: "1".into(),
            name: "shell".into(),
            failed: true,
            text: text.to_owned().into(),
        };
        notes.read(&[output(&text)]);
        let excerpt = notes.excerpt(&text, error.len() + 10, Extent::Worth);
        assert!(excerpt.is_some_and(|excerpt| excerpt.text.contains(&error)));
        assert_eq!(notes.last_error_in(&text), Some(&*error));
        assert_eq!(notes.last_error_in("all is well"), None);
    }

    #[test]
    fn a_text_without_anything_of_worth_has_no_excerpt() {
        assert_eq!(notes().excerpt("", 100, Extent::Room), None);
        assert_eq!(notes().excerpt("all is well", 2, Extent::Room), None);
    }
}
