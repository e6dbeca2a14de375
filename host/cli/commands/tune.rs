use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use baler_eval::{Candidate, Goal, Interval, Score, Space, TuneOptions, Tuned, configs};
use baler_host::conversation::tokenizers::Tokenizer;
use baler_host::{Host, Pins};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use super::eval::{check_outside, notes, percent, recordings, threads};
use crate::arguments::SandboxArguments;
use crate::exit::{Exit, Failure};
use crate::figures;
use crate::output::{self, Messages};
use crate::project;
use crate::remote::RemoteArguments;
use crate::settings::HostSettings;
use crate::sources::{self, Source};

/// Search the config with which a strategy keeps most of your recorded conversations
///
/// The strategy's own JSON Schema is the space that is searched: enumerations, booleans, and numbers around their
/// defaults. Configs are compared by successive halving, and what the best one gains over the default is estimated by
/// cross-validation, with an interval. If the interval holds 0, the difference is noise, and the default is as good.
///
/// Conversations are cut and measured as `baler eval` does. No model is asked, and no text of a message is printed.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct TuneCommand {
    /// A folder of recorded conversations, as for `baler eval`
    corpus: PathBuf,

    /// The strategy: a name, a .wasm file or a URL
    #[arg(long, value_name = "STRATEGY")]
    strategy: String,

    #[command(flatten)]
    remote: RemoteArguments,

    /// The budget as a share of the history; may be given several times [default: 10%, 25%]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    budget: Vec<f64>,

    /// What a config is judged by: recall, in-context, state or answers (`docs/fidelity.md`)
    #[arg(long, value_name = "FIGURE", default_value = "in-context")]
    goal: Goal,

    /// The most configs to compare
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u16).range(2..=1_000))]
    configs: u16,

    /// Stop after this many minutes; what was measured until then decides
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..))]
    minutes: Option<u32>,

    /// Measure only conversations of this set; may be given several times
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,

    /// Pin the first user message, as `baler compact` does
    #[arg(long)]
    pin_first: bool,

    /// Record each score in a file outside of the corpus, and use those that it already contains
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    /// The number of conversations measured at the same time, at most 256 [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<NonZeroUsize>,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

const AFTER: &str = "\
Examples:
  baler tune recorded/ --strategy tiered
  baler tune recorded/ --strategy mine.wasm --goal recall --minutes 30 --resume scores.jsonl

Exit codes: 0 searched, 1 baler failed, 2 invalid usage";

impl TuneCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let written = self.resume.iter().map(|file| ("--resume", file.clone()));
        check_outside(&self.corpus, written)?;
        let records = recordings(&self.corpus, &self.set)?;
        let messages = Messages { quiet: false };
        let project = self.sandbox.project(messages)?;
        let options = self.options(records.len());
        let settings = HostSettings {
            tokenizer: Some(Tokenizer::characters()),
            calls: Some(u32::try_from(options.threads).unwrap_or(u32::MAX)),
            never_quarantined: true,
            project: project.clone(),
            ..HostSettings::default()
        };
        let host = self.sandbox.host(settings, Messages { quiet: true })?;
        let named = [self.strategy.as_str()];
        let sources = sources::find_all(&named, &self.remote, project.as_ref(), &self.sandbox)?;
        project::tell(project.as_ref(), &named, messages);
        let source = sources.first().context("a strategy was named")?;
        let candidates = self.candidates(&host, source).await?;
        let (known, notes) = match &self.resume {
            Some(file) => {
                let (lines, notes) = notes::scores(file, &self.fingerprint(&candidates))?;
                (read(&lines), Some(notes))
            }
            None => (Vec::new(), None),
        };
        let bar = ProgressBar::new_spinner().with_style(
            ProgressStyle::with_template("{spinner} {pos} scores of {msg}, {elapsed}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        bar.set_message(format!(
            "{} on {}",
            figures::count(candidates.len(), "config"),
            figures::count(records.len(), "conversation")
        ));
        let measured = AtomicU64::new(known.len() as u64);
        let tuned = baler_eval::tune(&host, &candidates, &records, &options, &known, &|score| {
            bar.set_position(measured.fetch_add(1, Ordering::Relaxed) + 1);
            match &notes {
                Some(notes) => notes.add(&serde_json::to_string(score)?),
                None => Ok(()),
            }
        });
        bar.finish_and_clear();
        output::words_in_full(&in_words(&tuned?, self.goal))?;
        Ok(Exit::Done)
    }

    fn options(&self, records: usize) -> TuneOptions {
        let default = TuneOptions::default();
        let minutes = self
            .minutes
            .map(|minutes| Duration::from_secs(60 * u64::from(minutes)));
        TuneOptions {
            budgets: match self.budget.is_empty() {
                true => default.budgets,
                false => self.budget.clone(),
            },
            pins: if self.pin_first {
                Pins::FirstUser
            } else {
                Pins::None
            },
            goal: self.goal,
            threads: self
                .threads
                .map_or(default.threads, NonZeroUsize::get)
                .min(records)
                .max(1),
            deadline: minutes.map(|minutes| Instant::now() + minutes),
        }
    }

    /// Returns the strategy with each config that is tried and that it accepts.
    async fn candidates(&self, host: &Host, source: &Source) -> Result<Vec<Candidate>, Failure> {
        let strategy = source.load(host, &self.sandbox).await?;
        if strategy.is_native() {
            return Err(Failure::wrong_use(anyhow!(
                "`{}` is a native strategy and takes no config, so there is nothing to search; name another",
                strategy.name()
            )));
        }
        if strategy.lacks_model() {
            return Err(Failure::wrong_use(anyhow!(
                "`{}` asks a model, which `baler tune` does not; name another",
                figures::cleaned(strategy.name())
            )));
        }
        let said = host
            .introspect(&strategy, None)
            .await
            .map_err(anyhow::Error::from)?;
        let schema: Value = serde_json::from_str(&said.config_schema).unwrap_or_default();
        let space = Space::of(&schema);
        if space.size() < 2 {
            return Err(Failure::wrong_use(anyhow!(
                "the config of `{}` has nothing to search: no enumeration, no boolean, and no number with a default or two bounds",
                figures::cleaned(strategy.name())
            )));
        }
        if !space.left_out.is_empty() {
            let names = figures::cleaned(&space.left_out.join(", "));
            Messages { quiet: false }.warn(&format!(
                "not searched, since the schema does not limit them to a few values: {names}"
            ));
        }
        let mut candidates = Vec::new();
        for config in configs(&space, usize::from(self.configs)) {
            let text = config.to_string();
            let configured = host.configure(strategy.clone(), &text).await;
            // Members may exclude each other.
            match configured {
                Ok(strategy) => candidates.push(Candidate { config, strategy }),
                Err(error) if candidates.is_empty() => {
                    return Err(anyhow::Error::from(error).into());
                }
                Err(_) => {}
            }
        }
        Ok(candidates)
    }

    /// Describes what scores are of: those of another component or goal say nothing.
    fn fingerprint(&self, candidates: &[Candidate]) -> String {
        let strategy = candidates.first().map(|candidate| &candidate.strategy);
        let component = strategy.and_then(|strategy| strategy.component());
        let component = component.map(|component| component.content_hash.to_string());
        serde_json::json!({
            "tune": self.strategy,
            "component": component,
            "goal": self.goal.name(),
            "budgets": self.budget,
            "pin-first": self.pin_first,
            "version": env!("CARGO_PKG_VERSION"),
        })
        .to_string()
    }
}

/// Reads the scores of an earlier run. A line that is none is measured again.
fn read(lines: &[String]) -> Vec<Score> {
    lines
        .iter()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn in_words(tuned: &Tuned, goal: Goal) -> String {
    let mut text = format!(
        "Compared {} on up to {}, by {}.\n\n",
        figures::count(tuned.tried, "config"),
        figures::count(tuned.default.mean.conversations, "conversation"),
        goal.name()
    );
    if tuned.is_cut_short {
        text.push_str("The time was over before all was measured; more time may find another.\n\n");
    }
    let _ = writeln!(
        text,
        "| config | {} (95 % interval) |\n|---|---|",
        goal.name()
    );
    for finalist in &tuned.finalists {
        let is_default = finalist.config == tuned.default.config;
        let name = if is_default {
            "the default".to_owned()
        } else {
            format!("`{}`", finalist.config)
        };
        let _ = writeln!(text, "| {name} | {} |", interval(&finalist.mean));
    }
    let _ = write!(
        text,
        "\nChoosing among these gains {:+.3} ({:+.3} to {:+.3}) over the default on conversations that did not take part in the choice among these.\n",
        tuned.gain.mean, tuned.gain.low, tuned.gain.high
    );
    match tuned.is_noise() {
        true => text.push_str("That may be noise: keep the default.\n"),
        false => {
            let _ = writeln!(text, "Use: --config '{}'", tuned.best.config);
        }
    }
    text
}

fn interval(mean: &Interval) -> String {
    format!("{:.3} ({:.3}–{:.3})", mean.mean, mean.low, mean.high)
}
