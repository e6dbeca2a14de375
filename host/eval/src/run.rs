//! Measures strategies over the cuts of recorded conversations.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use baler_host::{Host, Strategy};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use crate::baselines::{Baseline, RECORDED};
use crate::bounded_file;
use crate::cases;
use crate::constraints::{self, ConstraintRow};
use crate::context::Shown;
use crate::corpus::Recording;
use crate::fingerprint::RunFingerprint;
use crate::measure::Measurement;
use crate::options::Options;
use crate::threads;

/// The figures of one conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ConversationResult {
    /// The name of the set.
    pub set: String,
    /// The path of the file within the set, `#`, and the index in the file.
    pub id: String,
    /// The content hash of the recording ([`Recording::content_hash`]).
    #[serde(rename = "digest")]
    pub content_hash: String,
    /// Why there are no rows; `None` if there are.
    pub skipped: Option<SkipReason>,
    /// What is wrong with the questions, and where; `None` if they can be used.
    pub mislabelled: Option<String>,
    /// The figures, one row for each cut, budget and strategy.
    pub rows: Vec<Row>,
    /// Whether the constraint of the conversation is there, one row for each cut, place, budget and strategy. Empty
    /// unless [`Options::constraints`] asks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<ConstraintRow>,
}

/// Why a conversation is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// The conversation cannot be read.
    Unread,
    /// The conversation breaks a rule of its format.
    Invalid,
    /// Too little of it was needed later.
    Empty,
    /// The questions cannot be used.
    Mislabelled,
}

/// The figures of one strategy at one cut under one budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The number of messages before the cut.
    pub cut: usize,
    /// The budget as a share of the history, in thousandths; 0 at a recorded compaction.
    pub budget: u32,
    /// The budget in characters.
    pub room: usize,
    /// Characters of the protected units, which no strategy can remove.
    pub floor: usize,
    /// The name of the strategy or baseline.
    pub strategy: String,
    /// The figures.
    pub measured: Measurement,
}

impl Row {
    /// Whether the strategy had a choice: the protected units are smaller than the budget.
    #[must_use]
    pub const fn has_choice(&self) -> bool {
        self.room > self.floor
    }
}

/// The figures of all conversations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The results, ordered by set and file.
    pub results: Vec<ConversationResult>,
}

/// What the file of an earlier run holds.
#[derive(Debug, Clone, PartialEq)]
pub struct ResumedRun {
    /// The figures that the earlier run measured and that are still valid.
    pub done: Evaluation,
    /// The numbers of lines without a result; the first line is 1.
    pub unreadable_lines: Vec<usize>,
}

impl Evaluation {
    /// Whether there are figures of at least one conversation.
    #[must_use]
    pub fn has_figures(&self) -> bool {
        let mut results = self.results.iter();
        results.any(|result| !(result.rows.is_empty() && result.constraints.is_empty()))
    }

    /// Measures all conversations that are not in `done`, which comes from [`Evaluation::resume`] or is
    /// empty. Calls `on_result` with the result of each finished conversation. The names of the strategies
    /// must differ from each other and from [`Baseline::names`], because figures are identified by them.
    ///
    /// # Errors
    /// The host or the machine failed, also during the attempt of a strategy, or `on_result` failed. The run
    /// ends then, and the conversation in question has no result.
    pub fn run(
        host: &Host,
        strategies: &[Strategy],
        records: &[Recording],
        options: &Options,
        done: &Self,
        on_result: &(dyn Fn(&ConversationResult) -> anyhow::Result<()> + Sync),
    ) -> anyhow::Result<Self> {
        let is_done = |record: &&Recording| {
            let mut known = done.results.iter();
            known.any(|result| result.set == record.set && result.id == record.id)
        };
        let left = records.iter().filter(|record| !is_done(record));
        let left: Vec<&Recording> = left.collect();
        let work = |runtime: &Runtime, record: &&Recording| {
            runtime
                .block_on(measure(host, strategies, record, options))
                .with_context(|| format!("{} {}", record.set, record.id))
        };
        let mut results = done.results.clone();
        results.extend(threads::each(options.threads, &left, work, on_result)?);
        results.sort_by(|one, other| (&one.set, &one.id).cmp(&(&other.set, &other.id)));
        Ok(Self { results })
    }

    /// Reads the file of an earlier run: its [`RunFingerprint`] in the first line, which must equal
    /// `fingerprint`, and a [`ConversationResult`] in each further line. Leaves out results of recordings
    /// that are not in `records` or were changed since, lines without a result, and a last line that is cut
    /// off. Returns `None` if there is no file yet, or at most a part of its first line.
    ///
    /// # Errors
    /// The file cannot be read, or belongs to another run or to something else.
    pub fn resume(
        file: &Path,
        fingerprint: &RunFingerprint,
        records: &[Recording],
    ) -> anyhow::Result<Option<ResumedRun>> {
        let bytes = match bounded_file::read(file) {
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
        // What follows the last line's end: nothing, or a line that was cut off.
        let rest = lines.pop().unwrap_or_default();
        let Some((first, lines)) = lines.split_first() else {
            // The caller overwrites the part of the line, so it must be part of the same fingerprint.
            let own = serde_json::to_vec(fingerprint).with_context(foreign)?;
            ensure!(own.starts_with(rest), foreign());
            return Ok(None);
        };
        let before: RunFingerprint = serde_json::from_slice(first).with_context(foreign)?;
        if before != *fingerprint {
            bail!(
                "`{shown}` holds figures of something else ({}); name another file, or give the same options",
                fingerprint.difference(&before)
            );
        }
        let now = records.iter().map(|record| {
            let place = (record.set.clone(), record.id.clone());
            (place, record.content_hash())
        });
        let now: BTreeMap<(String, String), String> = now.collect();
        // A file may hold a conversation several times.
        let mut results: BTreeMap<(String, String), ConversationResult> = BTreeMap::new();
        let mut unreadable_lines = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let Ok(result) = serde_json::from_slice::<ConversationResult>(line) else {
                unreadable_lines.push(index + 2);
                continue;
            };
            let place = (result.set.clone(), result.id.clone());
            if now.get(&place) == Some(&result.content_hash) {
                results.insert(place, result);
            }
        }
        let done = Self {
            results: results.into_values().collect(),
        };
        Ok(Some(ResumedRun {
            done,
            unreadable_lines,
        }))
    }
}

async fn measure(
    host: &Host,
    strategies: &[Strategy],
    record: &Recording,
    options: &Options,
) -> anyhow::Result<ConversationResult> {
    let mut result = ConversationResult {
        set: record.set.clone(),
        id: record.id.clone(),
        content_hash: record.content_hash(),
        ..ConversationResult::default()
    };
    if let Err(wrong) = &record.questions {
        result.skipped = Some(SkipReason::Mislabelled);
        result.mislabelled = Some(wrong.clone());
        return Ok(result);
    }
    let cases = match cases::cases(host, record, options.at_recorded_compactions) {
        Ok(cases) => cases,
        Err(why) => {
            result.skipped = Some(why);
            return Ok(result);
        }
    };
    if cases.is_empty() {
        result.skipped = Some(SkipReason::Empty);
    }
    for case in &cases {
        let floor = case.floor(options);
        for (budget, room) in case.rooms(options) {
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
                add(RECORDED, case.score(&Shown::text(summary.clone())));
            }
            for baseline in Baseline::ALL {
                add(
                    baseline.name(),
                    case.score(&Shown::kept(&baseline.keep(case, room))),
                );
            }
            for strategy in strategies {
                add(
                    strategy.name(),
                    case.score_strategy(host, strategy, room, &options.pins)
                        .await?,
                );
            }
        }
    }
    if options.constraints && !options.at_recorded_compactions {
        result.constraints =
            constraints::measure(host, strategies, record, &cases, options).await?;
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use baler_host::remote::{AnswerFuture, Operation, Remote, RemoteError};
    use serde_json::json;

    use super::*;
    use crate::corpus::RecordingKind;

    /// A remote strategy whose calls fail because the process has no file descriptors left.
    #[derive(Debug)]
    struct OutOfReach;

    impl Remote for OutOfReach {
        fn name(&self) -> &'static str {
            "out-of-reach"
        }

        fn address(&self) -> &'static str {
            "https://out-of-reach.example"
        }

        fn ask(&self, _: Operation, _: String, _: usize) -> AnswerFuture<'_> {
            Box::pin(async { Err(RemoteError::NoRoom) })
        }
    }

    /// A conversation in which six names of the first message are needed at each cut.
    fn record(id: &str) -> Recording {
        let files = "oven.rs, dough.rs, flour.rs, salt.rs, yeast.rs and water.rs";
        let mut messages = vec![json!({"role": "user", "content": format!("Read {files}.")})];
        for message in 0..18 {
            let role = ["assistant", "user"][message % 2];
            let content = "Stir it well, and let it rest. ".repeat(7);
            messages.push(json!({"role": role, "content": content}));
        }
        messages.push(json!({"role": "assistant", "content": format!("I have read {files}.")}));
        Recording {
            set: "bakery".to_owned(),
            id: id.to_owned(),
            kind: RecordingKind::Document,
            format: "openai-chat",
            document: json!({ "messages": messages }).to_string(),
            wanted: Vec::new(),
            questions: Ok(Vec::new()),
            needs: Vec::new(),
        }
    }

    #[test]
    fn failure_of_on_result_ends_the_run_on_all_threads() {
        let host = Host::builder().build().expect("a host");
        let records: Vec<Recording> = (0..40).map(|id| record(&id.to_string())).collect();
        let options = Options {
            threads: 2,
            ..Options::default()
        };
        let calls = AtomicUsize::new(0);
        let evaluation = Evaluation::run(
            &host,
            &[Strategy::truncate()],
            &records,
            &options,
            &Evaluation::default(),
            // Only the first call fails.
            &|_| match calls.fetch_add(1, Ordering::Relaxed) {
                0 => bail!("the disk is full"),
                _ => Ok(()),
            },
        );
        let error = evaluation.expect_err("on_result failed").to_string();
        assert_eq!(error, "the disk is full");
        // The other thread had begun a conversation.
        let calls = calls.into_inner();
        assert!(calls <= 2, "{calls}");
    }

    #[test]
    fn failure_of_the_machine_ends_the_run_without_a_result() {
        let host = Host::builder().build().expect("a host");
        let run = |strategy| {
            let finished = Mutex::new(Vec::new());
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
                    finished.lock().expect("no panic").push(result.id.clone());
                    Ok(())
                },
            );
            (evaluation, finished.into_inner().expect("no panic"))
        };
        let (evaluation, finished) = run(Strategy::remote(Arc::new(OutOfReach)));
        let error = format!("{:#}", evaluation.expect_err("nothing was measured"));
        assert!(error.contains("bakery one: "), "{error}");
        assert!(error.contains("no file descriptor"), "{error}");
        assert_eq!(finished, [] as [&str; 0]);
        let (evaluation, finished) = run(Strategy::truncate());
        let evaluation = evaluation.expect("all was measured");
        assert_eq!(finished, ["one", "two"]);
        assert!(
            evaluation
                .results
                .iter()
                .all(|result| !result.rows.is_empty())
        );
    }
}
