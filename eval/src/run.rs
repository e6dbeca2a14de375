//! Runs strategies over the cuts of recorded conversations.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, bail, ensure};
use baler_host::{Host, Strategy};
use serde::{Deserialize, Serialize};

use crate::baselines::{Baseline, RECORDED};
use crate::bounded;
use crate::cases::{self, NoCases};
use crate::corpus::Recorded;
use crate::measure::{Measured, Sought};
use crate::options::Options;

/// What figures are of: those of another kind are not to be mixed with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measuring {
    /// The budgets, in thousandths, or `recorded`.
    pub at: String,
    /// What stays in any case.
    pub pins: String,
    /// The strategies: components with their digests, remote ones with their addresses.
    pub strategies: Vec<String>,
    /// What a call of a strategy may use: each set of limits once.
    pub limits: Vec<String>,
    /// The version of this crate.
    pub version: String,
}

impl Measuring {
    /// What a run measures.
    #[must_use]
    pub fn of(strategies: &[Strategy], options: &Options) -> Self {
        let mut budgets: Vec<u32> = options.budgets.iter().copied().map(thousandths).collect();
        budgets.sort_unstable();
        let budgets: Vec<String> = budgets.iter().map(u32::to_string).collect();
        let named = |strategy: &Strategy| match (strategy.component(), strategy.address()) {
            (Some(component), _) => format!("{} {}", strategy.name(), component.digest),
            (None, Some(address)) => format!("{} {address}", strategy.name()),
            (None, None) => strategy.name().to_owned(),
        };
        let limited = |strategy: &Strategy| {
            let limits = strategy.limits();
            format!(
                "fuel {}, {:?}, {} bytes of memory",
                limits.fuel, limits.time, limits.memory
            )
        };
        let mut limits: Vec<String> = strategies.iter().map(limited).collect();
        limits.sort_unstable();
        limits.dedup();
        let mut strategies: Vec<String> = strategies.iter().map(named).collect();
        strategies.sort_unstable();
        Self {
            at: match options.recorded {
                true => "recorded".to_owned(),
                false => budgets.join(" "),
            },
            pins: format!("{:?}", options.pins),
            strategies,
            limits,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

fn thousandths(share: f64) -> u32 {
    (share * 1_000.0).round() as u32
}

/// One conversation's figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Result {
    /// The set.
    pub set: String,
    /// File and place.
    pub id: String,
    /// The digest of what was recorded ([`Recorded::digest`]).
    pub digest: String,
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

/// What an earlier run noted.
#[derive(Debug, Clone, PartialEq)]
pub struct Resumed {
    /// What it measured.
    pub done: Evaluation,
    /// The numbers of lines that hold no result, from 1.
    pub unread: Vec<usize>,
}

impl Evaluation {
    /// Measures all conversations that `done` does not hold, which is of [`Evaluation::resume`], or
    /// empty. `told` hears of each that is finished; what it fails with ends all. So does a failure
    /// of the host or the machine, in a strategy's turn too: its conversation is neither told nor
    /// measured. Figures are told apart by the names of strategies: these have to differ, from
    /// [`Baseline::names`] as well.
    ///
    /// # Errors
    /// The host or the machine failed, or `told` did.
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
        // The other threads finish what they have begun, and begin nothing more.
        let stop = |_: &anyhow::Error| next.store(records.len(), Ordering::Relaxed);
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
                    .with_context(|| format!("{} {}", record.set, record.id))
                    .inspect_err(stop)?;
                let mut results = results
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                told(&result).inspect_err(stop)?;
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

    /// Reads what an earlier run wrote line by line: first what it measured, which has to be what
    /// is measured now, then a [`Result`] in each. Those of other recordings than `records`, and of
    /// recordings that were changed since, are left out; so are lines that hold none, and a last one
    /// that is cut off. None where there is nothing yet, or no more than a part of the first line.
    ///
    /// # Errors
    /// The file cannot be read, or is of another run or of something else.
    pub fn resume(
        file: &Path,
        measuring: &Measuring,
        records: &[Recorded],
    ) -> anyhow::Result<Option<Resumed>> {
        let bytes = match bounded::read(file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read `{}`", file.display()));
            }
        };
        let shown = file.display();
        let foreign =
            || format!("line 1 of `{shown}` does not say what was measured; name another file");
        let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
        // What stands behind the last line's end: nothing, or a line that was cut off.
        let rest = lines.pop().unwrap_or_default();
        let Some((first, lines)) = lines.split_first() else {
            // The caller writes anew, so what is there has to be its own.
            let own = serde_json::to_vec(measuring).with_context(foreign)?;
            ensure!(own.starts_with(rest), foreign());
            return Ok(None);
        };
        let before: Measuring = serde_json::from_slice(first).with_context(foreign)?;
        if before != *measuring {
            bail!(
                "`{shown}` holds figures of something else ({}); name another file, or give the same options",
                difference(&before, measuring)
            );
        }
        let now = records.iter().map(|record| {
            let place = (record.set.clone(), record.id.clone());
            (place, record.digest())
        });
        let now: BTreeMap<(String, String), String> = now.collect();
        // Each once, however often it is noted.
        let mut results: BTreeMap<(String, String), Result> = BTreeMap::new();
        let mut unread = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let Ok(result) = serde_json::from_slice::<Result>(line) else {
                unread.push(index + 2);
                continue;
            };
            let place = (result.set.clone(), result.id.clone());
            if now.get(&place) == Some(&result.digest) {
                results.insert(place, result);
            }
        }
        let done = Self {
            results: results.into_values().collect(),
        };
        Ok(Some(Resumed { done, unread }))
    }
}

/// In what two runs differ, for a person.
fn difference(one: &Measuring, other: &Measuring) -> String {
    let strategies = |of: &Measuring| of.strategies.join(", ");
    let all = [
        ("budgets", one.at.clone(), other.at.clone()),
        ("pins", one.pins.clone(), other.pins.clone()),
        ("strategies", strategies(one), strategies(other)),
        ("limits", one.limits.join("; "), other.limits.join("; ")),
        ("version", one.version.clone(), other.version.clone()),
    ];
    let differing = all.iter().filter(|(_, one, other)| one != other);
    let told: Vec<String> = differing
        .map(|(what, one, other)| format!("{what}: {one} there, {other} now"))
        .collect();
    told.join("; ")
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
        digest: record.digest(),
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
                    (thousandths(*share), room.max(floor))
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
                add(RECORDED, sought.in_text(summary));
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use baler_host::{Asked, Question, Remote, RemoteError};
    use serde_json::json;

    use super::*;
    use crate::corpus::Kind;

    /// A strategy for which this process has no descriptor left.
    #[derive(Debug)]
    struct OutOfReach;

    impl Remote for OutOfReach {
        fn name(&self) -> &'static str {
            "out-of-reach"
        }

        fn address(&self) -> &'static str {
            "https://out-of-reach.example"
        }

        fn ask(&self, _: Question, _: String, _: usize) -> Asked<'_> {
            Box::pin(async { Err(RemoteError::NoRoom) })
        }
    }

    /// A conversation that needs six names of its first message at each cut.
    fn record(id: &str) -> Recorded {
        let files = "oven.rs, dough.rs, flour.rs, salt.rs, yeast.rs and water.rs";
        let mut messages = vec![json!({"role": "user", "content": format!("Read {files}.")})];
        for message in 0..18 {
            let role = ["assistant", "user"][message % 2];
            let content = "Stir it well, and let it rest. ".repeat(7);
            messages.push(json!({"role": role, "content": content}));
        }
        messages.push(json!({"role": "assistant", "content": format!("I have read {files}.")}));
        Recorded {
            set: "bakery".to_owned(),
            id: id.to_owned(),
            kind: Kind::Document,
            format: "openai-chat",
            document: json!({ "messages": messages }).to_string(),
            wanted: Vec::new(),
            questions: Ok(Vec::new()),
        }
    }

    #[test]
    fn a_result_that_cannot_be_told_ends_the_run_on_all_threads() {
        let host = Host::builder().build().expect("a host");
        let records: Vec<Recorded> = (0..40).map(|id| record(&id.to_string())).collect();
        let options = Options {
            threads: 2,
            ..Options::default()
        };
        let told = AtomicUsize::new(0);
        let evaluation = Evaluation::run(
            &host,
            &[Strategy::truncate()],
            &records,
            &options,
            &Evaluation::default(),
            // Room comes back at once.
            &|_| match told.fetch_add(1, Ordering::Relaxed) {
                0 => bail!("the disk is full"),
                _ => Ok(()),
            },
        );
        let error = evaluation.expect_err("it could not be told").to_string();
        assert_eq!(error, "the disk is full");
        // The other thread had begun one.
        let told = told.into_inner();
        assert!(told <= 2, "{told}");
    }

    #[test]
    fn a_failure_of_the_machine_ends_the_run_and_is_no_measurement() {
        let host = Host::builder().build().expect("a host");
        let run = |strategy| {
            let told = Mutex::new(Vec::new());
            let options = Options {
                threads: 1,
                ..Options::default()
            };
            let evaluation = Evaluation::run(
                &host,
                &[strategy],
                &[record("one"), record("two")],
                &options,
                &Evaluation::default(),
                &|result| {
                    told.lock().expect("no panic").push(result.id.clone());
                    Ok(())
                },
            );
            (evaluation, told.into_inner().expect("no panic"))
        };
        let (evaluation, told) = run(Strategy::remote(Arc::new(OutOfReach)));
        let error = format!("{:#}", evaluation.expect_err("nothing was measured"));
        assert!(error.contains("bakery one: "), "{error}");
        assert!(error.contains("no descriptor"), "{error}");
        assert_eq!(told, [] as [&str; 0]);
        let (evaluation, told) = run(Strategy::truncate());
        let evaluation = evaluation.expect("all was measured");
        assert_eq!(told, ["one", "two"]);
        assert!(
            evaluation
                .results
                .iter()
                .all(|result| !result.rows.is_empty())
        );
    }
}
