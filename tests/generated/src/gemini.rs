//! Gemini contents.

use crate::plot::{Answered, Format};
use crate::scribe::{File, Scribe};
use crate::text::Tool;

pub(crate) struct Gemini<'c, 'b> {
    scribe: Scribe<'c, 'b>,
    /// Each step's first call carries a signature (GEM-3).
    signed: bool,
    /// Calls of this turn have ids; else names and order pair them.
    ids: bool,
    snake_case: bool,
}

type Member = (&'static str, String);

impl<'c, 'b> Gemini<'c, 'b> {
    pub(crate) fn new(mut scribe: Scribe<'c, 'b>) -> Self {
        Self {
            signed: scribe.one_in(2),
            ids: scribe.one_in(2),
            snake_case: scribe.one_in(5),
            scribe,
        }
    }

    /// The spelling of this document.
    fn key(&self, camel: &'static str, snake: &'static str) -> &'static str {
        if self.snake_case { snake } else { camel }
    }

    fn content(&mut self, role: &str, parts: &[String]) -> String {
        let role = self.scribe.text(role);
        let parts = self.scribe.list(parts);
        self.scribe.object(vec![("role", role), ("parts", parts)])
    }

    /// A part with one main member, and maybe a signature.
    fn part(&mut self, main: Member, signed: bool) -> String {
        let mut members = vec![main];
        if signed {
            let key = self.key("thoughtSignature", "thought_signature");
            members.push((key, self.scribe.secret()));
        }
        self.scribe.object(members)
    }

    fn text(&mut self, text: &str) -> String {
        let text = self.scribe.text(text);
        self.part(("text", text), false)
    }

    fn inline(&mut self, file: File) -> String {
        let (media_type, data) = self.scribe.file(file);
        let members = vec![
            (
                self.key("mimeType", "mime_type"),
                self.scribe.text(media_type),
            ),
            ("data", data),
        ];
        let data = self.scribe.plain(members);
        let key = self.key("inlineData", "inline_data");
        self.part((key, data), false)
    }

    fn media(&mut self) -> String {
        match self.scribe.below(8) {
            0..3 => self.inline(File::Picture),
            3 => self.inline(File::Document),
            4 => self.inline(File::Audio),
            5 | 6 => {
                let members = vec![
                    (
                        self.key("mimeType", "mime_type"),
                        self.scribe.text("video/mp4"),
                    ),
                    (
                        self.key("fileUri", "file_uri"),
                        self.scribe.text("https://example.org/v1beta/files/a1"),
                    ),
                ];
                let data = self.scribe.plain(members);
                let key = self.key("fileData", "file_data");
                self.part((key, data), false)
            }
            _ => self.unknown(),
        }
    }

    fn unknown(&mut self) -> String {
        let value = self.scribe.text("50.06 N, 14.42 E");
        self.part(("xLocation", value), false)
    }

    /// A summary of what the model thought.
    fn think(&mut self, parts: &mut Vec<String>) {
        if self.signed && self.scribe.one_in(3) {
            let thought = self.scribe.thought();
            let members = vec![
                ("text", self.scribe.text(&thought)),
                ("thought", "true".to_owned()),
            ];
            parts.push(self.scribe.object(members));
        }
    }

    /// Code that the provider itself ran.
    fn run_code(&mut self, parts: &mut Vec<String>) {
        let code = vec![
            ("language", self.scribe.text("PYTHON")),
            ("code", self.scribe.text("print(184.50 + 23)\n")),
        ];
        let code = self.scribe.plain(code);
        let key = self.key("executableCode", "executable_code");
        let signed = self.signed;
        parts.push(self.part((key, code), signed));
        let result = vec![
            ("outcome", self.scribe.text("OUTCOME_OK")),
            ("output", self.scribe.text("207.5\n")),
        ];
        let result = self.scribe.plain(result);
        let key = self.key("codeExecutionResult", "code_execution_result");
        parts.push(self.part((key, result), false));
    }

    fn call(&mut self, id: Option<&str>, tool: &Tool, signed: bool) -> String {
        let mut members = Vec::new();
        if let Some(id) = id {
            members.push(("id", self.scribe.text(id)));
        }
        members.push(("name", self.scribe.text(tool.name)));
        members.push(("args", self.scribe.arguments(tool)));
        let call = self.scribe.plain(members);
        let key = self.key("functionCall", "function_call");
        self.part((key, call), signed)
    }

    /// The response is always an object (GEM-4).
    fn response(&mut self, id: Option<&str>, tool: &Tool) -> String {
        let response = match self.scribe.below(12) {
            0..6 => ("output", self.scribe.output()),
            6 | 7 => ("error", self.scribe.failure()),
            8 => ("output", String::new()),
            9 => ("result", self.scribe.output()),
            _ => ("", String::new()),
        };
        let response = match response {
            ("", _) => match self.scribe.below(2) {
                0 => "{}".to_owned(),
                _ => r#"{"seats":["14A","14F"],"price":1.8450e2,"note":null}"#.to_owned(),
            },
            (key, text) => {
                let text = self.scribe.text(&text);
                self.scribe.plain(vec![(key, text)])
            }
        };
        let mut members = Vec::new();
        if let Some(id) = id {
            members.push(("id", self.scribe.text(id)));
        }
        members.push(("name", self.scribe.text(tool.name)));
        members.push(("response", response));
        if self.scribe.one_in(10) {
            let picture = self.inline(File::Picture);
            members.push(("parts", self.scribe.list(&[picture])));
        }
        let response = self.scribe.object(members);
        let key = self.key("functionResponse", "function_response");
        self.part((key, response), false)
    }
}

impl<'c, 'b> Format<'c, 'b> for Gemini<'c, 'b> {
    fn scribe(&mut self) -> &mut Scribe<'c, 'b> {
        &mut self.scribe
    }

    fn opening(&mut self, _messages: &mut Vec<String>) {
        // The history starts with the user (GEM-1).
    }

    fn user(&mut self, messages: &mut Vec<String>) {
        // A turn has ids or not; a conversation that changed its model can have both.
        if self.scribe.one_in(8) {
            self.ids = !self.ids;
        }
        let request = self.scribe.request();
        let mut parts = vec![self.text(&request)];
        if self.scribe.one_in(4) {
            for _ in 0..self.scribe.few(3) {
                parts.push(if self.scribe.one_in(4) {
                    self.text("And this, too.")
                } else {
                    self.media()
                });
            }
            self.scribe.shuffle(&mut parts);
        }
        messages.push(self.content("user", &parts));
    }

    fn answer(&mut self, messages: &mut Vec<String>) {
        let mut parts = Vec::new();
        self.think(&mut parts);
        if self.scribe.one_in(10) {
            self.run_code(&mut parts);
        }
        if self.scribe.one_in(24) {
            parts.push(self.unknown());
        }
        let text = self.scribe.answer();
        let text = self.scribe.text(&text);
        let signed = self.signed && self.scribe.one_in(3);
        parts.push(self.part(("text", text), signed));
        if self.scribe.one_in(16) {
            // A picture that the model drew.
            parts.push(self.inline(File::Picture));
        }
        messages.push(self.content("model", &parts));
    }

    fn step(&mut self, answered: Answered, messages: &mut Vec<String>) {
        let mut parts = Vec::new();
        self.think(&mut parts);
        if self.scribe.one_in(3) {
            let text = self.scribe.answer();
            parts.push(self.text(&text));
        }
        let mut responses = Vec::new();
        for call in 0..self.scribe.few(5) {
            let tool = self.scribe.tool();
            let id = self.ids.then(|| self.scribe.id("call"));
            let signed = self.signed && call == 0;
            parts.push(self.call(id.as_deref(), tool, signed));
            responses.push(self.response(id.as_deref(), tool));
        }
        messages.push(self.content("model", &parts));
        if answered == Answered::NotAll {
            // Some responses alone would break GEM-2, as they are one content.
            return;
        }
        if self.ids {
            self.scribe.shuffle(&mut responses);
        }
        if self.scribe.one_in(16) {
            // What a tool showed, as gemini-cli sends it.
            responses.push(self.inline(File::Picture));
        }
        messages.push(self.content("user", &responses));
    }

    fn body(&mut self) -> [String; 2] {
        let mut before = Vec::new();
        let mut after = Vec::new();
        if self.scribe.one_in(2) {
            let instructions = self.scribe.instructions();
            let mut parts = vec![self.text(&instructions)];
            if self.scribe.one_in(3) {
                parts.push(self.text("The user's language is English."));
            }
            let parts = self.scribe.list(&parts);
            let system = self.scribe.plain(vec![("parts", parts)]);
            let key = self.key("systemInstruction", "system_instruction");
            let place = if self.scribe.one_in(3) {
                &mut after
            } else {
                &mut before
            };
            place.push((key, system));
        }
        if self.scribe.one_in(2) {
            let tools = self.scribe.story.tools;
            let tools: Vec<String> = tools
                .iter()
                .map(|tool| self.scribe.definition(tool, "parameters"))
                .collect();
            let tools = self.scribe.list(&tools);
            let key = self.key("functionDeclarations", "function_declarations");
            let tools = self.scribe.plain(vec![(key, tools)]);
            after.push(("tools", self.scribe.list(&[tools])));
        }
        if self.scribe.one_in(3) {
            let key = self.key("generationConfig", "generation_config");
            after.push((
                key,
                r#"{"temperature":1.0,"candidateCount":1e0}"#.to_owned(),
            ));
        }
        self.scribe.body(before, "contents", after)
    }
}
