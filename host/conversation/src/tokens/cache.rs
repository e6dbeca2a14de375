//! Counts of messages, remembered by the messages' bytes.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;

use super::Counts;

/// Messages of a generation, and parts of them all. Two generations are held, so the memory is
/// bounded at twice this.
const GENERATION: usize = 100_000;
const PARTS: usize = 1_000_000;

/// A message by its hash and length. The hash is keyed at random, so that nobody can prepare
/// two messages that share one; by accident two of 200,000 do so once in a billion runs.
type Key = (u64, usize);

#[derive(Default)]
pub(super) struct Cache {
    hasher: RandomState,
    generations: Mutex<Generations>,
}

/// What was not asked for during a whole generation is forgotten.
#[derive(Default)]
struct Generations {
    young: HashMap<Key, Counts>,
    /// Parts of the messages in `young`.
    parts: usize,
    old: HashMap<Key, Counts>,
}

impl Cache {
    pub(super) fn get_or_insert(&self, raw: &str, count: impl FnOnce() -> Counts) -> Counts {
        let key = (self.hasher.hash_one(raw.as_bytes()), raw.len());
        if let Some(counts) = self.lock().get(key) {
            return counts;
        }
        // Counting is slow; others may use the cache meanwhile.
        let counts = count();
        self.lock().insert(key, counts.clone());
        counts
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Generations> {
        self.generations
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Generations {
    fn get(&mut self, key: Key) -> Option<Counts> {
        if let Some(counts) = self.young.get(&key) {
            return Some(counts.clone());
        }
        let counts = self.old.remove(&key)?;
        self.insert(key, counts.clone());
        Some(counts)
    }

    fn insert(&mut self, key: Key, counts: Counts) {
        let parts = counts.parts.len();
        // One message must not drive out all others.
        if parts > PARTS / 2 {
            return;
        }
        if self.young.len() >= GENERATION || self.parts + parts > PARTS {
            self.old = std::mem::take(&mut self.young);
            self.parts = 0;
        }
        // Two threads may have counted the same message.
        if self.young.insert(key, counts).is_none() {
            self.parts += parts;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_is_counted_once() {
        let cache = Cache::default();
        let one = || Counts { parts: [1].into() };
        assert_eq!(cache.get_or_insert("a", one), one());
        assert_eq!(
            cache.get_or_insert("a", || unreachable!("counted again")),
            one()
        );
    }

    #[test]
    fn what_is_asked_for_survives_a_change_of_generations_and_the_rest_goes() {
        let cache = Cache::default();
        let counts = || Counts { parts: [1].into() };
        cache.get_or_insert("used", counts);
        cache.get_or_insert("unused", counts);
        for round in 0..2 {
            for index in 0..GENERATION {
                cache.get_or_insert(&format!("{round} {index}"), counts);
            }
            cache.get_or_insert("used", || {
                unreachable!("it was asked for in each generation")
            });
        }
        let mut counted = false;
        cache.get_or_insert("unused", || {
            counted = true;
            counts()
        });
        assert!(counted);
    }

    #[test]
    fn messages_of_many_parts_fill_a_generation_sooner() {
        let cache = Cache::default();
        let parts = PARTS / 4;
        let counts = |parts: usize| Counts {
            parts: vec![1; parts].into(),
        };
        for index in 0..40 {
            cache.get_or_insert(&format!("{index}"), || counts(parts));
            let held = cache.lock();
            let all = held.young.values().chain(held.old.values());
            assert!(all.map(|own| own.parts.len()).sum::<usize>() <= 2 * PARTS);
        }
        cache.get_or_insert("39", || unreachable!("it came last"));
    }

    #[test]
    fn message_of_too_many_parts_is_not_remembered() {
        let cache = Cache::default();
        let huge = || Counts {
            parts: vec![1; PARTS].into(),
        };
        cache.get_or_insert("kept", || Counts { parts: [1].into() });
        assert_eq!(cache.get_or_insert("huge", huge), huge());
        assert_eq!(cache.lock().young.len(), 1);
    }
}
