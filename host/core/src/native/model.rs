//! A model for native strategies, which wait for its answers on a thread of their own.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use baler_strategy::{Completion, ModelError, ModelInfo, ModelRequest, ModelSource};
use tokio::sync::{mpsc, oneshot};

use super::{convert, guest};
use crate::error::HostError;
use crate::model::ModelGrant;
use crate::report::Report;
use crate::runner::CallFailure;
use crate::situation::Situation;

type Outcome = Result<Report, CallFailure>;

/// Runs `strategy`, which may ask the model of the grant until `deadline`.
///
/// If the future is dropped, the next question fails, so that the thread ends.
pub(super) async fn asking(
    situation: &Arc<Situation>,
    grant: &ModelGrant,
    deadline: Instant,
    strategy: impl FnOnce(&dyn ModelSource) -> Outcome + Send + 'static,
) -> Outcome {
    let info = convert::model_info(grant.model.info());
    let (questions, mut asked) = mpsc::unbounded_channel();
    let (done, outcome) = oneshot::channel();
    let thread = thread::Builder::new().name("native:summarize".to_owned());
    let started = thread.spawn(move || {
        let model = Asked { info, questions };
        // Nobody waits any more if the compaction was cancelled.
        let _ = done.send(strategy(&model));
    });
    if let Err(error) = started {
        return Err(CallFailure::Host(HostError::Thread(error)));
    }
    while let Some((request, reply)) = asked.recv().await {
        let question = convert::question(request);
        let counter = situation.conversation.tokenizer();
        let answer = situation.spending.ask(grant, question, counter, deadline);
        let answer = answer.await.map(convert::answer);
        let _: Result<(), _> = oneshot::Sender::send(reply, answer.map_err(convert::model_error));
    }
    outcome.await.unwrap_or_else(|_| Err(guest::panicked()))
}

type Reply = oneshot::Sender<Result<Completion, ModelError>>;

/// The model as the thread sees it.
struct Asked {
    info: ModelInfo,
    questions: mpsc::UnboundedSender<(ModelRequest, Reply)>,
}

impl ModelSource for Asked {
    fn info(&self) -> Option<ModelInfo> {
        Some(self.info.clone())
    }

    fn complete(&self, request: &ModelRequest) -> Result<Completion, ModelError> {
        let cancelled = || ModelError::Unavailable("the compaction was cancelled".to_owned());
        let (reply, answer) = oneshot::channel();
        let question = (request.clone(), reply);
        self.questions.send(question).map_err(|_| cancelled())?;
        answer.blocking_recv().unwrap_or_else(|_| Err(cancelled()))
    }
}
