//! Calls that the client answers, and their outputs. Only `call_id` pairs them.

use super::{Pair, Responses};
use crate::scribe::File;
use crate::text::Tool;

impl Responses<'_, '_> {
    pub(super) fn pair(&mut self) -> Pair {
        let id = self.scribe.id("call");
        match self.scribe.below(24) {
            0..14 => self.function(&id),
            14..16 => self.custom(&id),
            16 | 17 => self.local_shell(&id),
            18 => self.shell(&id),
            19 | 20 => self.computer(&id),
            21 | 22 => self.patch(&id),
            _ => self.tool_search(&id),
        }
    }

    fn function(&mut self, id: &str) -> Pair {
        let tool = self.scribe.tool();
        let arguments = match self.scribe.below(24) {
            // Models do not always write valid JSON.
            23 => "{\"path\": \"src/par".to_owned(),
            _ => self.scribe.arguments(tool),
        };
        let mut members = vec![
            ("call_id", self.scribe.text(id)),
            ("name", self.scribe.text(tool.name)),
            ("arguments", self.scribe.text(&arguments)),
        ];
        if self.scribe.one_in(8) {
            members.push(("namespace", self.scribe.text("travel")));
        }
        if self.ids {
            members.push(("status", self.scribe.text("completed")));
        }
        let call = self.item("function_call", "fc", members);
        let output = self.free_output(id, "function_call_output");
        Pair { call, output }
    }

    fn custom(&mut self, id: &str) -> Pair {
        let input = self.scribe.output();
        let members = vec![
            ("call_id", self.scribe.text(id)),
            ("name", self.scribe.text("apply")),
            ("input", self.scribe.text(&input)),
        ];
        let call = self.item("custom_tool_call", "ctc", members);
        let output = self.free_output(id, "custom_tool_call_output");
        Pair { call, output }
    }

    /// A text, or a list of parts.
    fn free_output(&mut self, id: &str, kind: &str) -> String {
        let output = match self.scribe.below(12) {
            0..7 => {
                let text = self.scribe.output();
                self.scribe.text(&text)
            }
            7 | 8 => {
                let text = self.scribe.failure();
                self.scribe.text(&text)
            }
            9 => self.scribe.text(""),
            _ => {
                let text = self.scribe.output();
                let mut parts = vec![self.text_part(&text)];
                for _ in 0..self.scribe.below(3) {
                    parts.push(self.image());
                }
                self.scribe.shuffle(&mut parts);
                self.scribe.list(&parts)
            }
        };
        self.output(id, kind, vec![("output", output)])
    }

    fn output(&mut self, id: &str, kind: &str, members: Vec<(&'static str, String)>) -> String {
        let mut all = vec![("call_id", self.scribe.text(id))];
        all.extend(members);
        // The client makes outputs, so that most have no id.
        if self.scribe.one_in(8) {
            return self.item(kind, "out", all);
        }
        self.typed(kind, all)
    }

    /// Members of a call that all but functions have.
    fn begun(&mut self, id: &str) -> Vec<(&'static str, String)> {
        vec![
            ("call_id", self.scribe.text(id)),
            ("status", self.scribe.text("completed")),
        ]
    }

    fn local_shell(&mut self, id: &str) -> Pair {
        let command = r#"["bash","-lc","cargo test -q 2>&1 | tail -n 20"]"#.to_owned();
        let mut members = self.begun(id);
        let action = vec![("command", command), ("env", "{}".to_owned())];
        members.push(("action", self.typed("exec", action)));
        let call = self.item("local_shell_call", "lsh", members);
        let text = self.scribe.output();
        let text = self.scribe.text(&text);
        let output = self.output(id, "local_shell_call_output", vec![("output", text)]);
        Pair { call, output }
    }

    fn shell(&mut self, id: &str) -> Pair {
        let mut members = self.begun(id);
        let action = r#"{"commands":["ls -la","rg -n column src"],"timeout_ms":1.2e5}"#;
        members.push(("action", action.to_owned()));
        let call = self.item("shell_call", "sh", members);
        let (text, failure) = (self.scribe.output(), self.scribe.failure());
        let printed = vec![
            ("stdout", self.scribe.text(&text)),
            ("stderr", self.scribe.text(&failure)),
            ("outcome", r#"{"type":"exit","exit_code":1}"#.to_owned()),
        ];
        let printed = self.scribe.plain(printed);
        let list = self.scribe.list(&[printed]);
        let output = self.output(id, "shell_call_output", vec![("output", list)]);
        Pair { call, output }
    }

    fn computer(&mut self, id: &str) -> Pair {
        let mut members = self.begun(id);
        let action = r#"{"type":"click","button":"left","x":1.0e2,"y":213.0}"#;
        members.push(("action", action.to_owned()));
        members.push(("pending_safety_checks", "[]".to_owned()));
        let call = self.item("computer_call", "cu", members);
        let url = self.scribe.data_url(File::Picture);
        let screen = self.typed("computer_screenshot", vec![("image_url", url)]);
        let output = self.output(id, "computer_call_output", vec![("output", screen)]);
        Pair { call, output }
    }

    fn patch(&mut self, id: &str) -> Pair {
        let mut members = self.begun(id);
        let diff = "@@ -41 +41 @@\n-while at < last {\n+while at <= last {";
        let operation = vec![
            ("path", self.scribe.text("src/parser.rs")),
            ("diff", self.scribe.text(diff)),
        ];
        members.push(("operation", self.typed("update_file", operation)));
        let call = self.item("apply_patch_call", "apc", members);
        let (status, text) = if self.scribe.one_in(3) {
            ("failed", self.scribe.failure())
        } else {
            ("completed", "Done!".to_owned())
        };
        let members = vec![
            ("status", self.scribe.text(status)),
            ("output", self.scribe.text(&text)),
        ];
        let output = self.output(id, "apply_patch_call_output", members);
        Pair { call, output }
    }

    fn tool_search(&mut self, id: &str) -> Pair {
        let mut members = self.begun(id);
        members.push(("execution", self.scribe.text("client")));
        members.push(("arguments", r#"{"query":"calendar"}"#.to_owned()));
        let call = self.item("tool_search_call", "tsc", members);
        let mut members = vec![
            ("execution", self.scribe.text("client")),
            ("status", self.scribe.text("completed")),
        ];
        members.push(("tools", self.tools()));
        let output = self.output(id, "tool_search_output", members);
        Pair { call, output }
    }

    /// Here the item's own id pairs, so it is there even where others have none.
    pub(super) fn approval_request(&mut self, id: &str, tool: &Tool) -> String {
        let arguments = self.scribe.arguments(tool);
        let members = vec![
            ("id", self.scribe.text(id)),
            ("server_label", self.scribe.text("calendar")),
            ("name", self.scribe.text(tool.name)),
            ("arguments", self.scribe.text(&arguments)),
        ];
        self.typed("mcp_approval_request", members)
    }

    pub(super) fn approval_response(&mut self, id: &str, approved: bool) -> String {
        let members = vec![
            ("approval_request_id", self.scribe.text(id)),
            ("approve", approved.to_string()),
        ];
        self.typed("mcp_approval_response", members)
    }
}
