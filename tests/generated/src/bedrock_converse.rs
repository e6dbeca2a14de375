//! Bedrock Converse.

use crate::plot::{Answered, Format};
use crate::scribe::{File, Scribe};
use crate::text::Tool;

pub(crate) struct BedrockConverse<'c, 'b> {
    scribe: Scribe<'c, 'b>,
    thinking: Thinking,
    /// How many cache points are still allowed (BED-10).
    points: usize,
    /// How many documents have a name (BED-9).
    documents: usize,
    /// Whether the user spoke last, and may not speak again (BED-2).
    user_spoke: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thinking {
    Off,
    Signed,
    /// As of models that are not Anthropic's.
    Unsigned,
}

type Members = Vec<(&'static str, String)>;

impl<'c, 'b> BedrockConverse<'c, 'b> {
    pub(crate) fn new(mut scribe: Scribe<'c, 'b>) -> Self {
        let thinking = match scribe.below(5) {
            0 | 1 => Thinking::Off,
            2 | 3 => Thinking::Signed,
            _ => Thinking::Unsigned,
        };
        let points = if scribe.one_in(2) { 4 } else { 0 };
        Self {
            scribe,
            thinking,
            points,
            documents: 0,
            user_spoke: false,
        }
    }

    fn message(&mut self, role: &str, blocks: &[String]) -> String {
        let role = self.scribe.text(role);
        let content = self.scribe.list(blocks);
        self.scribe
            .object(vec![("role", role), ("content", content)])
    }

    /// A block with one main member, which says what it is.
    fn block(&mut self, kind: &'static str, value: String) -> String {
        self.scribe.object(vec![(kind, value)])
    }

    fn block_of(&mut self, kind: &'static str, members: Members) -> String {
        let value = self.scribe.object(members);
        self.block(kind, value)
    }

    fn text(&mut self, text: &str) -> String {
        let text = self.scribe.text(text);
        self.block("text", text)
    }

    /// Maybe one of the few marks for the cache.
    fn point(&mut self, blocks: &mut Vec<String>) {
        if self.points > 0 && self.scribe.one_in(4) {
            self.points -= 1;
            let point = if self.scribe.one_in(3) {
                r#"{"type":"default","ttl":"1h"}"#
            } else {
                r#"{"type":"default"}"#
            };
            blocks.push(self.block("cachePoint", point.to_owned()));
        }
    }

    /// What lies in the request, or in a store of the user's.
    fn source(&mut self, file: File) -> String {
        if self.scribe.one_in(4) {
            let uri = self.scribe.text("s3://berths/sheets/a1");
            let place = self.scribe.plain(vec![("uri", uri)]);
            return self.scribe.plain(vec![("s3Location", place)]);
        }
        let (_, data) = self.scribe.file(file);
        self.scribe.plain(vec![("bytes", data)])
    }

    fn image(&mut self) -> String {
        let source = self.source(File::Picture);
        let format = self.scribe.text("png");
        self.block_of("image", vec![("format", format), ("source", source)])
    }

    fn document(&mut self) -> String {
        self.documents += 1;
        let name = format!("Tariffs 2025 ({}) [final]", self.documents);
        let source = if self.scribe.one_in(3) {
            let text = self.scribe.output();
            let text = self.scribe.text(&text);
            self.scribe.plain(vec![("text", text)])
        } else {
            self.source(File::Document)
        };
        let mut members = vec![
            ("format", self.scribe.text("pdf")),
            ("name", self.scribe.text(&name)),
            ("source", source),
        ];
        if self.scribe.one_in(2) {
            members.push(("context", self.scribe.text("Sent by the railway.")));
            members.push(("citations", r#"{"enabled":true}"#.to_owned()));
        }
        self.block_of("document", members)
    }

    fn recording(&mut self) -> String {
        let (kind, format) = if self.scribe.one_in(2) {
            ("video", "mp4")
        } else {
            ("audio", "wav")
        };
        let source = self.source(File::Audio);
        let format = self.scribe.text(format);
        self.block_of(kind, vec![("format", format), ("source", source)])
    }

    /// What a guardrail looks at.
    fn guarded(&mut self, text: &str) -> String {
        let text = self.scribe.text(text);
        let qualifiers = r#"["query"]"#.to_owned();
        let text = self
            .scribe
            .plain(vec![("text", text), ("qualifiers", qualifiers)]);
        self.block_of("guardContent", vec![("text", text)])
    }

    fn unknown(&mut self) -> String {
        let value = self.scribe.text("50.06 N, 14.42 E");
        self.block("xLocation", value)
    }

    /// Adds reasoning, which every step has where thinking is on (BED-7).
    fn think(&mut self, blocks: &mut Vec<String>) {
        if self.thinking == Thinking::Off {
            return;
        }
        for _ in 0..self.scribe.few(2) {
            blocks.push(self.reasoning());
        }
    }

    fn reasoning(&mut self) -> String {
        if self.thinking == Thinking::Signed && self.scribe.one_in(6) {
            let secret = self.scribe.secret();
            return self.block_of("reasoningContent", vec![("redactedContent", secret)]);
        }
        let thought = self.scribe.thought();
        let mut members = vec![("text", self.scribe.text(&thought))];
        if self.thinking == Thinking::Signed {
            members.push(("signature", self.scribe.secret()));
        }
        let text = self.scribe.plain(members);
        self.block_of("reasoningContent", vec![("reasoningText", text)])
    }

    /// What the model says of its sources.
    fn cited(&mut self, text: &str) -> String {
        let text = self.scribe.text(text);
        let text = self.scribe.plain(vec![("text", text)]);
        let title = self.scribe.text("Fares – Números");
        let citation = self.scribe.plain(vec![("title", title)]);
        let members = vec![
            ("content", self.scribe.list(&[text])),
            ("citations", self.scribe.list(&[citation])),
        ];
        self.block_of("citationsContent", members)
    }

    /// A call that the provider itself answers, in the same message.
    fn server_tool(&mut self, blocks: &mut Vec<String>) {
        let id = self.scribe.id("srvtooluse");
        let members = vec![
            ("toolUseId", self.scribe.text(&id)),
            ("name", self.scribe.text("nova_grounding")),
            (
                "input",
                r#"{"query":"second bag \u20ac","n":1e0}"#.to_owned(),
            ),
            ("type", self.scribe.text("server_tool_use")),
        ];
        blocks.push(self.block_of("toolUse", members));
        let members = vec![
            ("toolUseId", self.scribe.text(&id)),
            ("content", "[]".to_owned()),
            ("type", self.scribe.text("nova_grounding_result")),
        ];
        blocks.push(self.block_of("toolResult", members));
    }

    fn call(&mut self, id: &str, tool: &Tool) -> String {
        let members = vec![
            ("toolUseId", self.scribe.text(id)),
            ("name", self.scribe.text(tool.name)),
            ("input", self.scribe.arguments(tool)),
        ];
        self.block_of("toolUse", members)
    }

    fn result(&mut self, id: &str) -> String {
        let mut status = self.scribe.one_in(2).then_some("success");
        let mut content = Vec::new();
        match self.scribe.below(12) {
            0..6 => {
                let output = self.scribe.output();
                content.push(self.text(&output));
            }
            6 | 7 => {
                status = Some("error");
                let failure = self.scribe.failure();
                content.push(self.text(&failure));
            }
            8 => {
                let json = r#"{"seats":["14A","14F"],"price":1.8450e2,"note":null}"#;
                content.push(self.block("json", json.to_owned()));
            }
            9 => content.push(self.text("")),
            10 => {
                let output = self.scribe.output();
                content.push(self.text(&output));
                content.push(self.image());
            }
            _ => {
                let output = self.scribe.output();
                content.push(self.text(&output));
                content.push(self.document());
            }
        }
        let mut members = vec![
            ("toolUseId", self.scribe.text(id)),
            ("content", self.scribe.list(&content)),
        ];
        if let Some(status) = status {
            members.push(("status", self.scribe.text(status)));
        }
        self.block_of("toolResult", members)
    }

    fn tools(&mut self) -> String {
        let mut tools = Vec::new();
        for tool in self.scribe.story.tools {
            let schema = r#"{"json":{"type":"object","properties":{"path":{"type":"string"}},"minProperties":0.0}}"#;
            let members = vec![
                ("name", self.scribe.text(tool.name)),
                ("description", self.scribe.text(tool.description)),
                ("inputSchema", schema.to_owned()),
            ];
            tools.push(self.block_of("toolSpec", members));
        }
        self.point(&mut tools);
        let tools = self.scribe.list(&tools);
        self.scribe.plain(vec![("tools", tools)])
    }
}

impl<'c, 'b> Format<'c, 'b> for BedrockConverse<'c, 'b> {
    fn scribe(&mut self) -> &mut Scribe<'c, 'b> {
        &mut self.scribe
    }

    fn opening(&mut self, _messages: &mut Vec<String>) {
        // The first message has to be the user's (BED-1).
    }

    fn user(&mut self, messages: &mut Vec<String>) {
        if self.user_spoke {
            self.answer(messages);
        }
        let request = self.scribe.request();
        let mut blocks = if self.scribe.one_in(8) {
            vec![self.guarded(&request)]
        } else {
            vec![self.text(&request)]
        };
        if self.scribe.one_in(3) {
            for _ in 0..self.scribe.below(4) {
                blocks.push(match self.scribe.below(8) {
                    0 | 1 => self.text("And this, too."),
                    2 | 3 => self.image(),
                    4 | 5 => self.document(),
                    6 => self.recording(),
                    _ => self.unknown(),
                });
            }
            self.scribe.shuffle(&mut blocks);
        }
        self.point(&mut blocks);
        messages.push(self.message("user", &blocks));
        self.user_spoke = true;
    }

    fn answer(&mut self, messages: &mut Vec<String>) {
        let text = self.scribe.answer();
        let mut blocks = Vec::new();
        if self.scribe.one_in(2) {
            self.think(&mut blocks);
        }
        match self.scribe.below(16) {
            12 => {
                self.server_tool(&mut blocks);
                blocks.push(self.text(&text));
            }
            13 => blocks.push(self.cited(&text)),
            14 => {
                blocks.push(self.text(&text));
                blocks.push(self.cited("The source says so."));
            }
            15 => {
                blocks.push(self.unknown());
                blocks.push(self.text(&text));
            }
            _ => blocks.push(self.text(&text)),
        }
        messages.push(self.message("assistant", &blocks));
        self.user_spoke = false;
    }

    fn step(&mut self, answered: Answered, messages: &mut Vec<String>) {
        let mut blocks = Vec::new();
        self.think(&mut blocks);
        if self.scribe.one_in(3) {
            let text = self.scribe.answer();
            blocks.push(self.text(&text));
        }
        let mut results = Vec::new();
        for _ in 0..self.scribe.few(5) {
            let tool = self.scribe.tool();
            let id = self.scribe.id("tooluse");
            blocks.push(self.call(&id, tool));
            results.push(self.result(&id));
        }
        messages.push(self.message("assistant", &blocks));
        self.user_spoke = false;
        if answered == Answered::NotAll {
            // Some results alone would break BED-3, as they are one message.
            return;
        }
        self.scribe.shuffle(&mut results);
        if self.scribe.one_in(8) {
            results.push(self.text("And hurry up, please."));
        }
        self.point(&mut results);
        messages.push(self.message("user", &results));
        self.user_spoke = true;
    }

    fn body(&mut self) -> [String; 2] {
        let mut before = Vec::new();
        let mut after = Vec::new();
        if self.scribe.one_in(2) {
            let instructions = self.scribe.instructions();
            let mut blocks = vec![self.text(&instructions)];
            if self.scribe.one_in(3) {
                blocks.push(self.text("The user's language is English."));
            }
            self.point(&mut blocks);
            let system = self.scribe.list(&blocks);
            let place = if self.scribe.one_in(3) {
                &mut after
            } else {
                &mut before
            };
            place.push(("system", system));
        }
        // Calls need it, whether they come or not (BED-5).
        let tools = self.tools();
        let place = if self.scribe.one_in(4) {
            &mut before
        } else {
            &mut after
        };
        place.push(("toolConfig", tools));
        if self.thinking == Thinking::Signed {
            let fields = r#"{"thinking":{"type":"enabled","budget_tokens":1.024e3}}"#;
            after.push(("additionalModelRequestFields", fields.to_owned()));
        }
        if self.scribe.one_in(3) {
            let config = r#"{"temperature":1.0,"maxTokens":1e3}"#;
            after.push(("inferenceConfig", config.to_owned()));
        }
        self.scribe.body(before, "messages", after)
    }
}
