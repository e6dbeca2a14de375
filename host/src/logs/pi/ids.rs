//! Ids of calls, as a wire format takes them.

use std::collections::{HashMap, HashSet};

use crate::formats::Format;

/// Characters that Anthropic's API takes for an id.
const MOST: usize = 64;

/// Gives each call an id of its own. Where the log's id is one, it stays as it is.
#[derive(Default)]
pub(super) struct Ids {
    used: HashSet<String>,
    /// How often an id came, so that many of the same cost no more than one.
    counts: HashMap<String, usize>,
}

impl Ids {
    /// The id in the body of a call that has `logged` in the log. OpenAI's calls have two ids
    /// there, with `|` between: the first one pairs, the second names the item.
    pub(super) fn unique(&mut self, logged: &str, format: Format) -> String {
        let id = match format {
            Format::Anthropic => logged
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
        if self.used.insert(id.clone()) {
            return id;
        }
        let count = self.counts.entry(id.clone()).or_insert(1);
        loop {
            *count += 1;
            let short: String = id.chars().take(MOST - 12).collect();
            let next = format!("{short}_{count}");
            if self.used.insert(next.clone()) {
                return next;
            }
        }
    }
}
