//! A second implementation of the rules, independent of the host's code: whether a result keeps its
//! conversation's messages, and whether its provider would accept it.

mod anthropic;
mod bedrock_converse;
mod chat;
mod gemini;
mod responses;
mod thinking;
mod unseen;

use std::fmt;

use serde_json::Value;

use crate::messages::Messages;
use baler_eval::corpus::{ANTHROPIC, BEDROCK, GEMINI, RESPONSES};

/// What is wrong with a result, without text of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// The provider would refuse it.
    Rules(&'static str),
    /// A kept message is not byte-identical.
    Verbatim(&'static str),
    /// Protected content is missing.
    Lost(&'static str),
}

/// Checks a result of a conversation in this format: that its provider would accept it, that kept messages
/// are byte-identical, and that protected content is kept. Assumes the default policy. A conversation without
/// a list of messages passes.
///
/// # Errors
/// The result fails a check. The error contains no text of the conversation.
pub fn check(format: &'static str, before: &str, after: &str) -> Result<(), String> {
    match Before::of(format, before) {
        Some(before) => before.check(after).map_err(|wrong| wrong.to_string()),
        None => Ok(()),
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rules(what) | Self::Verbatim(what) | Self::Lost(what) => f.write_str(what),
        }
    }
}

/// A conversation before its compaction.
pub(crate) struct Before<'a> {
    format: &'static str,
    messages: Messages<'a>,
    values: Vec<Value>,
}

impl<'a> Before<'a> {
    pub(crate) fn of(format: &'static str, document: &'a str) -> Option<Self> {
        let messages = Messages::of(document)?;
        Some(Self {
            format,
            values: values(&messages),
            messages,
        })
    }

    /// Checks only the rules of the format. A conversation that the host finds valid should obey them.
    pub(crate) fn rules(&self) -> Result<(), Wrong> {
        rules(self.format, &self.values)
    }

    /// Everything that can be told of a result.
    pub(crate) fn check(&self, document: &str) -> Result<(), Wrong> {
        let after =
            Messages::of(document).ok_or(Wrong::Rules("the result has no list of messages"))?;
        if after.head() != self.messages.head() || after.tail() != self.messages.tail() {
            return Err(Wrong::Verbatim("what stands around the messages changed"));
        }
        let values = values(&after);
        let places = self.places(&after, &values)?;
        self.instructions_stay(&places)?;
        self.newest_request_stays(&values)?;
        unseen::outputs_stay(&self.values, &values)?;
        if let Some(new) = doubts(self.format, &values)
            .into_iter()
            .find(|doubt| !doubts(self.format, &self.values).contains(doubt))
        {
            return Err(Wrong::Rules(new));
        }
        if self.format == RESPONSES {
            responses::products_follow_their_reasoning(&self.values, &places)?;
            responses::items_keep_their_reasoning(&self.values, &places)?;
        }
        if self.format == ANTHROPIC {
            anthropic::thinking_stays_in_its_response(&self.values, &values, &places)?;
        }
        rules(self.format, &values)
    }

    /// For each message of the result its index among the old ones, which grows but for
    /// instructions that moved behind what the user says next (Anthropic); none for one that
    /// carries a mark, which only the user's messages and outputs may.
    fn places(&self, after: &Messages<'_>, values: &[Value]) -> Result<Vec<Option<usize>>, Wrong> {
        let old = &self.messages.all;
        let mut next = 0;
        let mut next_rule = 0;
        let mut places = Vec::with_capacity(after.all.len());
        for (message, value) in after.all.iter().zip(values) {
            let is_rule = self.format == ANTHROPIC && value["role"] == "system";
            let passed = if is_rule { next_rule..next } else { 0..0 };
            if let Some(at) = passed
                .clone()
                .find(|at| old[*at] == *message && !self.is_over(*at))
            {
                next_rule = at + 1;
                places.push(Some(at));
                continue;
            }
            let place = old[next..]
                .iter()
                .position(|own| own == message)
                .or_else(|| self.place_without_thinking(next, message));
            if let Some(at) = place {
                next += at + 1;
                if value["role"] == "system" {
                    next_rule = next;
                }
                places.push(Some(next - 1));
                continue;
            }
            // It may leave, and so comes behind one that has to stay.
            if let Some(at) = { passed }.find(|at| old[*at] == *message) {
                next_rule = at + 1;
                places.push(Some(at));
                continue;
            }
            if !message.contains("<baler:") {
                return Err(Wrong::Verbatim("a message is neither kept nor marked"));
            }
            let is_note = self.format == BEDROCK && bedrock_converse::is_note_for_model(value);
            if is_models(value) && !is_note {
                return Err(Wrong::Verbatim("a message of the model's changed"));
            }
            places.push(None);
        }
        Ok(places)
    }

    /// Where a message of a finished turn stood that stays without its thinking.
    fn place_without_thinking(&self, next: usize, message: &str) -> Option<usize> {
        let old = &self.messages.all[next..];
        let at = old
            .iter()
            .position(|own| thinking::left_out(own).as_deref() == Some(message))?;
        thinking::is_finished(&self.values, next + at).then_some(at)
    }

    fn instructions_stay(&self, places: &[Option<usize>]) -> Result<(), Wrong> {
        let are_there = self
            .values
            .iter()
            .enumerate()
            .filter(|(index, value)| {
                matches!(value["role"].as_str(), Some("system" | "developer"))
                    && !self.is_over(*index)
            })
            .all(|(index, _)| places.contains(&Some(index)));
        if are_there {
            Ok(())
        } else {
            Err(Wrong::Lost("instructions left"))
        }
    }

    /// Whether a message held only until the user's next one, which is there.
    fn is_over(&self, index: usize) -> bool {
        self.values[index]["clear_at"] == "next_user_message"
            && self.values[index..].iter().any(|own| own["role"] == "user")
    }

    /// The texts of the newest message that is the user's alone are all there, whole or as excerpts. (One
    /// that also holds outputs is checked by the outcome that the host gives it.)
    fn newest_request_stays(&self, values: &[Value]) -> Result<(), Wrong> {
        let newest = self
            .values
            .iter()
            .rev()
            .filter(|value| value["role"] == "user")
            .map(texts)
            .find(|texts| !texts.is_empty());
        let Some(newest) = newest else { return Ok(()) };
        let there: Vec<&str> = values
            .iter()
            .filter(|value| value["role"] == "user")
            .flat_map(texts)
            .collect();
        let stays = |text: &&str| {
            let mut excerpts = there.iter();
            there.contains(text) || excerpts.any(|excerpt| is_excerpt_of(excerpt, text))
        };
        if newest.iter().all(stays) {
            Ok(())
        } else {
            Err(Wrong::Lost("the newest message of the user's left"))
        }
    }
}

/// Whether the host shortened `whole` to this text: all lines are its own, but for those of the host.
fn is_excerpt_of(text: &str, whole: &str) -> bool {
    let inner = text
        .strip_prefix("<baler:excerpt by=\"baler\" ")
        .and_then(|rest| rest.strip_suffix("</baler:excerpt>"))
        .and_then(|rest| rest.split_once('\n'));
    // The host puts a backslash into what could pass for its own lines and tags.
    let is_hosts = |line: &str| line.starts_with("[…") || line.contains('\\');
    inner.is_some_and(|(_, lines)| {
        let mut own = lines.lines().filter(|line| !is_hosts(line)).peekable();
        own.peek().is_some() && own.all(|line| whole.contains(line))
    })
}

/// Whether the old `message` is a part of the new one, which got further parts around its own.
pub fn is_joined(message: &str, new: &str) -> bool {
    let Ok(value) = serde_json::from_str::<RawContent<'_>>(message) else {
        return false;
    };
    value
        .content
        .or(value.parts)
        .map(|content| {
            let list = content.get();
            list.strip_prefix('[')
                .and_then(|list| list.strip_suffix(']'))
                .unwrap_or(list)
        })
        .is_some_and(|own| new.contains("<baler:") && new.contains(own))
}

#[derive(serde::Deserialize)]
struct RawContent<'a> {
    #[serde(borrow)]
    content: Option<&'a serde_json::value::RawValue>,
    #[serde(borrow)]
    parts: Option<&'a serde_json::value::RawValue>,
}

/// Whether the user says something in a message without outputs. What programs write as the user, and texts in a mark
/// that is no excerpt, do not count.
pub(crate) fn is_users(message: &str) -> bool {
    let value: Value = serde_json::from_str(message).unwrap_or_default();
    let mut told = baler_provenance::by_author(&texts(&value)).into_iter();
    value["role"] == "user" && told.any(|told| told.own_words().is_some())
}

fn values(messages: &Messages<'_>) -> Vec<Value> {
    messages
        .all
        .iter()
        .map(|message| serde_json::from_str(message).unwrap_or_default())
        .collect()
}

fn rules(format: &str, values: &[Value]) -> Result<(), Wrong> {
    match format {
        ANTHROPIC => anthropic::rules(values),
        RESPONSES => responses::rules(values),
        GEMINI => gemini::rules(values),
        BEDROCK => bedrock_converse::rules(values),
        _ => chat::rules(values),
    }
    .map_err(Wrong::Rules)
}

/// What is unusual, though no provider is known to refuse it. A conversation may come in so; a
/// result must not raise a doubt that its conversation did not.
fn doubts(format: &str, values: &[Value]) -> Vec<&'static str> {
    match format {
        ANTHROPIC => anthropic::doubts(values),
        RESPONSES => responses::doubts(values),
        GEMINI => gemini::doubts(values),
        BEDROCK => bedrock_converse::doubts(values),
        _ => chat::doubts(values),
    }
}

/// The calls of one response by their ids, and the outputs that answer them. An id is unique in its
/// response only; an output without one answers a call that no other output names.
#[derive(Default)]
struct Step<'a> {
    open: Vec<&'a str>,
    answered: Vec<&'a str>,
    nameless: usize,
}

impl<'a> Step<'a> {
    fn call(&mut self, id: &'a str) -> Result<(), &'static str> {
        if !id.is_empty() && self.open.contains(&id) {
            return Err("a call has the id of another one of its response");
        }
        self.open.push(id);
        Ok(())
    }

    fn output(&mut self, id: &'a str) -> Result<(), &'static str> {
        if id.is_empty() {
            self.nameless += 1;
        } else if let Some(at) = self.open.iter().position(|own| *own == id) {
            self.answered.push(self.open.remove(at));
        } else if self.answered.contains(&id) {
            return Err("a call is answered twice");
        } else {
            return Err("an output without its call");
        }
        if self.nameless > self.open.len() {
            return Err("an output without its call");
        }
        Ok(())
    }

    /// Whether calls have no output.
    fn waits(&self) -> bool {
        self.open.len() > self.nameless
    }
}

/// Whether all messages are instructions.
fn is_silent(values: &[Value]) -> bool {
    values
        .iter()
        .all(|value| matches!(value["role"].as_str(), Some("system" | "developer")))
}

const SILENT: &str = "there is no message beside instructions";

/// Whether the model made the message. Under the default policy none of these may change:
/// neither calls nor anything that is signed or encrypted can, then.
fn is_models(value: &Value) -> bool {
    matches!(value["role"].as_str(), Some("assistant" | "model"))
        || value["type"]
            .as_str()
            .is_some_and(|kind| kind != "message" && !kind.ends_with("_output"))
}

/// The blocks or parts of a message.
fn parts(value: &Value) -> impl Iterator<Item = &Value> {
    value["content"]
        .as_array()
        .or(value["parts"].as_array())
        .into_iter()
        .flatten()
}

/// The texts of a message without outputs; none where a mark stands in front.
fn texts(value: &Value) -> Vec<&str> {
    let is_output = |part: &Value| {
        part["type"] == "tool_result"
            || part.get("toolResult").is_some()
            || part.get("functionResponse").is_some()
            || part.get("function_response").is_some()
    };
    if parts(value).any(is_output) {
        return Vec::new();
    }
    value["content"]
        .as_str()
        .into_iter()
        .chain(parts(value).filter_map(|part| part["text"].as_str()))
        // An excerpt of the user's words is still the user's.
        .filter(|text| !text.starts_with("<baler:") || text.starts_with("<baler:excerpt "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Step, check, is_joined, is_users};
    use baler_eval::corpus::{ANTHROPIC, CHAT};

    const BEFORE: &str = r#"{"model": "m", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]}"#;

    fn changed(from: &str, to: &str) -> Result<(), String> {
        assert!(BEFORE.contains(from), "nothing to replace");
        check(CHAT, BEFORE, &BEFORE.replace(from, to))
    }

    #[test]
    fn messages_may_leave_or_carry_a_mark() {
        assert_eq!(check(CHAT, BEFORE, BEFORE), Ok(()));
        assert_eq!(
            changed(r#"{"role": "assistant", "content": "b"}, "#, ""),
            Ok(())
        );
        let marked =
            r#"{"role": "user", "content": "<baler:summary>x"}, {"role": "user", "content": "c"}"#;
        assert_eq!(
            changed(r#"{"role": "user", "content": "c"}"#, marked),
            Ok(())
        );
    }

    #[test]
    fn what_should_be_kept_or_stay_is_missed() {
        for (from, to) in [
            (r#""model": "m""#, r#""model": "n""#),
            (r#""content": "a""#, r#""content": "A""#),
            (r#""content": "a""#, r#""content":"a""#),
            (r#""content": "b""#, r#""content": "<baler:rewritten>""#),
            (r#"{"role": "system", "content": "s"}, "#, ""),
            (r#", {"role": "user", "content": "c"}"#, ""),
            (r#""content": "c""#, r#""content": "<baler:summary>""#),
        ] {
            assert!(changed(from, to).is_err(), "{from} to {to}");
        }
        let swapped = r#"[{"role": "user", "content": "b"}, {"role": "user", "content": "a"}]"#;
        let before = r#"[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]"#;
        assert!(check(ANTHROPIC, before, swapped).is_err());
    }

    #[test]
    fn a_result_raises_no_doubt_that_its_conversation_did_not() {
        let led_by_model =
            r#"[{"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]"#;
        let before = r#"[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]"#;
        assert_eq!(check(ANTHROPIC, led_by_model, led_by_model), Ok(()));
        assert!(check(ANTHROPIC, before, led_by_model).is_err());
    }

    #[test]
    fn ids_count_within_a_response_and_outputs_without_one_pair_by_order() {
        let step = |calls: &[&'static str], outputs: &[&'static str]| {
            let mut step = Step::default();
            calls.iter().try_for_each(|id| step.call(id))?;
            outputs.iter().try_for_each(|id| step.output(id))?;
            Ok::<bool, &str>(step.waits())
        };
        assert_eq!(step(&["a", "b"], &["b", "a"]), Ok(false));
        assert_eq!(step(&["a", "b"], &["b"]), Ok(true));
        assert_eq!(step(&["", "b", ""], &["", "b", ""]), Ok(false));
        assert_eq!(step(&["a"], &[""]), Ok(false));
        assert!(step(&["a", "a"], &[]).is_err());
        assert!(step(&["a"], &["a", "a"]).is_err());
        assert!(step(&["a"], &["b"]).is_err());
        assert!(step(&[""], &["", ""]).is_err());
    }

    #[test]
    fn a_message_is_the_users_if_the_user_says_something_in_it() {
        for (message, expected) in [
            (r#"{"role": "user", "content": "潮に気をつけて。"}"#, true),
            (
                r#"{"role": "user", "content": [{"type": "image", "source": {}}, {"type": "text", "text": "Mind it."}]}"#,
                true,
            ),
            (
                r#"{"role": "user", "parts": [{"text": "<system-reminder>\nMind it.\n</system-reminder>"}, {"text": "Row."}]}"#,
                true,
            ),
            (
                r#"{"role": "user", "content": "<system-reminder>\nMind it.\n</system-reminder>"}"#,
                false,
            ),
            (
                r#"{"role": "user", "content": "<baler:summary by=\"a\">\nMind it.\n</baler:summary>"}"#,
                false,
            ),
            (
                r#"{"role": "user", "content": [{"type": "tool_result", "content": "Mind it."}]}"#,
                false,
            ),
            (r#"{"role": "assistant", "content": "I mind it."}"#, false),
        ] {
            assert_eq!(is_users(message), expected, "{message}");
        }
    }

    #[test]
    fn a_joined_message_has_all_its_own_parts() {
        let text = r#"{"role":"user","content":"a"}"#;
        let joined = r#"{"role":"user","content":[{"type":"text","text":"<baler:note>"},{"type":"text","text":"a"}]}"#;
        assert!(is_joined(text, joined));
        assert!(!is_joined(text, &joined.replace(r#""a""#, r#""b""#)));
        assert!(!is_joined(text, text));
    }
}
