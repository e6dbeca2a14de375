//! Which messages of an export the model sees.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::json::{self, BEFORE, Members};
use crate::logs::records::not_json;
use crate::model::log::{LogError, LogFacts, LogKind};

/// An export.
pub(super) struct Session<'a> {
    messages: Vec<Message<'a>>,
    /// Where the user went back to: a message, and a part of it if not to its beginning.
    revert: Option<(Cow<'a, str>, Option<Cow<'a, str>>)>,
}

pub(super) struct Message<'a> {
    pub(super) info: Members<'a>,
    pub(super) parts: Vec<Members<'a>>,
}

/// Who answers.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Speaker<'a> {
    pub(super) provider: Option<Cow<'a, str>>,
    pub(super) model: Option<Cow<'a, str>>,
}

/// A message as the model sees it.
#[derive(Clone, Copy)]
pub(super) struct Seen<'s, 'a> {
    pub(super) message: &'s Message<'a>,
    /// How many of its parts count.
    pub(super) parts: usize,
    /// Whether it is from before the compaction, so that the provider counted what is gone.
    pub(super) is_kept: bool,
}

impl<'a> Session<'a> {
    /// Reads an export.
    ///
    /// # Errors
    /// It is not JSON.
    pub(super) fn read(text: &'a str) -> Result<(Self, LogFacts), LogError> {
        let kind = LogKind::Opencode;
        let export: Members<'a> = serde_json::from_str(text.trim_start_matches(BEFORE))
            .map_err(|error| not_json(kind, &error))?;
        let raws = export.list("messages").unwrap_or_default();
        let mut facts = LogFacts {
            lines: raws.len(),
            ..LogFacts::default()
        };
        let messages: Vec<Message<'a>> = raws
            .into_iter()
            .filter_map(|raw| Message::new(raw, &mut facts))
            .collect();
        let revert = export
            .object("info")
            .and_then(|info| info.object("revert"))
            .and_then(|revert| Some((revert.text("messageID")?, revert.text("partID"))));
        Ok((Self { messages, revert }, facts))
    }

    /// Who answered last, or else is asked.
    pub(super) fn speaker(&self) -> Speaker<'a> {
        let mut messages = self.messages.iter().rev();
        let answered = messages.find(|message| message.is_model() && !message.failed());
        match answered.or(self.messages.last()) {
            Some(message) => message.speaker(),
            None => Speaker::default(),
        }
    }

    /// The messages that the model sees, in their order: the newest summary first.
    pub(super) fn seen(&self, facts: &mut LogFacts) -> Vec<Seen<'_, 'a>> {
        let mut seen: Vec<Seen<'_, 'a>> = self
            .messages
            .iter()
            .map(|message| Seen {
                message,
                parts: message.parts.len(),
                is_kept: false,
            })
            .collect();
        self.take_back(&mut seen, facts);
        let Some(summary) = seen.iter().rposition(|seen| seen.message.is_summary()) else {
            return seen;
        };
        let after = seen.split_off(summary);
        let asked = after
            .first()
            .and_then(|summary| summary.message.info.text("parentID"));
        let places: HashMap<Cow<'_, str>, usize> = seen
            .iter()
            .enumerate()
            .filter_map(|(place, seen)| Some((seen.message.info.text("id")?, place)))
            .collect();
        let asks = |place: &usize| {
            seen.get(*place)
                .is_some_and(|seen| seen.message.asks_for_summary())
        };
        // Older versions asked for it in no message.
        let request = asked.and_then(|id| places.get(&id).copied()).filter(asks);
        let tail = request
            .and_then(|place| seen.get(place)?.message.tail())
            .and_then(|id| places.get(&id).copied());
        let end = request.unwrap_or(seen.len());
        let start = tail.unwrap_or(end).min(end);
        facts.earlier_messages += start;
        let kept = seen.get(start..end).unwrap_or_default().iter();
        let kept = kept.filter(|seen| !seen.message.is_summary());
        let mut all: Vec<Seen<'_, 'a>> = after.iter().take(1).copied().collect();
        all.extend(kept.map(|seen| Seen {
            is_kept: true,
            ..*seen
        }));
        // What the user said with the request for the summary, and while it was written.
        all.extend(seen.iter().skip(end));
        all.extend(after.into_iter().skip(1));
        all
    }

    /// Leaves out what the user took back.
    fn take_back(&self, seen: &mut Vec<Seen<'_, 'a>>, facts: &mut LogFacts) {
        let Some((message, part)) = &self.revert else {
            return;
        };
        let is_it = |members: &Members<'_>, id: &str| members.text("id").as_deref() == Some(id);
        let place = seen
            .iter()
            .position(|seen| is_it(&seen.message.info, message));
        let Some(place) = place else { return };
        let kept = part.as_ref().and_then(|part| {
            let parts = &seen.get(place)?.message.parts;
            parts.iter().position(|members| is_it(members, part))
        });
        let end = match kept {
            Some(kept) if kept > 0 => {
                if let Some(seen) = seen.get_mut(place) {
                    seen.parts = kept;
                }
                place + 1
            }
            _ => place,
        };
        facts.other_branches += seen.len() - end;
        seen.truncate(end);
    }
}

impl<'a> Message<'a> {
    /// Takes a message apart; `None` if it is none, which is counted.
    fn new(raw: &'a RawValue, facts: &mut LogFacts) -> Option<Self> {
        let message = json::members(raw.get());
        let info = message.as_ref().and_then(|message| message.object("info"));
        let raws = message.and_then(|message| message.list("parts"));
        let (Some(info), Some(raws)) = (info, raws) else {
            facts.broken_lines += 1;
            return None;
        };
        let all = raws.len();
        let parts: Vec<Members<'a>> = raws
            .into_iter()
            .filter_map(|raw| serde_json::from_str(raw.get()).ok())
            .collect();
        facts.dropped_blocks += all - parts.len();
        Some(Self { info, parts })
    }

    pub(super) fn is_model(&self) -> bool {
        self.info.text("role").as_deref() == Some("assistant")
    }

    /// Whether it is a summary that was written to its end. (Of the user's messages `summary` tells what changed.)
    pub(super) fn is_summary(&self) -> bool {
        self.is_model() && self.info.is_true("summary") && !self.failed()
    }

    /// Whether nothing of a response is sent again: it failed, or was stopped before the model said anything.
    pub(super) fn failed(&self) -> bool {
        let Some(error) = self.info.object("error") else {
            return false;
        };
        let is_said = |part: &Members<'_>| {
            let kind = part.text("type");
            !matches!(kind.as_deref(), Some("step-start" | "reasoning"))
        };
        error.text("name").as_deref() != Some("MessageAbortedError")
            || !self.parts.iter().any(is_said)
    }

    /// Who said it, or is asked.
    pub(super) fn speaker(&self) -> Speaker<'a> {
        let asked = self.info.object("model");
        let member = |key: &str| {
            let asked = asked.as_ref();
            self.info
                .text(key)
                .or_else(|| asked.and_then(|asked| asked.text(key)))
        };
        Speaker {
            provider: member("providerID"),
            model: member("modelID"),
        }
    }

    fn asks_for_summary(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| part.text("type").as_deref() == Some("compaction"))
    }

    /// The first message that a compaction kept as it was.
    fn tail(&self) -> Option<Cow<'a, str>> {
        let mut parts = self.parts.iter();
        parts.find_map(|part| part.text("tail_start_id"))
    }
}
