//! Uses handles that it was not given: it guesses the numbers that other calls may have.
//!
//! A handle belongs to its instance. Any other number ends the call as a fault.

use core::hint::black_box;
use core::mem::ManuallyDrop;

use hostile_guests::{Conversation, Failure, Hostile, Report, Situation, hostile, unchanged};

struct UseHandleOfAnotherCall;

impl Hostile for UseHandleOfAnotherCall {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        let own = conversation.take_handle();
        let mut stolen = 0;
        for number in (own.wrapping_add(1)..=own.saturating_add(64)).chain(0..own) {
            // SAFETY: it is not; that is the attack.
            let guessed =
                ManuallyDrop::new(unsafe { Conversation::from_handle(black_box(number)) });
            stolen += guessed.units().len();
        }
        unchanged(stolen.to_string())
    }
}

hostile!(UseHandleOfAnotherCall);
