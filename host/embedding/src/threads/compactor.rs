//! One conversation over time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baler_host::CompactorOptions;
use baler_host::compactor::{CompactorConfig, Step};
use serde_json::{Value, json};

use super::call::Cancel;
use super::host::Host;
use super::strategy::Strategy;
use crate::conversation::Conversation;
use crate::error::{Error, Kind};
use crate::options;

/// Keeps one conversation within its window over time. Calls from several threads take turns.
#[derive(Debug, Clone)]
pub struct Compactor(Arc<Mutex<baler_host::Compactor>>);

/// Reads a user's setting with a preset, as JSON; returns its `strategy`, `config` and `options`.
///
/// # Errors
/// The setting is wrong, or off.
pub fn read_setting(setting: &str) -> Result<Value, Error> {
    let wrong = |told| Error::new(Kind::Option, told);
    let read = CompactorConfig::from_json(setting);
    let read = read.map_err(|error| wrong(baler_host::with_causes(&error)))?;
    let CompactorConfig::On {
        strategy,
        config,
        options,
        ..
    } = read
    else {
        return Err(wrong("a setting with a preset is on".to_owned()));
    };
    Ok(json!({"strategy": strategy, "config": config, "options": options}))
}

impl Compactor {
    /// Creates a compactor for a conversation. `options` are JSON.
    ///
    /// # Errors
    /// An option is wrong, or a strategy cannot be used.
    pub fn start(
        host: &Host,
        conversation: &Conversation,
        chain: &[Strategy],
        options: &str,
        cancel: &Cancel,
    ) -> Result<Self, Error> {
        let (host, chain, options) = ready(host, chain, options, cancel)?;
        let made = baler_host::Compactor::new(host, conversation.0.clone(), chain, options)?;
        Ok(Self(Arc::new(Mutex::new(made))))
    }

    /// Continues from a text that [`Compactor::save`] returned.
    ///
    /// # Errors
    /// Those of [`Compactor::start`], or the text was not saved by a compactor.
    pub fn resume(
        host: &Host,
        saved: &str,
        chain: &[Strategy],
        options: &str,
        cancel: &Cancel,
    ) -> Result<Self, Error> {
        let (host, chain, options) = ready(host, chain, options, cancel)?;
        let made = baler_host::Compactor::resume(host, saved, chain, options)?;
        Ok(Self(Arc::new(Mutex::new(made))))
    }

    /// Appends messages, each as JSON.
    ///
    /// # Errors
    /// One of them is not a message; those before it are appended.
    pub fn append(&self, messages: &[String]) -> Result<(), Error> {
        let messages = messages.iter().map(String::as_str);
        Ok(self.lock().append_all(messages)?)
    }

    /// Notes the tokens that the provider reported for its newest response.
    pub fn reported(&self, tokens: u32) {
        self.lock().reported(tokens);
    }

    /// Compacts if a compaction is due; says what it did.
    ///
    /// # Errors
    /// What would be removed could not be archived.
    pub fn step(&self, cancel: &Cancel) -> Result<Value, Error> {
        let mut compactor = self.lock();
        cancel.wait(async { Ok(told(&compactor.step().await?)) })
    }

    /// Compacts after the provider refused the request as too long.
    ///
    /// # Errors
    /// Those of [`Compactor::step`].
    pub fn overflowed(&self, cancel: &Cancel) -> Result<Value, Error> {
        let mut compactor = self.lock();
        cancel.wait(async { Ok(told(&compactor.overflowed().await?)) })
    }

    /// Compacts now. `wish`: what to keep in mind.
    ///
    /// # Errors
    /// Those of [`Compactor::step`].
    pub fn compact_now(&self, wish: Option<&str>, cancel: &Cancel) -> Result<Value, Error> {
        let mut compactor = self.lock();
        cancel.wait(async { Ok(told(&compactor.compact_now(wish).await?)) })
    }

    /// The request body to send, as JSON.
    #[must_use]
    pub fn document(&self) -> String {
        self.lock().document().to_owned()
    }

    /// All messages that were ever appended, each as JSON.
    #[must_use]
    pub fn history(&self) -> Vec<String> {
        self.lock().history().map(str::to_owned).collect()
    }

    /// Tokens of the next request.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.lock().tokens()
    }

    /// Number of compactions that changed the conversation.
    #[must_use]
    pub fn compactions(&self) -> usize {
        self.lock().compactions()
    }

    /// Returns all that [`Compactor::resume`] needs, as a text.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(&self) -> Result<String, Error> {
        let saved = self.lock().save();
        saved.map_err(|error| Error::host(baler_host::with_causes(&error)))
    }

    fn lock(&self) -> MutexGuard<'_, baler_host::Compactor> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Parts = (
    Arc<baler_host::Host>,
    Vec<baler_host::Strategy>,
    CompactorOptions,
);

/// Returns what a compactor is made of.
fn ready(host: &Host, chain: &[Strategy], options: &str, cancel: &Cancel) -> Result<Parts, Error> {
    let live = host.live()?;
    let options = options::of_compactor(options, &live.policy)?;
    let chain = cancel.wait(live.chain(chain))?;
    Ok((Arc::clone(&live.host), chain, options))
}

fn told(step: &Step) -> Value {
    json!({
        "is-compacted": step.is_compacted(),
        "pressure": step.pressure.map(|pressure| format!("{pressure:?}").to_lowercase()),
        "held": step.held,
        "receipts": step.receipts,
    })
}
