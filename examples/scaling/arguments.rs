//! The command line.

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};

/// The largest size where nothing is said.
const LARGEST: usize = 131_072;

/// Sizes of a line, each twice the one before.
const SIZES: u32 = 5;

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// All lines that fit.
    Table,
    /// Their names.
    List,
    /// One line, in this process.
    Measurement { line: usize, state: PathBuf },
}

#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) wanted: Wanted,
    filters: Vec<String>,
    /// From small to large.
    pub(crate) sizes: Vec<usize>,
    /// Seconds that one size may take.
    pub(crate) limit: f64,
}

impl Arguments {
    pub(crate) fn read() -> anyhow::Result<Self> {
        let mut words = std::env::args().skip(1);
        let (mut largest, mut limit, mut is_list) = (LARGEST, 20.0, false);
        let (mut line, mut state) = (None, None);
        let mut filters = Vec::new();
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .with_context(|| format!("`{word}` needs a value"))
            };
            match word.as_str() {
                "--max" => {
                    largest = value()?
                        .parse::<usize>()
                        .context("`--max` takes a number")?
                }
                "--limit" => limit = value()?.parse::<f64>().context("`--limit` takes seconds")?,
                "--list" => is_list = true,
                "--line" => {
                    line = Some(
                        value()?
                            .parse::<usize>()
                            .context("`--line` takes a number")?,
                    )
                }
                "--state" => state = Some(PathBuf::from(value()?)),
                other if other.starts_with('-') => {
                    bail!("`{other}` is no option; known: --max N, --limit SECONDS, --list")
                }
                _ => filters.push(word.clone()),
            }
        }
        ensure!(largest >= 256, "`--max` is at least 256");
        let wanted = match (line, state) {
            (Some(line), Some(state)) => Wanted::Measurement { line, state },
            (None, None) if is_list => Wanted::List,
            (None, None) => Wanted::Table,
            _ => bail!("`--line` and `--state` come together"),
        };
        Ok(Self {
            wanted,
            filters,
            sizes: (0..SIZES).rev().map(|half| largest >> half).collect(),
            limit,
        })
    }

    /// The largest size.
    pub(crate) fn largest(&self) -> usize {
        self.sizes.last().copied().unwrap_or(LARGEST)
    }

    /// Whether a line is asked for.
    pub(crate) fn fits(&self, label: &str) -> bool {
        let filters = &self.filters;
        filters.iter().all(|filter| label.contains(filter.as_str()))
    }
}
