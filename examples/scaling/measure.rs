//! One line, measured in this process.

use std::path::Path;

use crate::case::Line;
use crate::memory;
use crate::stage::Bench;

/// Runs of a size, of which the quickest counts.
const RUNS: usize = 3;

/// Seconds of all runs of a size after which there is no other.
const ENOUGH: f64 = 2.0;

/// Measures a line at each size, and writes what came of it for the process that watches.
pub(crate) fn run(line: &Line, sizes: &[usize], limit: f64, state: &Path) -> anyhow::Result<()> {
    let bench = Bench::new(line.stage, state)?;
    for size in sizes {
        println!("begin {size}");
        let input = line.input(*size);
        let (mut best, mut outcome) = (f64::INFINITY, String::new());
        let mut all = 0.0;
        for _ in 0..RUNS {
            let run = bench.run(&input)?;
            best = best.min(run.seconds);
            outcome = run.outcome;
            all += run.seconds;
            if all > ENOUGH {
                break;
            }
        }
        let megabytes = memory::peak().map_or_else(|| "-".to_owned(), |own| format!("{own:.1}"));
        println!("{size} {best:.6} {megabytes} {outcome}");
        if best > limit {
            break;
        }
    }
    Ok(())
}
