//! Answers about units that are worked out when they are first asked for.

use std::sync::OnceLock;

/// One answer for each unit. Guests and plans ask for every part of a unit, and the host would walk
/// the whole unit each time.
#[derive(Debug)]
pub(crate) struct OncePerUnit(Vec<OnceLock<bool>>);

impl OncePerUnit {
    pub(crate) fn new(units: usize) -> Self {
        Self((0..units).map(|_| OnceLock::new()).collect())
    }

    /// The answer for a unit; false where the unit does not exist.
    pub(crate) fn get(&self, unit: usize, answer: impl FnOnce() -> bool) -> bool {
        self.0
            .get(unit)
            .is_some_and(|known| *known.get_or_init(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_worked_out_once_for_each_unit() {
        let answers = OncePerUnit::new(2);
        assert!(answers.get(0, || true));
        assert!(!answers.get(1, || false));
        for (unit, answer) in [(0, true), (1, false), (2, false)] {
            assert_eq!(answers.get(unit, || unreachable!("known")), answer);
        }
    }
}
