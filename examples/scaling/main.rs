//! How the host's own work grows with what it is given: in every dimension that a document, a log,
//! a plan or a receipt can grow in, for every format and every stage. Nothing may grow worse than
//! n log n: no timeout reaches the host's own loops.
//!
//! ```sh
//! cargo build --release && cargo run --release --example scaling -- [FILTER…] [--max N] [--limit SECONDS] [--list]
//! ```
//!
//! A line for each dimension, kind and stage: seconds at the sizes from N / 16 to N (131072 where
//! nothing is said), peak memory, and the exponents that were fitted: over all sizes, and over the
//! largest three. A FILTER is a part of a line's first three columns; several have to fit all. Each
//! line is measured in a process of its own, so that one that aborts, takes more than the limit
//! (20 s) or more than 4 GB ends that line and no other. Ends with 1 if a line did so, or grew by
//! more than 1.3; such a line is measured twice.
//!
//! Guests run within their limits, and reaching one is no fault of the host's: what is timed is the
//! whole call, and only sizes that ended alike are fitted together.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a command, and this is its output"
)]

mod arguments;
mod case;
mod wire;
mod dimensions;
mod logs;
mod plans;
mod receipts;
mod stage;
mod measure;
mod memory;
mod fit;
mod watch;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use anyhow::Context as _;

use arguments::{Arguments, Wanted};
use fit::Fit;
use watch::Ran;

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::read()?;
    let lines = case::lines();
    match &arguments.wanted {
        Wanted::Measurement { line, state } => {
            let line = lines.get(*line).context("there is no such line")?;
            measure::run(line, &arguments.sizes, arguments.limit, state)?;
            Ok(ExitCode::SUCCESS)
        }
        Wanted::List => {
            for line in lines.iter().filter(|line| arguments.fits(&line.label())) {
                println!("{}", line.label());
            }
            Ok(ExitCode::SUCCESS)
        }
        Wanted::Table => table(&lines, &arguments),
    }
}

/// Measures all lines that were asked for, and names those that grow too fast.
fn table(lines: &[case::Line], arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let state = tempfile::tempdir().context("there is no folder for compiled strategies")?;
    let sizes: String = arguments
        .sizes
        .iter()
        .map(|size| format!("{size:>9}"))
        .collect();
    println!("{:<74}{sizes}      MB   all   top", "seconds at");
    let mut over = Vec::new();
    let mut number = 0;
    for (index, line) in lines.iter().enumerate() {
        let label = line.label();
        if !arguments.fits(&label) {
            continue;
        }
        number += 1;
        let mut ran = watch::run(index, arguments, state.path())?;
        if ran.is_over() && ran.stopped.is_none() {
            ran.merge(watch::run(index, arguments, state.path())?);
        }
        println!("{label:<74}{}", shown(&ran, &arguments.sizes));
        if ran.is_over() {
            over.push(label);
        }
    }
    println!("\n{number} lines, {} of them grow too fast", over.len());
    for label in &over {
        println!("  {label}");
    }
    Ok(if over.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What was measured, as the rest of a line.
fn shown(ran: &Ran, sizes: &[usize]) -> String {
    let mut shown = String::new();
    for size in sizes {
        let measured = ran.measured.iter().find(|one| one.size == *size);
        match measured {
            Some(one) => shown.push_str(&format!("{:>9.4}", one.seconds)),
            None => shown.push_str("        -"),
        }
    }
    let last = ran.measured.last();
    match last.and_then(|one| one.megabytes) {
        Some(megabytes) => shown.push_str(&format!("{megabytes:>8.0}")),
        None => shown.push_str("       -"),
    }
    match ran.fit() {
        Some(Fit { all, top }) => shown.push_str(&format!(" {all:>5.2} {top:>5.2}")),
        None => shown.push_str("     -     -"),
    }
    if let Some(why) = &ran.stopped {
        shown.push_str(&format!("  STOPPED: {why}"));
    } else if ran.is_over() {
        shown.push_str("  GROWS TOO FAST");
    }
    if let Some(one) = last {
        shown.push_str(&format!("  {}", one.outcome));
    }
    shown
}
