//! The pieces of a text of which a gist is made.

use std::borrow::Cow;

use super::GAP;
use crate::changes::{BEFORE, BEHIND};
use crate::sentences::each_sentence;
use crate::traces::Traces;
use crate::{errors, text};

/// A line of more bytes is taken apart into its sentences.
const LINE: usize = 160;

/// Most pieces that are looked at: the first and the last ones.
const PIECES: usize = 400;

/// Returns the lines of an entry, and of long lines their sentences. Lines of code say nothing without the others, so
/// they are left out.
pub(super) fn of(said: &str) -> Vec<Cow<'_, str>> {
    let mut pieces: Vec<Cow<'_, str>> = Vec::new();
    let is_fence = |line: &&str| line.trim_start().starts_with(text::FENCE);
    let fences = said.lines().filter(is_fence).count();
    // The rest of a text whose first part, with the first fence, is another message.
    let begins_with_end = said.trim_start().lines().next().map(str::trim) == Some(text::FENCE);
    let mut is_code = begins_with_end && fences % 2 == 1;
    // The code that the last piece announced.
    let mut announced: Option<String> = None;
    let mut traces = Traces::default();
    for line in said.lines() {
        // It may be a gist itself.
        let line = line.trim().trim_end_matches(GAP);
        // Both versions of what an edit in the text replaces, of which a fence may be missing.
        let begins = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
        if begins(&BEFORE) || begins(&BEHIND) {
            is_code = begins(&BEFORE);
            continue;
        }
        if line.starts_with(text::FENCE) {
            is_code = !is_code;
            if !is_code {
                add_code(&mut pieces, announced.take());
            }
            continue;
        }
        if is_code {
            let code = announced.as_mut().filter(|_| !line.is_empty());
            if let Some(code) = code
                && code.len() + line.len() < CODE
            {
                if !code.is_empty() {
                    code.push(' ');
                }
                code.push_str(line);
            } else if !line.is_empty() {
                add_code(&mut pieces, announced.take());
            }
            continue;
        }
        if traces.is_of_library(line) {
            continue;
        }
        let says = line.chars().any(char::is_alphanumeric);
        if says && line.len() <= LINE {
            pieces.push(Cow::Borrowed(line));
        } else if says && errors::is_error_from_its_start(line) {
            let begins = &line[..line.floor_char_boundary(LINE)];
            pieces.push(Cow::Owned(format!("{begins}{GAP}")));
        } else if says {
            each_sentence(line, &mut |sentence| {
                pieces.push(Cow::Owned(sentence.to_owned()));
            });
        }
        if !line.is_empty() {
            announced = (says && line.ends_with(':')).then(String::new);
        }
    }
    add_code(&mut pieces, announced);
    if pieces.len() > PIECES {
        pieces.drain(PIECES / 2..pieces.len() - PIECES / 2);
    }
    pieces
}

/// Most bytes of the code that a piece announces.
const CODE: usize = 90;

/// Adds the code that it announced to the last piece.
fn add_code(pieces: &mut [Cow<'_, str>], code: Option<String>) {
    if let Some(piece) = pieces.last_mut()
        && let Some(code) = code.filter(|code| !code.is_empty())
    {
        piece.to_mut().push_str(&format!(" `{code}`"));
    }
}
