//! OpenAI Chat Completions.

mod parts;

use crate::plot::{Answered, Format};
use crate::scribe::Scribe;
use crate::text::Tool;

pub(crate) struct Chat<'c, 'b> {
    scribe: Scribe<'c, 'b>,
    /// `reasoning_content`, as some servers give and want it.
    thinks: bool,
}

impl<'c, 'b> Chat<'c, 'b> {
    pub(crate) fn new(mut scribe: Scribe<'c, 'b>) -> Self {
        let thinks = scribe.one_in(4);
        Self { scribe, thinks }
    }

    fn message(&mut self, role: &str, mut members: Vec<(&'static str, String)>) -> String {
        members.insert(0, ("role", self.scribe.text(role)));
        self.scribe.object(members)
    }

    fn system(&mut self, role: &str, text: &str) -> String {
        let content = self.text_or_parts(text);
        self.message(role, vec![("content", content)])
    }

    fn call(&mut self, tool: &Tool) -> (String, String) {
        let id = if self.scribe.one_in(12) {
            // As Kimi spells them.
            let id = self.scribe.id(":");
            format!("functions.{}{id}", tool.name)
        } else {
            self.scribe.id("call")
        };
        let name = self.scribe.text(tool.name);
        let arguments = match self.scribe.below(24) {
            // Models do not always write valid JSON.
            22 => "{\"path\": \"src/par".to_owned(),
            23 => String::new(),
            _ => self.scribe.arguments(tool),
        };
        let arguments = self.scribe.text(&arguments);
        let kind = if self.scribe.one_in(24) {
            "custom"
        } else {
            "function"
        };
        let key = if kind == "custom" {
            "input"
        } else {
            "arguments"
        };
        let function = self.scribe.plain(vec![("name", name), (key, arguments)]);
        let mut members = vec![
            ("id", self.scribe.text(&id)),
            ("type", self.scribe.text(kind)),
            (kind, function),
        ];
        if self.scribe.one_in(20) {
            // Gemini's signature, as its interface for OpenAI clients passes it on.
            let signature = self.scribe.secret();
            let google = self.scribe.plain(vec![("thought_signature", signature)]);
            let extra = self.scribe.plain(vec![("google", google)]);
            members.push(("extra_content", extra));
        }
        (id, self.scribe.object(members))
    }

    fn output(&mut self, id: &str, tool: &Tool) -> String {
        let content = match self.scribe.below(12) {
            0..8 => {
                let text = self.scribe.output();
                self.text_or_parts(&text)
            }
            8 | 9 => {
                let text = self.scribe.failure();
                self.text_or_parts(&text)
            }
            10 => self.scribe.text(""),
            // Not in OpenAI's own interface; other servers take it.
            _ => {
                let parts = [self.text_part("The sheet:"), self.image()];
                self.scribe.list(&parts)
            }
        };
        let mut members = vec![("tool_call_id", self.scribe.text(id)), ("content", content)];
        if self.scribe.one_in(4) {
            members.push(("name", self.scribe.text(tool.name)));
        }
        self.message("tool", members)
    }

    /// The old form: one call without an id, and its output.
    fn old_pair(&mut self, answered: Answered, messages: &mut Vec<String>) {
        let tool = self.scribe.tool();
        let arguments = self.scribe.arguments(tool);
        let call = vec![
            ("name", self.scribe.text(tool.name)),
            ("arguments", self.scribe.text(&arguments)),
        ];
        let call = self.scribe.plain(call);
        let members = vec![("content", "null".to_owned()), ("function_call", call)];
        messages.push(self.message("assistant", members));
        if answered == Answered::All {
            let output = self.scribe.output();
            let members = vec![
                ("name", self.scribe.text(tool.name)),
                ("content", self.scribe.text(&output)),
            ];
            messages.push(self.message("function", members));
        }
    }

    fn add_thoughts(&mut self, members: &mut Vec<(&'static str, String)>) {
        if !self.thinks {
            return;
        }
        let thought = self.scribe.thought();
        members.push(("reasoning_content", self.scribe.text(&thought)));
        if self.scribe.one_in(5) {
            let data = self.scribe.secret();
            let kind = self.scribe.text("reasoning.encrypted");
            let detail = self.scribe.plain(vec![("type", kind), ("data", data)]);
            members.push(("reasoning_details", self.scribe.list(&[detail])));
        }
    }
}

impl<'c, 'b> Format<'c, 'b> for Chat<'c, 'b> {
    fn scribe(&mut self) -> &mut Scribe<'c, 'b> {
        &mut self.scribe
    }

    fn opening(&mut self, messages: &mut Vec<String>) {
        let instructions = self.scribe.instructions();
        match self.scribe.below(5) {
            0 => {}
            1 | 2 => messages.push(self.system("system", &instructions)),
            3 => messages.push(self.system("developer", &instructions)),
            _ => {
                messages.push(self.system("system", &instructions));
                messages.push(self.system("system", "The user's language is English."));
            }
        }
        if self.scribe.one_in(16) {
            let content = self.scribe.text("Good morning! What can I do for you?");
            messages.push(self.message("assistant", vec![("content", content)]));
        }
    }

    fn user(&mut self, messages: &mut Vec<String>) {
        let request = self.scribe.request();
        let content = if self.scribe.one_in(6) {
            let mut parts = vec![self.text_part(&request)];
            for _ in 0..self.scribe.few(3) {
                parts.push(self.media());
            }
            self.scribe.shuffle(&mut parts);
            self.scribe.list(&parts)
        } else {
            self.text_or_parts(&request)
        };
        let mut members = vec![("content", content)];
        if self.scribe.one_in(10) {
            members.push(("name", self.scribe.text("Ana_R")));
        }
        messages.push(self.message("user", members));
    }

    fn answer(&mut self, messages: &mut Vec<String>) {
        let text = self.scribe.answer();
        let mut members = match self.scribe.below(16) {
            0..10 => vec![("content", self.text_or_parts(&text))],
            10 => {
                let refusal = self.scribe.text("I can't help with that.");
                vec![("content", "null".to_owned()), ("refusal", refusal)]
            }
            11 => {
                let refusal = self.scribe.text("I can't help with that.");
                let part = self.part("refusal", refusal);
                vec![("content", self.scribe.list(&[part]))]
            }
            12 => {
                let id = self.scribe.id("audio");
                let id = self.scribe.text(&id);
                let audio = self.scribe.plain(vec![("id", id)]);
                vec![("content", "null".to_owned()), ("audio", audio)]
            }
            13 => {
                let citation = r#"[{"type":"url_citation","url_citation":{"start_index":0,"end_index":9,"url":"https://example.org/fares","title":"Fares"}}]"#;
                vec![
                    ("content", self.scribe.text(&text)),
                    ("annotations", citation.to_owned()),
                ]
            }
            _ => vec![
                ("content", self.scribe.text(&text)),
                ("refusal", "null".to_owned()),
                ("annotations", "[]".to_owned()),
            ],
        };
        self.add_thoughts(&mut members);
        messages.push(self.message("assistant", members));
        if self.scribe.one_in(24) {
            let more = self
                .scribe
                .text("One more thing: the tests take two minutes.");
            messages.push(self.message("assistant", vec![("content", more)]));
        }
    }

    fn step(&mut self, answered: Answered, messages: &mut Vec<String>) {
        if self.scribe.one_in(14) {
            return self.old_pair(answered, messages);
        }
        let mut calls = Vec::new();
        let mut outputs = Vec::new();
        for _ in 0..self.scribe.few(5) {
            let tool = self.scribe.tool();
            let (id, call) = self.call(tool);
            calls.push(call);
            outputs.push(self.output(&id, tool));
        }
        let mut members = match self.scribe.below(4) {
            0 => vec![("content", "null".to_owned())],
            1 => vec![("content", self.scribe.text(""))],
            2 => vec![],
            _ => {
                let text = self.scribe.answer();
                vec![("content", self.text_or_parts(&text))]
            }
        };
        members.push(("tool_calls", self.scribe.list(&calls)));
        self.add_thoughts(&mut members);
        messages.push(self.message("assistant", members));
        self.scribe.shuffle(&mut outputs);
        if answered == Answered::NotAll {
            let some = self.scribe.below(outputs.len());
            outputs.truncate(some);
        }
        messages.append(&mut outputs);
    }

    fn body(&mut self) -> [String; 2] {
        let tools = self.scribe.story.tools;
        let list = self.scribe.one_in(2).then(|| {
            let tools: Vec<String> = tools
                .iter()
                .map(|tool| {
                    let function = self.scribe.definition(tool, "parameters");
                    self.part("function", function)
                })
                .collect();
            self.scribe.list(&tools)
        });
        let mut before = vec![("model", self.scribe.text("gpt-4o"))];
        let mut after = Vec::new();
        if let Some(list) = list {
            let place = if self.scribe.one_in(3) {
                &mut after
            } else {
                &mut before
            };
            place.push(("tools", list));
        }
        if self.scribe.one_in(3) {
            after.push(("temperature", "1.0".to_owned()));
            after.push(("n", "1e0".to_owned()));
        }
        self.scribe.body(before, "messages", after)
    }
}
