//! OpenAI Responses.

mod calls;
mod items;

use crate::plot::{Answered, Format};
use crate::scribe::Scribe;

pub(crate) struct Responses<'c, 'b> {
    scribe: Scribe<'c, 'b>,
    /// Items carry their `id`.
    ids: bool,
    /// The provider stores items, so that reasoning needs no `encrypted_content`.
    stored: bool,
    thinks: bool,
}

/// A call of the client's tools and its output.
struct Pair {
    call: String,
    output: String,
}

impl<'c, 'b> Responses<'c, 'b> {
    pub(crate) fn new(mut scribe: Scribe<'c, 'b>) -> Self {
        let ids = scribe.one_in(2);
        Self {
            ids,
            stored: ids && scribe.one_in(2),
            thinks: scribe.one_in(2),
            scribe,
        }
    }

    /// Adds a reasoning item; what it produced has to follow directly (RESP-3).
    fn think(&mut self, items: &mut Vec<String>) {
        if self.thinks && !self.scribe.one_in(5) {
            items.push(self.reasoning());
        }
    }

    /// A response that waits for the user's consent, the consent, and the call after it.
    fn approval(&mut self, answered: Answered, items: &mut Vec<String>) {
        let tool = self.scribe.tool();
        let id = self.scribe.id("mcpr");
        self.think(items);
        items.push(self.approval_request(&id, tool));
        if answered == Answered::NotAll {
            return;
        }
        let approved = !self.scribe.one_in(4);
        items.push(self.approval_response(&id, approved));
        if approved {
            self.think(items);
            items.push(self.mcp_call(Some(&id), tool));
        }
    }

    /// `call output call output`: one response, whose outputs a client wrote down as they came.
    fn interleaved(&mut self, answered: Answered, items: &mut Vec<String>) {
        self.think(items);
        for _ in 0..1 + self.scribe.few(3) {
            let Pair { call, output } = self.pair();
            items.extend([call, output]);
        }
        if answered == Answered::NotAll {
            items.pop();
        }
    }

    fn batch(&mut self, answered: Answered, items: &mut Vec<String>) {
        self.think(items);
        if self.scribe.one_in(4) {
            let text = self.scribe.answer();
            items.push(self.answer_message(&text));
        }
        // Some gateways want reasoning in front of each call (RESP-6).
        let each = self.scribe.one_in(10);
        let mut outputs = Vec::new();
        for index in 0..self.scribe.few(5) {
            if each && index > 0 {
                self.think(items);
            }
            let Pair { call, output } = self.pair();
            items.push(call);
            outputs.push(output);
        }
        self.scribe.shuffle(&mut outputs);
        if answered == Answered::NotAll {
            let some = self.scribe.below(outputs.len());
            outputs.truncate(some);
        }
        items.append(&mut outputs);
    }
}

impl<'c, 'b> Format<'c, 'b> for Responses<'c, 'b> {
    fn scribe(&mut self) -> &mut Scribe<'c, 'b> {
        &mut self.scribe
    }

    fn opening(&mut self, messages: &mut Vec<String>) {
        let instructions = self.scribe.instructions();
        match self.scribe.below(5) {
            3 => messages.push(self.message("developer", &instructions)),
            4 => messages.push(self.message("system", &instructions)),
            _ => {}
        }
        if self.scribe.one_in(10) {
            messages.push(self.additional_tools());
        }
        if self.scribe.one_in(10) {
            messages.push(self.mcp_list_tools());
        }
        if self.scribe.one_in(16) {
            messages.push(self.answer_message("Good morning! What can I do for you?"));
        }
    }

    fn user(&mut self, messages: &mut Vec<String>) {
        if self.scribe.one_in(24) {
            messages.push(self.compaction());
        }
        if self.scribe.one_in(24) {
            messages.push(self.unknown_item());
        }
        if self.stored && self.scribe.one_in(16) {
            messages.push(self.reference());
        }
        if self.scribe.one_in(32) {
            messages.push(self.message("developer", "The user's language is English."));
        }
        let request = self.scribe.request();
        messages.push(self.message("user", &request));
    }

    fn answer(&mut self, messages: &mut Vec<String>) {
        self.think(messages);
        if self.scribe.one_in(4) {
            for _ in 0..self.scribe.few(3) {
                messages.push(self.server_item());
                self.think(messages);
            }
        }
        let text = self.scribe.answer();
        messages.push(self.answer_message(&text));
        if self.scribe.one_in(24) {
            messages.push(self.answer_message("One more thing: the tests take two minutes."));
        }
    }

    fn step(&mut self, answered: Answered, messages: &mut Vec<String>) {
        match self.scribe.below(16) {
            0..12 => self.batch(answered, messages),
            12..15 => self.interleaved(answered, messages),
            _ => self.approval(answered, messages),
        }
    }

    fn body(&mut self) -> [String; 2] {
        let mut before = vec![("model", self.scribe.text("gpt-5"))];
        let mut after = Vec::new();
        if self.scribe.one_in(2) {
            let instructions = self.scribe.instructions();
            let place = if self.scribe.one_in(3) {
                &mut after
            } else {
                &mut before
            };
            place.push(("instructions", self.scribe.text(&instructions)));
        }
        if self.scribe.one_in(2) {
            let tools = self.tools();
            after.push(("tools", tools));
        }
        if self.ids {
            after.push(("store", self.stored.to_string()));
        }
        if self.thinks && !self.stored {
            after.push(("include", r#"["reasoning.encrypted_content"]"#.to_owned()));
        }
        if self.scribe.one_in(3) {
            after.push(("temperature", "1.0".to_owned()));
            after.push(("max_output_tokens", "4096".to_owned()));
        }
        self.scribe.body(before, "input", after)
    }
}
