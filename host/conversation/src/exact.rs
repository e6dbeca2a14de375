//! Lists that take no more memory than they need.

/// Elements up to which a list is copied. The pages of a large one go back by themselves.
const FEW: usize = 64;

/// Gives back what a list does not need: one that grows begins with room for four. To shrink a small
/// list where it lies leaves a hole that the next one, which grows again, is too large for; so it
/// moves to a place of its size, and the next one grows where it grew.
pub(crate) fn exact<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        return;
    }
    if list.len() > FEW {
        list.shrink_to_fit();
        return;
    }
    let mut exact = Vec::with_capacity(list.len());
    exact.append(list);
    *list = exact;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_keeps_its_elements_and_loses_what_it_does_not_need() {
        for count in [0, 1, 3, 4, FEW, FEW + 1, 1_000] {
            let mut list = Vec::with_capacity(4 * count + 4);
            list.extend(0..count);
            exact(&mut list);
            assert!(list.iter().copied().eq(0..count));
            assert_eq!(list.capacity(), count);
        }
    }
}
