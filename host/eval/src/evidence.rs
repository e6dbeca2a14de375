//! Measures which answers to questions, and which messages with answers, a text contains.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use crate::corpus::Question;
use crate::message::Message;
use crate::names::{self, Name};
use crate::words::normalize;

/// The share of a message's names at which a rewritten message counts as kept.
const MIN_NAMES: f64 = 0.8;

/// The questions about a conversation, and the messages that hold the answers.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    questions: Vec<Question>,
    /// The messages that questions name, by index.
    named: BTreeMap<usize, NamedMessage>,
}

/// A message that a question names.
#[derive(Debug)]
struct NamedMessage {
    texts: Vec<String>,
    names: HashSet<Name>,
}

/// How much a text contains, as shares from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EvidenceShares {
    /// The share of named messages.
    pub(crate) messages: f64,
    /// The share of questions of which all named messages are contained.
    pub(crate) strict: f64,
    /// The share of questions of which the answer is contained.
    pub(crate) answers: f64,
}

impl Evidence {
    /// Collects the messages of `history` that `questions` name.
    pub(crate) fn of(questions: &[Question], history: &[&Message]) -> Self {
        let places = questions.iter().flat_map(|question| &question.evidence);
        // Each message is read once, however many questions name it.
        let places: BTreeSet<usize> = places.copied().collect();
        let named = places.into_iter();
        let named = named.filter_map(|place| Some((place, NamedMessage::of(history.get(place)?))));
        Self {
            questions: questions.to_vec(),
            named: named.collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    /// Measures a text. `None` if there are no questions.
    pub(crate) fn in_text(&self, text: &str) -> Option<EvidenceShares> {
        if self.is_empty() {
            return None;
        }
        let names = names::all(text);
        let kept = self.named.iter();
        let kept = kept.filter(|(_, named)| named.is_in(text, &names));
        let kept: HashSet<&usize> = kept.map(|(place, _)| place).collect();
        let plain = normalize(text);
        let lines = OnceCell::new();
        let lines = || lines.get_or_init(|| text.lines().map(normalize).collect::<Vec<_>>());
        let is_answered = |question: &Question| match question.further.is_empty() {
            true => is_answered(question, &plain),
            false => lines().iter().any(|line| is_answered(question, line)),
        };
        let share = |of: &dyn Fn(&Question) -> bool| {
            let number = self.questions.iter().filter(|own| of(own)).count();
            number as f64 / self.questions.len() as f64
        };
        Some(EvidenceShares {
            messages: kept.len() as f64 / self.named.len() as f64,
            strict: share(&|question| question.evidence.iter().all(|place| kept.contains(place))),
            answers: share(&is_answered),
        })
    }
}

impl NamedMessage {
    fn of(message: &Message) -> Self {
        let texts: Vec<String> = message.texts().map(str::to_owned).collect();
        let names = texts.iter().flat_map(|text| names::all(text)).collect();
        Self { texts, names }
    }

    /// Whether a text contains the message word for word, or enough of its names. A rewritten message without
    /// names cannot be recognised.
    fn is_in(&self, text: &str, names: &HashSet<Name>) -> bool {
        let is_there = |own: &String| places(text, own).next().is_some();
        if self.texts.iter().all(is_there) {
            return true;
        }
        let kept = self.names.intersection(names).count();
        !self.names.is_empty() && kept as f64 / self.names.len() as f64 >= MIN_NAMES
    }
}

/// Whether a normalized text contains the answer outside of outdated values: if `Rome Street` is outdated,
/// its `Rome` is not the answer `Rome`.
fn is_answered(question: &Question, text: &str) -> bool {
    let answer = normalize(&question.answer);
    let is_there = |piece: &str| places(text, piece).next().is_some();
    let mut further = question.further.iter();
    if !is_there(&answer) || !further.all(|piece| is_there(&normalize(piece))) {
        return false;
    }
    // Other outdated values cannot contain the answer.
    let old = question.outdated.iter().map(|old| normalize(old));
    let old: BTreeSet<String> = old.filter(|old| old.contains(&answer)).collect();
    let mut old: Vec<Range<usize>> = old.iter().flat_map(|old| places(text, old)).collect();
    old.sort_unstable_by_key(|old| old.start);
    // Extend each range to the end of those before it, so that one comparison is enough for each answer.
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

/// Finds a value in a text, except as part of a longer number or of a longer word in ASCII letters. In other
/// scripts, words are not separated or take endings, so a part of a word counts there.
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
            further: Vec::new(),
            evidence: evidence.to_vec(),
            outdated: outdated.iter().map(|old| (*old).to_owned()).collect(),
        }
    }

    fn evidence(messages: &[&str], questions: &[Question]) -> Evidence {
        let messages: Vec<Message> = messages
            .iter()
            .map(|text| json!({"role": "user", "content": text}).to_string())
            .map(|raw| Message::read("openai-chat", &raw))
            .collect();
        Evidence::of(questions, &messages.iter().collect::<Vec<_>>())
    }

    #[test]
    fn in_text_counts_messages_once_and_questions_with_all_their_messages() {
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
        let expected = EvidenceShares {
            messages: 0.5,
            strict: 0.5,
            answers: 0.5,
        };
        assert_eq!(kept, Some(expected));
        assert_eq!(evidence(&messages, &[]).in_text("Mio"), None);
    }

    #[test]
    fn rewritten_message_counts_with_four_of_five_names() {
        let message = "Look at oven.rs, dough.rs, flour.rs, salt.rs and yeast.rs, will you?";
        let evidence = evidence(&[message], &[asked("in dough.rs", &[0], &[])]);
        let share = |text| evidence.in_text(text).map(|kept| kept.messages);
        assert_eq!(share("oven.rs dough.rs flour.rs salt.rs"), Some(1.0));
        assert_eq!(share("oven.rs dough.rs flour.rs"), Some(0.0));
        // A name twice is one name.
        assert_eq!(share("oven.rs oven.rs dough.rs flour.rs"), Some(0.0));
    }

    #[test]
    fn rewritten_message_does_not_count_with_three_of_four_names() {
        let message = "Mix flour.rs, salt.rs, yeast.rs and water.rs.";
        let evidence = evidence(&[message], &[asked("water.rs", &[0], &[])]);
        let kept = evidence.in_text("flour.rs, salt.rs, yeast.rs");
        assert_eq!(kept.map(|kept| kept.messages), Some(0.0));
    }

    #[test]
    fn message_without_names_counts_word_for_word_only() {
        let evidence = evidence(&["Yes"], &[asked("tea", &[0], &[])]);
        let share = |text| evidence.in_text(text).map(|kept| kept.messages);
        assert_eq!(share("user: Yes, please."), Some(1.0));
        assert_eq!(share("Yesterday I said yes."), Some(0.0));
    }

    #[test]
    fn answer_is_found_whatever_its_case_spaces_and_punctuation() {
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
            let plain = normalize(text);
            let found = is_answered(&asked(answer, &[0], &[]), &plain);
            assert_eq!(found, is_there, "{answer} in {text}");
        }
    }

    #[test]
    fn answer_of_several_pieces_is_in_one_line() {
        let message = "Tea for 300 euros at most. Ask before you buy more.";
        let mut question = asked("300 euros", &[0], &["300 euros and 5"]);
        question.further = vec!["ask".to_owned()];
        let questions = [question];
        let share = |text| evidence(&[message], &questions).in_text(text);
        let answers = |text| share(text).map(|kept| kept.answers);
        assert_eq!(answers("- Ask before more than 300 euros."), Some(1.0));
        assert_eq!(answers("Ask first.\nAt most 300 euros."), Some(0.0));
        assert_eq!(answers("Ask before 300 euros and 5."), Some(0.0));
    }

    #[test]
    fn answer_within_an_outdated_value_does_not_count() {
        let question = asked("Rome", &[0], &["Rome Street", "Milan"]);
        let is_there = |text| is_answered(&question, &normalize(text));
        assert!(!is_there("They met in Milan."));
        assert!(!is_there("They met in Rome Street."));
        assert!(is_there("They met in Rome Street, then in Rome."));
        assert!(is_there("Not in Milan but in Rome."));
    }

    #[test]
    fn answer_within_overlapping_outdated_values_does_not_count() {
        let question = asked(
            "Rome",
            &[0],
            &["to Rome by the old Rome Street", "old Rome"],
        );
        let is_there = |text| is_answered(&question, &normalize(text));
        assert!(!is_there("To Rome by the old Rome Street."));
        assert!(!is_there("The old Rome. To Rome by the old Rome Street."));
        assert!(is_there("To Rome by the old Rome Street, Rome."));
        assert!(is_there("Rome, the old Rome."));
    }

    #[test]
    fn answer_within_many_outdated_values_does_not_count() {
        let question = asked("Rome", &[0], &["Rome Street"]);
        let text = "rome street ".repeat(200_000);
        assert!(!is_answered(&question, text.trim_end()));
    }

    #[test]
    fn message_that_many_questions_name_is_read_once() {
        let message = "The cat is called Mio. ".repeat(20_000);
        let questions = vec![asked("Mio", &[0], &[]); 2_000];
        let evidence = evidence(&[&message], &questions);
        assert_eq!(evidence.named.len(), 1);
    }
}
