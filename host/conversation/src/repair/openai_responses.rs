//! How conversations of OpenAI Responses are repaired.

use std::collections::{HashMap, HashSet};

use crate::formats::Replacement;
use crate::formats::openai_responses::answers::{Answer, Answers, is_nameless};
use crate::formats::openai_responses::item::{self, Kind};
use crate::formats::openai_responses::rules::has_references;
use crate::formats::openai_responses::units::{
    answered, asks, is_of_others, is_program, is_reasoning_item, is_reference, unanswered,
};
use crate::json;
use crate::model::message::{Content, Message, Role};
use crate::model::rule::Rule;
use crate::repair::answers::{ANSWERED, LEFT_OUT, MOVED, NONE_RECORDED, Waiting};
use crate::repair::{Draft, Fix, Reading, ids, outputs, texts};

pub(super) const FIXES: &[Fix] = &[
    (Rule::Resp8, use_item_ids_once),
    (Rule::Resp5, give_a_summary),
    (Rule::Resp9, complete_items),
    (Rule::Resp9, give_ids),
    (Rule::All6, leave_out_empty_texts),
    (Rule::All4, make_ids_unique),
    (Rule::Resp1, settle_kinds),
    (Rule::Resp1, settle_outputs),
    (Rule::Resp2, answer_calls),
    (Rule::Resp3, settle_reasoning),
];

/// The type of an item, as the format names it; empty for a message that names none.
fn type_of(reading: &Reading, message: &Message) -> String {
    reading
        .member(&message.place, &["type"])
        .map(|place| json::decode(reading.raw(&place)).into_owned())
        .unwrap_or_default()
}

fn use_item_ids_once(reading: &Reading, draft: &mut Draft<'_>) {
    // Servers of other models accept an id that comes twice.
    if !reading.envelope.is_makers_own {
        return;
    }
    let mut seen: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (index, message) in reading.each() {
        let Some(id) = message.id() else {
            continue;
        };
        let first = !seen.contains_key(id);
        let is_new = seen.entry(id).or_default().insert(reading.message(index));
        if first {
            continue;
        }
        if !is_new {
            draft.leave_out(index, "left out: a repeated item");
        } else if may_lose_id(reading, message) {
            let edit = reading.without_member(&message.place, "id");
            let what = "removed: the `id` of an item that another item has";
            draft.change(index, edit, what);
        }
    }
}

/// Whether an item is the same without its `id`: nothing in it is sealed, and nothing refers
/// to it by that.
fn may_lose_id(reading: &Reading, message: &Message) -> bool {
    let has_call_id = reading.member(&message.place, &["call_id"]).is_some();
    let kind = type_of(reading, message);
    match item::of(&kind, has_call_id) {
        // The output of a local shell call may name the item of the call.
        Kind::Call | Kind::Output => has_call_id && item::answers(&kind) != item::LOCAL_SHELL,
        Kind::Message => true,
        _ => message.content.is_some(),
    }
}

/// Adds a member to an item that is sealed otherwise: what is sealed stays as it is.
fn give_a_summary(reading: &Reading, draft: &mut Draft<'_>) {
    let reasoning = |(_, message): &(usize, &Message)| is_reasoning_item(message);
    for (index, message) in reading.each().filter(reasoning) {
        let edit = match reading.member(&message.place, &["summary"]) {
            Some(place) if reading.raw(&place) == "null" => Some(Replacement::of(place, "[]")),
            Some(_) => None,
            None => reading.with_member(&message.place, "summary", "[]"),
        };
        draft.change(index, edit, "reasoning got an empty `summary`");
    }
}

/// Gives calls arguments, and outputs an output. Nobody but the model can name a function.
fn complete_items(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, message) in reading.each() {
        if message.opaque || message.flaws().is_empty() {
            continue;
        }
        let kind = type_of(reading, message);
        let (key, nothing) = match kind.as_str() {
            "function_call" => ("arguments", json::encode("{}")),
            "custom_tool_call" => ("input", json::encode("")),
            "function_call_output" | "custom_tool_call_output" => {
                ("output", json::encode(&reading.output_note(NONE_RECORDED)))
            }
            _ => continue,
        };
        let old = reading.member(&message.place, &[key]);
        if key == "output"
            && let Some(list) = old.as_ref().filter(|list| json::is_list(reading.raw(list)))
        {
            for edit in outputs::content_edits(reading, list) {
                draft.change(index, edit, "a bare text in an output became a part");
            }
            continue;
        }
        let with = match old.map(|place| reading.raw(&place)) {
            None | Some("null") => nothing,
            Some(raw) if json::is_text(raw) => continue,
            Some(raw) => json::encode(raw),
        };
        let what = if key == "output" {
            "an output became a text"
        } else {
            "the arguments of a call became a text"
        };
        let edit = reading.set_member(&message.place, key, &with);
        draft.change(index, edit, what);
    }
}

/// Outputs without an id get those of their calls, in a unit in which no other call waits for one.
fn give_ids(reading: &Reading, draft: &mut Draft<'_>) {
    // Such an output may answer a call that a reference stands for.
    if has_references(&reading.messages) {
        return;
    }
    let answers = Answers::of(&reading.messages);
    for (at, unit) in reading.units() {
        let waits = |(index, message): (usize, &Message)| {
            message.has_calls() && !answers.is_answered(index)
        };
        if (at..).zip(unit).any(waits) {
            continue;
        }
        for (index, message) in (at..).zip(unit) {
            let Some(Answer::To(call)) = answers.get(index) else {
                continue;
            };
            let mut calls = reading.messages[call].calls();
            let Some(call) = calls.find(|call| !call.id.is_empty()) else {
                continue;
            };
            if is_nameless(message) && !message.opaque {
                let id = json::encode(&call.id);
                let edit = reading.set_member(&message.place, "call_id", &id);
                draft.change(index, edit, "an output got the id of the call before it");
            }
        }
    }
}

/// Gives outputs the type of the call that they answer, where both have the same form; leaves
/// others out.
fn settle_kinds(reading: &Reading, draft: &mut Draft<'_>) {
    let answers = Answers::of(&reading.messages);
    for (index, message) in reading.each() {
        let Some(Answer::OtherKind(call)) = answers.get(index) else {
            continue;
        };
        let kind = match reading.messages[call].calls().next().map(|call| call.kind) {
            Some(item::FUNCTION | item::LOCAL_SHELL) => r#""function_call_output""#,
            Some("custom tool") => r#""custom_tool_call_output""#,
            _ => "",
        };
        let old = reading.member(&message.place, &["type"]);
        if let Some(place) = old.filter(|_| !kind.is_empty() && !message.opaque) {
            let edit = Replacement::of(place, kind);
            draft.change(index, edit, "an output got the type of its call");
        } else {
            draft.leave_out(index, "left out: an output of another kind than its call");
        }
    }
}

fn leave_out_empty_texts(reading: &Reading, draft: &mut Draft<'_>) {
    texts::leave_out_of_lists(reading, draft, |index| {
        // Reasoning needs what it produced.
        let before = index.checked_sub(1);
        let before = before.and_then(|before| reading.messages.get(before));
        before.is_some_and(is_reasoning_item)
    });
}

fn make_ids_unique(reading: &Reading, draft: &mut Draft<'_>) {
    ids::make_unique(reading, draft, |reading, part| match &part.content {
        // The calls of a program name it as their caller.
        Content::Call(call) if is_program(call) => None,
        _ => reading.member(&part.place, &["call_id"]),
    });
}

fn settle_outputs(reading: &Reading, draft: &mut Draft<'_>) {
    let answers = Answers::of(&reading.messages);
    let mut strays = Vec::new();
    let mut waiting = Waiting::default();
    for (index, message) in reading.each() {
        if answers.get(index) == Some(Answer::Nothing) {
            strays.extend(answered(message).map(|id| (index, id)));
        }
        if !answers.is_answered(index) {
            for id in asks(message) {
                waiting.add(id, index);
            }
        }
    }
    let behind = behind_each(&reading.messages);
    for (index, id) in strays {
        match waiting.take(id, index) {
            Some(call) => draft.move_to(index, behind[call], MOVED),
            None => draft.leave_out(index, LEFT_OUT),
        }
    }
}

/// Where the output of each item's call goes: after the other calls of its response and their
/// outputs, before the output of the program that made them.
fn behind_each(messages: &[Message]) -> Vec<usize> {
    let end = messages.len();
    let mut behind = vec![end; end];
    // After the outputs, and after the calls, that begin at the item that was looked at last.
    let (mut outputs, mut calls) = (end, end);
    for (index, message) in messages.iter().enumerate().rev() {
        behind[index] = calls;
        if message.outputs().all(|output| output.kind == item::PROGRAM) {
            outputs = index;
        }
        if !message.has_calls() {
            calls = outputs;
        }
    }
    behind
}

fn answer_calls(reading: &Reading, draft: &mut Draft<'_>) {
    let behind = behind_each(&reading.messages);
    for (at, unit) in reading.units() {
        if at + unit.len() == reading.messages.len() {
            continue;
        }
        // Calls whose outputs have forms that a note does not fit into.
        let mut lost = Vec::new();
        for index in unanswered(unit) {
            let (index, message) = (at + index, &unit[index]);
            let Some(call) = message.calls().next() else {
                continue;
            };
            let kind = match type_of(reading, message).as_str() {
                "function_call" | "local_shell_call" => "function_call_output",
                "custom_tool_call" => "custom_tool_call_output",
                _ => {
                    lost.push(index);
                    continue;
                }
            };
            let id = json::encode(&call.id);
            let text = json::encode(&reading.output_note(NONE_RECORDED));
            let caller = caller(reading, message);
            let output = format!(r#"{{"type":"{kind}","call_id":{id},"output":{text}{caller}}}"#);
            draft.add(behind[index], 0, output);
            draft.did(index, ANSWERED);
        }
        leave_out_calls(draft, at, unit, lost);
    }
}

/// The member of an output that says which program made its call; empty where the call has none.
fn caller(reading: &Reading, call: &Message) -> String {
    let caller = reading.member(&call.place, &["caller"]);
    let caller = caller.map(|place| reading.raw(&place));
    caller
        .filter(|raw| *raw != "null")
        .map_or_else(String::new, |raw| format!(r#","caller":{raw}"#))
}

/// Leaves calls of a unit out, if nothing that stays hangs on them (RESP-4): where there is no
/// reasoning, or all that it produced goes with it.
fn leave_out_calls(draft: &mut Draft<'_>, at: usize, unit: &[Message], lost: Vec<usize>) {
    let is_bound =
        |message: &Message| is_reasoning_item(message) || message.calls().any(is_program);
    let bound = unit.iter().filter(|message| is_bound(message)).count();
    let going = if bound == 0 {
        lost
    } else if unit
        .iter()
        .filter(|message| !is_reasoning_item(message))
        .count()
        == lost.len()
    {
        (at..at + unit.len()).collect()
    } else {
        return;
    };
    let what = "left out: a call without an output, or an item that depends on it";
    for index in going {
        draft.leave_out(index, what);
    }
}

/// Puts reasoning before what it produced, where that is sent under an id and others stand between;
/// leaves reasoning out that nothing follows.
///
/// What has an id has to come with its reasoning (RESP-4), and the reasoning that stands last before it,
/// with no other item of the model's between, is taken for that. To move it changes neither; without
/// the reasoning each item after it would have to lose its id, which sealed items cannot.
fn settle_reasoning(reading: &Reading, draft: &mut Draft<'_>) {
    // The first item of the next response, if any of that has an id and it begins without reasoning.
    let mut product = None;
    // Whether others speak between the message and that response.
    let mut is_over = false;
    let mut has_product = false;
    let mut moved = Vec::new();
    for (index, message) in reading.messages.iter().enumerate().rev() {
        if reading.is_late() {
            return;
        }
        if is_reasoning_item(message) {
            if has_product {
                product = None;
            } else if let Some(product) = product {
                moved.push((index, product));
            } else {
                draft.leave_out(index, "left out: reasoning without an item after it");
            }
            continue;
        }
        has_product = message.role == Role::Assistant && !message.has_compaction();
        if message.has_compaction() || is_reference(message) {
            product = None;
        } else if has_product {
            let later = product.filter(|_| !is_over);
            product = (message.id().is_some() || later.is_some()).then_some(index);
        }
        is_over = !has_product && (is_over || is_of_others(message));
    }
    let what = "reasoning was moved before the item that it produced";
    for (index, product) in moved.into_iter().rev() {
        draft.move_to(index, product, what);
    }
}
