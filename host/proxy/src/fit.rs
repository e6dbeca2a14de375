//! What goes on in place of a request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::http::HeaderMap;
use baler_host::Conversation;
use baler_host::conversation::ReadOptions;
use baler_host::receipt::Outcome;
use baler_host::view::{Shown, View, Views, Window};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::record::Record;
use crate::session::{self, Action};
use crate::stored::Stored;

/// A request as it goes on.
pub(crate) struct Fit {
    /// The body; `None` for the one that came.
    pub(crate) body: Option<Bytes>,
    /// By which view it is shown, of which history.
    shown_by: Option<(Arc<View>, Box<Conversation>)>,
    /// What was done is written down here at once: whoever asked may have left by then.
    pub(crate) record: Record,
}

impl Fit {
    pub(crate) const fn passed(record: Record) -> Self {
        Self {
            body: None,
            shown_by: None,
            record,
        }
    }

    /// Returns the same with a reason.
    fn because(self, why: &str) -> Self {
        Self {
            record: self.record.because(why),
            ..self
        }
    }
}

/// Fits requests into the window.
#[derive(Debug)]
pub(crate) struct Fitter {
    pub(crate) window: Window,
    /// Whether several people share the proxy. Their keys distinguish them.
    is_shared: bool,
    views: Mutex<HashMap<Owner, Arc<Views>>>,
    stored: Option<Stored>,
    /// Threads that work at once.
    slots: Semaphore,
}

/// Whose histories views are of: a hash of the upstream and, if the proxy is shared, of the keys that the client sends.
type Owner = [u8; 32];

/// Owners whose views are remembered at once.
const OWNERS: usize = 1_024;

/// The headers in which clients show who they are to providers.
const KEYS: [&str; 4] = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];

/// Bytes of the largest body that is worked on where it arrives.
const INLINE: usize = 16 << 10;

impl Fitter {
    pub(crate) fn new(
        window: Window,
        is_shared: bool,
        stored: Option<Stored>,
        slots: usize,
    ) -> Self {
        let views = Arc::<Views>::default();
        for view in stored.iter().flat_map(Stored::read) {
            views.remember(view);
        }
        Self {
            window,
            is_shared,
            views: Mutex::new(HashMap::from([(Owner::default(), views)])),
            stored,
            slots: Semaphore::new(slots.max(1)),
        }
    }

    /// Returns what goes on in place of a body; `None` if the work failed, and its record with it. `less`: the provider
    /// refused what went on before as too long.
    pub(crate) async fn fit(
        self: &Arc<Self>,
        record: Record,
        headers: &HeaderMap,
        body: Bytes,
        less: bool,
    ) -> Option<Fit> {
        let views = self.views_of(&record.exchange.upstream, headers);
        let named = session::named(headers);
        if body.len() <= INLINE && !less {
            return Some(self.fit_now(&views, record, named, &body, less).await);
        }
        let begin = Instant::now();
        let _slot = self.slots.acquire().await.ok()?;
        let (fitter, runtime) = (Arc::clone(self), Handle::current());
        // What a strategy does to a thread ends there. A client that leaves does not end the work, nor its record.
        let work = tokio::task::spawn_blocking(move || {
            let fit = fitter.fit_now(&views, record, named, &body, less);
            let mut fit = runtime.block_on(fit);
            fit.record.exchange.added_us =
                u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX);
            fit
        });
        work.await.ok()
    }

    async fn fit_now(
        &self,
        views: &Arc<Views>,
        record: Record,
        named: Option<String>,
        body: &Bytes,
        less: bool,
    ) -> Fit {
        let mut fit = Fit::passed(record);
        let options = ReadOptions::default().with_format(fit.record.exchange.format);
        let history = match self.window.host().read_with(body.to_vec(), options) {
            Ok(history) => history,
            Err(error) => {
                tracing::debug!("a request passed untouched: {error}");
                return fit.because("unreadable");
            }
        };
        let exchange = &mut fit.record.exchange;
        exchange.session = named.unwrap_or_else(|| session::beginning(&history));
        exchange.messages = [history.message_count(); 2];
        exchange.tokens = [history.tokens(); 2];
        if exchange.model.is_empty() {
            exchange.model = session::short(&history.envelope().model);
        }
        if history.envelope().continues {
            return fit.because("stored-by-provider");
        }
        if history.asks_to_compact() {
            return fit.because("provider-compacts");
        }
        let shown = match less {
            true => self.window.show_less(&history, views).await,
            false => self.window.show(&history, views).await,
        };
        match shown {
            Ok(shown) => {
                let sent = shown.sent();
                self.take(&mut fit, shown, history);
                let exchange = &fit.record.exchange;
                if !exchange.shadow || exchange.action == Action::Passed {
                    fit.record.sent = sent.map(|sent| (Arc::clone(views), sent));
                }
            }
            Err(error) => {
                tracing::warn!("a request passed untouched: {error}");
                return fit.because("failed");
            }
        }
        fit
    }

    /// Makes what is shown what goes on.
    fn take(&self, fit: &mut Fit, shown: Shown, history: Conversation) {
        let exchange = &mut fit.record.exchange;
        let outcome = shown.receipt().map(|receipt| receipt.outcome);
        exchange.action = match (&outcome, &shown.view) {
            (Some(Outcome::Compacted), _) => Action::Compacted,
            (_, Some(_)) => Action::Shown,
            _ => Action::Passed,
        };
        exchange.why = match outcome {
            Some(Outcome::Unchanged(why) | Outcome::Repaired(why)) => serde_json::to_value(why)
                .ok()
                .and_then(|why| why.as_str().map(str::to_owned)),
            None if shown.is_held => Some("tried-recently".to_owned()),
            _ => None,
        };
        if exchange.action == Action::Compacted
            && let (Some(view), Some(stored)) = (&shown.view, &self.stored)
            && let Err(error) = stored.write(view)
        {
            tracing::warn!("a view is lost when the proxy ends: {error}");
        }
        if exchange.action != Action::Passed {
            let document = shown.conversation.document();
            exchange.messages[1] = shown.conversation.message_count();
            exchange.tokens[1] = shown.conversation.tokens();
            exchange.bytes[1] = document.len();
            fit.body = Some(Bytes::copy_from_slice(document.as_bytes()));
        }
        exchange.receipt = shown
            .receipt()
            .and_then(|receipt| serde_json::to_value(receipt).ok());
        fit.shown_by = shown.view.map(|view| (view, Box::new(history)));
    }

    /// Forgets the view by which a request was shown, since the provider refused it.
    pub(crate) fn forget(&self, headers: &HeaderMap, fit: &Fit) {
        if let Some((view, history)) = &fit.shown_by {
            let upstream = &fit.record.exchange.upstream;
            self.views_of(upstream, headers).forget(view, history);
            if let Some(stored) = &self.stored {
                stored.remove(view);
            }
        }
    }

    fn views_of(&self, upstream: &str, headers: &HeaderMap) -> Arc<Views> {
        let owner = if self.is_shared {
            owner(upstream, headers)
        } else {
            Owner::default()
        };
        let mut all = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= OWNERS && !all.contains_key(&owner) {
            // Who comes again is compacted anew.
            all.clear();
        }
        Arc::clone(all.entry(owner).or_default())
    }
}

fn owner(upstream: &str, headers: &HeaderMap) -> Owner {
    let mut hash = Sha256::new();
    hash.update(upstream);
    for name in KEYS {
        for value in headers.get_all(name) {
            hash.update([0]);
            hash.update(name);
            hash.update([0]);
            hash.update(value.as_bytes());
        }
    }
    hash.finalize().into()
}
