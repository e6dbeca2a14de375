//! A request while it is on its way: what will be recorded of it.

use std::sync::Arc;

use baler_host::view::{Sent, Views};
use baler_models::clients::UsageReader;
use bytes::Bytes;

use crate::session::{Exchange, Observer};

/// Tells of an exchange when its answer has ended, or nobody waits for it any more.
pub(crate) struct Record {
    pub(crate) exchange: Exchange,
    /// Reads what the answer says that the request used.
    pub(crate) reader: Option<UsageReader>,
    /// Where that is noted for the next request of the same history.
    pub(crate) sent: Option<(Arc<Views>, Sent)>,
    observer: Option<Observer>,
}

impl Record {
    pub(crate) const fn new(exchange: Exchange, observer: Option<Observer>) -> Self {
        Self {
            exchange,
            reader: None,
            sent: None,
            observer,
        }
    }

    /// Sets the reason.
    pub(crate) fn because(mut self, why: &str) -> Self {
        self.exchange.why = Some(why.to_owned());
        self
    }

    /// Returns what is recorded of the same request, which is sent again as it came: what is known of it, without what was
    /// done.
    pub(crate) fn as_it_came(&self, again: Self) -> Self {
        let mut record = again.because("refused-by-provider");
        let (from, to) = (&self.exchange, &mut record.exchange);
        to.session.clone_from(&from.session);
        to.model.clone_from(&from.model);
        to.messages = [from.messages[0]; 2];
        to.tokens = [from.tokens[0]; 2];
        record
    }

    /// Sees a piece of the answer.
    pub(crate) fn see(&mut self, piece: &Bytes) {
        if let Some(reader) = &mut self.reader {
            reader.see(piece);
        }
    }

    /// Tells of nothing.
    pub(crate) fn forget(mut self) {
        self.observer = None;
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if let Some(mut reader) = self.reader.take() {
            reader.end();
            self.exchange.usage = reader.usage();
            if let (Some((views, sent)), Some(tokens), 200) =
                (&self.sent, reader.prompt(), self.exchange.status)
            {
                views.note_count(sent, tokens);
            }
        }
        let Some(observer) = self.observer.take() else {
            return;
        };
        // A client that left before it was known what it asked for.
        if self.exchange.status == 0 && self.exchange.session.is_empty() {
            return;
        }
        observer(self.exchange.clone());
    }
}
