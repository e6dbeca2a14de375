//! Every case of the table of rules.

use std::collections::HashMap;

use crate::formats::rules::tests::all;
use crate::model::format::Format::{
    self, Anthropic, BedrockConverse, Gemini, OpenAiChat, OpenAiResponses,
};

use super::read;

const NOBODY: &str = "nobody said anything";
const SIZE: &str = "only a compaction reduces sizes";
const NAME: &str = "only the model can name what it called";
const SEALED: &str = "neither calls nor thinking change, or change hands";
const ORDER: &str = "ids that a server did not give are not made up";
const SUMMARY: &str = "nothing else tells what a compaction stands for";
const ROLE: &str = "nobody gets another role";
const THINKING: &str = "only the model can sign its thinking";
const SIGNATURE: &str = "only the model can sign its calls";
const SECRET: &str = "only the provider can encrypt";
const LAST: &str = "nobody would be left to speak";
const ACCEPTED: &str = "providers write it themselves, and accept it back";

/// What stays broken: a format, a rule, which of its cases, and why.
const STAYS: &[(Format, &str, usize, &str)] = &[
    (OpenAiChat, "ALL-1", 0, NOBODY),
    (OpenAiChat, "ALL-1", 1, NOBODY),
    (OpenAiResponses, "ALL-1", 0, NOBODY),
    (OpenAiResponses, "ALL-1", 1, NOBODY),
    (OpenAiResponses, "ALL-1", 2, NOBODY),
    (Anthropic, "ALL-1", 0, NOBODY),
    (Gemini, "ALL-1", 0, NOBODY),
    (OpenAiChat, "ALL-8", 0, SIZE),
    (OpenAiResponses, "ALL-8", 0, SIZE),
    (Gemini, "ALL-8", 0, SIZE),
    (Anthropic, "ANTH-10", 0, SIZE),
    (OpenAiResponses, "RESP-5", 1, SECRET),
    (OpenAiResponses, "RESP-5", 2, SECRET),
    (OpenAiResponses, "RESP-5", 3, SECRET),
    (OpenAiResponses, "RESP-8", 2, ACCEPTED),
    (Anthropic, "ANTH-5", 0, THINKING),
    (Anthropic, "ANTH-5", 1, THINKING),
    (Anthropic, "ANTH-5", 2, THINKING),
    (Anthropic, "ANTH-4", 1, ORDER),
    (OpenAiChat, "CHAT-4", 4, ORDER),
    (Anthropic, "ANTH-6", 0, LAST),
    (Anthropic, "ANTH-6", 1, LAST),
    (Anthropic, "ANTH-6", 3, "the system prompt is not a message"),
    (Anthropic, "ANTH-6", 7, ACCEPTED),
    (Anthropic, "ANTH-6", 8, ACCEPTED),
    (Anthropic, "ANTH-8", 0, SUMMARY),
    (Anthropic, "ANTH-8", 1, SUMMARY),
    (Anthropic, "ANTH-8", 2, SUMMARY),
    (Anthropic, "ANTH-9", 1, "marks in results are not taken off"),
    (Anthropic, "ANTH-11", 5, SEALED),
    (Anthropic, "ANTH-11", 6, SEALED),
    (Anthropic, "ANTH-11", 7, SEALED),
    (OpenAiChat, "CHAT-4", 3, NAME),
    (OpenAiResponses, "RESP-9", 1, NAME),
    (Gemini, "GEM-7", 0, NAME),
    (Gemini, "GEM-1", 1, "instructions have no other place"),
    (Gemini, "GEM-1", 2, ROLE),
    (Gemini, "GEM-2", 4, ORDER),
    (Gemini, "GEM-2", 5, ROLE),
    (Gemini, "GEM-3", 0, SIGNATURE),
    (Gemini, "GEM-3", 1, SIGNATURE),
    (Gemini, "GEM-3", 2, SIGNATURE),
    (Gemini, "GEM-3", 3, SIGNATURE),
    (BedrockConverse, "ALL-1", 0, NOBODY),
    (BedrockConverse, "ALL-8", 0, SIZE),
    (
        BedrockConverse,
        "BED-1",
        1,
        "instructions have no other place",
    ),
    (
        BedrockConverse,
        "BED-5",
        0,
        "only the agent knows its tools",
    ),
    (
        BedrockConverse,
        "BED-6",
        4,
        "the system prompt is not a message",
    ),
    (BedrockConverse, "BED-7", 0, THINKING),
    (BedrockConverse, "BED-8", 2, NAME),
    (BedrockConverse, "BED-8", 3, ORDER),
    (BedrockConverse, "BED-8", 6, SEALED),
    (BedrockConverse, "BED-8", 7, SEALED),
    (BedrockConverse, "BED-8", 8, ROLE),
    (
        BedrockConverse,
        "BED-9",
        3,
        "no document leaves without a compaction",
    ),
];

#[test]
fn every_broken_rule_is_repaired_except_the_listed_ones() {
    let mut seen: HashMap<(Format, &str), usize> = HashMap::new();
    for (format, case) in all() {
        let rule = case.rule;
        let count = seen.entry((format, rule)).or_default();
        let after = read(format, &case.broken.to_string()).repaired();
        let repairs = after.repairs();
        let is_broken = after.violations().iter().any(|own| own.rule.id() == rule);
        let stays = STAYS
            .iter()
            .find(|(own, id, case, _)| (*own, *id, *case) == (format, rule, *count));
        assert_eq!(
            is_broken,
            stays.is_some(),
            "{format} {rule} {count}: {}",
            after.document()
        );
        assert_eq!(
            repairs.is_empty(),
            is_broken,
            "{format} {rule} {count}: {repairs:?}"
        );
        if !is_broken {
            assert_eq!(
                after.violations(),
                [],
                "{format} {rule}: {}",
                after.document()
            );
        }
        *count += 1;
    }
}

#[test]
fn valid_conversation_comes_back_byte_for_byte() {
    for (format, case) in all() {
        let before = read(format, &case.valid.to_string());
        let after = before.repaired();
        assert_eq!(after.document(), before.document());
        assert_eq!(after.repairs(), []);
    }
}
