//! Items that stay or go together: one response of the model and the outputs of its calls.

use super::answers::Asked;
use super::item;
use crate::model::message::{Call, Content, Link, Meaning, Message, Part, Role};
use crate::model::pairing::{Among, Pairing};
use crate::model::unit::Unit;

/// What an item means for the unit that it may belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Stands for itself.
    Alone,
    Reasoning,
    /// Stands for reasoning that the document does not show.
    ReferredReasoning,
    /// Stands for an item of any type.
    Reference,
    /// The model's words.
    Words,
    /// A call, or a tool of the provider's own.
    Act,
    /// An answer to something before it.
    Answer,
}

/// A unit as far as it was seen.
#[derive(Debug, Default)]
struct Open {
    start: usize,
    takes_more: bool,
    has_reasoning: bool,
    /// Something beside reasoning.
    has_product: bool,
    has_words: bool,
    /// A call, or a request for approval, after all answers: until something answers it, what
    /// the model says is of the same response.
    waits: bool,
    has_answers: bool,
}

/// Number of items of each unit.
///
/// Reasoning, and all that is sent under ids of its response, have to stay together (RESP-3,
/// RESP-4). So without reasoning each call and its output are a unit of their own, as soon as
/// an output parts them; with it, all up to the next reasoning. What comes after a call that
/// nothing answered yet is of the same response. An output that comes late takes all between
/// itself and its call into one unit; one whose call is not there all between itself and where
/// the responses began of which the newest reference is, since that may stand for the call. A reference
/// that may be the output of a call takes all between itself and the first call that waits.
/// A reference may as well stand for reasoning, and its id says that. Where it does not, the reference
/// may stand for what hangs on reasoning, too: it stays with what comes before it like a call, and
/// with what comes after it like reasoning.
pub(super) fn lengths(messages: &[Message]) -> Vec<usize> {
    let mut units: Vec<Open> = Vec::new();
    let mut asked: Asked<&str> = Asked::default();
    for (index, message) in messages.iter().enumerate() {
        let place = place(message);
        if let Some(call) = asked.see(message) {
            while let Some(later) = units.pop_if(|unit| unit.start > call) {
                if let Some(unit) = units.last_mut() {
                    unit.has_reasoning |= later.has_reasoning;
                    unit.has_words |= later.has_words;
                }
            }
            if let Some(unit) = units.last_mut().filter(|_| is_reference(message)) {
                unit.take(place, message);
            } else if let Some(unit) = units.last_mut() {
                unit.has_answers = true;
                // What was answered is a product, also where a reference stands for it.
                unit.has_product = true;
                unit.takes_more = true;
                unit.waits = false;
            }
            continue;
        }
        match units.last_mut().filter(|unit| unit.takes(place)) {
            Some(unit) => unit.take(place, message),
            None => {
                let mut unit = Open {
                    start: index,
                    takes_more: !matches!(place, Place::Alone | Place::Answer),
                    ..Open::default()
                };
                unit.take(place, message);
                units.push(unit);
            }
        }
    }
    let ends = units
        .iter()
        .skip(1)
        .map(|unit| unit.start)
        .chain([messages.len()]);
    units
        .iter()
        .zip(ends)
        .map(|(unit, end)| end - unit.start)
        .collect()
}

/// The unit of the call that `next` answers, or may stand for the answer to; else the last one.
pub(super) fn reopens(
    messages: &[Message],
    units: &[Unit],
    next: &Message,
    asked: &mut Asked,
) -> usize {
    let last = units.len().saturating_sub(1);
    if answered(next).is_none() && !next.may_be_anything() {
        return last;
    }
    asked.nearest(messages, next).map_or(last, |call| {
        units.partition_point(|unit| unit.end() <= call)
    })
}

/// Whether an item stands for another one that the document does not show.
pub(crate) fn is_reference(message: &Message) -> bool {
    message
        .opaques()
        .any(|opaque| opaque.kind == item::REFERENCE)
}

/// The calls of a unit that have no output, and after which no reference stands that may be one: the
/// indices of their items, in order. Those whose output may come later are none of them.
pub(crate) fn unanswered(unit: &[Message]) -> Vec<usize> {
    let unanswered = Pairing::of(unit).unanswered.into_iter();
    let waiting = Among::of(unanswered.filter(|call| !call.detached));
    let waits = |index: &usize| unit[*index].calls().any(|call| waiting.has(call));
    let referred = unit
        .iter()
        .rposition(Message::may_be_anything)
        .unwrap_or_default();
    (referred..unit.len()).filter(waits).collect()
}

/// Whether a call runs a program, which may call the client's tools in its turn.
pub(crate) fn is_program(call: &Call) -> bool {
    call.kind == item::PROGRAM
}

/// Whether neither the model nor a tool says it.
pub(crate) fn is_of_others(message: &Message) -> bool {
    matches!(message.role, Role::User | Role::System | Role::Developer)
}

impl Open {
    fn takes(&self, place: Place) -> bool {
        self.takes_more
            && match place {
                Place::Alone | Place::Answer => false,
                // Some gateways want reasoning before each call of a batch (RESP-6).
                Place::Reasoning | Place::ReferredReasoning => self.waits || !self.has_product,
                Place::Words => {
                    self.waits || !self.has_answers && (!self.has_words || self.has_reasoning)
                }
                Place::Act | Place::Reference => {
                    self.waits || !self.has_answers || self.has_reasoning
                }
            }
    }

    fn take(&mut self, place: Place, message: &Message) {
        // The calls of a program hang on it as items hang on their reasoning.
        let is_program = message.calls().any(is_program);
        let is_reasoning = matches!(place, Place::Reasoning | Place::ReferredReasoning);
        let is_reference = place == Place::Reference;
        self.has_reasoning |= is_reasoning || is_reference || is_program;
        // With a reference another response may begin.
        self.has_product = !is_reference && (self.has_product || !is_reasoning);
        self.has_answers &= !is_reference;
        self.has_words |= place == Place::Words;
        self.waits |= message.calls().any(|call| !call.detached)
            || message
                .opaques()
                .any(|opaque| matches!(opaque.link, Link::Opens(_)));
    }
}

fn place(message: &Message) -> Place {
    if message.role == Role::Tool {
        return Place::Answer;
    }
    if message.role != Role::Assistant || message.has_compaction() {
        return Place::Alone;
    }
    if is_reference(message) {
        let id = message.id().unwrap_or_default();
        return if id.starts_with(item::REASONING) {
            Place::ReferredReasoning
        } else {
            Place::Reference
        };
    }
    match message.parts.first().map(|part| &part.content) {
        Some(Content::Thinking(_)) => Place::Reasoning,
        Some(Content::Opaque(opaque)) if opaque.meaning == Meaning::Reasoning => Place::Reasoning,
        Some(Content::Call(_)) => Place::Act,
        Some(Content::Opaque(_)) if message.content.is_none() => Place::Act,
        _ => Place::Words,
    }
}

/// Whether an item is reasoning.
pub(crate) fn is_reasoning_item(message: &Message) -> bool {
    place(message) == Place::Reasoning
}

/// The ids under which something can answer this item.
pub(crate) fn asks(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(|part| match &part.content {
        Content::Call(call) => Some(call.id.as_str()),
        Content::Opaque(opaque) => match &opaque.link {
            Link::Opens(id) => Some(id.as_str()),
            _ => None,
        },
        _ => None,
    })
}

/// The id that this item answers.
pub(crate) fn answered(message: &Message) -> Option<&str> {
    message
        .parts
        .iter()
        .find_map(|part: &Part| match &part.content {
            Content::Output(output) => Some(output.call_id.as_str()),
            Content::Opaque(opaque) => match &opaque.link {
                Link::Closes(id) => Some(id.as_str()),
                _ => None,
            },
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::conversation::Conversation;
    use crate::model::format::Format;

    #[test]
    fn reasoning_behind_an_answer_begins_a_response_of_its_own() {
        let items = json!([
            {"role": "user", "content": "When is high tide?"},
            {"type": "item_reference", "id": "fc_1"},
            {"type": "function_call_output", "call_id": "call_1", "output": "07:14"},
            {"type": "reasoning", "id": "rs_2", "summary": []},
            {"type": "message", "id": "msg_2", "role": "assistant",
                "content": [{"type": "output_text", "text": "At 07:14.", "annotations": []}]},
            {"role": "user", "content": "Thank you."},
        ]);
        let document = json!({"model": "m", "input": items}).to_string();
        let read = Conversation::of(&document, Some(Format::OpenAiResponses)).expect("reads");
        let lengths: Vec<usize> = (0..read.units().len())
            .map(|unit| read.messages(unit).len())
            .collect();
        assert_eq!(lengths, [1, 2, 2, 1]);
    }

    #[test]
    fn references_that_may_be_outputs_stay_with_the_calls_before_them() {
        let user = json!({"role": "user", "content": "When is high tide?"});
        let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "tides", "arguments": "{}"});
        let output =
            |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "07:14"});
        let refers = |id: &str| json!({"type": "item_reference", "id": id});
        for (items, expected, broken) in [
            (
                vec![call("a"), refers("fco_a"), user.clone()],
                vec![1, 2, 1],
                0,
            ),
            (
                vec![
                    call("a"),
                    call("b"),
                    output("a"),
                    refers("fco_b"),
                    user.clone(),
                ],
                vec![1, 4, 1],
                0,
            ),
            // It comes late, and what comes later still belongs to other calls.
            (
                vec![
                    call("a"),
                    user.clone(),
                    refers("fco_a"),
                    user.clone(),
                    refers("fco_x"),
                    user.clone(),
                ],
                vec![1, 3, 1, 1, 1],
                0,
            ),
            // Neither a message nor what comes before a call is its output.
            (
                vec![call("a"), user.clone(), refers("msg_1"), user.clone()],
                vec![1, 1, 1, 1, 1],
                1,
            ),
            (
                vec![refers("fco_a"), call("a"), user.clone()],
                vec![1, 2, 1],
                1,
            ),
        ] {
            let items = [vec![user.clone()], items].concat();
            let document = json!({"model": "m", "input": items}).to_string();
            let read = Conversation::of(&document, Some(Format::OpenAiResponses)).expect("reads");
            let lengths: Vec<usize> = read.units().iter().map(|unit| unit.messages).collect();
            assert_eq!(lengths, expected, "{document}");
            assert_eq!(read.violations().len(), broken, "{document}");
        }
    }

    #[test]
    fn reference_may_leave_its_type_out() {
        let user = json!({"role": "user", "content": "Thank you."});
        let output =
            json!({"type": "function_call_output", "call_id": "call_1", "output": "07:14"});
        for reference in [
            json!({"type": "item_reference", "id": "fc_1"}),
            json!({"type": null, "id": "fc_1"}),
            json!({"id": "fc_1"}),
        ] {
            let items = json!([reference, output, user]).to_string();
            let read = Conversation::of(&items, None).expect("reads");
            assert_eq!(read.violations(), []);
            let lengths: Vec<usize> = read.units().iter().map(|unit| unit.messages).collect();
            assert_eq!(lengths, [2, 1]);
            // Nothing else shows the format.
            let items = json!([reference, user]).to_string();
            let read = Conversation::of(&items, None).expect("reads");
            assert_eq!(read.format(), Format::OpenAiResponses);
        }
        let other = json!([{"id": "fc_1", "name": "tides"}]).to_string();
        assert!(Conversation::of(&other, Some(Format::OpenAiResponses)).is_err());
    }
}
