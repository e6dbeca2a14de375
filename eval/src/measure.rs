//! How much of what was needed is still there.

use std::collections::HashSet;
use std::time::Instant;

use anyhow::bail;
use baler_host::{
    AttemptResult, Budget, Fault, Host, Outcome, Pins, RemoteProblem, Request, Strategy,
};
use serde::{Deserialize, Serialize};

use crate::cases::Case;
use crate::entities::{self, Kind, Name};
use crate::reading::{Said, Who};
use crate::{search, unseen};

/// What was measured of one cut under one budget. Shares are from 0 to 1; none where there was
/// nothing to look for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measured {
    /// Names that were used later.
    pub recall: Option<f64>,
    /// Of these, those that were last mentioned long before the cut.
    pub far: Option<f64>,
    /// Of these, those that were used in the arguments of calls.
    pub arguments: Option<f64>,
    /// Recall by kind of name, in the order of [`Kind::ALL`].
    pub by_kind: [Option<f64>; 4],
    /// The user's sentences with a rule in them, word for word, whatever white space is between words.
    pub instructions: Option<f64>,
    /// The last error, word for word.
    pub last_error: Option<f64>,
    /// Values that the task still asked for.
    pub wanted: Option<f64>,
    /// Messages that hold the answers to questions: word for word, or with four fifths of their
    /// names.
    pub evidence: Option<f64>,
    /// Questions of which all these messages are there.
    pub evidence_strict: Option<f64>,
    /// Questions of which the answer is there.
    pub answers: Option<f64>,
    /// Outputs that the model had not seen before the cut: those that are there with their calls,
    /// whole or as the host shortened them.
    pub unseen_kept: Option<f64>,
    /// Characters of what is left, beside those of the history.
    pub size: f64,
    /// It is larger than it may be, though it need not.
    pub is_over: bool,
    /// It breaks a rule of its format; a warning is none.
    pub is_invalid: bool,
    /// Another strategy than the one that is measured did it.
    pub fell_back: bool,
    /// How the strategy's own turn ended then: a code of receipts.
    pub ended: Option<String>,
    /// What must stay is larger than the budget; so nothing was decided.
    pub is_floor: bool,
    /// Milliseconds.
    pub time_ms: Option<f64>,
    /// Fuel, of a guest.
    pub fuel: Option<u64>,
}

/// Looks for names in texts.
#[derive(Debug)]
pub(crate) struct Sought<'a> {
    case: &'a Case,
    names: HashSet<&'a Name>,
}

impl<'a> Sought<'a> {
    pub(crate) fn of(case: &'a Case) -> Self {
        let names = case.needed.iter().map(|needed| &needed.name).collect();
        Self { case, names }
    }

    /// What there is in a text.
    pub(crate) fn in_text(&self, text: &str) -> Measured {
        let mut found: HashSet<Name> = HashSet::new();
        if !self.names.is_empty() {
            entities::each(text, |kind, name| {
                let name = (kind, name.to_owned());
                if self.names.contains(&name) {
                    found.insert(name);
                }
            });
        }
        let share = |of: &dyn Fn(&crate::cases::Needed) -> bool| {
            let all = self.case.needed.iter().filter(|needed| of(needed));
            let (mut kept, mut number) = (0, 0);
            for needed in all {
                number += 1;
                kept += usize::from(found.contains(&needed.name));
            }
            (number > 0).then(|| kept as f64 / f64::from(number))
        };
        let of_texts = |wanted: &[String], text: &str| {
            let kept = search::stand_in(wanted, std::iter::once(text));
            let kept = kept.into_iter().filter(|is_kept| *is_kept).count();
            (!wanted.is_empty()).then(|| kept as f64 / wanted.len() as f64)
        };
        let kept = self.case.evidence.in_text(text);
        Measured {
            recall: share(&|_| true),
            far: share(&|needed| needed.is_far),
            arguments: share(&|needed| needed.in_arguments),
            by_kind: Kind::ALL.map(|kind| share(&|needed| needed.name.0 == kind)),
            instructions: of_texts(&self.case.rules, &baler_digest::on_one_line(text)),
            last_error: of_texts(self.case.error.as_slice(), text),
            wanted: of_texts(&self.case.wanted, text),
            evidence: kept.map(|kept| kept.messages),
            evidence_strict: kept.map(|kept| kept.strict),
            answers: kept.map(|kept| kept.answers),
            size: text.chars().count() as f64 / self.case.size as f64,
            ..Measured::default()
        }
    }

    /// What is left of the case when a strategy compacts it to `room` characters beside the
    /// instructions.
    ///
    /// # Errors
    /// The host failed, or the machine, in the turn of any strategy.
    pub(crate) async fn after(
        &self,
        host: &Host,
        strategy: &Strategy,
        room: usize,
        pins: &Pins,
    ) -> anyhow::Result<Measured> {
        let conversation = &self.case.conversation;
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let request = Request {
            budget: Budget::Tokens(conversation.overhead().saturating_add(room)),
            pins: pins.clone(),
            ..Request::default()
        };
        let start = Instant::now();
        let chain = std::slice::from_ref(strategy);
        let compaction = host.compact(conversation, chain, &request).await?;
        let time = start.elapsed();
        let receipt = compaction.receipt();
        let mut results = receipt.attempts.iter().map(|attempt| &attempt.result);
        if let Some(why) = results.find_map(failed_in_host) {
            bail!("`{}` cannot be measured: {why}", strategy.name());
        }
        let result = compaction.conversation();
        let units = crate::cases::read(result);
        let (text, size) = text_of(&units);
        let is_floor = receipt.tokens.below_floor;
        let unchanged = receipt.outcome != Outcome::Compacted;
        Ok(Measured {
            size: size as f64 / self.case.size as f64,
            is_over: receipt.tokens.after > receipt.tokens.budget.max(receipt.tokens.floor)
                && !(unchanged && is_floor),
            is_invalid: result.is_broken(),
            unseen_kept: unseen::kept(&self.case.units, &units),
            fell_back: receipt.fell_back && !is_floor,
            ended: receipt
                .attempts
                .first()
                .filter(|_| receipt.fell_back)
                .map(|attempt| attempt.result.code().to_owned()),
            is_floor,
            time_ms: Some(time.as_secs_f64() * 1_000.0),
            fuel: receipt
                .attempts
                .first()
                .and_then(|attempt| attempt.usage.fuel),
            ..self.in_text(&text)
        })
    }
}

/// What the host or the machine failed at in a strategy's turn, which then says nothing about the
/// strategy. None where there is no such failure.
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

/// All that units say beside instructions, and their size.
fn text_of(units: &[Vec<Said>]) -> (String, usize) {
    let mut text = String::new();
    let mut size = 0;
    for said in units
        .iter()
        .flatten()
        .filter(|said| said.who != Who::Instructions)
    {
        size += Said::size(said);
        for piece in &said.pieces {
            text.push_str(&piece.text);
            text.push('\n');
        }
    }
    (text, size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Evidence;

    #[test]
    fn only_failures_of_the_host_or_machine_say_nothing_about_a_strategy() {
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
        assert!(no_room.contains("no descriptor"), "{no_room}");
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

    #[test]
    fn a_rule_is_kept_whatever_white_space_is_between_its_words() {
        let host = Host::builder().build().expect("a host");
        let document = r#"[{"role": "user", "content": "Hello."}]"#;
        let conversation = host.read(document).expect("reads");
        let case = Case {
            cut: 1,
            units: crate::cases::read(&conversation),
            conversation,
            size: 6,
            needed: Vec::new(),
            rules: vec!["Do not use HX; only TS is yours".to_owned()],
            error: None,
            wanted: Vec::new(),
            evidence: Evidence::of(&[], &[]),
            recorded: None,
        };
        let sought = Sought::of(&case);
        let kept = |text: &str| sought.in_text(text).instructions;
        assert_eq!(kept("- Do not\n  use HX;\tonly TS is yours."), Some(1.0));
        assert_eq!(kept("- Do not use HX;\n- only TS is yours."), Some(0.0));
    }
}
