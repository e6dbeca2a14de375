//! What a strategy costs by the size of a conversation.

use std::time::Duration;

use baler_generated::Kind;
use baler_generated::session::{self, Event};
use baler_host::receipt::AttemptResult;
use baler_host::{Budget, Host, Limits, Request, Strategy};
use serde::Serialize;
use serde_json::json;

use crate::advice;
use crate::report::{Check, Severity};

/// Numbers of units of the conversations.
pub const SIZES: [usize; 3] = [100, 1_000, 10_000];

/// A conversation of this size has to fit: few agents have longer ones.
const NEEDED: usize = 1_000;

/// Runs of each size; the fastest counts, as machines are noisy.
const RUNS: usize = 3;

/// The exponent from which on the growth is worth a word.
const STEEP: f64 = 1.3;

/// What a plan for a conversation of some size cost.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Size {
    /// Number of units.
    pub units: usize,
    /// Tokens of the conversation.
    pub tokens: u32,
    /// Fuel; `None` for a strategy that is no component, and if it is not known.
    pub fuel: Option<u64>,
    /// Time of the strategy alone, the shortest of three runs, in microseconds.
    pub time_us: u64,
    /// Peak size of the component's memories, in bytes.
    pub memory: u64,
    /// How it ended, as in receipts: `accepted`, `declined`, `failure`, or the code of a fault.
    pub ended: &'static str,
    /// The same in words, with the remedy; `None` if it was accepted.
    #[serde(skip)]
    pub fault: Option<(String, &'static str)>,
}

/// Measures what a plan costs for conversations of [`SIZES`], of which 30 % should stay.
///
/// # Errors
/// The host or the machine failed.
pub async fn sizes(
    host: &Host,
    strategy: &Strategy,
    on_progress: &(dyn Fn(&'static str, usize) + Sync),
) -> anyhow::Result<Vec<Size>> {
    let mut measured = Vec::new();
    for units in SIZES {
        on_progress("sizes", SIZES.len());
        let conversation =
            host.read(session::body(Kind::OpenAiChat, &events(units)).to_string())?;
        let request = Request::new(Budget::Share(0.3));
        let mut best: Option<Size> = None;
        for _ in 0..RUNS {
            host.lift_quarantine();
            let chain = std::slice::from_ref(strategy);
            let compaction = host.compact(&conversation, chain, &request).await?;
            let Some(attempt) = compaction.receipt().attempts.first() else {
                continue;
            };
            let fault = match &attempt.result {
                AttemptResult::Fault { fault } => {
                    Some((fault.to_string(), advice::for_author(fault)))
                }
                _ => None,
            };
            let run = Size {
                units: conversation.units().len(),
                tokens: conversation.tokens(),
                fuel: attempt.usage.fuel,
                time_us: attempt.usage.time_us,
                memory: attempt.usage.memory_bytes,
                ended: attempt.result.code(),
                fault,
            };
            if best.as_ref().is_none_or(|best| run.time_us < best.time_us) {
                best = Some(run);
            }
        }
        measured.extend(best);
    }
    Ok(measured)
}

/// A session of this many units: mostly steps, and now and then the user.
fn events(units: usize) -> Vec<Event> {
    const TURN: usize = 25;
    let event = |n: usize| match n % TURN {
        0 => Event::User(format!(
            "Part {n} next: keep its public functions, and run its tests."
        )),
        last if last + 1 == TURN => Event::Assistant(format!("Part {n} is done; its tests pass.")),
        _ => Event::Call {
            tool: ["read_file", "run", "search"][n % 3].to_owned(),
            arguments: json!({"path": format!("src/part_{n}/mod.rs")}),
            output: (0..12)
                .map(|line| format!("{line}: let gate_{n} = tide({line}, {});\n", n * 7))
                .collect(),
            failed: n.is_multiple_of(17),
        },
    };
    (0..units).map(event).collect()
}

/// Returns the exponent with which the fuel grows with the number of units, between the two largest sizes that ended well.
pub(crate) fn growth(measured: &[Size]) -> Option<f64> {
    let mut well = measured.iter().rev().filter(|size| size.fault.is_none());
    let (large, small) = (well.next()?, well.next()?);
    let ratio = |large: u64, small: u64| large as f64 / small.max(1) as f64;
    let fuel = ratio(large.fuel?, small.fuel?);
    Some(fuel.ln() / ratio(large.units as u64, small.units as u64).ln())
}

/// Says what of the costs is too much.
pub(crate) fn check(measured: &[Size], limits: &Limits) -> Check {
    let mut check = Check::new(
        "sizes",
        format!(
            "up to {} units, within {} fuel, {} ms and {} MiB",
            SIZES[SIZES.len() - 1],
            limits.fuel,
            limits.time.as_millis(),
            limits.memory >> 20
        ),
    );
    for size in measured {
        if let Some((fault, remedy)) = &size.fault {
            let severity = match size.units <= NEEDED {
                true => Severity::Error,
                false => Severity::Warning,
            };
            check.add(
                severity,
                format!("with {} units {fault}", size.units),
                *remedy,
            );
        }
    }
    if let Some(growth) = growth(measured).filter(|growth| *growth > STEEP) {
        check.add(
            Severity::Warning,
            format!("expected fuel in proportion to the number of units; found that it grows with the power of {growth:.1}"),
            "read each unit once, count a text once, and look nothing up by going through a list",
        );
    }
    let slow = measured
        .iter()
        .find(|size| size.units <= NEEDED && Duration::from_micros(size.time_us) > limits.time / 4);
    if let Some(slow) = slow {
        check.add(
            Severity::Warning,
            format!(
                "with {} units it takes {} ms, and a call may take {} ms on a busy machine",
                slow.units,
                slow.time_us / 1_000,
                limits.time.as_millis()
            ),
            "declare the time that it needs by `introspect` (`timeout-ms`), and do less work",
        );
    }
    check
}
