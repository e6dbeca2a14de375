//! Finds the numbers of names.

use std::collections::BTreeMap;

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
    others: BTreeMap<Box<str>, usize>,
}

/// A place for the number of a name. The hash is compared before the name.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    hash: u64,
    number: Option<usize>,
}

impl NameIndex {
    /// Returns the number of a name, if it is known. `name_of` returns the name with a number.
    pub(crate) fn get<'n>(&self, name: &str, name_of: impl Fn(usize) -> &'n str) -> Option<usize> {
        let hash = hash(name);
        for slot in self.near(hash) {
            let Slot { hash: own, number } = self.slots[slot];
            let Some(number) = number else {
                // It may be in the tree since the table was smaller.
                break;
            };
            if own == hash && name_of(number) == name {
                return Some(number);
            }
        }
        match self.others.is_empty() {
            true => None,
            false => self.others.get(name).copied(),
        }
    }

    /// Adds a name that is not known yet. `name_of` returns any other name by its number.
    pub(crate) fn insert<'n>(
        &mut self,
        name: &'n str,
        number: usize,
        name_of: impl Fn(usize) -> &'n str,
    ) {
        if (self.taken + 1) * 2 > self.slots.len() {
            self.grow(name_of);
        }
        self.put(hash(name), number, || name);
    }

    /// Puts a number into a free slot, or into the tree if there is none.
    fn put<'n>(&mut self, hash: u64, number: usize, name: impl Fn() -> &'n str) {
        let free = self
            .near(hash)
            .find(|slot| self.slots[*slot].number.is_none());
        match free {
            Some(slot) => {
                let number = Some(number);
                self.slots[slot] = Slot { hash, number };
                self.taken += 1;
            }
            None => {
                self.others.insert(name().into(), number);
            }
        }
    }

    /// Doubles the number of slots. Names in the tree stay there: they were chosen to collide, or are few.
    fn grow<'n>(&mut self, name_of: impl Fn(usize) -> &'n str) {
        let number = (self.slots.len() * 2).max(1 << BITS);
        let before = std::mem::replace(&mut self.slots, vec![Slot::default(); number]);
        self.taken = 0;
        for Slot { hash, number } in before {
            if let Some(number) = number {
                self.put(hash, number, || name_of(number));
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

    /// Adds all names, and checks that each has its number at any time.
    fn index_of(names: &[String]) -> NameIndex {
        let mut known = NameIndex::default();
        let name_of = |number: usize| names[number].as_str();
        for (number, name) in names.iter().enumerate() {
            assert_eq!(known.get(name, name_of), None);
            known.insert(name, number, name_of);
            assert_eq!(known.get(&names[number / 2], name_of), Some(number / 2));
        }
        for (number, name) in names.iter().enumerate() {
            assert_eq!(known.get(name, name_of), Some(number));
        }
        assert_eq!(known.get("src/ledger.rs", name_of), None);
        known
    }

    #[test]
    fn names_that_collide_keep_their_own_numbers() {
        let first = |name: &str| hash(name) >> (u64::BITS - 2 * BITS);
        for chosen in [0..4, (1 << (2 * BITS)) - 4..1 << (2 * BITS)] {
            let names = (0..).map(|number| format!("src/ledger_{number}.rs"));
            let picked = names.filter(|name| chosen.contains(&first(name)));
            let mut names: Vec<String> = picked.take(100).collect();
            // Then the table grows, and there are free slots near those in the tree.
            names.extend((0..10_000).map(|number| format!("quay_{number}")));
            let known = index_of(&names);
            assert!(known.others.len() > 50, "{}", known.others.len());
        }
    }

    #[test]
    fn ordinary_names_find_a_slot_as_the_table_grows() {
        let names: Vec<String> = (0..10_000)
            .map(|number| format!("src/ledger_{number}.rs"))
            .collect();
        let known = index_of(&names);
        assert!(known.others.len() < 10, "{}", known.others.len());
    }
}
