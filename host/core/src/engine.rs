//! Components that the program around the host runs itself, in an engine of its own: those of a browser's page, whose
//! components are JavaScript's. The host checks and applies what they answer like the answers of its own sandbox; limits of
//! fuel, time and memory are the engine's.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::content_hash::ContentHash;
use crate::fault::{Fault, Trap};
use crate::limits::Limits;
use crate::native::history;
use crate::remote::{Operation, wire};
use crate::report::{Decision, Introspection, Report};
use crate::runner::{Call, CallFailure, Runner, Terms};
use crate::situation::Situation;

/// The future of [`Engine::ask`]: the answer in the JSON of `docs/serve.md`.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<String, Trapped>> + Send + 'a>>;

/// The component trapped, or its engine failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trapped;

/// Runs one component.
pub trait Engine: fmt::Debug + Send + Sync {
    /// The name for marks and receipts.
    fn name(&self) -> &str;

    /// The SHA-256 of the component's file, by which faults are counted.
    fn content_hash(&self) -> ContentHash;

    /// Calls an operation of the component, and returns what it returned.
    fn ask(&self, call: EngineCall) -> Answering<'_>;
}

/// A call of a component, and what the component may ask the host meanwhile: the functions of the contract's `history` and
/// `tokenizer`. Texts are JSON with the names of the contract in camel case; a variant is an object with `tag` and `val`,
/// flags are a number.
#[derive(Debug, Clone)]
pub struct EngineCall {
    /// The operation.
    pub operation: Operation,
    /// The config as JSON text; empty if there is none. An introspection without one checks none.
    pub config: String,
    name: String,
    situation: Option<Arc<Situation>>,
}

impl EngineCall {
    /// The argument `situation`; `None` for an introspection.
    #[must_use]
    pub fn situation(&self) -> Option<String> {
        let situation = self.situation.as_deref()?;
        Some(history::situation(situation, &self.name).to_string())
    }

    /// The answer of `units`.
    #[must_use]
    pub fn units(&self) -> String {
        let units = self.situation.as_deref().map(history::units);
        units.unwrap_or_default().to_string()
    }

    /// The answer of `read`.
    #[must_use]
    pub fn read(&self, first: u32, count: u32) -> String {
        let read = |situation: &Arc<Situation>| history::read(situation, first, count);
        self.situation.as_ref().map_or(json!([]), read).to_string()
    }

    /// The answer of `reference`.
    #[must_use]
    pub fn reference(&self, unit: u32) -> Option<String> {
        self.situation.as_ref()?.reference(unit as usize)
    }

    /// The answer of `tools`.
    #[must_use]
    pub fn tools(&self) -> String {
        let tools = |situation: &Arc<Situation>| history::tools(situation);
        self.situation.as_ref().map_or(json!([]), tools).to_string()
    }

    /// The answer of `count`.
    #[must_use]
    pub fn count(&self, text: &str) -> u32 {
        self.situation.as_ref().map_or(0, |situation| {
            situation.conversation.tokenizer().count(text)
        })
    }
}

/// A component in an engine.
pub(crate) struct Engaged {
    hash: ContentHash,
    engine: Arc<dyn Engine>,
}

impl Engaged {
    pub(crate) fn new(engine: Arc<dyn Engine>) -> Self {
        let hash = engine.content_hash();
        Self { hash, engine }
    }

    pub(crate) const fn hash(&self) -> &ContentHash {
        &self.hash
    }

    async fn ask<A: DeserializeOwned>(
        &self,
        operation: Operation,
        (name, config): (&str, &str),
        situation: Option<&Arc<Situation>>,
    ) -> Result<A, CallFailure> {
        let call = EngineCall {
            operation,
            config: config.to_owned(),
            name: name.to_owned(),
            situation: situation.cloned(),
        };
        let answer = self.engine.ask(call).await;
        let answer = answer.map_err(|Trapped| {
            let trap = Trap::Other;
            CallFailure::Fault(Fault::Trap { trap })
        })?;
        serde_json::from_str(&answer).map_err(|_| CallFailure::Fault(Fault::OutputMalformed))
    }

    async fn introspection(&self, config: Option<&str>) -> Result<Introspection, CallFailure> {
        let terms = (self.engine.name(), config.unwrap_or_default());
        let said: wire::Introspection = self.ask(Operation::Introspect, terms, None).await?;
        said.try_into()
    }
}

#[async_trait]
impl Runner for Engaged {
    fn fault_key(&self) -> Option<&ContentHash> {
        Some(&self.hash)
    }

    async fn compact(&self, terms: Terms<'_>, situation: &Arc<Situation>) -> Call<Report> {
        let start = Instant::now();
        let own = (terms.name, terms.config);
        let answer = self.ask::<wire::Report>(Operation::Compact, own, Some(situation));
        Call::of(start, answer.await.and_then(Report::try_from))
    }

    async fn should_compact(&self, terms: Terms<'_>, situation: &Arc<Situation>) -> Call<Decision> {
        let start = Instant::now();
        let own = (terms.name, terms.config);
        let answer = self.ask::<wire::Decision>(Operation::ShouldCompact, own, Some(situation));
        Call::of(start, answer.await.map(Decision::from))
    }

    async fn introspect(
        &self,
        config: Option<&str>,
        _limits: Limits,
    ) -> Option<Result<Introspection, CallFailure>> {
        Some(self.introspection(config).await)
    }

    async fn declared(&self, _limits: Limits) -> Option<Introspection> {
        self.introspection(None).await.ok()
    }
}

impl fmt::Debug for Engaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engaged")
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Host;
    use crate::receipt::AttemptResult;
    use crate::request::{Budget, Request};
    use crate::strategy::Strategy;

    /// Keeps the first unit and the last, by what the host says of the conversation; traps if told so.
    #[derive(Debug)]
    struct Ends {
        traps: bool,
    }

    impl Engine for Ends {
        fn name(&self) -> &str {
            "ends"
        }

        fn content_hash(&self) -> ContentHash {
            ContentHash::new([7; 32])
        }

        fn ask(&self, call: EngineCall) -> Answering<'_> {
            Box::pin(async move {
                if self.traps {
                    return Err(Trapped);
                }
                if call.operation == Operation::Introspect {
                    assert_eq!(call.situation(), None);
                    return Ok(json!({"name": "ends", "version": "1"}).to_string());
                }
                let read = |text: &str| serde_json::from_str(text).expect("JSON");
                let units: serde_json::Value = read(&call.units());
                let situation: serde_json::Value = read(&call.situation().expect("there is one"));
                assert!(situation["budget"].as_u64() < situation["used"].as_u64());
                let last = units["kinds"].as_array().expect("a list").len() - 1;
                let first: serde_json::Value = read(&call.read(0, 1));
                let said = &first[0][0]["parts"][0]["content"];
                assert_eq!(
                    said,
                    &json!({"tag": "text", "val": "Count the boats. 船を数えて。"})
                );
                assert_eq!(first[0][0]["role"], "user");
                assert!(call.count("boats") > 0);
                let keep = |first: usize| json!({"keep": {"first": first, "count": 1}});
                let pieces = json!([keep(0), keep(last)]);
                Ok(json!({"outcome": {"compacted": {"pieces": pieces}}}).to_string())
            })
        }
    }

    async fn attempts(traps: bool) -> (Vec<AttemptResult>, usize) {
        let mut messages =
            vec![json!({"role": "user", "content": "Count the boats. 船を数えて。"})];
        messages.extend((0..40).map(|quay| {
            let told = format!("Quay {quay}: {}", "three boats and a barge ".repeat(10));
            json!({"role": "assistant", "content": told})
        }));
        messages.push(json!({"role": "user", "content": "And now?"}));
        let host = Host::builder().build().expect("a host");
        let conversation = host
            .read(json!({"model": "m", "messages": messages}).to_string())
            .expect("reads");
        let request = Request::new(Budget::Share(0.3));
        let chain = [Strategy::run_by(Arc::new(Ends { traps }))];
        let made = host.compact(&conversation, &chain, &request).await;
        let made = made.expect("ends");
        let attempts = made.receipt().attempts.iter();
        let results = attempts.map(|attempt| attempt.result.clone()).collect();
        (results, made.conversation().message_count())
    }

    #[tokio::test]
    async fn a_plan_of_another_engine_is_checked_and_applied() {
        let (results, messages) = attempts(false).await;
        assert!(
            matches!(results[..], [AttemptResult::Accepted]),
            "{results:?}"
        );
        assert_eq!(messages, 2);
    }

    #[tokio::test]
    async fn a_component_that_traps_there_is_replaced() {
        let (results, messages) = attempts(true).await;
        let trap = Trap::Other;
        let expected = Fault::Trap { trap };
        assert!(
            matches!(&results[..], [AttemptResult::Fault { fault }, AttemptResult::Accepted] if *fault == expected),
            "{results:?}"
        );
        assert!(messages > 2);
    }
}
