//! Promises of the four prior systems that need a host, a loop around it and strategies together.
//! docs/prior-systems.md lists every id with the tests that name it.

mod apeira;
mod listed;
mod planck;
mod ptc_runner;
mod puck;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baler_host::request::Policy;
use baler_host::{
    Compactor, CompactorOptions, Strategy,
    compactor::{Step, Triggers},
    conversation::SecretKey,
    model::{ModelError, ModelGrant, ModelInfo},
};
use baler_models::{Answer, AnswerFuture, Finish, MayRetry, Model, Question};
use serde_json::{Value, json};

use crate::support::{bundled, host_beside};

/// A model that says what it was told to, and then the same again and again.
#[derive(Debug)]
struct Script {
    info: ModelInfo,
    replies: Mutex<VecDeque<Result<String, ModelError>>>,
    asked: Mutex<Vec<Question>>,
}

impl Script {
    fn new<'a>(replies: impl IntoIterator<Item = Result<&'a str, ModelError>>) -> Arc<Self> {
        Arc::new(Self {
            info: ModelInfo::new("script", 200_000, 8_000),
            replies: Mutex::new(
                replies
                    .into_iter()
                    .map(|reply| reply.map(str::to_owned))
                    .collect(),
            ),
            asked: Mutex::default(),
        })
    }

    fn down() -> Arc<Self> {
        Self::new([Err(ModelError::Unavailable("nobody is there".to_owned()))])
    }

    fn asked(&self) -> Vec<Question> {
        self.asked.lock().expect("no panic").clone()
    }

    fn grant(self: &Arc<Self>) -> ModelGrant {
        ModelGrant::new(Arc::clone(self) as Arc<dyn Model>)
    }
}

impl Model for Script {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn ask<'a>(&'a self, question: &'a Question, _: Duration, _: MayRetry<'a>) -> AnswerFuture<'a> {
        self.asked.lock().expect("no panic").push(question.clone());
        let mut replies = self.replies.lock().expect("no panic");
        let reply = replies.pop_front().expect("a script has a line");
        if replies.is_empty() {
            replies.push_back(reply.clone());
        }
        let answer = reply.map(|text| Answer::new(text, Finish::Stop));
        Box::pin(std::future::ready(answer))
    }
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

/// So many times a word, about as many tokens.
fn long(word: &str, times: usize) -> String {
    format!("{word} ").repeat(times)
}

/// A compactor of these messages, with one strategy and its config.
async fn compactor(
    messages: &[Value],
    strategy: &str,
    config: &str,
    model: Option<&Arc<Script>>,
    options: CompactorOptions,
) -> Compactor {
    let host = Arc::new(host_beside(|builder| builder.key(SecretKey::new([7; 32]))));
    let strategy = if strategy.starts_with("native:") {
        Strategy::native(strategy).expect("is one")
    } else {
        let loaded = bundled(&host, strategy).await;
        host.configure(loaded, config).await.expect("makes sense")
    };
    let strategy = match model {
        Some(model) => strategy.with_model(model.grant()),
        None => strategy,
    };
    let body = json!({"model": "gpt-4o", "messages": messages});
    let conversation = host.read(body.to_string()).expect("reads");
    Compactor::new(host, conversation, [strategy], options).expect("makes sense")
}

fn by(triggers: Triggers) -> CompactorOptions {
    // As the presets do.
    CompactorOptions::default()
        .with_triggers(triggers)
        .with_policy(Policy::default().with_user_percent(0))
}

fn append(compactor: &mut Compactor, messages: &[Value]) {
    for message in messages {
        compactor
            .append(&message.to_string())
            .expect("is a message");
    }
}

async fn step(compactor: &mut Compactor) -> Step {
    compactor.step().await.expect("no archive that could fail")
}

/// The messages that the model would be sent.
fn sent(compactor: &Compactor) -> Vec<Value> {
    let body: Value = serde_json::from_str(compactor.document()).expect("is JSON");
    body["messages"].as_array().expect("a list").clone()
}

fn text(message: &Value) -> &str {
    message["content"].as_str().unwrap_or_default()
}
