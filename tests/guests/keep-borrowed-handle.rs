//! Keeps the conversation that was lent to it beyond the end of the call.
//!
//! The component model forbids it: the call ends as a fault, though the answer was ready.

use std::sync::atomic::{AtomicU32, Ordering};

use hostile_guests::{Conversation, Failure, Hostile, Report, Situation, hostile, polite_report};

struct KeepBorrowedHandle;

impl Hostile for KeepBorrowedHandle {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        let report = polite_report(conversation);
        // Taken out of its owner, the handle is not given back when the call ends.
        KEPT.store(conversation.take_handle(), Ordering::Relaxed);
        report
    }
}

static KEPT: AtomicU32 = AtomicU32::new(0);

hostile!(KeepBorrowedHandle);
