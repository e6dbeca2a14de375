//! The pieces of a text of which a gist is made.

use std::borrow::Cow;

use super::GAP;
use crate::sentences::each_sentence;
use crate::text;

/// A line of more bytes is taken apart into its sentences.
const LINE: usize = 160;

/// Most pieces that are looked at: the first and the last ones.
const PIECES: usize = 400;

/// Returns the lines of an entry, and of long lines their sentences. Lines of code say nothing without the others, so
/// they are left out.
pub(super) fn of(said: &str) -> Vec<Cow<'_, str>> {
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
