//! Shortens a text to what matters in it: errors, and the names that are most likely used again.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::{WeightedNames, is_small_number};
use crate::{errors, scan, shares, text};

/// Marks left-out lines.
const GAP: &str = "…";

/// Most bytes of a text that are read, from its end.
const READ: usize = 1 << 20;

/// Lines of more bytes are split at their commas, into pieces of at most [`PIECE`] bytes.
const LONG: usize = 240;
const PIECE: usize = 80;

/// How much of its size an excerpt uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Only lines and names of value, however few.
    Valuable,
    /// All of it: after lines and names of value, the first and the last other lines.
    Fill,
}

/// A text shortened to what matters in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The shortened text.
    pub text: String,
    /// Whether the text contains everything of value.
    pub has_all: bool,
}

/// Returns about `bytes` bytes of `own` at most: the lines with most value for their length, in their order.
/// Contains the line `must`, whatever its value, if that fits. `None` if nothing is kept.
pub(crate) fn excerpt(
    names: &WeightedNames<'_>,
    must: Option<&str>,
    own: &str,
    bytes: usize,
    extent: Extent,
) -> Option<Excerpt> {
    let is_whole = own.len() <= READ;
    // What went wrong is at the end.
    let own = &own[own.ceil_char_boundary(own.len().saturating_sub(READ))..];
    let must = must.filter(|line| line.len() <= bytes);
    let is_must = |line: &str| must.is_some_and(|must| errors::is_line(line, must));
    let pieces: Vec<&str> = own
        .lines()
        .flat_map(|line| split_line(line, is_must(line), LONG.min(bytes / 3).max(PIECE)))
        .collect();
    let found = Found::read(names, &pieces);
    let must = pieces.iter().rposition(|piece| is_must(piece));
    let mut selection = Selection::new(&pieces, &found, must);
    let others = selection.choose(&found, bytes, extent);
    if selection.chosen.is_empty() && others.is_empty() {
        return None;
    }
    Some(Excerpt {
        has_all: is_whole && selection.valuable.is_empty(),
        text: selection.joined(&others, bytes),
    })
}

/// Chooses the pieces of an excerpt.
struct Selection<'p, 'a> {
    pieces: &'p [&'a str],
    /// Index of the piece that must be in the excerpt.
    must: Option<usize>,
    /// Pieces of value that are not chosen, with their weight per byte; the most valuable first.
    valuable: Vec<(f64, usize)>,
    /// Pieces without value, in order.
    worthless: Vec<usize>,
    chosen: Vec<usize>,
}

impl<'p, 'a> Selection<'p, 'a> {
    fn new(pieces: &'p [&'a str], found: &Found<'_>, must: Option<usize>) -> Self {
        // What is repeated says nothing more: `# via -r requirements.in`.
        let mut known = BTreeSet::new();
        let mut weight_of = |index: usize, piece: &'a str| match known.insert(piece.trim()) {
            true => weight(found, index, piece) / cost(piece) as f64,
            false => 0.0,
        };
        let mut valuable: Vec<(f64, usize)> = pieces
            .iter()
            .enumerate()
            .filter(|(_, piece)| !piece.trim().is_empty())
            .map(|(index, piece)| (weight_of(index, piece), index))
            .collect();
        let worthless: Vec<usize> = valuable
            .extract_if(.., |(weight, _)| *weight <= 0.0)
            .map(|(_, index)| index)
            .collect();
        valuable.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        Self {
            pieces,
            must,
            valuable,
            worthless,
            chosen: must.into_iter().collect(),
        }
    }

    /// Chooses pieces for an excerpt of so many bytes. Returns the names to list besides them.
    fn choose<'n>(&mut self, found: &Found<'n>, bytes: usize, extent: Extent) -> Vec<&'n str> {
        let must = self.must.map_or(0, |index| cost(self.pieces[index]));
        let left = bytes.saturating_sub(must);
        let for_lines = shares::EXCERPT_LINES.of(left);
        let for_names = left - for_lines + self.take_valuable(for_lines);
        let mut others = found.others(&self.chosen, for_names);
        let of_others: usize = others.iter().map(|name| name.len() + 2).sum();
        // Bytes that names leave go to lines again.
        let before = self.chosen.len();
        let unused = self.take_valuable(for_names.saturating_sub(of_others));
        if self.chosen.len() > before {
            others = found.others(&self.chosen, of_others);
        }
        if extent == Extent::Fill {
            self.take_worthless(unused);
        }
        others
    }

    /// Takes the most valuable pieces that fit in so many bytes. Returns the bytes that are left.
    fn take_valuable(&mut self, mut left: usize) -> usize {
        let (pieces, must) = (self.pieces, self.must);
        let chosen = &mut self.chosen;
        self.valuable.retain(|(_, index)| {
            let is_must = must == Some(*index);
            let cost = cost(pieces[*index]);
            let fits = !is_must && cost <= left;
            if fits {
                left -= cost;
                chosen.push(*index);
            }
            !fits && !is_must
        });
        left
    }

    /// Takes the first and the last pieces without value, until one does not fit.
    fn take_worthless(&mut self, mut left: usize) {
        let must = self.must;
        for index in from_both_ends(&self.worthless).filter(|index| must != Some(*index)) {
            let cost = cost(self.pieces[index]);
            if cost > left {
                break;
            }
            left -= cost;
            self.chosen.push(index);
        }
    }

    /// Joins the chosen pieces in their order, with gaps marked, and the names after the last.
    fn joined(mut self, others: &[&str], bytes: usize) -> String {
        self.chosen.sort_unstable();
        let mut joined = String::with_capacity(bytes);
        let mut next = 0;
        for index in self.chosen {
            if index > next {
                joined.push_str(GAP);
            }
            joined.push_str(&text::clean(self.pieces[index]));
            joined.push('\n');
            next = index + 1;
        }
        if next < self.pieces.len() {
            joined.push_str(GAP);
            if !others.is_empty() {
                joined.push(' ');
                joined.push_str(&others.join(", "));
            }
        }
        joined.truncate(joined.trim_end().len());
        joined
    }
}

/// Bytes of a piece with its gap and line break.
const fn cost(piece: &str) -> usize {
    piece.len() + GAP.len() + 1
}

/// Weight of the piece with this index. A name in many pieces counts in part for each, because any of them
/// has it.
fn weight(found: &Found<'_>, index: usize, piece: &str) -> f64 {
    let own = found
        .of(index)
        .map(|name| name.weight / f64::from(name.times));
    let mut weight: f64 = own.sum();
    // Words for errors are frequent in source code.
    if errors::begins_like_an_error(piece) {
        weight += shares::ERROR_LINE;
    }
    if index == 0 {
        weight += shares::FIRST_LINE;
    }
    weight
}

/// Iterates the first, the last, the second, the last but one, and so on.
fn from_both_ends(all: &[usize]) -> impl Iterator<Item = usize> {
    let back = all.iter().rev().copied();
    let pairs = all.iter().copied().zip(back);
    pairs.flat_map(|(one, other)| [one, other]).take(all.len())
}

/// The names in the pieces of a text.
struct Found<'a> {
    names: Vec<Name<'a>>,
    /// Indices of `names`, each name once for each piece, piece after piece.
    in_pieces: Vec<usize>,
    /// Ends of each piece's range in `in_pieces`.
    ends: Vec<usize>,
}

struct Name<'a> {
    text: &'a str,
    weight: f64,
    /// Number of pieces that contain it.
    times: u32,
    /// Index of the last of these pieces.
    last: Option<usize>,
}

impl<'a> Found<'a> {
    fn read(weighed: &WeightedNames<'_>, pieces: &[&'a str]) -> Self {
        let mut found = Self {
            names: Vec::new(),
            in_pieces: Vec::new(),
            ends: Vec::with_capacity(pieces.len()),
        };
        // By index among all names of the conversation.
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
                        weight: weighed.weight(index),
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

    /// Iterates the names of a piece.
    fn of(&self, piece: usize) -> impl Iterator<Item = &Name<'a>> {
        self.indices(piece).iter().map(|index| &self.names[*index])
    }

    fn indices(&self, piece: usize) -> &[usize] {
        let start = piece.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.in_pieces[start..self.ends[piece]]
    }

    /// Returns names that occur only in pieces that were not chosen, as many as fit in `room` bytes: those
    /// that are most likely used again for their length, in the order of the text.
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
            // A number says nothing without its line.
            .filter(|(_, name)| name.weight > 0.0 && !is_small_number(name.text))
            .filter(|(index, _)| !is_told[*index])
            .map(|(index, name)| (name.weight / (name.text.len() + 2) as f64, index))
            .collect();
        others.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        others.retain(|(_, index)| {
            let cost = self.names[*index].text.len() + 2;
            let fits = cost <= room;
            room -= if fits { cost } else { 0 };
            fits
        });
        // Names are numbered in the order of the text.
        others.sort_unstable_by_key(|(_, index)| *index);
        others
            .into_iter()
            .map(|(_, index)| self.names[index].text)
            .collect()
    }
}

/// Splits a line into pieces if it is long and need not stay whole.
fn split_line(line: &str, whole: bool, of_error: usize) -> impl Iterator<Item = &str> {
    let mut rest = line;
    let whole = match line.len() {
        length if whole => length,
        length if length <= LONG => LONG,
        _ => PIECE,
    };
    // What an error says first stays together, in at most `of_error` bytes.
    let is_error = line.len() > whole && errors::begins_like_an_error(head(line, LONG));
    let mut most = if is_error { of_error } else { PIECE };
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if rest.len() <= whole {
            return Some(std::mem::take(&mut rest));
        }
        let head = head(rest, std::mem::replace(&mut most, PIECE));
        let end = head.rfind([',', ' ', ';']).map_or(head.len(), |at| at + 1);
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some(piece)
    })
}

fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
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
    fn an_excerpt_keeps_errors_and_used_names_in_their_order() {
        let filler = "nothing of note stands in this line at all\n".repeat(40);
        let text = format!("{filler}fn carry_over() {{}}\n{filler}error: total is 41\n{filler}");
        let excerpt = notes().excerpt(&text, 200, Extent::Valuable);
        assert_eq!(
            excerpt.as_ref().map(|excerpt| &*excerpt.text),
            Some(
                "nothing of note stands in this line at all\n…fn carry_over() {}\n…error: total is 41\n…"
            )
        );
    }

    #[test]
    fn a_repeated_line_is_kept_once() {
        let line = "# via -r src/ledger.rs\n";
        let text = format!("x\n{line}{}{line}y\n", "nothing of note\n".repeat(20));
        let excerpt = notes()
            .excerpt(&text, 120, Extent::Valuable)
            .expect("a name");
        assert_eq!(excerpt.text.matches("src/ledger.rs").count(), 1);
        assert!(excerpt.has_all);
    }

    #[test]
    fn fill_adds_lines_without_names_from_both_ends() {
        let lines: Vec<String> = (0..40)
            .map(|line| format!("{} 潮は七時に満ちる", "港".repeat(line % 5 + 1)))
            .collect();
        let text = format!(
            "{}\nfn carry_over() {{}}\n{}",
            lines[..20].join("\n"),
            lines[20..].join("\n")
        );
        let cut = |extent| notes().excerpt(&text, 400, extent).expect("a name");
        let of_worth = cut(Extent::Valuable);
        assert!(of_worth.has_all);
        let of_worth = of_worth.text;
        let filled = cut(Extent::Fill).text;
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
    fn a_long_line_is_split_at_its_commas() {
        let data = format!(
            "{{{}\"path\": \"src/ledger.rs\", {}}}",
            "\"plain\": \"words\", ".repeat(50),
            "\"plain\": \"words\", ".repeat(50)
        );
        let excerpt = notes().excerpt(&data, 300, Extent::Valuable);
        assert!(excerpt.is_some_and(
            |excerpt| excerpt.text.contains("src/ledger.rs") && excerpt.text.len() < 320
        ));
    }

    #[test]
    fn an_excerpt_keeps_the_last_error_in_full() {
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
        let excerpt = notes.excerpt(&text, error.len() + 10, Extent::Valuable);
        assert!(excerpt.is_some_and(|excerpt| excerpt.text.contains(&error)));
        assert_eq!(notes.last_error_in(&text), Some(&*error));
        assert_eq!(notes.last_error_in("all is well"), None);
    }

    #[test]
    fn a_text_without_value_has_no_excerpt() {
        assert_eq!(notes().excerpt("", 100, Extent::Fill), None);
        assert_eq!(notes().excerpt("all is well", 2, Extent::Fill), None);
    }
}
