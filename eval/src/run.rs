//! Runs strategies over the cuts of recorded conversations.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use baler_host::{Host, Pins, Strategy};
use serde::{Deserialize, Serialize};

use crate::baselines::Baseline;
use crate::cases::{self, NoCases};
use crate::corpus::Recorded;
use crate::measure::{Measured, Sought};

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct Options {
    /// Shares of the history that a result may have.
    pub budgets: Vec<f64>,
    /// Cut where a program compacted by itself, to the size of its own summary; else at 40, 60
    /// and 80 % of the units, and at the end where there are questions.
    pub recorded: bool,
    /// What stays in any case. Baselines pin nothing.
    pub pins: Pins,
    /// Conversations that are worked on at the same time.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            budgets: vec![0.05, 0.1, 0.25, 0.5],
            recorded: false,
            pins: Pins::None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// One conversation's figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Result {
    /// The set.
    pub set: String,
    /// File and place.
    pub id: String,
    /// Why there are none.
    pub skipped: Option<Of>,
    /// What is wrong with its questions, and where.
    pub mislabelled: Option<String>,
    /// One for each cut, budget and strategy.
    pub rows: Vec<Row>,
}

/// Why a conversation says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// It cannot be read.
    Unread,
    /// It broke a rule of its format when it was recorded.
    Invalid,
    /// Too little of it was needed later.
    Empty,
    /// Its questions cannot be used.
    Mislabelled,
}

/// What one strategy left of one cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Messages before the cut.
    pub cut: usize,
    /// The share of the history that it may have, in thousandths; 0 at a recorded compaction.
    pub budget: u32,
    /// Characters that it may have.
    pub room: usize,
    /// Characters of these that must stay whatever is done.
    pub floor: usize,
    /// The strategy or baseline.
    pub strategy: String,
    /// The figures.
    pub measured: Measured,
}

impl Row {
    /// Whether anything could be chosen: what must stay takes less than the room.
    #[must_use]
    pub const fn has_choice(&self) -> bool {
        self.room > self.floor
    }
}

/// All figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// One for each conversation, in order of set and file.
    pub results: Vec<Result>,
}

impl Evaluation {
    /// Measures all conversations that `done` does not hold. `told` hears of each that is
    /// finished; what it fails with ends all.
    ///
    /// # Errors
    /// The host failed, or `told` did.
    pub fn run(
        host: &Host,
        strategies: &[Strategy],
        records: &[Recorded],
        options: &Options,
        done: &Self,
        told: &(dyn Fn(&Result) -> anyhow::Result<()> + Sync),
    ) -> anyhow::Result<Self> {
        let next = AtomicUsize::new(0);
        let results = Mutex::new(done.results.clone());
        let is_done = |record: &Recorded| {
            let mut known = done.results.iter();
            known.any(|result| result.set == record.set && result.id == record.id)
        };
        let work = || -> anyhow::Result<()> {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            loop {
                let Some(record) = records.get(next.fetch_add(1, Ordering::Relaxed)) else {
                    return Ok(());
                };
                if is_done(record) {
                    continue;
                }
                let result = runtime
                    .block_on(measure(host, strategies, record, options))
                    .with_context(|| format!("{} {}", record.set, record.id))?;
                let mut results = results
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                told(&result)?;
                results.push(result);
            }
        };
        std::thread::scope(|scope| -> anyhow::Result<()> {
            let threads: Vec<_> = (0..options.threads.max(1))
                .map(|_| scope.spawn(work))
                .collect();
            for thread in threads {
                match thread.join() {
                    Ok(done) => done?,
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok(())
        })?;
        let mut results = results
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        results.sort_by(|one, other| (&one.set, &one.id).cmp(&(&other.set, &other.id)));
        Ok(Self { results })
    }

    /// Reads what an earlier run wrote line by line. A last line that is cut off counts as none,
    /// and so does a conversation with wrong questions: they may be right by now.
    ///
    /// # Errors
    /// The file cannot be read, or another line than the last is no result.
    pub fn resume(file: &Path) -> anyhow::Result<Self> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read `{}`", file.display()));
            }
        };
        let lines: Vec<&str> = text.lines().collect();
        let mut results = Vec::with_capacity(lines.len());
        for (number, line) in lines.iter().enumerate() {
            match serde_json::from_str::<Result>(line) {
                Ok(result) if result.skipped == Some(Of::Mislabelled) => {}
                Ok(result) => results.push(result),
                Err(_) if number + 1 == lines.len() && !text.ends_with('\n') => {}
                Err(error) => {
                    return Err(error).with_context(|| {
                        format!("line {} of `{}` is no result", number + 1, file.display())
                    });
                }
            }
        }
        Ok(Self { results })
    }
}

async fn measure(
    host: &Host,
    strategies: &[Strategy],
    record: &Recorded,
    options: &Options,
) -> anyhow::Result<Result> {
    let mut result = Result {
        set: record.set.clone(),
        id: record.id.clone(),
        skipped: None,
        mislabelled: None,
        rows: Vec::new(),
    };
    if let Err(wrong) = &record.questions {
        result.skipped = Some(Of::Mislabelled);
        result.mislabelled = Some(wrong.clone());
        return Ok(result);
    }
    let cases = match cases::cases(host, record, options.recorded) {
        Ok(cases) => cases,
        Err(NoCases::Unread) => {
            result.skipped = Some(Of::Unread);
            return Ok(result);
        }
        Err(NoCases::Invalid) => {
            result.skipped = Some(Of::Invalid);
            return Ok(result);
        }
    };
    if cases.is_empty() {
        result.skipped = Some(Of::Empty);
    }
    for case in &cases {
        let sought = Sought::of(case);
        let floor = case.floor(options);
        let rooms: Vec<(u32, usize)> = match &case.recorded {
            Some(summary) => vec![(0, summary.chars().count())],
            None => options
                .budgets
                .iter()
                .map(|share| {
                    // Where what must stay is larger, all get as much as that.
                    let room = (case.size as f64 * share) as usize;
                    ((share * 1_000.0).round() as u32, room.max(floor))
                })
                .collect(),
        };
        for (budget, room) in rooms {
            let mut add = |strategy: &str, measured| {
                result.rows.push(Row {
                    cut: case.cut,
                    budget,
                    room,
                    floor,
                    strategy: strategy.to_owned(),
                    measured,
                });
            };
            if let Some(summary) = &case.recorded {
                add("recorded", sought.in_text(summary));
            }
            for baseline in Baseline::ALL {
                add(baseline.name(), sought.in_text(&baseline.keep(case, room)));
            }
            for strategy in strategies {
                add(
                    strategy.name(),
                    sought.after(host, strategy, room, &options.pins).await?,
                );
            }
        }
    }
    Ok(result)
}
