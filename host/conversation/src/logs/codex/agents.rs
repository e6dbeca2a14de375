//! What the agents of one session say to each other.

use crate::formats::openai_responses::write;
use crate::json::{self, Members};

/// Whether the only text of an answer is such a message, as a call of the model's own writes it.
pub(super) fn is_message(text: &str) -> bool {
    json::is_object(text.trim_start())
        && serde_json::from_str::<Members<'_>>(text).is_ok_and(|members| tells(&members))
}

/// The item that Codex makes of a recorded message for the model (LCX-12); `None` if it is no such message
/// or says nothing.
pub(super) fn item(members: &Members<'_>) -> Option<String> {
    if !tells(members) {
        return None;
    }
    let text = |key: &str| members.raw(key);
    let (author, recipient) = (text("author")?, text("recipient")?);
    let content = match text("encrypted_content").filter(|raw| json::is_text(raw)) {
        Some(encrypted) => {
            let head = json::encode(&head(members)?);
            [write::text(&head), write::encrypted(encrypted)].join(",")
        }
        None => {
            let content = text("content").filter(|raw| !json::is_blank(raw))?;
            write::text(content)
        }
    };
    Some(write::agent_message(author, recipient, &content))
}

/// What comes before words that only the provider can read.
fn head(members: &Members<'_>) -> Option<String> {
    let kind = if begins_turn(members)? {
        "NEW_TASK"
    } else {
        "MESSAGE"
    };
    let (author, recipient) = (members.text("author")?, members.text("recipient")?);
    Some(format!(
        "Message Type: {kind}\nTask name: {recipient}\nSender: {author}\nPayload:\n"
    ))
}

/// Whether an object has all that such a message has. Agents have paths for names.
fn tells(members: &Members<'_>) -> bool {
    let is_agent = |key: &str| members.text(key).is_some_and(|path| path.starts_with('/'));
    is_agent("author")
        && is_agent("recipient")
        && members.text("content").is_some()
        && begins_turn(members).is_some()
}

/// Whether the agent that gets it begins a turn with it; `None` if that is not known.
fn begins_turn(members: &Members<'_>) -> Option<bool> {
    match members.get("trigger_turn")?.get() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}
