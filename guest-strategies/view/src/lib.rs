//! The conversation as a filter shows it to the strategy behind it. `baler compose` puts this component between the two:
//! the filter, the strategy and the conversation then form no cycle, which components may not.
//!
//! It reads through to the host and puts the filter's texts in place of the conversation's, so it holds only what the
//! filter changed.

mod bindings;

use std::cell::RefCell;

use bindings::baler::compaction::history::{self, Content, Figures, Message, Tool};
use bindings::exports::baler::compaction::history::Guest as History;
use bindings::exports::baler::composition::view::{Guest as View, Shown};

thread_local! {
    /// The filter's texts, in order.
    static SHOWN: RefCell<Vec<Shown>> = const { RefCell::new(Vec::new()) };
}

/// The component.
#[derive(Debug)]
pub struct Component;

impl View for Component {
    fn show(texts: Vec<Shown>) {
        SHOWN.replace(texts);
    }
}

impl History for Component {
    fn units() -> Figures {
        history::units()
    }

    fn read(first: u32, count: u32) -> Vec<Vec<Message>> {
        let mut read = history::read(first, count);
        SHOWN.with_borrow(|shown| replace(&mut read, first, shown));
        read
    }

    fn reference(unit: u32) -> Option<String> {
        history::reference(unit)
    }

    fn tools() -> Vec<Tool> {
        history::tools()
    }
}

/// Puts the filter's texts into a slice of units that begins at `first`.
fn replace(read: &mut [Vec<Message>], first: u32, shown: &[Shown]) {
    let from = shown.partition_point(|shown| shown.unit < first);
    for shown in &shown[from..] {
        let Some(messages) = read.get_mut((shown.unit - first) as usize) else {
            return;
        };
        let part = messages
            .get_mut(shown.message as usize)
            .and_then(|message| message.parts.get_mut(shown.part as usize));
        match part.map(|part| &mut part.content) {
            Some(Content::Text(text) | Content::Thinking(text)) => text.clone_from(&shown.text),
            Some(Content::Call(call)) => call.arguments.clone_from(&shown.text),
            Some(Content::Output(output)) => output.text.clone_from(&shown.text),
            Some(Content::Media(_) | Content::Opaque(_)) | None => {}
        }
    }
}

#[cfg(target_family = "wasm")]
#[expect(unsafe_code, reason = "generated: the functions that a host calls")]
const _: () = {
    bindings::export!(Component with_types_in bindings);
};

#[cfg(test)]
mod tests {
    use super::bindings::baler::compaction::history::{Part, PartTraits, Role};
    use super::*;

    fn unit(texts: &[&str]) -> Vec<Message> {
        let part = |text: &&str| Part {
            content: Content::Text((*text).to_owned()),
            tokens: 1,
            traits: PartTraits::empty(),
        };
        vec![Message {
            role: Role::User,
            name: None,
            parts: texts.iter().map(part).collect(),
        }]
    }

    fn shown(unit: u32, part: u32) -> Shown {
        Shown {
            unit,
            message: 0,
            part,
            text: "shown".to_owned(),
        }
    }

    #[test]
    fn the_texts_of_the_filter_stand_in_place_of_those_of_the_conversation() {
        let mut read = vec![unit(&["a", "b"]), unit(&["c"])];
        let texts = [
            shown(1, 0),
            shown(3, 1),
            shown(3, 7),
            shown(4, 0),
            shown(5, 0),
        ];
        replace(&mut read, 3, &texts);
        let texts: Vec<_> = read
            .iter()
            .flat_map(|unit| &unit[0].parts)
            .map(|part| match &part.content {
                Content::Text(text) => text.as_str(),
                _ => "",
            })
            .collect();
        assert_eq!(texts, ["a", "shown", "shown"]);
    }
}
