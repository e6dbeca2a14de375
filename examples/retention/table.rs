//! The figures of one strategy, by set and overall.

use std::time::Duration;

/// One conversation; without a result where it was not valid as it came in.
pub(crate) struct Case {
    set: &'static str,
    pub(crate) result: Option<Result>,
}

pub(crate) struct Result {
    pub(crate) is_changed: bool,
    pub(crate) fell_back: bool,
    pub(crate) below_floor: bool,
    pub(crate) is_valid: bool,
    pub(crate) is_within: bool,
    pub(crate) is_same: bool,
    pub(crate) is_settled: bool,
    pub(crate) before: u32,
    pub(crate) after: u32,
    pub(crate) rules: Option<f64>,
    pub(crate) error: Option<f64>,
    pub(crate) bytes: usize,
    pub(crate) time: Duration,
}

pub(crate) struct Table {
    strategy: String,
    share: f64,
    cases: Vec<Case>,
}

impl Case {
    pub(crate) const fn new(set: &'static str) -> Self {
        Self { set, result: None }
    }
}

impl Table {
    pub(crate) fn new(strategy: &str, share: f64) -> Self {
        Self {
            strategy: strategy.to_owned(),
            share,
            cases: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, case: Case) {
        self.cases.push(case);
    }

    pub(crate) fn print(&self) {
        println!(
            "{} at {} % of what is not overhead",
            self.strategy,
            self.share * 100.0
        );
        println!(
            "{:<32}{:>6}{:>8}{:>7}{:>13}{:>13}{:>7}{:>8}{:>10}",
            "set",
            "convs",
            "invalid",
            "floor",
            "rules (n)",
            "error (n)",
            "size",
            "valid",
            "fell back"
        );
        let mut sets: Vec<&str> = self.cases.iter().map(|case| case.set).collect();
        sets.dedup();
        for set in sets {
            self.row(set, |case| case.set == set);
        }
        self.row("all", |_| true);
        let decided = |case: &Case| {
            case.result
                .as_ref()
                .is_some_and(|result| !result.below_floor && result.is_changed)
        };
        self.row("all that were decided on", decided);
        self.row("all at the floor", |case| {
            case.result
                .as_ref()
                .is_some_and(|result| result.below_floor)
        });
        self.print_checks();
        println!();
    }

    /// Means over conversations, each with the number of those that it rests on.
    fn row(&self, name: &str, choose: impl Fn(&Case) -> bool) {
        let cases: Vec<&Case> = self.cases.iter().filter(|case| choose(case)).collect();
        let results: Vec<&Result> = cases
            .iter()
            .filter_map(|case| case.result.as_ref())
            .collect();
        let count =
            |test: fn(&Result) -> bool| results.iter().filter(|result| test(result)).count();
        let sizes: Vec<f64> = results
            .iter()
            .map(|result| f64::from(result.after) / f64::from(result.before.max(1)))
            .collect();
        let rules: Vec<f64> = results.iter().filter_map(|result| result.rules).collect();
        let errors: Vec<f64> = results.iter().filter_map(|result| result.error).collect();
        println!(
            "{name:<32}{:>6}{:>8}{:>7}{:>13}{:>13}{:>7}{:>8}{:>10}",
            cases.len(),
            cases.len() - results.len(),
            count(|result| result.below_floor),
            mean_and_number(&rules),
            mean_and_number(&errors),
            mean(&sizes),
            count(|result| result.is_valid),
            count(|result| result.fell_back && !result.below_floor),
        );
    }

    fn print_checks(&self) {
        let results: Vec<&Result> = self
            .cases
            .iter()
            .filter_map(|case| case.result.as_ref())
            .collect();
        let failed =
            |test: fn(&Result) -> bool| results.iter().filter(|result| !test(result)).count();
        println!(
            "of {} results: {} broke a rule, {} over budget, {} differed when made again, {} changed when compacted again",
            results.len(),
            failed(|result| result.is_valid),
            failed(|result| result.is_within),
            failed(|result| result.is_same),
            failed(|result| result.is_settled),
        );
        let without = |measure: fn(&Result) -> Option<f64>| {
            results
                .iter()
                .filter(|result| measure(result).is_none())
                .count()
        };
        println!(
            "nothing to measure: no rules in {}, no error in {}",
            without(|result| result.rules),
            without(|result| result.error)
        );
        // Short ones say more of the clock than of the strategy.
        let mut times: Vec<f64> = results
            .iter()
            .filter(|result| result.is_changed && !result.below_floor && result.bytes >= 20_000)
            .map(|result| result.time.as_secs_f64() * 1e3 / (result.bytes as f64 / 1e6))
            .collect();
        times.sort_by(f64::total_cmp);
        let at = |share: f64| {
            times
                .get((times.len() as f64 * share) as usize)
                .copied()
                .unwrap_or(f64::NAN)
        };
        let (bytes, time) = results
            .iter()
            .filter(|result| result.is_changed && !result.below_floor)
            .fold((0, Duration::ZERO), |(bytes, time), result| {
                (bytes + result.bytes, time + result.time)
            });
        println!(
            "time per MB, where something was decided: {:.1} ms over all {:.1} MB; median {:.1}, 95 % {:.1} (the {} of 20 kB and more)",
            time.as_secs_f64() * 1e3 / (bytes as f64 / 1e6),
            bytes as f64 / 1e6,
            at(0.5),
            at(0.95),
            times.len()
        );
    }
}

fn mean(values: &[f64]) -> String {
    if values.is_empty() {
        return "–".to_owned();
    }
    format!("{:.3}", values.iter().sum::<f64>() / values.len() as f64)
}

fn mean_and_number(values: &[f64]) -> String {
    format!("{} ({})", mean(values), values.len())
}
