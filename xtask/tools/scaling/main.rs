//! How the host's own work grows with what it is given: in every dimension that a request or a plan can
//! grow in, for every format and every stage. Nothing may grow worse than
//! n log n: no timeout reaches the host's own loops.
//!
//! ```sh
//! cargo xtask scaling [FILTER…] [--all] [--list]
//! ```
//!
//! A line for each dimension, kind and stage: seconds at the sizes from N / 32 to N (`--max N`, 131072
//! where nothing is said), peak memory, and the exponents that were fitted: over all sizes, and over
//! the largest three. They go to standard error. What they come to, by stage and format, goes to standard
//! output, as the table of `docs/benchmarks.md`.
//!
//! Where nothing is said, that is every dimension in every format, but the strategies other than
//! `native:truncate`, appending and archives in those dimensions alone that matter to them: about a
//! quarter of an hour on two cores. With `--all` it is all there is, which takes hours. A FILTER is a
//! part of a line's first three columns; several have to fit all, and then all lines that fit are
//! measured.
//!
//! Where the caches of a machine end, all work costs more for each piece. So linear work (a table of as
//! many pieces of the document, `reference.rs`) is timed at each size, too, and what its exponent has
//! above 1 is taken off a line's.
//!
//! A line stops growing at the third size or a later one that takes more than 0.25 s (`--enough`; 2 s
//! with `--all` or a FILTER) with all that it needs, and is fitted by what there is. Of short times
//! the least of three runs counts. Two lines are measured at once (`--jobs`). Each line is measured
//! in a process of its own, so that one that aborts, takes more than the limit (`--limit`, 20 s) or more
//! than 4 GB ends that line and no other. Ends with 1 if a line did so, or grew by more than 1.3;
//! such a line is measured once more, alone and to larger sizes.
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
mod plans;
mod stage;
mod measure;
mod memory;
mod reference;
mod fit;
mod watch;
mod summary;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, ensure};
use clap::Parser as _;

use arguments::Arguments;
use case::Line;
use fit::Fit;
use summary::Told;
use watch::Ran;

/// How much more time a line has that is measured again.
const AGAIN: f64 = 4.0;

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let lines = case::lines();
    let wants = |line: &&Line| arguments.wants(&line.label(), line.is_chosen());
    if let (Some(line), Some(state)) = (arguments.line, &arguments.state) {
        let found = lines.get(line);
        let found = found
            .with_context(|| format!("expected a line below {}, found {line}", lines.len()))?;
        measure::run(found, &arguments, state)?;
    } else if arguments.list {
        for line in lines.iter().filter(wants) {
            println!("{}", line.label());
        }
    } else {
        return table(&lines, &arguments);
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures the lines that were asked for, tells what they come to, and names those that grow too
/// fast.
fn table(lines: &[Line], arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let state = tempfile::tempdir().context("there is no folder for compiled strategies")?;
    let wanted: Vec<usize> = (0..lines.len())
        .filter(|index| arguments.wants(&lines[*index].label(), lines[*index].is_chosen()))
        .collect();
    ensure!(
        !wanted.is_empty(),
        "no line is called that; `--list --all` names them"
    );
    let sizes = arguments.sizes();
    let columns = sizes.iter().map(|size| format!("{size:>9}"));
    let columns: String = columns.collect();
    let columns = format!("{:<74}{columns}      MB   all   top", "seconds at");
    eprintln!("{columns}");
    let mut measured = measured(lines, &wanted, arguments, state.path())?;
    // Alone, since what ran beside them may have held them up.
    for (index, ran) in &mut measured {
        if ran.is_over() && ran.stopped.is_none() {
            let enough = arguments.enough() * AGAIN;
            ran.merge(watch::run(*index, arguments, enough, state.path())?);
            let rest = shown(ran, &sizes);
            eprintln!("{:<74}{rest}  AGAIN", lines[*index].label());
        }
    }
    let told: Vec<Told> = measured
        .iter()
        .map(|(index, ran)| Told::of(&lines[*index], ran))
        .collect();
    print!("{}", summary::markdown(&told));
    let over: Vec<&(usize, Ran)> = measured.iter().filter(|(_, ran)| ran.is_over()).collect();
    eprintln!("{} lines, {} of them grow too fast", told.len(), over.len());
    for (index, _) in &over {
        eprintln!("  {}", lines[*index].label());
    }
    Ok(ExitCode::from(u8::from(!over.is_empty())))
}

/// Measures lines, some of them at once, and tells of each as it ends. In their own order.
fn measured(
    lines: &[Line],
    wanted: &[usize],
    arguments: &Arguments,
    state: &Path,
) -> anyhow::Result<Vec<(usize, Ran)>> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::with_capacity(wanted.len()));
    let work = || -> anyhow::Result<()> {
        while let Some(&index) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            let ran = watch::run(index, arguments, arguments.enough(), state)?;
            let rest = shown(&ran, &arguments.sizes());
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            eprintln!("{:<74}{rest}", lines[index].label());
            all.push((index, ran));
        }
        Ok(())
    };
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let jobs: Vec<_> = (0..arguments.jobs()).map(|_| scope.spawn(work)).collect();
        for job in jobs {
            match job.join() {
                Ok(done) => done?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    })?;
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|(index, _)| *index);
    Ok(all)
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
