//! What a strategy may ask of a model: granted for each strategy, metered for each compaction.

#[cfg(test)]
pub(crate) mod scripted;
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

/// What the questions of one compaction may use together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ModelLimits {
    /// Requests: questions, and what is sent again where the provider gave no answer.
    pub calls: u32,
    /// Tokens of all questions; of one that is sent again, each time.
    pub input_tokens: u64,
    /// Tokens of all answers.
    pub output_tokens: u64,
    /// What they may cost, in the currency of the model's prices; only where those are known.
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

/// A model that a strategy may ask, and how much.
#[derive(Debug, Clone)]
pub struct ModelGrant {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) limits: ModelLimits,
}

impl ModelGrant {
    /// A grant within [`ModelLimits::default`].
    #[must_use]
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self {
            model,
            limits: ModelLimits::default(),
        }
    }

    /// The same within other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: ModelLimits) -> Self {
        self.limits = limits;
        self
    }
}

/// What was asked of models, and what that used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ModelUsage {
    /// Requests: questions, those without an answer included, and what was sent again.
    pub calls: u32,
    /// Requests that came to nothing.
    pub failed: u32,
    /// Tokens of the questions, as the provider counted.
    pub input_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// What they cost, where the model's prices are known.
    pub cost: Option<f64>,
    /// Time on the clock, in microseconds.
    pub time_us: u64,
    /// Why the newest question that came to nothing did so: `unavailable`, `too-long`,
    /// `refused`, `spent` or `other`.
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

    /// What came since `before`.
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

/// What the questions of a compaction have used so far, all strategies of its chain together.
#[derive(Debug, Default)]
pub(crate) struct Spending(Mutex<ModelUsage>);

impl Spending {
    pub(crate) fn so_far(&self) -> ModelUsage {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, ModelUsage> {
        // What a panic leaves here are figures, and those of the last question at worst.
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Asks within what is left of the grant and before `deadline`. The question counts before
    /// it is sent: one that is dropped half way was asked all the same.
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
        let result = tokio::time::timeout(time, grant.model.ask(&question, time, &again))
            .await
            .unwrap_or_else(|_| Err(ModelError::Unavailable("no answer in time".to_owned())));
        let time = start.elapsed();
        metrics::question(grant.model.info(), &result, time);
        self.settle(grant, input, &result, time);
        result.map_err(|error| match error {
            // Half of what was too much is worth a try where nobody says what would fit.
            ModelError::TooLong { fits: None } => ModelError::TooLong {
                fits: Some(u32::try_from(input / 2).unwrap_or(u32::MAX)),
            },
            other => other,
        })
    }

    /// Whether the grant has room for the question, which gets no longer an answer than what
    /// is left.
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

    /// Whether the grant has room for sending a question once more, since what was sent came to nothing. That
    /// may be billed all the same; the last time that it was sent, `settle` counts.
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

/// The limit that a further request with this question would pass.
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

/// The name of an error in receipts and metrics.
pub(crate) fn code(error: &ModelError) -> &'static str {
    match error {
        ModelError::Unavailable(_) => "unavailable",
        ModelError::TooLong { .. } => "too-long",
        ModelError::Refused(_) => "refused",
        ModelError::Spent(_) => "spent",
        _ => "other",
    }
}

/// What a request costs around the two texts of a question, as an estimate.
const QUESTION_TOKENS: u64 = 16;
