//! What goes on in place of a request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::http::{HeaderMap, header};
use baler_host::conversation::ReadOptions;
use baler_host::receipt::Outcome;
use baler_host::view::{Shown, View, Views, Window};
use baler_host::{Conversation, Format, Receipt};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::session::{self, Action};
use crate::stored::Stored;

/// A request as it goes on.
#[derive(Debug)]
pub(crate) struct Fit {
    /// The body; `None` for the one that came.
    pub(crate) body: Option<Bytes>,
    pub(crate) action: Action,
    pub(crate) why: Option<String>,
    pub(crate) session: String,
    pub(crate) messages: [usize; 2],
    pub(crate) tokens: [u32; 2],
    pub(crate) receipt: Option<Box<Receipt>>,
    /// By which view it is shown, of which history.
    pub(crate) shown_by: Option<(Arc<View>, Box<Conversation>)>,
    pub(crate) added_us: u64,
}

impl Fit {
    pub(crate) fn passed(why: Option<&str>) -> Self {
        Self {
            body: None,
            action: Action::Passed,
            why: why.map(str::to_owned),
            session: String::new(),
            messages: [0; 2],
            tokens: [0; 2],
            receipt: None,
            shown_by: None,
            added_us: 0,
        }
    }

    /// Returns the same with a reason.
    pub(crate) fn because(self, why: &str) -> Self {
        Self {
            why: Some(why.to_owned()),
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

    /// Returns what goes on in place of a body. `less`: the provider refused what went on before as too long.
    pub(crate) async fn fit(
        self: &Arc<Self>,
        upstream: &str,
        headers: &HeaderMap,
        format: Format,
        body: Bytes,
        less: bool,
    ) -> Fit {
        let begin = Instant::now();
        let views = self.views_of(upstream, headers);
        let headers = headers.clone();
        let mut fit = if body.len() <= INLINE && !less {
            self.fit_now(&views, &headers, format, &body, less).await
        } else {
            let Ok(_slot) = self.slots.acquire().await else {
                return Fit::passed(Some("failed"));
            };
            let (fitter, runtime) = (Arc::clone(self), Handle::current());
            // What a strategy does to a thread ends there.
            let work = tokio::task::spawn_blocking(move || {
                runtime.block_on(fitter.fit_now(&views, &headers, format, &body, less))
            });
            work.await.unwrap_or_else(|_| Fit::passed(Some("failed")))
        };
        fit.added_us = u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX);
        fit
    }

    async fn fit_now(
        &self,
        views: &Views,
        headers: &HeaderMap,
        format: Format,
        body: &Bytes,
        less: bool,
    ) -> Fit {
        let options = ReadOptions::default().with_format(format);
        let history = match self.window.host().read_with(body.to_vec(), options) {
            Ok(history) => history,
            Err(error) => {
                tracing::debug!("a request passed untouched: {error}");
                return Fit::passed(Some("unreadable"));
            }
        };
        let mut fit = Fit::passed(None);
        fit.session = session::name(headers, &history);
        fit.messages = [history.message_count(); 2];
        fit.tokens = [history.tokens(); 2];
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
            Ok(shown) => self.take(&mut fit, shown, &history),
            Err(error) => {
                tracing::warn!("a request passed untouched: {error}");
                return fit.because("failed");
            }
        }
        fit
    }

    /// Makes what is shown what goes on.
    fn take(&self, fit: &mut Fit, shown: Shown, history: &Conversation) {
        let outcome = shown.receipt.as_ref().map(|receipt| receipt.outcome);
        fit.action = match (&outcome, &shown.view) {
            (Some(Outcome::Compacted), _) => Action::Compacted,
            (_, Some(_)) => Action::Shown,
            _ => Action::Passed,
        };
        fit.why = match outcome {
            Some(Outcome::Unchanged(why) | Outcome::Repaired(why)) => serde_json::to_value(why)
                .ok()
                .and_then(|why| why.as_str().map(str::to_owned)),
            _ => None,
        };
        if fit.action == Action::Compacted
            && let (Some(view), Some(stored)) = (&shown.view, &self.stored)
            && let Err(error) = stored.write(view)
        {
            tracing::warn!("a view is lost when the proxy ends: {error}");
        }
        if fit.action != Action::Passed {
            let document = shown.conversation.document();
            fit.messages[1] = shown.conversation.message_count();
            fit.tokens[1] = shown.conversation.tokens();
            fit.body = Some(Bytes::copy_from_slice(document.as_bytes()));
        }
        fit.shown_by = shown.view.map(|view| (view, Box::new(history.clone())));
        fit.receipt = shown.receipt.map(Box::new);
    }

    /// Forgets the view by which a request was shown, since the provider refused it.
    pub(crate) fn forget(&self, upstream: &str, headers: &HeaderMap, fit: &Fit) {
        if let Some((view, history)) = &fit.shown_by {
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

/// Returns the model that a request names: in its body, or in its path.
pub(crate) fn model(path: &str, body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Named {
        model: Option<String>,
    }
    let in_path = path
        .rsplit('/')
        .next()
        .and_then(|last| last.split_once(':'));
    let model = match in_path {
        Some((model, _)) => Some(model.to_owned()),
        None => serde_json::from_slice::<Named>(body)
            .ok()
            .and_then(|named| named.model),
    };
    model.unwrap_or_default().chars().take(128).collect()
}

/// Says in a header what was done with a request.
pub(crate) fn said(action: Action, why: Option<&str>, is_shadow: bool) -> header::HeaderValue {
    let name = if is_shadow { "shadow; would=" } else { "" };
    let why = why.map(|why| format!("; why={why}")).unwrap_or_default();
    let text = format!("{name}{}{why}", action.name());
    header::HeaderValue::from_str(&text).unwrap_or(header::HeaderValue::from_static("passed"))
}
