//! Calls and the results that answer them.
//!
//! An id is unique within one response only: local servers and gateways count from the same
//! number in each (ALL-4).

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use crate::json;

/// What answers a call that has no recorded result.
pub(super) const NO_RESULT: &str = "no result was recorded";

/// Calls that nothing has answered yet, by their ids. An id stays when all of its calls were answered.
#[derive(Default)]
pub(super) struct Open<'a>(HashMap<Cow<'a, str>, Vec<Waiting>>);

/// The calls of one response that have the same id and no result.
struct Waiting {
    response: usize,
    calls: VecDeque<usize>,
}

impl<'a> Open<'a> {
    /// Adds a call of a response; both are numbers of the caller's.
    pub(super) fn add(&mut self, response: usize, id: Cow<'a, str>, call: usize) {
        let waiting = self.0.entry(id).or_default();
        match waiting.last_mut() {
            Some(newest) if newest.response == response => newest.calls.push_back(call),
            _ => waiting.push(Waiting {
                response,
                calls: VecDeque::from([call]),
            }),
        }
    }

    /// The call that a result with this id answers, which is open no more: of the newest response
    /// that has one, and there the first, so that calls with an empty id pair by order.
    pub(super) fn take(&mut self, id: &str) -> Option<usize> {
        let waiting = self.0.get_mut(id)?;
        let newest = waiting.last_mut()?;
        let call = newest.calls.pop_front();
        if newest.calls.is_empty() {
            waiting.pop();
        }
        call
    }

    /// Whether a call had this id.
    fn knows(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// The calls that nothing answered, in no order.
    pub(super) fn rest(self) -> impl Iterator<Item = usize> {
        self.0
            .into_values()
            .flatten()
            .flat_map(|waiting| waiting.calls)
    }
}

/// Makes ids for calls that have an empty one, which no request may have.
#[derive(Default)]
pub(super) struct Names {
    made: usize,
}

impl Names {
    /// An id that is free. No number is tried twice, so all of them together cost no more than
    /// the ids that are there.
    pub(super) fn next(&mut self, mut is_free: impl FnMut(&str) -> bool) -> String {
        loop {
            self.made += 1;
            let id = format!("call_{}", self.made);
            if is_free(&id) {
                return id;
            }
        }
    }
}

/// The object `raw` with `id` as its member `key`; as it is where it has none.
pub(super) fn with_id<'a>(raw: &'a str, key: &str, id: &str) -> Cow<'a, str> {
    let old = json::members(raw).and_then(|members| members.get(key));
    old.map_or(Cow::Borrowed(raw), |old| {
        Cow::Owned(json::replaced(raw, old.get(), &json::encode(id)))
    })
}

/// The calls of a log, each with the turn it belongs to and its result.
pub(super) struct Calls<'a, R> {
    calls: Vec<Call<'a, R>>,
    open: Open<'a>,
    by_turn: HashMap<usize, Vec<usize>>,
    /// Results that came before any call of their id in the log.
    early: HashMap<Cow<'a, str>, VecDeque<R>>,
}

struct Call<'a, R> {
    turn: usize,
    /// Its id in the body.
    id: Cow<'a, str>,
    result: Option<R>,
}

impl<R> Default for Calls<'_, R> {
    fn default() -> Self {
        Self {
            calls: Vec::new(),
            open: Open::default(),
            by_turn: HashMap::new(),
            early: HashMap::new(),
        }
    }
}

impl<'a, R> Calls<'a, R> {
    /// Adds a call of `turn`. `logged` is its id in the log, `id` the one in the body. A result that came
    /// early answers it, until one comes after it.
    pub(super) fn open(&mut self, turn: usize, logged: Cow<'a, str>, id: Cow<'a, str>) {
        let index = self.calls.len();
        let early = self.early.get_mut(&logged);
        let result = early.and_then(VecDeque::pop_front);
        self.calls.push(Call { turn, id, result });
        self.open.add(turn, logged, index);
        self.by_turn.entry(turn).or_default().push(index);
    }

    /// Answers the nearest earlier call with this id of the log that has no result. False where
    /// there is none.
    pub(super) fn answer(&mut self, logged: &str, result: R) -> bool {
        self.answer_in(logged, result).is_some()
    }

    /// The same, and says which turn the call belongs to.
    fn answer_in(&mut self, logged: &str, result: R) -> Option<usize> {
        let index = self.open.take(logged)?;
        let call = self.calls.get_mut(index)?;
        call.result = Some(result);
        Some(call.turn)
    }

    /// The same for a log in which a result may come before its call: where no call of its id is known, it
    /// waits for one. Returns the turn of the call that it answers.
    pub(super) fn answer_or_wait(&mut self, logged: Cow<'a, str>, result: R) -> Option<usize> {
        if self.open.knows(&logged) {
            return self.answer_in(&logged, result);
        }
        self.early.entry(logged).or_default().push_back(result);
        None
    }

    /// No call that comes from here on is answered by a result that came before.
    pub(super) fn stop_waiting(&mut self) {
        self.early = HashMap::new();
    }

    /// The calls of a turn, in their order, with their results. `None` if there are none, or
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_answers_the_newest_response_that_waits_for_its_id() {
        let mut open = Open::default();
        for (response, id, call) in [(0, "a", 10), (1, "a", 11), (1, "b", 12)] {
            open.add(response, id.into(), call);
        }
        assert_eq!(open.take("a"), Some(11));
        open.add(2, "a".into(), 13);
        assert_eq!(open.take("a"), Some(13));
        assert_eq!(open.take("a"), Some(10));
        assert_eq!(open.take("a"), None);
        assert_eq!(open.rest().collect::<Vec<_>>(), [12]);
    }

    #[test]
    fn results_of_calls_with_an_empty_id_go_by_order() {
        let mut open = Open::default();
        for (response, call) in [(0, 10), (1, 11), (1, 12)] {
            open.add(response, "".into(), call);
        }
        let taken: Vec<_> = std::iter::from_fn(|| open.take("")).collect();
        assert_eq!(taken, [11, 12, 10]);
    }

    #[test]
    fn id_is_replaced_and_all_else_stays() {
        let raw = r#"{ "id" : "" ,"x":[1.50, "\u00e9"],"type":"tool_use"}"#;
        assert_eq!(
            with_id(raw, "id", "call_1"),
            r#"{ "id" : "call_1" ,"x":[1.50, "\u00e9"],"type":"tool_use"}"#
        );
        assert_eq!(with_id(raw, "call_id", "call_1"), raw);
    }

    #[test]
    fn names_that_are_used_are_passed_over() {
        let mut names = Names::default();
        assert_eq!(names.next(|id| id != "call_1"), "call_2");
        assert_eq!(names.next(|_| true), "call_3");
    }
}
