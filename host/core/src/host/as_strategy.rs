//! This host as a remote strategy for other hosts.

use serde::Serialize;
use serde::de::Deserialize;
use serde_json::value::RawValue;

use baler_conversation::{Conversation, Deadline, ReadOptions};

use super::chain;
use crate::compaction::Compaction;
use crate::error::HostError;
use crate::fault::DeclaredFailure;
use crate::host::Host;
use crate::receipt::{AttemptResult, Outcome, Unchanged};
use crate::remote::AnswerError;
use crate::remote::{CONTRACT, Operation, wire};
use crate::report::{Decision, Introspection};
use crate::request::{Budget, Pins, Request};
use crate::strategy::{ConfigError, IntrospectError, Strategy};
use crate::unseen;

/// Answers a question of another host ([`Host::answer`]).
pub(crate) async fn answer(
    host: &Host,
    question: Operation,
    request: &str,
    chain: &[Strategy],
    deadline: &Deadline,
) -> Result<String, AnswerError> {
    match question {
        Operation::Introspect => {
            let ask: wire::IntrospectRequest<'_> = read(request)?;
            to_json(&introspection_of(host, &ask, chain).await?)
        }
        Operation::ShouldCompact => {
            let ask = read::<wire::StrategyRequest<'_>>(request)?;
            let (conversation, wanted) = conversation_and_request(host, &ask, deadline)?;
            // The other host can decide as well as this one.
            let chain = chain_for(host, &ask, chain).await.unwrap_or_default();
            let decision = match chain.first() {
                Some(first) => {
                    let answer = host.should_compact(&conversation, first, &wanted);
                    answer.await.decision
                }
                None => Decision::HostDecides,
            };
            to_json(&wire::Decision::from(decision))
        }
        Operation::Compact => {
            let ask = read::<wire::StrategyRequest<'_>>(request)?;
            let (conversation, wanted) = conversation_and_request(host, &ask, deadline)?;
            let report = match chain_for(host, &ask, chain).await {
                Err(failure) => failed(failure),
                Ok(chain) => {
                    report(chain::compact(host, None, &conversation, &chain, &wanted).await?)
                }
            };
            to_json(&report)
        }
    }
}

async fn introspection_of(
    host: &Host,
    ask: &wire::IntrospectRequest<'_>,
    chain: &[Strategy],
) -> Result<wire::Introspection, AnswerError> {
    let Some(first) = chain.first() else {
        return Ok(wire::Introspection::default());
    };
    match host.introspect(first, ask.config.map(RawValue::get)).await {
        Ok(introspection) => Ok(introspection.into()),
        Err(IntrospectError::Host(error)) => Err(error.into()),
        Err(IntrospectError::Native { strategy }) => Ok(wire::Introspection {
            name: strategy,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            failure: ask
                .config
                .is_some_and(|config| config.get() != "{}")
                .then(|| wire::Failure {
                    kind: wire::FailureKind::BadConfig,
                    message: "expected no config, because a native strategy has none".to_owned(),
                }),
            ..wire::Introspection::default()
        }),
        Err(error @ (IntrospectError::Fault(_) | IntrospectError::Declared { .. })) => {
            Ok(wire::Introspection {
                name: first.name().to_owned(),
                failure: Some(wire::Failure {
                    kind: wire::FailureKind::BadConfig,
                    message: error.without_free_text(),
                }),
                ..wire::Introspection::default()
            })
        }
    }
}

/// Reads the conversation of a question, and converts the question to a request.
fn conversation_and_request(
    host: &Host,
    ask: &wire::StrategyRequest<'_>,
    deadline: &Deadline,
) -> Result<(Conversation, Request), AnswerError> {
    let options = ReadOptions::default()
        .with_format(Some(ask.format))
        .with_used(Some(ask.situation.used).filter(|used| *used > 0))
        .with_deadline(Some(deadline));
    let document = ask.conversation.get().as_bytes().to_vec();
    let conversation = host
        .read_with(document, options)
        .map_err(AnswerError::Conversation)?;
    let own = conversation
        .units()
        .iter()
        .map(|unit| (unit.first_message, unit.messages));
    let of_asking_host = ask
        .units
        .iter()
        .map(|unit| (unit.first_message, unit.messages));
    if !own.eq(of_asking_host) {
        return Err(AnswerError::Units);
    }
    let has = |unit: &wire::Unit, name| unit.traits.iter().any(|of_unit| of_unit == name);
    // Units that are unseen here too are protected anyway. A pin would prevent that they are shortened. The
    // same applies to user messages that the asking host may shorten.
    let unseen = unseen::units(&conversation);
    let may_shorten = |index: usize, unit: &wire::Unit| {
        let own = conversation.units().get(index);
        own.is_some_and(|own| unit.shortest < own.tokens)
    };
    // What is pinned and may be shortened is pinned by default: the first message of the user. Other units stay as they do
    // for who asks, and no more do.
    let (mut exact, mut by_default) = (Vec::new(), false);
    for (index, unit) in ask.units.iter().enumerate() {
        let is_kept = has(unit, "pinned") || has(unit, "protected");
        if !is_kept || unseen.contains(&index) {
            continue;
        }
        match may_shorten(index, unit) {
            true => by_default |= has(unit, "pinned"),
            false => exact.push(index),
        }
    }
    let pins = match by_default {
        true => Pins::Units(exact),
        false => Pins::Only(exact),
    };
    let live = ask.units.iter().find(|unit| has(unit, "live"));
    let situation = &ask.situation;
    let mut request = Request::default()
        .with_budget(Budget::Tokens(situation.budget - margin(situation)))
        .with_pins(pins)
        .with_live_from(live.map(|unit| unit.first_message))
        .with_context_window(Some(situation.context_window).filter(|window| *window > 0))
        .with_cached_units(Some(situation.cached_units))
        .with_max_media(situation.max_media)
        .with_context(
            Some(situation.context.clone().into_owned()).filter(|context| !context.is_empty()),
        )
        .with_required(situation.required)
        .with_policy(ask.policy.clone())
        .with_trigger(situation.trigger.clone())
        .with_deadline(Some(deadline.clone()));
    if let Some(of_units) = situation.max_bytes {
        let units: usize = conversation.units().iter().map(|unit| unit.bytes).sum();
        let around = conversation.bytes().saturating_sub(units);
        request.max_bytes = Some(of_units.saturating_add(around));
    }
    Ok((conversation, request))
}

/// Returns the chain, with the name that the asking host uses and with the first strategy configured; or
/// the failure of the configuration.
async fn chain_for(
    host: &Host,
    ask: &wire::StrategyRequest<'_>,
    chain: &[Strategy],
) -> Result<Vec<Strategy>, wire::Failure> {
    let mut chain = chain.to_vec();
    if let (Some(config), Some(first)) = (ask.config, chain.first_mut()) {
        *first = host
            .configure(first.clone(), config.get())
            .await
            .map_err(|error| wire::Failure {
                kind: match error {
                    ConfigError::NoIntrospection { .. } | ConfigError::Schema { .. } => {
                        wire::FailureKind::Other
                    }
                    _ => wire::FailureKind::BadConfig,
                },
                message: error.without_free_text(),
            })?;
    }
    Ok(chain
        .into_iter()
        .map(|strategy| strategy.known_as(&ask.name))
        .collect())
}

/// Returns the tokens by which to stay below the requested budget. The asking host seals marks with another
/// key, and the digits of its seals may take some tokens more.
fn margin(situation: &wire::Situation) -> u32 {
    let free = situation.budget.saturating_sub(situation.floor);
    (16 + free / 64).min(free)
}

/// Reads a question. Checks the contract first, because a question of another contract may have another form.
fn read<'a, Q: Deserialize<'a>>(request: &'a str) -> Result<Q, AnswerError> {
    #[derive(serde::Deserialize)]
    struct Head {
        contract: String,
    }
    let malformed = |error: serde_json::Error| AnswerError::Malformed {
        line: error.line(),
        column: error.column(),
    };
    let head: Head = serde_json::from_str(request).map_err(malformed)?;
    if head.contract != CONTRACT {
        return Err(AnswerError::Contract);
    }
    serde_json::from_str(request).map_err(malformed)
}

fn to_json(answer: &impl Serialize) -> Result<String, AnswerError> {
    serde_json::to_string(answer)
        .map_err(|_| AnswerError::Host(HostError::NotWritten { what: "answer" }))
}

/// Returns the answer for a declared failure.
fn failed(failure: wire::Failure) -> wire::Report {
    wire::Report {
        outcome: wire::Outcome::Failure(failure),
        metrics: Vec::new(),
    }
}

/// Converts the result of a compaction to an answer.
fn report(compaction: Compaction) -> wire::Report {
    let receipt = compaction.receipt();
    let metrics = receipt
        .attempts
        .iter()
        .rfind(|attempt| {
            matches!(
                attempt.result,
                AttemptResult::Accepted | AttemptResult::Declined
            )
        })
        .map(|attempt| attempt.metrics.clone())
        .unwrap_or_default();
    let outcome = match receipt.outcome {
        Outcome::Unchanged(Unchanged::StrategyFailed)
        | Outcome::Repaired(Unchanged::StrategyFailed) => {
            let declared = receipt
                .attempts
                .iter()
                .find_map(|attempt| attempt.declared_failure());
            wire::Outcome::Failure(wire::Failure {
                kind: match declared {
                    Some(DeclaredFailure::BadConfig) => wire::FailureKind::BadConfig,
                    Some(DeclaredFailure::Model) => wire::FailureKind::Model,
                    _ => wire::FailureKind::Other,
                },
                message: declared
                    .map(|declared| declared.to_string())
                    .unwrap_or_default(),
            })
        }
        Outcome::Unchanged(why) | Outcome::Repaired(why) => {
            wire::Outcome::Unchanged(why.words().to_owned())
        }
        Outcome::Compacted => match compaction.into_plan() {
            Some(plan) => wire::Outcome::Compacted(plan),
            None => wire::Outcome::Unchanged(Unchanged::NoProgress.words().to_owned()),
        },
    };
    wire::Report { outcome, metrics }
}

impl From<Introspection> for wire::Introspection {
    fn from(said: Introspection) -> Self {
        Self {
            name: said.name,
            version: said.version,
            description: said.description,
            config_schema: said.config_schema,
            reason_codes: said.reason_codes,
            metric_names: said.metric_names,
            timeout_ms: said
                .timeout_ms
                .and_then(|ms| serde_json::value::to_raw_value(&ms).ok()),
            failure: None,
        }
    }
}
