//! An agent's life: each message comes alone, and what gets too long is compacted, again and again.

use std::sync::Arc;
use std::time::Instant;

use baler_host::{Compactor, CompactorOptions, Host, Strategy};
use tokio::runtime::Runtime;

use super::Run;
use crate::case::Input;

/// Tokens of the window: a compaction for every few dozen messages.
const WINDOW: u32 = 4_000;

pub(super) fn live(
    runtime: &Runtime,
    host: &Arc<Host>,
    chain: &[Strategy],
    input: &Input,
) -> anyhow::Result<Run> {
    let Ok(conversation) = host.read(input.beginning()) else {
        return Ok(Run::none("refused"));
    };
    let options = CompactorOptions::default().with_context_window(Some(WINDOW));
    let start = Instant::now();
    let mut compactor = Compactor::new(Arc::clone(host), conversation, chain, options)?;
    for message in input.messages.iter().skip(1) {
        compactor.append(message)?;
        runtime.block_on(compactor.step())?;
    }
    let outcome = if compactor.compactions() > 0 {
        "compacted on the way"
    } else {
        "never compacted"
    };
    drop(compactor);
    Ok(Run::since(start, outcome))
}
