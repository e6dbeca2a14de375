//! Tests whether a compaction strategy keeps to the contract, and measures what it costs and what it keeps.
//!
//! For authors: a host replaces a strategy that breaks a rule or a limit by another one, so that nobody notices. [`test()`]
//! runs a strategy over a built-in corpus, asks it everything that a host may ask, and says what a host would refuse, in
//! which conversation, and what to change.
//!
//! ```no_run
//! use baler_host::Host;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> anyhow::Result<()> {
//! let host = Host::builder().without_archive().build()?;
//! let strategy = host.load("mine", &std::fs::read("mine.wasm")?).await?;
//! let report = baler_conformance::test(&host, &strategy, &|_, _| ()).await?;
//! assert!(report.passed(), "{:?}", report.checks);
//! # Ok(()) }
//! ```

mod advice;
mod cases;
mod declaration;
mod keeps;
mod model;
mod odd;
mod plans;
mod report;
mod should_compact;
mod sizes;

use std::sync::Arc;

use baler_host::model::ModelGrant;
use baler_host::strategy::Permission;
use baler_host::{Host, Strategy};

pub use declaration::is_kebab;
pub use keeps::{Kept, keeps};
pub use report::{Check, Example, Finding, Report, Severity};
pub use sizes::{SIZES, Size, sizes};

use model::Scripted;

/// Tests a strategy. Calls `on_progress` with what begins and how many steps it has, one call for each step of it.
///
/// The host needs no archive. A strategy that asks a model is granted one that plays a script.
///
/// # Errors
/// The host or the machine failed.
pub async fn test(
    host: &Host,
    strategy: &Strategy,
    on_progress: &(dyn Fn(&'static str, usize) + Sync),
) -> anyhow::Result<Report> {
    let asks_model = asks_model(strategy);
    let granted = granted(strategy);
    let mut checks = declaration::checks(host, strategy).await?;
    // A strategy that cannot say what it is has faults in all that follows.
    let describes_itself = checks.iter().all(Check::passed);
    let (mut measured, mut kept) = (Vec::new(), Vec::new());
    if describes_itself {
        let cases = cases::all();
        checks.extend(plans::checks(host, &granted, &cases, on_progress).await?);
        checks.push(should_compact::check(host, &granted, &cases).await?);
        if asks_model {
            checks.push(plans::with_model(host, strategy, &cases).await?);
        }
        measured = sizes(host, &granted, on_progress).await?;
        checks.push(sizes::check(&measured, strategy.limits()));
        if !asks_model {
            kept = keeps(&[granted, Strategy::digest()], on_progress)?;
        }
    }
    Ok(Report {
        strategy: strategy.name().to_owned(),
        component: strategy.component(),
        checks,
        growth: sizes::growth(&measured),
        sizes: measured,
        kept,
    })
}

/// Returns whether a component imports the model.
#[must_use]
pub fn asks_model(strategy: &Strategy) -> bool {
    strategy
        .component()
        .is_some_and(|component| component.permissions.contains(&Permission::Model))
}

/// Returns the strategy with a model that plays a script, if it may ask one.
fn granted(strategy: &Strategy) -> Strategy {
    match asks_model(strategy) {
        true => strategy
            .clone()
            .with_model(ModelGrant::new(Arc::new(Scripted::sensible()))),
        false => strategy.clone(),
    }
}
