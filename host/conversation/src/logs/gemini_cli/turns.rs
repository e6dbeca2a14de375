//! From messages of a recording to contents of the API.

use std::borrow::Cow;

use super::calls;
use super::parts::parts;
use super::step::Step;
use crate::formats::gemini::write::{Content, PartKind, add_answer};
use crate::json::Members;
use crate::logs::records::not_understood;
use crate::model::log::LogFacts;

/// The contents, and the model that answered last.
pub(super) fn contents<'a>(
    records: Vec<Members<'a>>,
    facts: &mut LogFacts,
) -> (Vec<Content<'a>>, Option<Cow<'a, str>>) {
    let mut contents: Vec<Content<'a>> = Vec::new();
    let mut step: Option<Step<'a>> = None;
    let mut model = None;
    for record in &records {
        match record.text("type").as_deref() {
            Some("user") => ask(record, &mut step, &mut contents, facts),
            Some("gemini") => {
                if let Some(before) = step.take() {
                    before.close(false, &mut contents, facts);
                }
                model = record.text("model").or(model);
                step = answer(record, &mut contents, facts);
            }
            Some("info" | "warning" | "error") => facts.skipped_lines += 1,
            _ => not_understood(facts),
        }
    }
    if let Some(last) = step {
        last.close(true, &mut contents, facts);
    }
    (contents, model)
}

/// Adds a message of the user role: what was said, or responses to open calls. What stands beside
/// these belongs to the answer (LGE-8).
fn ask<'a>(
    record: &Members<'a>,
    step: &mut Option<Step<'a>>,
    contents: &mut Vec<Content<'a>>,
    facts: &mut LogFacts,
) {
    let mut others = Vec::new();
    let mut responds = false;
    for part in parts(record.raw("content")) {
        match part.kind {
            PartKind::Other => others.push(part),
            PartKind::Call { .. } => facts.dropped_calls += 1,
            PartKind::Response => {
                responds = true;
                if !step.as_mut().is_some_and(|step| step.answer(part)) {
                    facts.dropped_results += 1;
                }
            }
        }
    }
    if others.is_empty() {
        return;
    }
    match step {
        Some(step) if responds => step.beside.extend(others),
        Some(step) => step.said.push(Content::user(others)),
        None => contents.push(Content::user(others)),
    }
}

/// Adds a model turn. If it calls tools, gives the step that waits for the answers (LGE-1).
fn answer<'a>(
    record: &Members<'a>,
    contents: &mut Vec<Content<'a>>,
    facts: &mut LogFacts,
) -> Option<Step<'a>> {
    let (parts, calls) = calls::said(record, facts);
    if parts.is_empty() {
        facts.aborted_responses += 1;
        return None;
    }
    let tokens = record
        .object("tokens")
        .map_or(0, |tokens| match tokens.sum(&["total"]) {
            0 => tokens.sum(&["input", "output", "thoughts", "tool"]),
            total => total,
        });
    add_answer(contents, parts, tokens);
    (!calls.is_empty()).then(|| Step::new(calls))
}
