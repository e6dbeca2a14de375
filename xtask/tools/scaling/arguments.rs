//! The command line.

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};

/// The largest size where nothing is said.
const LARGEST: usize = 131_072;

/// Sizes of a line at most, each twice the one before.
const SIZES: u32 = 6;

/// Seconds that a size takes, with all that it needs, before its line stops growing.
const ENOUGH: f64 = 0.25;
const ENOUGH_OF_ALL: f64 = 2.0;

/// Lines that are measured at the same time: more would wait for memory.
const MOST_JOBS: usize = 2;

const KNOWN: &str =
    "--all, --max N, --limit SECONDS, --enough SECONDS, --jobs N, --markdown, --list";

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// The lines that were asked for.
    Table,
    /// Their names.
    List,
    /// One line, in this process.
    Measurement { line: usize, state: PathBuf },
}

#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) wanted: Wanted,
    /// Every line there is, rather than those that were chosen.
    is_all: bool,
    filters: Vec<String>,
    /// From small to large.
    pub(crate) sizes: Vec<usize>,
    /// Seconds that one size may take.
    pub(crate) limit: f64,
    /// Seconds that a size takes, with all that it needs, before its line stops growing.
    pub(crate) enough: f64,
    /// Lines that are measured at the same time.
    pub(crate) jobs: usize,
    /// The table for a document on standard output, and all else on standard error.
    pub(crate) is_markdown: bool,
}

impl Arguments {
    pub(crate) fn read() -> anyhow::Result<Self> {
        Self::of(std::env::args().skip(1))
    }

    pub(crate) fn of(mut words: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let (mut largest, mut limit, mut enough, mut jobs) = (LARGEST, 20.0, None, None);
        let (mut is_all, mut is_list, mut is_markdown) = (false, false, false);
        let (mut line, mut state) = (None, None);
        let mut filters = Vec::new();
        while let Some(word) = words.next() {
            let words: Words<'_> = &mut words;
            match word.as_str() {
                "--all" => is_all = true,
                "--max" => largest = number(&word, words)?,
                "--jobs" => jobs = Some(number(&word, words)?),
                "--line" => line = Some(number(&word, words)?),
                "--limit" => limit = seconds(&word, words)?,
                "--enough" => enough = Some(seconds(&word, words)?),
                "--markdown" => is_markdown = true,
                "--list" => is_list = true,
                "--state" => state = Some(PathBuf::from(value(&word, words)?)),
                other if other.starts_with('-') => bail!("`{other}` is no option; known: {KNOWN}"),
                _ => filters.push(word.clone()),
            }
        }
        ensure!(largest >= 512, "`--max` is at least 512");
        ensure!(jobs != Some(0), "`--jobs` is at least 1");
        let wanted = match (line, state) {
            (Some(line), Some(state)) => Wanted::Measurement { line, state },
            (None, None) if is_list => Wanted::List,
            (None, None) => Wanted::Table,
            _ => bail!("`--line` and `--state` come together"),
        };
        // Who names lines wants them whether they were chosen or not.
        let is_all = is_all || !filters.is_empty();
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            wanted,
            is_all,
            filters,
            sizes: (0..SIZES).rev().map(|half| largest >> half).collect(),
            limit,
            enough: enough.unwrap_or(if is_all { ENOUGH_OF_ALL } else { ENOUGH }),
            jobs: jobs.unwrap_or_else(|| cores().min(MOST_JOBS)),
            is_markdown,
        })
    }

    /// The largest size.
    pub(crate) fn largest(&self) -> usize {
        self.sizes.last().copied().unwrap_or(LARGEST)
    }

    /// Whether a line is asked for.
    pub(crate) fn wants(&self, label: &str, is_chosen: bool) -> bool {
        let filters = &self.filters;
        let fits = filters.iter().all(|filter| label.contains(filter.as_str()));
        fits && (is_chosen || self.is_all)
    }
}

type Words<'a> = &'a mut dyn Iterator<Item = String>;

fn value(option: &str, words: Words<'_>) -> anyhow::Result<String> {
    let value = words.next();
    value.with_context(|| format!("`{option}` needs a value"))
}

fn number(option: &str, words: Words<'_>) -> anyhow::Result<usize> {
    let number = value(option, words)?.parse::<usize>();
    number.with_context(|| format!("`{option}` takes a number"))
}

fn seconds(option: &str, words: Words<'_>) -> anyhow::Result<f64> {
    let seconds = value(option, words)?.parse::<f64>();
    seconds.with_context(|| format!("`{option}` takes seconds"))
}
