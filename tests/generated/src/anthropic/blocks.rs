//! Blocks of messages.

use super::{Anthropic, Thinking};
use crate::scribe::File;
use crate::text::Tool;

type Members = Vec<(&'static str, String)>;

impl Anthropic<'_, '_> {
    /// A block of the type `kind`.
    fn block(&mut self, kind: &str, members: Members) -> String {
        let mut all = vec![("type", self.scribe.text(kind))];
        all.extend(members);
        self.scribe.object(all)
    }

    /// A block that may carry one of the few `cache_control` marks.
    fn markable(&mut self, kind: &str, mut members: Members) -> String {
        if self.marks > 0 && self.scribe.one_in(6) {
            self.marks -= 1;
            let mark = if self.scribe.one_in(3) {
                r#"{"type":"ephemeral","ttl":"1h"}"#
            } else {
                r#"{"type":"ephemeral"}"#
            };
            members.push(("cache_control", mark.to_owned()));
        }
        self.block(kind, members)
    }

    pub(super) fn text_block(&mut self, text: &str) -> String {
        let mut members = vec![("text", self.scribe.text(text))];
        if self.scribe.one_in(16) {
            members.push(("citations", "null".to_owned()));
        }
        self.markable("text", members)
    }

    pub(super) fn cited_text(&mut self, text: &str) -> String {
        let index = self.scribe.secret();
        let title = self.scribe.text("Fares – Números");
        let cited = self.scribe.text("A second bag costs 45 €.");
        let citation = vec![
            ("type", self.scribe.text("web_search_result_location")),
            ("url", self.scribe.text("https://example.org/fares")),
            ("title", title),
            ("encrypted_index", index),
            ("cited_text", cited),
        ];
        let citation = self.scribe.plain(citation);
        let members = vec![
            ("text", self.scribe.text(text)),
            ("citations", self.scribe.list(&[citation])),
        ];
        self.block("text", members)
    }

    pub(super) fn thinking(&mut self) -> String {
        if self.thinking == Thinking::Signed && self.scribe.one_in(6) {
            let data = self.scribe.secret();
            return self.block("redacted_thinking", vec![("data", data)]);
        }
        let thought = match self.thinking {
            // The provider can leave the words out and keep them in the signature.
            Thinking::Signed if self.scribe.one_in(12) => String::new(),
            _ => self.scribe.thought(),
        };
        let mut members = vec![("thinking", self.scribe.text(&thought))];
        if self.thinking == Thinking::Signed {
            members.push(("signature", self.scribe.secret()));
        } else if self.scribe.one_in(4) {
            members.push(("signature", self.scribe.text("")));
        }
        self.block("thinking", members)
    }

    pub(super) fn compaction(&mut self) -> String {
        let summary = self.scribe.answer();
        let content = self.scribe.text(&summary);
        self.block("compaction", vec![("content", content)])
    }

    fn source(&mut self, file: File) -> String {
        let members = match self.scribe.below(4) {
            0 | 1 => {
                let (media_type, data) = self.scribe.file(file);
                vec![
                    ("type", self.scribe.text("base64")),
                    ("media_type", self.scribe.text(media_type)),
                    ("data", data),
                ]
            }
            2 => vec![
                ("type", self.scribe.text("url")),
                ("url", self.scribe.text("https://example.org/sheet?page=2")),
            ],
            _ => {
                let id = self.scribe.id("file");
                vec![
                    ("type", self.scribe.text("file")),
                    ("file_id", self.scribe.text(&id)),
                ]
            }
        };
        self.scribe.plain(members)
    }

    pub(super) fn image(&mut self) -> String {
        let source = self.source(File::Picture);
        self.markable("image", vec![("source", source)])
    }

    pub(super) fn document(&mut self) -> String {
        let source = if self.scribe.one_in(3) {
            let data = self.scribe.output();
            let members = vec![
                ("type", self.scribe.text("text")),
                ("media_type", self.scribe.text("text/plain")),
                ("data", self.scribe.text(&data)),
            ];
            self.scribe.plain(members)
        } else {
            self.source(File::Document)
        };
        let mut members = vec![("source", source)];
        if self.scribe.one_in(2) {
            members.push(("title", self.scribe.text("Tariffs 2025 / 料金表")));
            members.push(("context", self.scribe.text("Sent by the railway.")));
            members.push(("citations", r#"{"enabled":true}"#.to_owned()));
        }
        self.markable("document", members)
    }

    pub(super) fn unknown_block(&mut self) -> String {
        let value = self.scribe.text("50.06 N, 14.42 E");
        self.block("x_location", vec![("x_location", value)])
    }

    pub(super) fn call(&mut self, kind: &str, id: &str, tool: &Tool) -> String {
        let members = vec![
            ("id", self.scribe.text(id)),
            ("name", self.scribe.text(tool.name)),
            ("input", self.scribe.arguments(tool)),
        ];
        self.markable(kind, members)
    }

    pub(super) fn result(&mut self, id: &str) -> String {
        let mut members = vec![("tool_use_id", self.scribe.text(id))];
        match self.scribe.below(12) {
            0..6 => {
                let output = self.scribe.output();
                members.push(("content", self.scribe.text(&output)));
            }
            6 | 7 => {
                let failure = self.scribe.failure();
                members.push(("content", self.scribe.text(&failure)));
                members.push(("is_error", "true".to_owned()));
            }
            8 => members.push(("content", self.scribe.text(""))),
            9 => {} // Without content: the tool had nothing to say.
            _ => {
                let output = self.scribe.output();
                let mut blocks = vec![self.text_block(&output)];
                for _ in 0..self.scribe.below(3) {
                    blocks.push(match self.scribe.below(6) {
                        0..3 => self.image(),
                        3 => self.document(),
                        4 => self.text_block("…and more."),
                        _ => self.unknown_block(),
                    });
                }
                self.scribe.shuffle(&mut blocks);
                members.push(("content", self.scribe.list(&blocks)));
                members.push(("is_error", "false".to_owned()));
            }
        }
        self.markable("tool_result", members)
    }

    /// A call that the provider itself answers, in the same message (ANTH-7).
    pub(super) fn server_tool(&mut self, blocks: &mut Vec<String>) {
        let id = self.scribe.id("srvtoolu");
        let fetches = self.scribe.one_in(3);
        let (name, kind) = if fetches {
            ("web_fetch", "web_fetch_tool_result")
        } else {
            ("web_search", "web_search_tool_result")
        };
        let members = vec![
            ("id", self.scribe.text(&id)),
            ("name", self.scribe.text(name)),
            (
                "input",
                r#"{"query":"second bag \u20ac","n":1e0}"#.to_owned(),
            ),
        ];
        blocks.push(self.block("server_tool_use", members));
        let content = if self.scribe.one_in(8) {
            let members = vec![
                ("type", self.scribe.text(&format!("{kind}_error"))),
                ("error_code", self.scribe.text("max_uses_exceeded")),
            ];
            self.scribe.plain(members)
        } else if fetches {
            let document = self.document();
            let members = vec![
                ("type", self.scribe.text("web_fetch_result")),
                ("url", self.scribe.text("https://example.org/fares")),
                ("content", document),
            ];
            self.scribe.plain(members)
        } else {
            let results: Vec<String> = (0..self.scribe.below(3))
                .map(|_| {
                    let members = vec![
                        ("type", self.scribe.text("web_search_result")),
                        ("url", self.scribe.text("https://example.org/fares")),
                        ("title", self.scribe.text("Fares")),
                        ("encrypted_content", self.scribe.secret()),
                    ];
                    self.scribe.plain(members)
                })
                .collect();
            self.scribe.list(&results)
        };
        let members = vec![("tool_use_id", self.scribe.text(&id)), ("content", content)];
        blocks.push(self.block(kind, members));
    }

    pub(super) fn mcp_tool(&mut self, blocks: &mut Vec<String>) {
        let id = self.scribe.id("mcptoolu");
        let tool = self.scribe.tool();
        let members = vec![
            ("id", self.scribe.text(&id)),
            ("name", self.scribe.text(tool.name)),
            ("server_name", self.scribe.text("calendar")),
            ("input", self.scribe.arguments(tool)),
        ];
        blocks.push(self.block("mcp_tool_use", members));
        let output = self.scribe.output();
        let block = self.text_block(&output);
        let members = vec![
            ("tool_use_id", self.scribe.text(&id)),
            ("is_error", "false".to_owned()),
            ("content", self.scribe.list(&[block])),
        ];
        blocks.push(self.block("mcp_tool_result", members));
    }
}
