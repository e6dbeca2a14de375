//! The compactor as JavaScript programs hold it.

use baler_embedding::{Compactor, read_setting};
use napi::bindgen_prelude::{ClassInstance, Function};
use napi_derive::napi;

use crate::call::{NativeCall, NativeCancel, Output, start};
use crate::conversation::NativeConversation;
use crate::errors::thrown;
use crate::host::NativeHost;
use crate::strategy::{NativeStrategy, chain_of};

/// Keeps one conversation within its window over time. Calls take turns.
#[napi]
#[derive(Debug)]
pub struct NativeCompactor {
    inner: Compactor,
}

#[napi]
impl NativeCompactor {
    /// Makes a compactor for a conversation.
    ///
    /// # Errors
    /// No thread is left.
    #[napi(catch_unwind)]
    pub fn begin(
        host: &NativeHost,
        conversation: &NativeConversation,
        chain: Vec<ClassInstance<'_, NativeStrategy>>,
        options: String,
        cancel: &NativeCancel,
        ended: Option<Function<'_, (), ()>>,
    ) -> napi::Result<NativeCall> {
        let (host, conversation) = (host.inner.clone(), conversation.inner.clone());
        let chain = chain_of(&chain);
        start(cancel, ended, move |cancel| {
            let inner = Compactor::start(&host, &conversation, &chain, &options, cancel)?;
            Ok(Output::Compactor(Self { inner }))
        })
    }

    /// Makes one that continues from a text that `save` returned.
    ///
    /// # Errors
    /// No thread is left.
    #[napi(catch_unwind)]
    pub fn resume(
        host: &NativeHost,
        saved: String,
        chain: Vec<ClassInstance<'_, NativeStrategy>>,
        options: String,
        cancel: &NativeCancel,
        ended: Option<Function<'_, (), ()>>,
    ) -> napi::Result<NativeCall> {
        let (host, chain) = (host.inner.clone(), chain_of(&chain));
        start(cancel, ended, move |cancel| {
            let inner = Compactor::resume(&host, &saved, &chain, &options, cancel)?;
            Ok(Output::Compactor(Self { inner }))
        })
    }

    /// Reads a user's setting with a preset; returns its strategy, config and options as JSON.
    ///
    /// # Errors
    /// The setting is wrong.
    #[napi(catch_unwind)]
    pub fn setting(setting: String) -> napi::Result<String> {
        let read = read_setting(&setting).map_err(thrown)?;
        Ok(read.to_string())
    }

    /// Appends messages, each as JSON.
    ///
    /// # Errors
    /// One of them is not a message; those before it are appended.
    #[napi(catch_unwind)]
    pub fn append(&self, messages: Vec<String>) -> napi::Result<()> {
        self.inner.append(&messages).map_err(thrown)
    }

    /// Notes the tokens that the provider reported for its newest response.
    #[napi(catch_unwind)]
    pub fn reported(&self, tokens: u32) {
        self.inner.reported(tokens);
    }

    /// Compacts: `step` if a compaction is due, `overflow` after the provider refused the request as too long, `now` in any
    /// case. Makes JSON. `wish`: what to keep in mind, for `now`.
    ///
    /// # Errors
    /// No thread is left.
    #[napi(catch_unwind)]
    pub fn compact(
        &self,
        why: String,
        wish: Option<String>,
        cancel: &NativeCancel,
        ended: Option<Function<'_, (), ()>>,
    ) -> napi::Result<NativeCall> {
        let compactor = self.inner.clone();
        start(cancel, ended, move |cancel| {
            let step = match why.as_str() {
                "overflow" => compactor.overflowed(cancel)?,
                "now" => compactor.compact_now(wish.as_deref(), cancel)?,
                _ => compactor.step(cancel)?,
            };
            Ok(Output::Text(step.to_string()))
        })
    }

    /// The request body to send, as JSON.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn document(&self) -> String {
        self.inner.document()
    }

    /// All messages that were ever appended, each as JSON.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn history(&self) -> Vec<String> {
        self.inner.history()
    }

    /// Tokens of the next request.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.inner.tokens()
    }

    /// Number of compactions that changed the conversation.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn compactions(&self) -> u32 {
        u32::try_from(self.inner.compactions()).unwrap_or(u32::MAX)
    }

    /// Returns all that `resume` needs, as a text.
    ///
    /// # Errors
    /// It cannot be written.
    #[napi(catch_unwind)]
    pub fn save(&self) -> napi::Result<String> {
        self.inner.save().map_err(thrown)
    }
}
