//! Questions about a case: excerpts of what came next, in which one name is asked for and all other needed
//! names are hidden.

use std::collections::HashSet;
use std::ops::Range;

use super::score::RightAnswer;
use crate::cases::{Case, Needed};
use crate::message::{Message, Part, PartKind, Role};
use crate::names::{self, NameKind};
use crate::paths;

/// What stands for the name that is asked for, and for other masked names.
pub(super) const ASKED: &str = "[?]";
const HIDDEN: &str = "[…]";

/// The most characters of an excerpt before and after the name, and the most of one output in it.
const BEFORE: usize = 700;
const BEHIND: usize = 260;
const OF_AN_OUTPUT: usize = 240;

/// The fewest letters that must be left for an excerpt to say something.
const FEWEST_LETTERS: usize = 60;

/// The fewest digits of a number that is asked for: others are mostly lines and sizes.
const DIGITS: usize = 4;

/// The most questions about one part of a message: more would ask about one thing.
const OF_A_PART: usize = 2;

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    /// The excerpt with masked names.
    pub(super) excerpt: String,
    pub(super) answer: RightAnswer,
}

/// Returns `number` questions about a case, spread over what came next; `None` if fewer are possible.
pub(super) fn of(case: &Case, number: usize) -> Option<Vec<Question>> {
    let next = Next::of(&case.next);
    let names = case.needed.iter().map(|needed| needed.name.1.as_str());
    let masked: HashSet<&str> = names.collect();
    let mut left: Vec<&Needed> = case
        .needed
        .iter()
        .filter(|needed| is_asked_for(needed))
        .collect();
    let mut all = Vec::new();
    for part in &next.of_agent {
        let mut of_part = 0;
        left.retain(|needed| {
            let question = (of_part < OF_A_PART)
                .then(|| next.question(part, needed, &masked))
                .flatten();
            of_part += usize::from(question.is_some());
            let is_left = question.is_none();
            all.extend(question);
            is_left
        });
    }
    // Evenly, so that they are not all about what came at once.
    (all.len() >= number && number > 0).then(|| {
        let places = (0..number).map(|place| place * all.len() / number);
        places.map(|place| all[place].clone()).collect()
    })
}

fn is_asked_for(needed: &Needed) -> bool {
    let (kind, name) = &needed.name;
    *kind != NameKind::Number || name.len() >= DIGITS
}

/// What came after a cut, as one text.
struct Next {
    text: String,
    /// Where the agent's texts and calls are in it.
    of_agent: Vec<Range<usize>>,
}

impl Next {
    fn of(messages: &[Message]) -> Self {
        let mut next = Self {
            text: String::new(),
            of_agent: Vec::new(),
        };
        for message in messages {
            for part in &message.parts {
                next.add(message.role, part);
            }
        }
        next
    }

    fn add(&mut self, role: Role, part: &Part) {
        let (label, shown) = match (part.kind, role) {
            (PartKind::Call, _) => (
                format!("[agent calls `{}`] ", part.tool),
                part.text.as_str(),
            ),
            (PartKind::Output, _) => ("[output] ".to_owned(), beginning(&part.text)),
            (PartKind::Text, Role::Assistant) => ("[agent] ".to_owned(), part.text.as_str()),
            (PartKind::Text, _) => ("[user] ".to_owned(), beginning(&part.text)),
            _ => return,
        };
        self.text.push_str(&label);
        let start = self.text.len();
        self.text.push_str(shown);
        if matches!(part.kind, PartKind::Call) || role == Role::Assistant {
            self.of_agent.push(start..self.text.len());
        }
        self.text.push('\n');
    }

    /// Asks for the first occurrence of a name in this part. `None` if there is none, or if the excerpt would
    /// say nothing or give the name away.
    fn question(
        &self,
        part: &Range<usize>,
        needed: &Needed,
        masked: &HashSet<&str>,
    ) -> Option<Question> {
        let name = needed.name.1.as_str();
        let mut asked = None;
        names::each(&self.text[part.clone()], |_, found| {
            let start = found.as_ptr().addr() - self.text.as_ptr().addr();
            if found == name && asked.is_none() {
                asked = Some(start..start + found.len());
            }
        });
        let asked = asked?;
        let window = self.window(&asked);
        let excerpt = masked_excerpt(&self.text, &window, &asked, masked);
        let letters = excerpt.chars().filter(|c| c.is_alphabetic()).count();
        let gives_away = excerpt.contains(name) || paths::is_in(&excerpt, last_component(name));
        (letters >= FEWEST_LETTERS && !gives_away).then(|| Question {
            excerpt,
            answer: RightAnswer {
                name: name.to_owned(),
                end: needed.end.clone(),
            },
        })
    }

    fn window(&self, asked: &Range<usize>) -> Range<usize> {
        let before = &self.text[..asked.start];
        let start = before.char_indices().rev().take(BEFORE).last();
        let end = self.text[asked.end..].char_indices().nth(BEHIND);
        start.map_or(asked.start, |(start, _)| start)
            ..end.map_or(self.text.len(), |(end, _)| asked.end + end)
    }
}

/// Returns a window of a text in which names are masked.
fn masked_excerpt(
    text: &str,
    window: &Range<usize>,
    asked: &Range<usize>,
    masked: &HashSet<&str>,
) -> String {
    let mut places: Vec<Range<usize>> = Vec::new();
    names::each(&text[window.clone()], |_, found| {
        let start = found.as_ptr().addr() - text.as_ptr().addr();
        let place = start..start + found.len();
        if masked.contains(found) && (place.end <= asked.start || place.start >= asked.end) {
            places.push(place);
        }
    });
    places.push(asked.clone());
    places.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
    let mut excerpt = String::new();
    let mut at = window.start;
    for place in places {
        if place.start >= at {
            excerpt.push_str(&text[at..place.start]);
            excerpt.push_str(if place == *asked { ASKED } else { HIDDEN });
            at = place.end;
        }
    }
    excerpt.push_str(&text[at..window.end]);
    excerpt
}

fn beginning(text: &str) -> &str {
    text.char_indices()
        .nth(OF_AN_OUTPUT)
        .map_or(text, |(end, _)| &text[..end])
}

fn last_component(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(name: &str) -> Needed {
        Needed {
            name: (NameKind::Path, name.to_owned()),
            end: name.to_owned(),
            is_far: false,
            in_arguments: false,
        }
    }

    fn question(said: &str, asked: &str) -> Option<Question> {
        let messages = [
            serde_json::json!({"role": "user", "content": "Bake what is left of dough.rs, will you?"}),
            serde_json::json!({"role": "assistant", "content": said}),
        ];
        let messages = messages.map(|raw| Message::read("openai-chat", &raw.to_string()));
        let next = Next::of(&messages);
        let masked = HashSet::from(["src/oven.rs", "dough.rs", "bake_bread"]);
        next.question(next.of_agent.first()?, &needed(asked), &masked)
    }

    #[test]
    fn a_question_asks_for_one_name_and_hides_the_others() {
        let said = "Now I call bake_bread in src/oven.rs, since the work on dough.rs is done.";
        let asked = question(said, "src/oven.rs").expect("a question");
        assert_eq!(
            asked.excerpt,
            "[user] Bake what is left of […], will you?\n[agent] Now I call […] in [?], since the work on […] is done.\n"
        );
        assert_eq!(asked.answer.name, "src/oven.rs");
    }

    #[test]
    fn an_excerpt_that_gives_the_name_away_or_says_nothing_is_no_question() {
        let given =
            "Now I look at src/oven.rs, that is, at oven.rs in its folder beside the others.";
        assert_eq!(question(given, "src/oven.rs"), None);
        assert_eq!(question("src/oven.rs", "src/oven.rs"), None);
        assert_eq!(
            question(
                "No name at all is to be found here, look as you like.",
                "src/oven.rs"
            ),
            None
        );
    }
}
