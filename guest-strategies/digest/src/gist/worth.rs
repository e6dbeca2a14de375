//! What a piece is worth for its length.

use super::AROUND;
use crate::facts::announces;
use crate::signs::Signs;
use crate::{decisions, errors, scan, traces};

/// What a piece is worth: any at all; each of its names, of which at most [`NAMES`] count; the first one, the last
/// one, and one with a reason, finding or plan.
const ANY: f64 = 0.02;
const NAMES: usize = 4;
const FIRST: f64 = 4.0;
const LAST: f64 = 2.0;
const FINDING: f64 = 4.0;

/// How much more the names of a piece are worth near the beginning, where a text says what it is about, and how many
/// pieces count as near.
const LEAD: f64 = 1.0;
const NEAR: f64 = 4.0;

/// How much of its worth a piece has that announces what came next: `Let me look at it.`
const ANNOUNCED: f64 = 0.3;

/// How much of its worth a piece has that states nothing, such as a line of source code, of a log or of a list of packages,
/// or a question that the model asked itself.
const UNSAID: f64 = 0.3;

/// The same of a guess, and of what would be if.
const GUESSED: f64 = 0.5;

/// What the path of a file is worth, as a share of any other name.
const PATH: f64 = 2.0;

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

/// Whether a piece says what may be, and not what is.
fn is_guess(piece: &str) -> bool {
    const STARTS: [&str; 7] = [
        "If ", "Maybe ", "Perhaps ", "Wait", "Hmm", "Or maybe", "But wait",
    ];
    STARTS.iter().any(|start| piece.starts_with(start))
}

/// Whether a piece is prose, and not code or the output of a program.
pub(super) fn is_prose(piece: &str) -> bool {
    let is_of_program = piece.starts_with(['#', '<', '>', '{', '}', '@'])
        || piece.starts_with("File \"")
        || piece.ends_with([';', '{', '(', ',']);
    let words = piece.split_whitespace().filter(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_alphabetic() || c == '\'' || c == '-' || c == '’')
    });
    // Scripts such as Chinese have no spaces between words.
    let has_words =
        words.take(2).count() == 2 || piece.chars().any(|c| c.is_alphabetic() && c >= '\u{2e80}');
    has_words && !is_of_program
}

/// Returns what the piece with this index, of `count`, is worth for its length. `first` is the index of the first one
/// that says something.
pub(super) fn of(text: &str, index: usize, first: usize, count: usize) -> f64 {
    let names = scan::names(text).take(NAMES).map(|name| {
        match name.bytes().all(|byte| byte.is_ascii_digit()) {
            true => NUMBER,
            // Where it is, is what is needed most.
            false if name.contains('/') && name.contains('.') => PATH,
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
    if !is_prose(text) || text.ends_with('?') && index + 1 < count {
        worth *= UNSAID;
    }
    if is_guess(text) {
        worth *= GUESSED;
    }
    if errors::is_error_from_its_start(text) {
        worth += FINDING;
    }
    if traces::is_frame_of_library(text) {
        worth = 0.0;
    }
    worth / (text.len() as f64 + AROUND)
}
