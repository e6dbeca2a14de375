//! A line in a process of its own, which is watched: it may abort, hang or fill the memory.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::arguments::Arguments;
use crate::fit::{self, Fit, MOST, Measured};
use crate::memory;

/// MB that a process may have.
const MEMORY: f64 = 4_096.0;

/// What came of a line.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) measured: Vec<Measured>,
    /// Why there is no more of it.
    pub(crate) stopped: Option<String>,
}

impl Ran {
    /// The worst fit, of time or memory.
    pub(crate) fn fit(&self) -> Option<Fit> {
        let fits = [fit::times(&self.measured), fit::memory(&self.measured)];
        fits.into_iter()
            .flatten()
            .max_by(|one, other| one.worst().total_cmp(&other.worst()))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.stopped.is_some() || self.fit().is_some_and(|fit| fit.worst() > MOST)
    }

    /// The better of two measurements, size by size.
    pub(crate) fn merge(&mut self, other: Self) {
        for again in other.measured {
            let own = self.measured.iter_mut().find(|own| own.size == again.size);
            match own {
                Some(own) if again.outcome == own.outcome => {
                    own.seconds = own.seconds.min(again.seconds);
                    own.reference = own.reference.min(again.reference);
                }
                Some(_) => {}
                // It went on to larger sizes.
                None => self.measured.push(again),
            }
        }
        self.stopped = self.stopped.take().or(other.stopped);
    }
}

/// Measures the line with this number; it stops growing at a size that takes `enough` seconds.
pub(crate) fn run(
    line: usize,
    arguments: &Arguments,
    enough: f64,
    state: &Path,
) -> anyhow::Result<Ran> {
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let mut child = Command::new(program)
        .args(["--line", &line.to_string()])
        .args(["--max", &arguments.max.to_string()])
        .args(["--limit", &arguments.limit.to_string()])
        .args(["--enough", &enough.to_string()])
        .arg("--state")
        .arg(state)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("this program cannot run itself once more")?;
    let ran = watched(&mut child, arguments.limit);
    // Both fail only where it ended by itself.
    let _ = child.kill();
    let _ = child.wait();
    ran
}

fn watched(child: &mut Child, limit: f64) -> anyhow::Result<Ran> {
    let output = child.stdout.take().context("the child has no output")?;
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let mut ran = Ran {
        measured: Vec::new(),
        stopped: None,
    };
    let mut size = String::new();
    let mut since = Instant::now();
    loop {
        match lines.recv_timeout(Duration::from_millis(200)) {
            Ok(line) => {
                since = Instant::now();
                match line.strip_prefix("begin ") {
                    Some(next) => next.clone_into(&mut size),
                    None => ran.measured.extend(measured(&line)),
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                // Making and reading the document come on top of what is timed.
                if since.elapsed().as_secs_f64() > 2.0 * limit + 10.0 {
                    ran.stopped = Some(format!("no end in sight at {size}"));
                } else if memory::of(child.id()).is_some_and(|own| own > MEMORY) {
                    ran.stopped = Some(format!("more than {MEMORY} MB at {size}"));
                }
                if ran.stopped.is_some() {
                    return Ok(ran);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait().context("the child is lost")?;
    if !status.success() {
        ran.stopped = Some(format!("{status} at {size}"));
    } else if let Some(slow) = ran.measured.iter().find(|one| one.seconds > limit) {
        ran.stopped = Some(format!("more than {limit} s at {}", slow.size));
    }
    Ok(ran)
}

/// What a child wrote: size, seconds, those of the reference, MB, and how it ended.
fn measured(line: &str) -> Option<Measured> {
    let mut words = line.splitn(5, ' ');
    Some(Measured {
        size: words.next()?.parse().ok()?,
        seconds: words.next()?.parse().ok()?,
        reference: words.next()?.parse().ok()?,
        megabytes: words.next()?.parse().ok(),
        outcome: words.next()?.to_owned(),
    })
}
