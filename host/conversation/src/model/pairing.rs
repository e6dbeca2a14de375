//! Which output answers which call.
//!
//! An id is unique within one response only: servers use it again in later ones, and some give none
//! at all. So an output answers a call of its id that has no output yet, and one without an id the
//! first call that is left: of its name, in a format whose outputs name their tool; of its kind, in
//! one with several kinds.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::model::message::{Call, FUNCTION, LOCAL_SHELL, Message, Output, Role, TOOL_SEARCH};

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
}

impl<'a> Pairing<'a> {
    /// The calls and outputs of `messages`, which hold whole responses.
    pub(crate) fn of(messages: impl IntoIterator<Item = &'a Message> + Clone) -> Self {
        let calls = messages.clone().into_iter().flat_map(Message::calls);
        let outputs = messages.into_iter().flat_map(|message| {
            let outputs = message.outputs();
            outputs.map(move |output| (output, goes_by_name(message, output)))
        });
        Self::pair(calls, outputs, false)
    }

    /// These calls, and the outputs that may answer them. Outputs with an id or name that no call has
    /// pair by order where `any_order` says that the format allows it.
    pub(crate) fn between(
        calls: impl IntoIterator<Item = &'a Call>,
        outputs: impl IntoIterator<Item = &'a Output>,
        any_order: bool,
    ) -> Self {
        let outputs = outputs.into_iter().map(|output| (output, true));
        Self::pair(calls, outputs, any_order)
    }

    /// The same of outputs with whether each one goes by its name where it has no id.
    fn pair(
        calls: impl IntoIterator<Item = &'a Call>,
        outputs: impl IntoIterator<Item = (&'a Output, bool)>,
        any_order: bool,
    ) -> Self {
        let mut open = Open::default();
        calls.into_iter().for_each(|call| open.add(call));
        let mut pairing = Self::default();
        let mut nameless = Vec::new();
        let mut unknown = Vec::new();
        for (output, by_name) in outputs {
            if output.call_id.is_empty() {
                nameless.push((output, by_name && !output.name.is_empty()));
                continue;
            }
            match open.by_id(output) {
                Taken::Call => {}
                Taken::Answered => pairing.second.push(output),
                Taken::Nothing => unknown.push(output),
            }
        }
        // Calls that an output names by their id are not for others, and those of an output's kind are
        // not for outputs of another.
        let mut unfit = Vec::new();
        for (output, by_name) in nameless {
            if by_name {
                if open.by_name(&output.name).is_none() {
                    unknown.push(output);
                }
            } else if open.first(output.kind).is_some() {
                pairing.by_order.push(output);
            } else {
                unfit.push(output);
            }
        }
        for output in unfit {
            if open.first("").is_none() {
                pairing.orphans.push(output);
            }
        }
        for output in unknown {
            match any_order.then(|| open.first("")).flatten() {
                Some(_) => pairing.by_order.push(output),
                None => pairing.orphans.push(output),
            }
        }
        pairing.unanswered = open.rest();
        pairing
    }
}

/// Calls or outputs, each known by where it lies: others may say the same.
#[derive(Default)]
pub(crate) struct Among<T>(HashSet<*const T>);

impl<T> Among<T> {
    pub(crate) fn of<'a>(items: impl IntoIterator<Item = &'a T>) -> Self
    where
        T: 'a,
    {
        Self(items.into_iter().map(std::ptr::from_ref).collect())
    }

    pub(crate) fn add<'a>(&mut self, items: impl IntoIterator<Item = &'a T>)
    where
        T: 'a,
    {
        self.0.extend(items.into_iter().map(std::ptr::from_ref));
    }

    pub(crate) fn has(&self, item: &T) -> bool {
        self.0.contains(&std::ptr::from_ref(item))
    }
}

/// Whether an output without an id goes to a call of its name. A tool's own message goes to the first
/// call that is left, whatever it calls the tool; the older ones of OpenAI Chat, which have a kind,
/// know nothing but names.
fn goes_by_name(message: &Message, output: &Output) -> bool {
    message.role != Role::Tool || !output.kind.is_empty()
}

/// Whether an output is of the kind that a call wants, where both say so. A program's own shell, or its own search
/// for tools, may answer as a function does (docs/wire-formats.md, "Where the rules come from").
pub(crate) fn fits_kind(call: &str, output: &str) -> bool {
    output.is_empty()
        || call.is_empty()
        || output == call
        || matches!(call, LOCAL_SHELL | TOOL_SEARCH) && output == FUNCTION
}

/// Numbers of calls, by kind, each kind in order. There are few kinds.
#[derive(Debug, Clone, Default)]
pub(crate) struct ByKind(Vec<(&'static str, VecDeque<usize>)>);

impl ByKind {
    /// Adds a call after all others.
    pub(crate) fn add(&mut self, kind: &'static str, call: usize) {
        match self.0.iter_mut().find(|(own, _)| *own == kind) {
            Some((_, calls)) => calls.push_back(call),
            None => self.0.push((kind, VecDeque::from([call]))),
        }
    }

    /// Moves all calls of `later` after its own.
    pub(crate) fn append(&mut self, later: &mut Self) {
        for (kind, calls) in later.0.drain(..) {
            match self.0.iter_mut().find(|(own, _)| *own == kind) {
                Some((_, own)) => own.extend(calls),
                None => self.0.push((kind, calls)),
            }
        }
    }

    /// The first call that an output of a kind can answer: of that kind itself, if there is one. An empty
    /// kind can answer any. What is taken stays so, and is forgotten here.
    pub(crate) fn first(&mut self, kind: &str, is_taken: impl Fn(usize) -> bool) -> Option<usize> {
        self.end(
            kind,
            is_taken,
            VecDeque::front,
            VecDeque::pop_front,
            Ord::min,
        )
    }

    /// The last one, by the same order of kinds.
    pub(crate) fn last(&mut self, kind: &str, is_taken: impl Fn(usize) -> bool) -> Option<usize> {
        self.end(kind, is_taken, VecDeque::back, VecDeque::pop_back, Ord::max)
    }

    fn end(
        &mut self,
        kind: &str,
        is_taken: impl Fn(usize) -> bool,
        end: fn(&VecDeque<usize>) -> Option<&usize>,
        pop: fn(&mut VecDeque<usize>) -> Option<usize>,
        choose: fn(usize, usize) -> usize,
    ) -> Option<usize> {
        let mut of = |is_wanted: &dyn Fn(&str) -> bool| {
            let wanted = self.0.iter_mut().filter(|(own, _)| is_wanted(own));
            let ends = wanted.filter_map(|(_, calls)| {
                while end(calls).is_some_and(|call| is_taken(*call)) {
                    pop(calls);
                }
                end(calls).copied()
            });
            ends.reduce(choose)
        };
        of(&|own| !kind.is_empty() && own == kind).or_else(|| of(&|own| fits_kind(own, kind)))
    }
}

enum Taken {
    Call,
    /// All calls of its id have an output.
    Answered,
    Nothing,
}

/// Calls that have no output yet.
#[derive(Default)]
struct Open<'a> {
    calls: Vec<&'a Call>,
    is_taken: Vec<bool>,
    all: ByKind,
    by_id: HashMap<&'a str, ByKind>,
    by_name: HashMap<&'a str, VecDeque<usize>>,
}

impl<'a> Open<'a> {
    fn add(&mut self, call: &'a Call) {
        let index = self.calls.len();
        self.calls.push(call);
        self.is_taken.push(false);
        self.all.add(call.kind, index);
        if !call.id.is_empty() {
            let of_id = self.by_id.entry(&call.id).or_default();
            of_id.add(call.kind, index);
        }
        self.by_name.entry(&call.name).or_default().push_back(index);
    }

    /// Takes the first call of an output's id that is open: of its kind, if there is one.
    fn by_id(&mut self, output: &Output) -> Taken {
        let Some(open) = self.by_id.get_mut(output.call_id.as_str()) else {
            return Taken::Nothing;
        };
        let is_taken = |index: usize| self.is_taken[index];
        let fitting = open.first(output.kind, is_taken);
        match fitting.or_else(|| open.first("", is_taken)) {
            Some(index) => {
                self.is_taken[index] = true;
                Taken::Call
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

    /// Takes the first call that is open and that an output of this kind can answer, an empty one any.
    fn first(&mut self, kind: &str) -> Option<&'a Call> {
        let index = self.all.first(kind, |index| self.is_taken[index])?;
        self.is_taken[index] = true;
        Some(self.calls[index])
    }

    fn rest(self) -> Vec<&'a Call> {
        let calls = self.calls.into_iter().zip(self.is_taken);
        calls
            .filter_map(|(call, is_taken)| (!is_taken).then_some(call))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::{Content, Part, Role};

    fn call(id: &str, name: &str) -> Content {
        Content::Call(Box::new(Call {
            id: id.to_owned(),
            name: name.to_owned(),
            ..Call::default()
        }))
    }

    fn output(id: &str, name: &str) -> Content {
        Content::Output(Box::new(Output {
            call_id: id.to_owned(),
            name: name.to_owned(),
            ..Output::default()
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

    #[test]
    fn tool_messages_without_ids_pair_by_order_whatever_they_call_their_tool() {
        let messages = |role: Role, kind: &'static str| {
            let mut calls = Message::new(Role::Assistant, 0..0);
            let mut answer = Message::new(role, 0..0);
            let part = |content| Part {
                content,
                place: 0..0,
            };
            calls.parts = vec![part(call("", "read"))];
            answer.parts = vec![part(output("", "mcp__read"))];
            for part in &mut answer.parts {
                if let Content::Output(output) = &mut part.content {
                    output.kind = kind;
                }
            }
            [calls, answer]
        };
        let orphans = |messages: &[Message]| Pairing::of(messages).orphans.len();
        assert_eq!(orphans(&messages(Role::Tool, "")), 0);
        // The older messages of OpenAI Chat, and responses of Gemini, are known by their name.
        assert_eq!(orphans(&messages(Role::Tool, "old function")), 1);
        assert_eq!(orphans(&messages(Role::User, "")), 1);
    }

    #[test]
    fn outputs_pair_with_calls_of_their_kind_however_many_others_have_their_id() {
        for id in ["", "a"] {
            let kinds = ["function"; 12].into_iter().chain(["custom tool"]);
            let mut message = Message::new(Role::Assistant, 0..0);
            let contents = kinds.clone().map(|kind| (call(id, "read"), kind));
            // The last call is answered first.
            let answers = kinds.clone().rev().map(|kind| (output(id, ""), kind));
            for (mut content, kind) in contents.chain(answers) {
                match &mut content {
                    Content::Call(call) => call.kind = kind,
                    Content::Output(output) => output.kind = kind,
                    _ => {}
                }
                message.parts.push(Part {
                    content,
                    place: 0..0,
                });
            }
            // What each answer leaves shows which call it took.
            for answered in 0..=13 {
                let mut so_far = message.clone();
                so_far.parts.truncate(13 + answered);
                let pairing = Pairing::of([&so_far]);
                let wrong = [&pairing.orphans, &pairing.second];
                assert_eq!(wrong.map(Vec::len), [0; 2], "{id}");
                let left: Vec<&str> = pairing.unanswered.iter().map(|call| call.kind).collect();
                let of_kinds: Vec<&str> = kinds.clone().take(13 - answered).collect();
                assert_eq!(left, of_kinds, "{id}, {answered} answers");
            }
        }
    }
}
