//! Documented limits of model families. Prices change too often to be listed here.

use crate::Provider;

/// The limits of a model, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) context_window: u32,
    pub(super) max_output_tokens: u32,
}

/// Prefix of the model's name, context window and maximum output. The first match counts. If a provider
/// limits questions and answers separately, the window is the limit of a question.
///
/// - `OpenAI`: <https://platform.openai.com/docs/models>. GPT-5 has a window of 400,000, of which a question
///   can take 272,000. For larger models of the family, the user sets the window.
/// - Anthropic: <https://platform.claude.com/docs/en/about-claude/models/overview>
/// - Gemini: <https://ai.google.dev/gemini-api/docs/models>
const FAMILIES: [(Provider, &str, u32, u32); 22] = {
    use Provider::{Anthropic, Gemini, OpenAi};
    [
        (OpenAi, "gpt-5-chat", 128_000, 16_384),
        (OpenAi, "gpt-5", 272_000, 128_000),
        (OpenAi, "gpt-4.1", 1_047_576, 32_768),
        (OpenAi, "gpt-4o", 128_000, 16_384),
        (OpenAi, "gpt-4-turbo", 128_000, 4_096),
        (OpenAi, "gpt-4", 8_192, 8_192),
        (OpenAi, "gpt-3.5-turbo", 16_385, 4_096),
        (OpenAi, "o1", 200_000, 100_000),
        (OpenAi, "o3", 200_000, 100_000),
        (OpenAi, "o4-mini", 200_000, 100_000),
        (Anthropic, "claude-fable-5", 1_000_000, 128_000),
        (Anthropic, "claude-opus-5", 1_000_000, 128_000),
        (Anthropic, "claude-sonnet-5", 1_000_000, 128_000),
        (Anthropic, "claude-haiku-4-5", 200_000, 64_000),
        (Anthropic, "claude-sonnet-4", 200_000, 64_000),
        (Anthropic, "claude-opus-4-5", 200_000, 64_000),
        (Anthropic, "claude-opus-4", 200_000, 32_000),
        (Anthropic, "claude-3-5-", 200_000, 8_192),
        (Anthropic, "claude-3-", 200_000, 4_096),
        (Gemini, "gemini-3", 1_048_576, 65_536),
        (Gemini, "gemini-2.5", 1_048_576, 65_536),
        (Gemini, "gemini-2.0-flash", 1_048_576, 8_192),
    ]
};

/// Returns the documented limits of a model, or low limits if the model is unknown.
pub(super) fn limits(provider: Provider, model: &str) -> Limits {
    // Google lists models as `models/…`, and fine-tuned models of OpenAI begin with `ft:`.
    let name = model
        .trim_start_matches("models/")
        .trim_start_matches("ft:");
    let (context_window, max_output_tokens) = FAMILIES
        .iter()
        .find(|(whose, family, ..)| *whose == provider && name.starts_with(family))
        .map_or_else(
            || defaults(provider),
            |(.., window, output)| (*window, *output),
        );
    Limits {
        context_window,
        max_output_tokens,
    }
}

/// Limits for unknown models, low enough for any model in use.
const fn defaults(provider: Provider) -> (u32, u32) {
    match provider {
        Provider::OpenAi => (128_000, 4_096),
        Provider::Anthropic => (200_000, 4_096),
        Provider::Gemini => (32_768, 8_192),
        // By default, Ollama serves a window of 4,096 unless it has much memory, and truncates longer
        // questions silently (https://docs.ollama.com/context-length).
        Provider::Compatible => (4_096, 1_024),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_match_names_with_and_without_dates() {
        for (provider, model, window, output) in [
            (Provider::OpenAi, "gpt-5-mini-2025-08-07", 272_000, 128_000),
            (Provider::OpenAi, "ft:gpt-4o-mini:acme::id", 128_000, 16_384),
            (
                Provider::Anthropic,
                "claude-haiku-4-5-20251001",
                200_000,
                64_000,
            ),
            (Provider::Anthropic, "claude-opus-4-1", 200_000, 32_000),
            (
                Provider::Gemini,
                "models/gemini-2.5-flash",
                1_048_576,
                65_536,
            ),
        ] {
            let limits = limits(provider, model);
            assert_eq!(
                (limits.context_window, limits.max_output_tokens),
                (window, output),
                "{model}"
            );
        }
    }

    #[test]
    fn limits_are_low_for_unknown_models() {
        assert_eq!(limits(Provider::Compatible, "gpt-5").context_window, 4_096);
        assert_eq!(limits(Provider::Gemini, "gemma-9").context_window, 32_768);
    }

    #[test]
    fn no_family_is_shadowed_by_a_shorter_prefix() {
        for (index, (provider, family, ..)) in FAMILIES.iter().enumerate() {
            let first = FAMILIES
                .iter()
                .position(|(whose, start, ..)| whose == provider && family.starts_with(start));
            assert_eq!(first, Some(index), "{family}");
        }
    }
}
