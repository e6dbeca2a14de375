//! A remote strategy: asks it, and converts its answers.

use std::fmt;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::Mutex;

use super::vocabulary::Vocabulary;
use super::wire::{self, May};
use super::{
    CONTRACT, INTROSPECTION_AGE, INTROSPECTION_BYTES, INTROSPECTION_TIME, Operation, Remote,
    RemoteError, TIME,
};
use crate::content_hash::ContentHash;
use crate::error::HostError;
use crate::fault::{Fault, Quantity, RemoteProblem};
use crate::limits::Limits;
use crate::plan::{is_excerptable, is_removable, is_rewritable};
use crate::report::{Decision, Introspection, Report};
use crate::runner::{Call, CallFailure, Runner, Terms};
use crate::situation::Situation;
use crate::strategy_name::StrategyName;
use crate::time_limit::within;

/// A remote strategy, with its cached introspection.
pub(crate) struct Connected {
    /// Content hash of the address, by which faults are counted.
    hash: ContentHash,
    remote: Arc<dyn Remote>,
    /// The cached introspection and its time. Locked during an introspection, so that only one of many
    /// concurrent calls asks for it.
    introspection: Mutex<Option<(Instant, Option<Introspection>)>>,
    vocabulary: std::sync::Mutex<Vocabulary>,
}

impl Connected {
    pub(crate) fn new(remote: Arc<dyn Remote>) -> Self {
        Self {
            hash: ContentHash::of(format!("remote {}", remote.address()).as_bytes()),
            remote,
            introspection: Mutex::default(),
            vocabulary: std::sync::Mutex::default(),
        }
    }

    /// Returns the name in marks and receipts.
    pub(crate) fn name(&self) -> StrategyName {
        match self.remote.name() {
            "" => StrategyName::like("remote", &self.hash),
            name => StrategyName::like(name, &self.hash),
        }
    }

    async fn introspect(
        &self,
        config: Option<&str>,
        limits: &Limits,
    ) -> Result<Introspection, CallFailure> {
        let question = wire::IntrospectRequest {
            contract: CONTRACT.into(),
            config: config.map(raw).transpose()?,
        };
        let said: wire::Introspection = self
            .ask(
                Operation::Introspect,
                to_json(&question)?,
                limits.lifted_bytes.min(INTROSPECTION_BYTES),
                INTROSPECTION_TIME.min(limits.time),
            )
            .await?;
        said.try_into()
    }

    /// Returns the cached introspection, renewed if it is old; `None` if the last attempt failed.
    async fn introspection(&self, limits: &Limits) -> Option<Introspection> {
        let mut cached = self.introspection.lock().await;
        if let Some((when, known)) = &*cached
            && when.elapsed() < INTROSPECTION_AGE
        {
            return known.clone();
        }
        // Most of the time is for the work itself.
        let limits = Limits {
            time: limits.time / 4,
            ..*limits
        };
        let known = self.introspect(None, &limits).await.ok();
        if let Some(known) = &known {
            self.vocabulary().record(known);
        }
        *cached = Some((Instant::now(), known.clone()));
        known
    }

    fn vocabulary(&self) -> MutexGuard<'_, Vocabulary> {
        self.vocabulary
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Clears the cached introspection, as if it were old.
    #[cfg(test)]
    pub(crate) async fn forget(&self) {
        *self.introspection.lock().await = None;
    }

    /// Asks a question about a conversation, within the time that the strategy declares and the host allows.
    async fn work<A: DeserializeOwned>(
        &self,
        question: Operation,
        situation: &Situation,
        strategy: Terms<'_>,
    ) -> Result<A, CallFailure> {
        let limits = strategy.limits;
        let start = Instant::now();
        let wanted = self
            .introspection(limits)
            .await
            .and_then(|said| said.timeout_ms)
            .map_or(TIME, |ms| Duration::from_millis(ms.into()));
        let left = limits.time.saturating_sub(start.elapsed());
        let request = ask(situation, strategy)?;
        self.vocabulary().count_question();
        let answer = self
            .ask(question, request, limits.lifted_bytes, wanted.min(left))
            .await;
        if let Err(CallFailure::Fault(Fault::Remote {
            problem: RemoteProblem::Unreachable | RemoteProblem::NoRoom,
        })) = &answer
        {
            self.vocabulary().uncount_question();
        }
        answer
    }

    async fn ask<A: DeserializeOwned>(
        &self,
        question: Operation,
        request: String,
        most_bytes: usize,
        time: Duration,
    ) -> Result<A, CallFailure> {
        let answer = self.remote.ask(question, request, most_bytes);
        let fault = match within(time, answer).await {
            Err(_) => Fault::timeout(time),
            Ok(Ok(answer)) if answer.len() > most_bytes => too_large(most_bytes),
            // serde_json rejects JSON that is nested too deeply, so it cannot overflow the stack.
            Ok(Ok(answer)) => {
                return serde_json::from_slice(&answer)
                    .map_err(|_| CallFailure::Fault(Fault::OutputMalformed));
            }
            Ok(Err(RemoteError::TooLarge)) => too_large(most_bytes),
            Ok(Err(RemoteError::Malformed)) => Fault::OutputMalformed,
            Ok(Err(RemoteError::Unreachable)) => Fault::Remote {
                problem: RemoteProblem::Unreachable,
            },
            Ok(Err(RemoteError::ConnectTimeout)) => Fault::Remote {
                problem: RemoteProblem::ConnectTimeout,
            },
            Ok(Err(RemoteError::NoRoom)) => Fault::Remote {
                problem: RemoteProblem::NoRoom,
            },
            Ok(Err(RemoteError::Connection)) => Fault::Remote {
                problem: RemoteProblem::Connection,
            },
            Ok(Err(RemoteError::Status(status))) => Fault::Remote {
                problem: RemoteProblem::Status(status),
            },
        };
        Err(CallFailure::Fault(fault))
    }
}

#[async_trait]
impl Runner for Connected {
    fn fault_key(&self) -> Option<&ContentHash> {
        Some(&self.hash)
    }

    fn address(&self) -> Option<&str> {
        Some(self.remote.address())
    }

    async fn compact(&self, terms: Terms<'_>, situation: &Arc<Situation>) -> Call<Report> {
        let start = Instant::now();
        let answer = self.work::<wire::Report>(Operation::Compact, situation, terms);
        Call::of(start, answer.await.and_then(Report::try_from))
    }

    async fn should_compact(&self, terms: Terms<'_>, situation: &Arc<Situation>) -> Call<Decision> {
        let start = Instant::now();
        let answer = self.work::<wire::Decision>(Operation::ShouldCompact, situation, terms);
        Call::of(start, answer.await.map(Decision::from))
    }

    async fn introspect(
        &self,
        config: Option<&str>,
        limits: Limits,
    ) -> Option<Result<Introspection, CallFailure>> {
        Some(Self::introspect(self, config, &limits).await)
    }

    /// Returns what it declared before it saw a conversation; its codes and names may stand in receipts.
    async fn declared(&self, _limits: Limits) -> Option<Introspection> {
        self.vocabulary().declared().cloned()
    }
}

impl fmt::Debug for Connected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connected")
            .field("remote", &self.remote)
            .finish_non_exhaustive()
    }
}

fn too_large(limit: usize) -> Fault {
    Fault::OutputTooLarge {
        what: Quantity::LiftedBytes,
        limit: limit as u64,
    }
}

fn raw(json: &str) -> Result<&RawValue, CallFailure> {
    serde_json::from_str(json).map_err(unwritable)
}

fn to_json(question: &impl serde::Serialize) -> Result<String, CallFailure> {
    serde_json::to_string(question).map_err(unwritable)
}

fn unwritable(_: serde_json::Error) -> CallFailure {
    CallFailure::Host(HostError::NotWritten { what: "question" })
}

/// Writes the question about a conversation.
fn ask(situation: &Situation, strategy: Terms<'_>) -> Result<String, CallFailure> {
    let config = strategy.config;
    let conversation = &situation.conversation;
    to_json(&wire::StrategyRequest {
        contract: CONTRACT.into(),
        name: strategy.name.into(),
        format: conversation.format(),
        conversation: raw(conversation.document())?,
        units: (0..situation.units().len())
            .map(|unit| unit_out(situation, unit))
            .collect(),
        situation: wire::Situation::of(situation, strategy.name),
        policy: situation.request.policy.clone(),
        config: (!config.is_empty()).then(|| raw(config)).transpose()?,
    })
}

fn unit_out(situation: &Situation, index: usize) -> wire::Unit {
    let unit = &situation.units()[index];
    let status = &situation.stay.statuses[index];
    let traits = [
        (status.protected, "protected"),
        (status.pinned, "pinned"),
        (unit.traits.pending, "pending"),
        (status.live, "live"),
        (status.unseen, "unseen"),
        (unit.traits.failed, "failed"),
        (unit.traits.thinking, "thinking"),
        (unit.traits.media, "media"),
        (unit.traits.opaque, "opaque"),
        (unit.traits.calls, "calls"),
        (index < situation.first_unfinished(), "finished"),
    ];
    wire::Unit {
        kind: unit.kind.name().into(),
        turn: unit.turn,
        first_message: unit.first_message,
        messages: unit.messages,
        tokens: situation.tokens_of(index),
        shortest: situation.shortest_tokens_of(index),
        bytes: situation.bytes_of(index),
        media: unit.media,
        traits: traits
            .into_iter()
            .filter(|(applies, _)| *applies)
            .map(|(_, name)| name.into())
            .collect(),
        editable: editable(situation, index),
    }
}

fn editable(situation: &Situation, unit: usize) -> Vec<wire::Editable> {
    let conversation = &situation.conversation;
    let messages = conversation.messages(unit).iter();
    messages
        .zip(conversation.counts(unit))
        .enumerate()
        .flat_map(|(message, (own, counts))| {
            let parts = own.parts.iter().zip(counts.parts.iter()).enumerate();
            parts.filter_map(move |(part, (content, tokens))| {
                let place = (message, part);
                let rights = [
                    (is_rewritable(situation, unit, place), May::Text),
                    (is_excerptable(situation, unit, place), May::Excerpt),
                    (is_removable(situation, unit, own, content), May::Remove),
                ];
                let may: Vec<May> = rights
                    .into_iter()
                    .filter(|(is_allowed, _)| *is_allowed)
                    .map(|(_, may)| may)
                    .collect();
                if may.is_empty() {
                    return None;
                }
                Some(wire::Editable {
                    message,
                    part,
                    tokens: *tokens,
                    may,
                })
            })
        })
        .collect()
}
