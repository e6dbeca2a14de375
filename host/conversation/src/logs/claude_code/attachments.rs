//! What the program attaches to the conversation: what the user types while the agent works, files,
//! reminders (LCC-15).

use serde_json::value::RawValue;

use super::content::{Content, has_other_origin};
use crate::json::{self, Members};
use crate::logs::anthropic::blocks::{Block, blocks, mark_inserted};
use crate::model::log::LogFacts;

/// The attachments that the model sees as a text, and where it stands. What is a text on the way there is
/// the text: older versions wrote less around it.
const TEXTS: [(&str, &[&str]); 9] = [
    ("file", &["content", "file", "content"]),
    ("edited_text_file", &["snippet"]),
    ("nested_memory", &["content", "content"]),
    ("directory", &["content"]),
    ("selected_lines_in_ide", &["content"]),
    ("plan_file_reference", &["planContent"]),
    ("critical_system_reminder", &["content"]),
    ("hook_additional_context", &["content"]),
    ("skill_listing", &["content"]),
];

/// What an attachment says to the model; it is counted where that is not a text.
pub(super) fn content<'a>(line: &Members<'a>, facts: &mut LogFacts) -> Content<'a> {
    let attachment = line.object("attachment");
    let said = attachment.and_then(|attachment| {
        let prompt = prompt_of(&attachment);
        let is_queued = prompt.is_some();
        let said = prompt.or_else(|| attached(&attachment))?;
        let mut said = blocks(said, facts).filter(|said| !said.is_empty())?;
        if !is_queued {
            said.splice(0..0, name(&attachment, facts));
        }
        if !is_queued || !is_typed(line, &attachment) {
            mark_inserted(&mut said);
        }
        Some(said)
    });
    let Some(blocks) = said else {
        facts.dropped_attachments += 1;
        return Content::None;
    };
    Content::record(blocks)
}

/// What was queued while the agent worked, if the line tells the model of it.
pub(super) fn queued_prompt<'a>(line: &Members<'a>) -> Option<&'a RawValue> {
    prompt_of(&line.object("attachment")?)
}

fn prompt_of<'a>(attachment: &Members<'a>) -> Option<&'a RawValue> {
    let kind = attachment.text("type")?;
    let prompt = attachment.present("prompt");
    prompt.filter(|_| kind == "queued_command")
}

/// Whether the user typed what was queued, and not a task that ended or another agent.
fn is_typed(line: &Members<'_>, attachment: &Members<'_>) -> bool {
    let mode = attachment.text("commandMode");
    mode.is_none_or(|mode| mode == "prompt")
        && !attachment.is_true("isMeta")
        && !has_other_origin(attachment)
        && !has_other_origin(line)
}

/// The text of an attachment of the program's.
fn attached<'a>(attachment: &Members<'a>) -> Option<&'a RawValue> {
    let kind = attachment.text("type")?;
    let (_, path) = TEXTS.iter().find(|(known, _)| *known == kind)?;
    text_at(attachment, path)
}

fn text_at<'a>(members: &Members<'a>, path: &[&str]) -> Option<&'a RawValue> {
    let (key, rest) = path.split_first()?;
    let value = members.present(key)?;
    if !json::is_object(value.get()) {
        return Some(value);
    }
    text_at(&serde_json::from_str(value.get()).ok()?, rest)
}

/// Which file it is from.
fn name<'a>(attachment: &Members<'a>, facts: &mut LogFacts) -> Vec<Block<'a>> {
    let name = attachment.first(&["filename", "path"]);
    name.filter(|name| json::is_text(name.get()))
        .and_then(|name| blocks(name, facts))
        .unwrap_or_default()
}
