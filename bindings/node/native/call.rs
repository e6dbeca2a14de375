//! Calls: work in a thread of its own, whose outcome JavaScript fetches.

use std::time::Duration;

use baler_embedding::{Call, Error};
use napi::bindgen_prelude::{Either6, Function, Status};
use napi_derive::napi;

use crate::compactor::NativeCompactor;
use crate::conversation::NativeConversation;
use crate::errors::thrown;
use crate::functions::NativeInbox;
use crate::result::NativeResult;
use crate::window::{NativeShown, NativeWindow};

/// Ends a call.
#[napi]
#[derive(Debug)]
pub struct NativeCancel {
    pub(crate) inner: baler_embedding::Cancel,
}

#[napi]
impl NativeCancel {
    /// Creates a handle for one call. `seconds`: time after which the host's own work ends.
    ///
    /// # Errors
    /// The number is none of seconds.
    #[napi(constructor, catch_unwind)]
    pub fn new(seconds: Option<f64>) -> napi::Result<Self> {
        let inner = baler_embedding::Cancel::new(seconds).map_err(thrown)?;
        Ok(Self { inner })
    }

    /// Ends the call.
    #[napi]
    pub fn cancel(&self) {
        self.inner.cancel();
    }
}

/// What a call makes.
#[derive(Debug)]
pub(crate) enum Output {
    Conversation(NativeConversation),
    Result(NativeResult),
    Shown(NativeShown),
    Window(NativeWindow),
    Compactor(NativeCompactor),
    /// JSON, or another text.
    Text(String),
}

/// Work that runs.
#[napi]
#[derive(Debug)]
pub struct NativeCall {
    inner: Call<Output>,
}

#[napi]
impl NativeCall {
    /// Waits until the call has ended or a question arrived in the inbox; returns whether it has ended. It blocks the
    /// thread.
    #[napi(catch_unwind)]
    #[must_use]
    pub fn wait(&self, inbox: &NativeInbox) -> bool {
        while !self.inner.wait_until_ended(Duration::from_millis(5)) {
            if inbox.has_question() {
                return false;
            }
        }
        true
    }

    /// Fetches the outcome of a call that has ended.
    ///
    /// # Errors
    /// Those of the work.
    #[napi(catch_unwind)]
    pub fn take(
        &self,
    ) -> napi::Result<
        Either6<
            NativeConversation,
            NativeResult,
            NativeShown,
            NativeWindow,
            NativeCompactor,
            String,
        >,
    > {
        let outcome = self.inner.wait(Duration::ZERO);
        let missing = || napi::Error::new(Status::GenericFailure, "the call has not ended");
        Ok(match outcome.ok_or_else(missing)?.map_err(thrown)? {
            Output::Conversation(made) => Either6::A(made),
            Output::Result(made) => Either6::B(made),
            Output::Shown(made) => Either6::C(made),
            Output::Window(made) => Either6::D(made),
            Output::Compactor(made) => Either6::E(made),
            Output::Text(made) => Either6::F(made),
        })
    }
}

/// Starts work. `ended` is called in the event loop, which goes on until then.
pub(crate) fn start(
    cancel: &NativeCancel,
    ended: Option<Function<'_, (), ()>>,
    work: impl FnOnce(&baler_embedding::Cancel) -> Result<Output, Error> + Send + 'static,
) -> napi::Result<NativeCall> {
    let told = ended
        .map(|ended| ended.build_threadsafe_function::<()>().build())
        .transpose()?;
    let own = cancel.inner.clone();
    let tell = move || {
        if let Some(told) = told {
            // Nobody listens any more if the process ends.
            let _ = told.call(
                (),
                napi::threadsafe_function::ThreadsafeFunctionCallMode::NonBlocking,
            );
        }
    };
    let inner = Call::start(&cancel.inner, tell, move || work(&own)).map_err(thrown)?;
    Ok(NativeCall { inner })
}
