//! A server tool's use without its result, and the other way round (ANTH-7).

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::conversation::message::{Content, Link, Message, Part};
use crate::formats::anthropic::rules::turns;
use crate::repair::{Draft, Reading, texts};

/// Leaves a half out where all else in its message is neither signed nor unknown: whether the
/// API takes such a message without one of its blocks, nobody says.
pub(super) fn leave_out_halves(reading: &Reading, draft: &mut Draft<'_>) {
    let mut halves: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, turn) in turns(&reading.messages).take_while(|_| !reading.is_late()) {
        let mut open: HashMap<&str, VecDeque<(usize, usize)>> = HashMap::new();
        for (index, message) in turn.iter().enumerate() {
            for (part, link) in links(message) {
                match link {
                    Link::Opens(id) => open.entry(id).or_default().push_back((at + index, part)),
                    Link::Closes(id) => {
                        let uses = open.get_mut(id.as_str());
                        if uses.and_then(VecDeque::pop_front).is_none() {
                            halves.entry(at + index).or_default().push(part);
                        }
                    }
                    Link::None => {}
                }
            }
        }
        // The provider paused the last response; it goes on in the next request.
        if at + turn.len() < reading.messages.len() {
            for (message, part) in open.into_values().flatten() {
                halves.entry(message).or_default().push(part);
            }
        }
    }
    let mut speakers = texts::Speakers::of(reading);
    for (index, parts) in halves {
        let message = &reading.messages[index];
        if parts.len() == message.parts.len() {
            if !speakers.may_go(message) {
                continue;
            }
            draft.leave_out(index);
        } else if is_sealed_beside(message, parts.len()) || !draft.cut_parts(index, &parts) {
            continue;
        }
        draft.did(
            index,
            "left out: a server tool's use or result without the other",
        );
    }
}

fn links(message: &Message) -> impl Iterator<Item = (usize, &Link)> {
    let parts = message.parts.iter().enumerate();
    parts.filter_map(|(index, part)| match &part.content {
        Content::Opaque(opaque) => Some((index, &opaque.link)),
        _ => None,
    })
}

/// Whether there are more sealed parts in a message than the halves that go.
fn is_sealed_beside(message: &Message, halves: usize) -> bool {
    let is_sealed =
        |part: &&Part| matches!(part.content, Content::Thinking(_) | Content::Opaque(_));
    message.parts.iter().filter(is_sealed).count() > halves
}
