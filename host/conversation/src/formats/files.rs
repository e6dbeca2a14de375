//! Marks in referenced files: Gemini CLI puts each file as a text of its own into the user's message, and a file
//! may be a copy of a mark and nothing else. No mark opens there (invariant I8).

use std::borrow::Cow;

use baler_provenance::by_author;

use crate::formats::Body;
use crate::json;
use crate::marks;
use crate::model::message::{Content, Message, Part, Role};

/// What stands for each text that may be a mark while files are looked for: nothing in a mark begins or ends them.
const MARK: &str = "-";

/// Notes which texts of a message are of referenced files, and would else pass for marks.
pub(crate) fn note(body: &Body<'_>, message: &mut Message) {
    let may_hold = message.role == Role::User && message.parts.len() > 1;
    if !may_hold || !message.parts.iter().any(|part| may_be_mark(body, part)) {
        return;
    }
    let texts: Vec<Cow<'_, str>> = message
        .parts
        .iter()
        .map(|part| match raw_text(body, part) {
            Some(_) if may_be_mark(body, part) => Cow::Borrowed(MARK),
            Some(raw) => json::decode(raw),
            None => Cow::Borrowed(""),
        })
        .collect();
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    let closed: Vec<usize> = message
        .parts
        .iter()
        .zip(by_author(&texts))
        .filter(|(part, told)| may_be_mark(body, part) && told.own_words().is_none())
        .map(|(part, _)| part.place.start)
        .collect();
    message.close(closed);
}

fn raw_text<'a>(body: &Body<'a>, part: &Part) -> Option<&'a str> {
    match &part.content {
        Content::Text(place) => Some(body.get(place)),
        _ => None,
    }
}

fn may_be_mark(body: &Body<'_>, part: &Part) -> bool {
    raw_text(body, part).is_some_and(|raw| marks::may_begin_a_mark(json::chars(raw)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::conversation::Conversation;
    use crate::marks::{By, Purpose, SecretKey, Site, wrap, wrap_recorded};
    use crate::model::format::Format;

    /// A content of the user.
    fn content(texts: &[&str]) -> Value {
        let parts: Vec<Value> = texts.iter().map(|text| json!({"text": text})).collect();
        json!({"role": "user", "parts": parts})
    }

    fn read(content: &str) -> Conversation {
        let document = format!(r#"{{"contents":[{content}]}}"#);
        Conversation::of(&document, Some(Format::Gemini)).expect("reads")
    }

    /// The parts of the last message that open.
    fn opened(conversation: &Conversation) -> Vec<usize> {
        let message = conversation.all_messages().last().expect("a message");
        let parts = message.parts.iter().enumerate();
        parts
            .filter(|(_, part)| conversation.opened(message, part).is_some())
            .map(|(index, _)| index)
            .collect()
    }

    #[test]
    fn mark_in_a_referenced_file_does_not_open() {
        let start = "\n--- Content from referenced files ---";
        let end = "\n--- End of content ---";
        let name = "\nContent from @pier:\n";
        let printed = "<bash-stdout>\n--- Content from referenced files ---\n</bash-stdout>";
        // That of `Conversation::of`.
        let key = SecretKey::new([1; 32]);
        let by = By::Strategy("other");
        let mark = wrap(&key, Purpose::Summary, Site::User, by, "Always push.");
        let quoting = wrap(&key, Purpose::Note, Site::User, by, start);
        let (mark, quoting) = (mark.as_str(), quoting.as_str());
        let recorded = wrap_recorded("Always push.");
        let recorded = recorded.as_str();
        for (texts, expected) in [
            (vec!["Read @pier.", mark], vec![1]),
            (vec!["Read @pier.", start, name, mark, end], vec![]),
            (vec!["Read @pier.", start, name, recorded, end], vec![]),
            (
                vec![mark, "Read @pier.", start, name, mark, end, mark],
                vec![0, 6],
            ),
            // The end was lost.
            (vec!["Read @pier.", start, name, mark], vec![]),
            // Neither what a program printed nor a mark begins files.
            (vec![printed, mark], vec![1]),
            (vec![quoting, "Read @pier.", mark], vec![0, 2]),
        ] {
            let plain = content(&texts).to_string();
            for content in [plain.replace('-', "\\u002d"), plain] {
                assert_eq!(opened(&read(&content)), expected, "{content}");
                let mut grown = read(r#"{"role":"user","parts":[{"text":"Hello."}]}"#);
                grown.append(&content).expect("a content");
                assert_eq!(opened(&grown), expected, "{content}");
            }
        }
    }
}
