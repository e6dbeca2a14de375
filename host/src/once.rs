//! Answers about units that are worked out when they are first asked for.

use std::sync::OnceLock;

/// One answer for each unit. Guests and plans ask for every part of a unit, and the host would walk
/// the whole unit each time.
#[derive(Debug)]
pub(crate) struct OncePerUnit<T>(Vec<OnceLock<T>>);

impl<T> OncePerUnit<T> {
    pub(crate) fn new(units: usize) -> Self {
        Self((0..units).map(|_| OnceLock::new()).collect())
    }

    /// The answer for a unit; none where the unit does not exist.
    pub(crate) fn get(&self, unit: usize, answer: impl FnOnce() -> T) -> Option<&T> {
        self.0.get(unit).map(|known| known.get_or_init(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_worked_out_once_for_each_unit() {
        let answers = OncePerUnit::new(2);
        assert_eq!(answers.get(0, || "first"), Some(&"first"));
        assert_eq!(answers.get(1, || "second"), Some(&"second"));
        for (unit, answer) in [(0, Some(&"first")), (1, Some(&"second")), (2, None)] {
            assert_eq!(answers.get(unit, || unreachable!("known")), answer);
        }
    }
}
