//! What an answer says that its request used.

use axum::http::{HeaderMap, header};
use baler_host::Format;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Tokens that a provider counted for one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt that were neither read from the provider's cache nor written to it.
    pub fresh: u64,
    /// Tokens of the prompt that were read from the cache.
    pub cached: u64,
    /// Tokens of the prompt that were written to the cache.
    pub written: u64,
    /// Tokens of the answer.
    pub output: u64,
}

impl Usage {
    /// Returns what the prompt is billed as, in fresh tokens: reads from the cache at a tenth, writes at 1.25.
    #[must_use]
    pub fn billed_input(&self) -> f64 {
        self.fresh as f64 + self.cached as f64 * 0.1 + self.written as f64 * 1.25
    }
}

impl Usage {
    /// Returns the share of the prompt that came from the cache; `None` if there was none.
    #[must_use]
    pub fn cached_share(&self) -> Option<f64> {
        let all = self.fresh + self.cached + self.written;
        (all > 0).then(|| self.cached as f64 / all as f64)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.fresh += other.fresh;
        self.cached += other.cached;
        self.written += other.written;
        self.output += other.output;
    }
}

/// The most bytes of an answer, or of one line of a stream, that are read for its usage.
const MOST: usize = 4 << 20;

/// Reads usage from an answer that passes.
#[derive(Debug)]
pub(crate) struct UsageReader {
    format: Format,
    is_stream: bool,
    /// The answer, or the last line of the stream, so far.
    text: Vec<u8>,
    found: Option<Usage>,
}

impl UsageReader {
    pub(crate) fn new(format: Format, headers: &HeaderMap) -> Self {
        Self {
            format,
            is_stream: is_event_stream(headers),
            text: Vec::new(),
            found: None,
        }
    }

    /// Reads the next piece.
    pub(crate) fn see(&mut self, piece: &[u8]) {
        if !self.is_stream {
            self.keep(piece);
            return;
        }
        let mut rest = piece;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.keep(&rest[..end]);
            self.read_line();
            rest = &rest[end + 1..];
        }
        self.keep(rest);
    }

    /// Returns the usage after the last piece; `None` if the answer had none.
    pub(crate) fn end(mut self) -> Option<Usage> {
        if self.is_stream {
            self.read_line();
        } else if let Ok(value) = serde_json::from_slice::<Value>(&self.text) {
            // Gemini streams a list if nobody asks for events.
            match value {
                Value::Array(parts) => parts.iter().for_each(|part| self.read(part)),
                whole => self.read(&whole),
            }
        }
        self.found
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = MOST.saturating_sub(self.text.len());
        self.text.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    fn read_line(&mut self) {
        let line = std::mem::take(&mut self.text);
        let Some(data) = line.strip_prefix(b"data:") else {
            return;
        };
        let text = String::from_utf8_lossy(data);
        if text.contains("\"usage")
            && let Ok(value) = serde_json::from_str(&text)
        {
            self.read(&value);
        }
    }

    fn read(&mut self, value: &Value) {
        let places = [
            "/usage",
            "/message/usage",
            "/response/usage",
            "/usageMetadata",
        ];
        let Some(usage) = places.iter().find_map(|place| value.pointer(place)) else {
            return;
        };
        let number = |place: &str| usage.pointer(place).and_then(Value::as_u64);
        let found = self.found.get_or_insert_default();
        let set = |field: &mut u64, value: Option<u64>| *field = value.unwrap_or(*field);
        if self.format == Format::Anthropic {
            set(&mut found.fresh, number("/input_tokens"));
            set(&mut found.cached, number("/cache_read_input_tokens"));
            set(&mut found.written, number("/cache_creation_input_tokens"));
            set(&mut found.output, number("/output_tokens"));
            return;
        }
        // The others count all of the prompt as input, and say how much of it was cached.
        let [input, cached, output] = match self.format {
            Format::Gemini => [
                "/promptTokenCount",
                "/cachedContentTokenCount",
                "/candidatesTokenCount",
            ],
            Format::OpenAiResponses => [
                "/input_tokens",
                "/input_tokens_details/cached_tokens",
                "/output_tokens",
            ],
            _ => [
                "/prompt_tokens",
                "/prompt_tokens_details/cached_tokens",
                "/completion_tokens",
            ],
        };
        if let Some(input) = number(input) {
            found.cached = number(cached).unwrap_or(0).min(input);
            found.fresh = input - found.cached;
        }
        set(&mut found.output, number(output));
    }
}

/// Decides whether an answer is a stream of events.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn used(format: Format, kind: &'static str, answer: &str) -> Option<Usage> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        let mut reader = UsageReader::new(format, &headers);
        // However the network cuts it.
        for piece in answer.as_bytes().chunks(7) {
            reader.see(piece);
        }
        reader.end()
    }

    const EVENTS: &str = "text/event-stream; charset=utf-8";

    #[test]
    fn usage_is_read_from_every_form_of_answer() {
        let expected = Usage {
            fresh: 30,
            cached: 900,
            written: 0,
            output: 12,
        };
        for (format, kind, answer) in [
            (
                Format::Anthropic,
                EVENTS,
                "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":30,\"cache_read_input_tokens\":900,\"cache_creation_input_tokens\":0,\"output_tokens\":1}}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":12}}\n\n",
            ),
            (
                Format::OpenAiChat,
                "application/json",
                r#"{"choices":[],"usage":{"prompt_tokens":930,"completion_tokens":12,"prompt_tokens_details":{"cached_tokens":900}}}"#,
            ),
            (
                Format::OpenAiChat,
                EVENTS,
                "data: {\"choices\":[{\"delta\":{\"content\":\"潮\"}}],\"usage\":null}\r\n\r\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":930,\"completion_tokens\":12,\"prompt_tokens_details\":{\"cached_tokens\":900}}}\r\n\r\ndata: [DONE]\r\n\r\n",
            ),
            (
                Format::OpenAiResponses,
                EVENTS,
                "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":930,\"input_tokens_details\":{\"cached_tokens\":900},\"output_tokens\":12}}}",
            ),
            (
                Format::Gemini,
                "application/json",
                r#"[{"candidates":[]},{"usageMetadata":{"promptTokenCount":930,"cachedContentTokenCount":900,"candidatesTokenCount":12}}]"#,
            ),
        ] {
            assert_eq!(
                used(format, kind, answer),
                Some(expected),
                "{format:?} {kind}"
            );
        }
        assert_eq!(
            used(Format::OpenAiChat, EVENTS, "data: {\"usage\": nonsense\n"),
            None
        );
        assert_eq!(used(Format::Gemini, "text/html", "<p>busy</p>"), None);
    }

    #[test]
    fn what_the_cache_saves_is_in_the_bill() {
        let usage = Usage {
            fresh: 100,
            cached: 1_000,
            written: 80,
            output: 9,
        };
        assert!((usage.billed_input() - 300.0).abs() < 1e-9);
    }
}
