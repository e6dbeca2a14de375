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

/// Bytes of memory that work is reckoned to take for each byte of its body. A body that is one
/// text takes 7. One of nothing but names or short lines of a summary takes more, up to what
/// `baler-digest` bounds by number (`NAMES`, `OF_ALL`): by the sizes of its types some 35 MB, and
/// 2 bytes for each byte.
const PER_BYTE: usize = 8;

/// The same for each list, object and comma of its body. Of what thirteen bodies of 30 MB took
/// whose items were as small as can be (messages, parts, calls, logs), it was 510 bytes at most
/// beside those above, where calls without outputs were repaired, and less than 300 in all other cases.
const PER_ITEM: usize = 512;

/// How many times that it is where a body is repaired. While a mend runs there are the
/// conversation as it came, the one with all mends before, the edits, and the one that is read
/// from these: up to 2.4 times of what one is reckoned at, of items as small as can be.
const REPAIRED: usize = 3;

/// The part of all work that a small request may take at most, and the part that small requests
/// have beside. So they need not wait until large ones are done.
const SMALL: usize = 64;
const FOR_SMALL: usize = 8;

/// Bodies and answers of no more bytes are small.
const SMALL_BODY: usize = 1 << 20;

/// The part of the memory of bodies and answers that small ones have alone. So large bodies that
/// come slowly do not shut them out.
const FOR_SMALL_BODIES: usize = 8;

#[derive(Debug)]
pub(crate) struct Memory {
    /// Bodies and answers.
    buffered: Arc<Semaphore>,
    most_buffered: usize,
    /// Of these, those that are not small.
    buffered_large: Arc<Semaphore>,
    /// Work, which takes many times the size of its body. So a few large bodies take the turns of
    /// many small ones.
    working: Arc<Semaphore>,
    most_working: usize,
    /// Work of small requests, where they would have to wait for that of others.
    small: Arc<Semaphore>,
    most_small: usize,
}

/// Reserved memory, released when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Reservation {
    of_all: Option<OwnedSemaphorePermit>,
    /// As much, where it is not small.
    of_large: Option<OwnedSemaphorePermit>,
}

impl Memory {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        let pieces = |bytes: usize| (bytes / PIECE).clamp(1, Semaphore::MAX_PERMITS);
        let most_buffered = pieces(limits.buffered_bytes);
        let most_working = pieces(limits.working_bytes);
        let most_small = most_working / FOR_SMALL;
        // The largest body finds room nevertheless.
        let most_large = most_buffered - most_buffered / FOR_SMALL_BODIES;
        let most_large = most_large.max(pieces(limits.body_bytes).min(most_buffered));
        Self {
            buffered: Arc::new(Semaphore::new(most_buffered)),
            most_buffered,
            buffered_large: Arc::new(Semaphore::new(most_large)),
            working: Arc::new(Semaphore::new(most_working)),
            most_working,
            small: Arc::new(Semaphore::new(most_small)),
            most_small,
        }
    }

    /// Makes a reservation one of `bytes`, larger or smaller than it is.
    ///
    /// # Errors
    /// It would be larger, and there is not that much left. The reservation stays as it is.
    pub(crate) fn resize(&self, own: &mut Reservation, bytes: usize) -> Result<(), ApiError> {
        let wanted = bytes.div_ceil(PIECE);
        let of_large = if bytes > SMALL_BODY { wanted } else { 0 };
        let more_of_large = more(&self.buffered_large, &own.of_large, of_large)?;
        let more_of_all = more(&self.buffered, &own.of_all, wanted)?;
        set(&mut own.of_large, more_of_large, of_large);
        set(&mut own.of_all, more_of_all, wanted);
        Ok(())
    }

    /// The memory that work on a body of `bytes` with so many lists, objects and commas is
    /// reckoned to take, repair included where that is asked for.
    ///
    /// # Errors
    /// It is more than all work together may take.
    pub(crate) fn needs(
        &self,
        bytes: usize,
        items: usize,
        is_repaired: bool,
    ) -> Result<usize, ApiError> {
        let of_items = items.saturating_mul(PER_ITEM);
        let needs = bytes.saturating_mul(PER_BYTE).saturating_add(of_items);
        let needs = needs.saturating_mul(if is_repaired { REPAIRED } else { 1 });
        if needs.div_ceil(PIECE) > self.most_working {
            let most = self.most_working * PIECE;
            return Err(ApiError::too_much_work(
                bytes,
                items,
                needs,
                most,
                is_repaired,
            ));
        }
        Ok(needs)
    }

    /// Whether work that takes `bytes` of memory is so little that it need not wait for that of
    /// large requests.
    pub(crate) const fn is_small(&self, bytes: usize) -> bool {
        bytes.div_ceil(PIECE) <= self.most_working / SMALL
    }

    /// Waits until work may take `bytes` of memory.
    pub(crate) async fn work(&self, bytes: usize) -> Result<OwnedSemaphorePermit, ApiError> {
        let pieces = bytes.div_ceil(PIECE).min(self.most_working);
        let pieces = u32::try_from(pieces).map_err(|_| ApiError::overloaded())?;
        let of_all = self.working.clone().acquire_many_owned(pieces);
        let permit = if self.is_small(bytes) {
            let of_small = self.small.clone().acquire_many_owned(pieces);
            tokio::select! {
                biased;
                permit = of_small => permit,
                permit = of_all => permit,
            }
        } else {
            of_all.await
        };
        permit.map_err(|_| ApiError::overloaded())
    }

    /// Bytes that are reserved.
    pub(crate) fn reserved(&self) -> usize {
        let free = self.buffered.available_permits();
        self.most_buffered.saturating_sub(free) * PIECE
    }

    /// Bytes that work is reckoned to take now.
    pub(crate) fn working(&self) -> usize {
        let free = self.working.available_permits() + self.small.available_permits();
        (self.most_working + self.most_small).saturating_sub(free) * PIECE
    }
}

fn pieces_of(permit: &Option<OwnedSemaphorePermit>) -> usize {
    permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
}

/// What is missing of so many pieces; none where there are as many or more.
fn more(
    room: &Arc<Semaphore>,
    own: &Option<OwnedSemaphorePermit>,
    wanted: usize,
) -> Result<Option<OwnedSemaphorePermit>, ApiError> {
    let missing = wanted.saturating_sub(pieces_of(own));
    if missing == 0 {
        return Ok(None);
    }
    let missing = u32::try_from(missing).map_err(|_| ApiError::overloaded())?;
    let more = room.clone().try_acquire_many_owned(missing);
    more.map(Some).map_err(|_| ApiError::overloaded())
}

/// Adds what was missing, or releases what is over.
fn set(own: &mut Option<OwnedSemaphorePermit>, more: Option<OwnedSemaphorePermit>, wanted: usize) {
    if let Some(more) = more {
        match own {
            Some(own) => own.merge(more),
            none => *none = Some(more),
        }
    } else if let Some(own) = own {
        let surplus = own.num_permits().saturating_sub(wanted);
        // Released by being dropped.
        drop(own.split(surplus));
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
        assert_eq!((pieces_of(&one.of_all), pieces_of(&other.of_all)), (3, 0));
        memory.resize(&mut one, PIECE + 1).expect("it is smaller");
        assert_eq!(memory.reserved(), 2 * PIECE);
        memory.resize(&mut other, 2 * PIECE).expect("it is free");
        drop((one, other));
        assert_eq!(memory.reserved(), 0);
    }

    #[test]
    fn large_bodies_leave_a_part_of_the_memory_to_small_ones() {
        let mib = 1 << 20;
        let memory = Memory::new(&ServerLimits {
            buffered_bytes: 16 * mib,
            body_bytes: 8 * mib,
            ..ServerLimits::default()
        });
        let (mut one, mut other) = (Reservation::default(), Reservation::default());
        memory.resize(&mut one, 8 * mib).expect("it is free");
        memory.resize(&mut other, 6 * mib).expect("it is free");
        // 2 MiB are left, for small ones.
        assert!(memory.resize(&mut other, 6 * mib + 1).is_err());
        let mut small = [Reservation::default(), Reservation::default()];
        for small in &mut small {
            memory.resize(small, mib).expect("it is small");
        }
        assert_eq!(memory.reserved(), 16 * mib);
        // One that becomes small takes nothing from the large ones any more.
        drop(small);
        memory.resize(&mut other, mib).expect("it is smaller");
        memory.resize(&mut one, 14 * mib).expect("it is free");
        drop((one, other));
        assert_eq!(memory.reserved(), 0);
    }

    #[test]
    fn the_largest_body_finds_room_however_little_there_is() {
        let mib = 1 << 20;
        let memory = Memory::new(&ServerLimits {
            buffered_bytes: 4 * mib,
            body_bytes: 4 * mib,
            ..ServerLimits::default()
        });
        let mut one = Reservation::default();
        memory.resize(&mut one, 4 * mib).expect("it is free");
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
    async fn work_takes_memory_by_bytes_and_by_what_there_is_in_them() {
        let memory = memory();
        assert_eq!(memory.needs(100, 0, false).expect("it is less"), 800);
        assert_eq!(
            memory.needs(100, 3, false).expect("it is less"),
            800 + 3 * 512
        );
        let repaired = memory.needs(100, 1, true).expect("it is less");
        assert_eq!(repaired, 3 * (800 + 512));
        let all = memory.work(4 * PIECE).await.expect("it is free");
        assert_eq!(memory.working(), 4 * PIECE);
        drop(all);
        assert_eq!(memory.working(), 0);
    }

    #[tokio::test]
    async fn small_requests_pass_large_ones_in_a_part_of_their_own() {
        // Up to 1 piece is small, and 8 are beside for such.
        let memory = Memory::new(&ServerLimits {
            working_bytes: 64 * PIECE,
            ..ServerLimits::default()
        });
        let is_free = async |pieces: usize| {
            let work = memory.work(pieces * PIECE);
            let moment = std::time::Duration::from_millis(1);
            tokio::time::timeout(moment, work)
                .await
                .ok()
                .map(|permit| permit.expect("it is open"))
        };
        let all = is_free(64).await.expect("it is free");
        assert!(is_free(2).await.is_none(), "it is not small");
        let mut small = Vec::new();
        for _ in 0..8 {
            small.push(is_free(1).await.expect("it is small"));
        }
        assert!(is_free(1).await.is_none(), "their part is taken too");
        assert_eq!(memory.working(), 72 * PIECE);
        drop(all);
        assert!(is_free(1).await.is_some(), "it may take what all may");
    }

    #[test]
    fn work_that_takes_more_than_all_may_take_together_is_refused() {
        let memory = memory();
        for (bytes, items) in [(512, 0), (0, 8), (256, 4)] {
            assert_eq!(
                memory.needs(bytes, items, false).expect("it is all"),
                4 * PIECE
            );
            for (bytes, items) in [(bytes + 1, items), (bytes, items + 1), (usize::MAX, items)] {
                let error = memory.needs(bytes, items, false).expect_err("it is more");
                assert!(format!("{error:?}").contains("4096"), "{error:?}");
            }
        }
    }
}
