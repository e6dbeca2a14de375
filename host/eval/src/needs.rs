//! Whether a result says what must still be known: whether the pieces of each fact stand together in it.

use std::collections::BTreeMap;

use crate::corpus::Need;
use crate::message::{Message, PartKind, Role};

/// What a reader takes in together.
#[derive(Debug, Default)]
pub(crate) struct Together {
    /// Messages that the history has too, a call with its outputs as one: who reads them knows all of them.
    kept: Vec<String>,
    /// The lines of other texts.
    written: Vec<Vec<String>>,
}

impl Together {
    /// Returns what is together in these messages; `is_kept` says of a part whether the history has it.
    pub(crate) fn of<'m>(
        messages: impl IntoIterator<Item = &'m Message>,
        is_kept: impl Fn(&str) -> bool,
    ) -> Self {
        let mut together = Self::default();
        let mut group: Vec<&Message> = Vec::new();
        for message in messages {
            if message.role == Role::Instructions {
                continue;
            }
            let is_output = !message.parts.is_empty()
                && message
                    .parts
                    .iter()
                    .all(|part| part.kind == PartKind::Output);
            if !is_output {
                together.add(&group, &is_kept);
                group.clear();
            }
            group.push(message);
        }
        together.add(&group, &is_kept);
        together
    }

    /// Returns the lines of a text that is a summary as a whole.
    pub(crate) fn written(text: &str) -> Self {
        Self {
            kept: Vec::new(),
            written: vec![text.lines().map(str::to_lowercase).collect()],
        }
    }

    fn add(&mut self, group: &[&Message], is_kept: &impl Fn(&str) -> bool) {
        let parts = || group.iter().flat_map(|message| &message.parts);
        let text: String = parts()
            .flat_map(|part| [part.tool.as_str(), " ", part.text.as_str(), "\n"])
            .collect();
        let text = text.to_lowercase();
        if parts().all(|part| is_kept(&part.text)) {
            self.kept.push(text);
        } else {
            self.written.push(text.lines().map(str::to_owned).collect());
        }
    }

    fn says(&self, need: &Need) -> bool {
        self.kept.iter().any(|text| has_all(need, text))
            || self.written.iter().any(|lines| stands_in(need, lines))
    }
}

fn has_all(need: &Need, text: &str) -> bool {
    let mut pieces = need.pieces.iter();
    pieces.all(|any| any.iter().any(|piece| text.contains(piece.as_str())))
}

/// Whether all pieces stand in a line and its neighbours, and no line of these that names the fact says the opposite.
fn stands_in(need: &Need, lines: &[String]) -> bool {
    // A piece without alternatives is a name.
    let mut names = need.pieces.iter().filter(|any| any.len() == 1).flatten();
    let first = names.next();
    (0..lines.len()).any(|middle| {
        let near = &lines[middle.saturating_sub(1)..lines.len().min(middle + 2)];
        if first.is_some_and(|name| !lines[middle].contains(name.as_str())) {
            return false;
        }
        let own = |line: &&String| first.is_none_or(|name| line.contains(name.as_str()));
        let is_opposite = near
            .iter()
            .filter(own)
            .any(|line| need.not.iter().any(|not| line.contains(not.as_str())));
        !is_opposite && has_all(need, &near.join("\n"))
    })
}

/// Returns the share of needs that a result says: of all, and of each kind; `None` without needs.
pub(crate) fn said(needs: &[Need], together: &Together) -> Option<(f64, BTreeMap<String, f64>)> {
    if needs.is_empty() {
        return None;
    }
    let mut of_kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for need in needs {
        let (said, all) = of_kinds.entry(&need.kind).or_default();
        *said += usize::from(together.says(need));
        *all += 1;
    }
    let share = |(said, all): (usize, usize)| said as f64 / all as f64;
    let said = of_kinds.values().map(|(said, _)| said).sum();
    let of_kinds = of_kinds
        .into_iter()
        .map(|(kind, counts)| (kind.to_owned(), share(counts)));
    Some((share((said, needs.len())), of_kinds.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need() -> Need {
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        Need {
            kind: "done".to_owned(),
            pieces: vec![
                texts(&["re-7"]),
                texts(&["refund", "erstatt"]),
                texts(&["ok", "succeeded"]),
            ],
            not: texts(&["failed"]),
        }
    }

    fn is_said(text: &str) -> bool {
        Together::written(text).says(&need())
    }

    #[test]
    fn the_pieces_have_to_stand_in_a_line_or_its_neighbours() {
        assert!(is_said("- Refund of RE-7 succeeded"));
        assert!(is_said("create_refund RE-7\n  ok"));
        assert!(!is_said("refund\n\n\nRE-7\n\n\nok"));
        assert!(!is_said("RE-7, RE-8"));
    }

    #[test]
    fn a_line_that_says_the_opposite_does_not_count_but_a_neighbours_does() {
        assert!(!is_said("- refund of RE-7 failed, token is ok"));
        assert!(is_said("- refund of RE-8 failed\n- refund of RE-7 ok"));
    }

    #[test]
    fn a_call_is_kept_with_its_outputs_however_long_they_are() {
        let read = |raw: serde_json::Value| Message::read("openai-chat", &raw.to_string());
        let call = serde_json::json!({"id": "1", "type": "function", "function": {"name": "refund", "arguments": "{\"order\": \"RE-7\"}"}});
        let output = format!("{}{{\"state\": \"ok\"}}", "…\n".repeat(20));
        let messages = [
            read(serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]})),
            read(serde_json::json!({"role": "tool", "tool_call_id": "1", "content": output})),
        ];
        assert!(Together::of(&messages, |_| true).says(&need()));
        assert!(!Together::of(&messages, |_| false).says(&need()));
        let (all, kinds) = said(&[need()], &Together::of(&messages, |_| true)).expect("a need");
        assert!(all > 0.99 && kinds["done"] > 0.99);
        assert_eq!(said(&[], &Together::default()), None);
    }
}
