//! Items that pair with no other: messages, reasoning, and what the provider did itself.

use super::Responses;
use crate::scribe::File;
use crate::text::Tool;

type Members = Vec<(&'static str, String)>;

impl Responses<'_, '_> {
    /// An item of the type `kind`, with an id that begins with `prefix` where items have ids.
    pub(super) fn item(&mut self, kind: &str, prefix: &str, members: Members) -> String {
        let mut all = vec![("type", self.scribe.text(kind))];
        if self.ids {
            let id = self.scribe.id(prefix);
            all.push(("id", self.scribe.text(&id)));
        }
        all.extend(members);
        self.scribe.object(all)
    }

    /// A part or another small object with a type.
    pub(super) fn typed(&mut self, kind: &str, members: Members) -> String {
        let mut all = vec![("type", self.scribe.text(kind))];
        all.extend(members);
        self.scribe.object(all)
    }

    pub(super) fn text_part(&mut self, text: &str) -> String {
        let text = self.scribe.text(text);
        self.typed("input_text", vec![("text", text)])
    }

    pub(super) fn image(&mut self) -> String {
        let url = if self.scribe.one_in(3) {
            self.scribe.text("https://example.org/sheet.png?page=2")
        } else {
            self.scribe.data_url(File::Picture)
        };
        let mut members = vec![("image_url", url)];
        if self.scribe.one_in(2) {
            members.push(("detail", self.scribe.text("auto")));
        }
        self.typed("input_image", members)
    }

    fn media(&mut self) -> String {
        match self.scribe.below(5) {
            0 | 1 => self.image(),
            2 => {
                let members = vec![
                    ("filename", self.scribe.text("tariff table.pdf")),
                    ("file_data", self.scribe.data_url(File::Document)),
                ];
                self.typed("input_file", members)
            }
            3 => {
                let (_, data) = self.scribe.file(File::Audio);
                let format = self.scribe.text("wav");
                let audio = self.scribe.plain(vec![("data", data), ("format", format)]);
                self.typed("input_audio", vec![("input_audio", audio)])
            }
            _ => {
                let value = self.scribe.text("50.06 N, 14.42 E");
                self.typed("x_location", vec![("x_location", value)])
            }
        }
    }

    /// What the client says. It has no id, and its type can be left out.
    pub(super) fn message(&mut self, role: &str, text: &str) -> String {
        let content = if self.scribe.one_in(3) {
            let mut parts = vec![self.text_part(text)];
            for _ in 0..self.scribe.below(4) {
                parts.push(match role {
                    "user" => self.media(),
                    _ => self.text_part("And this, too."),
                });
            }
            self.scribe.shuffle(&mut parts);
            self.scribe.list(&parts)
        } else {
            self.scribe.text(text)
        };
        let members = vec![("role", self.scribe.text(role)), ("content", content)];
        if self.scribe.one_in(4) {
            return self.scribe.object(members);
        }
        self.typed("message", members)
    }

    /// What the model says.
    pub(super) fn answer_message(&mut self, text: &str) -> String {
        let role = ("role", self.scribe.text("assistant"));
        if !self.ids && self.scribe.one_in(4) {
            let content = ("content", self.scribe.text(text));
            return self.scribe.object(vec![role, content]);
        }
        let part = if self.scribe.one_in(16) {
            let refusal = self.scribe.text("I can't help with that.");
            self.typed("refusal", vec![("refusal", refusal)])
        } else {
            let mut members = vec![("text", self.scribe.text(text))];
            match self.scribe.below(8) {
                6 => members.push(("annotations", "[]".to_owned())),
                7 => {
                    let citation = r#"[{"type":"url_citation","start_index":0,"end_index":9,"url":"https://example.org/fares","title":"Fares"}]"#;
                    members.push(("annotations", citation.to_owned()));
                    members.push(("logprobs", "[]".to_owned()));
                }
                _ => {}
            }
            self.typed("output_text", members)
        };
        let mut members = vec![role, ("content", self.scribe.list(&[part]))];
        if self.ids {
            members.push(("status", self.scribe.text("completed")));
        }
        self.item("message", "msg", members)
    }

    pub(super) fn reasoning(&mut self) -> String {
        let summary: Vec<String> = (0..self.scribe.below(3))
            .map(|_| {
                let thought = self.scribe.thought();
                let text = self.scribe.text(&thought);
                self.typed("summary_text", vec![("text", text)])
            })
            .collect();
        let mut members = vec![("summary", self.scribe.list(&summary))];
        match self.scribe.below(6) {
            4 => members.push(("content", "null".to_owned())),
            5 => {
                let thought = self.scribe.thought();
                let text = self.scribe.text(&thought);
                let part = self.typed("reasoning_text", vec![("text", text)]);
                members.push(("content", self.scribe.list(&[part])));
            }
            _ => {}
        }
        if !self.stored {
            members.push(("encrypted_content", self.scribe.secret()));
        }
        self.item("reasoning", "rs", members)
    }

    pub(super) fn compaction(&mut self) -> String {
        let content = self.scribe.secret();
        self.item("compaction", "cmp", vec![("encrypted_content", content)])
    }

    pub(super) fn reference(&mut self) -> String {
        let id = self.scribe.id("msg");
        let id = self.scribe.text(&id);
        self.typed("item_reference", vec![("id", id)])
    }

    pub(super) fn unknown_item(&mut self) -> String {
        let value = self.scribe.text("0f3c9a");
        let commit = self.scribe.plain(vec![("id", value)]);
        self.typed("x_ghost_snapshot", vec![("ghost_commit", commit)])
    }

    /// The definitions of the story's tools.
    pub(super) fn tools(&mut self) -> String {
        let tools = self.scribe.story.tools;
        let list: Vec<String> = tools
            .iter()
            .map(|tool| {
                let members = vec![
                    ("name", self.scribe.text(tool.name)),
                    ("description", self.scribe.text(tool.description)),
                    ("parameters", r#"{"type":"object"}"#.to_owned()),
                ];
                self.typed("function", members)
            })
            .collect();
        self.scribe.list(&list)
    }

    pub(super) fn additional_tools(&mut self) -> String {
        let tools = self.tools();
        let role = self.scribe.text("developer");
        self.typed("additional_tools", vec![("role", role), ("tools", tools)])
    }

    pub(super) fn mcp_list_tools(&mut self) -> String {
        let members = vec![
            ("server_label", self.scribe.text("calendar")),
            (
                "tools",
                r#"[{"name":"weather","input_schema":{"type":"object"}}]"#.to_owned(),
            ),
        ];
        self.item("mcp_list_tools", "mcpl", members)
    }

    pub(super) fn mcp_call(&mut self, approval: Option<&str>, tool: &Tool) -> String {
        let arguments = self.scribe.arguments(tool);
        let output = self.scribe.output();
        let mut members = vec![
            ("server_label", self.scribe.text("calendar")),
            ("name", self.scribe.text(tool.name)),
            ("arguments", self.scribe.text(&arguments)),
            ("output", self.scribe.text(&output)),
            ("error", "null".to_owned()),
        ];
        if let Some(id) = approval {
            members.push(("approval_request_id", self.scribe.text(id)));
        }
        self.item("mcp_call", "mcp", members)
    }

    /// What the provider did between the model's thinking and its words.
    pub(super) fn server_item(&mut self) -> String {
        let status = ("status", self.scribe.text("completed"));
        match self.scribe.below(6) {
            0 | 1 => {
                let query = self.scribe.text("second bag €");
                let action = self.typed("search", vec![("query", query)]);
                self.item("web_search_call", "ws", vec![status, ("action", action)])
            }
            2 => {
                let members = vec![
                    status,
                    ("code", self.scribe.text("print(184.50 + 23)\n")),
                    ("container_id", self.scribe.text("cntr_1")),
                    (
                        "outputs",
                        r#"[{"type":"logs","logs":"207.5\n"}]"#.to_owned(),
                    ),
                ];
                self.item("code_interpreter_call", "ci", members)
            }
            3 => {
                let members = vec![
                    status,
                    ("queries", r#"["tariff","料金"]"#.to_owned()),
                    ("results", "null".to_owned()),
                ];
                self.item("file_search_call", "fs", members)
            }
            4 => {
                let (_, result) = self.scribe.file(File::Picture);
                self.item(
                    "image_generation_call",
                    "ig",
                    vec![status, ("result", result)],
                )
            }
            _ => {
                let tool = self.scribe.tool();
                self.mcp_call(None, tool)
            }
        }
    }
}
