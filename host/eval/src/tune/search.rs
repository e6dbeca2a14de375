//! Successive halving, and what a choice gains.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use baler_host::{Host, Strategy};
use tokio::runtime::Runtime;

use super::{Candidate, Score, Scored, TuneOptions, Tuned};
use crate::cases;
use crate::corpus::Recording;
use crate::options::Options;
use crate::statistics::{Interval, mean};
use crate::threads;

/// Each round keeps one in three configs, and compares those on three times as many conversations.
const ETA: usize = 3;

/// The fewest conversations on which configs are compared, and the most configs that are measured on all.
const FEWEST: usize = 4;
const FINALISTS: usize = 4;

/// Parts of the conversations for cross-validation.
pub(super) const FOLDS: usize = 5;

/// The scores of each candidate by conversation, in the order of both.
type Table = Vec<BTreeMap<usize, Option<f64>>>;

/// New scores: the candidate, the conversation and its score.
type Found = Vec<(usize, usize, Option<f64>)>;

/// Searches the best of these configs, of which the first is the default. `known` holds scores of an earlier run;
/// `on_score` gets each new one.
///
/// # Errors
/// No conversation has the figure, the host or the machine failed, or `on_score` failed.
pub fn tune(
    host: &Host,
    candidates: &[Candidate],
    records: &[Recording],
    options: &TuneOptions,
    known: &[Score],
    on_score: &(dyn Fn(&Score) -> anyhow::Result<()> + Sync),
) -> anyhow::Result<Tuned> {
    let search = Search {
        host,
        candidates,
        records: in_order(records),
        options,
        on_score,
    };
    let mut table = search.known(known);
    let mut alive: Vec<usize> = (0..candidates.len()).collect();
    let mut number = FEWEST.min(search.records.len());
    let mut is_cut_short = false;
    loop {
        is_cut_short |= search.measure(&alive, number, &mut table)?;
        alive.sort_by(|one, other| {
            let mean = |index: &usize| mean_of(&table[*index], number);
            mean(other).total_cmp(&mean(one)).then(one.cmp(other))
        });
        if number == search.records.len() || is_cut_short {
            break;
        }
        alive.truncate(alive.len().div_ceil(ETA).max(FINALISTS));
        // The default is compared with the best on all.
        if !alive.contains(&0) {
            alive.push(0);
        }
        number = match alive.len() <= FINALISTS + 1 {
            true => search.records.len(),
            false => (number * ETA).min(search.records.len()),
        };
    }
    alive.truncate(FINALISTS);
    search.result(&alive, &table, is_cut_short)
}

struct Search<'a> {
    host: &'a Host,
    candidates: &'a [Candidate],
    /// By content hash, so that the first ones are of all sets.
    records: Vec<(String, &'a Recording)>,
    options: &'a TuneOptions,
    on_score: &'a (dyn Fn(&Score) -> anyhow::Result<()> + Sync),
}

fn in_order(records: &[Recording]) -> Vec<(String, &Recording)> {
    let mut ordered: Vec<(String, &Recording)> = records
        .iter()
        .map(|record| (record.content_hash(), record))
        .collect();
    ordered.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    ordered
}

impl Search<'_> {
    /// Returns the scores of an earlier run, as far as their configs and conversations are still there.
    fn known(&self, known: &[Score]) -> Table {
        let mut table: Table = vec![BTreeMap::new(); self.candidates.len()];
        for score in known {
            let config = self
                .candidates
                .iter()
                .position(|own| own.config == score.config);
            let record = self
                .records
                .binary_search_by(|(hash, _)| hash.cmp(&score.conversation));
            if let (Some(config), Ok(record)) = (config, record) {
                table[config].insert(record, score.score);
            }
        }
        table
    }

    /// Measures candidates on the first `number` conversations, as far as they are not in the table. Returns whether
    /// the time was over before.
    fn measure(&self, alive: &[usize], number: usize, table: &mut Table) -> anyhow::Result<bool> {
        let work: Vec<(usize, Vec<usize>)> = (0..number)
            .map(|record| {
                let missing = |index: &&usize| !table[**index].contains_key(&record);
                (record, alive.iter().filter(missing).copied().collect())
            })
            .filter(|(_, missing): &(usize, Vec<usize>)| !missing.is_empty())
            .collect();
        let run =
            |runtime: &Runtime, (record, missing): &(usize, Vec<usize>)| -> anyhow::Result<Found> {
                if self.is_over() {
                    return Ok(Vec::new());
                }
                let (_, recording) = self.records[*record];
                let strategies: Vec<&Strategy> = missing
                    .iter()
                    .map(|index| &self.candidates[*index].strategy)
                    .collect();
                let scores = runtime
                    .block_on(self.scores(recording, &strategies))
                    .with_context(|| format!("{} {}", recording.set, recording.id))?;
                let scores = missing.iter().zip(scores);
                Ok(scores
                    .map(|(index, score)| (*index, *record, score))
                    .collect())
            };
        let on_done = |scores: &Found| {
            scores.iter().try_for_each(|&(index, record, score)| {
                (self.on_score)(&Score {
                    config: self.candidates[index].config.clone(),
                    conversation: self.records[record].0.clone(),
                    score,
                })
            })
        };
        let found = threads::each(self.options.threads, &work, run, on_done)?;
        let found: Found = found.into_iter().flatten().collect();
        let wanted: usize = work.iter().map(|(_, missing)| missing.len()).sum();
        let is_cut_short = found.len() < wanted;
        for (index, record, score) in found {
            table[index].insert(record, score);
        }
        Ok(is_cut_short)
    }

    fn is_over(&self) -> bool {
        self.options
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Returns the mean of the figure over cuts and budgets for each strategy; `None` for all if the conversation
    /// does not have it.
    async fn scores(
        &self,
        record: &Recording,
        strategies: &[&Strategy],
    ) -> anyhow::Result<Vec<Option<f64>>> {
        let options = Options {
            budgets: self.options.budgets.clone(),
            pins: self.options.pins.clone(),
            ..Options::default()
        };
        // What cannot be read or is broken has no figures.
        let cases = cases::cases(self.host, record, false).unwrap_or_default();
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); strategies.len()];
        for case in &cases {
            for (_, room) in case.rooms(&options) {
                for (strategy, values) in strategies.iter().zip(&mut values) {
                    let measured = case
                        .score_strategy(self.host, strategy, room, &options.pins)
                        .await?;
                    values.extend(self.options.goal.of(&measured));
                }
            }
        }
        let mean = |values: &Vec<f64>| (!values.is_empty()).then(|| mean(values));
        Ok(values.iter().map(mean).collect())
    }

    fn result(&self, alive: &[usize], table: &Table, is_cut_short: bool) -> anyhow::Result<Tuned> {
        // Only conversations that all finalists were measured on can be compared.
        let shared: Vec<usize> = table[0]
            .iter()
            .filter(|(record, score)| {
                score.is_some()
                    && alive
                        .iter()
                        .all(|index| table[*index].get(record).is_some_and(Option::is_some))
            })
            .map(|(record, _)| *record)
            .collect();
        ensure!(
            !shared.is_empty(),
            "no conversation was measured by `{}`; choose another goal or corpus, or give it more time",
            self.options.goal.name()
        );
        let values = |index: usize, records: &[usize]| -> Vec<f64> {
            records
                .iter()
                .filter_map(|record| table[index].get(record).copied().flatten())
                .collect()
        };
        let scored = |index: usize| Scored {
            config: self.candidates[index].config.clone(),
            mean: Interval::of(&values(index, &shared)),
        };
        let mut finalists: Vec<usize> = alive.to_vec();
        if !finalists.contains(&0) {
            finalists.push(0);
        }
        let mean = |index: usize, records: &[usize]| mean(&values(index, records));
        // Of equal ones the earlier is taken, so the default wins.
        let best_on = |records: &[usize]| {
            let best = finalists.iter().copied().min_by(|one, other| {
                mean(*other, records)
                    .total_cmp(&mean(*one, records))
                    .then(one.cmp(other))
            });
            best.unwrap_or(0)
        };
        let mut gains = Vec::new();
        for fold in 0..FOLDS {
            let (tested, others): (Vec<usize>, Vec<usize>) =
                shared.iter().partition(|record| **record % FOLDS == fold);
            let chosen = best_on(if others.is_empty() { &tested } else { &others });
            let pairs = values(chosen, &tested).into_iter().zip(values(0, &tested));
            gains.extend(pairs.map(|(own, default)| own - default));
        }
        let best = best_on(&shared);
        finalists.sort_by(|one, other| {
            mean(*other, &shared)
                .total_cmp(&mean(*one, &shared))
                .then(one.cmp(other))
        });
        Ok(Tuned {
            best: scored(best),
            default: scored(0),
            gain: Interval::of(&gains),
            finalists: finalists.into_iter().map(scored).collect(),
            tried: table.iter().filter(|scores| !scores.is_empty()).count(),
            is_cut_short,
        })
    }
}

/// Returns the mean score over the first `number` conversations.
fn mean_of(scores: &BTreeMap<usize, Option<f64>>, number: usize) -> f64 {
    let values: Vec<f64> = scores
        .range(..number)
        .filter_map(|(_, score)| *score)
        .collect();
    mean(&values)
}
