//! When a history is compacted, and to what size.

use std::sync::Arc;

use baler_conversation::document::Prefix;
use baler_conversation::{Conversation, Role};

use super::count::Sent;
use super::{View, Views};
use crate::compaction::Compaction;
use crate::compactor::{is_sound, of_refused};
use crate::error::HostError;
use crate::host::Host;
use crate::receipt::Receipt;
use crate::request::{Budget, Request, Trigger};
use crate::strategy::Strategy;

/// Keeps what is shown of histories within a number of tokens.
#[derive(Debug, Clone)]
pub struct Window {
    host: Arc<Host>,
    chain: Arc<[Strategy]>,
    /// Tokens of a request from which on to compact.
    at: u32,
    /// Tokens that the result should fit in.
    budget: u32,
    request: Request,
}

/// Error of a window whose budget does not fit the size from which on it compacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a history is compacted from {at} tokens on, so its budget is less than that and more than 0, and not {budget}"
)]
pub struct WindowError {
    /// Tokens from which on to compact.
    pub at: u32,
    /// The budget.
    pub budget: u32,
}

/// What is shown of a history.
#[derive(Debug)]
#[non_exhaustive]
pub struct Shown {
    /// The request to send: the history itself if all of it is shown.
    pub conversation: Conversation,
    /// The view by which it is shown; `None` if all of it is.
    pub view: Option<Arc<View>>,
    /// The compaction of what was shown before; `None` if none was due. It may have made nothing smaller.
    pub compaction: Option<Compaction>,
    /// Whether a compaction was due, and was not tried because one was in vain a few messages ago.
    pub is_held: bool,
    sent: Option<Sent>,
}

impl Shown {
    /// Returns what is sent, to note what the provider counts of it ([`Views::note_count`]); `None` for instructions alone.
    #[must_use]
    pub fn sent(&self) -> Option<Sent> {
        self.sent.clone()
    }

    /// Returns what was done now; `None` if no compaction was due.
    #[must_use]
    pub fn receipt(&self) -> Option<&Receipt> {
        self.compaction.as_ref().map(Compaction::receipt)
    }
}

impl Window {
    /// Creates a window: requests of `at` tokens and more are compacted to `budget` tokens, by `chain`. Both are tokens as the
    /// provider counts them where that is known ([`Views::note_count`]), and otherwise as the host does.
    ///
    /// # Errors
    /// The budget is 0, or not less than `at`.
    pub fn new(
        host: Arc<Host>,
        chain: impl Into<Arc<[Strategy]>>,
        at: u32,
        budget: u32,
    ) -> Result<Self, WindowError> {
        if budget == 0 || budget >= at {
            return Err(WindowError { at, budget });
        }
        Ok(Self {
            host,
            chain: chain.into(),
            at,
            budget,
            request: Request::default(),
        })
    }

    /// Sets what else compactions have to do. Budget and trigger of this request do not count.
    #[must_use]
    pub fn with_request(mut self, request: Request) -> Self {
        self.request = request;
        self
    }

    /// Returns the host that compacts.
    #[must_use]
    pub const fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// Returns the number of tokens from which on a request is compacted.
    #[must_use]
    pub const fn at(&self) -> u32 {
        self.at
    }

    /// Returns what to show of a history now: by its newest view, or by a new one if a compaction is due.
    ///
    /// # Errors
    /// The host or the machine failed.
    pub async fn show(&self, history: &Conversation, views: &Views) -> Result<Shown, HostError> {
        self.shown(history, views, false).await
    }

    /// Like [`Window::show`], after the provider refused what was shown before as too long. The next request is smaller,
    /// unless nothing can be left out.
    ///
    /// # Errors
    /// The host or the machine failed.
    pub async fn show_less(
        &self,
        history: &Conversation,
        views: &Views,
    ) -> Result<Shown, HostError> {
        self.shown(history, views, true).await
    }

    async fn shown(
        &self,
        history: &Conversation,
        views: &Views,
        overflow: bool,
    ) -> Result<Shown, HostError> {
        if is_unknown(history) {
            return Ok(Shown {
                conversation: history.clone(),
                view: None,
                compaction: None,
                is_held: false,
                sent: None,
            });
        }
        let prefixes = history.prefixes();
        let (conversation, view) = as_before(history, views, &prefixes);
        let by_host = conversation.tokens();
        let count = views.count(&prefixes, view.as_deref());
        let by_provider = count.as_ref().map_or(by_host, |count| count.of(by_host));
        let shown = |conversation: Conversation, view: Option<Arc<View>>| Shown {
            sent: Some(Sent {
                history: prefixes.last().copied().unwrap_or_default(),
                view: view.clone(),
                tokens: conversation.tokens(),
            }),
            conversation,
            view,
            compaction: None,
            is_held: by_provider >= self.at,
        };
        let is_due = by_provider >= self.at && !views.is_futile(&prefixes);
        if !overflow && !is_due {
            return Ok(shown(conversation, view));
        }
        let budget = count.map_or(self.budget, |count| count.in_host_tokens(self.budget));
        let (budget, trigger) = match overflow {
            true => (budget.min(of_refused(by_host)), Trigger::Overflow),
            false => (budget, Trigger::Threshold),
        };
        let mut request = self.request.clone().with_trigger(trigger);
        request.budget = Budget::Tokens(budget);
        let compaction = self
            .host
            .compact(&conversation, &self.chain, &request)
            .await?;
        let next = compaction
            .is_compacted()
            .then(|| View::composed(view.as_deref(), &compaction, &prefixes))
            .flatten();
        let view = match next {
            Some(next) => Some(views.remember(next)),
            None => {
                views.note_futile(&prefixes);
                view
            }
        };
        let made = shown(compaction.conversation.clone(), view);
        Ok(Shown {
            compaction: Some(compaction),
            is_held: false,
            ..made
        })
    }
}

/// Decides whether a history holds only instructions, which do not distinguish it from other histories.
fn is_unknown(history: &Conversation) -> bool {
    let mut roles = history.all_messages().iter().map(|message| message.role);
    roles.all(|role| matches!(role, Role::System | Role::Developer))
}

/// Returns what is shown of a history by its newest view, with that view.
fn as_before(
    history: &Conversation,
    views: &Views,
    prefixes: &[Prefix],
) -> (Conversation, Option<Arc<View>>) {
    let shown = views.find(prefixes).and_then(|view| {
        let shown = view.apply_to(history).ok()?;
        // A later output may answer a call that the view does not show.
        is_sound(&shown, history).then_some((shown, Some(view)))
    });
    shown.unwrap_or_else(|| (history.clone(), None))
}
