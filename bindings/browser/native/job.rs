//! A compaction, which stops at each question to a component.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use baler_embedding::{Compaction, Conversation, Error, Kind, options};
use baler_host::archive::Archive;
use baler_host::conversation::tokenizers::Tokenizer;
use baler_host::conversation::{Deadline, ReadOptions};
use baler_host::engine::EngineCall;
use baler_host::receipt::ContentHash;
use baler_host::request::Policy;
use baler_host::{Host, Strategy};
use serde_json::{Value, json};

use crate::engine::{Component, Desk};
use crate::slots::Slots;

type Work = Pin<Box<dyn Future<Output = Result<baler_host::Compaction, Error>>>>;

/// A compaction that runs, or has ended.
pub(crate) struct Job {
    work: Option<Work>,
    desk: Desk,
    /// The question that JavaScript works on.
    question: Option<EngineCall>,
    archive: Archive,
    undo: Option<String>,
}

/// Returns the error for a call while nothing is being compacted.
pub(crate) fn none() -> Error {
    Error::new(Kind::Host, "nothing is being compacted".to_owned())
}

/// Returns a host with the tokenizer of the options.
pub(crate) fn host_of(options: &Value, archive: Archive) -> Result<Host, Error> {
    let builder = Host::builder().tokenizer(tokenizer(options)?);
    Ok(builder.archive(archive).build()?)
}

/// The tokenizer that was named; `None` for the estimate.
fn tokenizer(options: &Value) -> Result<Option<Tokenizer>, Error> {
    let named = options["tokenizer"].as_str().map(Tokenizer::named);
    named
        .transpose()
        .map_err(|error| Error::option("tokenizer", error))
}

/// Reads a conversation.
pub(crate) fn read(host: &Host, options: &Value, document: Vec<u8>) -> Result<Conversation, Error> {
    let format = match options["format"].as_str() {
        None | Some("auto") => None,
        Some(name) => Some(options::format(name)?),
    };
    let used = options["used"]
        .as_u64()
        .and_then(|used| u32::try_from(used).ok());
    let how = ReadOptions::default().with_format(format).with_used(used);
    Ok(host.read_with(document, how)?.into())
}

impl Job {
    pub(crate) fn start(options: &Value, document: Vec<u8>) -> Result<Self, Error> {
        let archive = Archive::in_memory();
        let host = host_of(options, archive.clone())?;
        let conversation = read(&host, options, document)?;
        let own = options["options"].to_string();
        let own = if own == "null" { "" } else { &own };
        let request = options::compaction(own, &Policy::default(), &Deadline::never())?;
        let desk = Desk::default();
        let chain = chain(options, &desk)?;
        let work = async move {
            let host = host;
            let mut ready = Vec::with_capacity(chain.len());
            for (strategy, config) in chain {
                ready.push(match config {
                    Some(config) => host.configure(strategy, &config).await?,
                    None => strategy,
                });
            }
            Ok(host.compact(conversation.inner(), &ready, &request).await?)
        };
        Ok(Self {
            work: Some(Box::pin(work)),
            desk,
            question: None,
            archive,
            undo: None,
        })
    }

    /// The question that JavaScript works on.
    pub(crate) const fn question(&self) -> Option<&EngineCall> {
        self.question.as_ref()
    }

    pub(crate) fn answer(&mut self, answer: Option<String>) {
        self.question = None;
        self.desk.answer(answer);
    }

    /// Goes on until the next question or the end; returns the event. The result goes to slot 1.
    pub(crate) fn go_on(&mut self, slots: &mut Slots) -> Result<Value, Error> {
        let work = self.work.as_mut().ok_or_else(none)?;
        match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(made) => {
                self.work = None;
                let made = Compaction::from(made?);
                let receipt = made.receipt_value();
                self.undo = receipt["undo"].as_str().map(str::to_owned);
                slots.set(1, made.document().as_bytes().to_vec());
                Ok(json!({
                    "event": "done",
                    "isCompacted": made.is_compacted(),
                    "receipt": receipt,
                    "messages": made.messages(),
                    "units": made.units(),
                }))
            }
            Poll::Pending => {
                let waiting = self.desk.waiting();
                let waiting = waiting.as_ref().ok_or_else(none)?;
                self.question = Some(waiting.call.clone());
                Ok(json!({
                    "event": "question",
                    "component": waiting.component,
                    "operation": waiting.call.operation.name(),
                    "config": waiting.call.config,
                    "situation": waiting.call.situation(),
                }))
            }
        }
    }

    /// Returns the document before the compaction.
    pub(crate) fn undo(&self) -> Result<String, Error> {
        let reference = self.undo.as_deref().ok_or_else(none)?;
        let mut work = std::pin::pin!(self.archive.undo(reference));
        // In memory nothing has to be waited for.
        match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(document) => Ok(document?),
            Poll::Pending => Err(none()),
        }
    }
}

/// Returns the strategies of the option `chain`, each with its config: names of native ones, or components as
/// `{"name", "hash", "config", "writesDigests"}`.
fn chain(options: &Value, desk: &Desk) -> Result<Vec<(Strategy, Option<String>)>, Error> {
    let given = options["chain"].as_array().map_or(&[][..], Vec::as_slice);
    let strategies = given.iter().enumerate().map(|(index, one)| {
        if let Some(name) = one.as_str() {
            let strategy = Strategy::native(name).ok_or_else(|| {
                let known = Strategy::NATIVE.join(", ");
                let message = format!("no strategy of the host is called `{name}`; known: {known}");
                Error::new(Kind::Strategy, message)
            })?;
            return Ok((strategy, None));
        }
        let strategy = Strategy::run_by(Arc::new(Component {
            index,
            name: one["name"].as_str().unwrap_or_default().to_owned(),
            hash: hash_of(one["hash"].as_str())?,
            desk: desk.clone(),
        }));
        let strategy = match one["writesDigests"].as_bool() {
            Some(true) => strategy.writing_digests(),
            _ => strategy,
        };
        let config = one["config"].as_str().map(str::to_owned);
        Ok((strategy, config))
    });
    strategies.collect()
}

/// Reads the SHA-256 of a component.
fn hash_of(hex: Option<&str>) -> Result<ContentHash, Error> {
    let hash = hex.and_then(ContentHash::from_hex);
    let expected = "expected the SHA-256 of a component as 64 hex digits";
    hash.ok_or_else(|| Error::option("strategy", expected))
}
