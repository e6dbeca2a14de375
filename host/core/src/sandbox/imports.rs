//! Host functions that components may call. Every argument is untrusted: no index is used unchecked.

use std::time::{Duration, Instant};

use super::bindings::v0_1::{history, log, model, tokenizer};
use super::convert;
use super::store::Context;
use crate::report::LogLevel;

impl history::Host for Context {
    fn units(&mut self) -> wasmtime::Result<history::Figures> {
        self.host_call()?;
        Ok(match self.situation.as_deref() {
            Some(situation) => convert::units(situation),
            None => convert::figures_of(0),
        })
    }

    fn read(&mut self, first: u32, count: u32) -> wasmtime::Result<Vec<Vec<history::Message>>> {
        self.host_call()?;
        let situation = self.situation.as_deref();
        let read = situation.map(|situation| convert::read(situation, first, count));
        Ok(read.unwrap_or_default())
    }

    fn reference(&mut self, unit: u32) -> wasmtime::Result<Option<String>> {
        self.host_call()?;
        Ok(self
            .situation
            .as_deref()
            .and_then(|situation| situation.reference(unit as usize)))
    }

    fn tools(&mut self) -> wasmtime::Result<Vec<history::Tool>> {
        self.host_call()?;
        Ok(self
            .situation
            .as_deref()
            .map(|situation| convert::tools(&situation.conversation))
            .unwrap_or_default())
    }
}

impl tokenizer::Host for Context {
    fn count(&mut self, text: String) -> wasmtime::Result<u32> {
        let mut tokens = 0u32;
        for slice in slices(&text) {
            // Counting a hostile text is slow and cannot be interrupted, so the time is checked between
            // slices.
            self.host_call()?;
            let Some(situation) = self.situation.as_deref() else {
                return Ok(0);
            };
            tokens = tokens.saturating_add(situation.conversation.tokenizer().count(slice));
        }
        Ok(tokens)
    }
}

/// Maximum bytes that are counted at once. The slowest text of this size takes about 20 ms.
const COUNTED_BYTES: usize = 64 << 10;

/// Cuts `text` into slices of at most [`COUNTED_BYTES`], between characters. Each cut can change the count by
/// a token.
fn slices(mut text: &str) -> impl Iterator<Item = &str> {
    let mut first = true;
    std::iter::from_fn(move || {
        if text.is_empty() && !first {
            return None;
        }
        first = false;
        let (slice, rest) = text.split_at(text.floor_char_boundary(COUNTED_BYTES));
        text = rest;
        Some(slice)
    })
}

impl log::Host for Context {
    fn emit(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        self.host_call()?;
        let level = match level {
            log::Level::Debug => LogLevel::Debug,
            log::Level::Info => LogLevel::Info,
            log::Level::Warn => LogLevel::Warn,
            log::Level::Error => LogLevel::Error,
        };
        self.log.emit(level, message);
        Ok(())
    }
}

/// Returns the deadline of a question to a model. The component keeps a tenth of its time, at most
/// [`RESERVE`], to continue without an answer.
fn question_deadline(deadline: Instant) -> Instant {
    let left = deadline.saturating_duration_since(Instant::now());
    deadline
        .checked_sub((left / 10).min(RESERVE))
        .unwrap_or(deadline)
}

/// Maximum time that remains for the component after a question.
const RESERVE: Duration = Duration::from_secs(5);

impl model::Host for Context {
    fn available(&mut self) -> wasmtime::Result<Option<model::Info>> {
        self.host_call()?;
        let granted = self.grant.as_ref();
        Ok(granted.map(|grant| convert::model_info(grant.model.info())))
    }

    async fn complete(
        &mut self,
        request: model::Request,
    ) -> wasmtime::Result<Result<model::Completion, model::ModelError>> {
        self.host_call()?;
        let (Some(grant), Some(situation)) = (&self.grant, &self.situation) else {
            return Ok(Err(model::ModelError::Refused(
                "no model was granted to this strategy".to_owned(),
            )));
        };
        let answer = situation
            .spending
            .ask(
                grant,
                convert::question(request),
                situation.conversation.tokenizer(),
                question_deadline(self.deadline),
            )
            .await;
        Ok(answer.map(convert::answer).map_err(convert::model_error))
    }
}
