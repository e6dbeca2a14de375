//! Makes the items valid: every output has its call, every call its output (RESP-1, RESP-2).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::items::{Item, Kind};
use crate::formats::openai_responses::write;
use crate::json;
use crate::logs::pairing::{NO_RESULT, Names, Open, with_id};
use crate::model::log::LogFacts;

/// An item of the body.
pub(super) struct Piece<'a> {
    pub(super) raw: Cow<'a, str>,
    /// The index of the item in the log that it is, or that it completes.
    pub(super) index: usize,
    /// Whether it is a summary that a compaction recorded.
    pub(super) is_summary: bool,
}

/// What becomes of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Goes,
    /// It is a call that gets an output of this type.
    Completed(&'static str),
}

/// What becomes of the items.
struct Outcome {
    fates: Vec<Fate>,
    /// The index of the last item that is not a call or reasoning: calls after it are pending.
    ended: usize,
    /// By the index of a call or an output, the id that it gets in the place of an empty one.
    names: HashMap<usize, String>,
}

pub(super) fn paired<'a>(items: Vec<Item<'a>>, facts: &mut LogFacts) -> Vec<Piece<'a>> {
    let Outcome {
        fates,
        ended,
        names,
    } = outcome(&items, facts);
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    // Reasoning whose product comes next. It waits, since what reasoning produced comes directly
    // after it (RESP-3): outputs that were written while the response went on come in front.
    let mut reasoning: Vec<Piece<'a>> = Vec::new();
    let mut missing: Vec<Piece<'a>> = Vec::new();
    for (index, (item, fate)) in items.into_iter().zip(fates).enumerate() {
        if fate == Fate::Goes {
            continue;
        }
        // After the batch that the call belongs to.
        if !matches!(item.kind, Kind::Call { .. } | Kind::Output { .. }) {
            pieces.append(&mut missing);
        }
        let name = names.get(&index);
        if let (Kind::Call { id, .. }, Fate::Completed(output)) = (&item.kind, fate) {
            let id = json::encode(name.map_or(&**id, String::as_str));
            let text = json::encode(NO_RESULT);
            let raw = write::output_of(output, &id, &text);
            missing.push(Piece {
                raw: Cow::Owned(raw),
                index,
                is_summary: false,
            });
        }
        let raw = match name {
            Some(name) => Cow::Owned(with_id(&item.raw, "call_id", name).into_owned()),
            None => item.raw,
        };
        let piece = Piece {
            raw,
            index,
            is_summary: matches!(item.kind, Kind::Summary),
        };
        match item.kind {
            Kind::Output { .. } => pieces.push(piece),
            Kind::Reasoning => reasoning.push(piece),
            _ => {
                pieces.append(&mut reasoning);
                pieces.push(piece);
            }
        }
        // Calls that follow are pending, and an output between them would part them.
        if index == ended {
            pieces.append(&mut missing);
        }
    }
    pieces.append(&mut reasoning);
    pieces
}

fn outcome(items: &[Item<'_>], facts: &mut LogFacts) -> Outcome {
    let mut fates = vec![Fate::Stays; items.len()];
    let mut open = Open::default();
    let taken: HashSet<&str> = items.iter().filter_map(Item::call_id).collect();
    let mut made = Names::default();
    let mut names: HashMap<usize, String> = HashMap::new();
    // Calls are of one response until something comes that is not the model's.
    let mut response = 0;
    // The newest response with a call of an id.
    let mut responses: HashMap<&str, usize> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        match &item.kind {
            Kind::Call { id, .. } if id.is_empty() => {
                names.insert(index, made.next(|name| !taken.contains(name)));
                open.add(response, Cow::Borrowed(""), index);
            }
            Kind::Call { id, .. } => {
                if responses.insert(id, response) == Some(response) {
                    fates[index] = Fate::Goes;
                    facts.dropped_calls += 1;
                } else {
                    open.add(response, Cow::Borrowed(id), index);
                }
            }
            Kind::Output { id } => {
                response += 1;
                match open.take(id) {
                    Some(call) => {
                        if let Some(name) = names.get(&call).cloned() {
                            names.insert(index, name);
                        }
                    }
                    None => {
                        fates[index] = Fate::Goes;
                        facts.dropped_results += 1;
                    }
                }
            }
            Kind::Reasoning | Kind::Reply => {}
            Kind::User | Kind::Input | Kind::Summary | Kind::Other => response += 1,
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
    for index in open.rest().filter(|index| *index < ended) {
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
    Outcome {
        fates,
        ended,
        names,
    }
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
