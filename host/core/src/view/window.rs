//! When a history is compacted, and to what size.

use std::sync::Arc;

use baler_conversation::Conversation;
use baler_conversation::document::Prefix;

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
    sent: Sent,
}

impl Shown {
    fn new(
        prefixes: &[Prefix],
        conversation: Conversation,
        view: Option<Arc<View>>,
        compaction: Option<Compaction>,
    ) -> Self {
        let sent = Sent {
            history: prefixes.last().copied().unwrap_or_default(),
            view: view.as_deref().map(View::id),
            tokens: conversation.tokens(),
        };
        Self {
            conversation,
            view,
            compaction,
            sent,
        }
    }

    /// Returns what is sent, to note what the provider counts of it ([`Views::note_count`]).
    #[must_use]
    pub const fn sent(&self) -> Sent {
        self.sent
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
        let prefixes = history.prefixes();
        let (conversation, view) = as_before(history, views, &prefixes);
        let by_host = conversation.tokens();
        let count = views.count(&prefixes, view.as_deref());
        let by_provider = count.map_or(by_host, |count| count.of(by_host));
        let is_believed = by_host >= self.at || is_settled(view.as_deref(), history);
        let is_due = by_provider >= self.at && is_believed && !views.is_futile(&prefixes);
        if !overflow && !is_due {
            return Ok(Shown::new(&prefixes, conversation, view, None));
        }
        let conversation = match count {
            Some(_) => conversation.counting(by_provider),
            None => conversation,
        };
        let (budget, trigger) = match overflow {
            true => {
                let refused = of_refused(conversation.tokens());
                (self.budget.min(refused), Trigger::Overflow)
            }
            false => (self.budget, Trigger::Threshold),
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
        let result = &compaction.conversation;
        // Counted as the history is.
        let counted = count.and_then(|_| {
            let document = result.document().to_owned();
            history.read_alike(document, None).ok()
        });
        let result = counted.unwrap_or_else(|| result.clone());
        Ok(Shown::new(&prefixes, result, view, Some(compaction)))
    }
}

/// Messages that must arrive after a compaction before a provider's count alone is a reason for the next one.
const SETTLED_AFTER: usize = 4;

/// Decides whether the newest compaction is long enough ago that a provider's count is believed. What it says directly after
/// one is mostly what no compaction can remove, or nonsense.
fn is_settled(view: Option<&View>, history: &Conversation) -> bool {
    view.is_none_or(|view| history.message_count() >= view.made_at + SETTLED_AFTER)
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
