//! Chats without tools, in which the user makes statements among small talk.
//!
//! The wording comes from files (`wording/*/LANGUAGE.json`). Those in `held-out` were written independently
//! of those in `development`, and are for measuring only: who works on a strategy does not read them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::Choices;

/// Statements of a chat, and how many of them are corrected later.
const STATEMENTS: usize = 24;
const CORRECTED: usize = 5;

/// Characters of small talk for each character of statements.
const SMALL_TALK: usize = 3;

/// The fewest exchanges between a statement and its correction.
const BEFORE_A_CORRECTION: usize = 4;

/// The wording of one language.
#[derive(Debug)]
pub struct Wording {
    statements: Vec<Value>,
    filler: Vec<(String, String)>,
}

/// What the user says, and what is asked about it.
struct Turn {
    user: String,
    assistant: String,
    question: Option<Value>,
}

impl Wording {
    /// Reads a wording file.
    ///
    /// # Errors
    /// The text is not a wording file.
    pub fn read(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let list = |name: &str| value[name].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let filler: Vec<(String, String)> = list("filler")
            .iter()
            .filter_map(|one| Some((text(&one["user"])?, text(&one["assistant"])?)))
            .collect();
        let statements = list("statements");
        if statements.len() < STATEMENTS || filler.is_empty() {
            return Err(format!(
                "expected {STATEMENTS} `statements` or more, and `filler`; found {} and {}",
                statements.len(),
                filler.len()
            ));
        }
        Ok(Self { statements, filler })
    }

    /// Makes a chat: a list of messages, and a question about each statement that `baler eval` can measure.
    /// A corrected statement is asked for by its newest value.
    #[must_use]
    pub fn chat(&self, choices: &mut Choices<'_>) -> Value {
        let mut turns = self.small_talk_around(self.chosen(choices), choices);
        // The newest user message always stays, so it is none that matters.
        turns.push(self.filler(choices));
        let mut messages = Vec::new();
        let mut questions = Vec::new();
        for turn in turns {
            if let Some(mut question) = turn.question {
                question["evidence"] = json!([messages.len()]);
                questions.push(question);
            }
            messages.push(json!({"role": "user", "content": turn.user}));
            messages.push(json!({"role": "assistant", "content": turn.assistant}));
        }
        messages.pop();
        json!({"messages": messages, "questions": questions})
    }

    /// Chooses statements, in the order in which they are made, with corrections.
    fn chosen(&self, choices: &mut Choices<'_>) -> Vec<Turn> {
        let mut order: Vec<usize> = (0..self.statements.len()).collect();
        shuffle(&mut order, choices);
        // Those that are corrected come first, so that there is time for it.
        let is_corrected = |index: &usize| self.statements[*index]["correction"].is_object();
        let (corrected, others): (Vec<usize>, Vec<usize>) =
            order.into_iter().partition(is_corrected);
        let corrected: Vec<usize> = corrected.into_iter().take(CORRECTED).collect();
        let mut all: Vec<Turn> = corrected
            .iter()
            .map(|index| self.turn(&self.statements[*index], false, choices))
            .collect();
        for index in others.into_iter().take(STATEMENTS - corrected.len()) {
            all.push(self.turn(&self.statements[index], true, choices));
        }
        let half = all.len() / 2;
        shuffle(&mut all[..half], choices);
        shuffle(&mut all[half..], choices);
        for index in corrected {
            let correction = self.turn(&self.statements[index]["correction"], true, choices);
            let place = half.max(CORRECTED + BEFORE_A_CORRECTION) + choices.below(all.len() - half);
            all.insert(place.min(all.len()), correction);
        }
        all
    }

    fn turn(&self, statement: &Value, is_asked: bool, choices: &mut Choices<'_>) -> Turn {
        let text = statement["text"].as_str().unwrap_or_default();
        let label = statement["label"]
            .as_str()
            .filter(|_| choices.below(2) == 1);
        let question = is_asked.then(|| {
            let outdated: Vec<&Value> = statement["outdated"].as_array().into_iter().flatten().collect();
            json!({"question": "What did the user say?", "answer": statement["keys"], "outdated": outdated})
        });
        Turn {
            user: label.map_or_else(|| text.to_owned(), |label| format!("{label}: {text}")),
            assistant: self.filler(choices).assistant,
            question,
        }
    }

    fn filler(&self, choices: &mut Choices<'_>) -> Turn {
        let (user, assistant) = self.filler[choices.below(self.filler.len())].clone();
        Turn {
            user,
            assistant,
            question: None,
        }
    }

    /// Puts small talk between statements. There is more than the wording has, so some of it is repeated.
    fn small_talk_around(&self, statements: Vec<Turn>, choices: &mut Choices<'_>) -> Vec<Turn> {
        let size = |turn: &Turn| turn.user.chars().count();
        let mut left = statements.iter().map(size).sum::<usize>() * SMALL_TALK;
        // By the statement that follows.
        let mut between: BTreeMap<usize, Vec<Turn>> = BTreeMap::new();
        let places = statements.len() + 1;
        while left > 0 {
            let filler = self.filler(choices);
            left = left.saturating_sub(size(&filler) + filler.assistant.chars().count());
            between
                .entry(choices.below(places))
                .or_default()
                .push(filler);
        }
        let mut turns = Vec::new();
        for (place, statement) in statements.into_iter().enumerate() {
            turns.extend(between.remove(&place).into_iter().flatten());
            turns.push(statement);
        }
        turns.extend(between.into_values().flatten());
        turns
    }
}

fn shuffle<T>(items: &mut [T], choices: &mut Choices<'_>) {
    for place in (1..items.len()).rev() {
        items.swap(place, choices.below(place + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wording of numbered statements, two of three of which are never corrected.
    fn wording() -> Wording {
        let statements: Vec<Value> = (0..30)
            .map(|number| {
                let mut one = json!({"text": format!("Pier {number} is closed."), "keys": [format!("Pier {number}")]});
                if number % 3 == 0 {
                    one["correction"] = json!({"text": format!("No, quay {number} is."), "keys": [format!("quay {number}")]});
                }
                one
            })
            .collect();
        let filler = json!([{"user": "Nice weather.", "assistant": "It is, by the sea at least."}]);
        Wording::read(&json!({"statements": statements, "filler": filler}).to_string())
            .expect("a wording")
    }

    #[test]
    fn a_chat_asks_for_each_statement_and_for_the_newest_value_of_corrected_ones() {
        let wording = wording();
        for seed in 0..20 {
            let chat = wording.chat(&mut Choices::from_seed(seed));
            let messages = chat["messages"].as_array().expect("messages");
            let questions = chat["questions"].as_array().expect("questions");
            assert_eq!(questions.len(), STATEMENTS);
            let corrected = questions.iter().filter(|asked| {
                asked["answer"][0]
                    .as_str()
                    .is_some_and(|key| key.starts_with("quay"))
            });
            assert_eq!(corrected.count(), CORRECTED);
            for asked in questions {
                let place = asked["evidence"][0].as_u64().expect("a place");
                let said = messages[place as usize]["content"]
                    .as_str()
                    .expect("a text");
                let key = asked["answer"][0].as_str().expect("a key");
                assert!(said.contains(key), "{key} in {said}");
                if let Some(number) = key.strip_prefix("quay ") {
                    let first = messages.iter().position(|message| {
                        message["content"] == format!("Pier {number} is closed.")
                    });
                    assert!(first.is_some_and(|first| (first as u64) < place));
                }
            }
        }
    }

    #[test]
    fn all_wording_files_can_be_read() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("wording");
        let mut read = 0;
        for kind in ["development", "held-out"] {
            for file in std::fs::read_dir(folder.join(kind)).expect("a folder") {
                let text = std::fs::read_to_string(file.expect("a file").path()).expect("a text");
                Wording::read(&text).expect("a wording");
                read += 1;
            }
        }
        assert_eq!(read, 12);
    }
}
