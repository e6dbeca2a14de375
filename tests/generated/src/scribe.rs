//! What all formats write with: the choices, the spelling, the story, and what is unique.

use crate::choices::Choices;
use crate::json::Spelling;
use crate::text::{SPRINKLES, STORIES, Story, Tool};

/// A kind of file that a message can carry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum File {
    Picture,
    Document,
    Audio,
}

/// Writes the parts of one conversation.
pub(crate) struct Scribe<'c, 'b> {
    pub(crate) choices: &'c mut Choices<'b>,
    pub(crate) spelling: Spelling,
    pub(crate) story: &'static Story,
    ids: u64,
    long_ids: bool,
}

impl<'c, 'b> Scribe<'c, 'b> {
    pub(crate) fn new(choices: &'c mut Choices<'b>) -> Self {
        let spelling = Spelling::choose(choices);
        let story = choices.one_of(&STORIES).unwrap_or(&STORIES[0]);
        let long_ids = choices.one_in(2);
        Self {
            choices,
            spelling,
            story,
            ids: 0,
            long_ids,
        }
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.choices.one_in(n)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.choices.below(n)
    }

    /// A number from 1, mostly small.
    pub(crate) fn few(&mut self, most: usize) -> usize {
        let limit = 1 + self.below(most);
        1 + self.below(limit)
    }

    /// An id that no other item of the conversation has.
    pub(crate) fn id(&mut self, prefix: &str) -> String {
        self.ids += 1;
        if self.long_ids {
            // Multiplying by an odd number maps no two to the same.
            let mixed = self.ids.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            format!("{prefix}_{mixed:016x}")
        } else {
            format!("{prefix}{}", self.ids)
        }
    }

    pub(crate) fn text(&mut self, text: &str) -> String {
        self.spelling.text(text)
    }

    pub(crate) fn list(&mut self, values: &[String]) -> String {
        self.spelling.list(values)
    }

    /// An object as it is; for what has no place for unknown members.
    pub(crate) fn plain(&mut self, members: Vec<(&str, String)>) -> String {
        self.spelling.object(members)
    }

    /// An object that now and then has a member that nobody knows.
    pub(crate) fn object(&mut self, mut members: Vec<(&'static str, String)>) -> String {
        if self.one_in(24) {
            members.push(self.unknown());
        }
        self.spelling.object(members)
    }

    fn unknown(&mut self) -> (&'static str, String) {
        let values = [
            ("x_note", "null"),
            ("x_score", "1e0"),
            ("x_weight", "1.0"),
            ("x_big", "12345678901234567890"),
            (
                "x_nested",
                r#"{"text":"","content":[{"type":"text"}],"e":-0.0E+2}"#,
            ),
            ("metadata", r#"{"é":"\ud83d\ude00","a\/b":[[],{}]}"#),
        ];
        let (key, value) = values[self.below(values.len())];
        (key, value.to_owned())
    }

    fn sprinkled(&mut self, text: &str) -> String {
        if !self.one_in(6) {
            return text.to_owned();
        }
        let sprinkle = SPRINKLES[self.below(SPRINKLES.len())];
        match self.below(4) {
            0 => format!("{text} {sprinkle}"),
            1 => format!("{text}\n\n{sprinkle}"),
            2 => format!("{sprinkle}\n{text}"),
            _ => sprinkle.to_owned(),
        }
    }

    fn say(&mut self, list: &'static [&'static str]) -> String {
        let text = self.choices.one_of(list).copied().unwrap_or("-");
        self.sprinkled(text)
    }

    pub(crate) fn request(&mut self) -> String {
        let story = self.story;
        if self.one_in(20) {
            // Pasted output makes long requests.
            let lines = self.lines(60);
            return format!("{}\n{lines}", story.requests[0]);
        }
        self.say(story.requests)
    }

    pub(crate) fn answer(&mut self) -> String {
        let story = self.story;
        let text = self.say(story.answers);
        if self.one_in(12) {
            let lines = self.lines(40);
            return format!("{text}\n{lines}.");
        }
        text
    }

    pub(crate) fn thought(&mut self) -> String {
        let story = self.story;
        let text = self.say(story.thoughts);
        if self.one_in(10) {
            return [text.as_str(); 12].join(" ");
        }
        text
    }

    pub(crate) fn instructions(&mut self) -> String {
        let story = self.story;
        self.sprinkled(story.instructions)
    }

    pub(crate) fn tool(&mut self) -> &'static Tool {
        let tools = self.story.tools;
        &tools[self.below(tools.len())]
    }

    /// Arguments of a call, as the JSON of an object.
    pub(crate) fn arguments(&mut self, tool: &Tool) -> String {
        if self.one_in(12) {
            // As of a tool that writes a file.
            let (path, content) = (self.text("src/long.rs"), self.lines(80));
            let content = self.text(&content);
            return self.plain(vec![("path", path), ("content", content)]);
        }
        let arguments = self.choices.one_of(tool.arguments).copied();
        arguments.unwrap_or("{}").to_owned()
    }

    /// What a call printed: a word, some lines, or some kB. Never empty.
    pub(crate) fn output(&mut self) -> String {
        let text = match self.below(8) {
            0 | 1 => "ok".to_owned(),
            2..6 => self.lines(12),
            6 => self.lines(120),
            _ => format!("{{\"output\":\"{}\",\"exit_code\":0}}", "done ".repeat(9)),
        };
        self.sprinkled(&text)
    }

    pub(crate) fn failure(&mut self) -> String {
        let story = self.story;
        self.say(story.failures)
    }

    fn lines(&mut self, most: usize) -> String {
        let count = 1 + self.below(most);
        let mut random = self.choices.random();
        let lines = self.story.lines;
        let mut written = String::new();
        for line in 1..=count {
            let text = lines[random.below(lines.len())];
            written.push_str(&format!("{line:>4} | {text}\n"));
        }
        written.truncate(written.trim_end().len());
        written
    }

    /// Base64 behind `head`: mostly some dozen bytes, sometimes many kB.
    fn base64(&mut self, head: &str) -> String {
        const LETTERS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let groups = match self.below(64) {
            0..52 => 4 + self.below(40),
            52..62 => 100 + self.below(600),
            _ => 3000 + self.below(6000),
        };
        let mut random = self.choices.random();
        let mut written = String::with_capacity(groups * 4 + head.len());
        written.push_str(head);
        for _ in 0..groups {
            let mut bits = random.next();
            for _ in 0..4 {
                written.push(char::from(LETTERS[(bits & 63) as usize]));
                bits >>= 6;
            }
        }
        written
    }

    /// What a provider signed or encrypted.
    pub(crate) fn secret(&mut self) -> String {
        let secret = self.base64("EqQB");
        self.text(&secret)
    }

    /// A file of `kind` in base64: its media type, and the JSON text of its data.
    pub(crate) fn file(&mut self, kind: File) -> (&'static str, String) {
        let (media_type, data) = self.bytes(kind);
        (media_type, self.text(&data))
    }

    /// The JSON text of a data URL.
    pub(crate) fn data_url(&mut self, kind: File) -> String {
        let (media_type, data) = self.bytes(kind);
        self.text(&format!("data:{media_type};base64,{data}"))
    }

    fn bytes(&mut self, kind: File) -> (&'static str, String) {
        let (media_type, head) = match kind {
            File::Picture => ("image/png", "iVBORw0KGgoA"),
            File::Document => ("application/pdf", "JVBERi0xLjcK"),
            File::Audio => ("audio/wav", "UklGRiQAAABX"),
        };
        (media_type, self.base64(head))
    }

    /// A tool's definition. `schema` is what the format calls the schema of its arguments.
    pub(crate) fn definition(&mut self, tool: &Tool, schema: &'static str) -> String {
        let members = vec![
            ("name", self.text(tool.name)),
            ("description", self.text(tool.description)),
            (
                schema,
                r#"{"type":"object","properties":{"path":{"type":"string"}},"minProperties":0.0}"#
                    .to_owned(),
            ),
        ];
        self.object(members)
    }

    /// The request around the list `key`: what stands before its first message, and what
    /// behind its last one.
    pub(crate) fn body(
        &mut self,
        before: Vec<(&str, String)>,
        key: &str,
        after: Vec<(&str, String)>,
    ) -> [String; 2] {
        let comma = self.spelling.comma();
        let colon = self.spelling.colon();
        let gap = self.spelling.gap();
        let mut head = format!("{gap}{{");
        for (name, value) in before {
            let name = self.text(name);
            head.push_str(&format!("{name}{colon}{value}{comma}"));
        }
        let key = self.text(key);
        head.push_str(&format!("{key}{colon}[{gap}"));
        let mut tail = format!("{gap}]");
        for (name, value) in after {
            let name = self.text(name);
            tail.push_str(&format!("{comma}{name}{colon}{value}"));
        }
        tail.push_str(&format!("}}{gap}"));
        [head, tail]
    }

    /// Moves elements about, where their order does not matter.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        if list.len() > 1 && self.one_in(4) {
            let first = self.below(list.len());
            list.swap(0, first);
            list.reverse();
        }
    }
}
