use std::slice;

use anyhow::anyhow;
use baler_host::{
    Budget, Request, receipt::AttemptResult, request::CachePrice, strategy::Decision,
};
use clap::Args;
use serde_json::json;

use crate::arguments::{ConversationArguments, GoalArguments, SandboxArguments, ShareArgument};
use crate::exit::{Exit, Failure};
use crate::figures::{cleaned, number, shortened};
use crate::output::{self, Messages};
use crate::receipt::remedy;
use crate::remote::RemoteArguments;
use crate::settings::{self, HostSettings, Keeping};
use crate::{chain, files, input, model};

/// Decide whether to compact a conversation now
///
/// Prints `compact` or `wait`, and who decided. If the strategy has no opinion or fails, baler decides: to
/// compact if the conversation is over its budget.
#[derive(Debug, Args)]
#[command(after_help = AFTER, mut_arg("budget", |arg| arg.help(BUDGET)))]
pub(crate) struct ShouldCompactCommand {
    #[command(flatten)]
    conversation: ConversationArguments,

    /// The strategy that decides: a name (`baler strategies` lists them), a .wasm file, or the URL of a
    /// server
    #[arg(short, long, value_name = "NAME|FILE.wasm|URL", default_value = chain::DEFAULT, help_heading = "Strategy")]
    strategy: String,

    /// Config of the strategy: JSON, or @FILE for a file that holds it
    #[arg(long, value_name = "JSON|@FILE", help_heading = "Strategy")]
    config: Option<String>,

    #[command(flatten)]
    remote: RemoteArguments,

    #[command(flatten)]
    goal: GoalArguments,

    /// Number of requests that are expected to follow, such as 20. With it and --previous, baler waits as
    /// long as losing the provider's cache costs more than requests of half the size save
    #[arg(long, value_name = "N", requires = "previous", help_heading = "Goal")]
    requests_ahead: Option<u32>,

    /// Price of a cached token, as a share of the price of an uncached one
    #[arg(
        long,
        value_name = "N%",
        default_value = "10%",
        requires = "requests_ahead",
        help_heading = "Goal"
    )]
    cached_price: ShareArgument,

    /// Print the decision as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Print only errors; the exit code says the decision
    #[arg(short, long, conflicts_with = "json", help_heading = "Output")]
    quiet: bool,

    /// Show the strategy's free-text reason. It is untrusted and may quote the conversation
    #[arg(long, help_heading = "Output")]
    words: bool,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

const BUDGET: &str = "\
Size from which on to compact: a number of tokens, everything included, such as 100000; or a share of the \
--context-window [default: 80%]";

const AFTER: &str = "\
Examples:
  baler should-compact request.json --budget 100000
  baler should-compact request.json --context-window 200000 --budget 75%
  baler should-compact -q request.json --budget 150000 &&
    baler compact request.json --budget 60000 -o request.json

Exit codes:
  0  compact now
  1  baler failed
  2  invalid usage: an unknown option or name, a config or strategy file that cannot be used
  3  wait
  5  invalid input: the conversation has errors, or cannot be read";

impl ShouldCompactCommand {
    /// From how many tokens on it is time, and how that is said. A share of the conversation
    /// itself would always be passed.
    fn threshold(&self) -> Result<(u32, String), Failure> {
        let share = match self.goal.budget {
            Some(Budget::Tokens(tokens)) => return Ok((tokens, number(tokens))),
            Some(Budget::Share(share)) => share,
            None => Request::DUE_SHARE,
        };
        let Some(window) = self.goal.context_window else {
            return Err(Failure::wrong_use(anyhow!(
                "from which size on is it time? Give --budget TOKENS; or --context-window TOKENS, of which \
                 --budget is a share [default: 80%]"
            )));
        };
        let tokens = (f64::from(window) * share) as u32;
        let said = format!(
            "{} ({:.0}% of the context window)",
            number(tokens),
            share * 100.0
        );
        Ok((tokens, said))
    }

    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let messages = Messages {
            quiet: self.quiet || self.json,
        };
        let (budget, typed) = self.threshold()?;
        if !self.quiet {
            files::check_output_is_apart(self.conversation.file.as_deref())?;
        }
        let goal = self.goal.request()?;
        let tokenizer = settings::tokenizer(&self.conversation.tokenizer)?;
        let config = self.config.as_deref().map(settings::config).transpose()?;
        let source = chain::find(&self.strategy, &self.remote)?;
        let document = input::read(self.conversation.file.as_deref(), "should-compact")?;
        input::warm_up(tokenizer.as_ref(), &document);

        let settings = HostSettings {
            format: self.conversation.format.0,
            tokenizer,
            archive: Keeping::Nowhere,
            model: None,
            calls: None,
            never_rests: false,
            serves_many: false,
        };
        let host = self.sandbox.host(settings, messages)?;
        let mut strategy = source.load(&host, &self.sandbox).await?;
        if let Some(config) = &config {
            strategy = chain::configured(&host, &strategy, &source, config).await?;
        }
        let (sources, chain) = (slice::from_ref(&source), slice::from_ref(&strategy));
        model::warn_if_unread(sources, chain, &self.goal, messages);
        let conversation = input::conversation(&host, document, &self.conversation, messages)?;
        self.goal.check_pins(&conversation)?;
        if conversation.is_broken() {
            input::tell_violations(&conversation, &self.conversation);
            return Ok(Exit::WrongInput);
        }

        let request = goal
            .with_cache_price(
                self.requests_ahead
                    .map(|requests| CachePrice::new(self.cached_price.0, requests)),
            )
            .with_budget(Budget::Tokens(budget));
        let answer = host
            .should_compact(&conversation, &strategy, &request)
            .await;
        let by_size = request.with_cache_price(None);
        let is_over = answer.is_due || host.is_due(&conversation, &by_size);
        let verdict = if answer.is_due { "compact" } else { "wait" };
        let name = cleaned(strategy.name());
        let (by_strategy, reason) = match &answer.decision {
            Decision::Compact(reason) => (true, reason.as_str()),
            Decision::Wait(reason) => (!answer.is_due, reason.as_str()),
            Decision::HostDecides => (false, ""),
        };
        if let AttemptResult::Fault { fault } = &answer.attempt.result {
            messages.warn(&format!("{name} was asked and failed: {fault}"));
            messages.say(&format!("  → {}\n", remedy(fault)));
        }
        if self.json {
            let answer = json!({
                "decision": verdict,
                "decided-by": if by_strategy { &name } else { "baler" },
                "tokens": conversation.tokens(),
                "over-budget": is_over,
                "attempt": answer.attempt,
            });
            output::listing(&format!("{answer}\n"))?;
        } else if !self.quiet {
            let who = if by_strategy {
                format!("{name} decides")
            } else if matches!(answer.decision, Decision::Wait(_)) {
                format!("{name} would wait, but it is required")
            } else {
                let over = if is_over { "over" } else { "within" };
                let but = if is_over && !answer.is_due {
                    ", but what the provider has cached is worth more for so few requests"
                } else {
                    ""
                };
                format!(
                    "baler decides: {} tokens, {over} the budget: {}{but}",
                    number(conversation.tokens()),
                    typed
                )
            };
            output::words(&format!("{verdict}: {who}\n"))?;
            if self.words && !reason.is_empty() {
                output::words(&format!("  it says: {}\n", shortened(reason)))?;
            }
        }
        Ok(if answer.is_due {
            Exit::Done
        } else {
            Exit::Unchanged
        })
    }
}
