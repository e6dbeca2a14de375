use std::fmt::Write;

use super::behind::Native;
use super::content::text;
use super::{Recording, count, violation};
use crate::{
    Change, Conversation, Edit, Failure, Filter, Introspection, Message, Metric, Outcome, Part,
    Piece, Plan, Report, Run, Situation, Source, Span, Strategy, Unit, Value, config, filter,
    guest,
};

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct TestRun {
    /// The report of the strategy.
    pub report: Report,
    units: Vec<Unit>,
    messages: Vec<Vec<Message>>,
    situation: Situation,
}

/// Runs a strategy twice, as a host would, and checks its plan by the rules of the contract. `config` is the
/// JSON text of its config, empty for the default.
///
/// # Errors
/// Returns the failure that the strategy declared.
///
/// # Panics
/// Panics if the plan is invalid or does not make the conversation smaller, if the two runs differ, or if a
/// reason code or metric is not declared.
#[track_caller]
pub fn run<S: Strategy>(
    recording: &Recording,
    situation: &Situation,
    config: &str,
) -> Result<TestRun, Failure> {
    let declared = guest::introspect::<S>(Some(config))?;
    let config = config::parse::<S>(config)?;
    checked(recording, situation, &declared, || {
        S::compact(&Conversation::new(recording), situation, &config)
    })
}

/// Runs a filter before a strategy, like [`run`]. `config` is that of the composed strategy.
///
/// # Errors
/// Returns the failure that one of them declared.
///
/// # Panics
/// Panics for the same reasons.
#[track_caller]
pub fn run_filter<T: Filter, S: Strategy>(
    recording: &Recording,
    situation: &Situation,
    config: &str,
) -> Result<TestRun, Failure> {
    let behind = Native::<S>::new(recording);
    let declared = filter::introspect::<T>(&behind, Some(config))?;
    checked(recording, situation, &declared, || {
        filter::compact::<T>(&behind, &Conversation::new(recording), situation, config)
    })
}

/// Asks twice, and checks the answer.
#[track_caller]
fn checked(
    recording: &Recording,
    situation: &Situation,
    declared: &Introspection,
    ask: impl Fn() -> Result<Report, Failure>,
) -> Result<TestRun, Failure> {
    recording.rewind();
    let report = ask()?;
    recording.rewind();
    let again = ask()?;
    assert_eq!(
        report, again,
        "two runs with the same input returned different reports"
    );
    for Metric { name, .. } in &report.metrics {
        assert!(
            declared.metric_names.contains(name),
            "metric `{name}` is not declared"
        );
    }
    let units = recording.units();
    let messages = |unit| recording.messages(unit).to_vec();
    let tested = TestRun {
        report,
        messages: (0..units.len()).map(messages).collect(),
        units,
        situation: situation.clone(),
    };
    if let Some(plan) = tested.plan() {
        if let Some(violation) = violation(recording, situation, plan) {
            panic!("invalid plan: {violation}\n{}", tested.render());
        }
        for reason in &plan.reasons {
            let code = reason.code.as_str();
            assert!(
                declared.reason_codes.iter().any(|own| own == code),
                "reason code `{code}` is not declared"
            );
        }
        let (before, after) = (situation.tokens_with(&tested.units), tested.tokens());
        assert!(
            after < before,
            "no progress: {before} tokens before, {after} after"
        );
    }
    Ok(tested)
}

impl TestRun {
    /// Returns the plan, `None` if the strategy returned `unchanged`.
    pub fn plan(&self) -> Option<&Plan> {
        match &self.report.outcome {
            Outcome::Compacted(plan) => Some(plan),
            Outcome::Unchanged(_) => None,
        }
    }

    /// Returns the reason for `unchanged`, `None` if there is a plan.
    pub fn unchanged(&self) -> Option<&str> {
        match &self.report.outcome {
            Outcome::Compacted(_) => None,
            Outcome::Unchanged(reason) => Some(reason),
        }
    }

    /// Returns the indices of the units that are kept or rewritten.
    pub fn kept(&self) -> Vec<usize> {
        let Some(plan) = self.plan() else {
            return (0..self.units.len()).collect();
        };
        let mut kept = Vec::new();
        for piece in &plan.pieces {
            match piece {
                Piece::Keep(span) => kept.extend(range(*span)),
                Piece::Rewrite(rewrite) => kept.push(rewrite.unit as usize),
                Piece::Insert(_) => {}
            }
        }
        kept
    }

    /// Returns the tokens of the request after the plan, with the overhead and the marks.
    pub fn tokens(&self) -> u64 {
        let mut tokens = self
            .situation
            .tokens_with(self.kept().iter().filter_map(|unit| self.units.get(*unit)));
        let mark = u64::from(self.situation.insertion_overhead);
        for piece in self.plan().map_or(&[][..], |plan| &plan.pieces) {
            match piece {
                Piece::Keep(_) => {}
                Piece::Insert(insertion) => tokens += u64::from(count(&insertion.text)) + mark,
                Piece::Rewrite(rewrite) => {
                    for edit in &rewrite.edits {
                        let before = self.part(rewrite.unit, edit).map(|part| part.tokens);
                        let before = u64::from(before.unwrap_or(0));
                        tokens -= before;
                        tokens += match &edit.change {
                            Change::Text(text) => u64::from(count(text)) + mark,
                            // The host leaves a part as it is if an excerpt saves nothing.
                            Change::Excerpt(_) => {
                                let kept = self.excerpt(rewrite.unit, edit);
                                before.min(u64::from(count(&kept)) + mark)
                            }
                            Change::Remove => 0,
                        };
                    }
                }
            }
        }
        tokens
    }

    /// Returns the part that an edit changes.
    fn part(&self, unit: u32, edit: &Edit) -> Option<&Part> {
        let messages = self.messages.get(unit as usize)?;
        let message = messages.get(edit.message as usize)?;
        message.parts.get(edit.part as usize)
    }

    /// Returns the text that an excerpt keeps, with a line for each gap. Empty if the edit is not an excerpt.
    fn excerpt(&self, unit: u32, edit: &Edit) -> String {
        let text = self.part(unit, edit).and_then(text);
        let (Some(text), Change::Excerpt(runs)) = (text, &edit.change) else {
            return String::new();
        };
        let mut kept = String::new();
        let mut next = 0;
        let end = text.len() as u32;
        for run in runs.iter().copied().chain([Run { start: end, end }]) {
            if run.start > next {
                let _ = writeln!(kept, "[… {} bytes left out …]", run.start - next);
            }
            kept.push_str(
                text.get(run.start as usize..run.end as usize)
                    .unwrap_or_default(),
            );
            next = run.end;
        }
        kept
    }

    /// Returns whether the result fits the budget, or the floor if the budget is below it. Unseen outputs
    /// count with the fewest tokens that a host can shorten them to.
    pub fn fits(&self) -> bool {
        let kept = self.kept();
        let units = kept.iter().filter_map(|unit| self.units.get(*unit));
        let shortened: u32 = units
            .map(|unit| unit.tokens.saturating_sub(unit.shortest))
            .sum();
        let tokens = self.tokens().saturating_sub(u64::from(shortened));
        tokens <= u64::from(self.situation.budget.max(self.situation.floor))
    }

    /// Returns the value of a metric that is a count, `None` if the report has none of this name.
    pub fn count(&self, metric: &str) -> Option<u32> {
        let found = self
            .report
            .metrics
            .iter()
            .find(|found| found.name == metric);
        match found?.value {
            Value::Count(count) => Some(count),
            _ => None,
        }
    }

    /// Returns the plan as text, to compare in a test: one line for each unit, insertion and edit. `drop`
    /// marks a removed unit.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let Some(plan) = self.plan() else {
            let _ = writeln!(text, "unchanged: {}", self.unchanged().unwrap_or_default());
            return text;
        };
        let mut next = 0;
        for piece in &plan.pieces {
            let (units, word) = match piece {
                Piece::Keep(span) => (range(*span), "keep"),
                Piece::Rewrite(rewrite) => {
                    (rewrite.unit as usize..rewrite.unit as usize + 1, "rewrite")
                }
                Piece::Insert(insertion) => {
                    let _ = writeln!(text, "insert {:?}", insertion.text);
                    continue;
                }
            };
            for unit in next..units.start {
                self.render_unit(&mut text, "drop", unit);
            }
            for unit in units.clone() {
                self.render_unit(&mut text, word, unit);
            }
            next = units.end;
            if let Piece::Rewrite(rewrite) = piece {
                for edit in &rewrite.edits {
                    let place = format!("{}.{}", edit.message, edit.part);
                    let _ = match &edit.change {
                        Change::Text(new) => writeln!(text, "  {place} {new}"),
                        Change::Excerpt(_) => {
                            writeln!(text, "  {place} {}", self.excerpt(rewrite.unit, edit))
                        }
                        Change::Remove => writeln!(text, "  {place} removed"),
                    };
                }
            }
        }
        for unit in next..self.units.len() {
            self.render_unit(&mut text, "drop", unit);
        }
        text
    }

    fn render_unit(&self, text: &mut String, word: &str, index: usize) {
        let Some(unit) = self.units.get(index) else {
            return;
        };
        let mark = if unit.is_protected() {
            " protected"
        } else {
            ""
        };
        let kind = format!("{:?}", unit.kind).to_lowercase();
        let kind = kind.rsplit("::").next().unwrap_or_default();
        let _ = writeln!(text, "{word} {index} {kind}{mark}");
    }
}

fn range(span: Span) -> std::ops::Range<usize> {
    span.first as usize..(span.first + span.count) as usize
}
