//! The memory of requests and responses, reserved before it is used: of a body while it arrives, waits
//! and is worked on, and of a response until the client has received its last byte or the connection
//! is closed.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::ApiError;
use crate::limits::ServerLimits;

/// Bytes that one permit stands for. Numbers of permits are limited to 32 bits.
const PERMIT_BYTES: usize = 1 << 10;

/// Estimated bytes of memory that work needs for each byte of its body. A body that is one text needs
/// 7. A body of names only, or of short summary lines only, needs more, up to the numbers that
/// `baler-digest` allows (`NAMES`, `OF_ALL`): by the sizes of its types some 35 MB, and 2 bytes for
/// each byte.
const WORK_PER_BYTE: usize = 8;

/// Estimated bytes for each list, object and comma of the body, in addition to [`WORK_PER_BYTE`]. In
/// thirteen bodies of 30 MB with the smallest possible items (messages, parts, calls, logs), it was at
/// most 510 bytes where calls without outputs were repaired, and less than 300 in all other cases.
const WORK_PER_ITEM: usize = 512;

/// The factor for a body that is repaired. During a fix, memory holds the original conversation, the
/// one with all earlier fixes, the edits, and the conversation read from them: up to 2.4 times the
/// estimate for one conversation of the smallest possible items.
const REPAIR_FACTOR: usize = 3;

/// A request is small if its work needs at most this fraction of the memory of all work.
const SMALL_WORK_DIVISOR: usize = 64;

/// The additional memory for small requests, as a fraction of the memory of all work. So they need not
/// wait for large ones.
const SMALL_POOL_DIVISOR: usize = 8;

/// Bytes of the largest small body or response.
const SMALL_BODY: usize = 1 << 20;

/// The fraction of the memory of bodies and responses that is reserved for small ones. So large bodies
/// that arrive slowly do not block them.
const SMALL_BUFFER_DIVISOR: usize = 8;

/// The memory of all requests. All semaphores count permits of [`PERMIT_BYTES`].
#[derive(Debug)]
pub(crate) struct Memory {
    /// Bodies and responses.
    buffered: Arc<Semaphore>,
    most_buffered: usize,
    /// The part of `buffered` that large bodies and responses may use.
    buffered_large: Arc<Semaphore>,
    /// Work, which needs many times the size of its body.
    working: Arc<Semaphore>,
    most_working: usize,
    /// Additional memory for the work of small requests, used if `working` is exhausted.
    small: Arc<Semaphore>,
    most_small: usize,
}

/// Reserved memory. Dropping it releases the memory.
#[derive(Debug, Default)]
pub(crate) struct Reservation {
    buffered: Option<OwnedSemaphorePermit>,
    /// The same number of permits if the reservation is large.
    buffered_large: Option<OwnedSemaphorePermit>,
}

impl Memory {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        let permits = |bytes: usize| (bytes / PERMIT_BYTES).clamp(1, Semaphore::MAX_PERMITS);
        let most_buffered = permits(limits.buffered_bytes);
        let most_working = permits(limits.working_bytes);
        let most_small = most_working / SMALL_POOL_DIVISOR;
        // The largest allowed body must fit.
        let most_large = most_buffered - most_buffered / SMALL_BUFFER_DIVISOR;
        let most_large = most_large.max(permits(limits.body_bytes).min(most_buffered));
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

    /// Grows or shrinks a reservation to `bytes`.
    ///
    /// # Errors
    /// The reservation would grow, and not enough memory is free. It stays as it is.
    pub(crate) fn resize(
        &self,
        reservation: &mut Reservation,
        bytes: usize,
    ) -> Result<(), ApiError> {
        let wanted = bytes.div_ceil(PERMIT_BYTES);
        let wanted_large = if bytes > SMALL_BODY { wanted } else { 0 };
        let held_large = &mut reservation.buffered_large;
        let held = &mut reservation.buffered;
        let missing_large = acquire_missing(&self.buffered_large, held_large, wanted_large)?;
        let missing = acquire_missing(&self.buffered, held, wanted)?;
        set_permits(held_large, missing_large, wanted_large);
        set_permits(held, missing, wanted);
        Ok(())
    }

    /// Estimates the bytes of memory that work on a body needs. The body has `bytes` bytes and `items`
    /// lists, objects and commas.
    ///
    /// # Errors
    /// The work needs more than all work together may use.
    pub(crate) fn estimate_work(
        &self,
        bytes: usize,
        items: usize,
        is_repaired: bool,
    ) -> Result<usize, ApiError> {
        let for_items = items.saturating_mul(WORK_PER_ITEM);
        let estimate = bytes
            .saturating_mul(WORK_PER_BYTE)
            .saturating_add(for_items);
        let estimate = estimate.saturating_mul(if is_repaired { REPAIR_FACTOR } else { 1 });
        if estimate.div_ceil(PERMIT_BYTES) > self.most_working {
            let most = self.most_working * PERMIT_BYTES;
            return Err(ApiError::too_much_work(
                bytes,
                items,
                estimate,
                most,
                is_repaired,
            ));
        }
        Ok(estimate)
    }

    /// Whether a request whose work needs `bytes` of memory is small, so that it need not wait for large
    /// ones.
    pub(crate) const fn is_small(&self, bytes: usize) -> bool {
        bytes.div_ceil(PERMIT_BYTES) <= self.most_working / SMALL_WORK_DIVISOR
    }

    /// Waits until `bytes` of memory are free for work, and reserves them.
    pub(crate) async fn reserve_work(
        &self,
        bytes: usize,
    ) -> Result<OwnedSemaphorePermit, ApiError> {
        let permits = bytes.div_ceil(PERMIT_BYTES).min(self.most_working);
        let permits = u32::try_from(permits).map_err(|_| ApiError::overloaded())?;
        let from_all = self.working.clone().acquire_many_owned(permits);
        let permit = if self.is_small(bytes) {
            let from_small = self.small.clone().acquire_many_owned(permits);
            tokio::select! {
                biased;
                permit = from_small => permit,
                permit = from_all => permit,
            }
        } else {
            from_all.await
        };
        permit.map_err(|_| ApiError::overloaded())
    }

    /// Returns the bytes reserved for bodies and responses.
    pub(crate) fn buffered_bytes(&self) -> usize {
        let free = self.buffered.available_permits();
        self.most_buffered.saturating_sub(free) * PERMIT_BYTES
    }

    /// Returns the bytes reserved for work.
    pub(crate) fn working_bytes(&self) -> usize {
        let free = self.working.available_permits() + self.small.available_permits();
        (self.most_working + self.most_small).saturating_sub(free) * PERMIT_BYTES
    }
}

fn count_permits(permit: &Option<OwnedSemaphorePermit>) -> usize {
    permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
}

/// Acquires the permits that are missing to `wanted`; `None` if none are missing.
fn acquire_missing(
    semaphore: &Arc<Semaphore>,
    held: &Option<OwnedSemaphorePermit>,
    wanted: usize,
) -> Result<Option<OwnedSemaphorePermit>, ApiError> {
    let missing = wanted.saturating_sub(count_permits(held));
    if missing == 0 {
        return Ok(None);
    }
    let missing = u32::try_from(missing).map_err(|_| ApiError::overloaded())?;
    let acquired = semaphore.clone().try_acquire_many_owned(missing);
    acquired.map(Some).map_err(|_| ApiError::overloaded())
}

/// Adds the permits that were missing to `wanted`, or releases the surplus.
fn set_permits(
    held: &mut Option<OwnedSemaphorePermit>,
    missing: Option<OwnedSemaphorePermit>,
    wanted: usize,
) {
    if let Some(missing) = missing {
        match held {
            Some(held) => held.merge(missing),
            none => *none = Some(missing),
        }
    } else if let Some(held) = held {
        let surplus = held.num_permits().saturating_sub(wanted);
        // Dropping the split permits releases them.
        drop(held.split(surplus));
    }
}

/// The text of a response, with the reservation of its memory.
///
/// The reservation belongs to the bytes, not to the response's body: the HTTP implementation drops the
/// body as soon as it has the bytes, and keeps these until they are written.
struct ReservedText {
    text: String,
    _reservation: Reservation,
}

impl AsRef<[u8]> for ReservedText {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// Returns the bytes of a response. They hold the reservation until the last of them is written.
pub(crate) fn response_bytes(text: String, reservation: Reservation) -> Bytes {
    Bytes::from_owner(ReservedText {
        text,
        _reservation: reservation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        Memory::new(&ServerLimits {
            buffered_bytes: 4 * PERMIT_BYTES,
            working_bytes: 4 * PERMIT_BYTES,
            ..ServerLimits::default()
        })
    }

    #[test]
    fn reservation_grows_and_shrinks_within_the_limit() {
        let memory = memory();
        let (mut one, mut other) = (Reservation::default(), Reservation::default());
        memory
            .resize(&mut one, 3 * PERMIT_BYTES)
            .expect("enough is free");
        assert!(memory.resize(&mut other, 2 * PERMIT_BYTES).is_err());
        assert_eq!(
            (count_permits(&one.buffered), count_permits(&other.buffered)),
            (3, 0)
        );
        memory.resize(&mut one, PERMIT_BYTES + 1).expect("shrinks");
        assert_eq!(memory.buffered_bytes(), 2 * PERMIT_BYTES);
        memory
            .resize(&mut other, 2 * PERMIT_BYTES)
            .expect("enough is free");
        drop((one, other));
        assert_eq!(memory.buffered_bytes(), 0);
    }

    #[test]
    fn large_bodies_leave_a_part_of_the_memory_for_small_ones() {
        let mib = 1 << 20;
        let memory = Memory::new(&ServerLimits {
            buffered_bytes: 16 * mib,
            body_bytes: 8 * mib,
            ..ServerLimits::default()
        });
        let (mut one, mut other) = (Reservation::default(), Reservation::default());
        memory.resize(&mut one, 8 * mib).expect("enough is free");
        memory.resize(&mut other, 6 * mib).expect("enough is free");
        // The remaining 2 MiB are for small ones.
        assert!(memory.resize(&mut other, 6 * mib + 1).is_err());
        let mut small = [Reservation::default(), Reservation::default()];
        for small in &mut small {
            memory.resize(small, mib).expect("is small");
        }
        assert_eq!(memory.buffered_bytes(), 16 * mib);
        // A reservation that becomes small frees memory for large ones.
        drop(small);
        memory.resize(&mut other, mib).expect("shrinks");
        memory.resize(&mut one, 14 * mib).expect("enough is free");
        drop((one, other));
        assert_eq!(memory.buffered_bytes(), 0);
    }

    #[test]
    fn largest_body_fits_even_if_it_needs_all_memory() {
        let mib = 1 << 20;
        let memory = Memory::new(&ServerLimits {
            buffered_bytes: 4 * mib,
            body_bytes: 4 * mib,
            ..ServerLimits::default()
        });
        let mut one = Reservation::default();
        memory.resize(&mut one, 4 * mib).expect("enough is free");
    }

    #[test]
    fn response_holds_its_memory_until_its_last_bytes_are_dropped() {
        let memory = memory();
        let mut reserved = Reservation::default();
        memory
            .resize(&mut reserved, PERMIT_BYTES)
            .expect("enough is free");
        let mut bytes = response_bytes("answer".to_owned(), reserved);
        let end = bytes.split_off(3);
        drop(bytes);
        assert_eq!(
            (&end[..], memory.buffered_bytes()),
            (&b"wer"[..], PERMIT_BYTES)
        );
        drop(end);
        assert_eq!(memory.buffered_bytes(), 0);
    }

    #[tokio::test]
    async fn work_is_estimated_by_bytes_items_and_repair() {
        let memory = memory();
        assert_eq!(
            memory
                .estimate_work(100, 0, false)
                .expect("is within the limit"),
            800
        );
        assert_eq!(
            memory
                .estimate_work(100, 3, false)
                .expect("is within the limit"),
            800 + 3 * 512
        );
        let repaired = memory
            .estimate_work(100, 1, true)
            .expect("is within the limit");
        assert_eq!(repaired, 3 * (800 + 512));
        let all = memory
            .reserve_work(4 * PERMIT_BYTES)
            .await
            .expect("enough is free");
        assert_eq!(memory.working_bytes(), 4 * PERMIT_BYTES);
        drop(all);
        assert_eq!(memory.working_bytes(), 0);
    }

    #[tokio::test]
    async fn small_requests_have_memory_of_their_own() {
        // Work of 1 permit is small, and there are 8 additional permits for small work.
        let memory = Memory::new(&ServerLimits {
            working_bytes: 64 * PERMIT_BYTES,
            ..ServerLimits::default()
        });
        let reserve = async |permits: usize| {
            let work = memory.reserve_work(permits * PERMIT_BYTES);
            let moment = std::time::Duration::from_millis(1);
            tokio::time::timeout(moment, work)
                .await
                .ok()
                .map(|permit| permit.expect("the semaphore is open"))
        };
        let all = reserve(64).await.expect("enough is free");
        assert!(reserve(2).await.is_none(), "is not small");
        let mut small = Vec::new();
        for _ in 0..8 {
            small.push(reserve(1).await.expect("is small"));
        }
        assert!(reserve(1).await.is_none(), "their memory is used up");
        assert_eq!(memory.working_bytes(), 72 * PERMIT_BYTES);
        drop(all);
        assert!(
            reserve(1).await.is_some(),
            "small work may use the memory of all"
        );
    }

    #[test]
    fn work_that_needs_more_than_the_limit_is_refused() {
        let memory = memory();
        for (bytes, items) in [(512, 0), (0, 8), (256, 4)] {
            assert_eq!(
                memory
                    .estimate_work(bytes, items, false)
                    .expect("is the limit"),
                4 * PERMIT_BYTES
            );
            for (bytes, items) in [(bytes + 1, items), (bytes, items + 1), (usize::MAX, items)] {
                let error = memory
                    .estimate_work(bytes, items, false)
                    .expect_err("is above the limit");
                assert!(format!("{error:?}").contains("4096"), "{error:?}");
            }
        }
    }
}
