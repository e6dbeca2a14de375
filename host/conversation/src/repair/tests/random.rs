//! Conversations in which messages are missing, come twice or changed places.

use std::collections::{BTreeMap, HashSet};

use baler_generated::{Choices, Generated, Kind, conversation};

use serde_json::{Value, json};

use super::read;
use crate::conversation::Conversation;
use crate::model::format::Format;

const SEEDS: u64 = 150;

const FORMATS: [Format; 5] = [
    Format::OpenAiChat,
    Format::OpenAiResponses,
    Format::Anthropic,
    Format::Gemini,
    Format::BedrockConverse,
];

/// Rules that a result may still break, with what makes it so.
fn may_stay(format: Format) -> &'static [&'static str] {
    match format {
        Format::OpenAiChat => &[],
        // Calls whose outputs are not text, in a response with reasoning or used twice.
        Format::OpenAiResponses => &["ALL-4", "RESP-2"],
        // Results where nobody else says anything; an open loop that lost its thinking; marks for the
        // cache in what is signed.
        Format::Anthropic => &["ANTH-4", "ANTH-5", "ANTH-9"],
        Format::Gemini => &[],
        // Documents and marks for the cache beside parts that nobody knows.
        Format::BedrockConverse => &["BED-9", "BED-10"],
    }
}

/// The same where the damage is inside of messages, and these may be signed.
fn may_stay_inside(format: Format) -> &'static [&'static str] {
    match format {
        Format::OpenAiChat => &["ALL-4"],
        Format::OpenAiResponses => &["ALL-4", "ALL-6", "RESP-2", "RESP-8"],
        Format::Anthropic => &["ALL-4", "ANTH-5", "ANTH-6", "ANTH-7"],
        Format::Gemini => &["ALL-4", "GEM-3", "GEM-5"],
        Format::BedrockConverse => &["ALL-4", "BED-6", "BED-9", "BED-10"],
    }
}

fn damage(generated: &mut Generated, choices: &mut Choices<'_>, inside: bool) {
    for _ in 0..=choices.below(12) {
        let count = generated.messages.len();
        if count < 4 {
            return;
        }
        let (at, other) = (choices.below(count), choices.below(count));
        match choices.below(if inside { 4 } else { 3 }) {
            3 => damage_inside(&mut generated.messages[at], choices),
            0 => drop(generated.messages.remove(at)),
            1 => {
                let again = generated.messages[at].clone();
                generated.messages.insert(other, again);
            }
            _ => generated.messages.swap(at, other),
        }
    }
}

/// The same with the parts of a message.
fn damage_inside(message: &mut String, choices: &mut Choices<'_>) {
    let mut value: Value = serde_json::from_str(message).expect("is JSON");
    for key in ["content", "parts", "tool_calls"] {
        let Some(list) = value.get_mut(key).and_then(Value::as_array_mut) else {
            continue;
        };
        if list.is_empty() {
            continue;
        }
        let (at, other) = (choices.below(list.len()), choices.below(list.len()));
        match choices.below(4) {
            0 => drop(list.remove(at)),
            1 => list.insert(other, list[at].clone()),
            2 => list.swap(at, other),
            _ => {
                if let Some(text) = list[at].get_mut("text") {
                    *text = json!("");
                }
            }
        }
    }
    *message = value.to_string();
}

fn raws(conversation: &Conversation) -> Vec<&str> {
    let messages = conversation.all_messages().iter();
    messages.map(|message| conversation.raw(message)).collect()
}

/// Repairs damaged conversations of a format. Returns the rules that results still break, and how
/// often.
fn repair_damaged(kind: Kind, format: Format, inside: bool) -> BTreeMap<&'static str, usize> {
    let mut which = BTreeMap::new();
    let mut repaired = 0;
    for seed in 0..SEEDS {
        let mut choices = Choices::from_seed(seed);
        let mut generated = conversation(kind, 4 + choices.below(30), &mut choices);
        damage(&mut generated, &mut choices, inside);
        let before = read(format, &generated.document());
        let after = before.repaired();
        let repairs = after.repairs();
        repaired += usize::from(!repairs.is_empty());
        let told = || {
            let documents = [before.document(), after.document()].join("\n");
            format!("{format} {seed}: {repairs:#?}\n{documents}")
        };
        for wrong in after.broken() {
            *which.entry(wrong.rule.id()).or_default() += 1;
        }
        let again = after.repaired();
        assert_eq!(again.repairs(), repairs, "{}", told());
        assert_eq!(again.document(), after.document(), "{}", told());
        if before.violations().is_empty() {
            assert_eq!(after.document(), before.document());
            assert_eq!(repairs, []);
        }
        // What is signed, encrypted or unknown was not edited.
        let came_in: HashSet<&str> = raws(&before).into_iter().collect();
        for message in after.all_messages().iter().filter(|own| own.opaque) {
            let raw = after.raw(message);
            assert!(came_in.contains(raw), "{raw}: {}", told());
        }
        assert!(repairs.is_sorted_by_key(|repair| repair.message));
        // What no repair names is there, byte for byte and in order; and what is not there is
        // remembered.
        let named: HashSet<usize> = repairs.iter().map(|repair| repair.message).collect();
        let result = raws(&after);
        let mut rest = result.iter();
        for (number, raw) in (1..).zip(raws(&before)) {
            let is_there = named.contains(&number) || rest.any(|own| *own == raw);
            assert!(is_there, "message {number}: {}", told());
            let replaced = after.replaced().find(|(own, _)| *own == number);
            match replaced {
                Some((_, json)) => assert_eq!(json, raw),
                None => assert!(result.contains(&raw), "message {number}: {}", told()),
            }
        }
    }
    assert!(repaired > 30, "{format}: only {repaired} were repaired");
    which
}

#[test]
fn mixed_up_messages_are_repaired() {
    for (kind, format) in Kind::ALL.into_iter().zip(FORMATS) {
        assert_eq!(kind.name(), format.name());
        for (rule, times) in repair_damaged(kind, format, false) {
            assert!(
                may_stay(format).contains(&rule),
                "{format}: {rule}, {times} times"
            );
        }
    }
}

#[test]
fn mixed_up_parts_are_repaired_as_far_as_possible() {
    for (kind, format) in Kind::ALL.into_iter().zip(FORMATS) {
        for (rule, times) in repair_damaged(kind, format, true) {
            let may_stay = may_stay_inside(format);
            assert!(may_stay.contains(&rule), "{format}: {rule}, {times} times");
        }
    }
}
