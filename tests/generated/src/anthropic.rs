//! Anthropic Messages.

mod blocks;

use crate::plot::{Answered, Format};
use crate::scribe::Scribe;

pub(crate) struct Anthropic<'c, 'b> {
    scribe: Scribe<'c, 'b>,
    thinking: Thinking,
    /// How many `cache_control` marks are still allowed (ANTH-9).
    marks: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thinking {
    Off,
    Signed,
    /// As of servers that speak this format for other models.
    Unsigned,
}

impl<'c, 'b> Anthropic<'c, 'b> {
    pub(crate) fn new(mut scribe: Scribe<'c, 'b>) -> Self {
        let thinking = match scribe.below(5) {
            0 | 1 => Thinking::Off,
            2 | 3 => Thinking::Signed,
            _ => Thinking::Unsigned,
        };
        let marks = if scribe.one_in(2) { 4 } else { 0 };
        Self {
            scribe,
            thinking,
            marks,
        }
    }

    fn message(&mut self, role: &str, content: String) -> String {
        let role = self.scribe.text(role);
        self.scribe
            .object(vec![("role", role), ("content", content)])
    }

    fn blocks(&mut self, role: &str, blocks: &[String]) -> String {
        let content = self.scribe.list(blocks);
        self.message(role, content)
    }

    /// Adds thinking, which every step has where thinking is on (ANTH-5).
    fn think(&mut self, blocks: &mut Vec<String>) {
        if self.thinking == Thinking::Off {
            return;
        }
        for _ in 0..self.scribe.few(2) {
            blocks.push(self.thinking());
        }
    }

    /// Maybe another message of the assistant's. Neighbours of one role are allowed (ANTH-2).
    fn neighbour(&mut self, messages: &mut Vec<String>) {
        if self.scribe.one_in(24) {
            let block = self.text_block("One more thing: the tests take two minutes.");
            messages.push(self.blocks("assistant", &[block]));
        }
    }
}

impl<'c, 'b> Format<'c, 'b> for Anthropic<'c, 'b> {
    fn scribe(&mut self) -> &mut Scribe<'c, 'b> {
        &mut self.scribe
    }

    fn opening(&mut self, _messages: &mut Vec<String>) {
        // The first message has to be the user's (ANTH-1).
    }

    fn user(&mut self, messages: &mut Vec<String>) {
        let request = self.scribe.request();
        if !self.scribe.one_in(3) {
            let text = self.scribe.text(&request);
            messages.push(self.message("user", text));
            return;
        }
        let mut blocks = vec![self.text_block(&request)];
        for _ in 0..self.scribe.below(4) {
            blocks.push(match self.scribe.below(6) {
                0 | 1 => self.text_block("And this, too."),
                2 | 3 => self.image(),
                4 => self.document(),
                _ => self.unknown_block(),
            });
        }
        self.scribe.shuffle(&mut blocks);
        messages.push(self.blocks("user", &blocks));
    }

    fn answer(&mut self, messages: &mut Vec<String>) {
        let text = self.scribe.answer();
        let kind = self.scribe.below(16);
        if kind < 6 {
            let text = self.scribe.text(&text);
            messages.push(self.message("assistant", text));
            return;
        }
        let mut blocks = Vec::new();
        if kind == 6 {
            // It stands first, in front of thinking as well (ANTH-8).
            blocks.push(self.compaction());
        } else if self.scribe.one_in(2) {
            self.think(&mut blocks);
        }
        match kind {
            7..10 => {
                self.server_tool(&mut blocks);
                blocks.push(self.cited_text(&text));
            }
            10 => {
                self.mcp_tool(&mut blocks);
                blocks.push(self.text_block(&text));
            }
            11 => {
                blocks.push(self.unknown_block());
                blocks.push(self.text_block(&text));
            }
            12 => {
                blocks.push(self.text_block(&text));
                blocks.push(self.cited_text("The source says so."));
            }
            _ => blocks.push(self.text_block(&text)),
        }
        messages.push(self.blocks("assistant", &blocks));
        self.neighbour(messages);
    }

    fn step(&mut self, answered: Answered, messages: &mut Vec<String>) {
        let mut blocks = Vec::new();
        self.think(&mut blocks);
        if self.scribe.one_in(3) {
            let text = self.scribe.answer();
            blocks.push(self.text_block(&text));
        }
        if self.scribe.one_in(16) {
            self.server_tool(&mut blocks);
            // Thinking can go on between calls.
            self.think(&mut blocks);
        }
        let mut results = Vec::new();
        for _ in 0..self.scribe.few(5) {
            let tool = self.scribe.tool();
            let id = self.scribe.id("toolu");
            blocks.push(self.call("tool_use", &id, tool));
            results.push(self.result(&id));
        }
        messages.push(self.blocks("assistant", &blocks));
        if answered == Answered::NotAll {
            // Some results alone would break ANTH-3, as they are one message.
            return;
        }
        self.scribe.shuffle(&mut results);
        if self.scribe.one_in(8) {
            results.push(self.text_block("And hurry up, please."));
            if self.scribe.one_in(3) {
                results.push(self.image());
            }
        }
        messages.push(self.blocks("user", &results));
    }

    fn body(&mut self) -> [String; 2] {
        let mut before = vec![
            ("model", self.scribe.text("claude-sonnet-4-5")),
            ("max_tokens", "1024".to_owned()),
        ];
        let mut after = Vec::new();
        let instructions = self.scribe.instructions();
        let system = match self.scribe.below(4) {
            0 => None,
            1 => Some(self.scribe.text(&instructions)),
            _ => {
                let mut blocks = vec![self.text_block(&instructions)];
                if self.scribe.one_in(2) {
                    blocks.push(self.text_block("The user's language is English."));
                }
                Some(self.scribe.list(&blocks))
            }
        };
        if let Some(system) = system {
            // Some clients write the members in alphabetical order.
            let place = if self.scribe.one_in(4) {
                &mut after
            } else {
                &mut before
            };
            place.push(("system", system));
        }
        if self.scribe.one_in(2) {
            let mut tools: Vec<String> = self
                .scribe
                .story
                .tools
                .iter()
                .map(|tool| self.scribe.definition(tool, "input_schema"))
                .collect();
            tools.push(r#"{"type":"web_search_20250305","name":"web_search"}"#.to_owned());
            before.push(("tools", self.scribe.list(&tools)));
        }
        if self.thinking == Thinking::Signed {
            let thinking = r#"{"type":"enabled","budget_tokens":1.024e3}"#;
            before.push(("thinking", thinking.to_owned()));
        }
        if self.scribe.one_in(3) {
            after.push(("temperature", "1.0".to_owned()));
        }
        self.scribe.body(before, "messages", after)
    }
}
