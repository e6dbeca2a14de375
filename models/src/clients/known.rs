//! What is documented about families of models. Prices are not: they change, so the user gives them.

use crate::Provider;

/// What fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) context_window: u32,
    pub(super) max_output_tokens: u32,
}

/// Names by how they begin; the first that matches counts. Where a provider limits questions and answers apart,
/// the window is what a question may have.
///
/// - `OpenAI`: <https://platform.openai.com/docs/models>. GPT-5 has a window of 400,000, of which a question
///   takes at most 272,000. Larger ones of the family are left to the user.
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

/// What is known of a model, else what can be counted on.
pub(super) fn limits(provider: Provider, model: &str) -> Limits {
    // Google lists models as `models/…`, and OpenAI's own tunings begin with `ft:`.
    let name = model
        .trim_start_matches("models/")
        .trim_start_matches("ft:");
    let (context_window, max_output_tokens) = FAMILIES
        .iter()
        .find(|(whose, family, ..)| *whose == provider && name.starts_with(family))
        .map_or_else(
            || at_least(provider),
            |(.., window, output)| (*window, *output),
        );
    Limits {
        context_window,
        max_output_tokens,
    }
}

/// Little enough for whatever else there is.
const fn at_least(provider: Provider) -> (u32, u32) {
    match provider {
        Provider::OpenAi => (128_000, 4_096),
        Provider::Anthropic => (200_000, 4_096),
        Provider::Gemini => (32_768, 8_192),
        // Ollama serves windows of 4,096 unless it is told otherwise or has much memory, and cuts longer
        // questions without a word (https://docs.ollama.com/context-length).
        Provider::Compatible => (4_096, 1_024),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_with_and_without_dates() {
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
    fn an_unknown_model_gets_little() {
        assert_eq!(limits(Provider::Compatible, "gpt-5").context_window, 4_096);
        assert_eq!(limits(Provider::Gemini, "gemma-9").context_window, 32_768);
    }

    #[test]
    fn no_family_hides_behind_a_shorter_name() {
        for (place, (provider, family, ..)) in FAMILIES.iter().enumerate() {
            let first = FAMILIES
                .iter()
                .position(|(whose, start, ..)| whose == provider && family.starts_with(start));
            assert_eq!(first, Some(place), "{family}");
        }
    }
}
