//! Which model, in one string.

use std::fmt;
use std::str::FromStr;

use super::base_url::{BaseUrl, BaseUrlError};
use crate::Provider;

/// Which model of which provider.
///
/// Written `openai:gpt-5-mini`, `anthropic:claude-haiku-4-5`, `gemini:gemini-2.5-flash`, or for a server
/// that speaks like OpenAI's its base URL, `#` and the model: `http://localhost:11434/v1#qwen3:8b`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    pub(super) provider: Provider,
    pub(super) model: String,
    /// None where it is the provider's own.
    pub(super) base_url: Option<BaseUrl>,
}

/// A text names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// Nothing stands before the model. The text is not repeated: it may be the key.
    #[error("no provider is named; {ALLOWED}")]
    NoProvider,
    /// What stands before the model is no provider.
    #[error("`{0}` is no provider; {ALLOWED}")]
    UnknownProvider(String),
    /// There is no model.
    #[error("no model is named; {ALLOWED}")]
    NoModel,
    /// The model's name cannot be one.
    #[error("a model's name has no spaces and no control characters, and at most {MOST} bytes")]
    Model,
    /// The base URL is wrong.
    #[error(transparent)]
    BaseUrl(#[from] BaseUrlError),
}

const ALLOWED: &str = "write openai:MODEL, anthropic:MODEL, gemini:MODEL, or for any other server that speaks like \
    OpenAI's its base URL and the model, such as http://localhost:11434/v1#qwen3:8b";

/// No name of a model comes near it.
const MOST: usize = 256;

impl ModelChoice {
    /// A model of one of the named providers.
    ///
    /// # Errors
    /// The name cannot be one.
    pub fn named(provider: Provider, model: &str) -> Result<Self, ChoiceError> {
        if provider == Provider::Compatible {
            return Err(ChoiceError::UnknownProvider(provider.name().to_owned()));
        }
        Ok(Self {
            provider,
            model: checked(model)?,
            base_url: None,
        })
    }

    /// A model of a server that speaks like OpenAI's.
    ///
    /// # Errors
    /// The name cannot be one.
    pub fn compatible(base_url: BaseUrl, model: &str) -> Result<Self, ChoiceError> {
        Ok(Self {
            provider: Provider::Compatible,
            model: checked(model)?,
            base_url: Some(base_url),
        })
    }

    /// Whose model it is.
    #[must_use]
    pub const fn provider(&self) -> Provider {
        self.provider
    }

    /// The provider's name of it.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }
}

fn checked(model: &str) -> Result<String, ChoiceError> {
    let impossible = |c: char| c.is_whitespace() || c.is_control();
    if model.is_empty() {
        return Err(ChoiceError::NoModel);
    }
    if model.len() > MOST || model.contains(impossible) {
        return Err(ChoiceError::Model);
    }
    Ok(model.to_owned())
}

impl FromStr for ModelChoice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ChoiceError::NoModel);
        }
        if text.contains("://") {
            let (url, model) = text.split_once('#').unwrap_or((text, ""));
            return Self::compatible(url.parse()?, model);
        }
        let (name, model) = text.split_once(':').ok_or(ChoiceError::NoProvider)?;
        let provider = Provider::NAMED
            .into_iter()
            .find(|provider| provider.name() == name)
            .ok_or_else(|| ChoiceError::UnknownProvider(shown(name)))?;
        Self::named(provider, model)
    }
}

/// A piece of what was written, of a length to be shown.
fn shown(text: &str) -> String {
    text.chars().take(64).collect()
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.base_url {
            Some(base_url) => write!(f, "{base_url}#{}", self.model),
            None => write!(f, "{}:{}", self.provider.name(), self.model),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_shown() {
        for text in [
            "openai:gpt-5-mini",
            "openai:ft:gpt-4o-mini:acme::id",
            "anthropic:claude-haiku-4-5",
            "gemini:gemini-2.5-flash",
            "http://localhost:11434/v1#qwen3:8b",
            "https://gateway.example/v1#meta-llama/Llama-3.3-70B-Instruct",
        ] {
            let choice: ModelChoice = text.parse().unwrap();
            assert_eq!(choice.to_string(), text);
        }
    }

    #[test]
    fn a_url_is_a_compatible_server_and_its_fragment_the_model() {
        let choice: ModelChoice = "http://localhost:11434/v1#qwen3:8b".parse().unwrap();
        assert_eq!(choice.provider(), Provider::Compatible);
        assert_eq!(choice.model(), "qwen3:8b");
    }

    #[test]
    fn errors_name_what_is_wrong_and_what_is_allowed() {
        for (text, wrong) in [
            ("gpt-5-mini", "no provider is named"),
            ("sk-proj-secret", "no provider is named"),
            ("ollama:qwen3:8b", "`ollama` is no provider"),
            ("OpenAI:gpt-5", "`OpenAI` is no provider"),
            ("compatible:x", "`compatible` is no provider"),
            ("openai:", "no model is named"),
            ("", "no model is named"),
            ("http://localhost:11434/v1", "no model is named"),
        ] {
            let error = text.parse::<ModelChoice>().unwrap_err().to_string();
            assert!(error.starts_with(wrong), "{text}: {error}");
            assert!(error.contains("openai:MODEL"), "{text}: {error}");
            assert!(!error.contains("secret"), "{text}: {error}");
            assert!(
                error.contains("http://localhost:11434/v1#qwen3:8b"),
                "{text}: {error}"
            );
        }
        assert_eq!("openai:a b".parse::<ModelChoice>(), Err(ChoiceError::Model));
        assert_eq!(
            "ftp://host/v1#m".parse::<ModelChoice>(),
            Err(ChoiceError::BaseUrl(BaseUrlError::NotHttp))
        );
    }
}
