//! Bodies: read as far as there is room for them, or passed on.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What was read of a body.
pub(crate) enum Taken {
    /// All of it, with the room that it has.
    Whole(Bytes, Held),
    /// The first part, and the rest, of a body that exceeds the limit or the free memory.
    Part(Passing<Body>),
}

/// Why a body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// The client broke off.
    BrokeOff,
    /// The client sends too slowly.
    TooSlow,
}

/// Room for bodies.
#[derive(Debug)]
pub(crate) struct Room {
    /// In units of 1 KiB.
    kilobytes: Arc<Semaphore>,
    /// Bytes of the largest body.
    most: usize,
    /// Time until the next piece of a body.
    time: Duration,
}

impl Room {
    pub(crate) fn new(all: usize, most: usize, time: Duration) -> Self {
        let kilobytes = (all >> 10).clamp(1, Semaphore::MAX_PERMITS);
        Self {
            kilobytes: Arc::new(Semaphore::new(kilobytes)),
            most,
            time,
        }
    }

    /// Reads a body.
    pub(crate) async fn take(&self, mut body: Body) -> Result<Taken, Unread> {
        let declared = body.size_hint().exact().unwrap_or(0);
        let mut held = self.hold();
        let mut read = BytesMut::new();
        let mut has_room = declared <= self.most as u64;
        while has_room {
            let frame = tokio::time::timeout(self.time, body.frame()).await;
            let Some(frame) = frame.map_err(|_| Unread::TooSlow)? else {
                return Ok(Taken::Whole(read.freeze(), held));
            };
            let Ok(data) = frame.map_err(|_| Unread::BrokeOff)?.into_data() else {
                continue;
            };
            read.extend_from_slice(&data);
            has_room = read.len() <= self.most && held.grow(read.len());
        }
        Ok(Taken::Part(Passing::new(read.freeze(), body).holding(held)))
    }

    /// Returns room for nothing, which can grow.
    pub(crate) fn hold(&self) -> Held {
        Held {
            kilobytes: Arc::clone(&self.kilobytes),
            permit: None,
        }
    }
}

/// Room that is in use, given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    kilobytes: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Held {
    /// Makes this room for as many bytes in all. Returns whether there is so much.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let held = self
            .permit
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = bytes.div_ceil(1 << 10).saturating_sub(held);
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        let Ok(more) = Arc::clone(&self.kilobytes).try_acquire_many_owned(missing) else {
            return false;
        };
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            None => self.permit = Some(more),
        }
        true
    }
}

/// A body of which the first bytes were read before. It is [`Sync`], as the client of upstreams wants it.
pub(crate) struct Passing<B: HttpBody> {
    first: Bytes,
    /// The room of these.
    held: Option<Held>,
    /// How the body broke off behind them.
    failed: Option<B::Error>,
    rest: Mutex<B>,
}

impl<B: HttpBody> Passing<B> {
    pub(crate) const fn new(first: Bytes, rest: B) -> Self {
        Self {
            first,
            held: None,
            failed: None,
            rest: Mutex::new(rest),
        }
    }

    /// Keeps the room of the first bytes until they have passed.
    fn holding(self, held: Held) -> Self {
        Self {
            held: Some(held),
            ..self
        }
    }

    /// Breaks off behind the first bytes.
    pub(crate) fn failing(self, failed: Option<B::Error>) -> Self {
        Self { failed, ..self }
    }

    fn rest(&self) -> std::sync::MutexGuard<'_, B> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: HttpBody<Data = Bytes, Error: Unpin> + Unpin> HttpBody for Passing<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if !self.first.is_empty() {
            let first = std::mem::take(&mut self.first);
            self.held = None;
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if let Some(failed) = self.failed.take() {
            return Poll::Ready(Some(Err(failed)));
        }
        let rest = self.rest.get_mut().unwrap_or_else(PoisonError::into_inner);
        Pin::new(rest).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_empty() && self.failed.is_none() && self.rest().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest().size_hint();
        let first = self.first.len() as u64;
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(first));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(first));
        }
        hint
    }
}
