//! Measures how much of what is needed a result contains.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::bail;
use baler_host::{
    Budget, Compaction, Host, Pins, Request, Strategy,
    fault::{Fault, RemoteProblem},
    receipt::{AttemptResult, Outcome},
};
use serde::{Deserialize, Serialize};

use crate::cases::{Case, Needed};
use crate::context::Shown;
use crate::names::{self, NameKind};
use crate::{needs, paths, recent, search, state, unseen};

/// The figures of a strategy at one cut under one budget. Shares are from 0 to 1; `None` if there was nothing
/// to look for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measurement {
    /// The share of names that were used later.
    pub recall: Option<f64>,
    /// Recall of names that were last mentioned long before the cut.
    pub far: Option<f64>,
    /// Recall of names that were used in the arguments of calls.
    pub arguments: Option<f64>,
    /// Recall by kind of name, in the order of [`NameKind::ALL`].
    pub by_kind: [Option<f64>; 4],
    /// The share of names that were used later and are in a kept part, or in a line that says something about
    /// them and is not a mere list.
    #[serde(default)]
    pub in_context: Option<f64>,
    /// Recall of paths by their distinguishing ends, which no other path of the history has.
    #[serde(default)]
    pub paths: Option<f64>,
    /// Of files and ids that were used later and had been arguments of calls: the share of which the result
    /// says what was done last.
    #[serde(default)]
    pub state: Option<f64>,
    /// The share of the user's sentences with a rule that are kept word for word, whatever the white space.
    pub instructions: Option<f64>,
    /// Whether the last error is kept word for word: 0 or 1. Its form in JSON counts as well, since an excerpt of
    /// an output that is wrapped in JSON shows that form.
    pub last_error: Option<f64>,
    /// The share of values that the task still needs.
    pub wanted: Option<f64>,
    /// The share of messages with answers to questions that are kept word for word, or with four fifths of
    /// their names.
    pub evidence: Option<f64>,
    /// The share of questions of which all these messages are kept.
    pub evidence_strict: Option<f64>,
    /// The share of questions of which the answer is kept.
    pub answers: Option<f64>,
    /// The share of what must be known that the result says, where a set states that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<f64>,
    /// The same by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub needs_by_kind: BTreeMap<String, f64>,
    /// The share of unseen outputs that are kept with their calls, whole or as the host shortened them.
    pub unseen_kept: Option<f64>,
    /// Whether none of the newest steps is kept, although one older message that could be shortened is there as a
    /// whole with more than half of the budget. `None` for baselines and without steps.
    #[serde(default)]
    pub recent_gone: Option<bool>,
    /// Characters of the result, as a share of the history's.
    pub size: f64,
    /// The share of the budget, besides the instructions, that the result uses. `None` for baselines, and where
    /// nothing was compacted or the strategy had no choice.
    #[serde(default)]
    pub used: Option<f64>,
    /// Whether the result is larger than the budget and the floor.
    pub is_over: bool,
    /// Whether the result breaks a rule of its format; warnings do not count.
    pub is_invalid: bool,
    /// Whether a fallback made the result.
    pub fell_back: bool,
    /// If a fallback made the result: how the strategy's own attempt ended, as a code of receipts.
    pub ended: Option<String>,
    /// Whether the floor is above the budget, so that the strategy had no choice.
    pub is_floor: bool,
    /// The time of the compaction in milliseconds; `None` for baselines.
    pub time_ms: Option<f64>,
    /// The fuel that a component used; `None` for others.
    pub fuel: Option<u64>,
}

impl Case {
    /// Measures what a result shows.
    pub(crate) fn score(&self, shown: &Shown) -> Measurement {
        let text = shown.text.as_str();
        let found = names::all(text);
        let in_context = names::all(&shown.in_context);
        let share = |found: &dyn Fn(&Needed) -> bool, of: &dyn Fn(&Needed) -> bool| {
            let all = self.needed.iter().filter(|needed| of(needed));
            let all: Vec<bool> = all.map(found).collect();
            share_of(&all)
        };
        let is_found = |needed: &Needed| found.contains(&needed.name);
        let of_texts = |wanted: &[String], text: &str| {
            share_of(&search::contained_in(wanted, std::iter::once(text)))
        };
        let kept = self.evidence.in_text(text);
        let (needs, needs_by_kind) = needs::said(&self.needs, &shown.together).unzip();
        Measurement {
            recall: share(&is_found, &|_| true),
            in_context: share(&|needed| in_context.contains(&needed.name), &|_| true),
            paths: share(&|needed| paths::is_in(text, &needed.end), &|needed| {
                needed.name.0 == NameKind::Path
            }),
            state: state::kept(&self.last_actions, text),
            far: share(&is_found, &|needed| needed.is_far),
            arguments: share(&is_found, &|needed| needed.in_arguments),
            by_kind: NameKind::ALL.map(|kind| share(&is_found, &|needed| needed.name.0 == kind)),
            instructions: of_texts(&self.rules, &crate::words::on_one_line(text)),
            last_error: self.error.as_deref().map(|error| {
                let forms = [error.to_owned(), escaped(error)];
                of_texts(&forms, text).map_or(0.0, f64::ceil)
            }),
            wanted: of_texts(&self.wanted, text),
            evidence: kept.map(|kept| kept.messages),
            evidence_strict: kept.map(|kept| kept.strict),
            answers: kept.map(|kept| kept.answers),
            needs,
            needs_by_kind: needs_by_kind.unwrap_or_default(),
            size: shown.size as f64 / self.size as f64,
            ..Measurement::default()
        }
    }

    /// Measures what a strategy keeps of the case in `room` characters besides the instructions.
    ///
    /// # Errors
    /// The host or the machine failed during the attempt of a strategy.
    pub(crate) async fn score_strategy(
        &self,
        host: &Host,
        strategy: &Strategy,
        room: usize,
        pins: &Pins,
    ) -> anyhow::Result<Measurement> {
        let conversation = &self.conversation;
        let start = Instant::now();
        let compaction = self.compacted(host, strategy, room, pins).await?;
        let time = start.elapsed();
        let receipt = compaction.receipt();
        let attempt = receipt.attempts.first();
        let result = compaction.conversation();
        let units = crate::cases::read(result);
        let shown = Shown::of(&self.units, &units);
        let tokens = receipt.tokens;
        let is_floor = tokens.below_floor;
        let unchanged = receipt.outcome != Outcome::Compacted;
        Ok(Measurement {
            is_over: tokens.after > tokens.budget.max(tokens.floor) && !(unchanged && is_floor),
            used: used(tokens.before, tokens.after, tokens.budget, tokens.overhead)
                .filter(|_| !unchanged && !is_floor),
            is_invalid: result.is_broken(),
            unseen_kept: unseen::kept(&self.units, &units),
            recent_gone: recent::is_gone(conversation.units(), &self.units, &units, room),
            fell_back: receipt.fell_back && !is_floor,
            ended: attempt
                .filter(|_| receipt.fell_back)
                .map(|attempt| attempt.result.code().to_owned()),
            is_floor,
            time_ms: Some(time.as_secs_f64() * 1_000.0),
            fuel: attempt.and_then(|attempt| attempt.usage.fuel),
            ..self.score(&shown)
        })
    }

    /// Compacts the case with a strategy to `room` characters besides the instructions.
    ///
    /// # Errors
    /// The host or the machine failed during the attempt of a strategy.
    pub(crate) async fn compacted(
        &self,
        host: &Host,
        strategy: &Strategy,
        room: usize,
        pins: &Pins,
    ) -> anyhow::Result<Compaction> {
        let conversation = &self.conversation;
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let request = Request::default()
            .with_budget(Budget::Tokens(conversation.overhead().saturating_add(room)))
            .with_pins(pins.clone());
        let chain = std::slice::from_ref(strategy);
        let compaction = host.compact(conversation, chain, &request).await?;
        let mut results = compaction.receipt().attempts.iter();
        if let Some(why) = results.find_map(|attempt| failed_in_host(&attempt.result)) {
            bail!("`{}` cannot be measured: {why}", strategy.name());
        }
        Ok(compaction)
    }
}

/// Returns the share of the budget that a result of `after` tokens uses besides the overhead; `None` if the `before`
/// tokens of the history would not fill the budget.
fn used(before: u32, after: u32, budget: u32, overhead: u32) -> Option<f64> {
    let besides = |tokens: u32| f64::from(tokens.saturating_sub(overhead));
    let room = besides(budget);
    (before > budget && room > 0.0).then(|| besides(after) / room)
}

/// Returns the share of these that are true; `None` if there are none.
fn share_of(all: &[bool]) -> Option<f64> {
    let number = all.iter().filter(|one| **one).count();
    (!all.is_empty()).then(|| number as f64 / all.len() as f64)
}

/// Returns a text as it is within a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Describes a failure of the host or the machine in an attempt, which says nothing about the strategy.
/// `None` if there was no such failure.
fn failed_in_host(result: &AttemptResult) -> Option<String> {
    match result {
        AttemptResult::Host { error } => Some(error.clone()),
        AttemptResult::Fault {
            fault:
                fault @ Fault::Remote {
                    problem: RemoteProblem::NoRoom,
                },
        } => Some(format!("{fault}; {}", fault.remedy())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_in_host_ignores_failures_of_strategies() {
        let of_host = AttemptResult::Host {
            error: "the sandbox failed: no memory".to_owned(),
        };
        assert_eq!(
            failed_in_host(&of_host).as_deref(),
            Some("the sandbox failed: no memory")
        );
        let remote = |problem| AttemptResult::Fault {
            fault: Fault::Remote { problem },
        };
        let no_room = failed_in_host(&remote(RemoteProblem::NoRoom)).expect("of the machine");
        assert!(no_room.contains("no file descriptor"), "{no_room}");
        assert!(no_room.contains("ulimit -n"), "{no_room}");
        let late = AttemptResult::Fault {
            fault: Fault::Timeout { limit_ms: 10_000 },
        };
        for own in [
            late,
            remote(RemoteProblem::Status(500)),
            AttemptResult::Accepted,
            AttemptResult::Declined,
        ] {
            assert_eq!(failed_in_host(&own), None, "{own:?}");
        }
    }

    fn case() -> Case {
        let host = Host::builder().build().expect("a host");
        let document = r#"[{"role": "user", "content": "Hello."}]"#;
        Case::of_history(host.read(document).expect("reads"))
    }

    #[test]
    fn used_is_the_share_of_the_budget_besides_the_overhead() {
        assert_eq!(used(5_000, 800, 1_000, 200), Some(0.75));
        assert_eq!(used(5_000, 200, 1_000, 200), Some(0.0));
        // The history does not fill it, or there is nothing to fill.
        assert_eq!(used(900, 800, 1_000, 200), None);
        assert_eq!(used(5_000, 200, 200, 200), None);
    }

    #[test]
    fn score_text_finds_the_last_error_as_it_is_and_within_json() {
        let case = Case {
            error: Some(r#"error: no berth "19" in \quay"#.to_owned()),
            ..case()
        };
        let kept = |text: &str| case.score(&Shown::text(text.to_owned())).last_error;
        assert_eq!(kept(r#"- error: no berth "19" in \quay"#), Some(1.0));
        assert_eq!(
            kept(r#"{"output":"error: no berth \"19\" in \\quay\n"}"#),
            Some(1.0)
        );
        assert_eq!(kept("error: no berth 19 in quay"), Some(0.0));
    }

    #[test]
    fn score_text_finds_rules_whatever_their_white_space() {
        let case = Case {
            rules: vec!["Do not use HX; only TS is yours".to_owned()],
            ..case()
        };
        let kept = |text: &str| case.score(&Shown::text(text.to_owned())).instructions;
        assert_eq!(kept("- Do not\n  use HX;\tonly TS is yours."), Some(1.0));
        assert_eq!(kept("- Do not use HX;\n- only TS is yours."), Some(0.0));
    }
}
