//! Calls and the results that answer them.

use std::borrow::Cow;
use std::collections::HashMap;

/// What answers a call that has no recorded result.
pub(super) const NO_RESULT: &str = "no result was recorded";

/// The calls of a log, each with the turn it belongs to and its result.
pub(super) struct Calls<'a, R> {
    calls: Vec<Call<'a, R>>,
    /// The newest call with an id.
    by_id: HashMap<Cow<'a, str>, usize>,
    by_turn: HashMap<usize, Vec<usize>>,
}

struct Call<'a, R> {
    /// Its id in the body.
    id: Cow<'a, str>,
    result: Option<R>,
}

impl<R> Default for Calls<'_, R> {
    fn default() -> Self {
        Self {
            calls: Vec::new(),
            by_id: HashMap::new(),
            by_turn: HashMap::new(),
        }
    }
}

impl<'a, R> Calls<'a, R> {
    pub(super) fn knows(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// Adds a call of `turn`. `logged` is its id in the log, `id` the one in the body.
    pub(super) fn open(&mut self, turn: usize, logged: Cow<'a, str>, id: Cow<'a, str>) {
        let index = self.calls.len();
        self.calls.push(Call { id, result: None });
        self.by_id.insert(logged, index);
        self.by_turn.entry(turn).or_default().push(index);
    }

    /// Answers the newest call with this id of the log. False where there is none, or where it
    /// is answered already (ALL-4).
    pub(super) fn answer(&mut self, logged: &str, result: R) -> bool {
        let call = self
            .by_id
            .get(logged)
            .and_then(|index| self.calls.get_mut(*index))
            .filter(|call| call.result.is_none());
        let is_new = call.is_some();
        if let Some(call) = call {
            call.result = Some(result);
        }
        is_new
    }

    /// The calls of a turn, in their order, with their results. None where there are none, or
    /// where they are all pending: nothing answered them, and the turn `is_last` (ALL-2).
    pub(super) fn batch(&mut self, turn: usize, is_last: bool) -> Vec<(Cow<'a, str>, Option<R>)> {
        let indexes = self.by_turn.remove(&turn).unwrap_or_default();
        let mut batch = Vec::with_capacity(indexes.len());
        for index in indexes {
            if let Some(call) = self.calls.get_mut(index) {
                batch.push((call.id.clone(), call.result.take()));
            }
        }
        if is_last && batch.iter().all(|(_, result)| result.is_none()) {
            return Vec::new();
        }
        batch
    }
}
