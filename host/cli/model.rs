//! The model that strategies may ask.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::anyhow;
use baler_host::{
    Strategy,
    model::{ModelGrant, ModelLimits, Price},
    project::Trust,
};
use baler_models::clients::{Client, ClientBuilder, KeySource, ModelChoice};
use clap::Args;

use crate::arguments::GoalArguments;
use crate::exit::Failure;
use crate::figures;
use crate::output::Messages;
use crate::sources::Source;

/// Options for the model that strategies may ask.
#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    /// The model that strategies may ask: openai:NAME, anthropic:NAME, gemini:NAME, or the URL of a server
    /// that is compatible with OpenAI's, followed by `#` and the model, such as
    /// http://localhost:11434/v1#qwen3:8b. Without this option no model is asked
    #[arg(long, value_name = "MODEL", help_heading = "Model")]
    pub(crate) model: Option<String>,

    /// Where the key of the model is: env:NAME, file:PATH or none; never the key itself [default: the
    /// provider's usual variable, such as OPENAI_API_KEY; for other servers BALER_MODEL_KEY, which is sent
    /// only over https or to this machine]
    #[arg(long, value_name = "WHERE", requires = "model", help_heading = "Model")]
    model_key: Option<String>,

    /// Context window of the model in tokens, if baler does not know the model, such as 32768
    #[arg(long, value_name = "TOKENS", requires = "model", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Model")]
    model_window: Option<u32>,

    /// Price of a million tokens of input and of output, such as 3/15, in any currency
    #[arg(
        long,
        value_name = "IN/OUT",
        requires = "model",
        help_heading = "Model"
    )]
    model_price: Option<Price>,

    /// Maximum cost of a compaction in the currency of --model-price, such as 0.05
    #[arg(
        long,
        value_name = "AMOUNT",
        requires = "model_price",
        value_parser = amount,
        help_heading = "Model"
    )]
    model_cost: Option<f64>,

    /// Maximum number of requests to the model per compaction; each retry counts [default: 16]
    #[arg(long, value_name = "N", requires = "model", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Model")]
    model_calls: Option<u32>,
}

pub(crate) fn amount(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|amount: &f64| amount.is_finite() && *amount > 0.0)
        .ok_or_else(|| "give an amount above 0, such as 0.05".to_owned())
}

/// Begins a client of the model that an option names, with the key that another names. Both come with their options.
pub(crate) fn builder(
    (option, model): (&str, &str),
    (key_option, key): (&str, Option<&str>),
) -> Result<ClientBuilder, Failure> {
    // Not by the parser of arguments, which repeats what is wrong: there may be a password in it.
    let choice: ModelChoice = model
        .parse()
        .map_err(|error| Failure::wrong_use(anyhow!("{option}: {error}")))?;
    // For the same reason: it may be the key.
    let source = key
        .map(str::parse::<KeySource>)
        .transpose()
        .map_err(|error| Failure::wrong_use(anyhow!("{key_option}: {error}")))?;
    Ok(Client::builder(choice).key(source))
}

impl ModelArguments {
    /// The file that holds the model's key.
    pub(crate) fn key_file(&self) -> Option<PathBuf> {
        match self.model_key.as_deref()?.parse() {
            Ok(KeySource::File(file)) => Some(file),
            _ => None,
        }
    }

    /// Returns the grant; `None` if no model is named.
    pub(crate) fn grant(&self) -> Result<Option<ModelGrant>, Failure> {
        let Some(model) = &self.model else {
            return Ok(None);
        };
        let builder = builder(
            ("--model", model),
            ("--model-key", self.model_key.as_deref()),
        )?;
        let client = builder
            .context_window(self.model_window)
            .price(self.model_price)
            .build()
            .map_err(|error| Failure::wrong_use(anyhow::Error::new(error)))?;
        let default = ModelLimits::default();
        let limits = default
            .with_calls(self.model_calls.unwrap_or(default.calls))
            .with_cost(self.model_cost);
        Ok(Some(ModelGrant::new(Arc::new(client)).with_limits(limits)))
    }
}

/// Warns where none of the strategies that were named will ask the model that was.
pub(crate) fn warn_if_unasked(chain: &[Strategy], grant: Option<&ModelGrant>, messages: Messages) {
    if grant.is_none() || chain.iter().any(Strategy::lacks_model) {
        return;
    }
    messages.warn(&format!(
        "--model is named, and {} no model: only the fallback `native:summarize` will, if it \
         comes to that; for a model's summary name a strategy that asks one, such as `tiered-model`, \
         or none; else leave --model out",
        doing(chain, "ask")
    ));
}

/// Warns if `--instructions` or `--context` is given and no strategy of the chain reads it. Whether a
/// strategy that does not ship with baler reads them is unknown, so such a strategy prevents the warning.
pub(crate) fn warn_if_unread(
    sources: &[Source],
    chain: &[Strategy],
    goal: &GoalArguments,
    messages: Messages,
) {
    let is_own = |source: &Source| source.reads_context().is_some();
    let mut all = sources.iter().zip(chain);
    if goal.instructions.is_some()
        && all.all(|(source, strategy)| is_own(source) && !strategy.lacks_model())
    {
        messages.warn(&format!(
            "--instructions are given, and {} none: only strategies that ask a model do, such as \
             `tiered-model`, which --model makes the default; else leave --instructions out",
            doing(chain, "read")
        ));
    }
    let is_unread = |source: &Source| source.reads_context() == Some(false);
    if goal.context.is_some() && sources.iter().all(is_unread) {
        messages.warn(&format!(
            "--context is given, and {} none: of the strategies that ship with baler, `coalesce` and \
             `trim` do; name one that does, or leave --context out",
            doing(chain, "read")
        ));
    }
}

/// Joins the names of strategies with a verb: `` `one` and `two` ask ``.
fn doing(chain: &[Strategy], what: &str) -> String {
    let names: Vec<String> = chain
        .iter()
        .map(|strategy| format!("`{}`", figures::cleaned(strategy.name())))
        .collect();
    let ending = if names.len() == 1 { "s" } else { "" };
    format!("{} {what}{ending}", names.join(" and "))
}

/// Gives strategies that want a model the grant, except those that are listed in `baler.toml` without it. `sources` are
/// where the strategies come from, in the same order.
pub(crate) fn granted(
    chain: Vec<Strategy>,
    sources: &[Source],
    grant: Option<&ModelGrant>,
) -> Result<Vec<Strategy>, Failure> {
    let listed = |place: usize| sources.get(place).and_then(Source::listed);
    let is_refused = |place| listed(place).is_some_and(|listed| !listed.may_ask_model());
    let is_untrusted =
        |place| listed(place).is_some_and(|listed| listed.trust() == Trust::Untrusted);
    chain
        .into_iter()
        .enumerate()
        .map(|(place, strategy)| match grant {
            _ if !strategy.lacks_model() => Ok(strategy),
            _ if is_untrusted(place) => Err(Failure::wrong_use(anyhow!(
                "`{}` wants to ask a model, and its `baler.toml` is not trusted, so its grants do not count: read the list, \
                 and run `baler trust` if you trust the strategy with the conversation and the cost",
                strategy.name()
            ))),
            _ if is_refused(place) => Err(Failure::wrong_use(anyhow!(
                "`{}` wants to ask a model, and `baler.toml` does not grant it one: add `grant = [\"model\"]` to its \
                 table if you trust it with the conversation and the cost",
                strategy.name()
            ))),
            Some(grant) => Ok(strategy.with_model(grant.clone())),
            None => Err(Failure::wrong_use(anyhow!(
                "`{}` wants to ask a model, and none is granted to it: name one by --model, such as \
                 `--model openai:gpt-5-mini` or `--model http://localhost:11434/v1#qwen3:8b`",
                strategy.name()
            ))),
        })
        .collect()
}
