mod notes;
mod results;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, anyhow};
use baler_eval::corpus::{Corpus, Recorded};
use baler_eval::{Baseline, Evaluation, Measuring, Of, Options};
use baler_host::{Host, Pins, Strategy, Tokenizer};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use self::results::Results;
use crate::arguments::SandboxArguments;
use crate::exit::{Exit, Failure};
use crate::output::Messages;
use crate::remote::RemoteArguments;
use crate::settings::{self, HostSettings};
use crate::{chain, figures, files, report};

/// Measure what strategies keep of recorded conversations that is needed later
///
/// Each conversation is cut where 40, 60 and 80 % of it are over. A strategy compacts what
/// stands before the cut, and what really happened behind it tells what would have been needed:
/// the names (paths, symbols, ids, numbers) that the model went on to use. Where a conversation
/// has questions with the messages that hold the answers, it is cut at its end, too, and what is
/// left of these is told. Beside the strategies stand baselines of equal size. No model is asked,
/// and no text of a message is printed.
///
/// Sizes are characters: strategies are given that counter, too.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct EvalCommand {
    /// A folder of recorded conversations, in folders by set: request bodies, session logs, runs
    /// with their messages, YAML cassettes, Markdown chats. A JSON object may have, beside its
    /// messages, `questions`: [{"question": "…", "answer": "…", "evidence": [3, 7]}]
    corpus: PathBuf,

    /// A strategy by name, .wasm file or URL; may be given several times, files under different
    /// names [default: all that need no model]
    #[arg(long, value_name = "STRATEGY")]
    strategy: Vec<String>,

    #[command(flatten)]
    remote: RemoteArguments,

    /// The share of the history that a result may have, from 0.1% on in steps of 0.1%; may be given
    /// several times [default: 5%, 10%, 25%, 50%]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    budget: Vec<f64>,

    /// Cut where a program compacted by itself, and give what its own summary had
    #[arg(long, conflicts_with = "budget")]
    recorded: bool,

    /// Pin the first user message, as `baler compact` does; the baselines pin nothing
    #[arg(long)]
    pin_first: bool,

    /// Only conversations of this set; may be given several times
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,

    /// Write all figures into a file as JSON, whole or not at all, outside of the corpus
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the tables into a file instead of to standard output, as --json does
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Write charts into this folder, outside of the corpus, as SVG files: recall, far recall,
    /// instructions and last error, each by budget
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,

    /// Note each finished conversation in a file outside of the corpus, and leave out those that it
    /// already names, unless they were changed since. One run at a time has the file
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    /// Conversations that are worked on at the same time, 256 at most [default: one for each
    /// core]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<NonZeroUsize>,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

const AFTER: &str = "\
Examples:
  baler eval recorded/ --strategy native:digest --strategy mine.wasm
  baler eval recorded/ --recorded
  baler eval recorded/ --resume done.jsonl --json figures.json
  baler eval recorded/ --budget 10% --budget 25% --charts charts/

Exit codes: 0 measured, 1 baler itself failed, 2 wrong use";

impl EvalCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        self.check_corpus_stays()?;
        self.check_files_differ()?;
        let records = self.records()?;
        let results = Results::begin(
            self.json.as_deref(),
            self.markdown.as_deref(),
            self.charts.as_deref(),
        )?;
        let threads = self
            .threads
            .map_or_else(|| Options::default().threads, NonZeroUsize::get)
            // The rest would have nothing to do.
            .min(records.len())
            .max(1);
        let messages = Messages { quiet: true };
        let settings = HostSettings {
            tokenizer: Some(Tokenizer::characters()),
            calls: Some(u32::try_from(threads).unwrap_or(u32::MAX)),
            never_rests: true,
            ..HostSettings::default()
        };
        let host = self.sandbox.host(settings, messages)?;
        let strategies = self.strategies(&host).await?;
        let mut budgets = match self.budget.is_empty() {
            true => Options::default().budgets,
            false => self.budget.clone(),
        };
        // One that is given twice would be measured twice, and cuts counted twice.
        budgets.sort_by(f64::total_cmp);
        budgets.dedup();
        let options = Options {
            budgets,
            recorded: self.recorded,
            pins: if self.pin_first {
                Pins::FirstUser
            } else {
                Pins::None
            },
            threads,
        };
        let (done, notes) = match &self.resume {
            Some(file) => {
                let measuring = Measuring::of(&strategies, &options);
                let (done, notes) = notes::resumed(file, &measuring, &records)?;
                (done, Some(notes))
            }
            None => (Evaluation::default(), None),
        };
        let bar = ProgressBar::new(records.len() as u64).with_style(
            ProgressStyle::with_template("{wide_bar} {pos}/{len} conversations, {eta} left")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        let finished = AtomicUsize::new(done.results.len());
        let evaluation =
            Evaluation::run(&host, &strategies, &records, &options, &done, &|result| {
                bar.set_position(finished.fetch_add(1, Ordering::Relaxed) as u64 + 1);
                // Wrong questions may be right the next time.
                let is_final = result.skipped != Some(Of::Mislabelled);
                match notes.as_ref().filter(|_| is_final) {
                    Some(notes) => notes.add(&serde_json::to_string(result)?),
                    None => Ok(()),
                }
            });
        bar.finish_and_clear();
        let evaluation = evaluation.context(
            "not everything was measured; see to the cause and run this again (with --resume, what is finished stays)",
        )?;
        results.write(&evaluation)?;
        Ok(Exit::Done)
    }

    /// Recordings are not to be replaced, and figures among them would be read as recordings.
    fn check_corpus_stays(&self) -> Result<(), Failure> {
        let Ok(corpus) = self.corpus.canonicalize() else {
            return Ok(());
        };
        for (option, file) in self.written() {
            let folder = folder_there(&file);
            let is_in = |folder: PathBuf| {
                let mut folders = folder.ancestors();
                folders.any(|folder| files::is_same(folder, &corpus))
            };
            if folder.is_some_and(is_in) {
                return Err(Failure::wrong_use(anyhow!(
                    "`{option}` would write a file among the recorded conversations, in `{}`; name a place outside of that folder",
                    self.corpus.display()
                )));
            }
        }
        Ok(())
    }

    /// The files that are written, with their options.
    fn written(&self) -> Vec<(&'static str, PathBuf)> {
        let files = [
            ("--json", &self.json),
            ("--markdown", &self.markdown),
            ("--resume", &self.resume),
        ];
        let files = files
            .into_iter()
            .filter_map(|(option, file)| Some((option, file.clone()?)));
        let charts = self.charts.iter().flat_map(|folder| {
            report::chart_files().map(move |name| ("--charts", folder.join(name)))
        });
        files.chain(charts).collect()
    }

    /// What is written last would be all that is left of a file with two purposes.
    fn check_files_differ(&self) -> Result<(), Failure> {
        let written = self.written();
        let prints = self.markdown.is_none();
        let mixed = |(_, file): &&(&str, PathBuf)| files::mixes_with_standard_output(file);
        if let Some((option, file)) = written.iter().find(mixed).filter(|_| prints) {
            return Err(Failure::wrong_use(anyhow!(
                "`{option}` names the file or pipe that standard output goes to, where the tables are written: `{}`; name another file, or one for the tables by --markdown",
                file.display()
            )));
        }
        let strategies = self.strategy.iter().map(PathBuf::from);
        let in_use: Vec<PathBuf> = strategies
            .chain(self.remote.token_files())
            .chain(settings::key_file(self.sandbox.state.as_deref()))
            .collect();
        for (option, file) in &written {
            files::check_not_in_use(option, file, &in_use)?;
        }
        for (index, (option, file)) in written.iter().enumerate() {
            let before = &written[..index];
            if let Some((other, _)) = before.iter().find(|(_, other)| files::mixes(file, other)) {
                return Err(Failure::wrong_use(anyhow!(
                    "`{other}` and `{option}` name the same file, `{}`; give each one of its own",
                    file.display()
                )));
            }
        }
        Ok(())
    }

    fn records(&self) -> Result<Vec<Recorded>, Failure> {
        let shown = self.corpus.display();
        let corpus = Corpus::read(&self.corpus).ok_or_else(|| {
            Failure::wrong_use(anyhow!(
                "there is no folder `{shown}`; name one that holds recorded conversations"
            ))
        })?;
        for (path, error) in &corpus.unread {
            let text = format!("`{}` is left out: {error}", path.display());
            Messages { quiet: false }.warn(&text);
        }
        let mut records = corpus.conversations;
        if records.is_empty() {
            return Err(Failure::wrong_use(anyhow!(
                "no conversation was found in `{shown}`; `baler eval --help` says what can be read"
            )));
        }
        let mut sets: Vec<String> = records.iter().map(|record| record.set.clone()).collect();
        sets.dedup();
        if let Some(unknown) = self.set.iter().find(|set| !sets.contains(*set)) {
            return Err(Failure::wrong_use(anyhow!(
                "`{shown}` has no set called `{unknown}`; it has {}",
                sets.join(", ")
            )));
        }
        if !self.set.is_empty() {
            records.retain(|record| self.set.contains(&record.set));
        }
        Ok(records)
    }

    async fn strategies(&self, host: &Host) -> Result<Vec<Strategy>, Failure> {
        let named: Vec<&str> = if self.strategy.is_empty() {
            let native = Strategy::NATIVE.iter().copied();
            native
                .chain(baler_strategies::ALL.iter().map(|bundled| bundled.name))
                .collect()
        } else {
            self.strategy.iter().map(String::as_str).collect()
        };
        let mut strategies = Vec::with_capacity(named.len());
        let sources = chain::find_all(&named, &self.remote)?;
        for (name, source) in named.into_iter().zip(sources) {
            let strategy = source.load(host, &self.sandbox).await?;
            let needs_model = strategy.lacks_model() || name == "native:summarize";
            if !needs_model {
                strategies.push(strategy);
            } else if !self.strategy.is_empty() {
                return Err(Failure::wrong_use(anyhow!(
                    "`{name}` asks a model, and nothing is asked here; leave it out"
                )));
            }
        }
        check_names(&strategies)?;
        Ok(strategies)
    }
}

/// The folder that a file is in, or the nearest one on the way there where that is to be made.
fn folder_there(file: &Path) -> Option<PathBuf> {
    let place = files::place(file);
    let mut folders = place.as_deref().unwrap_or(file).ancestors().skip(1);
    folders.find_map(|folder| match folder.as_os_str().is_empty() {
        true => Path::new(".").canonicalize().ok(),
        false => folder.canonicalize().ok(),
    })
}

/// Refuses a strategy whose figures would be joined with those of a baseline: figures go by names, and
/// no two strategies share one.
fn check_names(strategies: &[Strategy]) -> Result<(), Failure> {
    let baselines: Vec<&str> = Baseline::names().collect();
    let taken = strategies
        .iter()
        .map(Strategy::name)
        .find(|name| baselines.contains(name));
    match taken {
        Some(name) => Err(Failure::wrong_use(anyhow!(
            "figures go by names, and `{}` is the name of a baseline (these are {}); rename the .wasm file (its strategy is called as the file is)",
            figures::cleaned(name),
            baselines.join(", ")
        ))),
        None => Ok(()),
    }
}

/// A share, typed as a percentage. Figures are told apart by thousandths, and 0 of these are no share.
fn percent(text: &str) -> Result<f64, String> {
    text.strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok())
        .map(|percent| percent * 10.0)
        .filter(|tenths| (tenths - tenths.round()).abs() < 1e-6)
        .map(f64::round)
        .filter(|tenths| (1.0..=1_000.0).contains(tenths))
        .map(|tenths| tenths / 1_000.0)
        .ok_or_else(|| {
            "expected a percentage from 0.1% to 100% in steps of 0.1%, such as `10%`".to_owned()
        })
}

/// A number of threads. Far more than there are cores would make nothing faster, and the system
/// may not give them.
fn threads(text: &str) -> Result<NonZeroUsize, String> {
    const MOST: usize = 256;
    text.parse::<NonZeroUsize>()
        .ok()
        .filter(|threads| threads.get() <= MOST)
        .ok_or_else(|| format!("expected a number from 1 to {MOST}"))
}
