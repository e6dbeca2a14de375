//! Values of units that are computed on demand, once.

use std::sync::OnceLock;

/// One value for each unit. Guests and plans ask for every part of a unit, and the host would read the whole
/// unit each time.
#[derive(Debug)]
pub(crate) struct OncePerUnit<T>(Vec<OnceLock<T>>);

impl<T> OncePerUnit<T> {
    pub(crate) fn new(units: usize) -> Self {
        Self((0..units).map(|_| OnceLock::new()).collect())
    }

    /// Returns the value of a unit, computed at the first call; `None` if the unit does not exist.
    pub(crate) fn get(&self, unit: usize, compute: impl FnOnce() -> T) -> Option<&T> {
        self.0.get(unit).map(|known| known.get_or_init(compute))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn get_computes_each_value_once() {
        let values = OncePerUnit::new(2);
        assert_eq!(values.get(0, || "first"), Some(&"first"));
        assert_eq!(values.get(1, || "second"), Some(&"second"));
        for (unit, value) in [(0, Some(&"first")), (1, Some(&"second")), (2, None)] {
            assert_eq!(values.get(unit, || unreachable!("known")), value);
        }
    }
}
