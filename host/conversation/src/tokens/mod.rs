//! Counting tokens: exact vocabularies, and counts remembered for each message.

mod cache;
#[cfg(feature = "vocabularies")]
mod runs;
#[cfg_attr(not(feature = "vocabularies"), path = "estimate.rs")]
mod vocabularies;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cache::Cache;

use crate::model::document::Document;
use crate::model::message::{Content, Media, Message, text_at};

/// What a message costs beside its parts: role and separators, as the chat templates of the
/// providers add them.
const PER_MESSAGE: u32 = 4;

/// A picture as characters: what it costs as tokens, at three characters for each.
const CHARACTERS_PER_PICTURE: u32 = 4_800;

/// What a tool call costs beside its name and arguments.
const PER_CALL: u32 = 8;

/// A picture or one page of a document, in the order of what the providers bill. Its bytes
/// in the request say little about it.
const PER_PICTURE: u32 = 1_600;

/// Bytes of a document (as base64) that cost about a token.
const DOCUMENT_BYTES_PER_TOKEN: u32 = 30;

/// Bytes of an encrypted or unknown part that count as a token.
const OPAQUE_BYTES_PER_TOKEN: usize = 4;

/// Tokens of Claude's models for a thousand of [`Tokenizer::DEFAULT`]: the median growth of what
/// Anthropic's API reported, over that of the count, in recorded sessions (`docs/wire-formats.md`).
const CLAUDE_PERMILLE: u32 = 1_250;

/// A vocabulary, and the counts of the messages that were counted with it.
///
/// Cheap to clone; clones share the counts. [`Tokenizer::DEFAULT`] is ready at once. Another vocabulary is
/// unpacked when it is first used, which takes a tenth of a second or so.
#[derive(Clone)]
pub struct Tokenizer {
    vocabulary: &'static str,
    cache: Arc<Cache>,
    /// What counts are multiplied by, in thousandths, to agree with what a provider reported.
    permille: u32,
    /// Whether the vocabulary is known to be that of the model.
    is_exact: bool,
}

/// A host's tokenizers: one for each vocabulary, so that counts are remembered from one
/// conversation to the next.
#[derive(Debug, Default)]
pub(crate) struct Tokenizers(Mutex<HashMap<&'static str, Tokenizer>>);

impl Tokenizers {
    /// The tokenizer for a model, by the model's name.
    pub(crate) fn for_model(&self, model: &str) -> Tokenizer {
        let vocabulary = Tokenizer::vocabulary_of(model);
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(vocabulary)
            .or_insert_with(|| Tokenizer::of(vocabulary))
            .of_model(model)
    }
}

/// Tokens of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    pub parts: Arc<[u32]>,
}

impl Counts {
    /// Tokens of the whole message, where it costs so many beside its parts.
    pub(crate) fn total(&self, per_message: u32) -> u32 {
        self.parts
            .iter()
            .fold(per_message, |sum, part| sum.saturating_add(*part))
    }
}

/// No vocabulary has this name.
#[derive(Debug, thiserror::Error)]
#[error("unknown tokenizer `{name}`; known: auto, {}, {}", Tokenizer::names().join(", "), Tokenizer::CHARACTERS)]
pub struct UnknownTokenizer {
    /// The name that was asked for.
    pub name: String,
}

impl Tokenizer {
    /// The vocabulary where nothing speaks for another: that of the newer OpenAI models, and
    /// a fair estimate for those whose vocabulary is not published.
    #[cfg(feature = "vocabularies")]
    pub const DEFAULT: &str = baler_vocabulary::NAME;

    /// No vocabulary but an estimate: a token for each four bytes of UTF-8.
    #[cfg(not(feature = "vocabularies"))]
    pub const DEFAULT: &str = "estimate";

    /// Not tokens but characters of content: text, thinking, names and arguments of calls,
    /// outputs; a picture is 4,800. For comparing strategies whatever model is meant.
    pub const CHARACTERS: &str = "characters";

    /// Counts characters; see [`Tokenizer::CHARACTERS`].
    #[must_use]
    pub fn characters() -> Self {
        Self::of(Self::CHARACTERS)
    }

    /// What a message costs beside its parts.
    pub fn per_message(&self) -> u32 {
        if self.counts_characters() {
            0
        } else {
            PER_MESSAGE
        }
    }

    fn counts_characters(&self) -> bool {
        self.vocabulary == Self::CHARACTERS
    }

    /// The names of the built-in vocabularies.
    #[must_use]
    pub fn names() -> &'static [&'static str] {
        vocabularies::names()
    }

    /// The vocabulary called `name`.
    ///
    /// # Errors
    /// There is none of that name; the message lists those that there are.
    pub fn named(name: &str) -> Result<Self, UnknownTokenizer> {
        if name == Self::CHARACTERS {
            return Ok(Self::characters());
        }
        Self::names()
            .iter()
            .find(|known| **known == name)
            .map(|vocabulary| Self::of(vocabulary))
            .ok_or_else(|| UnknownTokenizer {
                name: name.to_owned(),
            })
    }

    /// The vocabulary of a model, by the model's name; [`Tokenizer::DEFAULT`] for one that is
    /// not known, with its counts multiplied by what was measured where that is far off.
    #[must_use]
    pub fn for_model(model: &str) -> Self {
        Self::of(Self::vocabulary_of(model)).of_model(model)
    }

    fn permille_of(model: &str) -> u32 {
        if model.contains("claude") {
            return CLAUDE_PERMILLE;
        }
        1_000
    }

    fn vocabulary_of(model: &str) -> &'static str {
        Self::known_vocabulary_of(model).unwrap_or(Self::DEFAULT)
    }

    fn known_vocabulary_of(model: &str) -> Option<&'static str> {
        // Routers put the provider in front: `openai/gpt-5`.
        let bare = model.rsplit('/').next().unwrap_or(model);
        vocabularies::of_model(bare).or_else(|| vocabularies::of_model(model))
    }

    /// The same for a model whose vocabulary this is, or which none is known of.
    fn of_model(&self, model: &str) -> Self {
        Self {
            is_exact: Self::known_vocabulary_of(model).is_some(),
            ..self.scaled(Self::permille_of(model))
        }
    }

    /// Whether it counts texts as the model's provider does: its vocabulary is known to be that of
    /// the model. What a provider reported never makes such counts smaller.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.is_exact
    }

    fn of(vocabulary: &'static str) -> Self {
        Self {
            vocabulary,
            cache: Arc::new(Cache::default()),
            permille: 1_000,
            is_exact: false,
        }
    }

    /// The same vocabulary with all counts multiplied by so many thousandths; but a model's own
    /// counts no text too high, only what is estimated, such as encrypted reasoning.
    pub(crate) fn scaled(&self, permille: u32) -> Self {
        let permille = u64::from(self.permille) * u64::from(permille) / 1_000;
        let permille = u32::try_from(permille).unwrap_or(u32::MAX);
        Self {
            permille: if self.is_exact {
                permille.max(1_000)
            } else {
                permille
            },
            ..self.clone()
        }
    }

    /// What counts are multiplied by, in thousandths.
    pub(crate) const fn permille(&self) -> u32 {
        self.permille
    }

    /// The same vocabulary with its own counts multiplied by so many thousandths, and whether it is
    /// known to be that of the model.
    pub(crate) fn counting(&self, permille: u32, is_exact: bool) -> Self {
        Self {
            permille,
            is_exact,
            ..self.clone()
        }
    }

    fn scale(&self, tokens: u32) -> u32 {
        if self.permille == 1_000 {
            return tokens;
        }
        let scaled = (u64::from(tokens) * u64::from(self.permille)).div_ceil(1_000);
        u32::try_from(scaled).unwrap_or(u32::MAX)
    }

    /// The vocabulary's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.vocabulary
    }

    /// Tokens of `text` alone. Runs of some kilobytes without a word break are counted by samples,
    /// such as base64, or in pieces, such as spaces.
    #[must_use]
    pub fn count(&self, text: &str) -> u32 {
        self.scale(self.count_unscaled(text))
    }

    fn count_unscaled(&self, text: &str) -> u32 {
        if self.counts_characters() {
            return u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        }
        let tokens = vocabularies::count(self.vocabulary, text);
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }

    /// Tokens of a message, from memory where it was counted before.
    pub(crate) fn count_message(&self, document: &Document, message: &Message) -> Counts {
        let raw = document.at(&message.place);
        let counts = self.cache.get_or_insert(raw, || Counts {
            parts: message
                .parts
                .iter()
                .map(|part| self.count_part(document, &part.content, part.place.len()))
                .collect(),
        });
        if self.permille == 1_000 {
            return counts;
        }
        Counts {
            parts: counts.parts.iter().map(|part| self.scale(*part)).collect(),
        }
    }

    fn count_part(&self, document: &Document, content: &Content, bytes: usize) -> u32 {
        match content {
            Content::Text(place) | Content::Thinking(place) => {
                self.count_unscaled(&text_at(document, place))
            }
            Content::Call(call) => {
                let arguments = call
                    .arguments
                    .as_ref()
                    .map_or(0, |place| self.count_unscaled(&text_at(document, place)));
                let around = if self.counts_characters() {
                    0
                } else {
                    PER_CALL
                };
                around + self.count_unscaled(&call.name) + arguments
            }
            Content::Output(output) => output.others.iter().fold(
                self.count_unscaled(&output.text(document)),
                |sum, (_, media)| sum.saturating_add(self.count_media(media)),
            ),
            Content::Media(media) => self.count_media(media),
            // Nobody reads it.
            Content::Opaque(_) if self.counts_characters() => 0,
            Content::Opaque(opaque) => {
                let tokens = u32::try_from(bytes / OPAQUE_BYTES_PER_TOKEN + 1).unwrap_or(u32::MAX);
                // Its bytes say as little about it as those of any picture.
                if opaque.is_picture() {
                    tokens.min(PER_PICTURE)
                } else {
                    tokens
                }
            }
        }
    }

    fn count_media(&self, media: &Media) -> u32 {
        if self.counts_characters() {
            return CHARACTERS_PER_PICTURE;
        }
        if media.is_picture() {
            PER_PICTURE
        } else {
            PER_PICTURE.max(media.bytes / DOCUMENT_BYTES_PER_TOKEN)
        }
    }
}

/// The vocabulary's name, and what its counts are multiplied by.
impl fmt::Display for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.vocabulary)?;
        if self.permille != 1_000 {
            write!(f, " × {}", f64::from(self.permille) / 1_000.0)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tokenizer").field(&self.vocabulary).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Conversation;
    use crate::model::format::Format;

    #[test]
    fn model_finds_its_vocabulary_with_or_without_its_provider() {
        for (model, vocabulary) in [
            ("gpt-4o", "o200k_base"),
            ("openai/gpt-4o-mini", "o200k_base"),
            ("gpt-4", "cl100k_base"),
            ("some-model-of-tomorrow", Tokenizer::DEFAULT),
        ] {
            assert_eq!(Tokenizer::for_model(model).name(), vocabulary, "{model}");
        }
    }

    #[test]
    fn what_is_known_to_count_more_is_counted_as_more() {
        let text = "The winter tariff begins on the first of November.";
        let plain = Tokenizer::for_model("gpt-5");
        let claude = Tokenizer::for_model("us.anthropic.claude-sonnet-4-5");
        assert_eq!(claude.count(text), (plain.count(text) * 5).div_ceil(4));
        assert_eq!(claude.to_string(), "o200k_base × 1.25");
        assert_eq!(claude.scaled(1_200).to_string(), "o200k_base × 1.5");
        assert_eq!(plain.to_string(), "o200k_base");
    }

    /// Counts published by OpenAI for its own tokenizer (the tiktoken cookbook).
    #[test]
    fn counts_agree_with_the_published_ones() {
        let text = "antidisestablishmentarianism";
        assert_eq!(
            Tokenizer::named("cl100k_base").map(|t| t.count(text)).ok(),
            Some(6)
        );
        assert_eq!(
            Tokenizer::named("o200k_base").map(|t| t.count(text)).ok(),
            Some(6)
        );
        let japanese = "お誕生日おめでとう";
        assert_eq!(
            Tokenizer::named("cl100k_base")
                .map(|t| t.count(japanese))
                .ok(),
            Some(9)
        );
        assert_eq!(
            Tokenizer::named("o200k_base")
                .map(|t| t.count(japanese))
                .ok(),
            Some(8)
        );
    }

    /// Tokens of a conversation with `picture` in place of `@`.
    fn with_picture(format: Format, messages: &str, picture: &str) -> u32 {
        let list = match format {
            Format::OpenAiResponses => "input",
            Format::Gemini => "contents",
            _ => "messages",
        };
        let messages = messages.replace('@', picture);
        let body = format!(r#"{{"model":"m","{list}":[{messages}]}}"#);
        let conversation = Conversation::of(&body, Some(format)).expect("reads");
        assert_eq!(conversation.tokenizer().name(), Tokenizer::DEFAULT);
        conversation.tokens()
    }

    /// One screenshot must not cost a whole history.
    #[test]
    fn picture_counts_alike_whatever_its_bytes_its_place_and_its_format() {
        let chat = Format::OpenAiChat;
        let responses = Format::OpenAiResponses;
        let large = "A".repeat(1_000_000);
        for (format, messages) in [
            (
                chat,
                r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,@"}}]}"#,
            ),
            (
                chat,
                r#"{"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,@"}}]}"#,
            ),
            (
                responses,
                r#"{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,@"}]}"#,
            ),
            (
                responses,
                r#"{"type":"function_call_output","call_id":"a","output":[{"type":"input_image","image_url":"data:image/png;base64,@"}]}"#,
            ),
            (
                responses,
                r#"{"type":"computer_call_output","call_id":"a","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,@"}}"#,
            ),
            (
                responses,
                r#"{"type":"computer_call_output","call_id":"a","output":{"type":"input_image","image_url":"data:image/png;base64,@"}}"#,
            ),
            (
                Format::Anthropic,
                r#"{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"@"}}]}"#,
            ),
            (
                Format::Anthropic,
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"@"}}]}]}"#,
            ),
            (
                Format::Gemini,
                r#"{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"@"}}]}"#,
            ),
            (
                Format::BedrockConverse,
                r#"{"role":"user","content":[{"image":{"format":"png","source":{"bytes":"@"}}}]}"#,
            ),
            (
                Format::BedrockConverse,
                r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"image":{"format":"png","source":{"bytes":"@"}}}]}}]}"#,
            ),
            (
                Format::Gemini,
                r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{},"parts":[{"inlineData":{"mimeType":"image/png","data":"@"}}]}}]}"#,
            ),
        ] {
            let tokens = with_picture(format, messages, &large);
            assert_eq!(tokens, with_picture(format, messages, "AAAA"), "{messages}");
            // What a message costs beside it, and the empty object of a response.
            let beside = tokens - PER_PICTURE;
            assert!(
                (PER_MESSAGE..PER_MESSAGE + 4).contains(&beside),
                "{messages}"
            );
        }
    }

    #[test]
    fn picture_that_the_provider_made_counts_no_more_than_any_other() {
        let made =
            r#"{"type":"image_generation_call","id":"ig_a","status":"completed","result":"@"}"#;
        let count = |picture: &str| with_picture(Format::OpenAiResponses, made, picture);
        assert_eq!(count(&"A".repeat(2_000_000)), PER_MESSAGE + PER_PICTURE);
        // One that failed is not a picture.
        assert!(count("") < 50);
    }

    #[test]
    fn characters_are_counted_as_such() {
        let characters = Tokenizer::characters();
        assert_eq!(characters.count("日本 ok"), 5);
        assert_eq!(characters.per_message(), 0);
    }

    #[test]
    fn unknown_name_is_answered_with_the_known_ones() {
        let message = Tokenizer::named("gpt9")
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("`gpt9`") && message.contains("o200k_base"),
            "{message}"
        );
    }
}
