pub(super) mod notes;
mod reader;
mod results;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, anyhow};
use baler_eval::corpus::{Corpus, Recording};
use baler_eval::{Baseline, Evaluation, Options, RunFingerprint, SkipReason};
use baler_host::project::Project;
use baler_host::{Host, Pins, Strategy, conversation::tokenizers::Tokenizer};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use self::reader::ReaderArguments;
use self::results::Results;
use crate::arguments::SandboxArguments;
use crate::exit::{Exit, Failure};
use crate::output::{self, Messages};
use crate::remote::RemoteArguments;
use crate::settings::{self, HostSettings};
use crate::{figures, files, project, report, sources};

/// Measure what strategies keep of recorded conversations that is needed later
///
/// Each conversation is cut after 40, 60 and 80 % of its units. A strategy compacts the part before
/// the cut. The part after the cut shows what was needed: the names (paths, symbols, ids, numbers)
/// that the model used again. A conversation with questions is also cut at its end, and measured by
/// how many of the answers, and of the messages that hold them, are kept. Baselines of equal size
/// are measured for comparison. No model is asked, and no text of a message is printed.
///
/// Sizes are in characters, for strategies as well.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct EvalCommand {
    /// A folder of recorded conversations, in one folder per set: request bodies, session logs, runs
    /// with their messages, YAML cassettes, Markdown chats. A JSON object may contain, next to its
    /// messages, `questions`: [{"question": "…", "answer": "…", "evidence": [3, 7]}]
    corpus: PathBuf,

    /// A strategy by name, .wasm file or URL; may be given several times. Files need different names
    /// [default: all strategies that need no model, `native:digest` as `tiered`]
    #[arg(long, value_name = "STRATEGY")]
    strategy: Vec<String>,

    #[command(flatten)]
    remote: RemoteArguments,

    /// The budget as a share of the history, from 0.1% to 100% in steps of 0.1%; may be given several
    /// times [default: 5%, 10%, 25%, 50%]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    budget: Vec<f64>,

    /// Cut where a program compacted by itself, with the size of its own summary as the budget
    #[arg(long, conflicts_with = "budget")]
    recorded: bool,

    /// Also measure constraints: a sentence in which the user says how to work is put into each conversation, and should
    /// still be there, word for word, after each compaction. This takes three times as many compactions again
    #[arg(long, conflicts_with_all = ["recorded", "explain", "reader", "reader_files"])]
    constraints: bool,

    /// Pin the first user message, as `baler compact` does. Baselines pin nothing
    #[arg(long)]
    pin_first: bool,

    /// Measure only conversations of this set; may be given several times
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,

    /// Write all figures to a JSON file outside of the corpus. If the run fails, nothing is written
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the tables to a file outside of the corpus instead of to standard output
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Write charts to this folder outside of the corpus, as SVG files: recall, far recall,
    /// instructions and last error, each by budget
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,

    /// Where to measure: `local`, on this machine; or `ray`, on the Ray cluster that $RAY_ADDRESS names, whose nodes all
    /// have the corpus under this path. It needs the Python package `baler-compaction` with its extra `ray`. The
    /// figures are the same
    #[arg(
        long,
        value_name = "local|ray",
        default_value = "local",
        hide_possible_values = true
    )]
    engine: Engine,

    /// Measure only one part of the conversations, such as 2/8 for every eighth, beginning with the second. Runs of
    /// all parts measure each conversation once
    #[arg(long, value_name = "I/N")]
    part: Option<Part>,

    /// Record each finished conversation in a file outside of the corpus, and skip those that it
    /// already contains, unless they were changed since. Only one run at a time can use the file
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    /// The number of conversations measured at the same time, at most 256 [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<NonZeroUsize>,

    /// List what was needed of one conversation and what each strategy lost, instead of measuring all. Name its path
    /// within the corpus, or a part of it that no other conversation has. This prints text of the conversation
    #[arg(long, value_name = "CONVERSATION", conflicts_with_all = ["json", "markdown", "charts", "resume", "reader", "reader_files"])]
    explain: Option<String>,

    #[command(flatten)]
    reader: ReaderArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

const AFTER: &str = "\
Examples:
  baler eval recorded/ --strategy native:digest --strategy mine.wasm
  baler eval recorded/ --recorded
  baler eval recorded/ --constraints --budget 5% --budget 10% --budget 25%
  baler eval recorded/ --resume done.jsonl --json figures.json
  baler eval recorded/ --budget 10% --budget 25% --charts charts/

Exit codes: 0 measured, 1 baler failed, 2 invalid usage, 5 no conversation could be measured";

impl EvalCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        self.check_corpus_stays()?;
        let project = self.sandbox.project(Messages { quiet: false })?;
        self.check_files_differ(project.as_ref())?;
        if self.engine == Engine::Ray {
            return on_ray();
        }
        let records = self.records()?;
        let results = Results::begin(
            self.json.as_deref(),
            self.markdown.as_deref(),
            self.charts.as_deref(),
        )?;
        let threads = self
            .threads
            .map_or_else(|| Options::default().threads, NonZeroUsize::get)
            // More threads would have nothing to do.
            .min(records.len())
            .max(1);
        let messages = Messages { quiet: true };
        let settings = HostSettings {
            tokenizer: Some(Tokenizer::characters()),
            calls: Some(u32::try_from(threads).unwrap_or(u32::MAX)),
            never_quarantined: true,
            project: project.clone(),
            ..HostSettings::default()
        };
        let host = self.sandbox.host(settings, messages)?;
        let strategies = self.strategies(&host, project.as_ref()).await?;
        let mut budgets = match self.budget.is_empty() {
            true => Options::default().budgets,
            false => self.budget.clone(),
        };
        // Cuts would be counted twice if a budget was given twice.
        budgets.sort_by(f64::total_cmp);
        budgets.dedup();
        let options = Options {
            budgets,
            at_recorded_compactions: self.recorded,
            constraints: self.constraints,
            pins: if self.pin_first {
                Pins::FirstUser
            } else {
                Pins::None
            },
            threads,
        };
        if let Some(named) = &self.explain {
            let record = explained(named, &records)?;
            let text = baler_eval::explain(&host, &strategies, record, &options).await?;
            output::words_in_full(&text)?;
            return Ok(Exit::Done);
        }
        if let Some(folder) = self.reader.folder() {
            let mut options = options;
            if self.budget.is_empty() {
                options.budgets = vec![READER_BUDGET];
            }
            self.reader
                .run(&folder, &host, &strategies, &records, &options)
                .await?;
            return Ok(Exit::Done);
        }
        let (done, notes) = match &self.resume {
            Some(file) => {
                let fingerprint = RunFingerprint::of(&strategies, &options);
                let (done, notes) = notes::resumed(file, &fingerprint, &records)?;
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
                // The questions may be corrected before the next run.
                let is_final = result.skipped != Some(SkipReason::Mislabelled);
                match notes.as_ref().filter(|_| is_final) {
                    Some(notes) => notes.add(&serde_json::to_string(result)?),
                    None => Ok(()),
                }
            });
        bar.finish_and_clear();
        let evaluation = evaluation.context(
            "not everything was measured; fix the cause and run this again (--resume keeps what is finished)",
        )?;
        results.write(&evaluation)?;
        if !evaluation.results.is_empty() && !evaluation.has_figures() {
            return Err(Failure::wrong_input(anyhow!(
                "nothing was measured: {} left out, for the reasons above; give longer ones that a provider accepts",
                figures::count(evaluation.results.len(), "conversation")
            )));
        }
        Ok(Exit::Done)
    }

    /// Rejects output files in the corpus: they could replace recordings, or be read as recordings.
    fn check_corpus_stays(&self) -> Result<(), Failure> {
        check_outside(&self.corpus, self.written())
    }

    /// Returns the files that are written, with their options.
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
        let reader = self.reader.folder().into_iter();
        let reader = reader.map(|folder| ("--reader-files", folder.join("key.json")));
        files.chain(charts).chain(reader).collect()
    }

    /// Rejects a file with two purposes: the last output would replace the others.
    fn check_files_differ(&self, project: Option<&Project>) -> Result<(), Failure> {
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
            project::check_not_listed(option, file, project)?;
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

    fn records(&self) -> Result<Vec<Recording>, Failure> {
        let mut records = recordings(&self.corpus, &self.set)?;
        if let Some(part) = self.part {
            let mut number = 0;
            records.retain(|_| {
                number += 1;
                number % part.of == part.number % part.of
            });
        }
        Ok(records)
    }

    async fn strategies(
        &self,
        host: &Host,
        project: Option<&Project>,
    ) -> Result<Vec<Strategy>, Failure> {
        let named: Vec<&str> = if self.strategy.is_empty() {
            // `native:digest` is `tiered`.
            let native = Strategy::NATIVE.iter().copied();
            native
                .filter(|name| *name != "native:digest")
                .chain(baler_strategies::ALL.iter().map(|bundled| bundled.name))
                .collect()
        } else {
            self.strategy.iter().map(String::as_str).collect()
        };
        let mut strategies = Vec::with_capacity(named.len());
        let sources = sources::find_all(&named, &self.remote, project, &self.sandbox)?;
        project::tell(project, &named, Messages { quiet: false });
        for (name, source) in named.into_iter().zip(sources) {
            let strategy = source.load(host, &self.sandbox).await?;
            let needs_model = strategy.lacks_model() || name == "native:summarize";
            if !needs_model {
                strategies.push(strategy);
            } else if !self.strategy.is_empty() {
                return Err(Failure::wrong_use(anyhow!(
                    "`{name}` asks a model, which `baler eval` does not; leave it out"
                )));
            }
        }
        check_names(&strategies)?;
        Ok(strategies)
    }
}

/// Reads the recorded conversations of these sets, or of all if none is named. Warns of files that cannot be read.
pub(super) fn recordings(folder: &Path, named: &[String]) -> Result<Vec<Recording>, Failure> {
    let shown = folder.display();
    let corpus = Corpus::read(folder).ok_or_else(|| {
        Failure::wrong_use(anyhow!(
            "there is no folder `{shown}`; name a folder with recorded conversations"
        ))
    })?;
    for (path, error) in &corpus.unreadable {
        let text = format!("`{}` is left out: {error}", path.display());
        Messages { quiet: false }.warn(&text);
    }
    let mut records = corpus.conversations;
    if records.is_empty() {
        return Err(Failure::wrong_use(anyhow!(
            "no conversation was found in `{shown}`; `baler eval --help` lists what can be read"
        )));
    }
    let mut sets: Vec<String> = records.iter().map(|record| record.set.clone()).collect();
    sets.sort();
    sets.dedup();
    if let Some(unknown) = named.iter().find(|set| !sets.contains(*set)) {
        return Err(Failure::wrong_use(anyhow!(
            "`{shown}` has no set called `{unknown}`; it has {}",
            sets.join(", ")
        )));
    }
    if !named.is_empty() {
        records.retain(|record| named.contains(&record.set));
    }
    Ok(records)
}

/// Rejects files in the folder of the recorded conversations.
pub(super) fn check_outside(
    corpus: &Path,
    written: impl IntoIterator<Item = (&'static str, PathBuf)>,
) -> Result<(), Failure> {
    let Ok(recorded) = corpus.canonicalize() else {
        return Ok(());
    };
    for (option, file) in written {
        let folder = existing_folder(&file);
        let is_in = |folder: PathBuf| {
            let mut folders = folder.ancestors();
            folders.any(|folder| files::is_same(folder, &recorded))
        };
        if folder.is_some_and(is_in) {
            return Err(Failure::wrong_use(anyhow!(
                "`{option}` would write a file among the recorded conversations, in `{}`; name a place outside of that folder",
                corpus.display()
            )));
        }
    }
    Ok(())
}

/// The budget of reader tests, if none is given.
const READER_BUDGET: f64 = 0.1;

/// Finds the conversation that `--explain` names.
fn explained<'r>(named: &str, records: &'r [Recording]) -> Result<&'r Recording, Failure> {
    let path = |record: &Recording| format!("{}/{}", record.set, record.id);
    let whole = records
        .iter()
        .find(|record| path(record) == named || record.id == named);
    if let Some(record) = whole {
        return Ok(record);
    }
    let mut found = records.iter().filter(|record| path(record).contains(named));
    match (found.next(), found.count()) {
        (Some(record), 0) => Ok(record),
        (None, _) => Err(Failure::wrong_use(anyhow!(
            "no conversation is called `{named}`; name the path of its file within the corpus"
        ))),
        (Some(first), others) => Err(Failure::wrong_use(anyhow!(
            "{} conversations are called `{named}`, such as `{}`; name one of them in full",
            others + 1,
            path(first)
        ))),
    }
}

/// Where conversations are measured (`--engine`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Engine {
    /// On this machine.
    Local,
    /// On a Ray cluster, by the Python package.
    Ray,
}

/// Starts the Python package, which runs this program on all nodes of a cluster, with all other arguments.
fn on_ray() -> Result<Exit, Failure> {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(place) = arguments.iter().position(|one| one == "--engine") {
        arguments.drain(place..=place + 1);
    }
    arguments.retain(|one| !one.to_string_lossy().starts_with("--engine="));
    // The interpreter that this program was installed with, if it is in a wheel.
    let beside = std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.join("python3")))
        .filter(|python| python.is_file());
    // `-P`: no module of the working folder takes the place of one that is installed.
    let status = Command::new(beside.unwrap_or_else(|| "python3".into()))
        .args(["-P", "-m", "baler.ray"])
        .args(arguments)
        .status()
        .context(
            "cannot start `python3`; `--engine ray` needs Python with `baler-compaction[ray]`",
        )?;
    match status.code() {
        Some(0) => Ok(Exit::Done),
        _ => Err(anyhow!(
            "the evaluation on the cluster ended with {status}; Python says above why (`pip install 'baler-compaction[ray]'` \
             installs what it needs)"
        )
        .into()),
    }
}

/// A part of the conversations (`--part`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    /// Its number, from 1.
    number: usize,
    /// How many parts there are.
    of: usize,
}

impl FromStr for Part {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split_once('/')
            .and_then(|(number, of)| {
                let part = Self {
                    number: number.parse().ok()?,
                    of: of.parse().ok()?,
                };
                (1..=part.of).contains(&part.number).then_some(part)
            })
            .ok_or("give the number of the part, from 1, and how many there are, such as 2/8")
    }
}

/// Returns the folder of a file, or its nearest ancestor that exists.
fn existing_folder(file: &Path) -> Option<PathBuf> {
    let place = files::place(file);
    let mut folders = place.as_deref().unwrap_or(file).ancestors().skip(1);
    folders.find_map(|folder| match folder.as_os_str().is_empty() {
        true => Path::new(".").canonicalize().ok(),
        false => folder.canonicalize().ok(),
    })
}

/// Rejects a strategy with the name of a baseline, because figures are identified by name. No two strategies
/// have the same name.
fn check_names(strategies: &[Strategy]) -> Result<(), Failure> {
    let baselines: Vec<&str> = Baseline::names().collect();
    let taken = strategies
        .iter()
        .map(Strategy::name)
        .find(|name| baselines.contains(name));
    match taken {
        Some(name) => Err(Failure::wrong_use(anyhow!(
            "figures are identified by name, and `{}` is the name of a baseline (the baselines are {}); rename the .wasm file, which gives its strategy the name",
            figures::cleaned(name),
            baselines.join(", ")
        ))),
        None => Ok(()),
    }
}

/// Reads a percentage as a share. Budgets are identified by thousandths, so smaller shares are rejected.
pub(super) fn percent(text: &str) -> Result<f64, String> {
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

/// Reads a number of threads. Far more threads than cores do not help, and the system may not grant them.
pub(super) fn threads(text: &str) -> Result<NonZeroUsize, String> {
    const MAX: usize = 256;
    text.parse::<NonZeroUsize>()
        .ok()
        .filter(|threads| threads.get() <= MAX)
        .ok_or_else(|| format!("expected a number from 1 to {MAX}"))
}
