//! Compacts every cut of every recorded conversation, with every strategy that ships with
//! baler, at several budgets, and checks each result.
//!
//! ```text
//! cargo run --release --package baler-corpus --bin every-cut -- [FOLDER] [--set NAME] [--every N] [--threads 2] [--each]
//!     [--strategy FILE.wasm…]
//! ```
//!
//! Long conversations are cut at every tenth message, with `--each` at every one. `--every N` takes
//! every Nth conversation. `--strategy`, which may be given several times, names files to check instead
//! of the strategies that ship with baler.
//!
//! What is checked, and what a cut is: `tests/corpus/src/every_cut`. Prints a table by set and
//! format, and what failed by name and number, never text. Ends with 1 if anything failed.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use baler_corpus::every_cut::{Checker, Cuts, PERCENTS, Tally};
use baler_corpus::{Corpus, Recording};
use baler_host::Host;

/// The command line.
struct Arguments {
    folder: PathBuf,
    set: Option<String>,
    every: usize,
    threads: usize,
    cuts: Cuts,
    strategies: Vec<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = arguments()?;
    let folder = &arguments.folder;
    let Some(Corpus {
        conversations: mut recorded,
        unreadable,
    }) = Corpus::read(folder)
    else {
        bail!("there is no folder {}", folder.display());
    };
    for (path, error) in &unreadable {
        eprintln!("{} is left out: {error}", path.display());
    }
    recorded.retain(|one| arguments.set.as_deref().is_none_or(|set| set == one.set));
    // The longest first, so that no thread ends long after the others.
    recorded.sort_by_key(|one| std::cmp::Reverse(one.document.len()));
    let recorded: Vec<Recording> = recorded.into_iter().step_by(arguments.every).collect();
    let start = Instant::now();
    let strategies = strategies(&arguments.strategies)?;
    let tally = run(&recorded, &strategies, arguments.threads, arguments.cuts)?;
    println!("{tally}");
    println!("{} s", start.elapsed().as_secs());
    Ok(if tally.failures().is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn arguments() -> anyhow::Result<Arguments> {
    let mut arguments = Arguments {
        folder: baler_corpus::folder(),
        set: None,
        every: 1,
        threads: 2,
        cuts: Cuts::All,
        strategies: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--set" => arguments.set = Some(words.next().context("--set takes a name")?),
            "--every" => arguments.every = number(words.next(), "--every")?,
            "--threads" => arguments.threads = number(words.next(), "--threads")?,
            "--each" => arguments.cuts = Cuts::Each,
            "--strategy" => {
                let file = words.next().context("--strategy takes a .wasm file")?;
                arguments.strategies.push(file.into());
            }
            option if option.starts_with('-') => bail!("there is no option {option}"),
            path => arguments.folder = path.into(),
        }
    }
    Ok(arguments)
}

fn number(word: Option<String>, option: &str) -> anyhow::Result<usize> {
    let number: usize = word.unwrap_or_default().parse().unwrap_or_default();
    anyhow::ensure!(number > 0, "{option} takes a number above 0");
    Ok(number)
}

/// A component with its name.
type Named<'a> = (Cow<'a, str>, Cow<'a, [u8]>);

/// Returns these components, what ships with baler if there are none.
fn strategies(files: &[PathBuf]) -> anyhow::Result<Vec<Named<'_>>> {
    if files.is_empty() {
        let bundled = baler_strategies::ALL.iter();
        return Ok(bundled
            .map(|own| (own.name.into(), own.wasm.into()))
            .collect());
    }
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> anyhow::Result<Named<'_>> {
    let wasm = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    Ok((name, wasm.into()))
}

/// Each thread takes the next conversation until there is none.
fn run(
    recorded: &[Recording],
    strategies: &[Named<'_>],
    threads: usize,
    cuts: Cuts,
) -> anyhow::Result<Tally> {
    let guests = strategies.iter().map(|(name, wasm)| (&**name, &**wasm));
    let checker = runtime()?
        .block_on(Checker::new(Host::builder, guests))
        .map_err(|what| anyhow!(what))?;
    let next = AtomicUsize::new(0);
    let progress = Mutex::new(Progress::new(recorded.len()));
    std::thread::scope(|scope| {
        let work = || -> anyhow::Result<()> {
            let runtime = runtime()?;
            while let Some(one) = recorded.get(next.fetch_add(1, Ordering::Relaxed)) {
                let tally = runtime.block_on(checker.check(one, cuts, &PERCENTS));
                if let Ok(mut progress) = progress.lock() {
                    progress.add(tally);
                }
            }
            Ok(())
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(anyhow!("a thread panicked")))
        })
    })?;
    let progress = progress
        .into_inner()
        .map_err(|_| anyhow!("a thread panicked"))?;
    Ok(progress.tally)
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// The progress, printed on stderr every few seconds.
struct Progress {
    tally: Tally,
    done: usize,
    all: usize,
    start: Instant,
    told: Instant,
}

impl Progress {
    fn new(all: usize) -> Self {
        Self {
            tally: Tally::default(),
            done: 0,
            all,
            start: Instant::now(),
            told: Instant::now(),
        }
    }

    fn add(&mut self, tally: Tally) {
        self.tally.add(tally);
        self.done += 1;
        if self.told.elapsed() < Duration::from_secs(5) && self.done < self.all {
            return;
        }
        self.told = Instant::now();
        let row = self.tally.total();
        eprintln!(
            "{} of {} conversations, {} cuts, {} compactions, {} failures, {} s",
            self.done,
            self.all,
            row.cuts,
            row.compactions,
            self.tally.failures().len(),
            self.start.elapsed().as_secs()
        );
    }
}
