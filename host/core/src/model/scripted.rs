//! A model for tests, which gives prepared answers and records the questions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baler_models::{
    Answer, AnswerFuture, Finish, MayRetry, Model, ModelError, ModelInfo, Price, Question,
};

use super::ModelGrant;

#[derive(Debug)]
pub(crate) struct Scripted {
    info: ModelInfo,
    replies: Mutex<VecDeque<Result<Answer, ModelError>>>,
    asked: Mutex<Vec<Question>>,
    /// Whether it never answers.
    hangs: bool,
}

pub(crate) fn answer(text: &str) -> Result<Answer, ModelError> {
    Ok(Answer::new(text, Finish::Stop).with_usage(100, 10))
}

impl Scripted {
    pub(crate) fn new(replies: impl IntoIterator<Item = Result<Answer, ModelError>>) -> Arc<Self> {
        Self::with_window(replies, 100_000)
    }

    pub(crate) fn with_window(
        replies: impl IntoIterator<Item = Result<Answer, ModelError>>,
        context_window: u32,
    ) -> Arc<Self> {
        Arc::new(Self {
            info: ModelInfo::new("scripted", context_window, 4_000)
                .with_price(Price::new(1.0, 2.0).expect("a price")),
            replies: Mutex::new(replies.into_iter().collect()),
            asked: Mutex::default(),
            hangs: false,
        })
    }

    pub(crate) fn hanging() -> Arc<Self> {
        let mut model = Arc::into_inner(Self::new([])).expect("is new");
        model.hangs = true;
        Arc::new(model)
    }

    pub(crate) fn grant(self: &Arc<Self>) -> ModelGrant {
        ModelGrant::new(Arc::clone(self) as Arc<dyn Model>)
    }

    pub(crate) fn asked(&self) -> Vec<Question> {
        self.asked.lock().expect("no panic").clone()
    }
}

impl Model for Scripted {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn ask<'a>(&'a self, question: &'a Question, _: Duration, _: MayRetry<'a>) -> AnswerFuture<'a> {
        Box::pin(async move {
            self.asked.lock().expect("no panic").push(question.clone());
            if self.hangs {
                std::future::pending::<()>().await;
            }
            let reply = self.replies.lock().expect("no panic").pop_front();
            reply.unwrap_or_else(|| Err(ModelError::Unavailable("the script has ended".to_owned())))
        })
    }
}
