//! Clients against a server that simulates providers. Limits of times are generous: the machines that run
//! tests are busy.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail the test if a precondition does not hold"
)]

/// Answers, in every protocol.
mod answers;
/// Faults of servers, and that every question ends in time.
mod faults;
/// Keys reach the provider and nobody else.
mod keys;
/// What is retried, and what is not.
mod retries;

use std::time::{Duration, Instant};

use baler_models::clients::{Client, ClientBuilder, KeySource, ModelChoice};
use baler_models::testing::{Reply, ScriptedServer};
use baler_models::{Answer, Model as _, ModelError, Provider, Question};

/// All four protocols.
const PROVIDERS: [Provider; 4] = [
    Provider::OpenAi,
    Provider::Anthropic,
    Provider::Gemini,
    Provider::Compatible,
];

/// More time than any of these answers takes.
const PLENTY: Duration = Duration::from_secs(30);

/// How late an answer may be after its deadline.
const TOLERANCE: Duration = Duration::from_millis(500);

fn server(replies: impl IntoIterator<Item = Reply>) -> ScriptedServer {
    ScriptedServer::start(replies).unwrap()
}

/// A client without a key.
fn builder(provider: Provider, server: &ScriptedServer) -> ClientBuilder {
    let base_url = server.base_url(provider).parse().unwrap();
    match provider {
        Provider::Compatible => {
            Client::builder(ModelChoice::compatible(base_url, "qwen3:8b").unwrap())
        }
        other => {
            Client::builder(ModelChoice::named(other, "some-model").unwrap()).base_url(base_url)
        }
    }
    .key(KeySource::None)
}

fn question() -> Question {
    Question::new("A \"long\" conversation\nwith ünicode.", 99).with_instructions("Summarise.")
}

/// Asks, and asserts that it ended in time.
async fn ask(client: &Client, time: Duration) -> Result<Answer, ModelError> {
    let question = question();
    let start = Instant::now();
    let result = client.ask(&question, time, &|| true).await;
    let took = start.elapsed();
    assert!(took < time + TOLERANCE, "{took:?} of {time:?}: {result:?}");
    result
}

/// Asks a server that gives this reply.
async fn ask_one(provider: Provider, reply: Reply, time: Duration) -> Result<Answer, ModelError> {
    let server = server([]);
    server.set_default_reply(reply);
    ask(&builder(provider, &server).build().unwrap(), time).await
}
