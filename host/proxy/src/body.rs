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
    Whole(Bytes, Vec<OwnedSemaphorePermit>),
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
        let mut permits = Vec::new();
        let mut read = BytesMut::new();
        let mut has_room = declared <= self.most as u64;
        while has_room {
            let frame = tokio::time::timeout(self.time, body.frame()).await;
            let Some(frame) = frame.map_err(|_| Unread::TooSlow)? else {
                return Ok(Taken::Whole(read.freeze(), permits));
            };
            let Ok(data) = frame.map_err(|_| Unread::BrokeOff)?.into_data() else {
                continue;
            };
            let kilobytes = u32::try_from(data.len().div_ceil(1 << 10)).unwrap_or(u32::MAX);
            let permit = self.kilobytes.clone().try_acquire_many_owned(kilobytes);
            has_room = permit.is_ok() && read.len() + data.len() <= self.most;
            permits.extend(permit);
            read.extend_from_slice(&data);
        }
        Ok(Taken::Part(Passing::new(read.freeze(), body)))
    }
}

/// A body of which the first bytes were read before. It is [`Sync`], as the client of upstreams wants it.
#[derive(Debug)]
pub(crate) struct Passing<B> {
    first: Bytes,
    rest: Mutex<B>,
}

impl<B> Passing<B> {
    pub(crate) const fn new(first: Bytes, rest: B) -> Self {
        Self {
            first,
            rest: Mutex::new(rest),
        }
    }

    fn rest(&self) -> std::sync::MutexGuard<'_, B> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for Passing<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if !self.first.is_empty() {
            let first = std::mem::take(&mut self.first);
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let rest = self.rest.get_mut().unwrap_or_else(PoisonError::into_inner);
        Pin::new(rest).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_empty() && self.rest().is_end_stream()
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
