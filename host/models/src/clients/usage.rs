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
        for (sum, more) in [
            (&mut self.fresh, other.fresh),
            (&mut self.cached, other.cached),
            (&mut self.written, other.written),
            (&mut self.output, other.output),
        ] {
            *sum = sum.saturating_add(more);
        }
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
    usage: Option<Usage>,
    prompt: Option<u64>,
}

impl UsageReader {
    /// Creates a reader of one answer. `is_stream`: it is a stream of server-sent events.
    #[must_use]
    pub const fn new(is_stream: bool) -> Self {
        Self {
            is_stream,
            text: Vec::new(),
            usage: None,
            prompt: None,
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

    /// Reads what the last piece ends.
    pub fn end(&mut self) {
        if self.is_stream {
            self.read_line();
        } else if let Ok(value) = serde_json::from_slice::<Value>(&self.text) {
            // Gemini streams a list if nobody asks for events.
            match value {
                Value::Array(parts) => parts.iter().for_each(|part| self.read(part)),
                whole => self.read(&whole),
            }
        }
        self.text.clear();
    }

    /// Returns what is billed, as far as the answer has said; `None` if it has said nothing.
    #[must_use]
    pub const fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Returns the tokens of the prompt, those from a cache included; `None` if the answer has not said.
    ///
    /// That is not what is billed where the provider asked its model several times for one answer, to use tools of its own.
    #[must_use]
    pub const fn prompt(&self) -> Option<u64> {
        self.prompt
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
        let found = places.iter().find_map(|place| value.pointer(place));
        let Some(said) = found.filter(|said| said.is_object()) else {
            return;
        };
        let mut usage = self.usage.unwrap_or_default();
        let prompt = prompt(said, &usage);
        let output = OUTPUT.iter().find_map(|name| number(said, name));
        if prompt.is_none() && output.is_none() {
            return;
        }
        usage.output = output.unwrap_or(usage.output);
        if let Some([fresh, cached, written]) = prompt {
            (usage.fresh, usage.cached, usage.written) = (fresh, cached, written);
            // The first of a stream: at its end Anthropic says the sum of all prompts.
            let is_one = self.is_stream || !has_tools_of_the_provider(said);
            let all = Some(usage.prompt()).filter(|all| is_one && *all > 0);
            self.prompt = self.prompt.or(all);
        }
        self.usage = Some(usage);
    }
}

/// Where usage says how many tokens a prompt had, and how many of these were cached. LiteLLM has fields of Anthropic's beside
/// those of OpenAI, which then are in this sum, too.
const ALL_AND_CACHED: [[&str; 2]; 3] = [
    ["/prompt_tokens", "/prompt_tokens_details/cached_tokens"],
    ["/promptTokenCount", "/cachedContentTokenCount"],
    ["/input_tokens", "/input_tokens_details/cached_tokens"],
];

/// Where it says how many tokens were neither read from the cache nor written to it, were read, and were written.
const APART: [[&str; 3]; 2] = [
    [
        "/input_tokens",
        "/cache_read_input_tokens",
        "/cache_creation_input_tokens",
    ],
    [
        "/inputTokens",
        "/cacheReadInputTokens",
        "/cacheWriteInputTokens",
    ],
];

const OUTPUT: [&str; 4] = [
    "/output_tokens",
    "/completion_tokens",
    "/candidatesTokenCount",
    "/outputTokens",
];

fn number(said: &Value, place: &str) -> Option<u64> {
    said.pointer(place).and_then(Value::as_u64)
}

/// Returns the tokens of a prompt that were fresh, read from the cache and written to it. `before`: what was said earlier, where
/// a stream says only what has changed.
fn prompt(said: &Value, before: &Usage) -> Option<[u64; 3]> {
    for [all, cached] in ALL_AND_CACHED {
        // Anthropic's input has no such details, and some gateways say that fields of other formats are 0.
        let is_other = all == "/input_tokens" && !said["input_tokens_details"].is_object();
        if let Some(all) = number(said, all).filter(|all| *all > 0 && !is_other) {
            let cached = number(said, cached).unwrap_or_default().min(all);
            return Some([all - cached, cached, 0]);
        }
    }
    APART.into_iter().find_map(|[fresh, cached, written]| {
        Some([
            number(said, fresh)?,
            number(said, cached).unwrap_or(before.cached),
            number(said, written).unwrap_or(before.written),
        ])
    })
}

/// Decides whether a model of Anthropic's used tools of its provider, so that its prompts are counted together.
fn has_tools_of_the_provider(said: &Value) -> bool {
    let used = said["server_tool_use"].as_object();
    let mut counts = used.into_iter().flat_map(serde_json::Map::values);
    counts.any(|count| count.as_u64() > Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(is_stream: bool, answer: &str) -> (Option<Usage>, Option<u64>) {
        let mut reader = UsageReader::new(is_stream);
        // However the network cuts it.
        for piece in answer.as_bytes().chunks(7) {
            reader.see(piece);
        }
        reader.end();
        (reader.usage(), reader.prompt())
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
            assert_eq!(
                used(is_stream, answer),
                (Some(expected), Some(930)),
                "{answer}"
            );
        }
        for (is_stream, nothing) in [
            (true, "data: {\"usage\": nonsense\n"),
            (true, "data: {\"choices\": [], \"usage\": null}\n"),
            (false, r#"{"usage": {"prompt_tokens": 12.5}}"#),
            (false, r#"{"usage": [930]}"#),
            (false, "<p>busy</p>"),
        ] {
            assert_eq!(used(is_stream, nothing), (None, None), "{nothing}");
        }
    }

    #[test]
    fn what_gateways_add_is_not_counted_twice() {
        for (is_stream, answer) in [
            // LiteLLM in front of Anthropic.
            (
                false,
                r#"{"usage":{"prompt_tokens":930,"prompt_tokens_details":{"cached_tokens":0},"cache_creation_input_tokens":900,"cache_read_input_tokens":0}}"#,
            ),
            // new-api.
            (
                false,
                r#"{"usage":{"prompt_tokens":930,"completion_tokens":1,"input_tokens":0,"output_tokens":0}}"#,
            ),
            (
                false,
                r#"{"usage":{"prompt_tokens":0,"input_tokens":930,"output_tokens":1}}"#,
            ),
            // Details in one event and not in the next.
            (
                true,
                "data: {\"usage\":{\"prompt_tokens\":930,\"prompt_tokens_details\":{\"cached_tokens\":900}}}\n\ndata: {\"usage\":{\"prompt_tokens\":930}}\n\n",
            ),
        ] {
            let (usage, prompt) = used(is_stream, answer);
            let billed = usage.expect("there is some").prompt();
            assert_eq!((billed, prompt), (930, Some(930)), "{answer}");
        }
    }

    #[test]
    fn the_sum_of_several_prompts_is_billed_and_is_no_size() {
        let stream = "data: {\"message\":{\"usage\":{\"input_tokens\":30,\"cache_read_input_tokens\":900}}}\n\ndata: {\"usage\":{\"input_tokens\":90,\"cache_read_input_tokens\":2700,\"output_tokens\":12,\"server_tool_use\":{\"web_search_requests\":2}}}\n\n";
        let (usage, prompt) = used(true, stream);
        assert_eq!(usage.expect("there is some").prompt(), 2_790);
        assert_eq!(prompt, Some(930));
        // Some gateways say nothing at first.
        let late = "data: {\"message\":{\"usage\":{\"input_tokens\":0}}}\n\ndata: {\"usage\":{\"input_tokens\":930,\"output_tokens\":1}}\n\n";
        assert_eq!(used(true, late).1, Some(930));
        for (searches, expected) in [(0, Some(930)), (2, None)] {
            let whole = format!(
                r#"{{"usage":{{"input_tokens":930,"output_tokens":1,"server_tool_use":{{"web_search_requests":{searches}}}}}}}"#
            );
            assert_eq!(used(false, &whole).1, expected, "{searches}");
        }
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
