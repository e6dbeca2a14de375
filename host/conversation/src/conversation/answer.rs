//! What counts as an answer of the model's (decision 012).

use super::{Conversation, is_note_for_model};
use crate::json;
use crate::model::message::{Content, Message, Part, Role};

/// Characters of words at the end of a request that may be there for the model to go on with them.
const BEGINNING: usize = 40;

/// What agents write in the place of an answer that is missing.
const PLACEHOLDERS: [&str; 3] = [
    "(no content)",
    "No response requested.",
    "[The previous response was interrupted before it completed.]",
];

/// Bytes at the end of a text, as JSON has it, that a closing tag of thinking stands in where nothing
/// comes after it.
const TAIL: usize = 64;

/// Characters at the beginning of a text that say whether the rest has to be read: no fewer than a
/// placeholder has.
const TELLING: usize = 64;

impl Conversation {
    /// Whether a message is an answer of the model. Where an answer failed, clients send an empty one,
    /// or what the model thought until then.
    #[must_use]
    pub fn is_answer(&self, message: &Message) -> bool {
        message.role == Role::Assistant
            && !message.is_not_said
            && !self.says_nothing(&message.parts)
            && !is_note_for_model(self.source(), self.key(), message)
    }

    /// Whether parts are nothing that is said: thinking, in whatever form, and texts without words.
    fn says_nothing(&self, parts: &[Part]) -> bool {
        let is_nothing_else = |part: &Part| match &part.content {
            Content::Text(_) | Content::Thinking(_) => true,
            Content::Opaque(opaque) => part.content.is_thinking() || opaque.says_nothing(),
            Content::Media(media) => media.is_thought,
            Content::Call(_) | Content::Output(_) => false,
        };
        parts.iter().all(is_nothing_else) && !self.has_words(parts)
    }

    /// Whether the texts among parts, joined, hold words of an answer: more than white space, thinking
    /// that a server left in the text, or a placeholder.
    fn has_words(&self, parts: &[Part]) -> bool {
        let start: String = self.characters(parts).take(TELLING).collect();
        let may_be_none = start.is_empty()
            || start.starts_with("<think")
            || PLACEHOLDERS.iter().any(|own| start.starts_with(*own))
            || parts.iter().any(|part| self.may_end_in_thinking(part));
        if !may_be_none {
            return true;
        }
        let text: String = self.characters(parts).collect();
        baler_provenance::after_thinking(&text)
            .map(str::trim)
            .is_some_and(|said| !said.is_empty() && !PLACEHOLDERS.contains(&said))
    }

    /// Whether a text may end with the closing tag of thinking, of which the opening one was in the
    /// prompt. Only its end is looked at: all texts of the model are asked this.
    fn may_end_in_thinking(&self, part: &Part) -> bool {
        let Content::Text(text) = &part.content else {
            return false;
        };
        let raw = self.source().at(text);
        let tail = raw.len().saturating_sub(TAIL);
        raw[raw.ceil_char_boundary(tail)..].contains("think")
    }

    /// The characters of the texts among parts, from the first that is not white space on.
    fn characters<'a>(&'a self, parts: &'a [Part]) -> impl Iterator<Item = char> + 'a {
        let texts = parts.iter().filter_map(move |part| match &part.content {
            Content::Text(text) => self.source().get(text.clone()),
            _ => None,
        });
        texts
            .flat_map(json::chars)
            .skip_while(|character| character.is_whitespace())
    }

    /// Whether a part of the model's leaves open what it makes of what tools returned: no words, but
    /// thinking, calls, and what the provider's own tools were asked or returned.
    #[must_use]
    pub fn is_silent(&self, part: &Part) -> bool {
        self.says_nothing(std::slice::from_ref(part))
            || matches!(part.content, Content::Call(_))
            || part.content.is_hosted()
    }

    /// Whether a message is no more than a beginning that a client puts into the model's mouth, such
    /// as `{` or `<answer>`. A whole answer is rarely as short, and then a step more stays.
    #[must_use]
    pub fn is_short(&self, message: &Message) -> bool {
        let mut left = BEGINNING;
        message.parts.iter().all(|part| match &part.content {
            Content::Text(text) => {
                let length = json::chars(self.source().at(text)).take(left + 1).count();
                let fits = length <= left;
                left = left.saturating_sub(length);
                fits
            }
            content => content.is_thinking(),
        })
    }

    /// Number of messages up to the newest answer of the model, that one included.
    #[must_use]
    pub fn answered(&self) -> usize {
        let messages = self.all_messages();
        // A request that ends with a few words of the model's may ask it to go on with them. What
        // ends a log was said.
        let last = self.last_said();
        let may_be_begun = |index: usize| Some(index) == last && self.log().is_none();
        (0..messages.len())
            .rev()
            .find(|&index| {
                let message = &messages[index];
                self.is_answer(message) && !(may_be_begun(index) && self.is_short(message))
            })
            .map_or(0, |index| index + 1)
    }

    /// The last message, those of the model's aside that are no answer: they may go, and what stands
    /// before them is to count as it will without them.
    #[must_use]
    pub fn last_said(&self) -> Option<usize> {
        let mut messages = self.all_messages().iter();
        messages.rposition(|message| message.role != Role::Assistant || self.is_answer(message))
    }
}
