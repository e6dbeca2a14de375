//! Finds the numbers of names.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of trees is 2 to the power of this.
const BITS: u32 = 10;

/// Numbers by name, in many small trees. A quick hash chooses the tree, so names that are chosen to collide
/// are searched in one tree, not in a list. In the host a keyed hash would do as well, but a guest has no
/// source for a key.
#[derive(Debug, Default)]
pub(crate) struct NameIndex {
    /// Empty until there is a name.
    trees: Vec<BTreeMap<Arc<str>, usize>>,
}

impl NameIndex {
    pub(crate) fn get(&self, name: &str) -> Option<usize> {
        self.trees.get(tree(name))?.get(name).copied()
    }

    pub(crate) fn insert(&mut self, name: Arc<str>, number: usize) {
        if self.trees.is_empty() {
            self.trees.resize_with(1 << BITS, BTreeMap::new);
        }
        if let Some(tree) = self.trees.get_mut(tree(&name)) {
            tree.insert(name, number);
        }
    }
}

/// Returns the index of a name's tree.
fn tree(name: &str) -> usize {
    let hash = name.as_bytes().chunks(8).fold(0u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (hash.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95)
    });
    // The highest bits of a product depend on all bits of its factors.
    (hash >> (u64::BITS - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_collide_keep_their_own_numbers() {
        let mut known = NameIndex::default();
        assert_eq!(known.get("src/ledger.rs"), None);
        let picked: Vec<String> = (0..500_000)
            .map(|number| format!("src/ledger_{number}.rs"))
            .filter(|name| tree(name) == tree("src/ledger.rs"))
            .collect();
        assert!(picked.len() > 100, "{}", picked.len());
        for (number, name) in picked.iter().enumerate() {
            known.insert(name.as_str().into(), number);
        }
        for (number, name) in picked.iter().enumerate() {
            assert_eq!(known.get(name), Some(number));
        }
        assert_eq!(known.get("src/ledger.rs"), None);
    }

    #[test]
    fn ordinary_names_spread_over_the_trees() {
        let trees: std::collections::BTreeSet<usize> = (0..10_000)
            .map(|number| tree(&format!("src/ledger_{number}.rs")))
            .collect();
        assert!(trees.len() > 900, "{}", trees.len());
    }
}
