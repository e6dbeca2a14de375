//! The choice of a model, in one string.

use std::fmt;
use std::str::FromStr;

use super::base_url::{BaseUrl, BaseUrlError};
use crate::Provider;

/// A provider and one of its models.
///
/// Written `openai:gpt-5-mini`, `anthropic:claude-haiku-4-5` or `gemini:gemini-2.5-flash`. For an
/// OpenAI-compatible server: its base URL, `#` and the model, such as `http://localhost:11434/v1#qwen3:8b`.
///
/// ```
/// use baler_models::Provider;
/// use baler_models::clients::ModelChoice;
///
/// let choice: ModelChoice = "http://localhost:11434/v1#qwen3:8b".parse()?;
/// assert_eq!(choice.provider(), Provider::Compatible);
/// assert_eq!(choice.model(), "qwen3:8b");
/// # Ok::<(), baler_models::clients::ChoiceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    pub(super) provider: Provider,
    pub(super) model: String,
    /// `None` means the provider's own base URL.
    pub(super) base_url: Option<BaseUrl>,
}

/// A text does not name a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// No provider precedes the model. The error does not repeat the text, which may be a key.
    #[error("no provider is named; {FORMS}")]
    NoProvider,
    /// The text before the model is not the name of a provider.
    #[error("`{0}` is not a known provider; {FORMS}")]
    UnknownProvider(String),
    /// The name of the model is missing.
    #[error("no model is named; {FORMS}")]
    NoModel,
    /// The name of the model is malformed.
    #[error(
        "the name of a model has at most {MAX_NAME_BYTES} bytes, without spaces and control characters"
    )]
    InvalidModel,
    /// The base URL is malformed.
    #[error(transparent)]
    BaseUrl(#[from] BaseUrlError),
}

const FORMS: &str = "write openai:MODEL, anthropic:MODEL or gemini:MODEL; for any other OpenAI-compatible server, \
    write its base URL, `#` and the model, such as http://localhost:11434/v1#qwen3:8b";

/// Far longer than the name of any model.
const MAX_NAME_BYTES: usize = 256;

impl ModelChoice {
    /// Chooses a model of a provider that has a base URL of its own.
    ///
    /// # Errors
    /// The model's name is missing or malformed, or the provider is [`Provider::Compatible`].
    pub fn named(provider: Provider, model: &str) -> Result<Self, ChoiceError> {
        if provider == Provider::Compatible {
            return Err(ChoiceError::UnknownProvider(provider.name().to_owned()));
        }
        Ok(Self {
            provider,
            model: valid_name(model)?,
            base_url: None,
        })
    }

    /// Chooses a model of an OpenAI-compatible server.
    ///
    /// # Errors
    /// The model's name is missing or malformed.
    pub fn compatible(base_url: BaseUrl, model: &str) -> Result<Self, ChoiceError> {
        Ok(Self {
            provider: Provider::Compatible,
            model: valid_name(model)?,
            base_url: Some(base_url),
        })
    }

    /// Returns the provider.
    #[must_use]
    pub const fn provider(&self) -> Provider {
        self.provider
    }

    /// Returns the model's name, as its provider knows it.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }
}

fn valid_name(model: &str) -> Result<String, ChoiceError> {
    let is_invalid = |c: char| c.is_whitespace() || c.is_control();
    if model.is_empty() {
        return Err(ChoiceError::NoModel);
    }
    if model.len() > MAX_NAME_BYTES || model.contains(is_invalid) {
        return Err(ChoiceError::InvalidModel);
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
            .ok_or_else(|| ChoiceError::UnknownProvider(shortened(name)))?;
        Self::named(provider, model)
    }
}

/// The beginning of a text, short enough for an error message.
fn shortened(text: &str) -> String {
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
    fn display_writes_what_from_str_reads() {
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
    fn from_str_reads_a_url_with_the_model_as_its_fragment() {
        let choice: ModelChoice = "http://localhost:11434/v1#qwen3:8b".parse().unwrap();
        assert_eq!(choice.provider(), Provider::Compatible);
        assert_eq!(choice.model(), "qwen3:8b");
    }

    #[test]
    fn errors_name_the_problem_and_the_allowed_forms() {
        for (text, wrong) in [
            ("gpt-5-mini", "no provider is named"),
            ("sk-proj-secret", "no provider is named"),
            ("ollama:qwen3:8b", "`ollama` is not a known provider"),
            ("OpenAI:gpt-5", "`OpenAI` is not a known provider"),
            ("compatible:x", "`compatible` is not a known provider"),
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
        assert_eq!(
            "openai:a b".parse::<ModelChoice>(),
            Err(ChoiceError::InvalidModel)
        );
        assert_eq!(
            "ftp://host/v1#m".parse::<ModelChoice>(),
            Err(ChoiceError::BaseUrl(BaseUrlError::NotHttp))
        );
    }
}
