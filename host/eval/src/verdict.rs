//! What the figures come to: which strategy kept most at which budget, and whether that is certain.

use std::fmt::Write as _;

use crate::baselines::Baseline;
use crate::run::{ConversationResult, Evaluation, Row};
use crate::statistics::LEAST;

/// A strategy is not compared if more than one of this many results exceeds the budget. A report marks its points.
const OVER: usize = 20;

/// What strategies are compared by.
type Kept = fn(&Row) -> Option<f64>;

/// Writes a sentence for each budget. Empty where there is nothing to compare.
pub(crate) fn markdown(evaluation: &Evaluation, name_of: impl Fn(u32) -> String) -> String {
    // Where recordings state what must be known, that counts and not which names were used later.
    let has_needs = evaluation.rows().any(|row| row.measured.needs.is_some());
    let (kept, meaning): (Kept, &str) = if has_needs {
        (
            |row| row.measured.needs,
            "By *needs*: what an agent must know",
        )
    } else {
        (
            |row| row.measured.in_context,
            "By *in context*: what was needed later and is there with what is said of it",
        )
    };
    let mut text = String::new();
    for budget in evaluation.budgets() {
        if let Some(sentence) = sentence(evaluation, budget, kept) {
            let _ = writeln!(text, "- {}: {sentence}", name_of(budget));
        }
    }
    if text.is_empty() {
        return text;
    }
    format!(
        "### What this says\n\n{meaning} (all sets with equal weight). A difference is certain if its 95 % interval, over at least {LEAST} conversations at the cuts that both have, is on one side of zero.\n\n{text}"
    )
}

fn sentence(evaluation: &Evaluation, budget: u32, kept: Kept) -> Option<String> {
    let mut over = Vec::new();
    let mut strategies: Vec<(&str, f64)> = Vec::new();
    for strategy in evaluation.strategies() {
        let (all, beyond) = evaluation.over(&evaluation.sets(), strategy, budget);
        if beyond * OVER > all {
            over.push(format!("`{strategy}` ({beyond} of {all} cuts)"));
        } else if let Some(mean) = evaluation.mean(&evaluation.sets(), strategy, budget, &kept) {
            strategies.push((strategy, mean.mean));
        }
    }
    // The first of equals ran first.
    strategies.sort_by(|one, other| other.1.total_cmp(&one.1));
    let is_baseline = |name: &str| Baseline::names().any(|baseline| baseline == name);
    let over = over.join(", ");
    let Some(&best) = strategies.iter().find(|(name, _)| !is_baseline(name)) else {
        let all_over = format!("no strategy is within the budget often enough to compare: {over}");
        return (!over.is_empty()).then_some(all_over);
    };
    let mut sentence = format!("`{}` keeps {:.2}", best.0, best.1);
    let mut add = |words: &str, other: Option<&(&str, f64)>| {
        if let Some((name, mean)) = other {
            let certain = certainty(evaluation, budget, kept, [best.0, name]);
            let _ = write!(sentence, "; {words} `{name}` {mean:.2}, {certain}");
        }
    };
    let of_strategies = |(name, _): &&(&str, f64)| *name != best.0 && !is_baseline(name);
    add("next is", strategies.iter().find(of_strategies));
    add(
        "of the baselines",
        strategies.iter().find(|(name, _)| is_baseline(name)),
    );
    if !over.is_empty() {
        let _ = write!(sentence, "; over the budget too often to compare: {over}");
    }
    Some(sentence)
}

/// Returns whether `best` keeps certainly more than `other` at the same cuts of the same conversations.
fn certainty(
    evaluation: &Evaluation,
    budget: u32,
    kept: Kept,
    [best, other]: [&str; 2],
) -> &'static str {
    let at_same_cuts = |result: &ConversationResult| -> Vec<f64> {
        let rows_of = |name: &str| {
            let rows = result.rows.iter();
            let own = rows.filter(|row| row.strategy == name && row.budget == budget);
            own.collect::<Vec<&Row>>()
        };
        let others = rows_of(other);
        let pairs = rows_of(best).into_iter().filter_map(|row| {
            let same = others.iter().find(|other| other.cut == row.cut)?;
            Some(kept(row)? - kept(same)?)
        });
        pairs.collect()
    };
    match evaluation.mean_of(&evaluation.sets(), &at_same_cuts) {
        Some(difference) if difference.conversations < LEAST => {
            "too few conversations to be certain"
        }
        Some(difference) if difference.low > 0.0 => "certainly less",
        Some(difference) if difference.high < 0.0 => "certainly more",
        _ => "which may be chance",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Measurement;

    #[test]
    fn what_must_be_known_counts_where_it_is_stated() {
        let result = |number: u32| {
            let with = |strategy, kept, needs| {
                let mut row = row(strategy, kept, false);
                row.measured.needs = Some(needs);
                row
            };
            ConversationResult {
                set: "own".to_owned(),
                id: number.to_string(),
                content_hash: "sha256:0".to_owned(),
                skipped: None,
                mislabelled: None,
                rows: vec![with("mask", 0.9, 0.4), with("tiered", 0.5, 0.8)],
                constraints: Vec::new(),
            }
        };
        let evaluation = Evaluation {
            results: (0..12).map(result).collect(),
        };
        let text = markdown(&evaluation, |_| "10 %".to_owned());
        let said = "`tiered` keeps 0.80; of the baselines `mask` 0.40, certainly less\n";
        assert!(
            text.contains("By *needs*") && text.ends_with(said),
            "{text}"
        );
    }

    fn row(strategy: &str, kept: f64, is_over: bool) -> Row {
        Row {
            cut: 3,
            budget: 100,
            room: 200,
            floor: 20,
            strategy: strategy.to_owned(),
            measured: Measurement {
                in_context: Some(kept),
                is_over,
                ..Measurement::default()
            },
        }
    }

    #[test]
    fn the_best_within_the_budget_is_named_and_whether_that_is_certain() {
        let result = |number: u32| ConversationResult {
            set: "own".to_owned(),
            id: number.to_string(),
            content_hash: "sha256:0".to_owned(),
            skipped: None,
            mislabelled: None,
            rows: vec![
                row("keep-last", 0.2, false),
                row("window", [0.9, 0.3][number as usize % 2], false),
                row("tiered", 0.65, false),
                row("greedy", 1.0, true),
            ],
            constraints: Vec::new(),
        };
        let evaluation = Evaluation {
            results: (0..20).map(result).collect(),
        };
        let text = markdown(&evaluation, |_| "10 %".to_owned());
        let said = "- 10 %: `tiered` keeps 0.65; next is `window` 0.60, which may be chance; \
                    of the baselines `keep-last` 0.20, certainly less; \
                    over the budget too often to compare: `greedy` (20 of 20 cuts)\n";
        assert!(text.ends_with(said), "{text}");
    }
}
