//! Finds the numbers of names.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of slots at first is 2 to the power of this.
const BITS: u32 = 10;

/// Slots that are looked at for a name.
const PROBES: usize = 16;

/// Numbers by name, in a hash table. In the host a keyed hash would do, but a guest has no source for a key, so names
/// may be chosen to collide: those that find no slot nearby are in a tree.
#[derive(Debug, Default)]
pub(crate) struct NameIndex {
    /// The number of slots is a power of two, and at most half of them are taken. Empty until there is a name.
    slots: Vec<Slot>,
    taken: usize,
    others: BTreeMap<Arc<str>, usize>,
}

/// A place for a name. Its hash is compared first.
#[derive(Debug, Clone, Default)]
struct Slot {
    hash: u64,
    name: Option<(Arc<str>, usize)>,
}

impl NameIndex {
    pub(crate) fn get(&self, name: &str) -> Option<usize> {
        let hash = hash(name);
        for slot in self.near(hash) {
            match &self.slots[slot] {
                Slot { name: None, .. } => return None,
                Slot {
                    hash: own,
                    name: Some((known, number)),
                } if *own == hash && **known == *name => return Some(*number),
                _ => {}
            }
        }
        self.others.get(name).copied()
    }

    /// Adds a name that is not known yet.
    pub(crate) fn insert(&mut self, name: Arc<str>, number: usize) {
        if (self.taken + 1) * 2 > self.slots.len() {
            self.grow();
        }
        self.put(hash(&name), name, number);
    }

    fn put(&mut self, hash: u64, name: Arc<str>, number: usize) {
        let free = self
            .near(hash)
            .find(|slot| self.slots[*slot].name.is_none());
        match free {
            Some(slot) => {
                let name = Some((name, number));
                self.slots[slot] = Slot { hash, name };
                self.taken += 1;
            }
            None => {
                self.others.insert(name, number);
            }
        }
    }

    /// Doubles the number of slots. Names in the tree stay there: they were chosen to collide, or are few.
    fn grow(&mut self) {
        let number = (self.slots.len() * 2).max(1 << BITS);
        let before = std::mem::replace(&mut self.slots, vec![Slot::default(); number]);
        self.taken = 0;
        for Slot { hash, name } in before {
            if let Some((name, number)) = name {
                self.put(hash, name, number);
            }
        }
    }

    /// Iterates the slots that may have a name with this hash.
    fn near(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let slots = self.slots.len();
        // The highest bits of a product depend on all bits of its factors.
        let first = match slots {
            0 => 0,
            _ => (hash >> (u64::BITS - slots.trailing_zeros())) as usize,
        };
        (0..PROBES.min(slots)).map(move |probe| (first + probe) & (slots - 1))
    }
}

fn hash(name: &str) -> u64 {
    let (words, rest) = name.as_bytes().as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain(std::iter::once(&last));
    words.fold(0, |hash: u64, word| {
        (hash.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x517c_c1b7_2722_0a95)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_collide_keep_their_own_numbers() {
        let mut known = NameIndex::default();
        assert_eq!(known.get("src/ledger.rs"), None);
        let first = |name: &str| hash(name) >> (u64::BITS - 2 * BITS);
        let picked: Vec<String> = (0..)
            .map(|number| format!("src/ledger_{number}.rs"))
            .filter(|name| first(name) < 4)
            .take(100)
            .collect();
        for (number, name) in picked.iter().enumerate() {
            known.insert(name.as_str().into(), number);
        }
        assert!(!known.others.is_empty());
        for (number, name) in picked.iter().enumerate() {
            assert_eq!(known.get(name), Some(number));
        }
        assert_eq!(known.get("src/ledger.rs"), None);
    }

    #[test]
    fn ordinary_names_find_a_slot_and_keep_their_numbers_as_the_table_grows() {
        let mut known = NameIndex::default();
        let name = |number: usize| format!("src/ledger_{number}.rs");
        for number in 0..10_000 {
            assert_eq!(known.get(&name(number)), None);
            known.insert(name(number).into(), number);
        }
        assert!(known.others.len() < 10, "{}", known.others.len());
        for number in 0..10_000 {
            assert_eq!(known.get(&name(number)), Some(number));
        }
    }
}
