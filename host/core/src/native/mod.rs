//! Native strategies: trusted code in the host itself, which runs if no other strategy makes a result.
//!
//! `native:digest` and `native:summarize` are the strategies `tiered` and `summarize`, compiled into the host.
//! `native:truncate` is what is left if these fail: it reads no text, and cannot fail.

#[expect(
    clippy::duplicate_mod,
    dead_code,
    reason = "compiled for the SDK's types, and a native strategy is never asked for all that a component is"
)]
#[path = "../sandbox/convert.rs"]
mod convert;
mod guest;
pub(crate) mod history;
#[cfg_attr(target_family = "wasm", path = "no_model.rs")]
mod model;
#[cfg(test)]
mod tests;
mod truncate;

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use baler_strategy_core as strategies;

use crate::fault::DeclaredFailure;
use crate::report::{Answer, Report};
use crate::runner::{Call, CallFailure, Runner, Terms};
use crate::situation::Situation;

/// The types of the contract as the SDK generates them.
mod contract {
    pub(super) use baler_strategy::bindings::baler::compaction::{history, model};
    pub(super) use baler_strategy::bindings::exports::baler::compaction::strategy;
}

/// `native:digest`: keeps the newest part, cuts old outputs, and replaces the rest by a structured summary.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Digest;

/// `native:truncate`: keeps the newest turns that fit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Truncate;

/// `native:summarize`: keeps the newest part; the model of its grant summarizes the rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summarize;

#[async_trait]
impl Runner for Digest {
    fn writes_digests(&self) -> bool {
        true
    }

    async fn compact(&self, terms: Terms<'_>, situation: &Arc<Situation>) -> Call<Report> {
        Call::of(Instant::now(), Ok(digest(situation, terms.name)))
    }
}

/// Returns the digest's plan, or the one of `native:truncate` where it has none: a chain ends with a strategy that declines.
fn digest(situation: &Situation, name: &str) -> Report {
    guest::compact::<strategies::Tiered>(situation, name, None)
        .ok()
        .filter(|report| matches!(report.answer, Answer::Compacted(_)))
        .unwrap_or_else(|| truncate::truncate(situation))
}

#[async_trait]
impl Runner for Truncate {
    async fn compact(&self, _: Terms<'_>, situation: &Arc<Situation>) -> Call<Report> {
        Call::of(Instant::now(), Ok(truncate::truncate(situation)))
    }
}

#[async_trait]
impl Runner for Summarize {
    fn wants_model(&self) -> bool {
        true
    }

    async fn compact(&self, terms: Terms<'_>, situation: &Arc<Situation>) -> Call<Report> {
        let start = Instant::now();
        let result = match terms.model {
            None => Err(CallFailure::Declared(
                DeclaredFailure::Model,
                "no model was granted to this strategy".to_owned(),
            )),
            Some(grant) => {
                let deadline = baler_conversation::Deadline::moment_after(terms.limits.model_time);
                let (lent, name) = (situation.clone(), terms.name.to_owned());
                model::asking(situation, grant, deadline, move |model| {
                    guest::compact::<strategies::Summarize>(&lent, &name, Some(model))
                })
                .await
            }
        };
        Call::of(start, result)
    }
}
