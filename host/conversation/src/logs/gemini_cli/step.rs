//! What answers the calls of a step.

use std::borrow::Cow;
use std::collections::HashSet;

use super::calls::{Call, Waiting};
use super::parts::parts;
use crate::formats::gemini::write::{self as gemini, Content, Part, PartKind};
use crate::json;
use crate::logs::pairing::NO_RESULT;
use crate::model::log::LogFacts;

/// Calls of the model, and what came after them until it went on.
pub(super) struct Step<'a> {
    calls: Vec<Call<'a>>,
    waiting: Waiting<'a>,
    /// What stands beside the responses.
    pub(super) beside: Vec<Part<'a>>,
    /// Messages without responses.
    pub(super) said: Vec<Content<'a>>,
}

impl<'a> Step<'a> {
    pub(super) fn new(calls: Vec<Call<'a>>) -> Self {
        Self {
            waiting: Waiting::of(&calls),
            calls,
            beside: Vec::new(),
            said: Vec::new(),
        }
    }

    /// Takes a functionResponse part. False where it answers no open call.
    pub(super) fn answer(&mut self, part: Part<'a>) -> bool {
        let place = named(&part.raw).and_then(|(id, name)| self.waiting.take(&id, &name));
        let Some(call) = place.and_then(|place| self.calls.get_mut(place)) else {
            return false;
        };
        call.answer = answer_of(part, call, true);
        call.answer.is_some()
    }

    /// Adds the turn that answers the calls, and what was said after it. At the end of a recording calls
    /// without any answer are pending.
    pub(super) fn close(
        mut self,
        is_last: bool,
        contents: &mut Vec<Content<'a>>,
        facts: &mut LogFacts,
    ) {
        let is_open = |call: &Call<'_>| {
            !call.is_cancelled
                && call.answer.is_none()
                && call.result.is_none_or(json::is_empty_list)
        };
        let is_pending = is_last
            && self.beside.is_empty()
            && self.said.is_empty()
            && self.calls.iter().all(is_open);
        if !is_pending {
            contents.push(Content::user(self.results(facts)));
        }
        contents.append(&mut self.said);
    }

    /// The parts that answer the calls, the responses first. What a message of the user role holds comes
    /// before what the list of calls does (LGE-8).
    fn results(&mut self, facts: &mut LogFacts) -> Vec<Part<'a>> {
        let ids: HashSet<Cow<'a, str>> = self.calls.iter().filter_map(Call::known_id).collect();
        let mut has_turn = self.calls.iter().any(|call| call.answer.is_some());
        let mut responses: Vec<Part<'a>> = Vec::new();
        let mut beside = std::mem::take(&mut self.beside);
        for call in &mut self.calls {
            if let Some(part) = call.answer.take() {
                responses.push(part);
                continue;
            }
            let mut recorded = recorded(call, &ids, facts);
            responses.push(recorded.response.unwrap_or_else(|| {
                facts.completed_calls += 1;
                gemini::response(call.id, call.name, "error", &json::encode(NO_RESULT))
            }));
            // The program writes the whole turn into the result of each of its calls.
            if !recorded.is_of_turn || !has_turn {
                beside.append(&mut recorded.beside);
            }
            has_turn |= recorded.is_of_turn;
        }
        responses.append(&mut beside);
        responses
    }
}

/// What the list of calls holds as the result of one.
#[derive(Default)]
struct Recorded<'a> {
    response: Option<Part<'a>>,
    beside: Vec<Part<'a>>,
    /// Whether responses to other calls stand there as well.
    is_of_turn: bool,
}

/// What was recorded with a call. `ids` are those of all calls of the step.
fn recorded<'a>(
    call: &Call<'a>,
    ids: &HashSet<Cow<'a, str>>,
    facts: &mut LogFacts,
) -> Recorded<'a> {
    let mut found = Recorded::default();
    if let Some(text) = call.result.filter(|raw| json::is_text(raw)) {
        found.response = Some(gemini::response(call.id, call.name, "output", text));
        return found;
    }
    let is_anothers = |raw: &str| {
        let id = named(raw).map(|(id, _)| id).unwrap_or_default();
        ids.contains(&*id) && call.known_id().is_none_or(|own| own != id)
    };
    for part in parts(call.result) {
        match part.kind {
            PartKind::Response if is_anothers(&part.raw) => found.is_of_turn = true,
            PartKind::Response => match answer_of(part, call, false) {
                Some(part) if found.response.is_none() => found.response = Some(part),
                _ => facts.dropped_results += 1,
            },
            PartKind::Call { .. } => facts.dropped_calls += 1,
            PartKind::Other => found.beside.push(part),
        }
    }
    found
}

/// The id and the name in a functionResponse part; empty where there is none.
fn named(raw: &str) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    let members = json::members(raw)?;
    let response = members.object("functionResponse")?;
    let text = |key: &str| response.text(key).unwrap_or_default();
    Some((text("id"), text("name")))
}

/// A functionResponse part as the answer to `call`: as it is where it has the id of the call
/// (LGE-2), its name, and an object (GEM-4); written anew where it has no id, no name or no object, or
/// `is_paired` with a call that has no id; `None` if it answers another call.
fn answer_of<'a>(part: Part<'a>, call: &Call<'a>, is_paired: bool) -> Option<Part<'a>> {
    let members = json::members(&part.raw)?;
    let response = members.object("functionResponse")?;
    let value = response.present("response")?.get();
    let (id, name) = (response.text("id"), response.text("name"));
    let has = |text: &Option<Cow<'_, str>>, raw: &str| {
        text.as_ref().is_some_and(|t| *t == json::decode(raw))
    };
    let has_id = match call.id {
        Some(call) => has(&id, call),
        None => id.is_none(),
    };
    let is_named = has_id || is_paired || id.is_none() || id == call.known_id();
    let has_name = has(&name, call.name);
    if !is_named || name.is_some() && !has_name {
        None
    } else if has_id && has_name && json::is_object(value) {
        Some(part)
    } else if json::is_object(value) {
        Some(gemini::response_of(call.id, call.name, value))
    } else {
        Some(gemini::response(call.id, call.name, "output", value))
    }
}
