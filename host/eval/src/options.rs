//! Options of an evaluation.

use baler_host::Pins;

/// What to measure, and how.
///
/// ```
/// use baler_eval::Options;
///
/// let options = Options { budgets: vec![0.1], ..Options::default() };
/// assert!(!options.at_recorded_compactions);
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    /// The budgets, as shares of the history from 0.001 to 1, in steps of 0.001.
    pub budgets: Vec<f64>,
    /// Whether to cut where a program compacted by itself, with the size of its own summary as the budget.
    /// Otherwise, cuts are at 40, 60 and 80 % of the units, and at the end if there are questions.
    pub at_recorded_compactions: bool,
    /// Whether to measure also what is kept of a constraint that is put into each conversation. It takes three further
    /// compactions for each other one. Not at recorded compactions.
    pub constraints: bool,
    /// What strategies must keep. Baselines pin nothing.
    pub pins: Pins,
    /// The number of conversations that are measured at the same time.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            budgets: vec![0.05, 0.1, 0.25, 0.5],
            at_recorded_compactions: false,
            constraints: false,
            pins: Pins::None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
