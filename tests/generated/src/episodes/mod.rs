//! Sessions of agents in which known facts happen, among noise: what an agent must still know after a compaction.
//!
//! The facts come from files (`wording/episodes/`), as scenarios: turns with placeholders, and what has to stand
//! together afterwards (`needs`, which `baler eval` measures). The scenarios in `held-out` were written by somebody who had
//! seen no strategy, and are for measuring only: who works on a strategy does not read them.

mod names;
mod noise;

use serde_json::{Map, Value, json};

use crate::session::{self, Event};
use crate::{Choices, Kind};
use names::Names;

/// Scenarios of a session.
const SCENARIOS: usize = 10;

/// Steps of noise after the last scenario, so that no fact stands in the newest steps.
const NEWEST: usize = 8;

/// The scenarios of a file.
#[derive(Debug)]
pub struct Episodes {
    scenarios: Vec<Value>,
}

/// One scenario's turns that follow one another.
type Block = Vec<Event>;

impl Episodes {
    /// Returns the scenarios that everybody may read (`wording/episodes/development.json`).
    ///
    /// # Errors
    /// The file is malformed, which a test excludes.
    pub fn development() -> Result<Self, String> {
        Self::read(include_str!("../../wording/episodes/development.json"))
    }

    /// Reads a file of scenarios.
    ///
    /// # Errors
    /// The text is not a list of scenarios, or has too few.
    pub fn read(text: &str) -> Result<Self, String> {
        let scenarios: Vec<Value> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        if scenarios.len() < SCENARIOS {
            return Err(format!(
                "expected {SCENARIOS} scenarios or more; found {}",
                scenarios.len()
            ));
        }
        Ok(Self { scenarios })
    }

    /// Makes a session: the body of a request in this format, with `needs` beside its messages.
    #[must_use]
    pub fn session(&self, kind: Kind, choices: &mut Choices<'_>) -> Value {
        let mut order: Vec<usize> = (0..self.scenarios.len()).collect();
        for place in (1..order.len()).rev() {
            order.swap(place, choices.below(place + 1));
        }
        let mut names = Names::new(choices);
        let mut needs = Vec::new();
        let mut stories: Vec<Vec<Block>> = Vec::new();
        for scenario in order.into_iter().take(SCENARIOS) {
            let scenario = &self.scenarios[scenario];
            let mut known = Map::new();
            let mut blocks = vec![Block::new()];
            add(&scenario["turns"], &mut blocks, &mut known, &mut names);
            for need in scenario["needs"].as_array().into_iter().flatten() {
                let mut need = names.filled(need, &mut known);
                need["kind"] = scenario["kind"].clone();
                needs.push(need);
            }
            blocks.reverse();
            stories.push(blocks);
        }
        let mut events = vec![Event::User(
            "Work through what comes up today, with the tools you have. I add to it as we go."
                .to_owned(),
        )];
        while !stories.is_empty() {
            for _ in 0..=names.choices.below(3) {
                events.extend(noise::step(names.choices));
            }
            let story = names.choices.below(stories.len());
            if let Some(block) = stories[story].pop() {
                events.extend(block);
            }
            stories.retain(|story| !story.is_empty());
        }
        for _ in 0..NEWEST {
            events.extend(noise::step(names.choices));
        }
        events.push(Event::User("Thanks. What is left?".to_owned()));
        let mut body = session::body(kind, &events);
        body["needs"] = Value::Array(needs);
        body
    }
}

/// Adds turns to the last block; what comes later begins a block of its own.
fn add(
    turns: &Value,
    blocks: &mut Vec<Block>,
    known: &mut Map<String, Value>,
    names: &mut Names<'_, '_>,
) {
    for turn in turns.as_array().into_iter().flatten() {
        if turn["later"].is_array() {
            blocks.push(Block::new());
            add(&turn["later"], blocks, known, names);
            continue;
        }
        let turn = names.filled(turn, known);
        let text = |key: &str| turn[key].as_str().map(str::to_owned);
        let event = if let Some(said) = text("user") {
            Event::User(said)
        } else if let Some(said) = text("assistant") {
            Event::Assistant(said)
        } else {
            Event::Call {
                tool: text("call").unwrap_or_default().replace(
                    |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')),
                    "_",
                ),
                arguments: match &turn["arguments"] {
                    Value::Object(_) => turn["arguments"].clone(),
                    _ => json!({}),
                },
                output: match &turn["output"] {
                    Value::String(output) => output.clone(),
                    output => output.to_string(),
                },
                failed: turn["failed"] == true,
            }
        };
        if let Some(block) = blocks.last_mut() {
            block.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episodes() -> Episodes {
        let scenarios: Vec<Value> = (0..12)
            .map(|number| {
                json!({"kind": "done", "turns": [
                    {"user": format!("Refund order {{order:id}} of case {number}.")},
                    {"call": "refund", "arguments": {"order": "{order}"}, "output": "{\"status\":\"ok\"}"},
                    {"later": [{"assistant": "{order} is refunded."}]},
                ], "needs": [{"pieces": ["{order}", ["refund", "erstatt"]], "not": ["failed"]}]})
            })
            .collect();
        Episodes::read(&Value::Array(scenarios).to_string()).expect("scenarios")
    }

    #[test]
    fn each_need_is_named_in_the_session_before_and_after_what_came_between() {
        let episodes = episodes();
        for (seed, kind) in Kind::ALL.into_iter().enumerate() {
            let body = episodes.session(kind, &mut Choices::from_seed(seed as u64));
            let needs = body["needs"].as_array().expect("needs").clone();
            assert_eq!(needs.len(), SCENARIOS);
            let mut bare = body.clone();
            bare["needs"] = Value::Null;
            let text = bare.to_string();
            for need in needs {
                let order = need["pieces"][0].as_str().expect("an id");
                assert!(!order.contains('{'), "{order}");
                let places: Vec<usize> = text.match_indices(order).map(|(at, _)| at).collect();
                assert_eq!(places.len(), 3, "{order}: {}", kind.name());
            }
        }
    }

    #[test]
    fn the_scenarios_of_the_project_can_be_read() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("wording/episodes");
        for of in ["development.json", "held-out.json"] {
            let text = std::fs::read_to_string(folder.join(of));
            let episodes = Episodes::read(&text.expect("a file")).expect("scenarios");
            for scenario in &episodes.scenarios {
                let said = scenario["turns"].to_string();
                assert!(
                    scenario["needs"]
                        .as_array()
                        .is_some_and(|needs| !needs.is_empty())
                );
                for need in scenario["needs"].as_array().into_iter().flatten() {
                    let text = need.to_string();
                    for name in text
                        .split('{')
                        .skip(1)
                        .filter_map(|rest| rest.split_once('}'))
                    {
                        let is_name = name
                            .0
                            .chars()
                            .all(|c| c.is_ascii_alphanumeric() || c == '_');
                        assert!(
                            !is_name || said.contains(&format!("{{{}:", name.0)),
                            "{}",
                            name.0
                        );
                    }
                }
            }
        }
    }
}
