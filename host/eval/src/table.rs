//! Writes figures as Markdown and as JSON.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json as value};

use crate::baselines::Baseline;
use crate::constraints;
use crate::run::{Evaluation, Row, SkipReason};
use crate::statistics::{Interval, LEAST};
use crate::verdict;

/// A figure: its name in tables and JSON, and how to get it from a row.
type Figure = (&'static str, fn(&Row) -> Option<f64>);

const FIGURES: [Figure; 12] = [
    ("recall", |row| row.measured.recall),
    ("in-context", |row| row.measured.in_context),
    ("paths", |row| row.measured.paths),
    ("state", |row| row.measured.state),
    ("far", |row| row.measured.far),
    ("arguments", |row| row.measured.arguments),
    ("instructions", |row| row.measured.instructions),
    ("last-error", |row| row.measured.last_error),
    ("wanted", |row| row.measured.wanted),
    ("unseen-kept", |row| row.measured.unseen_kept),
    ("size", |row| Some(row.measured.size)),
    ("used", |row| row.measured.used),
];

/// The columns behind [`FIGURES`].
const OF_RESULTS: [&str; 6] = [
    "least used",
    "recent gone",
    "invalid",
    "over",
    "fell back",
    "ms median, 95 %",
];

/// What the columns mean, in short; `docs/fidelity.md` has the definitions.
const LEGEND: &str = "\
Shares from 0 to 1 with their 95 % intervals, or the number of conversations where that is too small for one: of what the
model used later and the history held, how much is still there.

- recall: names (paths, symbols, ids, numbers); in context: those kept with what is said of them; paths, far (not mentioned \
  for long), arguments (of calls): the same of these alone
- state: of files and ids that were worked on, those whose last change is there
- instructions: the user's rules, word for word; last error: the last error line; wanted: values that a task's solution needs
- unseen kept: outputs that the model had not seen; size: of the result, as a share of the history; used: share of the budget
- recent gone, invalid, over, fell back: numbers of results that lost the newest steps, break a rule, exceed the budget, or \
  are by a fallback
- keep-last, first+last, mask, random: baselines of the same size

";

/// The figure of sets that state what must be known.
const NEEDS: [Figure; 1] = [("needs", |row| row.measured.needs)];

/// The figures of sets with questions.
const QUESTIONS: [Figure; 3] = [
    ("evidence", |row| row.measured.evidence),
    ("evidence-strict", |row| row.measured.evidence_strict),
    ("answers", |row| row.measured.answers),
];

const KINDS: [Figure; 4] = [
    ("path", |row| row.measured.by_kind[0]),
    ("hex", |row| row.measured.by_kind[1]),
    ("identifier", |row| row.measured.by_kind[2]),
    ("number", |row| row.measured.by_kind[3]),
];

/// Lists the conversations that are left out, by why; nothing if there are none.
fn left_out(evaluation: &Evaluation) -> String {
    const SHOWN: usize = 10;
    let mut text = String::new();
    for (why, said) in [
        (SkipReason::Invalid, "break a rule of their format"),
        (SkipReason::Empty, "too little was needed later"),
        (SkipReason::Unread, "cannot be read"),
    ] {
        let of = evaluation.results.iter();
        let names: Vec<String> = of
            .filter(|result| result.skipped == Some(why))
            .map(|result| format!("`{}`", in_a_row(&format!("{}/{}", result.set, result.id))))
            .collect();
        if names.is_empty() {
            continue;
        }
        let shown = names.len().min(SHOWN);
        let more = match names.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = writeln!(
            text,
            "- left out, {said}: {} ({}{more})",
            names.len(),
            names[..shown].join(", ")
        );
    }
    text
}

/// Writes tables: for each budget one over all sets, and one by set.
#[must_use]
pub fn markdown(evaluation: &Evaluation) -> String {
    let sets = evaluation.sets();
    let mut text = String::new();
    for set in &sets {
        let (conversations, cuts) = evaluation.size_of(set);
        let set = in_a_row(set);
        let _ = writeln!(text, "- {set}: {conversations} conversations, {cuts} cuts");
    }
    text.push_str(&left_out(evaluation));
    text.push('\n');
    text.push_str(&mislabelled(evaluation));
    let figures = FIGURES.iter().map(|(name, _)| name.replace('-', " "));
    let columns: Vec<String> = figures.chain(OF_RESULTS.map(str::to_owned)).collect();
    let names: Vec<String> = sets.iter().map(|set| in_a_row(set)).collect();
    for budget in evaluation.budgets() {
        let _ = writeln!(text, "### {}\n", name_of(budget));
        text += &table(
            evaluation,
            " all sets, equal weight ",
            &columns,
            |strategy| {
                let figure =
                    |(_, figure): &Figure| evaluation.mean(&sets, strategy, budget, figure);
                let mut cells: Vec<String> =
                    FIGURES.iter().map(figure).map(with_interval).collect();
                let rows: Vec<&Row> = evaluation
                    .rows()
                    .filter(|row| row.strategy == strategy && row.budget == budget)
                    .collect();
                let count =
                    |is: fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count().to_string();
                cells.extend([
                    least_used(&rows),
                    count(|row| row.measured.recent_gone == Some(true)),
                    count(|row| row.measured.is_invalid),
                    count(|row| row.measured.is_over),
                    fell_back(&rows),
                    times(&rows),
                ]);
                cells
            },
        );
        text.push_str("Recall / far, by set:\n\n");
        text += &table(evaluation, " ", &names, |strategy| {
            let cell = |set: &&str| {
                let of = |figure: fn(&Row) -> Option<f64>| {
                    plain(evaluation.mean(&[set], strategy, budget, &figure))
                };
                let (recall, far) = (of(|row| row.measured.recall), of(|row| row.measured.far));
                format!("{recall} / {far}")
            };
            sets.iter().map(cell).collect()
        });
        text.push_str(&with_choice(evaluation, &sets, budget));
        text.push_str(&with_questions(evaluation, &sets, budget));
        text.push_str(&with_needs(evaluation, &sets, budget));
    }
    text.push_str(&constraints::markdown(evaluation));
    if evaluation.has_figures() {
        text.push_str(LEGEND);
    }
    text.push_str(&verdict::markdown(evaluation, name_of));
    text
}

/// Removes from the name of a folder or file what would end a line or a column of a table.
fn in_a_row(name: &str) -> String {
    name.replace(['\n', '\r', '|'], " ")
}

/// Lists the conversations that are left out for their questions. Empty if there are none.
fn mislabelled(evaluation: &Evaluation) -> String {
    let mut text = String::new();
    let wrong = |result: &&crate::run::ConversationResult| result.mislabelled.is_some();
    let number = evaluation.results.iter().filter(wrong).count();
    if number == 0 {
        return text;
    }
    let _ = writeln!(
        text,
        "Left out for questions that cannot be used, {number}:\n"
    );
    for result in &evaluation.results {
        if let Some(wrong) = &result.mislabelled {
            let (set, id) = (in_a_row(&result.set), in_a_row(&result.id));
            let _ = writeln!(text, "- {set}, {id}: {wrong}");
        }
    }
    text.push('\n');
    text
}

/// Writes the figures of a budget at the ends of conversations with questions. Empty if there are none.
fn with_questions(evaluation: &Evaluation, sets: &[&str], budget: u32) -> String {
    const SIZE: fn(&Row) -> Option<f64> = |row| row.measured.evidence.map(|_| row.measured.size);
    const COLUMNS: [&str; 5] = [
        "evidence",
        "evidence strict",
        "answers",
        "size",
        "conversations",
    ];
    let asked = |row: &Row| row.budget == budget && row.measured.evidence.is_some();
    if !evaluation.rows().any(asked) {
        return String::new();
    }
    let table = table(evaluation, " ", &COLUMNS, |strategy| {
        let figures = QUESTIONS.iter().map(|(_, figure)| *figure).chain([SIZE]);
        let means = figures.map(|figure| evaluation.mean(sets, strategy, budget, &figure));
        let means: Vec<Option<Interval>> = means.collect();
        let size = means.last().copied().flatten();
        let conversations = size.map_or(0, |size| size.conversations).to_string();
        let cells = means.into_iter().map(with_interval);
        cells.chain([conversations]).collect()
    });
    format!("What holds the answers, where a set asks questions at the end:\n\n{table}")
}

/// Writes what results say of what must be known, by kind. Empty if no set states that.
fn with_needs(evaluation: &Evaluation, sets: &[&str], budget: u32) -> String {
    let rows = evaluation.rows().filter(|row| row.budget == budget);
    let kinds: BTreeSet<&str> = rows
        .flat_map(|row| row.measured.needs_by_kind.keys().map(String::as_str))
        .collect();
    if kinds.is_empty() {
        return String::new();
    }
    let columns: Vec<&str> = ["needs"].into_iter().chain(kinds.iter().copied()).collect();
    let table = table(evaluation, " ", &columns, |strategy| {
        let all = evaluation.mean(sets, strategy, budget, &|row| row.measured.needs);
        let of_kind = |kind: &&str| {
            let figure = |row: &Row| row.measured.needs_by_kind.get(*kind).copied();
            plain(evaluation.mean(sets, strategy, budget, &figure))
        };
        let all = std::iter::once(with_interval(all));
        all.chain(kinds.iter().map(of_kind)).collect()
    });
    format!(
        "What must still be known, where a set states it: the share whose pieces stand together, all and by kind:\n\n{table}"
    )
}

/// Writes the figures of a budget without the cuts at which strategies had no choice. Empty if there are no
/// such cuts.
fn with_choice(evaluation: &Evaluation, sets: &[&str], budget: u32) -> String {
    const FIGURES: [Figure; 3] = [
        ("recall", |row| {
            row.measured.recall.filter(|_| row.has_choice())
        }),
        ("far", |row| row.measured.far.filter(|_| row.has_choice())),
        ("last error", |row| {
            row.measured.last_error.filter(|_| row.has_choice())
        }),
    ];
    let strategies = evaluation.strategies();
    let of_one = |row: &&Row| row.budget == budget && Some(&&*row.strategy) == strategies.first();
    let cuts = evaluation.rows().filter(of_one).count();
    let without = |row: &&Row| of_one(row) && !row.has_choice();
    let without = evaluation.rows().filter(without).count();
    if without == 0 {
        return String::new();
    }
    let columns = FIGURES.map(|(name, _)| name);
    let table = table(evaluation, " ", &columns, |strategy| {
        let figure = |(_, figure): &Figure| plain(evaluation.mean(sets, strategy, budget, figure));
        FIGURES.iter().map(figure).collect()
    });
    format!(
        "At {without} of {cuts} cuts the protected units take the whole budget. Without these:\n\n{table}"
    )
}

/// Writes a table with a row for each strategy, and an empty line behind it. `first` stands above the names.
fn table<S: Borrow<str>>(
    evaluation: &Evaluation,
    first: &str,
    columns: &[S],
    cells: impl Fn(&str) -> Vec<String>,
) -> String {
    let mut text = heads(first, columns);
    for strategy in evaluation.strategies() {
        let _ = writeln!(text, "| {strategy} | {} |", cells(strategy).join(" | "));
    }
    text.push('\n');
    text
}

/// Writes the first two lines of a table.
pub(crate) fn heads<S: Borrow<str>>(first: &str, columns: &[S]) -> String {
    let lines = "---|".repeat(columns.len());
    format!("|{first}| {} |\n|---|{lines}\n", columns.join(" | "))
}

/// Returns the groups of sets that have a row in JSON, by name: all sets, and each set by itself.
pub(crate) fn groups<'s>(sets: &[&'s str]) -> impl Iterator<Item = (&'s str, Vec<&'s str>)> {
    let each = sets.iter().map(|set| (*set, vec![*set]));
    std::iter::once(("all", sets.to_vec())).chain(each)
}

/// Writes all figures as JSON: by budget, strategy and set with intervals, and all rows.
#[must_use]
pub fn json(evaluation: &Evaluation) -> Value {
    let sets = evaluation.sets();
    let mut rows = Vec::new();
    for budget in evaluation.budgets() {
        for strategy in evaluation.strategies() {
            for (name, sets) in groups(&sets) {
                let figures: serde_json::Map<String, Value> = FIGURES
                    .iter()
                    .chain(&NEEDS)
                    .chain(&QUESTIONS)
                    .chain(&KINDS)
                    .filter_map(|(name, figure)| {
                        let mean = evaluation.mean(&sets, strategy, budget, figure)?;
                        Some(((*name).to_owned(), serde_json::to_value(mean).ok()?))
                    })
                    .collect();
                let (cuts, over) = evaluation.over(&sets, strategy, budget);
                rows.push(value!({
                    "budget": f64::from(budget) / 1_000.0,
                    "strategy": strategy,
                    "set": name,
                    "cuts": cuts,
                    "over": over,
                    "figures": figures,
                }));
            }
        }
    }
    let baselines: Vec<&str> = Baseline::names().collect();
    let mut all = value!({
        "summary": rows,
        "baselines": baselines,
        "conversations": evaluation.results,
    });
    if let Some(constraints) = constraints::json(evaluation) {
        all["constraints"] = constraints;
    }
    all
}

fn name_of(budget: u32) -> String {
    match budget {
        0 => "At recorded compactions, at the size of the recorded summary".to_owned(),
        _ => format!("{} % of the history", f64::from(budget) / 10.0),
    }
}

fn with_interval(figure: Option<Interval>) -> String {
    figure.map_or_else(
        || "–".to_owned(),
        |of| match of.conversations < LEAST {
            true => format!("{:.2} (of {})", of.mean, of.conversations),
            false => format!("{:.2} ({:.2}–{:.2})", of.mean, of.low, of.high),
        },
    )
}

/// Writes a mean without its interval.
pub(crate) fn plain(figure: Option<Interval>) -> String {
    figure.map_or_else(|| "–".to_owned(), |of| format!("{:.2}", of.mean))
}

/// Returns the least share of the budget that a result uses.
fn least_used(rows: &[&Row]) -> String {
    let used = rows.iter().filter_map(|row| row.measured.used);
    used.min_by(f64::total_cmp)
        .map_or_else(|| "–".to_owned(), |least| format!("{least:.2}"))
}

/// Counts how often a fallback made the result, by how the strategy's own attempt ended.
fn fell_back(rows: &[&Row]) -> String {
    let mut ends: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for row in rows.iter().filter(|row| row.measured.fell_back) {
        *ends
            .entry(row.measured.ended.as_deref().unwrap_or("unknown"))
            .or_default() += 1;
    }
    if ends.is_empty() {
        return "0".to_owned();
    }
    let ends: Vec<String> = ends
        .iter()
        .map(|(end, times)| format!("{times} {end}"))
        .collect();
    ends.join(", ")
}

fn times(rows: &[&Row]) -> String {
    let mut times: Vec<f64> = rows.iter().filter_map(|row| row.measured.time_ms).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied();
    match (at(0.5), at(0.95)) {
        (Some(median), Some(high)) => format!("{median:.1}, {high:.1}"),
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Measurement;

    fn row(cut: usize, floor: usize, recall: f64) -> Row {
        Row {
            cut,
            budget: 100,
            room: 200,
            floor,
            strategy: "tiered".to_owned(),
            measured: Measurement {
                recall: Some(recall),
                ..Measurement::default()
            },
        }
    }

    #[test]
    fn least_used_is_of_the_result_that_leaves_most_of_its_budget_unused() {
        let with = |used| {
            let mut row = row(3, 20, 1.0);
            row.measured.used = used;
            row
        };
        let rows = [with(Some(0.9)), with(None), with(Some(0.25))];
        assert_eq!(least_used(&rows.each_ref()), "0.25");
        assert_eq!(least_used(&[&with(None)]), "–");
    }

    #[test]
    fn markdown_reports_cuts_without_a_choice_separately() {
        let one = |rows| Evaluation {
            results: vec![crate::run::ConversationResult {
                set: "own".to_owned(),
                id: "1".to_owned(),
                content_hash: "sha256:0".to_owned(),
                skipped: None,
                mislabelled: None,
                rows,
                constraints: Vec::new(),
            }],
        };
        let text = markdown(&one(vec![row(3, 200, 0.0), row(5, 20, 1.0)]));
        assert!(text.contains("| tiered | 0.50 ("), "{text}");
        let expected = "At 1 of 2 cuts the protected units take the whole budget. Without these:\n";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("\n| tiered | 1.00 | – | – |\n"), "{text}");
        let text = markdown(&one(vec![row(5, 20, 1.0)]));
        assert!(!text.contains("take the whole budget"), "{text}");
    }
}
