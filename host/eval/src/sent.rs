//! Measures what was sent in place of a request of a recorded session, whatever made it.

use baler_host::conversation::UnitKind;
use baler_host::{Conversation, Host};

use crate::cases::{self, Case};
use crate::constraints::has_users_words;
use crate::context::Shown;
use crate::corpus::Recording;
use crate::message::{Message, PartKind, Role};
use crate::{search, words};

/// Reads a recorded session as one conversation, as if its program had compacted nothing. `None` if it cannot be read, or
/// breaks a rule of its format.
#[must_use]
pub fn session(host: &Host, record: &Recording) -> Option<Conversation> {
    cases::whole(host, record).ok()
}

/// A request of a recorded session: what its user had said until then, and what the session needed after it.
#[derive(Debug)]
pub struct RecordedRequest {
    case: Case,
    /// The user's sentences, with one space between words.
    sentences: Vec<String>,
}

/// What is still there of a request. Shares are from 0 to 1; `None` if there was nothing to look for.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sent {
    /// The share of names that the session used later.
    pub recall: Option<f64>,
    /// The share of the user's words, in sentences that are there word for word.
    pub words: Option<f64>,
    /// The share of the user's sentences with a rule that are there word for word.
    pub rules: Option<f64>,
}

impl RecordedRequest {
    /// Reads what a request and the rest of its session say. The messages of the request are the first of the session.
    #[must_use]
    pub fn of(request: Conversation, session: &Conversation) -> Self {
        let before = request.message_count();
        let case = Case::of_history(request);
        let all = cases::read(session);
        let behind: Vec<&Message> = all.iter().flatten().skip(before).collect();
        let history: Vec<&Message> = case.units.iter().flatten().collect();
        let mut needed = cases::needed(&history, &behind, &case.conversation);
        if needed.len() < cases::MIN_NEEDED {
            needed.clear();
        }
        Self {
            sentences: sentences(&case),
            case: Case {
                needed,
                rules: cases::rules(&case.conversation, &case.units),
                ..case
            },
        }
    }

    /// Measures what was sent in its place.
    #[must_use]
    pub fn measure(&self, sent: &Conversation) -> Sent {
        let shown = Shown::of(&self.case.units, &cases::read(sent));
        let measured = self.case.score(&shown);
        let text = words::on_one_line(&shown.text);
        let found = search::contained_in(&self.sentences, std::iter::once(text.as_str()));
        let count = |sentence: &String| sentence.split(' ').count();
        let all: usize = self.sentences.iter().map(count).sum();
        let there = self.sentences.iter().zip(found);
        let there = there.filter_map(|(sentence, is_there)| is_there.then_some(sentence));
        let there: usize = there.map(count).sum();
        Sent {
            recall: measured.recall,
            words: (all > 0).then(|| there as f64 / all as f64),
            rules: measured.instructions,
        }
    }
}

/// Returns the sentences that the user wrote, without what programs put into the user's messages.
fn sentences(case: &Case) -> Vec<String> {
    let units = case.conversation.units().iter().zip(&case.units);
    let own = units
        .filter(|(unit, messages)| {
            unit.kind != UnitKind::Summary && has_users_words(unit, messages)
        })
        .flat_map(|(_, messages)| messages)
        .filter(|message| message.role == Role::User)
        .flat_map(|message| &message.parts)
        .filter(|part| part.kind == PartKind::Text);
    let mut found = Vec::new();
    for part in own {
        let text = words::on_one_line(&part.text);
        words::each_sentence(&words::users_words(&part.text), &mut |sentence| {
            let sentence = words::on_one_line(sentence);
            // One that is joined from lines around others is nowhere word for word.
            if text.contains(&sentence) {
                found.push(sentence);
            }
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use baler_host::Host;
    use serde_json::{Value, json};

    use super::*;

    fn read(messages: &[Value]) -> Conversation {
        let host = Host::builder().build().expect("a host");
        let document = json!({"model": "gpt-4o", "messages": messages}).to_string();
        host.read(document).expect("reads")
    }

    #[test]
    fn a_request_is_measured_by_its_users_words_and_by_what_came_after_it() {
        let task = json!({"role": "user", "content": "Mend the hull of the boat. Never sand the red oars.\n<system-reminder>\nBe brief.\n</system-reminder>"});
        let session = [
            task.clone(),
            json!({"role": "assistant", "content": "It has keel_port, keel_star, deck_fore, deck_aft and mast_top."}),
            json!({"role": "user", "content": "Go on."}),
            json!({"role": "assistant", "content": "keel_port, keel_star, deck_fore, deck_aft, mast_top: done."}),
        ];
        let request = RecordedRequest::of(read(&session[..3]), &read(&session));
        let whole = request.measure(&read(&session[..3]));
        let all = Some(1.0);
        assert_eq!((whole.recall, whole.words, whole.rules), (all, all, all));
        let short = [
            json!({"role": "user", "content": "Never sand the\nred oars. See keel_star."}),
            json!({"role": "user", "content": "Go on."}),
        ];
        let sent = request.measure(&read(&short));
        assert_eq!((sent.recall, sent.rules), (Some(0.2), Some(1.0)));
        // Of six words of the first sentence, five of the second and two of the last one.
        assert_eq!(sent.words, Some(7.0 / 13.0));
    }
}
