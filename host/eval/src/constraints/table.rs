//! Writes how many constraints are there, as Markdown and as JSON.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{ConstraintKind, ConstraintPlace, ConstraintRow};
use crate::run::Evaluation;
use crate::statistics::Interval;
use crate::table::{groups, heads, plain};

/// A column: its name in tables, its name in JSON, and which constraints it counts.
type Column = (&'static str, &'static str, fn(&ConstraintRow) -> bool);

const COLUMNS: [Column; 12] = [
    ("constraints", "constraints", |_| true),
    ("within the share", "within-share", |row| row.within_share),
    ("first", "first", |row| row.place == ConstraintPlace::First),
    ("middle", "middle", |row| {
        row.place == ConstraintPlace::Middle
    }),
    ("late", "late", |row| row.place == ConstraintPlace::Late),
    ("action", "action", |row| row.kind == ConstraintKind::Action),
    ("information", "information", |row| {
        row.kind == ConstraintKind::Information
    }),
    ("process", "process", |row| {
        row.kind == ConstraintKind::Process
    }),
    ("preference", "preference", |row| {
        row.kind == ConstraintKind::Preference
    }),
    ("output", "output", |row| row.kind == ConstraintKind::Output),
    ("with *never*", "absolute", |row| row.absolute),
    ("without", "plain", |row| !row.absolute),
];

/// Writes a table with a row for each strategy and budget. Empty if no constraints were measured.
pub(crate) fn markdown(evaluation: &Evaluation) -> String {
    let mut text = String::new();
    if evaluation.constraints().next().is_none() {
        return text;
    }
    let sets = evaluation.sets();
    let _ = writeln!(
        text,
        "### Constraints\n\nThe share of constraints that results contain word for word; all sets have equal weight:\n"
    );
    let mut names = vec!["budget"];
    names.extend(COLUMNS.iter().map(|(name, _, _)| *name));
    names.push("cases, within the share");
    text += &heads(" ", &names);
    for budget in evaluation.budgets() {
        for strategy in evaluation.strategies() {
            let _ = write!(text, "| {strategy} | {} % |", f64::from(budget) / 10.0);
            for column in &COLUMNS {
                let mean = mean(evaluation, &sets, strategy, budget, column);
                let _ = write!(text, " {} |", plain(mean));
            }
            let is_own = |row: &&ConstraintRow| row.strategy == strategy && row.budget == budget;
            let own: Vec<&ConstraintRow> = evaluation.constraints().filter(is_own).collect();
            let within = own.iter().filter(|row| row.within_share).count();
            let _ = writeln!(text, " {}, {within} |", own.len());
        }
    }
    text.push('\n');
    text
}

/// Writes all means, by budget, strategy and set. `None` if no constraints were measured.
pub(crate) fn json(evaluation: &Evaluation) -> Option<Value> {
    evaluation.constraints().next()?;
    let sets = evaluation.sets();
    let mut rows = Vec::new();
    for budget in evaluation.budgets() {
        for strategy in evaluation.strategies() {
            for (name, sets) in groups(&sets) {
                let mut figures = Map::new();
                for column in &COLUMNS {
                    if let Some(mean) = mean(evaluation, &sets, strategy, budget, column) {
                        figures.insert(column.1.to_owned(), json!(mean));
                    }
                }
                rows.push(json!({
                    "budget": f64::from(budget) / 1_000.0,
                    "strategy": strategy,
                    "set": name,
                    "figures": figures,
                }));
            }
        }
    }
    Some(Value::from(rows))
}

/// Returns the share of these constraints that a strategy kept under a budget; `None` if there are none.
fn mean(
    evaluation: &Evaluation,
    sets: &[&str],
    strategy: &str,
    budget: u32,
    (_, _, counts): &Column,
) -> Option<Interval> {
    evaluation.mean_of(sets, &|result| {
        let own = result
            .constraints
            .iter()
            .filter(|row| row.strategy == strategy && row.budget == budget && counts(row));
        own.map(|row| f64::from(u8::from(row.kept))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Measurement;
    use crate::run::{ConversationResult, Row};

    fn result(id: &str, rows: Vec<ConstraintRow>) -> ConversationResult {
        ConversationResult {
            set: "harbour".to_owned(),
            id: id.to_owned(),
            content_hash: "sha256:0".to_owned(),
            skipped: None,
            mislabelled: None,
            rows: vec![Row {
                cut: 4,
                budget: 100,
                room: 90,
                floor: 10,
                strategy: "tiered".to_owned(),
                measured: Measurement::default(),
            }],
            constraints: rows,
        }
    }

    fn row(
        place: ConstraintPlace,
        kind: ConstraintKind,
        kept: bool,
        within: bool,
    ) -> ConstraintRow {
        ConstraintRow {
            cut: 4,
            budget: 100,
            strategy: "tiered".to_owned(),
            place,
            kind,
            absolute: kind == ConstraintKind::Output,
            language: "es".to_owned(),
            kept,
            within_share: within,
        }
    }

    #[test]
    fn shares_are_means_of_conversations_by_place_kind_and_share() {
        use ConstraintKind::{Output, Process};
        use ConstraintPlace::{First, Late, Middle};
        let evaluation = Evaluation {
            results: vec![
                result(
                    "1",
                    vec![
                        row(First, Process, true, true),
                        row(Middle, Process, false, false),
                        row(Late, Process, true, false),
                        row(Late, Process, false, false),
                    ],
                ),
                result("2", vec![row(First, Output, true, true)]),
            ],
        };
        let text = markdown(&evaluation);
        // (1/2 + 1) / 2 of all; the first has no constraint of the second's kind.
        let expected = "\n| tiered | 10 % | 0.75 | 1.00 | 1.00 | 0.00 | 0.50 | – | – | 0.50 | – | 1.00 | 1.00 | 0.50 | 5, 2 |\n";
        assert!(text.contains(expected), "{text}");
        let json = json(&evaluation).expect("measured");
        assert_eq!(json[0]["set"], "all");
        assert_eq!(json[0]["figures"]["constraints"]["mean"], 0.75);
        assert_eq!(json[0]["figures"]["within-share"]["conversations"], 2);
        assert_eq!(json[0]["figures"]["action"], Value::Null);
    }

    #[test]
    fn nothing_is_written_if_no_constraints_were_measured() {
        let evaluation = Evaluation {
            results: vec![result("1", Vec::new())],
        };
        assert_eq!(markdown(&evaluation), "");
        assert_eq!(json(&evaluation), None);
    }
}
