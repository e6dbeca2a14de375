//! Whether the messages that hold the answers to questions are still there, and the answers.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use crate::corpus::Question;
use crate::entities::{self, Name};
use crate::normalised::normalised;
use crate::reading::Said;

/// The share of a message's names that is there where the message was rewritten and still counts.
const REWRITTEN: f64 = 0.8;

/// What questions about a conversation name of it.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    questions: Vec<Question>,
    /// All messages that a question names, by their places.
    named: BTreeMap<usize, Named>,
}

/// A message that a question names.
#[derive(Debug)]
struct Named {
    texts: Vec<String>,
    names: HashSet<Name>,
}

/// How much of it is there: shares from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Kept {
    /// Of the messages that are named.
    pub(crate) messages: f64,
    /// Of the questions: those of which all named messages are there.
    pub(crate) strict: f64,
    /// Of the questions: those of which the answer is there.
    pub(crate) answers: f64,
}

impl Evidence {
    /// What `questions` name of the messages of `history`.
    pub(crate) fn of(questions: &[Question], history: &[&Said]) -> Self {
        let places = questions.iter().flat_map(|question| &question.evidence);
        // Each is read once, however many questions name it.
        let places: BTreeSet<usize> = places.copied().collect();
        let named = places.into_iter();
        let named = named.filter_map(|place| Some((place, Named::of(history.get(place)?))));
        Self {
            questions: questions.to_vec(),
            named: named.collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    /// What of it is in a text. None where nothing is asked.
    pub(crate) fn in_text(&self, text: &str) -> Option<Kept> {
        if self.is_empty() {
            return None;
        }
        let names = names_in(text);
        let is_kept = |named: &Named| named.is_in(text, &names);
        let kept: HashSet<usize> = self
            .named
            .iter()
            .filter(|(_, named)| is_kept(named))
            .map(|(place, _)| *place)
            .collect();
        let plain = normalised(text);
        let share = |of: &dyn Fn(&Question) -> bool| {
            let number = self
                .questions
                .iter()
                .filter(|question| of(question))
                .count();
            number as f64 / self.questions.len() as f64
        };
        Some(Kept {
            messages: kept.len() as f64 / self.named.len() as f64,
            strict: share(&|question| question.evidence.iter().all(|place| kept.contains(place))),
            answers: share(&|question| is_answered(question, &plain)),
        })
    }
}

impl Named {
    fn of(said: &Said) -> Self {
        let texts: Vec<String> = said.words().map(str::to_owned).collect();
        let names = texts.iter().flat_map(|text| names_in(text)).collect();
        Self { texts, names }
    }

    /// Word for word; or, of one that has names, with so many of them. One without names that
    /// was rewritten cannot be told from one that is gone.
    fn is_in(&self, text: &str, names: &HashSet<Name>) -> bool {
        let is_there = |own: &String| places(text, own).next().is_some();
        if self.texts.iter().all(is_there) {
            return true;
        }
        let kept = self.names.intersection(names).count();
        !self.names.is_empty() && kept as f64 / self.names.len() as f64 >= REWRITTEN
    }
}

fn names_in(text: &str) -> HashSet<Name> {
    let mut names = HashSet::new();
    entities::each(text, |kind, name| {
        names.insert((kind, name.to_owned()));
    });
    names
}

/// Whether the answer stands in a normalised text other than within an earlier value of it:
/// `Rome` was not the answer where `Rome Street` is the old one.
fn is_answered(question: &Question, text: &str) -> bool {
    let answer = normalised(&question.answer);
    if places(text, &answer).next().is_none() {
        return false;
    }
    // No other can hold it.
    let old = question.outdated.iter().map(|old| normalised(old));
    let old: BTreeSet<String> = old.filter(|old| old.contains(&answer)).collect();
    let mut old: Vec<Range<usize>> = old.iter().flat_map(|old| places(text, old)).collect();
    old.sort_unstable_by_key(|old| old.start);
    // Each reaches as far as any that begins before it, so one look tells whether there is one.
    let mut end = 0;
    for old in &mut old {
        end = end.max(old.end);
        old.end = end;
    }
    places(text, &answer).any(|place| {
        let before = old.partition_point(|old| old.start <= place.start);
        old[..before].last().is_none_or(|old| old.end < place.end)
    })
}

/// Where a value stands in a text other than as a part of a longer number, or of a longer word in
/// ASCII letters. In other scripts words run together, or take endings; so there a part will do.
fn places<'a>(text: &'a str, value: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let goes_on = |one: Option<char>, other: Option<char>| {
        let (Some(one), Some(other)) = (one, other) else {
            return false;
        };
        (one.is_numeric() && other.is_numeric())
            || (one.is_ascii_alphanumeric() && other.is_ascii_alphanumeric())
    };
    text.match_indices(value)
        .map(|(start, found)| start..start + found.len())
        .filter(move |place| {
            let before = text[..place.start].chars().next_back();
            let after = text[place.end..].chars().next();
            !goes_on(before, value.chars().next()) && !goes_on(value.chars().next_back(), after)
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(answer: &str, evidence: &[usize], outdated: &[&str]) -> Question {
        Question {
            answer: answer.to_owned(),
            evidence: evidence.to_vec(),
            outdated: outdated.iter().map(|old| (*old).to_owned()).collect(),
        }
    }

    fn evidence(messages: &[&str], questions: &[Question]) -> Evidence {
        let said: Vec<Said> = messages
            .iter()
            .map(|text| json!({"role": "user", "content": text}).to_string())
            .map(|raw| Said::read("openai-chat", &raw))
            .collect();
        Evidence::of(questions, &said.iter().collect::<Vec<_>>())
    }

    #[test]
    fn each_named_message_counts_once_and_a_question_needs_all_of_its_own() {
        let messages = [
            "The cat is called Mio.",
            "She sleeps by day.",
            "She hunts by night.",
        ];
        let questions = [
            asked("Mio", &[0], &[]),
            asked("when it is dark", &[0, 2], &[]),
        ];
        let kept = evidence(&messages, &questions).in_text("The cat is called Mio.\nMeow!");
        // Of the first and the third message the first; the second is nobody's evidence.
        let expected = Kept {
            messages: 0.5,
            strict: 0.5,
            answers: 0.5,
        };
        assert_eq!(kept, Some(expected));
        assert_eq!(evidence(&messages, &[]).in_text("Mio"), None);
    }

    #[test]
    fn a_rewritten_message_counts_with_four_of_its_five_names() {
        let message = "Look at oven.rs, dough.rs, flour.rs, salt.rs and yeast.rs, will you?";
        let evidence = evidence(&[message], &[asked("in dough.rs", &[0], &[])]);
        let share = |text| evidence.in_text(text).map(|kept| kept.messages);
        assert_eq!(share("oven.rs dough.rs flour.rs salt.rs"), Some(1.0));
        assert_eq!(share("oven.rs dough.rs flour.rs"), Some(0.0));
        // A name twice is one name.
        assert_eq!(share("oven.rs oven.rs dough.rs flour.rs"), Some(0.0));
    }

    #[test]
    fn a_rewritten_message_does_not_count_with_three_of_its_four_names() {
        let message = "Mix flour.rs, salt.rs, yeast.rs and water.rs.";
        let evidence = evidence(&[message], &[asked("water.rs", &[0], &[])]);
        let kept = evidence.in_text("flour.rs, salt.rs, yeast.rs");
        assert_eq!(kept.map(|kept| kept.messages), Some(0.0));
    }

    #[test]
    fn a_message_without_names_is_there_word_for_word_or_not_at_all() {
        let evidence = evidence(&["Yes"], &[asked("tea", &[0], &[])]);
        let share = |text| evidence.in_text(text).map(|kept| kept.messages);
        assert_eq!(share("user: Yes, please."), Some(1.0));
        assert_eq!(share("Yesterday I said yes."), Some(0.0));
    }

    #[test]
    fn an_answer_is_found_whatever_its_case_spaces_and_punctuation() {
        for (answer, text, is_there) in [
            ("the Blue Pike!", "at   THE\nBlue-Pike.", true),
            ("18:30", "(18.30 h)", true),
            ("Blue Pike", "a blue fish and a pike", false),
            ("5", "15 or 50 guests", false),
            ("art", "to start with", false),
            ("木曜日", "会議は木曜日に変わりました。", true),
            ("木曜日", "会議は水曜日です。", false),
            ("ПЯТНИЦА", "Поезд: пятница, 9:05", true),
        ] {
            let plain = normalised(text);
            let found = is_answered(&asked(answer, &[0], &[]), &plain);
            assert_eq!(found, is_there, "{answer} in {text}");
        }
    }

    #[test]
    fn an_old_value_alone_is_a_miss_even_where_the_new_one_is_a_part_of_it() {
        let question = asked("Rome", &[0], &["Rome Street", "Milan"]);
        let is_there = |text| is_answered(&question, &normalised(text));
        assert!(!is_there("They met in Milan."));
        assert!(!is_there("They met in Rome Street."));
        assert!(is_there("They met in Rome Street, then in Rome."));
        assert!(is_there("Not in Milan but in Rome."));
    }

    #[test]
    fn an_answer_within_an_old_value_that_overlaps_with_others_is_none() {
        let question = asked(
            "Rome",
            &[0],
            &["to Rome by the old Rome Street", "old Rome"],
        );
        let is_there = |text| is_answered(&question, &normalised(text));
        assert!(!is_there("To Rome by the old Rome Street."));
        assert!(!is_there("The old Rome. To Rome by the old Rome Street."));
        assert!(is_there("To Rome by the old Rome Street, Rome."));
        assert!(is_there("Rome, the old Rome."));
    }

    #[test]
    fn an_answer_within_each_of_many_old_values_is_none() {
        let question = asked("Rome", &[0], &["Rome Street"]);
        let text = "rome street ".repeat(200_000);
        assert!(!is_answered(&question, text.trim_end()));
    }

    #[test]
    fn a_message_that_many_questions_name_is_read_once() {
        let message = "The cat is called Mio. ".repeat(20_000);
        let questions = vec![asked("Mio", &[0], &[]); 2_000];
        let evidence = evidence(&[&message], &questions);
        assert_eq!(evidence.named.len(), 1);
    }
}
