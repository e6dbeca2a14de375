//! Unseen outputs: those after the model's last message. A compaction must keep each of them with its call,
//! whole or as the host shortened it.

use crate::message::{Message, Part, PartKind, Role};

/// The least size, in characters, to which the host may shorten an unseen output.
const SHORTEST: usize = 400;

/// The beginning of a shortened output.
const SHORTENED: &str = "<baler:excerpt by=\"baler\"";

/// Returns the share of unseen outputs that were kept with their calls; `None` if there were none.
pub(crate) fn kept(before: &[Vec<Message>], after: &[Vec<Message>]) -> Option<f64> {
    let (calls, outputs) = newest(before);
    if outputs.is_empty() {
        return None;
    }
    let (calls_after, outputs_after) = newest(after);
    if calls != calls_after {
        return Some(0.0);
    }
    let is_there = |(old, new): &(&&Part, &&Part)| old == new || new.text.starts_with(SHORTENED);
    let kept = outputs.iter().zip(&outputs_after).filter(is_there).count();
    Some(kept as f64 / outputs.len() as f64)
}

/// Returns the calls of the model's newest messages, and the outputs after them.
fn newest(units: &[Vec<Message>]) -> (Vec<&Part>, Vec<&Part>) {
    let messages: Vec<&Message> = units.iter().flatten().collect();
    let (seen, unseen) = messages.split_at(seen_messages(units));
    let calling = seen
        .rsplit(|message| message.role != Role::Assistant)
        .next();
    (
        of_kind(calling.unwrap_or_default(), PartKind::Call),
        of_kind(unseen, PartKind::Output),
    )
}

fn of_kind<'a>(messages: &[&'a Message], kind: PartKind) -> Vec<&'a Part> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    parts.filter(|part| part.kind == kind).collect()
}

/// Returns the number of messages up to and including the model's last one.
fn seen_messages(units: &[Vec<Message>]) -> usize {
    let messages: Vec<&Message> = units.iter().flatten().collect();
    let last = messages
        .iter()
        .rposition(|message| message.role == Role::Assistant);
    last.map_or(0, |last| last + 1)
}

/// Returns for each unit with unseen outputs its size with all of them at their shortest; `None` for other
/// units.
pub(crate) fn shortest(units: &[Vec<Message>]) -> Vec<Option<usize>> {
    let seen = seen_messages(units);
    let mut at = 0;
    let mut sizes = Vec::with_capacity(units.len());
    for unit in units {
        let (mut size, mut is_unseen) = (0, false);
        for message in unit {
            if at < seen {
                size += message.size();
            } else {
                is_unseen |= message.parts.iter().any(is_output);
                let parts = message.parts.iter();
                size += parts.map(shortest_part).sum::<usize>();
            }
            at += 1;
        }
        sizes.push(is_unseen.then_some(size));
    }
    sizes
}

fn is_output(part: &Part) -> bool {
    part.kind == PartKind::Output
}

fn shortest_part(part: &Part) -> usize {
    match part.kind {
        PartKind::Output => part.size.min(SHORTEST),
        _ => part.size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(output: &str) -> Vec<Message> {
        let call = r#"{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}"#;
        let output = serde_json::json!({"role": "tool", "content": output}).to_string();
        [call, &output]
            .map(|raw| Message::read("openai-chat", raw))
            .into()
    }

    fn user() -> Vec<Message> {
        vec![Message::read(
            "openai-chat",
            r#"{"role": "user", "content": "a"}"#,
        )]
    }

    #[test]
    fn kept_counts_unseen_outputs_with_their_calls() {
        let (old, new) = (step("old"), step(&"new ".repeat(200)));
        let before = [user(), old.clone(), new.clone()];
        let kept = |after: &[Vec<Message>]| kept(&before, after);
        assert_eq!(kept(&before), Some(1.0));
        assert_eq!(kept(&[user(), new.clone()]), Some(1.0));
        let shortened = step("<baler:excerpt by=\"baler\" seal=\"x\">\nnew\n</baler:excerpt>");
        assert_eq!(kept(&[user(), shortened]), Some(1.0));
        let by_another = step("<baler:rewritten by=\"theirs\">\nnew\n</baler:rewritten>");
        assert_eq!(kept(&[user(), by_another]), Some(0.0));
        assert_eq!(kept(&[user(), old.clone()]), Some(0.0));
        assert_eq!(kept(&[user()]), Some(0.0));
        assert_eq!(kept(&[user(), new[..1].to_vec()]), Some(0.0));
        // Nothing is unseen if the last message is the model's.
        let answered = [user(), old, vec![new[0].clone()]];
        assert_eq!(super::kept(&answered, &[user()]), None);
    }

    #[test]
    fn shortest_applies_to_unseen_outputs_only() {
        let (old, new) = (step(&"old ".repeat(200)), step(&"new ".repeat(200)));
        let call = "f{}".len();
        let units = [user(), old, new];
        assert_eq!(shortest(&units), [None, None, Some(call + SHORTEST)]);
        assert_eq!(shortest(&units[..1]), [None]);
    }
}
