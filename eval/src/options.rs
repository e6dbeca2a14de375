//! What is to be measured, and how.

use baler_host::Pins;

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct Options {
    /// Shares of the history that a result may have: thousandths, from 0.001 to 1, as figures are
    /// told apart by.
    pub budgets: Vec<f64>,
    /// Cut where a program compacted by itself, to the size of its own summary; else at 40, 60
    /// and 80 % of the units, and at the end where there are questions.
    pub recorded: bool,
    /// What stays in any case. Baselines pin nothing.
    pub pins: Pins,
    /// Conversations that are worked on at the same time.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            budgets: vec![0.05, 0.1, 0.25, 0.5],
            recorded: false,
            pins: Pins::None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
