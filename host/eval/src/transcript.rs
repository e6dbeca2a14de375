//! Messages as a reader sees them, who knows who wrote what as the agent does.

use std::fmt::Write as _;

use crate::message::{Message, PartKind, Role};

/// Writes messages with their authors, without instructions.
pub(crate) fn of<'m>(messages: impl IntoIterator<Item = &'m Message>) -> String {
    let mut text = String::new();
    for message in messages {
        if message.role == Role::Instructions {
            continue;
        }
        for part in &message.parts {
            let author = match (part.kind, message.role) {
                (PartKind::Thinking, _) => "the assistant thinks".to_owned(),
                (PartKind::Call, _) => format!("the assistant calls {}", part.tool),
                (PartKind::Output, _) => "output".to_owned(),
                (PartKind::Media, _) => "a picture".to_owned(),
                (PartKind::Text, Role::Assistant) => "the assistant".to_owned(),
                (PartKind::Text, _) => "the user".to_owned(),
            };
            let _ = writeln!(text, "[{author}]\n{}\n", part.text.trim_end());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_its_author() {
        let read = |raw: serde_json::Value| Message::read("openai-chat", &raw.to_string());
        let call =
            serde_json::json!({"function": {"name": "weigh", "arguments": "{\"grams\": 70}"}});
        let messages = [
            read(serde_json::json!({"role": "system", "content": "Be kind."})),
            read(serde_json::json!({"role": "user", "content": "Weigh it.\n"})),
            read(
                serde_json::json!({"role": "assistant", "content": "On it.", "tool_calls": [call]}),
            ),
            read(serde_json::json!({"role": "tool", "content": "71 g"})),
        ];
        assert_eq!(
            of(&messages),
            "[the user]\nWeigh it.\n\n[the assistant]\nOn it.\n\n[the assistant calls weigh]\n70\n\n[output]\n71 g\n\n"
        );
    }
}
