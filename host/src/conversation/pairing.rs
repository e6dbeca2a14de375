//! Which output answers which call.
//!
//! An id is unique within one response only: servers use it again in later ones, and some give none
//! at all. So an output answers a call of its id that has no output yet, and one without an id the
//! first call that is left, by its name where it has one.

use std::collections::{HashMap, VecDeque};

use super::message::{Call, Message, Output};

/// How calls and outputs that stand together belong together.
#[derive(Debug, Default)]
pub(crate) struct Pairing<'a> {
    /// Calls without an output.
    pub(crate) unanswered: Vec<&'a Call>,
    /// Outputs without a call.
    pub(crate) orphans: Vec<&'a Output>,
    /// Outputs of calls that have one already.
    pub(crate) second: Vec<&'a Output>,
    /// Outputs that belong to their call by nothing but where they stand.
    pub(crate) by_order: Vec<&'a Output>,
    /// Outputs that are of another kind than their call.
    pub(crate) misfits: Vec<&'a Output>,
}

impl<'a> Pairing<'a> {
    /// The calls and outputs of `messages`, which hold whole responses.
    pub(crate) fn of(messages: impl IntoIterator<Item = &'a Message> + Clone) -> Self {
        let calls = messages.clone().into_iter().flat_map(Message::calls);
        let outputs = messages.into_iter().flat_map(Message::outputs);
        Self::between(calls, outputs, false)
    }

    /// These calls, and the outputs that may answer them. Outputs with an id or name that no call has
    /// pair by order where `any_order` says that the format takes them so.
    pub(crate) fn between(
        calls: impl IntoIterator<Item = &'a Call>,
        outputs: impl IntoIterator<Item = &'a Output>,
        any_order: bool,
    ) -> Self {
        let mut open = Open::default();
        calls.into_iter().for_each(|call| open.add(call));
        let mut pairing = Self::default();
        let mut nameless = Vec::new();
        let mut unknown = Vec::new();
        for output in outputs {
            if output.call_id.is_empty() {
                nameless.push(output);
                continue;
            }
            match open.by_id(output) {
                Taken::Call(call) if fits(call, output) => {}
                Taken::Call(_) => pairing.misfits.push(output),
                Taken::Answered => pairing.second.push(output),
                Taken::Nothing => unknown.push(output),
            }
        }
        // Calls that an output names by their id are not for others.
        for output in nameless {
            if output.name.is_empty() {
                match open.first() {
                    Some(_) => pairing.by_order.push(output),
                    None => pairing.orphans.push(output),
                }
            } else if open.by_name(&output.name).is_none() {
                unknown.push(output);
            }
        }
        for output in unknown {
            match any_order.then(|| open.first()).flatten() {
                Some(_) => pairing.by_order.push(output),
                None => pairing.orphans.push(output),
            }
        }
        pairing.unanswered = open.rest();
        pairing
    }
}

/// Whether an output is of the kind that a call wants, where both say so.
pub(crate) fn fits(call: &Call, output: &Output) -> bool {
    output.kind.is_empty() || call.kind.is_empty() || output.kind == call.kind
}

enum Taken<'a> {
    Call(&'a Call),
    /// All calls of its id have an output.
    Answered,
    Nothing,
}

/// Calls that have no output yet.
#[derive(Default)]
struct Open<'a> {
    calls: Vec<&'a Call>,
    is_taken: Vec<bool>,
    /// All before this one are taken.
    first: usize,
    by_id: HashMap<&'a str, VecDeque<usize>>,
    by_name: HashMap<&'a str, VecDeque<usize>>,
}

impl<'a> Open<'a> {
    fn add(&mut self, call: &'a Call) {
        let index = self.calls.len();
        self.calls.push(call);
        self.is_taken.push(false);
        if !call.id.is_empty() {
            self.by_id.entry(&call.id).or_default().push_back(index);
        }
        self.by_name.entry(&call.name).or_default().push_back(index);
    }

    fn by_id(&mut self, output: &'a Output) -> Taken<'a> {
        let id = output.call_id.as_str();
        let Some(open) = self.by_id.get_mut(id) else {
            return Taken::Nothing;
        };
        // Calls of one id mostly are of one kind, so this is the first.
        let at = open
            .iter()
            .take(KINDS)
            .position(|index| fits(self.calls[*index], output))
            .unwrap_or(0);
        match open.remove(at) {
            Some(index) => {
                self.is_taken[index] = true;
                Taken::Call(self.calls[index])
            }
            None => Taken::Answered,
        }
    }

    /// Takes the first call of a name that is open.
    fn by_name(&mut self, name: &str) -> Option<&'a Call> {
        let open = self.by_name.get_mut(name)?;
        while open.front().is_some_and(|first| self.is_taken[*first]) {
            open.pop_front();
        }
        let index = open.pop_front()?;
        self.is_taken[index] = true;
        Some(self.calls[index])
    }

    /// Takes the first call that is open.
    fn first(&mut self) -> Option<&'a Call> {
        while self.is_taken.get(self.first).is_some_and(|taken| *taken) {
            self.first += 1;
        }
        let call = *self.calls.get(self.first)?;
        self.is_taken[self.first] = true;
        Some(call)
    }

    fn rest(self) -> Vec<&'a Call> {
        let calls = self.calls.into_iter().zip(self.is_taken);
        calls
            .filter_map(|(call, is_taken)| (!is_taken).then_some(call))
            .collect()
    }
}

/// Calls of one id that are looked at for one of an output's kind.
const KINDS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::message::{Content, Part, Role};

    fn call(id: &str, name: &str) -> Content {
        Content::Call(Box::new(Call {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: None,
            detached: false,
            kind: "",
        }))
    }

    fn output(id: &str, name: &str) -> Content {
        Content::Output(Box::new(Output {
            call_id: id.to_owned(),
            kind: "",
            name: name.to_owned(),
            failed: false,
            texts: Vec::new(),
            others: Vec::new(),
            content: None,
        }))
    }

    /// Numbers of unanswered calls, orphans, second outputs and outputs paired by order.
    fn paired(contents: Vec<Content>, any_order: bool) -> [usize; 4] {
        let mut message = Message::new(Role::User, 0..0);
        message.parts = contents
            .into_iter()
            .map(|content| Part {
                content,
                place: 0..0,
            })
            .collect();
        let pairing = Pairing::between(message.calls(), message.outputs(), any_order);
        [
            pairing.unanswered.len(),
            pairing.orphans.len(),
            pairing.second.len(),
            pairing.by_order.len(),
        ]
    }

    #[test]
    fn outputs_answer_one_call_each() {
        let [a, b] = ["a", "b"].map(|id| (call(id, "read"), output(id, "read")));
        assert_eq!(paired(vec![a.0.clone(), a.1.clone()], false), [0; 4]);
        let two_calls = vec![a.0.clone(), a.0.clone(), a.1.clone()];
        assert_eq!(paired(two_calls, false), [1, 0, 0, 0]);
        let answered_twice = vec![a.0.clone(), a.1.clone(), a.1.clone()];
        assert_eq!(paired(answered_twice, false), [0, 0, 1, 0]);
        assert_eq!(paired(vec![a.0, b.1], false), [1, 1, 0, 0]);
    }

    #[test]
    fn outputs_without_ids_pair_by_name_and_then_by_order() {
        let contents = || vec![call("", "read"), call("", "write")];
        let with = |outputs: [Content; 2]| [contents(), outputs.into()].concat();
        assert_eq!(
            paired(with([output("", "write"), output("", "read")]), false),
            [0, 0, 0, 0]
        );
        assert_eq!(
            paired(with([output("", ""), output("", "")]), false),
            [0, 0, 0, 2]
        );
        assert_eq!(
            paired(with([output("", "other"), output("", "read")]), false),
            [1, 1, 0, 0]
        );
    }

    #[test]
    fn outputs_of_unknown_ids_pair_by_order_only_where_the_format_takes_them() {
        let contents = || vec![call("", "read"), output("x", "read")];
        assert_eq!(paired(contents(), false), [1, 1, 0, 0]);
        assert_eq!(paired(contents(), true), [0, 0, 0, 1]);
    }
}
