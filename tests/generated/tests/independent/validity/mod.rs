mod chat;
mod responses;
mod anthropic;
mod gemini;
mod bedrock_converse;

use std::collections::HashSet;

use baler_generated::{Choices, Kind, conversation};
use serde_json::Value;

use super::{generated, list, list_name, read};

/// What is wrong with a conversation.
#[derive(Debug, Default, PartialEq)]
struct Problems(Vec<String>);

impl Problems {
    fn unless(&mut self, holds: bool, at: usize, what: &str) {
        if !holds {
            self.0.push(format!("{at}: {what}"));
        }
    }

    /// ALL-4 for calls, and the same for items.
    fn new_id<'v>(&mut self, seen: &mut HashSet<&'v str>, id: &'v Value, at: usize) {
        let id = id.as_str().unwrap_or_default();
        self.unless(!id.is_empty() && seen.insert(id), at, "id is not new");
    }
}

fn check(kind: Kind, body: &Value) -> Problems {
    let messages = list(&body[list_name(kind)]);
    let mut problems = Problems::default();
    problems.unless(!messages.is_empty(), 0, "empty");
    match kind {
        Kind::OpenAiChat => chat::check(messages, &mut problems),
        Kind::OpenAiResponses => responses::check(body, messages, &mut problems),
        Kind::Anthropic => anthropic::check(body, messages, &mut problems),
        Kind::Gemini => gemini::check(messages, &mut problems),
        Kind::BedrockConverse => bedrock_converse::check(body, messages, &mut problems),
    }
    for (at, message) in messages.iter().enumerate() {
        no_empty_texts(message, at, &mut problems);
    }
    problems
}

/// ALL-6: no empty text in a part, and no empty list of parts.
fn no_empty_texts(value: &Value, at: usize, problems: &mut Problems) {
    for key in ["content", "parts"] {
        let empty = list(&value[key]).is_empty() && value[key].is_array();
        // A search that found nothing is a list of results and not of parts.
        let found_nothing = value["type"] == "web_search_tool_result";
        problems.unless(!empty || found_nothing, at, "empty list");
        for part in list(&value[key]) {
            problems.unless(part["text"] != "", at, "empty text part");
            if part["type"] != "x_location" {
                no_empty_texts(part, at, problems);
            }
        }
    }
    let user = matches!(value["role"].as_str(), Some("user" | "system"));
    problems.unless(!user || value["content"] != "", at, "empty text");
}

#[test]
fn all_rules_hold() {
    for kind in Kind::ALL {
        for seed in 0..2000 {
            let document = generated(kind, seed).document();
            let problems = check(kind, &read(&document));
            assert_eq!(
                problems,
                Problems::default(),
                "{kind:?} {seed}:\n{document}"
            );
        }
    }
}

#[test]
fn all_rules_hold_for_bytes_too() {
    for kind in Kind::ALL {
        for seed in 0..500 {
            let mut random = Choices::from_seed(seed);
            let bytes: Vec<u8> = (0..random.below(300))
                .map(|_| random.below(256) as u8)
                .collect();
            let generated = conversation(kind, 50, &mut Choices::from_bytes(&bytes));
            let problems = check(kind, &read(&generated.document()));
            assert_eq!(problems, Problems::default(), "{kind:?} {seed}");
        }
    }
}

#[test]
fn the_checkers_see_when_a_message_is_missing() {
    for kind in Kind::ALL {
        let (mut seen, mut all) = (0, 0);
        for seed in 0..600 {
            let mut generated = generated(kind, seed);
            let whole = read(&generated.document());
            let at = seed as usize % generated.messages.len();
            // Only what pairs is missed: outputs, and calls with outputs behind them.
            let removed = generated.messages.remove(at);
            let pairs = [
                "output",
                "tool_call_id",
                "tool_result",
                "esponse\"",
                "toolResult",
            ]
            .iter()
            .any(|sign| removed.contains(sign) && removed.contains("id"));
            if pairs && at + 1 < list(&whole[list_name(kind)]).len() {
                all += 1;
                seen +=
                    usize::from(check(kind, &read(&generated.document())) != Problems::default());
            }
        }
        assert!(seen * 2 > all && all > 20, "{kind:?}: {seen} of {all}");
    }
}
