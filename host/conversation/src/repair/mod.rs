//! Repairs of invalid conversations.
//!
//! Each format lists its fixes, as it lists its checks: a [`Fix`] belongs to a rule, runs where
//! that rule is broken, and says what is to change in a [`Draft`]. The document is read again
//! after each fix that changed something, so that none sees what another one left half done.
//! What cannot be repaired without guessing stays, and the checks go on to name it.

pub(crate) mod answers;
mod bound;
mod draft;
pub(crate) mod ids;
mod json;
mod anthropic;
mod bedrock_converse;
mod gemini;
mod openai_chat;
mod openai_responses;
pub(crate) mod moves;
pub(crate) mod outputs;
mod reading;
#[cfg(test)]
mod tests;
pub(crate) mod texts;

pub(crate) use draft::Draft;
pub(crate) use reading::Reading;

use crate::conversation::Conversation;
use crate::conversation::repair_history::RepairHistory;
use crate::deadline::Deadline;
use crate::model::format::Format;
use crate::model::read_error::ReadError;
use crate::model::repair::Repairs;
use crate::model::rule::Rule;

/// A rule, and a way to repair what breaks it. A format lists them in the order in which they run.
pub(crate) type Fix = (Rule, fn(&Reading, &mut Draft<'_>));

/// What can be repaired where a rule of a format is broken, in the order in which it is.
fn fixes_of(format: Format) -> &'static [Fix] {
    match format {
        Format::OpenAiChat => openai_chat::FIXES,
        Format::OpenAiResponses => openai_responses::FIXES,
        Format::Anthropic => anthropic::FIXES,
        Format::Gemini => gemini::FIXES,
        Format::BedrockConverse => bedrock_converse::FIXES,
    }
}

/// How often all fixes run at most. One fix can make work for another, hardly ever for a third.
const PASSES: usize = 8;

impl Conversation {
    /// The conversation with all repaired that can be, warnings included; an equal one where there
    /// was nothing to repair.
    /// [`Conversation::repairs`] of it says what was done, and [`Conversation::unrepaired`]
    /// what is left.
    ///
    /// Messages that need no repair stay byte for byte. What is signed, encrypted or unknown is
    /// not edited; it can only go, or move, as a whole. A request that goes on from what the
    /// provider stored is not touched: what seems to be missing may lie there.
    #[must_use]
    pub fn repaired(&self) -> Self {
        self.repaired_within(&Deadline::never())
            .unwrap_or_else(|| self.clone())
    }

    /// The same where it has to end at a deadline; `None` where it was not done by then.
    #[must_use]
    pub fn repaired_within(&self, deadline: &Deadline) -> Option<Self> {
        let mut broken = self.violation_counts().rules.iter();
        let is_sound = broken.all(|own| own.rule.is_about_size());
        if is_sound || self.envelope().continues {
            return Some(self.clone());
        }
        let reading = match Reading::of(self, deadline) {
            Ok(reading) => reading,
            Err(ReadError::OutOfTime) => return None,
            Err(_) => return Some(self.clone()),
        };
        let fixes = fixes_of(self.format());
        let (mut reading, mut repairs) = run_fixes(reading, fixes, deadline)?;
        if repairs.total() == 0 {
            return Some(self.clone());
        }
        let unbound = bound::leave_out_thinking(self, &reading);
        if deadline.is_over() {
            return None;
        }
        if let Some((next, done)) = unbound {
            // Where a message of thinking alone left, instructions may have lost their place.
            let (next, more) = run_fixes(next, fixes_of(self.format()), deadline)?;
            reading = next;
            repairs.append(done);
            repairs.append(more);
        }
        let history = RepairHistory::of(self, reading.numbered(), repairs);
        match self.read_repaired(reading.document.read().to_string(), history, deadline) {
            Ok(repaired) => Some(repaired),
            Err(ReadError::OutOfTime) => None,
            Err(_) => Some(self.clone()),
        }
    }
}

/// Runs fixes until nothing changes any more. `None` if the deadline passed.
fn run_fixes(
    mut reading: Reading,
    fixes: &[Fix],
    deadline: &Deadline,
) -> Option<(Reading, Repairs)> {
    let mut repairs = Repairs::default();
    for _ in 0..PASSES {
        let before = repairs.total();
        for (rule, fix) in fixes {
            if !reading.violations.names(*rule) {
                continue;
            }
            let mut draft = Draft::new(&reading, *rule);
            fix(&reading, &mut draft);
            let changed = draft.finish();
            // Of what ran out of time nobody knows how far it came.
            if deadline.is_over() {
                return None;
            }
            if let Some((next, done)) = changed {
                reading = next;
                repairs.append(done);
            }
        }
        if repairs.total() == before {
            break;
        }
    }
    Some((reading, repairs))
}
