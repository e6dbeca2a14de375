//! The host as JavaScript programs hold it.

use std::sync::Arc;

use baler_embedding::{Host, Model, Settings};
use napi::bindgen_prelude::{ClassInstance, Either, Function, Uint8Array};
use napi_derive::napi;

use crate::call::{NativeCall, NativeCancel, Output, start};
use crate::conversation::NativeConversation;
use crate::errors::thrown;
use crate::functions::NativeInbox;
use crate::result::NativeResult;
use crate::strategy::{NativeStrategy, chain_of};

/// Reads conversations, loads strategies and runs compactions.
#[napi]
#[derive(Debug)]
pub struct NativeHost {
    pub(crate) inner: Host,
}

#[napi]
impl NativeHost {
    /// Creates a host from options by name, as JSON. `model`: the name of a model, or the number of a function of the
    /// thread of `inbox`.
    ///
    /// # Errors
    /// An option is wrong, or the host cannot be built.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        options: String,
        inbox: &NativeInbox,
        model: Option<Either<String, u32>>,
    ) -> napi::Result<Self> {
        let model = model.map(|model| match model {
            Either::A(name) => Model::Named(name),
            Either::B(number) => Model::Function(inbox.inner.function(number.into())),
        });
        let settings = Settings::read(&options, model).map_err(thrown)?;
        let inner = Host::new(settings).map_err(thrown)?;
        Ok(Self { inner })
    }

    /// Reads a conversation from UTF-8 or a text.
    ///
    /// # Errors
    /// No thread is left.
    #[napi(catch_unwind)]
    pub fn read(
        &self,
        document: Either<Uint8Array, String>,
        format: Option<String>,
        used: Option<u32>,
        cancel: &NativeCancel,
        ended: Option<Function<'_, (), ()>>,
    ) -> napi::Result<NativeCall> {
        let host = self.inner.clone();
        let document = match document {
            Either::A(bytes) => bytes.to_vec(),
            Either::B(text) => text.into_bytes(),
        };
        start(cancel, ended, move |cancel| {
            let inner = host.read(document, format.as_deref(), used, cancel)?;
            Ok(Output::Conversation(NativeConversation { inner }))
        })
    }

    /// Compacts a conversation with the strategies of `chain`, in order.
    ///
    /// # Errors
    /// No thread is left.
    #[napi(catch_unwind)]
    pub fn compact(
        &self,
        conversation: &NativeConversation,
        chain: Vec<ClassInstance<'_, NativeStrategy>>,
        options: String,
        cancel: &NativeCancel,
        ended: Option<Function<'_, (), ()>>,
    ) -> napi::Result<NativeCall> {
        let (host, conversation) = (self.inner.clone(), conversation.inner.clone());
        let chain = chain_of(&chain);
        start(cancel, ended, move |cancel| {
            let made = host.compact(&conversation, &chain, &options, cancel)?;
            Ok(Output::Result(NativeResult {
                inner: Arc::new(made),
            }))
        })
    }

    /// Decides whether to compact now; makes JSON.
    ///
    /// # Errors
    /// No thread is left.
    #[napi(catch_unwind)]
    pub fn should_compact(
        &self,
        conversation: &NativeConversation,
        strategy: Option<ClassInstance<'_, NativeStrategy>>,
        options: String,
        cancel: &NativeCancel,
        ended: Option<Function<'_, (), ()>>,
    ) -> napi::Result<NativeCall> {
        let (host, conversation) = (self.inner.clone(), conversation.inner.clone());
        let strategy = strategy.map(|strategy| strategy.inner.clone());
        start(cancel, ended, move |cancel| {
            let is_due = host.should_compact(&conversation, strategy.as_ref(), &options, cancel)?;
            Ok(Output::Text(is_due.to_string()))
        })
    }

    /// Asks a strategy to describe itself; makes JSON.
    ///
    /// # Errors
    /// No thread is left.
    #[napi(catch_unwind)]
    pub fn introspect(
        &self,
        strategy: &NativeStrategy,
        cancel: &NativeCancel,
        ended: Option<Function<'_, (), ()>>,
    ) -> napi::Result<NativeCall> {
        let (host, strategy) = (self.inner.clone(), strategy.inner.clone());
        start(cancel, ended, move |cancel| {
            let told = host.introspect(&strategy, cancel)?;
            Ok(Output::Text(told.to_string()))
        })
    }

    /// Fetches archived content by its reference.
    ///
    /// # Errors
    /// No thread is left.
    #[napi(catch_unwind)]
    pub fn expand(
        &self,
        reference: String,
        cancel: &NativeCancel,
        ended: Option<Function<'_, (), ()>>,
    ) -> napi::Result<NativeCall> {
        let host = self.inner.clone();
        start(cancel, ended, move |cancel| {
            host.expand(&reference, cancel).map(Output::Text)
        })
    }

    /// Restores the conversation before a compaction, by the reference in its receipt.
    ///
    /// # Errors
    /// No thread is left.
    #[napi(catch_unwind)]
    pub fn undo(
        &self,
        reference: String,
        cancel: &NativeCancel,
        ended: Option<Function<'_, (), ()>>,
    ) -> napi::Result<NativeCall> {
        let host = self.inner.clone();
        start(cancel, ended, move |cancel| {
            host.undo(&reference, cancel).map(Output::Text)
        })
    }
}
