//! Runs a strategy a second time and compares: a strategy must answer the same question in the same way.

use std::sync::Arc;

use crate::fault::{Difference, Fault};
use crate::receipt::Verification;
use crate::report::Report;
use crate::runner::{Call, CallFailure, Runner, Terms};
use crate::situation::Situation;

/// Asks for a plan. If the request wants that verified, asks once more, and returns a fault in place of an answer
/// that differs. An answer for which a model was asked is not verified: the model may answer in another way.
/// Also returns what came of it; `None` if nothing was to be verified.
pub(crate) async fn compact(
    runner: &dyn Runner,
    terms: Terms<'_>,
    situation: &Arc<Situation>,
) -> (Call<Report>, Option<Verification>) {
    let asked = situation.spending.so_far().calls;
    let mut call = runner.compact(terms, situation).await;
    let has_answered = !matches!(
        call.result,
        Err(CallFailure::Fault(_) | CallFailure::Host(_))
    );
    if !situation.request.verify || !has_answered {
        return (call, None);
    }
    if situation.spending.so_far().calls != asked {
        return (call, Some(Verification::AskedModel));
    }
    let again = runner.compact(terms, situation).await;
    let is_cut_off = matches!(
        again.result,
        Err(CallFailure::Host(_) | CallFailure::Fault(Fault::Timeout { .. }))
    );
    let verification = if is_cut_off {
        // How far it came depends on the machine, and says nothing about the answer.
        call.result = again.result;
        Verification::CutOff
    } else if let Some(what) = difference(&call, &again) {
        call.result = Err(CallFailure::Fault(Fault::NotDeterministic { what }));
        Verification::Different
    } else {
        Verification::Same
    };
    (call, Some(verification))
}

/// Returns in what two calls differ. Time is not compared.
fn difference(one: &Call<Report>, other: &Call<Report>) -> Option<Difference> {
    // By its text, since a metric may be no number, which no number equals.
    if format!("{:?}", one.result) != format!("{:?}", other.result) {
        Some(Difference::Answer)
    } else if one.usage.log != other.usage.log || one.usage.log_dropped != other.usage.log_dropped {
        Some(Difference::Log)
    } else if one.usage.fuel != other.usage.fuel {
        Some(Difference::Fuel)
    } else {
        None
    }
}
