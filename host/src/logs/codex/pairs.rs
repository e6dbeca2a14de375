//! Makes the items valid: every output has its call, every call its output (RESP-1, RESP-2).

use std::borrow::Cow;
use std::collections::HashMap;

use super::items::{Item, Kind};
use crate::formats::json;
use crate::logs::LogFacts;
use crate::logs::pairing::NO_RESULT;

/// An item of the body.
pub(super) struct Piece<'a> {
    pub(super) raw: Cow<'a, str>,
    /// The index of the item in the log that it is, or that it completes.
    pub(super) index: usize,
}

/// What becomes of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Goes,
    /// It is a call that gets an output of this type.
    Completed(&'static str),
}

pub(super) fn paired<'a>(items: Vec<Item<'a>>, facts: &mut LogFacts) -> Vec<Piece<'a>> {
    let (fates, ended) = fates(&items, facts);
    let mut pieces = Pieces::default();
    let mut missing: Vec<Piece<'a>> = Vec::new();
    for (index, (item, fate)) in items.into_iter().zip(fates).enumerate() {
        if fate == Fate::Goes {
            continue;
        }
        // Behind the batch that the call belongs to.
        if !matches!(item.kind, Kind::Call { .. } | Kind::Output { .. }) {
            pieces.answer(&mut missing);
        }
        if let (Kind::Call { id, .. }, Fate::Completed(output)) = (&item.kind, fate) {
            let (id, text) = (json::encode(id), json::encode(NO_RESULT));
            let raw = format!(r#"{{"type":"{output}","call_id":{id},"output":{text}}}"#);
            missing.push(Piece {
                raw: Cow::Owned(raw),
                index,
            });
        }
        let piece = Piece {
            raw: item.raw,
            index,
        };
        match item.kind {
            Kind::Output { .. } => pieces.answer(&mut vec![piece]),
            Kind::Reasoning => pieces.reason(piece),
            _ => pieces.add(piece),
        }
        // Calls that follow are pending, and an output between them would part them.
        if index == ended {
            pieces.answer(&mut missing);
        }
    }
    pieces.all
}

/// The items of the body, as far as they are put together.
#[derive(Default)]
struct Pieces<'a> {
    all: Vec<Piece<'a>>,
    /// How many of the last ones are reasoning.
    reasoning: usize,
}

impl<'a> Pieces<'a> {
    fn add(&mut self, piece: Piece<'a>) {
        self.all.push(piece);
        self.reasoning = 0;
    }

    fn reason(&mut self, piece: Piece<'a>) {
        self.all.push(piece);
        self.reasoning += 1;
    }

    /// Adds outputs. What reasoning produced comes directly behind it (RESP-3), so outputs that
    /// were written while the response went on come in front of it.
    fn answer(&mut self, outputs: &mut Vec<Piece<'a>>) {
        let at = self.all.len() - self.reasoning;
        self.all.splice(at..at, outputs.drain(..));
    }
}

/// What becomes of each item, and the index of the last one that is no call or reasoning: calls
/// behind it are pending.
fn fates(items: &[Item<'_>], facts: &mut LogFacts) -> (Vec<Fate>, usize) {
    let mut fates = vec![Fate::Stays; items.len()];
    // Calls by id: where, and whether answered.
    let mut calls: HashMap<&str, (usize, bool)> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        match &item.kind {
            Kind::Call { id, .. } if calls.contains_key(&**id) => {
                fates[index] = Fate::Goes;
                facts.dropped_calls += 1;
            }
            Kind::Call { id, .. } => {
                calls.insert(id, (index, false));
            }
            Kind::Output { id } => match calls.get_mut(&**id) {
                Some((_, answered)) if !*answered => *answered = true,
                _ => {
                    fates[index] = Fate::Goes;
                    facts.dropped_results += 1;
                }
            },
            _ => {}
        }
    }
    // A call is pending while only calls of the same response follow.
    let ended = items
        .iter()
        .zip(&fates)
        .rposition(|(item, fate)| {
            *fate != Fate::Goes && !matches!(item.kind, Kind::Call { .. } | Kind::Reasoning)
        })
        .unwrap_or(0);
    for (index, _) in calls
        .into_values()
        .filter(|(index, answered)| !answered && *index < ended)
    {
        if let Kind::Call {
            output: Some(output),
            ..
        } = items[index].kind
        {
            fates[index] = Fate::Completed(output);
            facts.completed_calls += 1;
        } else {
            fates[index] = Fate::Goes;
            facts.dropped_calls += 1;
        }
    }
    drop_dangling(items, &mut fates, facts);
    (fates, ended)
}

/// Reasoning is followed by what it produced (RESP-3); else its response was aborted.
fn drop_dangling(items: &[Item<'_>], fates: &mut [Fate], facts: &mut LogFacts) {
    let mut is_followed = false;
    let mut is_counted = false;
    // Whether what follows, of all that stays, is a product.
    let mut is_before_product = false;
    for (item, fate) in items.iter().zip(fates).rev() {
        if *fate == Fate::Goes {
            // What reasoning produced is gone, unless there is more of the same response.
            is_followed &= is_before_product || !matches!(item.kind, Kind::Call { .. });
            continue;
        }
        is_before_product = matches!(item.kind, Kind::Call { .. } | Kind::Reply);
        match item.kind {
            Kind::Call { .. } | Kind::Reply => is_followed = true,
            Kind::Reasoning if is_followed => is_counted = false,
            Kind::Reasoning => {
                *fate = Fate::Goes;
                facts.aborted_responses += usize::from(!is_counted);
                is_counted = true;
            }
            // Outputs may be written while the response goes on.
            Kind::Output { .. } => {}
            Kind::User | Kind::Input | Kind::Summary | Kind::Other => {
                is_followed = false;
                is_counted = false;
            }
        }
    }
}
