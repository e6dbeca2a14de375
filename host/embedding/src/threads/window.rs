//! Windows, with the views that they remember.

use std::sync::Arc;

use baler_host::view::{Entry, Sent, View, Views};

use super::call::Cancel;
use super::host::Host;
use super::per_process::PerProcess;
use super::strategy::Strategy;
use crate::compaction::{Compaction, MessageOfResult};
use crate::conversation::Conversation;
use crate::error::Error;
use crate::options::{self, WindowSize};

/// Keeps what is shown of histories within a number of tokens.
#[derive(Debug, Clone)]
pub struct Window(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    host: Host,
    chain: Vec<Strategy>,
    size: WindowSize,
    known: PerProcess<Known>,
}

/// What a window knows in this process.
#[derive(Debug)]
struct Known {
    chain: Arc<[baler_host::Strategy]>,
    views: Arc<Views>,
}

impl Window {
    /// Creates a window. `options`: `context_window`, `at`, `budget`, and those of a compaction, as JSON.
    ///
    /// # Errors
    /// An option is wrong, or a strategy cannot be used.
    pub fn new(
        host: Host,
        chain: Vec<Strategy>,
        options: &str,
        cancel: &Cancel,
    ) -> Result<Self, Error> {
        let size = options::window(options)?;
        let window = Self(Arc::new(Inner {
            host,
            chain,
            size,
            known: PerProcess::new(),
        }));
        // Its errors belong here, not to the first call.
        window.ready(cancel)?;
        Ok(window)
    }

    /// The options of a compaction that it makes, as JSON.
    #[must_use]
    pub fn goal(&self) -> &str {
        &self.0.size.rest
    }

    /// Returns what to show of a history now. `less`: the provider refused what was shown before as too long. `view`: one
    /// that was stored as JSON; what cannot be read is ignored.
    ///
    /// # Errors
    /// What would be removed could not be archived.
    pub fn show(
        &self,
        history: &Conversation,
        less: bool,
        view: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Shown, Error> {
        let (window, known) = self.ready(cancel)?;
        if let Some(view) = view.and_then(|view| serde_json::from_str(view).ok()) {
            known.views.remember(view);
        }
        let shown = cancel.wait(async {
            Ok(match less {
                true => window.show_less(&history.0, &known.views).await?,
                false => window.show(&history.0, &known.views).await?,
            })
        })?;
        let sent = shown.sent();
        Ok(Shown {
            sent,
            views: Arc::clone(&known.views),
            conversation: shown.conversation.into(),
            view: shown.view,
            compaction: shown.compaction.map(|made| Arc::new(made.into())),
            messages: history.message_count(),
        })
    }

    /// Returns the window for a call, and what it knows.
    fn ready(&self, cancel: &Cancel) -> Result<(baler_host::view::Window, &Known), Error> {
        let inner = &*self.0;
        let live = inner.host.live()?;
        let request = options::compaction(&inner.size.rest, &live.policy, cancel.deadline())?;
        let known = inner.known.get_or_make(|| {
            let chain = cancel.wait(live.chain(&inner.chain))?.into();
            let views = Arc::<Views>::default();
            Ok::<_, Error>(Known { chain, views })
        })?;
        let (host, chain) = (Arc::clone(&live.host), Arc::clone(&known.chain));
        let window = baler_host::view::Window::new(host, chain, inner.size.at, inner.size.budget)
            .map_err(|error| Error::option("budget", error))?;
        Ok((window.with_request(request), known))
    }
}

/// What is shown of a history.
#[derive(Debug)]
pub struct Shown {
    sent: Option<Sent>,
    views: Arc<Views>,
    conversation: Conversation,
    view: Option<Arc<View>>,
    compaction: Option<Arc<Compaction>>,
    /// Messages of the history.
    messages: usize,
}

impl Shown {
    /// The request to send.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Notes the size of the request as its provider counted it: all tokens of the prompt, those from a cache included. For the
    /// next ones of the same history it takes the place of the host's estimate. 0 and what cannot be are ignored.
    pub fn note_count(&self, tokens: u64) {
        if let Some(sent) = &self.sent {
            self.views.note_count(sent, tokens);
        }
    }

    /// The compaction that was made now; `None` if none was due.
    #[must_use]
    pub fn compaction(&self) -> Option<&Arc<Compaction>> {
        self.compaction.as_ref()
    }

    /// Whether less than the whole history is shown.
    #[must_use]
    pub fn has_view(&self) -> bool {
        self.view.is_some()
    }

    /// The view by which the history is shown, as JSON; `None` if all of it is shown.
    ///
    /// # Errors
    /// It cannot be written, which is a bug.
    pub fn view(&self) -> Result<Option<String>, Error> {
        let view = self.view.as_deref().map(serde_json::to_string).transpose();
        view.map_err(|error| Error::host(error.to_string()))
    }

    /// Number of messages that the history had when the view was made; 0 without one.
    #[must_use]
    pub fn made_at(&self) -> usize {
        self.view.as_ref().map_or(0, |view| view.made_at())
    }

    /// The messages that are shown, in order; indices are those of the history.
    #[must_use]
    pub fn messages(&self) -> Vec<MessageOfResult<'_>> {
        let view = self.view.as_deref();
        let entries = view.map(View::entries).unwrap_or_default();
        let covered = view.map_or(0, View::covered);
        let of_view = entries.iter().map(|entry| match entry {
            Entry::Kept(index) => ("kept", Some(*index), None),
            Entry::Changed { message, json } => ("changed", Some(*message), Some(json.as_str())),
            Entry::Inserted { json } => ("inserted", None, Some(json.as_str())),
        });
        let rest = (covered..self.messages).map(|index| ("kept", Some(index), None));
        of_view.chain(rest).collect()
    }
}
