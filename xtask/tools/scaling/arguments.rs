//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Sizes of a line at most, each twice the one before.
const SIZES: u32 = 6;

/// Seconds that a size takes, with all that it needs, before its line stops growing.
const ENOUGH: f64 = 0.25;
const ENOUGH_OF_ALL: f64 = 2.0;

/// Lines that are measured at the same time: more would wait for memory.
const MOST_JOBS: usize = 2;

/// Measures how the host's work grows in every dimension of its input.
#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// Words that the name of a line has to hold, all of them. Such lines are measured whether they were chosen or not.
    filters: Vec<String>,
    /// Measures every line there is, rather than those that were chosen.
    #[arg(long)]
    all: bool,
    /// The largest size, at least 512.
    #[arg(long, default_value_t = 131_072, value_parser = clap::value_parser!(u32).range(512..))]
    pub(crate) max: u32,
    /// Seconds that one size may take.
    #[arg(long, default_value_t = 20.0)]
    pub(crate) limit: f64,
    /// Seconds that a size takes, with all that it needs, before its line stops growing.
    #[arg(long)]
    enough: Option<f64>,
    /// Lines that are measured at the same time.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Lists the names of the lines.
    #[arg(long)]
    pub(crate) list: bool,
    /// The line that this process measures.
    #[arg(long, hide = true, requires = "state")]
    pub(crate) line: Option<usize>,
    /// Where it writes what it measured.
    #[arg(long, hide = true, requires = "line")]
    pub(crate) state: Option<PathBuf>,
}

impl Arguments {
    /// Whether lines are measured that were not chosen.
    fn is_all(&self) -> bool {
        self.all || !self.filters.is_empty()
    }

    /// Sizes, from small to large.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let sizes = (0..SIZES).rev().map(|half| self.max >> half);
        sizes.map(|size| size as usize).collect()
    }

    /// Seconds that a size takes, with all that it needs, before its line stops growing.
    pub(crate) fn enough(&self) -> f64 {
        let usual = if self.is_all() { ENOUGH_OF_ALL } else { ENOUGH };
        self.enough.unwrap_or(usual)
    }

    /// Lines that are measured at the same time.
    pub(crate) fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs
            .map_or_else(|| cores().min(MOST_JOBS), usize::from)
    }

    /// Whether a line is asked for.
    pub(crate) fn wants(&self, label: &str, is_chosen: bool) -> bool {
        let filters = &self.filters;
        let fits = filters.iter().all(|filter| label.contains(filter.as_str()));
        fits && (is_chosen || self.is_all())
    }
}
