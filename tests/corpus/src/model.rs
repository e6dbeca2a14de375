//! A model that always says the same, so that strategies which ask one can be checked like others.

use std::sync::Arc;
use std::time::Duration;

use baler_host::{ModelGrant, ModelInfo, Strategy};
use baler_models::{Again, Answer, Asked, Finish, Model, Question};

/// It writes this, whatever it is asked.
#[derive(Debug)]
pub struct Parrot {
    info: ModelInfo,
    text: String,
}

impl Parrot {
    /// A model with a window of 200,000 tokens.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            info: ModelInfo {
                name: "parrot".to_owned(),
                context_window: 200_000,
                max_output_tokens: 8_000,
                price: None,
            },
            text: text.to_owned(),
        }
    }

    /// The strategy, with a grant for a model like this where it wants one.
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

    fn ask<'a>(&'a self, _: &'a Question, _: Duration, _: Again<'a>) -> Asked<'a> {
        let answer = Answer {
            text: self.text.clone(),
            finish: Finish::Stop,
            input_tokens: 0,
            output_tokens: 0,
        };
        Box::pin(std::future::ready(Ok(answer)))
    }
}
