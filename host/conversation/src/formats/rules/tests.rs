//! Every rule of every format, by the cases that each format lists in its own `rules/tests.rs`: a conversation
//! that breaks the rule and nothing else, and one that just keeps it.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{RuleCounts, ViolationCounts};
use crate::conversation::Conversation;
use crate::formats::{anthropic, bedrock_converse, gemini, openai_chat, openai_responses};
use crate::listed::MAX_LISTED;
use crate::model::format::Format::{self, OpenAiChat};
use crate::model::rule::{Rule, Severity};

/// One way to break a rule.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// The id of the rule.
    pub(crate) rule: &'static str,
    /// The severity, as the table of evidence in docs/wire-formats.md has it.
    pub(crate) severity: Severity,
    /// The numbers of the messages that break the rule, from 1; 0 for the conversation as a whole.
    pub(crate) messages: Vec<usize>,
    /// A conversation that breaks the rule and nothing else.
    pub(crate) broken: Value,
    /// A similar conversation that breaks no rule.
    pub(crate) valid: Value,
}

/// A case that a provider is known to refuse.
pub(crate) fn error<const N: usize>(rule: &'static str, messages: [usize; N]) -> Case {
    Case {
        rule,
        severity: Severity::Error,
        messages: messages.to_vec(),
        broken: Value::Null,
        valid: Value::Null,
    }
}

/// A case that no provider is known to refuse.
pub(crate) fn warning<const N: usize>(rule: &'static str, messages: [usize; N]) -> Case {
    Case {
        severity: Severity::Warning,
        ..error(rule, messages)
    }
}

impl Case {
    /// Sets the conversation that breaks the rule.
    pub(crate) fn broken(self, broken: Value) -> Self {
        Self { broken, ..self }
    }

    /// Sets the conversation that keeps the rule.
    pub(crate) fn valid(self, valid: Value) -> Self {
        Self { valid, ..self }
    }
}

/// The cases of all formats.
pub(crate) fn all() -> Vec<(Format, Case)> {
    let cases = |format: &Format| match format {
        Format::OpenAiChat => openai_chat::rules::tests::cases(),
        Format::OpenAiResponses => openai_responses::rules::tests::cases(),
        Format::Anthropic => anthropic::rules::tests::cases(),
        Format::Gemini => gemini::rules::tests::cases(),
        Format::BedrockConverse => bedrock_converse::rules::tests::cases(),
    };
    let of = |format: &Format| {
        cases(format)
            .into_iter()
            .map(|case| (*format, case))
            .collect::<Vec<_>>()
    };
    Format::ALL.iter().flat_map(of).collect()
}

/// The ids of the rules that a document breaks, each with the number of the message.
pub(crate) fn broken(format: Format, document: &Value) -> Vec<(&'static str, usize)> {
    Conversation::of(&document.to_string(), Some(format))
        .unwrap_or_else(|error| panic!("{document}: {error}"))
        .violations()
        .iter()
        .map(|found| (found.rule.id(), found.message))
        .collect()
}

/// A message of the user.
pub(crate) fn hello() -> Value {
    json!({"role": "user", "content": "Fix the leap year bug."})
}

#[test]
fn broken_case_breaks_its_rule_and_no_other() {
    for (format, case) in all() {
        let expected: Vec<_> = case
            .messages
            .iter()
            .map(|number| (case.rule, *number))
            .collect();
        assert_eq!(
            broken(format, &case.broken),
            expected,
            "{format}: {}",
            case.broken
        );
    }
}

#[test]
fn valid_case_breaks_no_rule() {
    for (format, case) in all() {
        assert_eq!(
            broken(format, &case.valid),
            [],
            "{format} {}: {}",
            case.rule,
            case.valid
        );
    }
}

#[test]
fn case_is_an_error_only_where_a_provider_is_known_to_refuse_it() {
    for (format, case) in all() {
        let conversation = Conversation::of(&case.broken.to_string(), Some(format)).expect("reads");
        let found = conversation.violations().iter().map(|own| own.severity);
        assert_eq!(
            found.min(),
            Some(case.severity),
            "{format} {}: {}",
            case.rule,
            case.broken
        );
    }
}

#[test]
fn every_check_of_every_format_has_a_case() {
    let cases = all();
    for format in Format::ALL {
        for (rule, _) in format.facts().checks {
            assert!(
                cases
                    .iter()
                    .any(|(own, case)| own == format && case.rule == rule.id()),
                "{format} {rule}"
            );
        }
    }
}

#[test]
fn every_rule_has_a_unique_id_a_remedy_and_a_format() {
    let ids: HashSet<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    assert_eq!(ids.len(), Rule::ALL.len());
    for rule in Rule::ALL {
        assert!(!rule.remedy().is_empty(), "{rule}");
        assert!(
            Format::ALL.iter().any(|format| format
                .facts()
                .checks
                .iter()
                .any(|(own, _)| own == rule)),
            "no format checks {rule}"
        );
    }
}

#[test]
fn first_violations_are_listed_and_all_are_counted() {
    const MANY: usize = 100_000;
    let document = format!(r#"{{"contents":[{}{{}}]}}"#, "{},".repeat(MANY - 1));
    let conversation = Conversation::of(&document, None).expect("reads");
    let counts = ViolationCounts {
        total: MANY,
        errors: MANY,
        warnings: 0,
        rules: vec![RuleCounts {
            rule: Rule::Gem5,
            errors: MANY,
            warnings: 0,
        }],
    };
    assert_eq!(conversation.violation_counts(), &counts);
    assert_eq!(counts.fatal(), MANY);
    let listed = conversation.violations().iter().map(|own| own.message);
    assert!(listed.eq(1..=MAX_LISTED));
}

#[test]
fn error_is_listed_after_any_number_of_warnings() {
    let empty = json!({"role": "user", "content": [{"type": "text", "text": ""}]});
    let mut messages = vec![empty; 2 * MAX_LISTED];
    messages.push(json!({"role": "tool", "tool_call_id": "a", "content": "ok"}));
    let document = Value::from(messages).to_string();
    let conversation = Conversation::of(&document, Some(OpenAiChat)).expect("reads");
    assert!(conversation.is_broken());
    let broken: Vec<_> = conversation.broken().map(|own| own.message).collect();
    assert_eq!(broken, [2 * MAX_LISTED + 1]);
    let listed = conversation.violations().iter().map(|own| own.message);
    let expected = (1..MAX_LISTED).chain([2 * MAX_LISTED + 1]);
    assert!(listed.eq(expected));
    let of = |rule, errors, warnings| RuleCounts {
        rule,
        errors,
        warnings,
    };
    let counts = conversation.violation_counts();
    assert_eq!(
        counts.rules,
        [of(Rule::All6, 0, 2 * MAX_LISTED), of(Rule::Chat1, 1, 0)]
    );
}

#[test]
fn violation_is_counted_once_per_message() {
    let part = |text: &str| json!({"type": "text", "text": text});
    let messages = json!([{"role": "user", "content": [part(""), part("a"), part("")]}]);
    let conversation = Conversation::of(&messages.to_string(), Some(OpenAiChat)).expect("reads");
    assert_eq!(conversation.violation_counts().total, 1);
    assert_eq!(conversation.violations().len(), 1);
}
