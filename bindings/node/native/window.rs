//! Windows as JavaScript programs hold them, with the views that they remember.

use std::sync::Arc;

use baler_embedding::{Shown, Window};
use napi::bindgen_prelude::{ClassInstance, Function};
use napi_derive::napi;

use crate::call::{NativeCall, NativeCancel, Output, start};
use crate::conversation::NativeConversation;
use crate::errors::thrown;
use crate::host::NativeHost;
use crate::result::{NativeResult, Placed};
use crate::strategy::{NativeStrategy, chain_of};

/// Keeps what is shown of histories within a number of tokens.
#[napi]
#[derive(Debug)]
pub struct NativeWindow {
    inner: Window,
}

#[napi]
impl NativeWindow {
    /// Makes a window from its options and those of a compaction, as JSON.
    ///
    /// # Errors
    /// No thread is left.
    #[napi(catch_unwind)]
    pub fn open(
        host: &NativeHost,
        chain: Vec<ClassInstance<'_, NativeStrategy>>,
        options: String,
        cancel: &NativeCancel,
        ended: Option<Function<'_, (), ()>>,
    ) -> napi::Result<NativeCall> {
        let (host, chain) = (host.inner.clone(), chain_of(&chain));
        start(cancel, ended, move |cancel| {
            let inner = Window::new(host, chain, &options, cancel)?;
            Ok(Output::Window(Self { inner }))
        })
    }

    /// Makes what to show of a history now. `less`: the provider refused what was shown before as too long. `view`: one
    /// that was stored as JSON; what cannot be read is ignored.
    ///
    /// # Errors
    /// No thread is left.
    #[napi(catch_unwind)]
    pub fn show(
        &self,
        history: &NativeConversation,
        less: bool,
        view: Option<String>,
        cancel: &NativeCancel,
        ended: Option<Function<'_, (), ()>>,
    ) -> napi::Result<NativeCall> {
        let (window, history) = (self.inner.clone(), history.inner.clone());
        start(cancel, ended, move |cancel| {
            let inner = window.show(&history, less, view.as_deref(), cancel)?;
            Ok(Output::Shown(NativeShown { inner }))
        })
    }
}

/// What is shown of a history.
#[napi]
#[derive(Debug)]
pub struct NativeShown {
    inner: Shown,
}

#[napi]
impl NativeShown {
    /// The request to send.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn conversation(&self) -> NativeConversation {
        NativeConversation {
            inner: self.inner.conversation().clone(),
        }
    }

    /// Notes the size of the request as its provider counted it: all tokens of the prompt. What cannot be is ignored.
    #[napi(catch_unwind)]
    pub fn note_count(&self, tokens: i64) {
        self.inner
            .note_count(u64::try_from(tokens).unwrap_or_default());
    }

    /// The compaction that was made now; none if none was due.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn compaction(&self) -> Option<NativeResult> {
        let inner = Arc::clone(self.inner.compaction()?);
        Some(NativeResult { inner })
    }

    /// Whether less than the whole history is shown.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn has_view(&self) -> bool {
        self.inner.has_view()
    }

    /// The view by which the history is shown, as JSON; none if all of it is shown.
    ///
    /// # Errors
    /// It cannot be written, which is a bug.
    #[napi(getter, catch_unwind)]
    pub fn view(&self) -> napi::Result<Option<String>> {
        self.inner.view().map_err(thrown)
    }

    /// Number of messages that the history had when the view was made; 0 without one.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn made_at(&self) -> u32 {
        u32::try_from(self.inner.made_at()).unwrap_or(u32::MAX)
    }

    /// The messages that are shown, in order; indices are those of the history.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn messages(&self) -> Vec<Placed> {
        self.inner.messages().into_iter().map(Placed::of).collect()
    }
}
