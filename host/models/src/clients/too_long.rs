//! Recognises errors that say that a question is too long, and the limit in them.

use super::wire::{ErrorBody, error_body};

/// Phrases in lower case, each with the words that precede the limit; empty if the text does not contain the
/// limit.
const PHRASES: [(&str, &str); 18] = [
    // OpenAI, vLLM, OpenRouter, DeepSeek
    ("maximum context length is", "maximum context length is"),
    // OpenAI, GPT-5
    ("exceed the configured limit of", "configured limit of"),
    ("exceeds the context window", ""),
    // OpenAI: one question above the rate limit per minute never succeeds
    ("request too large for", ": limit"),
    // Anthropic
    ("prompt is too long", ">"),
    ("exceed context limit", ">"),
    // Gemini
    ("maximum number of tokens allowed", "tokens allowed"),
    // llama.cpp
    (
        "exceeds the available context size",
        "available context size (",
    ),
    // vLLM
    (
        "longer than the maximum model length",
        "maximum model length of",
    ),
    // SGLang, Ollama
    (
        "longer than the model's context length",
        "model's context length",
    ),
    ("input length exceeds", ""),
    // Mistral
    ("too large for model with", "too large for model with"),
    // LM Studio
    (
        "loaded with context length of only",
        "context length of only",
    ),
    // TGI
    ("`inputs` must have less than", "must have less than"),
    ("max_new_tokens` must be <=", "must be <="),
    // xAI
    ("maximum prompt length is", "maximum prompt length is"),
    // Groq
    ("reduce the length of the messages", ""),
    // Bedrock
    ("input is too long", ""),
];

/// Names of such errors.
const CODES: [&str; 4] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "ContextWindowExceededError",
];

/// Statuses with which providers refuse requests that are too long. llama.cpp and some gateways use 500.
pub const TOO_LONG_STATUSES: [u16; 5] = [400, 413, 422, 429, 500];

/// Decides whether a provider refused a request as too long for its model, by the status and the body of its answer.
#[must_use]
pub fn is_too_long(status: u16, body: &[u8]) -> bool {
    recognise(status, &error_body(body)).is_some()
}

/// Decides whether the text of an error says so, in which clients and frameworks put the answer of the provider.
#[must_use]
pub fn says_too_long(text: &str) -> bool {
    let text = text.to_lowercase();
    let holds = |phrase: &str| text.contains(&phrase.to_lowercase());
    // As above: a rate limit may name tokens, too.
    let is_rate = holds("rate limit") || holds("rate_limit");
    let is_named = CODES.into_iter().any(holds) || PHRASES.iter().any(|(phrase, _)| holds(phrase));
    is_named && (!is_rate || holds("request too large for"))
}

/// Returns `Some` if the question was too long; inside it, how many tokens would fit, if the server says so.
pub(super) fn recognise(status: u16, body: &ErrorBody) -> Option<Option<u32>> {
    if !TOO_LONG_STATUSES.contains(&status) {
        return None;
    }
    let text = body.message.as_deref().unwrap_or_default().to_lowercase();
    let phrase = PHRASES.iter().find(|(phrase, _)| text.contains(phrase));
    // A rate limit may name tokens, too. Only one phrase says that the question itself is too long.
    if status == 429 && !text.contains("request too large for") {
        return None;
    }
    let is_named = CODES.iter().any(|code| body.names(code));
    if phrase.is_none() && !is_named && status != 413 {
        return None;
    }
    let limit = phrase
        .filter(|(_, before)| !before.is_empty())
        .and_then(|(_, before)| number_after(&text, before));
    Some(body.context_size.or(limit))
}

/// Reads the number that directly follows `before`.
fn number_after(text: &str, before: &str) -> Option<u32> {
    let (_, after) = text.split_once(before)?;
    let digits = after.trim_start_matches([' ', '(', '=', ':', '`']);
    let end = digits
        .find(|c: char| !c.is_ascii_digit() && c != ',')
        .unwrap_or(digits.len());
    let number = digits[..end].replace(',', "");
    number.parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognised(status: u16, message: &str) -> Option<Option<u32>> {
        let body = ErrorBody {
            message: Some(message.to_owned()),
            ..ErrorBody::default()
        };
        recognise(status, &body)
    }

    #[test]
    fn recognise_finds_the_limit_in_every_wording() {
        for (message, fits) in [
            (
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 150001 tokens.",
                Some(128_000),
            ),
            (
                "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300011 tokens.",
                Some(272_000),
            ),
            (
                "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30,000, Requested 50472.",
                Some(30_000),
            ),
            (
                "prompt is too long: 213462 tokens > 200000 maximum",
                Some(200_000),
            ),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
                Some(200_000),
            ),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                Some(1_048_576),
            ),
            (
                "request (8231 tokens) exceeds the available context size (4096 tokens), try increasing it",
                Some(4_096),
            ),
            (
                "the request exceeds the available context size. try increasing the context size or enable context shift",
                None,
            ),
            (
                "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
                Some(4_096),
            ),
            (
                "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
                Some(4_096),
            ),
            ("the input length exceeds the context length", None),
            (
                "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
                Some(4_096),
            ),
            (
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
                Some(32_768),
            ),
            (
                "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
                Some(131_072),
            ),
            (
                "Please reduce the length of the messages or completion.",
                None,
            ),
            ("Your input exceeds the context window of this model.", None),
        ] {
            let status = if message.starts_with("Request too large") {
                429
            } else {
                400
            };
            assert_eq!(recognised(status, message), Some(fits), "{message}");
        }
    }

    #[test]
    fn recognise_reads_error_codes() {
        let body = ErrorBody {
            kind: Some("exceed_context_size_error".to_owned()),
            context_size: Some(256),
            ..ErrorBody::default()
        };
        assert_eq!(recognise(500, &body), Some(Some(256)));
        let body = ErrorBody {
            code: Some("context_length_exceeded".to_owned()),
            ..ErrorBody::default()
        };
        assert_eq!(recognise(400, &body), Some(None));
        assert_eq!(recognised(413, "Request Entity Too Large"), Some(None));
    }

    #[test]
    fn recognise_ignores_other_errors() {
        for (status, message) in [
            (400, "temperature must be <= 2"),
            (400, "`max_tokens` is not supported with this model"),
            (
                429,
                "Rate limit reached: Limit 30000, Used 29000, Requested 2000",
            ),
            (429, "maximum context length is 5"),
            (401, "prompt is too long: 2 > 1"),
            (500, "internal error"),
        ] {
            assert_eq!(recognised(status, message), None, "{message}");
        }
    }

    #[test]
    fn a_text_says_that_a_request_is_too_long_as_clients_write_it() {
        for text in [
            "Error code: 400 - {'error': {'message': 'no', 'code': 'context_length_exceeded'}}",
            "400 INVALID_ARGUMENT. The input token count (9) exceeds the maximum number of tokens allowed (8).",
            "litellm.ContextWindowExceededError: no",
            "Error code: 429 - {'error': {'message': 'Request too large for gpt-4o', 'code': 'rate_limit_exceeded'}}",
        ] {
            assert!(says_too_long(text), "{text}");
        }
        for text in [
            "",
            "temperature must be <= 2",
            "Rate limit reached: your prompt is too long for this minute",
            "string_above_max_length",
        ] {
            assert!(!says_too_long(text), "{text}");
        }
    }

    #[test]
    fn recognise_ignores_impossible_limits() {
        assert_eq!(
            recognised(400, "prompt is too long: 1 > 99999999999999"),
            Some(None)
        );
        assert_eq!(recognised(400, "prompt is too long: 1 > 0"), Some(None));
        assert_eq!(recognised(400, "prompt is too long: >"), Some(None));
    }
}
