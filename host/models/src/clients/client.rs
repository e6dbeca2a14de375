//! A model over HTTP.

use std::fmt;
use std::time::{Duration, Instant};

use reqwest::header::HeaderMap;
use reqwest::{Method, Request, Url};
use serde_json::{Map, Value};

use super::builder::ClientBuilder;
use super::choice::ModelChoice;
use super::failure::{Failure, Redactor, classify};
use super::key::Key;
use super::wire::{self, Unusable};
use super::{retry, transport};
use crate::{Answer, AnswerFuture, MayRetry, Model, ModelError, ModelInfo, Provider, Question};

/// A model that a provider serves over HTTP.
///
/// | problem | result |
/// |---|---|
/// | no connection | asked again for up to ten seconds, then [`ModelError::Unavailable`] |
/// | broken connection, no answer in time; status 408, 409, 425, 429, 500, 502, 503, 504, 520 to 524, 529 | asked again, at most eight times, then [`ModelError::Unavailable`] |
/// | question too long, in any of about 20 wordings; status 413 | [`ModelError::TooLong`] |
/// | redirect; any other status from 400 to 499; `insufficient_quota` | [`ModelError::Refused`] |
/// | any other status from 500 to 599 | [`ModelError::Unavailable`], without another attempt |
/// | not JSON, JSON of another shape, more than 8 MiB | [`ModelError::InvalidAnswer`] |
/// | untrusted certificate | [`ModelError::InsecureConnection`] |
///
/// Every retry needs time and the caller's permission ([`MayRetry`]). The pause doubles from half a second to
/// half a minute, reduced at random by up to half; or it is what the provider asks for. The text of an answer
/// is empty if the model called a tool, or only thought.
pub struct Client {
    pub(super) http: reqwest::Client,
    pub(super) endpoint: Url,
    pub(super) provider: Provider,
    pub(super) info: ModelInfo,
    pub(super) key: Option<Key>,
    pub(super) headers: HeaderMap,
    pub(super) extra_fields: Map<String, Value>,
    pub(super) attempt_timeout: Duration,
}

impl Client {
    /// Begins to set up a client.
    #[must_use]
    pub fn builder(choice: ModelChoice) -> ClientBuilder {
        ClientBuilder::new(choice)
    }

    async fn attempt(&self, question: &Question, request: Request) -> Result<Answer, Failure> {
        let redactor = Redactor(self.key.as_ref());
        let reply = transport::send(&self.http, request).await?;
        if !(200..300).contains(&reply.status) {
            let body = wire::error_body(&reply.body);
            return Err(classify(reply.status, &body, reply.retry_after, redactor));
        }
        match wire::answer(self.provider, &reply.body) {
            Ok(reported) => {
                let mut answer = reported.into_answer(question);
                // The answer becomes part of a conversation.
                if let Some(key) = &self.key {
                    answer.text = key.redact_answer(answer.text);
                }
                Ok(answer)
            }
            // Some gateways report errors with status 200.
            Err(Unusable::Error(body)) => {
                let status = body.status().unwrap_or(400);
                Err(match classify(status, &body, reply.retry_after, redactor) {
                    Failure::Final(ModelError::Refused(reason)) if body.status().is_none() => {
                        Failure::invalid(reason)
                    }
                    failure => failure,
                })
            }
            // Another attempt would probably end in the same place, and cost as much.
            Err(Unusable::BrokeOff) if reply.has_end => Err(Failure::invalid(
                "the answer ends in the middle of its JSON",
            )),
            Err(Unusable::BrokeOff) => Err(Failure::transient("the answer broke off")),
            Err(Unusable::Invalid(reason)) => Err(Failure::invalid(redactor.bounded(&reason))),
        }
    }

    fn request(&self, question: &Question) -> Request {
        let max_tokens = question
            .max_output_tokens
            .clamp(1, self.info.max_output_tokens);
        let body = wire::question(
            self.provider,
            &self.info.name,
            question,
            max_tokens,
            &self.extra_fields,
        );
        let mut request = Request::new(Method::POST, self.endpoint.clone());
        *request.headers_mut() = self.headers.clone();
        *request.body_mut() = Some(body.into());
        request
    }
}

impl Model for Client {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn ask<'a>(
        &'a self,
        question: &'a Question,
        time: Duration,
        may_retry: MayRetry<'a>,
    ) -> AnswerFuture<'a> {
        Box::pin(async move {
            // Writing a long question takes time, too.
            let start = Instant::now();
            let first = self.request(question);
            let attempt = || {
                // Cloning fails only for bodies that are streams; this one is bytes.
                let request = first.try_clone();
                async move {
                    let request = request.ok_or(Failure::Final(ModelError::InvalidRequest))?;
                    self.attempt(question, request).await
                }
            };
            let time = time.saturating_sub(start.elapsed());
            retry::within(time, self.attempt_timeout, may_retry, attempt).await
        })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("endpoint", &self.endpoint.as_str())
            .field("info", &self.info)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
