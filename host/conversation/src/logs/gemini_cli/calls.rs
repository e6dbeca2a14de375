//! The calls of a message, in its content and in its list of calls.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::parts::parts;
use crate::formats::gemini::write::{self as gemini, Part, PartKind};
use crate::json::{self, Members};
use crate::logs::pairing::Open;
use crate::model::log::LogFacts;

/// A call, its members raw.
pub(super) struct Call<'a> {
    pub(super) id: Option<&'a str>,
    /// How the program names it, where it may have no id of its own.
    pub(super) logged: Option<&'a str>,
    pub(super) name: &'a str,
    args: &'a str,
    pub(super) result: Option<&'a str>,
    pub(super) is_cancelled: bool,
    /// What answers it in a message of the user role.
    pub(super) answer: Option<Part<'a>>,
}

/// What a message of the model's says, and its calls: those in its content as they stand there, and
/// those of its list that are missing there (LGE-1). No two of them have the same id (ALL-4).
pub(super) fn said<'a>(
    record: &Members<'a>,
    facts: &mut LogFacts,
) -> (Vec<Part<'a>>, Vec<Call<'a>>) {
    let mut said: Vec<Part<'a>> = Vec::new();
    let mut calls: Vec<Call<'a>> = Vec::new();
    let mut ids: HashSet<Cow<'a, str>> = HashSet::new();
    for part in parts(record.raw("content")) {
        match part.kind {
            PartKind::Other => said.push(part),
            PartKind::Response => facts.dropped_results += 1,
            PartKind::Call { .. } => match spoken(part).filter(|(call, _)| call.is_new(&mut ids)) {
                Some((call, part)) => {
                    calls.push(call);
                    said.push(part);
                }
                None => facts.dropped_calls += 1,
            },
        }
    }
    let mut waiting = Waiting::of(&calls);
    for raw in record.list("toolCalls").unwrap_or_default() {
        let members = json::members(raw.get());
        let Some(call) = members.and_then(|members| Call::of(&members)) else {
            facts.dropped_calls += 1;
            continue;
        };
        let place = waiting.take(&call.own_id().unwrap_or_default(), &json::decode(call.name));
        if let Some(known) = place.and_then(|place| calls.get_mut(place)) {
            known.logged = call.id;
            known.result = call.result;
            known.is_cancelled = call.is_cancelled;
        } else if call.is_new(&mut ids) {
            said.push(gemini::call(call.id, call.name, call.args, None));
            calls.push(call);
        } else {
            facts.dropped_calls += 1;
        }
    }
    (said, calls)
}

/// A functionCall part: as it is, signature and all, or written anew where its id is not a text or its
/// arguments are not an object.
fn spoken(part: Part<'_>) -> Option<(Call<'_>, Part<'_>)> {
    let Cow::Borrowed(raw) = part.raw else {
        return None;
    };
    let members = json::members(raw)?;
    let inner = members.object("functionCall")?;
    let call = Call::of(&inner)?;
    let is_sound = inner.get("id").is_none_or(|id| json::is_text(id.get()))
        && inner
            .get("args")
            .is_none_or(|args| json::is_object(args.get()));
    if is_sound {
        return Some((call, part));
    }
    let signature = members.raw("thoughtSignature");
    let part = gemini::call(call.id, call.name, call.args, signature);
    Some((call, part))
}

impl<'a> Call<'a> {
    fn of(members: &Members<'a>) -> Option<Self> {
        let args = members.raw("args").filter(|raw| json::is_object(raw));
        Some(Self {
            id: members.raw_text("id"),
            logged: None,
            // Without one no response could name the call (GEM-2).
            name: members
                .raw_text("name")
                .filter(|name| !json::is_blank(name))?,
            args: args.unwrap_or("{}"),
            result: members.raw("result"),
            is_cancelled: members.text("status").as_deref() == Some("cancelled"),
            answer: None,
        })
    }

    /// The id that it has in the request. An empty one is none.
    fn own_id(&self) -> Option<Cow<'a, str>> {
        self.id.map(json::decode).filter(|id| !id.is_empty())
    }

    /// The id by which responses name it.
    pub(super) fn known_id(&self) -> Option<Cow<'a, str>> {
        let logged = || self.logged.map(json::decode).filter(|id| !id.is_empty());
        self.own_id().or_else(logged)
    }

    /// Whether no call in `ids` has its id, which is there from now on.
    fn is_new(&self, ids: &mut HashSet<Cow<'a, str>>) -> bool {
        self.own_id().is_none_or(|id| ids.insert(id))
    }
}

/// Calls that wait for something, each for one: they are found by id, or where an id is missing by name
/// and in order.
#[derive(Default)]
pub(super) struct Waiting<'a> {
    by_id: HashMap<Cow<'a, str>, usize>,
    by_name: Open<'a>,
    without_id: Open<'a>,
    found: HashSet<usize>,
}

impl<'a> Waiting<'a> {
    pub(super) fn of(calls: &[Call<'a>]) -> Self {
        let mut waiting = Self::default();
        for (place, call) in calls.iter().enumerate() {
            let name = json::decode(call.name);
            match call.known_id() {
                Some(id) => {
                    waiting.by_id.insert(id, place);
                }
                None => waiting.without_id.add(0, name.clone(), place),
            }
            waiting.by_name.add(0, name, place);
        }
        waiting
    }

    /// The call that is meant, which waits no more. An empty id is none.
    pub(super) fn take(&mut self, id: &str, name: &str) -> Option<usize> {
        if let Some(place) = self.by_id.remove(id)
            && self.found.insert(place)
        {
            return Some(place);
        }
        let queue = if id.is_empty() {
            &mut self.by_name
        } else {
            &mut self.without_id
        };
        while let Some(place) = queue.take(name) {
            if self.found.insert(place) {
                return Some(place);
            }
        }
        None
    }
}
