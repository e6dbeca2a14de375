//! Which compactions hold. One does not whose summary was never written, since the program was stopped or the
//! line is broken (LCC-7); nor does one that the user went back behind.

use std::collections::HashSet;

/// The boundaries of a log, in order.
#[derive(Default)]
pub(super) struct Boundaries {
    all: Vec<Boundary>,
    /// Whether the summary of the newest did not come yet.
    is_open: bool,
}

struct Boundary {
    /// The number of its line.
    line: usize,
    /// The boundaries from this one up to that place hold no more.
    void_up_to: usize,
}

impl Boundaries {
    /// How many there were.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// The line with this number is one.
    pub(super) fn begin(&mut self, line: usize) {
        self.give_up();
        self.is_open = true;
        let void_up_to = 0;
        self.all.push(Boundary { line, void_up_to });
    }

    /// A summary came.
    pub(super) const fn close(&mut self) {
        self.is_open = false;
    }

    /// The user went back to where there were only the first `count` boundaries.
    pub(super) fn go_back(&mut self, count: usize) {
        let end = self.all.len();
        if let Some(first) = self.all.get_mut(count) {
            first.void_up_to = end;
        }
    }

    /// The lines of those that do not hold.
    pub(super) fn void(mut self) -> HashSet<usize> {
        self.give_up();
        let mut end = 0;
        let mut void = HashSet::new();
        for (index, boundary) in self.all.iter().enumerate() {
            end = end.max(boundary.void_up_to);
            if index < end {
                void.insert(boundary.line);
            }
        }
        void
    }

    /// The newest gets no summary any more.
    fn give_up(&mut self) {
        let end = self.all.len();
        if self.is_open
            && let Some(newest) = self.all.last_mut()
        {
            newest.void_up_to = end;
        }
        self.is_open = false;
    }
}
