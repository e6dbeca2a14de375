//! Answers to clients: programs that have a conversation and no baler of their own.

use axum::http::StatusCode;
use baler_host::{
    Budget, Conversation, Request, Strategy,
    conversation::{Deadline, ReadOptions},
    receipt::{Outcome, Unchanged},
    strategy::Decision,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::App;
use super::admission::Gates;
use super::catalog::limit_times;
use super::error::ApiError;
use super::request::CompactRequest;

/// The result of a compaction.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct CompactResponse<'a> {
    /// `compacted`, `repaired` or `unchanged`. The receipt says why.
    outcome: &'static str,
    /// The new conversation, or the one of the request if it is unchanged. Kept messages are
    /// byte-identical.
    #[schemars(with = "serde_json::Value")]
    document: &'a RawValue,
    /// The record of what was done, and why.
    receipt: &'a baler_host::Receipt,
}

/// The decision whether to compact now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ShouldCompactResponse {
    /// `compact` or `wait`.
    decision: &'static str,
    /// The name of the strategy that decided, or `baler`.
    decided_by: String,
    /// The size of the conversation in tokens.
    tokens: u32,
    /// Whether the conversation is over the threshold, or over a limit of its provider.
    over_budget: bool,
    /// The result of the call of the strategy.
    attempt: baler_host::receipt::Attempt,
}

/// Answers `POST /v1/compact`.
pub(crate) async fn compact(
    app: &App,
    body: &str,
    deadline: &Deadline,
    gates: &Gates,
) -> Result<String, ApiError> {
    let client_request = CompactRequest::parse(body)?;
    let request = client_request
        .to_host_request()?
        .with_policy(app.policy.clone())
        .with_deadline(Some(deadline.clone()));
    let chain = chain(app, &client_request, deadline, gates).await?;
    let conversation = read_conversation(app, &client_request, deadline)?;
    let compaction = app.host.compact(&conversation, &chain, &request).await?;
    // Frees its memory before the answer is written.
    drop(conversation);
    let receipt = compaction.receipt();
    app.metrics.record_compaction(receipt);
    let outcome = match receipt.outcome {
        // Either the host or the caller notices first that the time is over; the answer is the same.
        Outcome::Unchanged(Unchanged::OutOfTime) | Outcome::Repaired(Unchanged::OutOfTime) => {
            return Err(ApiError::timeout(app.limits.request_time));
        }
        Outcome::Compacted => "compacted",
        Outcome::Repaired(_) => "repaired",
        _ => "unchanged",
    };
    let document: Result<&RawValue, _> = serde_json::from_str(compaction.document());
    to_json(&CompactResponse {
        outcome,
        document: document
            .map_err(|_| ApiError::internal("the resulting document is not valid JSON"))?,
        receipt,
    })
}

/// Answers `POST /v1/should-compact`.
pub(crate) async fn should_compact(
    app: &App,
    body: &str,
    deadline: &Deadline,
    gates: &Gates,
) -> Result<String, ApiError> {
    let client_request = CompactRequest::parse(body)?;
    let request = client_request
        .to_host_request()?
        .with_policy(app.policy.clone())
        .with_budget(threshold(&client_request)?)
        .with_deadline(Some(deadline.clone()));
    let chain = chain(app, &client_request, deadline, gates).await?;
    let strategy = match (chain.as_slice(), &client_request.strategy) {
        ([one], _) => one,
        ([first, ..], None) => first,
        _ => {
            return Err(ApiError::bad_request(
                "strategy",
                "only one strategy can be asked whether to compact now: name one in `strategy`",
            ));
        }
    };
    let conversation = read_conversation(app, &client_request, deadline)?;
    let answer = app
        .host
        .should_compact(&conversation, strategy, &request)
        .await;
    let strategy_decided = match &answer.decision {
        Decision::Compact(_) => true,
        Decision::Wait(_) => !answer.is_due,
        Decision::HostDecides => false,
    };
    let decided_by = if strategy_decided {
        strategy.name()
    } else {
        "baler"
    };
    to_json(&ShouldCompactResponse {
        decision: if answer.is_due { "compact" } else { "wait" },
        decided_by: decided_by.to_owned(),
        tokens: conversation.tokens(),
        over_budget: app.host.is_due(&conversation, &request),
        attempt: answer.attempt,
    })
}

/// Answers `POST /v1/introspect`: describes the named strategy, or lists all strategies.
pub(crate) async fn introspect(app: &App, body: &str) -> Result<String, ApiError> {
    let client_request = CompactRequest::parse(body)?;
    let names = client_request.strategies().unwrap_or_default();
    let answer = match names.as_slice() {
        [] => {
            let names = |list: &[Strategy]| -> Vec<String> {
                list.iter()
                    .map(|strategy| strategy.name().to_owned())
                    .collect()
            };
            json!({
                "strategies": names(app.catalog.known()),
                "default": names(app.catalog.default_chain()),
            })
        }
        [name] => {
            let strategy = app.catalog.get(name)?;
            let claims = if strategy.is_native() {
                Value::Null
            } else {
                let config = client_request.config.map(RawValue::get);
                let introspection = app.host.introspect(strategy, config).await?;
                serde_json::to_value(introspection).unwrap_or_default()
            };
            json!({
                "strategy": strategy.name(),
                "native": strategy.is_native(),
                "component": strategy.component(),
                "claims": claims,
            })
        }
        _ => {
            return Err(ApiError::bad_request(
                "strategy",
                "only one strategy can be described at once: name one in `strategy`, or none for the list",
            ));
        }
    };
    Ok(answer.to_string())
}

/// Returns the size in tokens at which compaction is due.
fn threshold(client_request: &CompactRequest<'_>) -> Result<Budget, ApiError> {
    let share = match client_request.budget()? {
        Some(tokens @ Budget::Tokens(_)) => return Ok(tokens),
        Some(Budget::Share(share)) => share,
        None => Request::DUE_SHARE,
    };
    match client_request.context_window {
        Some(window) if window > 0 => Ok(Budget::Tokens((f64::from(window) * share) as u32)),
        _ => Err(ApiError::bad_request(
            "budget",
            format!(
                "the size at which to compact is missing: give `budget` in tokens; or `context-window`, of which \
                 `budget` is a share (default {:.0}%)",
                Request::DUE_SHARE * 100.0
            ),
        )),
    }
}

/// Returns the chain of the request, with its config, gates and time limits.
async fn chain(
    app: &App,
    client_request: &CompactRequest<'_>,
    deadline: &Deadline,
    gates: &Gates,
) -> Result<Vec<Strategy>, ApiError> {
    let names = client_request.strategies();
    let mut chain = app.catalog.chain(names.as_deref(), app.limits.chain)?;
    if let (Some(config), Some(first)) = (client_request.config, chain.first_mut()) {
        *first = app.host.configure(first.clone(), config.get()).await?;
    }
    Ok(limit_times(gates.attach(chain), deadline))
}

/// Reads the conversation of the request, and repairs it if requested. One that its provider would refuse is an error.
fn read_conversation(
    app: &App,
    client_request: &CompactRequest<'_>,
    deadline: &Deadline,
) -> Result<Conversation, ApiError> {
    let json = client_request.conversation()?.get();
    // A session log is not JSON, so it comes as a string.
    let document = match serde_json::from_str::<String>(json) {
        Ok(log) => log,
        Err(_) => json.to_owned(),
    };
    let options = ReadOptions::default()
        .with_format(client_request.format)
        .with_used(client_request.used)
        .with_deadline(Some(deadline));
    let conversation = app.host.read_with(document.into_bytes(), options)?;
    let conversation = if client_request.repair {
        conversation
            .repaired_within(deadline)
            .ok_or_else(|| ApiError::timeout(app.limits.request_time))?
    } else {
        conversation
    };
    if conversation.is_broken() {
        return Err(broken(&conversation, client_request.repair));
    }
    Ok(conversation)
}

/// Broken rules that an error names.
const NAMED_RULES: usize = 3;

/// Says where a conversation breaks rules of its format, without any text of it.
fn broken(conversation: &Conversation, is_repaired: bool) -> ApiError {
    let broken = conversation.broken().take(NAMED_RULES + 1);
    let mut places: Vec<String> = broken.map(ToString::to_string).collect();
    if places.len() > NAMED_RULES {
        places[NAMED_RULES] = "and more".to_owned();
    }
    let remedy = if is_repaired {
        "repairing did not help: correct it"
    } else {
        "set `\"repair\": true` to repair it where possible"
    };
    ApiError::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "invalid-conversation",
        format!(
            "`conversation` breaks rules of {}, and its provider would refuse it: {}; {remedy}",
            conversation.format().name(),
            places.join("; ")
        ),
    )
}

fn to_json(answer: &impl Serialize) -> Result<String, ApiError> {
    to_raw_value(answer)
        .map(|json| Box::<str>::from(json).into_string())
        .map_err(|_| ApiError::internal("cannot write the answer as JSON"))
}
