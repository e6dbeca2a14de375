//! Questions to JavaScript functions, which are models or strategies.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baler_embedding::{Inbox, Question, Subject};
use napi::bindgen_prelude::Function;
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi_derive::napi;
use serde_json::json;

/// Holds the questions to the functions of one JavaScript thread.
#[napi]
#[derive(Debug)]
pub struct NativeInbox {
    pub(crate) inner: Inbox,
    /// Questions that were fetched and wait for their answers.
    asked: Mutex<HashMap<u32, Question>>,
    next: AtomicU64,
}

/// A question that was fetched.
#[napi(object)]
#[derive(Debug)]
pub struct Fetched {
    /// Its number, for the answer.
    pub id: u32,
    /// The number of the function that is asked.
    pub number: u32,
    /// What is asked, as JSON.
    pub question: String,
}

#[napi]
impl NativeInbox {
    /// Creates an inbox. `wake` is called in the event loop after a question arrived; it does not keep the loop alive.
    ///
    /// # Errors
    /// The function cannot be called from other threads.
    #[napi(constructor, catch_unwind)]
    pub fn new(wake: Function<'_, (), ()>) -> napi::Result<Self> {
        let wake = wake
            .build_threadsafe_function::<()>()
            .weak::<true>()
            .build()?;
        let inner = Inbox::new(move || {
            let _ = wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        });
        Ok(Self {
            inner,
            asked: Mutex::default(),
            next: AtomicU64::new(0),
        })
    }

    /// Fetches the oldest question.
    #[napi(catch_unwind)]
    pub fn fetch(&self) -> Option<Fetched> {
        let (number, question) = self.inner.next(Duration::ZERO)?;
        let told = match &question.subject {
            Subject::Model {
                instructions,
                prompt,
                max_output_tokens,
            } => json!({
                "instructions": instructions,
                "prompt": prompt,
                "maxOutputTokens": max_output_tokens,
            }),
            Subject::Strategy { operation, request } => {
                json!({"operation": operation.name(), "request": request})
            }
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "as many questions never wait at once"
        )]
        let id = self.next.fetch_add(1, Ordering::Relaxed) as u32;
        self.asked().insert(id, question);
        Some(Fetched {
            id,
            number: u32::try_from(number).unwrap_or_default(),
            question: told.to_string(),
        })
    }

    /// Answers a question: with a text, or with what failed. Only the first answer counts.
    #[napi(catch_unwind)]
    pub fn answer(&self, id: u32, text: Option<String>, failed: Option<String>) {
        let question = self.asked().remove(&id);
        if let Some(question) = question {
            let failed = || failed.unwrap_or_else(|| "the function gave no text".to_owned());
            question.answer(text.ok_or_else(failed));
        }
    }
}

impl NativeInbox {
    pub(crate) fn has_question(&self) -> bool {
        !self.inner.is_empty()
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<u32, Question>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
