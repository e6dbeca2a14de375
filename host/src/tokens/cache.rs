//! Counts of messages, remembered by the messages' bytes.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;

use super::Counts;

/// Messages of a generation. Two generations are held, so the memory is bounded at twice this.
const GENERATION: usize = 100_000;

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
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_counted_once() {
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
}
