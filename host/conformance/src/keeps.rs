//! What a strategy keeps of sessions in which facts happen that must stay known.

use std::collections::BTreeMap;

use anyhow::{Context as _, anyhow};
use baler_eval::corpus::Recording;
use baler_eval::{Evaluation, Options};
use baler_generated::{Choices, Episodes, Kind};
use baler_host::conversation::tokenizers::Tokenizer;
use baler_host::{Host, Pins, Strategy};
use serde::Serialize;

/// Sessions of each wire format.
const SESSIONS: u64 = 4;

/// Budgets, as shares of the history.
const BUDGETS: [f64; 2] = [0.1, 0.25];

/// What a strategy, or a baseline, keeps under one budget.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Kept {
    /// Name of the strategy or baseline.
    pub name: String,
    /// The budget, in percent of the history.
    pub budget_percent: u32,
    /// Share of the facts that the result says, from 0 to 1.
    pub facts: f64,
    /// Size of the result, as a share of the history.
    pub size: f64,
    /// Results that are not this one's, because it faulted, failed or declined: those of its fallback, or the whole history.
    /// The figures count them all the same.
    pub gave_up: usize,
    /// Number of results.
    pub results: usize,
}

/// Measures what strategies keep of generated sessions, and baselines of the same size. Sizes are in characters.
///
/// # Errors
/// The host or the machine failed.
pub fn keeps(
    strategies: &[Strategy],
    on_progress: &(dyn Fn(&'static str, usize) + Sync),
) -> anyhow::Result<Vec<Kept>> {
    let episodes = Episodes::development().map_err(|error| anyhow!(error))?;
    let mut records = Vec::new();
    for (place, kind) in Kind::ALL.into_iter().enumerate() {
        for session in 0..SESSIONS {
            let seed = session * Kind::ALL.len() as u64 + place as u64;
            let body = episodes.session(kind, &mut Choices::from_seed(seed));
            let record = Recording::of_body(kind.name(), &session.to_string(), &body.to_string());
            records.push(record.context("a generated session is no request body")?);
        }
    }
    let options = Options {
        budgets: BUDGETS.to_vec(),
        pins: Pins::FirstUser,
        ..Options::default()
    };
    let all = records.len();
    let on_result = |_: &_| {
        on_progress("facts", all);
        Ok(())
    };
    let host = Host::builder()
        .tokenizer(Some(Tokenizer::characters()))
        .without_archive()
        .build()?;
    let nothing = Evaluation::default();
    let evaluation = Evaluation::run(&host, strategies, &records, &options, &nothing, &on_result)?;
    let mut rows: BTreeMap<(u32, &str), Vec<_>> = BTreeMap::new();
    let all = evaluation.results.iter().flat_map(|result| &result.rows);
    // Facts must be known at the end of a session; earlier cuts have none.
    for row in all.filter(|row| row.measured.needs.is_some()) {
        let own = rows.entry((row.budget, row.strategy.as_str())).or_default();
        own.push(&row.measured);
    }
    let kept = rows.into_iter().map(|((budget, name), rows)| Kept {
        name: name.to_owned(),
        budget_percent: budget / 10,
        facts: mean(rows.iter().filter_map(|row| row.needs)).unwrap_or_default(),
        size: mean(rows.iter().map(|row| row.size)).unwrap_or_default(),
        gave_up: rows
            .iter()
            .filter(|row| row.fell_back || row.size >= 1.0)
            .count(),
        results: rows.len(),
    });
    Ok(kept.collect())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
