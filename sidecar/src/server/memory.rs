//! The memory of requests and answers, reserved before it is used. All of it is reserved here: a
//! body while it arrives, waits and is worked on, and an answer until the client has taken its
//! last byte or the connection is closed.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::ServerLimits;
use super::error::ApiError;

/// The number of bytes that one permit stands for, since permits are 32-bit numbers.
const PIECE: usize = 1 << 10;

#[derive(Debug)]
pub(crate) struct Memory {
    /// Bodies and answers.
    buffered: Arc<Semaphore>,
    most_buffered: usize,
    /// Bodies that are worked on. Work takes several times the size of its body, so a few large
    /// bodies take the turns of many small ones.
    working: Arc<Semaphore>,
    most_working: usize,
}

/// Reserved memory, released when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Reservation(Option<OwnedSemaphorePermit>);

impl Memory {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        let pieces = |bytes: usize| (bytes / PIECE).clamp(1, Semaphore::MAX_PERMITS);
        let most_buffered = pieces(limits.buffered_bytes);
        let most_working = pieces(limits.working_bytes);
        Self {
            buffered: Arc::new(Semaphore::new(most_buffered)),
            most_buffered,
            working: Arc::new(Semaphore::new(most_working)),
            most_working,
        }
    }

    /// Makes a reservation one of `bytes`, larger or smaller than it is.
    ///
    /// # Errors
    /// It would be larger, and there is not that much left. The reservation stays as it is.
    pub(crate) fn resize(&self, own: &mut Reservation, bytes: usize) -> Result<(), ApiError> {
        let (held, wanted) = (own.pieces(), bytes.div_ceil(PIECE));
        if let Some(surplus) = held.checked_sub(wanted) {
            // Released by being dropped.
            drop(own.0.as_mut().and_then(|own| own.split(surplus)));
            return Ok(());
        }
        let more = u32::try_from(wanted - held).map_err(|_| ApiError::overloaded())?;
        let more = self.buffered.clone().try_acquire_many_owned(more);
        let more = more.map_err(|_| ApiError::overloaded())?;
        match &mut own.0 {
            Some(own) => own.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }

    /// Waits until a body of `bytes` may be worked on. One that is larger than all that may be
    /// worked on at once is worked on alone.
    pub(crate) async fn work(&self, bytes: usize) -> Result<OwnedSemaphorePermit, ApiError> {
        let pieces = bytes.div_ceil(PIECE).min(self.most_working);
        let pieces = u32::try_from(pieces).map_err(|_| ApiError::overloaded())?;
        let permit = self.working.clone().acquire_many_owned(pieces).await;
        permit.map_err(|_| ApiError::overloaded())
    }

    /// Bytes that are reserved.
    pub(crate) fn reserved(&self) -> usize {
        let free = self.buffered.available_permits();
        self.most_buffered.saturating_sub(free) * PIECE
    }
}

impl Reservation {
    fn pieces(&self) -> usize {
        self.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }

    /// Its size in bytes, in whole pieces.
    pub(crate) fn bytes(&self) -> usize {
        self.pieces() * PIECE
    }
}

/// An answer with the memory that it takes.
///
/// The reservation belongs to the bytes and not to the response's body: the HTTP implementation
/// drops the body as soon as it has handed over the bytes, and keeps these until they are written.
struct Answer {
    text: String,
    _reserved: Reservation,
}

impl AsRef<[u8]> for Answer {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// The bytes of an answer, which hold `reserved` until the last of them is written.
pub(crate) fn answer(text: String, reserved: Reservation) -> Bytes {
    Bytes::from_owner(Answer {
        text,
        _reserved: reserved,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        Memory::new(&ServerLimits {
            buffered_bytes: 4 * PIECE,
            working_bytes: 4 * PIECE,
            ..ServerLimits::default()
        })
    }

    #[test]
    fn a_reservation_grows_and_shrinks_within_the_limit() {
        let memory = memory();
        let (mut one, mut other) = (Reservation::default(), Reservation::default());
        memory.resize(&mut one, 3 * PIECE).expect("it is free");
        assert!(memory.resize(&mut other, 2 * PIECE).is_err());
        assert_eq!((one.bytes(), other.bytes()), (3 * PIECE, 0));
        memory.resize(&mut one, PIECE + 1).expect("it is smaller");
        assert_eq!(memory.reserved(), 2 * PIECE);
        memory.resize(&mut other, 2 * PIECE).expect("it is free");
        drop((one, other));
        assert_eq!(memory.reserved(), 0);
    }

    #[test]
    fn an_answer_holds_its_memory_until_its_last_bytes_are_dropped() {
        let memory = memory();
        let mut reserved = Reservation::default();
        memory.resize(&mut reserved, PIECE).expect("it is free");
        let mut bytes = answer("answer".to_owned(), reserved);
        let end = bytes.split_off(3);
        drop(bytes);
        assert_eq!((&end[..], memory.reserved()), (&b"wer"[..], PIECE));
        drop(end);
        assert_eq!(memory.reserved(), 0);
    }

    #[tokio::test]
    async fn a_body_larger_than_the_working_limit_is_worked_on_alone() {
        let memory = memory();
        let alone = memory.work(100 * PIECE).await.expect("it is free");
        assert_eq!(memory.working.available_permits(), 0);
        drop(alone);
        assert_eq!(memory.working.available_permits(), 4);
    }
}
