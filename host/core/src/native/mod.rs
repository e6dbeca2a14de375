//! Native strategies: trusted code in the host itself, which runs if no other strategy makes a result.

mod digest;
mod free_budget;
mod summarize;
mod truncate;

use std::sync::Arc;
use std::time::Instant;

use crate::fault::DeclaredFailure;
use crate::plan::Plan;
use crate::report::Report;
use crate::runner::{Call, CallFailure, Runner, Running, Terms};
use crate::situation::Situation;

/// `native:digest`: keeps the newest part and replaces the rest by a structured summary.
pub(crate) struct Digest;

/// `native:truncate`: keeps the newest turns that fit.
pub(crate) struct Truncate;

/// `native:summarize`: keeps the newest messages; the model of its grant summarizes the rest.
pub(crate) struct Summarize;

impl Runner for Digest {
    fn writes_digests(&self) -> bool {
        true
    }

    fn compact<'a>(
        &'a self,
        _terms: Terms<'a>,
        situation: &'a Arc<Situation>,
    ) -> Running<'a, Call<Report>> {
        Box::pin(async move {
            let start = Instant::now();
            Call::of(start, Ok(digest::digest(situation)))
        })
    }
}

impl Runner for Truncate {
    fn compact<'a>(
        &'a self,
        _terms: Terms<'a>,
        situation: &'a Arc<Situation>,
    ) -> Running<'a, Call<Report>> {
        Box::pin(async move {
            let start = Instant::now();
            Call::of(start, Ok(truncate::truncate(situation)))
        })
    }
}

impl Runner for Summarize {
    fn wants_model(&self) -> bool {
        true
    }

    fn compact<'a>(
        &'a self,
        terms: Terms<'a>,
        situation: &'a Arc<Situation>,
    ) -> Running<'a, Call<Report>> {
        Box::pin(async move {
            let start = Instant::now();
            let result = match terms.model {
                None => Err((
                    DeclaredFailure::Model,
                    "no model was granted to this strategy".to_owned(),
                )),
                Some(grant) => {
                    let deadline =
                        baler_conversation::Deadline::moment_after(terms.limits.model_time);
                    summarize::summarize(situation, grant, deadline).await
                }
            };
            Call::of(
                start,
                result.map_err(|(kind, why)| CallFailure::Declared(kind, why)),
            )
        })
    }
}

/// Makes a plan that keeps the `kept` units, with a summary in the place of the first removed unit.
fn with_summary(kept: &[bool], text: String) -> Plan {
    let mut plan = Plan::default();
    let mut text = Some(text);
    for (unit, is_kept) in kept.iter().enumerate() {
        if *is_kept {
            plan.keep(unit);
        } else if let Some(text) = text.take() {
            plan.insert_summary(text);
        }
    }
    plan
}
