//! A recorded session as the requests that its program sent.

use std::collections::BTreeMap;

use baler_corpus::Corpus;
use baler_eval::{RecordedRequest, session};
use baler_host::conversation::{ReadOptions, Role};
use baler_host::{Conversation, Format, Host};

/// The formats that CliffCompaction reads as well.
const FORMATS: [Format; 3] = [
    Format::Anthropic,
    Format::OpenAiChat,
    Format::OpenAiResponses,
];

/// Requests at which it is measured what is still there, evenly over those that were compacted for sure.
const MEASURED: usize = 10;

/// A recorded session.
pub(crate) struct Session {
    /// The set, and the number of the conversation in it.
    pub(crate) name: String,
    pub(crate) whole: Conversation,
    /// The number of messages of each request: all before an answer of the model.
    ends: Vec<usize>,
}

impl Session {
    /// Reads the sessions of a corpus of which the last request has at least `least` tokens, and is not the only one.
    pub(crate) fn all(host: &Host, corpus: &Corpus, least: u32) -> anyhow::Result<Vec<Self>> {
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut sessions = Vec::new();
        for record in &corpus.conversations {
            let number = numbers.entry(&record.set).or_default();
            *number += 1;
            let Some(whole) = session(host, record) else {
                continue;
            };
            if !FORMATS.contains(&whole.format()) {
                continue;
            }
            let whole = body(host, &whole)?;
            let session = Self {
                name: format!("{} {number}", record.set),
                ends: ends(&whole),
                whole,
            };
            let Some(last) = session.requests().checked_sub(1).filter(|last| *last > 0) else {
                continue;
            };
            if session.whole.tokens() >= least
                && read(host, session.request(last), session.whole.format())?.tokens() >= least
            {
                sessions.push(session);
            }
        }
        Ok(sessions)
    }

    /// Returns the number of requests.
    pub(crate) fn requests(&self) -> usize {
        self.ends.len()
    }

    /// Returns the body of a request.
    pub(crate) fn request(&self, index: usize) -> String {
        let end = self.ends.get(index).copied().unwrap_or_default();
        let messages = self.whole.all_messages().iter().take(end);
        let raws = messages.map(|message| self.whole.raw(message));
        self.whole.frame().write(raws)
    }

    /// Reads the requests that are measured, by their index: the last one, and others of at least `least` tokens. `tokens`:
    /// those of each request.
    pub(crate) fn measured(
        &self,
        host: &Host,
        tokens: &[u32],
        least: u32,
    ) -> anyhow::Result<BTreeMap<usize, RecordedRequest>> {
        let first = tokens.partition_point(|tokens| *tokens < least);
        let last = self.requests().saturating_sub(1);
        let from = first.min(last);
        let steps = MEASURED - 1;
        let indices = (0..MEASURED).map(|step| from + (last - from) * step / steps);
        let mut found = BTreeMap::new();
        for index in indices {
            let request = read(host, self.request(index), self.whole.format())?;
            found.insert(index, RecordedRequest::of(request, &self.whole));
        }
        Ok(found)
    }
}

/// Reads the body of a request.
pub(crate) fn read(
    host: &Host,
    body: impl Into<Vec<u8>>,
    format: Format,
) -> anyhow::Result<Conversation> {
    let options = ReadOptions::default().with_format(format);
    Ok(host.read_with(body.into(), options)?)
}

/// Returns a conversation as a body of a request, counted as such: a log says what its provider counted, and some sets are
/// mere lists of messages.
fn body(host: &Host, whole: &Conversation) -> anyhow::Result<Conversation> {
    let document = whole.document();
    let body = match document.trim_start().starts_with('[') {
        true => format!("{{\"model\":\"recorded\",\"messages\":{document}}}"),
        false => document.to_owned(),
    };
    read(host, body, whole.format())
}

/// Returns how many messages there are before each answer of the model. An answer may be several messages.
fn ends(whole: &Conversation) -> Vec<usize> {
    let roles: Vec<Role> = whole.all_messages().iter().map(|own| own.role).collect();
    let pairs = roles.windows(2).enumerate();
    pairs
        .filter(|(_, pair)| pair[0] != Role::Assistant && pair[1] == Role::Assistant)
        .map(|(index, _)| index + 1)
        .collect()
}
