//! One line, measured in this process.

use std::path::Path;
use std::time::Instant;

use crate::arguments::Arguments;
use crate::case::Line;
use crate::fit::{LEAST_SECONDS, LEAST_SIZES};
use crate::memory;
use crate::reference;
use crate::stage::{Bench, Run};

/// Times `enough` after which a line stops growing even where it is still too quick to be fitted.
const PATIENCE: f64 = 4.0;

/// Measures a line at each size, and writes what came of it for the process that watches.
pub(crate) fn run(line: &Line, arguments: &Arguments, state: &Path) -> anyhow::Result<()> {
    let bench = Bench::new(line.stage, state)?;
    let mut ends: Vec<String> = Vec::new();
    for size in &arguments.sizes() {
        println!("begin {size}");
        let start = Instant::now();
        let input = line.input(*size);
        let Run { seconds, outcome } = quickest(|| bench.run(&input))?;
        let megabytes = memory::peak().map_or_else(|| "-".to_owned(), |own| format!("{own:.1}"));
        let elapsed = start.elapsed().as_secs_f64();
        let content = input.document() + &input.answer;
        let reference = reference::seconds(&content, *size);
        println!("{size} {seconds:.6} {reference:.6} {megabytes} {outcome}");
        ends.push(outcome);
        let alike = ends
            .iter()
            .rev()
            .take_while(|end| ends.last() == Some(*end));
        let is_enough = stops_growing(alike.count(), seconds, elapsed, arguments.enough());
        if seconds > arguments.limit || is_enough {
            break;
        }
    }
    Ok(())
}

/// The quickest of some runs: the less time one takes, the more noise weighs.
pub(crate) fn quickest(mut run: impl FnMut() -> anyhow::Result<Run>) -> anyhow::Result<Run> {
    let mut best = run()?;
    let runs = match best.seconds {
        short if short < 0.050 => 3,
        long if long < 0.500 => 2,
        _ => 1,
    };
    for _ in 1..runs {
        let next = run()?;
        if next.seconds < best.seconds {
            best = next;
        }
    }
    Ok(best)
}

/// Whether a line has sizes enough: as many as a fit needs ended alike, and the last one took
/// `elapsed` seconds with all that it needs, of which `seconds` count.
pub(crate) fn stops_growing(alike: usize, seconds: f64, elapsed: f64, enough: f64) -> bool {
    let is_fitted = seconds >= LEAST_SECONDS || elapsed > PATIENCE * enough;
    alike >= LEAST_SIZES && elapsed > enough && is_fitted
}
