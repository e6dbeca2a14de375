//! A model over HTTP.

use std::fmt;
use std::time::{Duration, Instant};

use reqwest::header::HeaderMap;
use reqwest::{Method, Request, Url};
use serde_json::{Map, Value};

use super::builder::ClientBuilder;
use super::choice::ModelChoice;
use super::failure::{Failure, Words, judge};
use super::key::Key;
use super::wire::{self, Unread};
use super::{retry, transport};
use crate::{Again, Answer, Asked, Model, ModelError, ModelInfo, Provider, Question};

/// A model that a provider serves.
///
/// | what goes wrong | what comes of it |
/// |---|---|
/// | no connection | asked again for ten seconds while there is leave, then [`ModelError::Unavailable`] |
/// | a broken connection, no answer in time; 408, 409, 425, 429, 500, 502, 503, 504, 520 to 524, 529 | asked again while there is time and leave, then [`ModelError::Unavailable`] |
/// | too long, in the words of a dozen servers; 413 | [`ModelError::TooLong`] |
/// | a redirect; any other status from 400 to 499; `insufficient_quota` | [`ModelError::Refused`] |
/// | any other status from 500 | [`ModelError::Unavailable`], at once |
/// | no JSON, none that makes sense, over 8 MiB, no trusted connection | [`ModelError::Other`] |
///
/// Waiting doubles from half a second to half a minute, at random by up to half, or is what the provider asks
/// for. A call of a tool is no answer: the text is then empty. So it is where the model only thought.
pub struct Client {
    pub(super) http: reqwest::Client,
    pub(super) endpoint: Url,
    pub(super) provider: Provider,
    pub(super) info: ModelInfo,
    pub(super) key: Option<Key>,
    pub(super) headers: HeaderMap,
    pub(super) fields: Map<String, Value>,
    pub(super) attempt_time: Duration,
}

impl Client {
    /// Begins to set a client up.
    #[must_use]
    pub fn builder(choice: ModelChoice) -> ClientBuilder {
        ClientBuilder::new(choice)
    }

    async fn attempt(&self, question: &Question, request: Request) -> Result<Answer, Failure> {
        let words = Words(self.key.as_ref());
        let reply = transport::send(&self.http, request).await?;
        if !(200..300).contains(&reply.status) {
            let complaint = wire::complaint(&reply.body);
            return Err(judge(reply.status, &complaint, reply.told, words));
        }
        match wire::answer(self.provider, &reply.body) {
            Ok(said) => {
                let mut answer = said.into_answer(question);
                // It becomes part of a conversation.
                if let Some(key) = &self.key {
                    answer.text = key.taken_out_of_answer(answer.text);
                }
                Ok(answer)
            }
            // Some gateways complain with status 200.
            Err(Unread::Complaint(complaint)) => {
                let status = complaint.status().unwrap_or(400);
                Err(match judge(status, &complaint, reply.told, words) {
                    Failure::Final(ModelError::Refused(reason)) if complaint.status().is_none() => {
                        Failure::senseless(reason)
                    }
                    failure => failure,
                })
            }
            // It would be as short again, and cost as much.
            Err(Unread::BrokeOff) if reply.has_end => Err(Failure::senseless(
                "the answer ends in the middle of its JSON",
            )),
            Err(Unread::BrokeOff) => Err(Failure::passing("the answer broke off")),
            Err(Unread::Senseless(reason)) => Err(Failure::senseless(words.bounded(&reason))),
        }
    }

    fn request(&self, question: &Question) -> Request {
        let most = question
            .max_output_tokens
            .clamp(1, self.info.max_output_tokens);
        let body = wire::question(self.provider, &self.info.name, question, most, &self.fields);
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

    fn ask<'a>(&'a self, question: &'a Question, time: Duration, again: Again<'a>) -> Asked<'a> {
        Box::pin(async move {
            // A long question takes a moment to be written down.
            let start = Instant::now();
            let first = self.request(question);
            let attempt = || {
                // Bodies of bytes can be had again; none of ours is a stream.
                let request = first.try_clone();
                async move {
                    let request =
                        request.ok_or_else(|| Failure::senseless("the request cannot be made"))?;
                    self.attempt(question, request).await
                }
            };
            let time = time.saturating_sub(start.elapsed());
            retry::within(time, self.attempt_time, again, attempt).await
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
