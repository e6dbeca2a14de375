//! What the user types while the agent works. Versions from 2.1.37 to about 2.1.97 record it nowhere but in the
//! lines of the program's queue (LCC-22).

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};

use serde_json::value::RawValue;

use super::content::Content;
use crate::json::{self, Members};
use crate::logs::anthropic::blocks::{blocks, mark_inserted};
use crate::model::log::LogFacts;

/// The most messages of the queue that are compared with a line, which bounds the cost of a hostile log.
const NEAR: usize = 64;

/// The program's queue, and what was taken out of it for the model.
#[derive(Default)]
pub(super) struct Queue<'a> {
    waiting: VecDeque<Queued<'a>>,
    /// What the model reads with its next request, unless a line of its own still tells it.
    taken: VecDeque<Queued<'a>>,
    /// When a message came, and its content: a resumed session repeats such lines, which have no ids.
    seen: HashSet<(Cow<'a, str>, &'a str)>,
}

/// A message that waits or was taken.
pub(super) struct Queued<'a> {
    content: Option<&'a RawValue>,
    words: String,
    /// Whether a line of its own told it before it was taken out.
    is_told: bool,
    /// The line behind which it was taken out.
    pub(super) behind: Option<Cow<'a, str>>,
}

impl<'a> Queue<'a> {
    /// Applies a line of the queue, which follows the line with the id `behind`. Returns false if the
    /// operation is unknown.
    pub(super) fn apply(&mut self, line: &Members<'a>, behind: Option<&Cow<'a, str>>) -> bool {
        match line.text("operation").as_deref() {
            Some("enqueue") => self.add(line),
            // The program tells the model in the midst of its work.
            Some("remove") => {
                if let Some(mut message) = self.next(line).filter(|message| !message.is_told) {
                    message.behind = behind.cloned();
                    self.taken.push_back(message);
                }
            }
            // It becomes a prompt, which is a line of its own.
            Some("dequeue") => {
                self.next(line);
            }
            // The user edits all of it again.
            Some("popAll") => self.waiting.clear(),
            _ => return false,
        }
        true
    }

    fn add(&mut self, line: &Members<'a>) {
        let content = line.present("content");
        let time = line.text("timestamp");
        let is_repeated = time
            .zip(content)
            .is_some_and(|(time, content)| !self.seen.insert((time, content.get())));
        if !is_repeated {
            self.waiting.push_back(Queued {
                content,
                words: content.map(words).unwrap_or_default(),
                is_told: false,
                behind: None,
            });
        }
    }

    /// Takes the message out that a line names, or else the first.
    fn next(&mut self, line: &Members<'a>) -> Option<Queued<'a>> {
        let named = line.present("content").map(words);
        let place = named.and_then(|words| place_of(&self.waiting, &words));
        self.waiting.remove(place.unwrap_or(0))
    }

    /// A prompt of the user's may be what was taken out just before: then it is told once, by the prompt.
    pub(super) fn note_prompt(&mut self, line: &Members<'_>) {
        if self.taken.is_empty() {
            return;
        }
        let content = line.inside("message", "content");
        let words = content.map(words).unwrap_or_default();
        if let Some(place) = place_of(&self.taken, &words) {
            self.taken.remove(place);
        }
    }

    /// Later versions write an attachment for each message that they take out. It may say more, such as what a
    /// placeholder stands for; so where no message has its words, it is the first that was taken.
    pub(super) fn note_attachment(&mut self, prompt: &RawValue) {
        let words = words(prompt);
        let is_untold = |message: &&mut Queued<'_>| !message.is_told && message.words == words;
        if let Some(place) = place_of(&self.taken, &words) {
            self.taken.remove(place);
        } else if let Some(message) = self.waiting.iter_mut().take(NEAR).find(is_untold) {
            message.is_told = true;
        } else {
            self.taken.pop_front();
        }
    }

    /// What was taken out and told by no line of its own, in order.
    pub(super) fn told(&mut self) -> VecDeque<Queued<'a>> {
        std::mem::take(&mut self.taken)
    }

    /// How many messages still wait.
    pub(super) fn waiting(&self) -> usize {
        let waiting = self.waiting.iter();
        waiting.filter(|message| !message.is_told).count()
    }
}

impl<'a> Queued<'a> {
    /// What it is for the model: the user's words, unless they are a program's. It is counted where it is not
    /// known.
    pub(super) fn said(&self, facts: &mut LogFacts) -> Content<'a> {
        let said = self.content.and_then(|content| blocks(content, facts));
        let Some(mut blocks) = said.filter(|blocks| !blocks.is_empty()) else {
            facts.dropped_attachments += 1;
            return Content::None;
        };
        if is_programs(&self.words) {
            mark_inserted(&mut blocks);
        }
        Content::record(blocks)
    }
}

/// Where the first message with these words is.
fn place_of(messages: &VecDeque<Queued<'_>>, words: &str) -> Option<usize> {
    let mut near = messages.iter().take(NEAR);
    near.position(|message| message.words == words)
}

/// The texts of a content, to compare them.
fn words(content: &RawValue) -> String {
    let raw = content.get();
    if json::is_text(raw) {
        return json::decode(raw).trim().to_owned();
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(raw).unwrap_or_default();
    let texts: Vec<Cow<'_, str>> = blocks
        .into_iter()
        .filter_map(|block| json::members(block.get())?.text("text"))
        .collect();
    texts.join("\n").trim().to_owned()
}

/// Whether a program queued a message: all of it is in a tag whose name has several words, as only programs
/// write them (`<task-notification>`).
fn is_programs(words: &str) -> bool {
    let name = words
        .strip_prefix('<')
        .and_then(|rest| rest.split([' ', '>', '\n']).next())
        .filter(|name| name.contains('-'));
    name.is_some_and(|name| words.ends_with(&format!("</{name}>")))
}

#[cfg(test)]
mod tests {
    use super::is_programs;

    #[test]
    fn only_a_whole_element_with_a_name_of_several_words_is_a_programs() {
        assert!(is_programs(
            "<agent-notification id=\"a1\">\nDone.\n</agent-notification>"
        ));
        assert!(!is_programs("<agent-notification> is shown twice"));
        assert!(!is_programs("<div>The buoy</div>"));
        assert!(!is_programs("Never sail at night."));
    }
}
