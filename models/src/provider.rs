//! The providers that there are.

/// Who answers, and so which protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// OpenAI, by Chat Completions.
    OpenAi,
    /// Anthropic, by Messages.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
    /// Any server that speaks OpenAI's Chat Completions: Ollama, vLLM, llama.cpp, `LiteLLM` and others.
    Compatible,
}

impl Provider {
    /// Those with a name and an address of their own.
    pub const NAMED: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Gemini];

    /// Its name, as in `openai:gpt-5-mini`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Compatible => "compatible",
        }
    }

    /// Where it answers, up to and with the version; none for a compatible server, which is named by it.
    #[must_use]
    pub const fn base_url(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com/v1"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::Compatible => None,
        }
    }

    /// The environment variable that its key is usually kept in.
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
