//! The numbers of names, found by the names.

use std::collections::BTreeMap;
use std::sync::Arc;

/// How many trees there are: 2 to the power of this.
const BITS: u32 = 10;

/// Numbers by name, in many small trees. The quick hash says only in which: whoever picks names
/// that all share one gets a search in one tree, not along a list. A keyed hash would do as well in
/// the host, but a guest has nothing to draw a key from.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// None until there is a name.
    trees: Vec<BTreeMap<Arc<str>, usize>>,
}

impl Known {
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

/// In which tree a name is.
fn tree(name: &str) -> usize {
    let hash = name.as_bytes().chunks(8).fold(0u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (hash.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95)
    });
    // A product's highest bits hang on all bits of its factors.
    (hash >> (u64::BITS - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_picked_to_share_a_tree_keep_their_own_numbers() {
        let mut known = Known::default();
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
