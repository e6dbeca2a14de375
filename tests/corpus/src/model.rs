//! A model with a constant answer, so that strategies that ask one can be checked like others.

use std::sync::Arc;
use std::time::Duration;

use baler_host::{
    Strategy,
    model::{ModelGrant, ModelInfo},
};
use baler_models::{Answer, AnswerFuture, Finish, MayRetry, Model, Question};

/// A model that gives the same answer to every question.
#[derive(Debug)]
pub struct Parrot {
    info: ModelInfo,
    text: String,
}

impl Parrot {
    /// Creates a model with a window of 200,000 tokens that always answers `text`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            info: ModelInfo::new("parrot", 200_000, 8_000),
            text: text.to_owned(),
        }
    }

    /// Grants such a model to a strategy that needs one.
    #[must_use]
    pub fn granted(strategy: Strategy) -> Strategy {
        if !strategy.lacks_model() {
            return strategy;
        }
        let model = Self::new("What was asked for was done, and nothing is open.");
        strategy.with_model(ModelGrant::new(Arc::new(model)))
    }
}

impl Model for Parrot {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn ask<'a>(&'a self, _: &'a Question, _: Duration, _: MayRetry<'a>) -> AnswerFuture<'a> {
        let answer = Answer::new(self.text.clone(), Finish::Stop);
        Box::pin(std::future::ready(Ok(answer)))
    }
}
