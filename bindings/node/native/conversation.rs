//! A conversation that was read.

use baler_embedding::Conversation;
use napi_derive::napi;

/// A conversation that was read, divided into units and counted.
#[napi]
#[derive(Debug)]
pub struct NativeConversation {
    pub(crate) inner: Conversation,
}

#[napi]
impl NativeConversation {
    /// The wire format.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.inner.format()
    }

    /// Tokens of the whole request.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.inner.tokens()
    }

    /// Whether the provider has to see the request as it is: it stores the history, or is asked to compact it itself.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn is_the_providers(&self) -> bool {
        self.inner.is_the_providers()
    }

    /// Whether a rule of the format is broken so that providers refuse the request.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.inner.is_broken()
    }

    /// The request body or the list of messages, as JSON.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn document(&self) -> String {
        self.inner.document().to_owned()
    }

    /// Number of messages.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn message_count(&self) -> u32 {
        u32::try_from(self.inner.message_count()).unwrap_or(u32::MAX)
    }

    /// The broken rules and the repairs, as JSON.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn violations(&self) -> String {
        self.inner.violations().to_string()
    }

    /// Returns the conversation with its broken rules repaired as far as possible.
    #[napi(catch_unwind)]
    #[must_use]
    pub fn repaired(&self) -> Self {
        Self {
            inner: self.inner.repaired(),
        }
    }
}
