//! The providers that clients know.

/// A provider, and so a protocol.
///
/// ```
/// use baler_models::Provider;
///
/// assert_eq!(Provider::Anthropic.key_variable(), "ANTHROPIC_API_KEY");
/// assert_eq!(Provider::Compatible.base_url(), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI, with Chat Completions.
    OpenAi,
    /// Anthropic, with Messages.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
    /// Any server with OpenAI's Chat Completions: Ollama, vLLM, llama.cpp, `LiteLLM` and others.
    Compatible,
}

impl Provider {
    /// The providers that have an address of their own.
    pub const NAMED: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Gemini];

    /// Returns the provider's name, as in `openai:gpt-5-mini`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Compatible => "compatible",
        }
    }

    /// Returns the provider's base URL, including the API version; `None` for a compatible server.
    #[must_use]
    pub const fn base_url(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com/v1"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::Compatible => None,
        }
    }

    /// Returns the environment variable that usually holds the provider's key.
    #[must_use]
    pub const fn key_variable(self) -> &'static str {
        match self {
            Self::OpenAi => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
            Self::Compatible => "BALER_MODEL_KEY",
        }
    }
}
