//! Runs a strategy that is written with the SDK natively.

use std::panic::{AssertUnwindSafe, catch_unwind};

use baler_strategy::{Conversation, Level, Message, ModelSource, Source, Strategy, Tool, Unit};

use super::convert;
use crate::fault::{Fault, Trap};
use crate::report::Report;
use crate::runner::CallFailure;
use crate::situation::Situation;

/// Asks the strategy, which stands as `name` in the receipt, for a plan, with its default config.
///
/// Once the time of the request is over, what it answers is of no use, and nobody uses it (`host/chain.rs`).
///
/// # Errors
/// The strategy declared a failure, or panicked.
pub(super) fn compact<S: Strategy>(
    situation: &Situation,
    name: &str,
    model: Option<&dyn ModelSource>,
) -> Result<Report, CallFailure> {
    let seen = Seen { situation, model };
    let lent = convert::situation(situation, name);
    // A guest that panics traps. Here it is the same fault, and a fallback follows.
    let answer = catch_unwind(AssertUnwindSafe(|| {
        S::compact(&Conversation::new(&seen), &lent, &S::Config::default())
    }));
    match answer {
        Ok(answer) => answer.map(convert::report).map_err(|failure| {
            let (kind, why) = convert::failure(failure);
            CallFailure::Declared(kind, why)
        }),
        Err(_) => Err(panicked()),
    }
}

/// Returns the fault of a strategy that panicked.
pub(super) const fn panicked() -> CallFailure {
    let trap = Trap::Unreachable;
    CallFailure::Fault(Fault::Trap { trap })
}

/// What a native strategy sees.
struct Seen<'a> {
    situation: &'a Situation,
    model: Option<&'a dyn ModelSource>,
}

impl Source for Seen<'_> {
    fn units(&self) -> Vec<Unit> {
        Unit::all(&convert::units(self.situation))
    }

    fn read(&self, first: u32, count: u32) -> Vec<Vec<Message>> {
        // Nobody interrupts native code. Without texts it soon ends, and its plan is not used.
        if self.situation.is_over() {
            return Vec::new();
        }
        let units = self.situation.units().len();
        let last = (first as usize).saturating_add(count as usize).min(units);
        let units = (first as usize)..last;
        units
            .map(|unit| convert::messages(self.situation, unit))
            .collect()
    }

    fn reference(&self, unit: u32) -> Option<String> {
        self.situation.reference(unit as usize)
    }

    fn tools(&self) -> Vec<Tool> {
        convert::tools(&self.situation.conversation)
    }

    fn count(&self, text: &str) -> u32 {
        if self.situation.is_over() {
            return 0;
        }
        self.situation.conversation.tokenizer().count(text)
    }

    fn log(&self, _level: Level, message: &str) {
        tracing::debug!(message, "a native strategy logs");
    }

    fn model(&self) -> Option<&dyn ModelSource> {
        self.model
    }
}
