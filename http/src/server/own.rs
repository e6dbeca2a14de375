//! Questions of clients: programs that have a conversation and no baler of their own.

use axum::http::StatusCode;
use baler_host::{
    Budget, Conversation, Deadline, Decision, Outcome, ReadOptions, Request, Strategy, Unchanged,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::App;
use super::admission::Gates;
use super::catalog::within;
use super::error::ApiError;
use super::wants::Wants;

/// What came of a compaction.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Compacted<'a> {
    /// `compacted`, `repaired` or `unchanged`; the receipt tells why.
    outcome: &'static str,
    /// The conversation: the new one, or the one that came in. What stays stays byte for byte.
    #[schemars(with = "serde_json::Value")]
    document: &'a RawValue,
    /// What was done, and why.
    receipt: &'a baler_host::Receipt,
}

/// Whether it is time.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Decided {
    /// `compact` or `wait`.
    decision: &'static str,
    /// The strategy, or `baler`.
    decided_by: String,
    /// Tokens of the conversation.
    tokens: u32,
    /// Whether that is over the size from which on it is time.
    over_budget: bool,
    /// The strategy's turn.
    attempt: baler_host::Attempt,
}

pub(crate) async fn compact(
    app: &App,
    body: &str,
    deadline: &Deadline,
    gates: &Gates,
) -> Result<String, ApiError> {
    let wants = Wants::read(body)?;
    let request = Request {
        deadline: Some(deadline.clone()),
        ..wants.request()?
    };
    let chain = chain(app, &wants, deadline, gates).await?;
    let conversation = conversation(app, &wants, deadline)?;
    let compaction = app.host.compact(&conversation, &chain, &request).await?;
    // The answer takes its place.
    drop(conversation);
    let receipt = compaction.receipt();
    app.metrics.compacted(receipt);
    let outcome = match receipt.outcome {
        // Whether the host noticed that first, or who waits for this work, is chance.
        Outcome::Unchanged(Unchanged::OutOfTime) | Outcome::Repaired(Unchanged::OutOfTime) => {
            return Err(ApiError::timeout(app.limits.request_time));
        }
        Outcome::Compacted => "compacted",
        Outcome::Repaired(_) => "repaired",
        _ => "unchanged",
    };
    let document: Result<&RawValue, _> = serde_json::from_str(compaction.document());
    written(&Compacted {
        outcome,
        document: document.map_err(|_| ApiError::internal("a result is no JSON"))?,
        receipt,
    })
}

pub(crate) async fn should_compact(
    app: &App,
    body: &str,
    deadline: &Deadline,
    gates: &Gates,
) -> Result<String, ApiError> {
    let wants = Wants::read(body)?;
    let request = Request {
        budget: threshold(&wants)?,
        deadline: Some(deadline.clone()),
        ..wants.request()?
    };
    let chain = chain(app, &wants, deadline, gates).await?;
    let strategy = match (chain.as_slice(), &wants.strategy) {
        ([one], _) => one,
        ([first, ..], None) => first,
        _ => {
            return Err(ApiError::bad_request(
                "strategy",
                "one strategy is asked whether it is time: name one in `strategy`",
            ));
        }
    };
    let conversation = conversation(app, &wants, deadline)?;
    if conversation.is_broken() {
        return Err(ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "invalid-conversation",
            "`conversation` breaks rules of its format; `\"repair\": true` mends what can be mended, and POST /v1/compact names each in its receipt",
        ));
    }
    let answer = app
        .host
        .should_compact(&conversation, strategy, &request)
        .await;
    let is_theirs = match &answer.decision {
        Decision::Compact(_) => true,
        Decision::Wait(_) => !answer.is_time,
        Decision::HostDecides => false,
    };
    let decided_by = if is_theirs { strategy.name() } else { "baler" };
    written(&Decided {
        decision: if answer.is_time { "compact" } else { "wait" },
        decided_by: decided_by.to_owned(),
        tokens: conversation.tokens(),
        over_budget: app.host.is_due(&conversation, &request),
        attempt: answer.attempt,
    })
}

/// Who the strategies of this server are; all of them, or the one that is named.
pub(crate) async fn introspect(app: &App, body: &str) -> Result<String, ApiError> {
    let wants = Wants::read(body)?;
    let names = wants.strategies().unwrap_or_default();
    let told = match names.as_slice() {
        [] => {
            let names = |list: &[Strategy]| -> Vec<String> {
                list.iter().map(|own| own.name().to_owned()).collect()
            };
            json!({
                "strategies": names(app.catalog.known()),
                "default": names(app.catalog.default_chain()),
            })
        }
        [name] => {
            let strategy = app.catalog.one(name)?;
            let claims = if strategy.is_native() {
                Value::Null
            } else {
                let config = wants.config.map(RawValue::get);
                let said = app.host.introspect(strategy, config).await?;
                serde_json::to_value(said).unwrap_or_default()
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
                "one strategy is asked who it is: name one in `strategy`, or none for the list",
            ));
        }
    };
    Ok(told.to_string())
}

/// The size from which on it is time.
fn threshold(wants: &Wants<'_>) -> Result<Budget, ApiError> {
    let share = match wants.budget()? {
        Some(tokens @ Budget::Tokens(_)) => return Ok(tokens),
        Some(Budget::Share(share)) => share,
        None => Request::DUE_SHARE,
    };
    match wants.context_window {
        Some(window) if window > 0 => Ok(Budget::Tokens((f64::from(window) * share) as u32)),
        _ => Err(ApiError::bad_request(
            "budget",
            "from which size on is it time? Give `budget` in tokens; or `context-window`, of which `budget` is a share (80% where it is left out)",
        )),
    }
}

async fn chain(
    app: &App,
    wants: &Wants<'_>,
    deadline: &Deadline,
    gates: &Gates,
) -> Result<Vec<Strategy>, ApiError> {
    let names = wants.strategies();
    let mut chain = app.catalog.chain(names.as_deref(), app.limits.chain)?;
    if let (Some(config), Some(first)) = (wants.config, chain.first_mut()) {
        *first = app.host.configure(first.clone(), config.get()).await?;
    }
    Ok(within(gates.before(chain), deadline))
}

fn conversation(
    app: &App,
    wants: &Wants<'_>,
    deadline: &Deadline,
) -> Result<Conversation, ApiError> {
    let json = wants.conversation()?.get();
    // The log of a session is no JSON, so it comes as a text.
    let document = match serde_json::from_str::<String>(json) {
        Ok(log) => log,
        Err(_) => json.to_owned(),
    };
    let options = ReadOptions {
        format: wants.format,
        used: wants.used,
        deadline: Some(deadline),
        ..ReadOptions::default()
    };
    let conversation = app.host.read_with(document.into_bytes(), options)?;
    if !wants.repair {
        return Ok(conversation);
    }
    let repaired = conversation
        .repaired_within(deadline)
        .ok_or_else(|| ApiError::timeout(app.limits.request_time))?;
    // Nothing half mended comes out.
    if repaired.is_broken() {
        Ok(conversation)
    } else {
        Ok(repaired)
    }
}

fn written(answer: &impl Serialize) -> Result<String, ApiError> {
    to_raw_value(answer)
        .map(|json| Box::<str>::from(json).into_string())
        .map_err(|_| ApiError::internal("an answer could not be written as JSON"))
}
