//! Pictures that the provider refuses for their size (ALL-8, ANTH-10).

use std::collections::BTreeMap;

use super::{Conversation, Inner};
use crate::formats::edit::Replacement;
use crate::formats::{Fit, ProviderLimits};
use crate::json::{self, Place};
use crate::marks::{self, By, Purpose, Site};
use crate::model::document::Document;
use crate::model::message::{Content, Media, Message};

/// What stands in the place of a picture. A line of this form is the host's, and nobody's words.
const LINE: &str = "[… a picture that is too large for the provider left out …]";

/// Numbers of pictures, kept up to date while a conversation grows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pictures {
    all: u32,
    /// Those that the provider refuses in any request.
    refused: u32,
    /// Those that it refuses among many.
    refused_among_many: u32,
}

impl Pictures {
    fn note(&mut self, message: &Message, document: &Document, limits: &ProviderLimits) {
        for picture in message.media().filter(|media| media.is_picture()) {
            self.all = self.all.saturating_add(1);
            match limits.fit(picture, document) {
                Fit::Always => {}
                Fit::AmongFew => self.refused_among_many += 1,
                Fit::Never => self.refused += 1,
            }
        }
    }

    const fn are_many(self) -> bool {
        self.all > ProviderLimits::MANY_PICTURES
    }

    const fn are_refused(self) -> bool {
        self.refused > 0 || self.refused_among_many > 0 && self.are_many()
    }
}

impl Inner {
    /// Counts the pictures of the messages from this index on.
    pub(super) fn note_pictures(&mut self, from: usize) {
        let limits = self.format.limits();
        for message in self.messages.iter().skip(from) {
            self.pictures.note(message, &self.document, &limits);
        }
    }
}

impl Conversation {
    /// Whether the provider refuses the request because a picture in it has too many bytes or pixels. The cost
    /// does not depend on the length of the conversation.
    #[must_use]
    pub fn has_refused_pictures(&self) -> bool {
        self.inner.pictures.are_refused()
    }

    /// Returns what to replace in which messages, given by index, so that no picture is refused for its size:
    /// each picture by a line of the host's in a mark. Of pictures that are refused only among many, the newest
    /// stay as far as they may. Leaves messages alone that are signed or for which `stays` returns true.
    pub fn refused_pictures(
        &self,
        stays: &dyn Fn(usize) -> bool,
    ) -> BTreeMap<usize, Vec<Replacement>> {
        let mut left_out: BTreeMap<usize, Vec<Replacement>> = BTreeMap::new();
        if !self.has_refused_pictures() {
            return left_out;
        }
        let limits = self.format().limits();
        let mut rest = self.inner.pictures;
        for refused in [Fit::Never, Fit::AmongFew] {
            for (index, message) in self.all_messages().iter().enumerate() {
                if message.opaque || stays(index) {
                    continue;
                }
                for (place, site, picture) in pictures(message) {
                    let is_wanted = refused == Fit::Never || rest.are_many();
                    if is_wanted && limits.fit(picture, self.source()) == refused {
                        rest.all -= 1;
                        let line = Replacement::of(place.clone(), self.line_at(site));
                        left_out.entry(index).or_default().push(line);
                    }
                }
            }
        }
        for replacements in left_out.values_mut() {
            replacements.sort_unstable_by_key(|own| own.place.start);
        }
        left_out
    }

    fn line_at(&self, site: Site<'_>) -> String {
        let text = marks::wrap(self.key(), Purpose::Excerpt, site, By::Host, LINE);
        self.format().wire().text_part(&json::encode(&text))
    }
}

/// The pictures of a message that are elements of a list, each with its place and the site of a text there.
fn pictures(message: &Message) -> Vec<(&Place, Site<'_>, &Media)> {
    let is_element = |place: &Place| {
        let list = message.content.as_ref();
        list.is_some_and(|list| list.start < place.start && place.end < list.end)
    };
    let mut found = Vec::new();
    for part in &message.parts {
        match &part.content {
            Content::Media(media) => {
                let site = message.role.site().filter(|_| is_element(&part.place));
                found.extend(site.map(|site| (&part.place, site, &**media)));
            }
            Content::Output(output) => {
                let others = output.others.iter();
                if let Some(site) = message.site(part) {
                    found.extend(others.map(|(place, media)| (place, site, media)));
                }
            }
            _ => {}
        }
    }
    found.retain(|(_, _, media)| media.is_picture());
    found
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use serde_json::{Value, json};

    use super::*;
    use crate::formats::edit;
    use crate::model::format::Format;

    /// A picture so many pixels wide.
    fn picture(width: u32) -> Value {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend(width.to_be_bytes());
        png.extend(16u32.to_be_bytes());
        png.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
        let data = base64::engine::general_purpose::STANDARD.encode(&png);
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
    }

    /// A task with a picture of this width, and so many steps with two parallel calls, one of which shows a picture of
    /// `step` pixels.
    fn harbour(width: u32, steps: usize, step: u32) -> Vec<Value> {
        let task = json!({"role": "user", "content": [{"type": "text", "text": "この桟橋を測って。"}, picture(width)]});
        let mut messages = vec![task];
        for index in 0..steps {
            let [look, depth] = [format!("look{index}"), format!("depth{index}")];
            messages.push(json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": look, "name": "look", "input": {}},
                {"type": "tool_use", "id": depth, "name": "depth", "input": {}}]}));
            messages.push(json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": look, "content": [{"type": "text", "text": "A quay."}, picture(step)]},
                {"type": "tool_result", "tool_use_id": depth, "is_error": true, "content": "no sounding"}]}));
        }
        messages
    }

    fn read(messages: &[Value]) -> Conversation {
        let document = json!({"model": "claude-sonnet-4-5", "messages": messages}).to_string();
        Conversation::of(&document, Some(Format::Anthropic)).expect("reads")
    }

    /// The messages whose pictures are left out, and the conversation without these.
    fn cured(conversation: &Conversation) -> (Vec<usize>, Conversation) {
        let left_out = conversation.refused_pictures(&|_| false);
        let messages = conversation.all_messages().iter().enumerate();
        let raws: Vec<String> = messages
            .map(|(index, message)| {
                let replacements = left_out.get(&index).map_or(&[][..], Vec::as_slice);
                edit::replace(conversation.source(), &message.place, replacements)
            })
            .collect();
        let document = conversation.frame().write(raws.iter().map(String::as_str));
        let after = conversation.read_alike(document, None).expect("reads");
        (left_out.into_keys().collect(), after)
    }

    #[test]
    fn refused_pictures_are_those_that_the_rules_name() {
        for (width, steps, step, expected) in [
            (8_000, 1, 2_000, vec![]),
            (8_001, 1, 2_000, vec![0]),
            (2_001, 19, 2_000, vec![]),
            (2_001, 20, 2_000, vec![0]),
            (100, 1, 9_000, vec![2]),
        ] {
            let conversation = read(&harbour(width, steps, step));
            let is_refused = !expected.is_empty();
            assert_eq!(conversation.has_refused_pictures(), is_refused, "{width}");
            assert_eq!(conversation.violations().is_empty(), !is_refused, "{width}");
            let (messages, after) = cured(&conversation);
            assert_eq!(messages, expected, "{width}");
            assert_eq!(after.violations(), [], "{width}");
            assert!(!after.has_refused_pictures(), "{width}");
            assert_eq!(after.units().len(), conversation.units().len(), "{width}");
        }
    }

    #[test]
    fn a_picture_in_the_alphabet_of_urls_has_its_size() {
        let mut wide = picture(65_535);
        let data = wide["source"]["data"].as_str().expect("a text").to_owned();
        assert!(data.contains(['+', '/']), "{data}");
        wide["source"]["data"] = data.replace('+', "-").replace('/', "_").into();
        let text = json!({"type": "text", "text": "測って。"});
        let messages = [json!({"role": "user", "content": [text, wide]})];
        assert!(read(&messages).has_refused_pictures());
    }

    #[test]
    fn newest_large_pictures_stay_where_few_are_left() {
        // 22 pictures; without two of them there are no longer more than 20.
        let conversation = read(&harbour(100, 21, 4_000));
        let (messages, after) = cured(&conversation);
        assert_eq!(messages, [2, 4]);
        assert_eq!(after.violations(), []);
        assert_eq!(after.media(), 20);
    }

    #[test]
    fn all_else_of_a_message_stays_and_its_picture_alone_leaves_the_users_message() {
        let mut messages = harbour(9_000, 1, 9_000);
        messages.push(json!({"role": "assistant", "content": "It is short."}));
        messages.push(json!({"role": "user", "content": [picture(9_000)]}));
        let conversation = read(&messages);
        let (changed, after) = cured(&conversation);
        assert_eq!(changed, [0, 2, 4]);
        let kinds = |of: &Conversation| -> Vec<_> {
            let units = of.units().iter();
            units
                .map(|unit| (unit.kind, unit.traits.user_text))
                .collect()
        };
        assert_eq!(kinds(&after), kinds(&conversation));
        for kept in ["この桟橋を測って。", "A quay.", "no sounding"] {
            assert!(after.document().contains(kept), "{kept}");
        }
        assert_eq!(after.document().matches(LINE).count(), 3);
    }

    #[test]
    fn messages_that_stay_keep_their_pictures() {
        let conversation = read(&harbour(9_000, 1, 9_000));
        let left_out = conversation.refused_pictures(&|message| message == 0);
        assert_eq!(left_out.into_keys().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn pictures_that_are_appended_count() {
        let messages = harbour(2_001, 20, 100);
        let mut conversation = read(&messages[..39]);
        assert!(!conversation.has_refused_pictures());
        let rest: Vec<String> = messages[39..].iter().map(Value::to_string).collect();
        conversation
            .append_all(rest.iter().map(String::as_str))
            .expect("messages");
        assert!(conversation.has_refused_pictures());
    }
}
