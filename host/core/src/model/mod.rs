//! A strategy's access to a model: granted for each strategy, metered for each compaction.

#[cfg(test)]
pub(crate) mod scripted;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(test)]
mod tests;

pub use baler_models::{
    Answer, AnswerFuture, Finish, MayRetry, Model, ModelError, ModelInfo, Price, Question,
};

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use baler_conversation::tokenizers::Tokenizer;

use crate::time_limit::within;

/// Limits for all questions of one compaction together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ModelLimits {
    /// The most requests: questions, and each retry.
    pub calls: u32,
    /// The most tokens of all questions. A question counts again with each retry.
    pub input_tokens: u64,
    /// The most tokens of all answers.
    pub output_tokens: u64,
    /// The most cost, in the currency of the model's prices. Only enforced if the prices are known.
    pub cost: Option<f64>,
}

impl ModelLimits {
    setters! {
        with_calls calls: u32;
        with_input_tokens input_tokens: u64;
        with_output_tokens output_tokens: u64;
        with_cost cost: Option<f64>;
    }
}

impl Default for ModelLimits {
    fn default() -> Self {
        Self {
            calls: 16,
            input_tokens: 2_000_000,
            output_tokens: 100_000,
            cost: None,
        }
    }
}

/// A model that a strategy may ask, with limits.
///
/// ```
/// use std::sync::Arc;
/// use baler_host::Strategy;
/// use baler_host::model::{Model, ModelGrant, ModelLimits};
///
/// fn summarizer(model: Arc<dyn Model>) -> Strategy {
///     let limits = ModelLimits::default().with_calls(2).with_cost(0.10);
///     Strategy::summarize(ModelGrant::new(model).with_limits(limits))
/// }
/// ```
#[derive(Debug, Clone)]
pub struct ModelGrant {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) limits: ModelLimits,
}

impl ModelGrant {
    /// Creates a grant with [`ModelLimits::default`].
    #[must_use]
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self {
            model,
            limits: ModelLimits::default(),
        }
    }

    /// Returns the same grant with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: ModelLimits) -> Self {
        self.limits = limits;
        self
    }
}

/// The use of models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ModelUsage {
    /// Number of requests: questions, with or without an answer, and each retry.
    pub calls: u32,
    /// Number of requests without a usable answer.
    pub failed: u32,
    /// Tokens of the questions, as the provider counted, else as the host estimated.
    pub input_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// Cost, in the currency of the model's prices; absent if these are unknown.
    pub cost: Option<f64>,
    /// Wall-clock time, in microseconds.
    pub time_us: u64,
    /// Why the newest failed question failed: `unavailable`, `too-long`, `refused`, `spent` or `other`.
    pub failure: Option<&'static str>,
}

impl ModelUsage {
    fn add(&mut self, price: Option<Price>, input: u64, output: u64) {
        self.input_tokens = self.input_tokens.saturating_add(input);
        self.output_tokens = self.output_tokens.saturating_add(output);
        if let Some(price) = price {
            *self.cost.get_or_insert(0.0) += price.cost(input, output);
        }
    }

    /// Returns the use since `before`; `None` if there were no requests since.
    pub(crate) fn since(self, before: Self) -> Option<Self> {
        let cost = self.cost.map(|cost| cost - before.cost.unwrap_or(0.0));
        (self.calls > before.calls).then_some(Self {
            calls: self.calls - before.calls,
            failed: self.failed - before.failed,
            input_tokens: self.input_tokens - before.input_tokens,
            output_tokens: self.output_tokens - before.output_tokens,
            cost,
            time_us: self.time_us - before.time_us,
            failure: self.failure,
        })
    }
}

/// The use of models by a compaction so far, by all strategies of its chain together.
#[derive(Debug, Default)]
pub(crate) struct Spending(Mutex<ModelUsage>);

impl Spending {
    pub(crate) fn so_far(&self) -> ModelUsage {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, ModelUsage> {
        // After a panic, at worst the figures of the last question are wrong.
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Asks a question within the rest of the grant and before `deadline`. The question counts before it is
    /// sent, because it may reach the provider even if the future is dropped.
    pub(crate) async fn ask(
        &self,
        grant: &ModelGrant,
        mut question: Question,
        counter: &Tokenizer,
        deadline: Instant,
    ) -> Result<Answer, ModelError> {
        let info = grant.model.info();
        let instructions = question.instructions.as_deref().unwrap_or_default();
        let input = u64::from(counter.count(instructions))
            + u64::from(counter.count(&question.prompt))
            + QUESTION_TOKENS;
        question.max_output_tokens = question
            .max_output_tokens
            .clamp(1, info.max_output_tokens.max(1));
        let fits = u64::from(
            info.context_window
                .saturating_sub(question.max_output_tokens),
        );
        if input > fits {
            let fits = fits.saturating_sub(QUESTION_TOKENS);
            return Err(ModelError::TooLong {
                fits: Some(u32::try_from(fits).unwrap_or(u32::MAX)),
            });
        }
        let time = deadline.saturating_duration_since(Instant::now());
        self.admit(grant, &mut question, input, time)?;
        let start = Instant::now();
        let again = || self.admit_again(grant, &question, input);
        let result = within(time, grant.model.ask(&question, time, &again))
            .await
            .unwrap_or_else(|_| Err(ModelError::Unavailable("no answer in time".to_owned())));
        let time = start.elapsed();
        #[cfg(feature = "metrics")]
        metrics::question(grant.model.info(), &result, time);
        self.settle(grant, input, &result, time);
        result.map_err(|error| match error {
            // If the provider does not say what fits, half of the question may.
            ModelError::TooLong { fits: None } => ModelError::TooLong {
                fits: Some(u32::try_from(input / 2).unwrap_or(u32::MAX)),
            },
            other => other,
        })
    }

    /// Checks that the grant allows the question, limits the answer to the tokens that are left, and counts
    /// the question.
    fn admit(
        &self,
        grant: &ModelGrant,
        question: &mut Question,
        input: u64,
        time: Duration,
    ) -> Result<(), ModelError> {
        let limits = &grant.limits;
        let mut used = self.lock();
        let spent = |what: String| Err(ModelError::Spent(what));
        let left = limits.output_tokens.saturating_sub(used.output_tokens);
        if left == 0 {
            return spent(format!("{} tokens of answers", limits.output_tokens));
        }
        if time.is_zero() {
            return spent("the time of this call".to_owned());
        }
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        question.max_output_tokens = question.max_output_tokens.min(left);
        if let Some(what) = passed(grant, &used, question, input) {
            return spent(what);
        }
        used.calls += 1;
        Ok(())
    }

    /// Returns whether the grant allows a retry, and counts the failed request before it, which may be
    /// billed. `settle` counts the last request.
    fn admit_again(&self, grant: &ModelGrant, question: &Question, input: u64) -> bool {
        let mut used = self.lock();
        let mut after = *used;
        after.add(grant.model.info().price, input, 0);
        if passed(grant, &after, question, input).is_some() {
            return false;
        }
        after.calls += 1;
        after.failed += 1;
        *used = after;
        true
    }

    fn settle(
        &self,
        grant: &ModelGrant,
        input: u64,
        result: &Result<Answer, ModelError>,
        time: Duration,
    ) {
        let mut used = self.lock();
        used.time_us += u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let (input, output) = match result {
            Ok(answer) => (
                // A provider that counts nothing does not make questions free.
                answer
                    .input_tokens
                    .filter(|tokens| *tokens > 0)
                    .map_or(input, u64::from),
                answer.output_tokens.map_or(0, u64::from),
            ),
            Err(error) => {
                used.failed += 1;
                used.failure = Some(code(error));
                match error {
                    ModelError::TooLong { .. } | ModelError::Refused(_) | ModelError::Spent(_) => {
                        return;
                    }
                    // A request without a usable answer may still be billed.
                    _ => (input, 0),
                }
            }
        };
        used.add(grant.model.info().price, input, output);
    }
}

/// Returns the limit that a further request with this question would exceed.
fn passed(
    grant: &ModelGrant,
    used: &ModelUsage,
    question: &Question,
    input: u64,
) -> Option<String> {
    let limits = &grant.limits;
    if used.calls >= limits.calls {
        return Some(format!("{} requests", limits.calls));
    }
    if used.input_tokens.saturating_add(input) > limits.input_tokens {
        return Some(format!("{} tokens of questions", limits.input_tokens));
    }
    let limit = limits.cost?;
    let most = grant
        .model
        .info()
        .price?
        .cost(input, u64::from(question.max_output_tokens));
    (used.cost.unwrap_or(0.0) + most > limit).then(|| format!("a cost of {limit}"))
}

/// Returns the name of an error in receipts and metrics.
pub(crate) fn code(error: &ModelError) -> &'static str {
    match error {
        ModelError::Unavailable(_) => "unavailable",
        ModelError::TooLong { .. } => "too-long",
        ModelError::Refused(_) => "refused",
        ModelError::Spent(_) => "spent",
        _ => "other",
    }
}

/// Estimated tokens of a request in addition to the two texts of a question.
const QUESTION_TOKENS: u64 = 16;
