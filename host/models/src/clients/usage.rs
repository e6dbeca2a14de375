//! What an answer says that its request used.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Tokens that a provider counted for one request.
///
/// OpenAI counts all of the prompt as input and says how much of it came from the cache; Anthropic and Bedrock count the three
/// apart. Here they are apart.
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
    /// Returns the tokens of the whole prompt.
    #[must_use]
    pub const fn prompt(&self) -> u64 {
        self.fresh
            .saturating_add(self.cached)
            .saturating_add(self.written)
    }

    /// Returns what the prompt is billed as, in fresh tokens: reads from the cache at a tenth, writes at 1.25.
    #[must_use]
    pub fn billed_input(&self) -> f64 {
        self.fresh as f64 + self.cached as f64 * 0.1 + self.written as f64 * 1.25
    }

    /// Returns the share of the prompt that came from the cache; `None` if there was none.
    #[must_use]
    pub fn cached_share(&self) -> Option<f64> {
        let all = self.prompt();
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

/// Reads usage from an answer that passes, in any format of a provider: OpenAI Chat Completions and Responses, Anthropic
/// Messages, Gemini, Bedrock Converse (except its binary streams).
#[derive(Debug)]
pub struct UsageReader {
    is_stream: bool,
    /// The answer, or the last line of the stream, so far.
    text: Vec<u8>,
    found: Option<Usage>,
}

impl UsageReader {
    /// Creates a reader of one answer. `is_stream`: it is a stream of server-sent events.
    #[must_use]
    pub const fn new(is_stream: bool) -> Self {
        Self {
            is_stream,
            text: Vec::new(),
            found: None,
        }
    }

    /// Reads the next piece.
    pub fn see(&mut self, piece: &[u8]) {
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
    #[must_use]
    pub fn end(mut self) -> Option<Usage> {
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
        let number = |names: &[&str]| {
            let mut values = names.iter().filter_map(|name| usage.pointer(name));
            values.find_map(Value::as_u64)
        };
        let found = self.found.get_or_insert_default();
        let set = |field: &mut u64, value: Option<u64>| *field = value.unwrap_or(*field);
        set(&mut found.fresh, number(&INPUT));
        set(&mut found.cached, number(&CACHED));
        set(&mut found.written, number(&WRITTEN));
        set(&mut found.output, number(&OUTPUT));
        // These count the cached tokens as input, too.
        if let Some(cached) = number(&CACHED_INPUT) {
            found.cached = cached.min(found.fresh);
            found.fresh -= found.cached;
        }
    }
}

/// Where usage says how many tokens of a prompt were neither read from the cache nor written to it. With [`CACHED_INPUT`], how
/// many there were in all.
const INPUT: [&str; 4] = [
    "/input_tokens",
    "/prompt_tokens",
    "/promptTokenCount",
    "/inputTokens",
];
const CACHED_INPUT: [&str; 3] = [
    "/input_tokens_details/cached_tokens",
    "/prompt_tokens_details/cached_tokens",
    "/cachedContentTokenCount",
];
const CACHED: [&str; 2] = ["/cache_read_input_tokens", "/cacheReadInputTokens"];
const WRITTEN: [&str; 2] = ["/cache_creation_input_tokens", "/cacheWriteInputTokens"];
const OUTPUT: [&str; 4] = [
    "/output_tokens",
    "/completion_tokens",
    "/candidatesTokenCount",
    "/outputTokens",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn used(is_stream: bool, answer: &str) -> Option<Usage> {
        let mut reader = UsageReader::new(is_stream);
        // However the network cuts it.
        for piece in answer.as_bytes().chunks(7) {
            reader.see(piece);
        }
        reader.end()
    }

    #[test]
    fn usage_is_read_from_every_form_of_answer() {
        let expected = Usage {
            fresh: 30,
            cached: 900,
            written: 0,
            output: 12,
        };
        for (is_stream, answer) in [
            (
                true,
                "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":30,\"cache_read_input_tokens\":900,\"cache_creation_input_tokens\":0,\"output_tokens\":1}}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":12}}\n\n",
            ),
            (
                false,
                r#"{"choices":[],"usage":{"prompt_tokens":930,"completion_tokens":12,"prompt_tokens_details":{"cached_tokens":900}}}"#,
            ),
            (
                true,
                "data: {\"choices\":[{\"delta\":{\"content\":\"潮\"}}],\"usage\":null}\r\n\r\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":930,\"completion_tokens\":12,\"prompt_tokens_details\":{\"cached_tokens\":900}}}\r\n\r\ndata: [DONE]\r\n\r\n",
            ),
            (
                true,
                "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":930,\"input_tokens_details\":{\"cached_tokens\":900},\"output_tokens\":12}}}",
            ),
            (
                false,
                r#"{"output":{},"usage":{"inputTokens":30,"outputTokens":12,"totalTokens":942,"cacheReadInputTokens":900,"cacheWriteInputTokens":0}}"#,
            ),
            (
                false,
                r#"[{"candidates":[]},{"usageMetadata":{"promptTokenCount":930,"cachedContentTokenCount":900,"candidatesTokenCount":12}}]"#,
            ),
        ] {
            assert_eq!(used(is_stream, answer), Some(expected), "{answer}");
        }
        assert_eq!(used(true, "data: {\"usage\": nonsense\n"), None);
        assert_eq!(used(false, "<p>busy</p>"), None);
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
