use std::slice;

use anyhow::anyhow;
use baler_host::{
    Budget, Request,
    receipt::AttemptResult,
    request::CachePrice,
    strategy::{Decision, ShouldCompact},
};
use clap::Args;
use serde_json::{Value, json};

use crate::arguments::{ConversationArguments, GoalArguments, SandboxArguments, ShareArgument};
use crate::exit::{Exit, Failure};
use crate::figures::{cleaned, number, shortened};
use crate::output::{self, Messages};
use crate::receipt::remedy;
use crate::remote::RemoteArguments;
use crate::settings::{self, HostSettings};
use crate::{files, input, model, project, sources};

/// Decide whether to compact a conversation now
///
/// Prints `compact` or `wait`, and who decided. If the strategy has no opinion or fails, baler decides: to
/// compact if the conversation is over its budget.
#[derive(Debug, Args)]
#[command(after_help = AFTER, mut_arg("budget", |arg| arg.help(budget_help())), mut_arg("context_window", |arg| arg.help(WINDOW)))]
pub(crate) struct ShouldCompactCommand {
    #[command(flatten)]
    conversation: ConversationArguments,

    /// The strategy that decides: a name (`baler strategies` lists them), a .wasm file, or the URL of a
    /// server
    #[arg(short, long, value_name = "NAME|FILE.wasm|URL", default_value = sources::DEFAULT, help_heading = "Strategy")]
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

/// Returns the default of --budget, such as `80%`.
fn default_share() -> String {
    format!("{:.0}%", Request::DUE_SHARE * 100.0)
}

/// Returns the help text of --budget.
fn budget_help() -> String {
    format!(
        "Size from which on to compact: a number of tokens, everything included, such as 100000; or a share of \
         the --context-window [default: {}]",
        default_share()
    )
}

const WINDOW: &str = "\
Context window of the model that the conversation is for, in tokens, such as 200000: the most that one request \
to the model may have. If --budget is a share, it is a share of this. If this option is missing, the window is \
unknown, and --budget must be a number of tokens";

const AFTER: &str = "\
Examples:
  baler should-compact request.json --budget 100000
  baler should-compact request.json --context-window 200000 --budget 75%
  baler should-compact -q request.json --budget 150000 &&
    baler compact request.json --budget 60000 -o request.json

Exit codes:
  0  compact now, for example with `baler compact`
  1  baler failed
  2  invalid usage: an unknown option or name, a config or strategy file that cannot be used
  3  wait: send the conversation to the model as it is
  5  invalid input: the conversation has errors, or cannot be read";

impl ShouldCompactCommand {
    /// Returns the tokens from which on to compact, as a number and in words. A share is one of the context
    /// window: a share of the conversation itself would always be exceeded.
    fn threshold(&self) -> Result<(u32, String), Failure> {
        let share = match self.goal.budget {
            Some(Budget::Tokens(tokens)) => return Ok((tokens, number(tokens))),
            Some(Budget::Share(share)) => share,
            None => Request::DUE_SHARE,
        };
        let Some(window) = self.goal.context_window else {
            return Err(Failure::wrong_use(match self.goal.budget {
                Some(_) => anyhow!(
                    "`--budget` is a share here, {:.0}%, and it is not known of what: give --context-window TOKENS too, \
                     or a number of tokens as --budget",
                    share * 100.0
                ),
                None => anyhow!(
                    "expected a size from which on to compact: give --budget TOKENS, or --context-window TOKENS, \
                     of which --budget is a share [default: {}]",
                    default_share()
                ),
            }));
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
        let project = self.sandbox.project(messages)?;
        let source = sources::find(
            &self.strategy,
            &self.remote,
            project.as_ref(),
            &self.sandbox,
        )?;
        project::tell(project.as_ref(), &[&self.strategy], messages);
        let document = input::read(self.conversation.file.as_deref(), "should-compact")?;

        let settings = HostSettings {
            format: self.conversation.format.0,
            tokenizer,
            project: project.clone(),
            ..HostSettings::default()
        };
        let host = self.sandbox.host(settings, messages)?;
        let mut strategy = source.load(&host, &self.sandbox).await?;
        if let Some(config) = &config {
            strategy = sources::configured(&host, &strategy, &source, config).await?;
        }
        let (sources, chain) = (slice::from_ref(&source), slice::from_ref(&strategy));
        model::warn_if_unread(sources, chain, &self.goal, messages);
        let conversation = input::conversation(&host, document, &self.conversation, messages)?;
        self.goal.check_pins(&conversation)?;
        if conversation.is_broken() {
            input::print_violations(&conversation, &self.conversation);
            return Ok(Exit::WrongInput);
        }

        let request = goal
            .with_policy(project::plan_policy(project.as_ref()))
            .with_cache_price(
                self.requests_ahead
                    .map(|requests| CachePrice::new(self.cached_price.0, requests)),
            )
            .with_budget(Budget::Tokens(budget));
        let answer = host
            .should_compact(&conversation, &strategy, &request)
            .await;
        let by_size = request.with_cache_price(None);
        let decision = Answer {
            strategy: cleaned(strategy.name()),
            tokens: conversation.tokens(),
            refuses_pictures: conversation.has_refused_pictures(),
            is_over_budget: answer.is_due || host.is_due(&conversation, &by_size),
            threshold: typed,
            answer: &answer,
        };
        decision.warn_of_fault(messages);
        if self.json {
            output::listing(&format!("{}\n", decision.as_json()))?;
        } else if !self.quiet {
            output::words(&format!("{}\n", decision.as_text()))?;
            let (_, reason) = decision.by_strategy();
            if self.words && !reason.is_empty() {
                output::words(&format!("  its reason: {}\n", shortened(reason)))?;
            }
        }
        Ok(if answer.is_due {
            Exit::Done
        } else {
            Exit::Unchanged
        })
    }
}

/// The answer to whether to compact, with what is needed to show it.
struct Answer<'a> {
    /// The name of the strategy, without characters that a terminal would act on.
    strategy: String,
    /// Tokens of the conversation.
    tokens: u32,
    is_over_budget: bool,
    refuses_pictures: bool,
    /// The size from which on to compact, in words.
    threshold: String,
    answer: &'a ShouldCompact,
}

impl Answer<'_> {
    const fn verdict(&self) -> &'static str {
        if self.answer.is_due {
            "compact"
        } else {
            "wait"
        }
    }

    /// Returns whether the strategy decided, and its reason, which may be empty.
    fn by_strategy(&self) -> (bool, &str) {
        match &self.answer.decision {
            Decision::Compact(reason) => (true, reason.as_str()),
            Decision::Wait(reason) => (!self.answer.is_due, reason.as_str()),
            Decision::HostDecides => (false, ""),
        }
    }

    fn warn_of_fault(&self, messages: Messages) {
        if let AttemptResult::Fault { fault } = &self.answer.attempt.result {
            messages.warn(&format!("{} failed: {fault}", self.strategy));
            messages.say(&format!("  → {}\n", remedy(fault)));
        }
    }

    fn as_json(&self) -> Value {
        let (by_strategy, _) = self.by_strategy();
        json!({
            "decision": self.verdict(),
            "decided-by": if by_strategy { self.strategy.as_str() } else { "baler" },
            "tokens": self.tokens,
            "over-budget": self.is_over_budget,
            "attempt": self.answer.attempt,
        })
    }

    /// Returns the verdict and who decided, on one line.
    fn as_text(&self) -> String {
        let (by_strategy, _) = self.by_strategy();
        let who = if by_strategy {
            format!("{} decides", self.strategy)
        } else if matches!(self.answer.decision, Decision::Wait(_)) {
            format!("{} would wait, but it is required", self.strategy)
        } else if self.refuses_pictures {
            "baler decides: the provider refuses a picture for its size".to_owned()
        } else {
            let over = if self.is_over_budget {
                "over"
            } else {
                "within"
            };
            let but = if self.is_over_budget && !self.answer.is_due {
                ", but what the provider has cached is worth more for so few requests"
            } else {
                ""
            };
            format!(
                "baler decides: {} tokens, {over} the budget: {}{but}",
                number(self.tokens),
                self.threshold
            )
        };
        format!("{}: {who}", self.verdict())
    }
}
