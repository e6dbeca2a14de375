//! Lists whose length a document decides. What is wrong with it may be wrong a million times, which
//! nobody reads: the first are listed, and all are counted.

/// The most broken rules, the most repairs, and the most messages from before a repair that are
/// listed one by one. Counts tell of all.
pub const MAX_LISTED: usize = 1_000;

/// The first [`MAX_LISTED`] of what is pushed, by a key; where keys are equal, those that came
/// first. It never holds more than twice as many.
#[derive(Debug)]
pub(crate) struct Listed<T, K> {
    list: Vec<T>,
    key: fn(&T) -> K,
}

impl<T, K: Ord> Listed<T, K> {
    pub(crate) fn by(key: fn(&T) -> K) -> Self {
        Self {
            list: Vec::new(),
            key,
        }
    }

    pub(crate) fn push(&mut self, one: T) {
        self.list.push(one);
        if self.list.len() >= 2 * MAX_LISTED {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.list.sort_by_key(self.key);
        self.list.truncate(MAX_LISTED);
    }

    /// The list, in order of the key.
    pub(crate) fn finish(mut self) -> Vec<T> {
        self.cut();
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_by_the_key_are_listed_in_whatever_order_they_come() {
        let mut listed = Listed::by(|own: &(usize, usize)| own.0);
        // 7 has no divisor in common with 10,000, so each key comes twice.
        for number in 0..20_000 {
            listed.push((number * 7 % 10_000, number / 10_000));
        }
        let expected = (0..MAX_LISTED).map(|number| (number / 2, number % 2));
        assert!(listed.finish().into_iter().eq(expected));
    }
}
