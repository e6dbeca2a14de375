use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use baler_host::{Asked, Model, ModelGrant, ModelInfo, Question, Remote, Strategy};

/// What both of them say in the end.
const UNCHANGED: &[u8] = br#"{"outcome":{"unchanged":"not yet"}}"#;

/// A strategy that takes a while.
#[derive(Debug)]
struct Slow(Duration);

impl Remote for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn address(&self) -> &str {
        "test:slow"
    }

    fn ask(&self, question: Question, _: String, _: usize) -> Asked<'_> {
        Box::pin(async move {
            if question == Question::Compact {
                tokio::time::sleep(self.0).await;
            }
            Ok(UNCHANGED.to_vec())
        })
    }
}

pub(crate) fn slow(seconds: f64) -> Vec<Strategy> {
    vec![Strategy::remote(Arc::new(Slow(Duration::from_secs_f64(
        seconds,
    ))))]
}

/// A strategy that answers nothing that can be read.
#[derive(Debug)]
struct Broken;

impl Remote for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn address(&self) -> &str {
        "test:broken"
    }

    fn ask(&self, _: Question, _: String, _: usize) -> Asked<'_> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

pub(crate) fn broken() -> Vec<Strategy> {
    vec![Strategy::remote(Arc::new(Broken))]
}

/// A strategy that takes no config, and says so in the words of the conversation that it was shown
/// last.
#[derive(Debug, Default)]
struct Telling {
    shown: Mutex<String>,
}

impl Remote for Telling {
    fn name(&self) -> &str {
        "telling"
    }

    fn address(&self) -> &str {
        "test:telling"
    }

    fn ask(&self, question: Question, request: String, _: usize) -> Asked<'_> {
        let mut shown = self.shown.lock().expect("no panic");
        let answer = match question {
            Question::Introspect if request.contains("\"config\"") => {
                let failure = serde_json::json!({"kind": "bad-config", "message": *shown});
                let said = serde_json::json!({"config-schema": "{}", "failure": failure});
                said.to_string().into_bytes()
            }
            Question::Introspect => br#"{"config-schema":"{}"}"#.to_vec(),
            Question::Compact | Question::ShouldCompact => {
                let start = request.find("by night train").unwrap_or_default();
                *shown = request[start..].chars().take(40).collect();
                UNCHANGED.to_vec()
            }
        };
        drop(shown);
        Box::pin(async move { Ok(answer) })
    }
}

pub(crate) fn telling() -> Vec<Strategy> {
    vec![Strategy::remote(Arc::new(Telling::default()))]
}

/// A strategy that blocks its thread until it is opened: work that cannot be interrupted.
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

    /// Calls that are blocked now.
    pub(crate) fn inside(&self) -> usize {
        self.state.lock().expect("no panic").inside
    }

    /// The most calls that there were at once.
    pub(crate) fn most(&self) -> usize {
        self.state.lock().expect("no panic").most
    }

    /// Blocks, but not so long that a test which failed would never end.
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

    fn ask(&self, question: Question, _: String, _: usize) -> Asked<'_> {
        Box::pin(async move {
            if question == Question::Compact {
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

/// `native:summarize`, which waits for a model that never answers.
pub(crate) fn asking() -> Vec<Strategy> {
    let model = Silent(ModelInfo::new("silent", 100_000, 4_000));
    vec![Strategy::summarize(ModelGrant::new(Arc::new(model)))]
}
