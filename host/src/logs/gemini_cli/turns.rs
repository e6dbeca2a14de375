//! From messages of a recording to contents of the API.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;

use super::records::is_object;
use crate::formats::json::{self, Members};
use crate::logs::LogFacts;
use crate::logs::body::is_blank;
use crate::logs::gemini::{self, Content, Part, PartKind};
use crate::logs::lines;
use crate::logs::pairing::NO_RESULT;

/// The contents, and the model that answered last.
pub(super) fn contents<'a>(
    records: Vec<Members<'a>>,
    facts: &mut LogFacts,
) -> (Vec<Content<'a>>, Option<Cow<'a, str>>) {
    let mut contents: Vec<Content<'a>> = Vec::new();
    let mut model = None;
    let is_said =
        |record: &Members<'_>| matches!(record.text("type").as_deref(), Some("user" | "gemini"));
    let last = records.iter().rposition(is_said).unwrap_or(0);
    for (index, record) in records.iter().enumerate() {
        match record.text("type").as_deref() {
            Some("user") => {
                let parts = said(record, facts);
                if !parts.is_empty() {
                    let role = "user";
                    contents.push(Content {
                        role,
                        parts,
                        tokens: 0,
                    });
                }
            }
            Some("gemini") => {
                model = record.text("model").or(model);
                answer(record, index == last, &mut contents, facts);
            }
            _ => facts.skipped_lines += 1,
        }
    }
    (contents, model)
}

/// Adds a model turn, and the user turn that answers its calls (LGE-1). No two of these have the
/// same id (ALL-4).
fn answer<'a>(
    record: &Members<'a>,
    is_last: bool,
    contents: &mut Vec<Content<'a>>,
    facts: &mut LogFacts,
) {
    let mut parts = said(record, facts);
    let mut ids: HashSet<Cow<'a, str>> = HashSet::new();
    let mut batch = Vec::new();
    for raw in lines::list(record, "toolCalls").unwrap_or_default() {
        match serde_json::from_str(raw.get())
            .ok()
            .and_then(|members| Call::of(&members))
            .filter(|call| call.is_new(&mut ids))
        {
            Some(call) => batch.push(call),
            None => facts.dropped_calls += 1,
        }
    }
    parts.extend(
        batch
            .iter()
            .map(|call| gemini::call(call.id, call.name, call.args, None)),
    );
    if parts.is_empty() {
        facts.aborted_responses += 1;
        return;
    }
    let tokens =
        lines::object(record, "tokens").map_or(0, |tokens| match lines::sum(&tokens, &["total"]) {
            0 => lines::sum(&tokens, &["input", "output", "thoughts", "tool"]),
            total => total,
        });
    match contents.last_mut() {
        // A turn with calls follows a turn of the user (GEM-2), so what was said joins it.
        Some(before) if before.role == "model" => {
            before.parts.append(&mut parts);
            before.tokens = tokens;
        }
        _ => contents.push(Content {
            role: "model",
            parts,
            tokens,
        }),
    }
    let results = results(&batch, is_last, facts);
    if !results.is_empty() {
        contents.push(Content {
            role: "user",
            parts: results,
            tokens: 0,
        });
    }
}

/// A call, its members raw.
struct Call<'a> {
    id: Option<&'a str>,
    name: &'a str,
    args: &'a str,
    result: Option<&'a str>,
    is_cancelled: bool,
}

impl<'a> Call<'a> {
    fn of(members: &Members<'a>) -> Option<Self> {
        let text = |key| {
            members
                .get(key)
                .map(RawValue::get)
                .filter(|raw| json::is_text(raw))
        };
        let args = members
            .get("args")
            .map(RawValue::get)
            .filter(|raw| is_object(raw));
        Some(Self {
            id: text("id"),
            // Without one no response could name the call (GEM-2).
            name: text("name").filter(|name| !is_blank(name))?,
            args: args.unwrap_or("{}"),
            result: members.present("result").map(RawValue::get),
            is_cancelled: members.text("status").as_deref() == Some("cancelled"),
        })
    }

    /// Whether no call in `ids` has its id, which is there from now on. An empty one is none.
    fn is_new(&self, ids: &mut HashSet<Cow<'a, str>>) -> bool {
        let id = self.id.map(json::decode).unwrap_or_default();
        id.is_empty() || ids.insert(id)
    }
}

/// The parts that answer a batch, the responses first. None while the whole batch is pending.
fn results<'a>(batch: &[Call<'a>], is_last: bool, facts: &mut LogFacts) -> Vec<Part<'a>> {
    let is_open =
        |call: &Call<'_>| !call.is_cancelled && call.result.is_none_or(json::is_empty_list);
    if is_last && batch.iter().all(is_open) {
        return Vec::new();
    }
    let mut responses = Vec::new();
    let mut others = Vec::new();
    for call in batch {
        let mut response = None;
        if let Some(text) = call.result.filter(|raw| json::is_text(raw)) {
            response = Some(gemini::response(call.id, call.name, "output", text));
        }
        for part in parts(call.result.filter(|_| response.is_none())) {
            match part.kind {
                PartKind::Response => match answer_of(part, call) {
                    Some(part) if response.is_none() => response = Some(part),
                    _ => facts.dropped_results += 1,
                },
                PartKind::Call { .. } => facts.dropped_calls += 1,
                PartKind::Other => others.push(part),
            }
        }
        responses.push(response.unwrap_or_else(|| {
            facts.completed_calls += 1;
            gemini::response(call.id, call.name, "error", &json::encode(NO_RESULT))
        }));
    }
    responses.append(&mut others);
    responses
}

/// A functionResponse part as the answer to `call`: as it is where it has the id of the call
/// (LGE-2), its name, and an object (GEM-4); written anew where it names no id or no object;
/// none where it answers another call.
fn answer_of<'a>(part: Part<'a>, call: &Call<'a>) -> Option<Part<'a>> {
    let members: Members<'_> = serde_json::from_str(&part.raw).ok()?;
    let response = lines::object(&members, "functionResponse")?;
    let value = response.present("response")?.get();
    let (id, name) = (response.text("id"), response.text("name"));
    let has = |text: &Option<Cow<'_, str>>, raw: &str| {
        text.as_ref().is_some_and(|t| *t == json::decode(raw))
    };
    let has_id = match call.id {
        Some(call) => has(&id, call),
        None => id.is_none(),
    };
    let has_name = has(&name, call.name);
    if id.is_some() && !has_id || name.is_some() && !has_name {
        None
    } else if has_id && has_name && is_object(value) {
        Some(part)
    } else if is_object(value) {
        Some(gemini::response_of(call.id, call.name, value))
    } else {
        Some(gemini::response(call.id, call.name, "output", value))
    }
}

/// The parts of a message's content. Calls and results have their place elsewhere (LGE-1).
fn said<'a>(record: &Members<'a>, facts: &mut LogFacts) -> Vec<Part<'a>> {
    let mut parts = parts(record.present("content").map(RawValue::get));
    parts.retain(|part| {
        match part.kind {
            PartKind::Other => return true,
            PartKind::Call { .. } => facts.dropped_calls += 1,
            PartKind::Response => facts.dropped_results += 1,
        }
        false
    });
    parts
}

/// A text, a part, or a list of both; without empty texts (LGE-4).
fn parts(raw: Option<&str>) -> Vec<Part<'_>> {
    let Some(raw) = raw else {
        return Vec::new();
    };
    if !json::is_list(raw) {
        return part(raw).into_iter().collect();
    }
    let raws: Vec<&RawValue> = serde_json::from_str(raw).unwrap_or_default();
    raws.into_iter().filter_map(|raw| part(raw.get())).collect()
}

fn part(raw: &str) -> Option<Part<'_>> {
    if json::is_text(raw) {
        return (!is_blank(raw)).then(|| gemini::text(raw));
    }
    let members: Members<'_> = serde_json::from_str(raw).ok()?;
    let kind = if members.get("functionResponse").is_some() {
        PartKind::Response
    } else if members.get("functionCall").is_some() {
        PartKind::Call {
            signed: members.get("thoughtSignature").is_some(),
        }
    } else {
        PartKind::Other
    };
    let is_empty = members.0.is_empty()
        || members.get("text").is_some_and(|text| is_blank(text.get()))
            && members.get("thoughtSignature").is_none();
    let raw = Cow::Borrowed(raw);
    (!is_empty).then_some(Part { raw, kind })
}
