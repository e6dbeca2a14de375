//! Which calls wait for an output, and what is said where none was recorded.

use std::collections::{BTreeSet, HashMap};

/// What stands for an output that the conversation does not have.
pub(crate) const NONE_RECORDED: &str = "No output of this call was recorded.";

/// What is said to have been done then.
pub(crate) const ANSWERED: &str = "a call without an output got a note as its output";

/// What is said of an output that belongs to another place.
pub(crate) const MOVED: &str = "an output was moved after its call";

/// What the host says where the model would speak first, or twice, and may not.
pub(crate) const NOBODY_SPOKE: &str = "No message of the user's was recorded here.";

/// What the host says where the user would speak twice, and may not.
pub(crate) const NOBODY_ANSWERED: &str = "No answer of the model's was recorded here.";

/// What stands for the text that some providers want beside a document.
pub(crate) const NO_TEXT: &str = "No text was recorded beside this document.";

/// What is said of an output without a call.
pub(crate) const LEFT_OUT: &str = "left out: an output without a call";

/// Calls that wait for an output, by id or name, each with a place in the conversation and a
/// number of its own, since several can wait at one place.
#[derive(Default)]
pub(crate) struct Waiting<'a> {
    calls: HashMap<&'a str, BTreeSet<(usize, usize)>>,
    count: usize,
}

impl<'a> Waiting<'a> {
    /// Notes a call.
    pub(crate) fn add(&mut self, key: &'a str, at: usize) {
        self.count += 1;
        self.calls.entry(key).or_default().insert((at, self.count));
    }

    /// The place of the call that an output at `at` answers: the nearest one before it, else
    /// the next one after. That call waits no more.
    pub(crate) fn take(&mut self, key: &str, at: usize) -> Option<usize> {
        let calls = self.calls.get_mut(key)?;
        let before = calls.range(..=(at, usize::MAX)).next_back();
        let nearest = *before.or_else(|| calls.first())?;
        calls.remove(&nearest);
        Some(nearest.0)
    }
}
