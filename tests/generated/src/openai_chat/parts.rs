//! Contents of messages.

use super::Chat;
use crate::scribe::File;

impl Chat<'_, '_> {
    /// A part whose main member has the name of its type.
    pub(super) fn part(&mut self, kind: &'static str, value: String) -> String {
        let name = self.scribe.text(kind);
        self.scribe.object(vec![("type", name), (kind, value)])
    }

    pub(super) fn text_part(&mut self, text: &str) -> String {
        let text = self.scribe.text(text);
        self.part("text", text)
    }

    /// A text, or a list of up to three text parts.
    pub(super) fn text_or_parts(&mut self, text: &str) -> String {
        if !self.scribe.one_in(5) {
            return self.scribe.text(text);
        }
        let mut parts = vec![self.text_part(text)];
        for _ in 0..self.scribe.below(3) {
            parts.push(self.text_part("And one more part."));
        }
        self.scribe.list(&parts)
    }

    pub(super) fn image(&mut self) -> String {
        let mut url = vec![(
            "url",
            if self.scribe.one_in(3) {
                self.scribe.text("https://example.org/sheet.png?page=2")
            } else {
                self.scribe.data_url(File::Picture)
            },
        )];
        if self.scribe.one_in(2) {
            url.push(("detail", self.scribe.text("low")));
        }
        let url = self.scribe.plain(url);
        self.part("image_url", url)
    }

    pub(super) fn media(&mut self) -> String {
        match self.scribe.below(5) {
            0 | 1 => self.image(),
            2 => {
                let (_, data) = self.scribe.file(File::Audio);
                let format = self.scribe.text("wav");
                let audio = self.scribe.plain(vec![("data", data), ("format", format)]);
                self.part("input_audio", audio)
            }
            3 => {
                let name = self.scribe.text("tariff table.pdf");
                let file = if self.scribe.one_in(2) {
                    let id = self.scribe.id("file");
                    vec![("file_id", self.scribe.text(&id))]
                } else {
                    vec![
                        ("filename", name),
                        ("file_data", self.scribe.data_url(File::Document)),
                    ]
                };
                let file = self.scribe.plain(file);
                self.part("file", file)
            }
            _ => {
                let value = self.scribe.text("50.06 N, 14.42 E");
                self.part("x_location", value)
            }
        }
    }
}
