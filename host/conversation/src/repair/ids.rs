//! Ids that two calls of one response have, and calls that are answered twice (ALL-4).

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::{Draft, Reading};
use crate::formats::Replacement;
use crate::json::{self, Place};
use crate::model::message::{Call, Content, Link, Message, Output, Part};
use crate::model::pairing::fits_kind;

/// Ids longer than these some providers refuse: Chat Completions, and the others.
const LONGEST: [usize; 2] = [40, 64];

/// Bytes that a new id may add to an old one.
const SUFFIX: usize = 10;

/// Where the id lies that pairs a call or an output; `None` if that has no member of its own.
pub(crate) type IdPlace = fn(&Reading, &Part) -> Option<Place>;

/// A call whose id another call of its response has, with its outputs.
struct Duplicate<'a> {
    id: &'a str,
    /// The places of the id, each with its message: in the call, then in its outputs.
    places: Vec<(usize, Place)>,
    /// Whether all these messages may be edited.
    may_change: bool,
}

/// The calls of the newest unit that has an id.
struct Latest {
    unit: usize,
    /// Calls without an output, each with its kind and, unless it is the first of its id, the index of its
    /// duplicate.
    open: VecDeque<(&'static str, Option<usize>)>,
}

impl Latest {
    /// Takes the call that an output of a kind answers: the first of that kind, else the first that fits,
    /// else the first.
    fn take(&mut self, kind: &str) -> Option<Option<usize>> {
        // Calls of one id mostly are of one kind, so this is the first.
        let mut kinds = self.open.iter().take(8).map(|(own, _)| *own);
        let at = kinds.clone().position(|own| own == kind);
        let at = at.or_else(|| kinds.position(|own| fits_kind(own, kind)));
        self.open.remove(at.unwrap_or(0)).map(|(_, call)| call)
    }
}

/// Gives duplicate calls new ids, and leaves out second answers. Outputs belong to the calls of the nearest
/// earlier unit that has their id, in the same order.
pub(crate) fn make_unique(reading: &Reading, draft: &mut Draft<'_>, id_place: IdPlace) {
    let copies = signed_copies(reading);
    let mut matching = Matching {
        reading,
        id_place,
        duplicates: Vec::new(),
        latest: HashMap::new(),
        second: BTreeMap::new(),
    };
    let units = reading.units().enumerate();
    let messages =
        units.flat_map(|(unit, (_, own))| own.iter().map(move |message| (unit, message)));
    for (index, (unit, message)) in messages.enumerate() {
        if copies.contains(&index) {
            draft.leave_out(index, "left out: a repeated signed message");
        } else {
            matching.add(index, unit, message);
        }
    }
    give_new_ids(reading, draft, matching.duplicates);
    for (message, parts) in matching.second {
        if draft.drop_parts(message, &parts) {
            draft.did(message, "left out: a second answer to a call");
        }
    }
}

/// Matches outputs with calls, message by message.
struct Matching<'a> {
    reading: &'a Reading,
    id_place: IdPlace,
    duplicates: Vec<Duplicate<'a>>,
    latest: HashMap<&'a str, Latest>,
    /// The parts of each message that answer a call again.
    second: BTreeMap<usize, Vec<usize>>,
}

impl<'a> Matching<'a> {
    /// Adds the next message, which belongs to this unit.
    fn add(&mut self, index: usize, unit: usize, message: &'a Message) {
        for part in &message.parts {
            if let Content::Call(call) = &part.content
                && !call.id.is_empty()
            {
                self.add_call(index, unit, message, part, call);
            }
        }
        for (at, part) in message.parts.iter().enumerate() {
            if let Content::Output(output) = &part.content {
                self.add_output(index, message, (at, part), output);
            }
        }
    }

    fn add_call(
        &mut self,
        index: usize,
        unit: usize,
        message: &Message,
        part: &Part,
        call: &'a Call,
    ) {
        let first = || Latest {
            unit,
            open: VecDeque::from([(call.kind, None)]),
        };
        match self.latest.entry(&call.id) {
            Entry::Vacant(entry) => {
                entry.insert(first());
            }
            // Ids are unique within a response, and another one may have the same.
            Entry::Occupied(mut entry) if entry.get().unit != unit => {
                entry.insert(first());
            }
            Entry::Occupied(mut entry) if entry.get().open.is_empty() => {
                entry.get_mut().open.push_back((call.kind, None));
            }
            Entry::Occupied(mut entry) => {
                let next = Some(self.duplicates.len());
                entry.get_mut().open.push_back((call.kind, next));
                let place = (self.id_place)(self.reading, part);
                self.duplicates.push(Duplicate {
                    id: &call.id,
                    may_change: !message.opaque && place.is_some(),
                    places: place.map(|place| (index, place)).into_iter().collect(),
                });
            }
        }
    }

    fn add_output(
        &mut self,
        index: usize,
        message: &Message,
        (at, part): (usize, &Part),
        output: &Output,
    ) {
        let Some(latest) = self.latest.get_mut(output.call_id.as_str()) else {
            return;
        };
        match latest.take(output.kind) {
            None => self.second.entry(index).or_default().push(at),
            Some(call) => {
                if let Some(duplicate) = call.and_then(|call| self.duplicates.get_mut(call)) {
                    let place = (self.id_place)(self.reading, part);
                    duplicate.may_change &= !message.opaque && place.is_some();
                    duplicate.places.extend(place.map(|place| (index, place)));
                }
            }
        }
    }
}

/// Gives duplicate calls new ids, if all their messages may be edited.
fn give_new_ids(reading: &Reading, draft: &mut Draft<'_>, duplicates: Vec<Duplicate<'_>>) {
    let mut ids = Ids::of(reading);
    for duplicate in duplicates.into_iter().filter(|own| own.may_change) {
        let id = json::encode(&ids.fresh(duplicate.id));
        for (index, (message, place)) in duplicate.places.into_iter().enumerate() {
            let what = if index == 0 {
                "a call got a unique id"
            } else {
                "an output got the new id of its call"
            };
            draft.change(message, Replacement::of(place, id.as_str()), what);
        }
    }
}

/// Signed messages with calls that stand byte for byte as before in the same unit. Their ids cannot be
/// changed, and no response says the same twice under one signature.
fn signed_copies(reading: &Reading) -> HashSet<usize> {
    let mut copies = HashSet::new();
    for (start, unit) in reading.units() {
        let mut seen: HashSet<&str> = HashSet::new();
        for (index, message) in (start..).zip(unit) {
            let has_ids = message.calls().any(|call| !call.id.is_empty());
            if message.opaque && has_ids && !seen.insert(reading.message(index)) {
                copies.insert(index);
            }
        }
    }
    copies
}

/// The ids of a conversation.
#[derive(Default)]
struct Ids<'a> {
    taken: HashSet<&'a str>,
    made: HashSet<String>,
    /// How many ids were made of a beginning.
    uses: HashMap<&'a str, usize>,
}

impl<'a> Ids<'a> {
    fn of(reading: &'a Reading) -> Self {
        let mut ids = Self::default();
        let taken = &mut ids.taken;
        for message in &reading.messages {
            taken.extend(message.id());
            taken.extend(message.calls().map(|call| call.id.as_str()));
            taken.extend(message.outputs().map(|output| output.call_id.as_str()));
            taken.extend(message.opaques().filter_map(|opaque| match &opaque.link {
                Link::Opens(id) | Link::Closes(id) => Some(id.as_str()),
                Link::None | Link::Hosted | Link::Unknown => None,
            }));
        }
        ids
    }

    /// An id like `id` that nothing has.
    fn fresh(&mut self, id: &'a str) -> String {
        // One that is too long already stays so, and what it begins with stays its own.
        let longest = LONGEST.into_iter().find(|longest| id.len() <= *longest);
        let kept = longest.map_or(id.len(), |longest| id.len().min(longest - SUFFIX));
        let start = &id[..id.floor_char_boundary(kept)];
        let uses = self.uses.entry(start).or_insert(1);
        loop {
            *uses += 1;
            let fresh = format!("{start}-{uses}");
            if !self.taken.contains(fresh.as_str()) && self.made.insert(fresh.clone()) {
                return fresh;
            }
        }
    }
}
