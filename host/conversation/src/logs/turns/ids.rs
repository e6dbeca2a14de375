//! Ids of calls, as a wire format accepts them.

use std::collections::{HashMap, HashSet};

use crate::model::format::Format;

/// Characters that Anthropic's API takes for an id.
const MOST: usize = 64;

/// What a call with an empty id is called.
const UNNAMED: &str = "call";

/// Gives each call of a response an id of its own. Where the log's id is one, it stays as it is,
/// and another response may have the same (ALL-4).
#[derive(Default)]
pub(in crate::logs) struct Ids {
    used: HashSet<String>,
    /// How many ids were made of a beginning, so that many of the same cost no more than one.
    made: HashMap<String, usize>,
}

impl Ids {
    /// The id in the body of a call that has `logged` in the log. OpenAI's calls have two ids
    /// there, with `|` between: the first one pairs, the second names the item.
    pub(in crate::logs) fn unique(&mut self, logged: &str, format: Format) -> String {
        let id: String = match format {
            Format::Anthropic | Format::BedrockConverse => logged
                .chars()
                .map(|c| {
                    if c.is_ascii_alphanumeric() || c == '-' {
                        c
                    } else {
                        '_'
                    }
                })
                .take(MOST)
                .collect(),
            Format::OpenAiChat | Format::OpenAiResponses => {
                logged.split('|').next().unwrap_or_default().to_owned()
            }
            Format::Gemini => logged.to_owned(),
        };
        let id = if id.is_empty() {
            UNNAMED.to_owned()
        } else {
            id
        };
        if self.used.insert(id.clone()) {
            return id;
        }
        let start: String = id.chars().take(MOST - 12).collect();
        let made = self.made.entry(start.clone()).or_insert(1);
        loop {
            *made += 1;
            let next = format!("{start}_{made}");
            if self.used.insert(next.clone()) {
                return next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Else each of them would try all numbers of those before it.
    #[test]
    fn ids_that_begin_alike_are_numbered_together() {
        let mut ids = Ids::default();
        let start = "a".repeat(MOST - 12);
        for number in 0..100 {
            let id = format!("{start}-{number}");
            assert_eq!(ids.unique(&id, Format::OpenAiChat), id);
            assert_eq!(
                ids.unique(&id, Format::OpenAiChat),
                format!("{start}_{}", number + 2)
            );
        }
        assert_eq!(ids.made, HashMap::from([(start, 101)]));
    }

    #[test]
    fn id_that_was_made_is_passed_over_where_the_log_has_it() {
        let mut ids = Ids::default();
        let unique: Vec<String> = ["a", "a_2", "a", "", "|b", ""]
            .iter()
            .map(|id| ids.unique(id, Format::OpenAiChat))
            .collect();
        assert_eq!(unique, ["a", "a_2", "a_3", "call", "call_2", "call_3"]);
    }
}
