//! Sorts by name.

use std::collections::BinaryHeap;

/// Returns the indices of the names, sorted by name. Equal names keep their order.
///
/// It sorts indices and not the named values, because each sorted type would add a copy of the sort to the
/// component.
pub(crate) fn by_name(names: &[&str]) -> Vec<usize> {
    let places = names.iter().enumerate().map(|(place, name)| (*name, place));
    // A heap is fast enough, and its code is much smaller than that of a sort.
    let sorted = places
        .collect::<BinaryHeap<(&str, usize)>>()
        .into_sorted_vec();
    sorted.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_keep_their_order() {
        assert_eq!(by_name(&["b", "a", "c", "a"]), [1, 3, 0, 2]);
        assert!(by_name(&[]).is_empty());
    }
}
