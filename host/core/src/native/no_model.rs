//! No model for native strategies, in WebAssembly: there are no threads on which they could wait for its answers.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Instant;

use baler_strategy::ModelSource;

use crate::error::HostError;
use crate::model::ModelGrant;
use crate::report::Report;
use crate::runner::CallFailure;
use crate::situation::Situation;

type Outcome = Result<Report, CallFailure>;

/// Fails without running the strategy, so that nothing of it is in the module.
pub(super) async fn asking(
    _: &Arc<Situation>,
    _: &ModelGrant,
    _: Instant,
    _: impl FnOnce(&dyn ModelSource) -> Outcome + Send + 'static,
) -> Outcome {
    let none = ErrorKind::Unsupported.into();
    Err(CallFailure::Host(HostError::Thread(none)))
}
