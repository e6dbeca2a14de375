//! Conversations of agents, made up: for tests, fuzz targets and benches.
//!
//! A conversation is valid by the rules of its wire format, and holds by chance all that a
//! format allows: parallel and failing calls, pictures, signed thinking, parts that nobody
//! knows, every spelling of JSON. The same choices give the same conversation.

mod choices;
mod json;
mod text;
mod scribe;
mod plot;
mod openai_chat;
mod openai_responses;
mod anthropic;
mod bedrock_converse;
mod gemini;
mod broken;
mod spelling;
mod episodes;
pub mod session;
mod statements;

pub use broken::broken_at;
pub use choices::Choices;
pub use episodes::Episodes;
pub use spelling::Spelling;
pub use statements::Wording;

use scribe::Scribe;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// OpenAI Chat Completions: `messages`.
    OpenAiChat,
    /// OpenAI Responses: `input`.
    OpenAiResponses,
    /// Anthropic Messages: `messages`.
    Anthropic,
    /// Gemini: `contents`.
    Gemini,
    /// Bedrock Converse: `messages`.
    BedrockConverse,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::BedrockConverse,
    ];

    /// The name under which the host knows the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::BedrockConverse => "bedrock-converse",
        }
    }
}

/// A conversation and the request around it, as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The wire format.
    pub kind: Kind,
    /// The JSON of each message, item or content.
    pub messages: Vec<String>,
    /// The body up to the first message: `{"model":"gpt-4o","messages":[`.
    pub before: String,
    /// What separates two messages: a comma with white space.
    pub between: &'static str,
    /// The body behind the last message: `]}`.
    pub after: String,
}

impl Generated {
    /// The request body.
    #[must_use]
    pub fn document(&self) -> String {
        self.cut(self.messages.len())
    }

    /// The request body with the first `n` messages only. The end may lie inside of a step, and
    /// then it may break the rules.
    #[must_use]
    pub fn cut(&self, n: usize) -> String {
        let kept = self.messages.get(..n).unwrap_or(&self.messages);
        let messages = kept.join(self.between);
        [&self.before, messages.as_str(), &self.after].concat()
    }
}

/// A conversation of `messages_about` messages, or fewer where `choices` run out before.
///
/// All rules of the format hold, except that calls at the end may be without outputs.
pub fn conversation(kind: Kind, messages_about: usize, choices: &mut Choices<'_>) -> Generated {
    let scribe = Scribe::new(choices);
    let between = scribe.spelling.comma();
    let (messages, body) = match kind {
        Kind::OpenAiChat => plot::play(openai_chat::Chat::new(scribe), messages_about),
        Kind::OpenAiResponses => {
            plot::play(openai_responses::Responses::new(scribe), messages_about)
        }
        Kind::Anthropic => plot::play(anthropic::Anthropic::new(scribe), messages_about),
        Kind::Gemini => plot::play(gemini::Gemini::new(scribe), messages_about),
        Kind::BedrockConverse => plot::play(
            bedrock_converse::BedrockConverse::new(scribe),
            messages_about,
        ),
    };
    let [before, after] = body;
    Generated {
        kind,
        messages,
        before,
        between,
        after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bytes_give_a_small_conversation() {
        let expected = [
            r#"{"model":"gpt-4o","messages":[{"role":"user","content":"The tariff parser drops the last column. Find out why and mend it."},{"role":"assistant","content":"The lexer counts separators instead of columns, so the last one is lost when a row has no line break at its end."}]}"#,
            r#"{"model":"gpt-5","input":[{"type":"message","role":"user","content":"The tariff parser drops the last column. Find out why and mend it."},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"The lexer counts separators instead of columns, so the last one is lost when a row has no line break at its end."}]}]}"#,
            r#"{"model":"claude-sonnet-4-5","max_tokens":1024,"messages":[{"role":"user","content":"The tariff parser drops the last column. Find out why and mend it."},{"role":"assistant","content":"The lexer counts separators instead of columns, so the last one is lost when a row has no line break at its end."}]}"#,
            r#"{"contents":[{"role":"user","parts":[{"text":"The tariff parser drops the last column. Find out why and mend it."}]},{"role":"model","parts":[{"text":"The lexer counts separators instead of columns, so the last one is lost when a row has no line break at its end."}]}]}"#,
            r#"{"messages":[{"role":"user","content":[{"text":"The tariff parser drops the last column. Find out why and mend it."}]},{"role":"assistant","content":[{"text":"The lexer counts separators instead of columns, so the last one is lost when a row has no line break at its end."}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"read","description":"Reads a file of the project.","inputSchema":{"json":{"type":"object","properties":{"path":{"type":"string"}},"minProperties":0.0}}}},{"toolSpec":{"name":"run","description":"Runs a command in the shell and returns what it prints.","inputSchema":{"json":{"type":"object","properties":{"path":{"type":"string"}},"minProperties":0.0}}}},{"toolSpec":{"name":"edit","description":"Replaces text in a file.","inputSchema":{"json":{"type":"object","properties":{"path":{"type":"string"}},"minProperties":0.0}}}},{"toolSpec":{"name":"todo","description":"Keeps the list of tasks.","inputSchema":{"json":{"type":"object","properties":{"path":{"type":"string"}},"minProperties":0.0}}}}]}}"#,
        ];
        for (kind, expected) in Kind::ALL.into_iter().zip(expected) {
            let generated = conversation(kind, 1000, &mut Choices::from_bytes(&[]));
            assert_eq!(generated.document(), expected);
        }
    }

    #[test]
    fn a_cut_keeps_the_first_messages() {
        let generated = conversation(Kind::Gemini, 9, &mut Choices::from_seed(5));
        let none = generated.cut(0);
        assert_eq!(none, format!("{}{}", generated.before, generated.after));
        let one = generated.cut(1);
        assert!(one.contains(&generated.messages[0]) && !one.contains(&generated.messages[1]));
        assert_eq!(generated.cut(usize::MAX), generated.document());
    }

    #[test]
    fn a_seed_gives_the_same_conversation_again() {
        for kind in Kind::ALL {
            let make = |seed| conversation(kind, 40, &mut Choices::from_seed(seed));
            assert_eq!(make(11), make(11));
            assert_ne!(make(11), make(12));
        }
    }
}
