//! A text cut to what matters in it: errors, and the names that are most likely used again.

use std::collections::{HashMap, HashSet};

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

/// At most about `bytes` of `own`: the lines that hold most of what is worth keeping for their
/// length, in their order. The line `must` is there whatever it holds, where there is room for it.
/// None where nothing in it is worth keeping.
pub(crate) fn excerpt(
    names: &Weighed<'_>,
    must: Option<&str>,
    own: &str,
    bytes: usize,
) -> Option<String> {
    // What went wrong stands at the end.
    let own = &own[own.ceil_char_boundary(own.len().saturating_sub(READ))..];
    let must = must.filter(|line| line.len() <= bytes);
    let is_must = |line: &str| must.is_some_and(|must| errors::is_line(line, must));
    let pieces: Vec<&str> = own
        .lines()
        .flat_map(|line| parted(line, is_must(line)))
        .collect();
    // How many pieces hold a name, and the first of them.
    let mut times: HashMap<&str, (u32, usize)> = HashMap::new();
    for (index, piece) in pieces.iter().enumerate() {
        let mut seen = HashSet::new();
        for name in scan::names(piece) {
            if seen.insert(name) {
                times.entry(name).or_insert((0, index)).0 += 1;
            }
        }
    }
    let mut worths: Vec<(f64, usize)> = pieces
        .iter()
        .enumerate()
        .filter(|(_, piece)| !piece.trim().is_empty())
        .map(|(index, piece)| {
            let mut worth = 0.0;
            let mut seen = HashSet::new();
            for name in scan::names(piece) {
                if seen.insert(name) {
                    // A name that stands in many lines is there with any of them.
                    worth += names.worth(name)
                        / f64::from(times.get(name).map_or(1, |(times, _)| *times));
                }
            }
            if errors::tells(piece) {
                worth += ERROR;
            }
            if index == 0 {
                worth += FIRST;
            }
            (worth / (piece.len() + GAP.len() + 1) as f64, index)
        })
        .filter(|(worth, _)| *worth > 0.0)
        .collect();
    worths.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
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
    let mut others = other_names(names, &times, &pieces, &chosen, of_names + left);
    let of_others: usize = others.iter().map(|name| name.len() + 2).sum();
    // Room that names leave goes to lines again.
    let mut unused = (of_names + left).saturating_sub(of_others);
    let before = chosen.len();
    take(&mut chosen, &mut unused);
    if chosen.len() > before {
        others = other_names(names, &times, &pieces, &chosen, of_others);
    }
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
    Some(excerpt.trim_end().to_owned())
}

/// Names in what is left out, those first that are most likely used again, in their order.
fn other_names<'a>(
    names: &Weighed<'_>,
    times: &HashMap<&'a str, (u32, usize)>,
    pieces: &[&'a str],
    chosen: &[usize],
    mut room: usize,
) -> Vec<&'a str> {
    let told: HashSet<&str> = chosen
        .iter()
        .flat_map(|index| scan::names(pieces[*index]))
        .collect();
    let mut others: Vec<(f64, &str)> = times
        .keys()
        .filter(|name| !told.contains(*name))
        .map(|name| (names.worth(name) / (name.len() + 2) as f64, *name))
        .collect();
    others.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    let mut taken: Vec<&str> = Vec::new();
    for (_, name) in others {
        if name.len() + 2 <= room {
            room -= name.len() + 2;
            taken.push(name);
        }
    }
    taken.sort_by_key(|name| times.get(name).map(|(_, first)| *first));
    taken
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
    use crate::{Notes, Part};

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
        let excerpt = notes().excerpt(&text, 200);
        assert_eq!(
            excerpt.as_deref(),
            Some(
                "nothing of note stands in this line at all\n…fn carry_over() {}\n…error: total is 41\n…"
            )
        );
    }

    #[test]
    fn a_long_line_is_parted_at_its_commas() {
        let data = format!(
            "{{{}\"path\": \"src/ledger.rs\", {}}}",
            "\"plain\": \"words\", ".repeat(50),
            "\"plain\": \"words\", ".repeat(50)
        );
        let excerpt = notes().excerpt(&data, 300);
        assert!(
            excerpt.is_some_and(|excerpt| excerpt.contains("src/ledger.rs") && excerpt.len() < 320)
        );
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
        let excerpt = notes.excerpt(&text, error.len() + 10);
        assert!(excerpt.is_some_and(|excerpt| excerpt.contains(&error)));
        assert_eq!(notes.last_error_in(&text), Some(&*error));
        assert_eq!(notes.last_error_in("all is well"), None);
    }

    #[test]
    fn a_text_without_anything_of_worth_has_no_excerpt() {
        assert_eq!(notes().excerpt("", 100), None);
        assert_eq!(notes().excerpt("all is well", 2), None);
    }
}
