//! A server tool's use without its result, and the other way round (ANTH-7).

use std::collections::{BTreeMap, HashSet};

use crate::formats::anthropic::rules::{Halves, link};
use crate::json;
use crate::model::message::{Content, Link, Message, Part};
use crate::repair::{Draft, Reading, texts};

/// Leaves a half out where all else in its message is neither signed nor unknown: whether the
/// API accepts such a message without one of its blocks, nobody says. A use that calls of the client's
/// tools name as their caller stays: without it they would name nothing.
pub(super) fn leave_out_halves(reading: &Reading, draft: &mut Draft<'_>) {
    let Halves { uses, results } = Halves::of(&reading.messages);
    let callers = callers(reading);
    let is_caller = |(message, part): &(usize, usize)| {
        let part = &reading.messages[*message].parts[*part];
        matches!(link(part), Some(Link::Opens(id)) if callers.contains(id))
    };
    let mut halves: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let uses = uses.into_iter().filter(|own| !is_caller(own));
    for (message, part) in uses.chain(results) {
        halves.entry(message).or_default().push(part);
    }
    let mut speakers = texts::Speakers::of(reading);
    let what = "left out: a call or result of a server tool without the other";
    for (index, parts) in halves {
        let message = &reading.messages[index];
        if parts.len() == message.parts.len() {
            if speakers.may_go(message) {
                draft.leave_out(index, what);
            }
        } else if !is_sealed_beside(message, parts.len()) {
            draft.cut_parts(index, &parts, what);
        }
    }
}

/// The ids of the uses whose code called tools of the client's.
fn callers(reading: &Reading) -> HashSet<String> {
    let messages = reading.each();
    let parts = messages.flat_map(|(_, message)| &message.parts);
    let calls = parts.filter(|part| matches!(part.content, Content::Call(_)));
    let ids = calls.filter_map(|call| {
        let caller = reading.member(&call.place, &["caller"])?;
        reading.member(&caller, &["tool_id"])
    });
    ids.map(|id| reading.raw(&id))
        .filter(|id| json::is_text(id))
        .map(|id| json::decode(id).into_owned())
        .collect()
}

/// Whether there are more sealed parts in a message than the halves that go.
fn is_sealed_beside(message: &Message, halves: usize) -> bool {
    let is_sealed =
        |part: &&Part| matches!(part.content, Content::Thinking(_) | Content::Opaque(_));
    message.parts.iter().filter(is_sealed).count() > halves
}
