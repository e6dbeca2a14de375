use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use baler_host::{
    Strategy,
    model::{Model, ModelGrant, ModelInfo},
    remote::{AnswerFuture, Operation, Remote},
};

/// The answer of strategies that decline.
const UNCHANGED: &[u8] = br#"{"outcome":{"unchanged":"not yet"}}"#;

/// A strategy that sleeps, then declines.
#[derive(Debug)]
struct Slow(Duration);

impl Remote for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn address(&self) -> &str {
        "test:slow"
    }

    fn ask(&self, question: Operation, _: String, _: usize) -> AnswerFuture<'_> {
        Box::pin(async move {
            if question == Operation::Compact {
                tokio::time::sleep(self.0).await;
            }
            Ok(UNCHANGED.to_vec())
        })
    }
}

/// A chain of one strategy named `slow`, which takes so many seconds.
pub(crate) fn slow(seconds: f64) -> Vec<Strategy> {
    vec![Strategy::remote(Arc::new(Slow(Duration::from_secs_f64(
        seconds,
    ))))]
}

/// A strategy that never answers, and counts the calls that were cancelled.
#[derive(Debug, Default)]
pub(crate) struct Endless {
    cancelled: AtomicUsize,
}

impl Endless {
    pub(crate) fn chain(self: &Arc<Self>) -> Vec<Strategy> {
        vec![Strategy::remote(self.clone())]
    }

    pub(crate) fn cancelled(&self) -> usize {
        self.cancelled.load(Ordering::SeqCst)
    }
}

/// Counts a call as cancelled when it is dropped.
struct Call<'a>(&'a Endless);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.cancelled.fetch_add(1, Ordering::SeqCst);
    }
}

impl Remote for Endless {
    fn name(&self) -> &str {
        "endless"
    }

    fn address(&self) -> &str {
        "test:endless"
    }

    fn ask(&self, question: Operation, _: String, _: usize) -> AnswerFuture<'_> {
        Box::pin(async move {
            if question == Operation::Compact {
                let _call = Call(self);
                std::future::pending::<()>().await;
            }
            Ok(UNCHANGED.to_vec())
        })
    }
}

/// A strategy with an empty answer, which is malformed.
#[derive(Debug)]
struct Broken;

impl Remote for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn address(&self) -> &str {
        "test:broken"
    }

    fn ask(&self, _: Operation, _: String, _: usize) -> AnswerFuture<'_> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// A chain of one strategy named `broken`, which always faults.
pub(crate) fn broken() -> Vec<Strategy> {
    vec![Strategy::remote(Arc::new(Broken))]
}

/// A strategy that rejects every config, with a message that quotes the conversation of its last call.
#[derive(Debug, Default)]
struct Leaking {
    shown: Mutex<String>,
}

impl Remote for Leaking {
    fn name(&self) -> &str {
        "leaking"
    }

    fn address(&self) -> &str {
        "test:leaking"
    }

    fn ask(&self, question: Operation, request: String, _: usize) -> AnswerFuture<'_> {
        let mut shown = self.shown.lock().expect("no panic");
        let answer = match question {
            Operation::Introspect if request.contains("\"config\"") => {
                let failure = serde_json::json!({"kind": "bad-config", "message": *shown});
                let introspection = serde_json::json!({"config-schema": "{}", "failure": failure});
                introspection.to_string().into_bytes()
            }
            Operation::Introspect => br#"{"config-schema":"{}"}"#.to_vec(),
            Operation::Compact | Operation::ShouldCompact => {
                let start = request.find("by night train").unwrap_or_default();
                *shown = request[start..].chars().take(40).collect();
                UNCHANGED.to_vec()
            }
        };
        drop(shown);
        Box::pin(async move { Ok(answer) })
    }
}

/// A chain of one strategy named `leaking`.
pub(crate) fn leaking() -> Vec<Strategy> {
    vec![Strategy::remote(Arc::new(Leaking::default()))]
}

/// A strategy named `gate` that blocks its thread until it is opened, like work that cannot be
/// interrupted.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_open: bool,
    inside: usize,
    most: usize,
}

impl Gate {
    pub(crate) fn chain(self: &Arc<Self>) -> Vec<Strategy> {
        vec![Strategy::remote(self.clone())]
    }

    pub(crate) fn open(&self) {
        self.state.lock().expect("no panic").is_open = true;
        self.changed.notify_all();
    }

    /// Returns the number of calls that are blocked now.
    pub(crate) fn inside(&self) -> usize {
        self.state.lock().expect("no panic").inside
    }

    /// Returns the largest number of calls that were blocked at the same time.
    pub(crate) fn most(&self) -> usize {
        self.state.lock().expect("no panic").most
    }

    /// Blocks until the gate is opened, but at most 30 s, so that a failing test ends.
    fn pass(&self) {
        let mut state = self.state.lock().expect("no panic");
        state.inside += 1;
        state.most = state.most.max(state.inside);
        let (mut state, _) = self
            .changed
            .wait_timeout_while(state, Duration::from_secs(30), |state| !state.is_open)
            .expect("no panic");
        state.inside -= 1;
    }
}

impl Remote for Gate {
    fn name(&self) -> &str {
        "gate"
    }

    fn address(&self) -> &str {
        "test:gate"
    }

    fn ask(&self, question: Operation, _: String, _: usize) -> AnswerFuture<'_> {
        Box::pin(async move {
            if question == Operation::Compact {
                self.pass();
            }
            Ok(UNCHANGED.to_vec())
        })
    }
}

/// A model that never answers.
#[derive(Debug)]
struct Silent(ModelInfo);

impl Model for Silent {
    fn info(&self) -> &ModelInfo {
        &self.0
    }

    fn ask<'a>(
        &'a self,
        _: &'a baler_models::Question,
        _: Duration,
        _: baler_models::MayRetry<'a>,
    ) -> baler_models::AnswerFuture<'a> {
        Box::pin(std::future::pending())
    }
}

/// A chain of `native:summarize`, which waits for a model that never answers.
pub(crate) fn silent_model() -> Vec<Strategy> {
    let model = Silent(ModelInfo::new("silent", 100_000, 4_000));
    vec![Strategy::summarize(ModelGrant::new(Arc::new(model)))]
}
