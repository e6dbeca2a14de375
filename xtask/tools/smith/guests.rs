//! Makes guests of random code, loads them and calls them.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use arbitrary::Unstructured;
use baler_generated::{Choices, Kind, conversation};
use baler_host::strategy::{EngineLimits, LoadError};
use baler_host::{Budget, Conversation, Host, Limits, Request};
use wasm_smith::{Config, Module};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{Resolve, SourceMap, WorldId};

/// The imports and exports of a strategy, as a core module has them.
const SHAPE: &str = r#"(module
    (import "baler:compaction/history@0.1.0" "units" (func (param i32)))
    (import "baler:compaction/history@0.1.0" "read" (func (param i32 i32 i32)))
    (import "baler:compaction/history@0.1.0" "reference" (func (param i32 i32)))
    (import "baler:compaction/tokenizer@0.1.0" "count" (func (param i32 i32) (result i32)))
    (import "baler:compaction/log@0.1.0" "emit" (func (param i32 i32 i32)))
    (memory (export "memory") 2)
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) unreachable)
    (func (export "baler:compaction/strategy@0.1.0#introspect") (param i32 i32 i32) (result i32) unreachable)
    (func (export "baler:compaction/strategy@0.1.0#should-compact") (param i32) (result i32) unreachable)
    (func (export "baler:compaction/strategy@0.1.0#compact") (param i32) (result i32) unreachable))"#;

/// Bytes of chance for a module.
const BYTES: usize = 3_000;

/// How the attempts of all guests ended, by code.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) ends: BTreeMap<String, u64>,
    pub(crate) called: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} were called:", self.called)?;
        for (end, count) in &self.ends {
            write!(f, " {end} {count}")?;
        }
        Ok(())
    }
}

/// Makes, loads and calls `count` guests.
///
/// # Errors
/// A guest got something that it must not get; the message has its number, by which it can be made again.
pub(crate) async fn run(count: u64, seed: u64) -> anyhow::Result<Tally> {
    let (contract, world) = contract()?;
    let shape = wat::parse_str(SHAPE)?;
    let host = Host::builder()
        .without_archive()
        .limits(EngineLimits::default().with_faults(u32::MAX))
        .build()?;
    let made = conversation(Kind::ALL[0], 30, &mut Choices::from_seed(seed));
    let conversation = host.read(made.document())?;
    let mut tally = Tally::default();
    for number in 0..count {
        let mut choices = Choices::from_seed(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let bytes: Vec<u8> = (0..BYTES).map(|_| choices.below(256) as u8).collect();
        let component = component(&bytes, &shape, &contract, world)
            .with_context(|| format!("guest {number} of seed {seed}"))?;
        let end = try_one(&host, &conversation, &component, &mut tally)
            .await
            .with_context(|| format!("guest {number} of seed {seed}"))?;
        *tally.ends.entry(end).or_default() += 1;
    }
    Ok(tally)
}

/// Returns how it ended.
async fn try_one(
    host: &Host,
    conversation: &Conversation,
    component: &[u8],
    tally: &mut Tally,
) -> anyhow::Result<String> {
    let strategy = match host.load("smith", component).await {
        Ok(strategy) => strategy,
        Err(LoadError::Host(error)) => return Err(error.into()),
        Err(error) => return Ok(format!("refused as {}", error.code())),
    };
    tally.called += 1;
    let limits = Limits::default()
        .with_fuel(1_000_000)
        .with_time(Duration::from_secs(1))
        .with_memory(16 << 20);
    let strategy = strategy.with_limits(limits);
    let request = Request::new(Budget::Share(0.5))
        .with_required(true)
        .with_verify(true);
    let chain = std::slice::from_ref(&strategy);
    let _ = host.introspect(&strategy, None).await;
    let _ = host.should_compact(conversation, &strategy, &request).await;
    let compaction = host.compact(conversation, chain, &request).await?;
    ensure!(compaction.is_compacted(), "the conversation is unchanged");
    ensure!(
        !compaction.conversation().is_broken(),
        "the result is invalid"
    );
    let receipt = compaction.receipt();
    let target = receipt.tokens.budget.max(receipt.tokens.floor);
    ensure!(
        receipt.tokens.after <= target,
        "the result is over its budget"
    );
    let result = &receipt.attempts.first().context("no attempt")?.result;
    ensure!(result.code() != "host", "{result:?}");
    Ok(result.code().to_owned())
}

fn component(
    bytes: &[u8],
    shape: &[u8],
    contract: &Resolve,
    world: WorldId,
) -> anyhow::Result<Vec<u8>> {
    let mut chance = Unstructured::new(bytes);
    let config = Config {
        module_shape: Some(shape.to_vec()),
        max_memories: 1,
        max_memory32_bytes: 8 << 20,
        max_tables: 2,
        max_table_elements: 1_000,
        memory64_enabled: false,
        multi_value_enabled: true,
        ..features(&mut chance)?
    };
    let mut module = Module::new(config, &mut chance)?.to_bytes();
    embed_component_metadata(&mut module, contract, world, StringEncoding::UTF8)?;
    ComponentEncoder::default().module(&module)?.encode()
}

/// A config without the parts of WebAssembly that a sandbox does not have, which would only be refused.
fn features(chance: &mut Unstructured<'_>) -> anyhow::Result<Config> {
    use arbitrary::Arbitrary as _;
    Ok(Config {
        threads_enabled: false,
        shared_everything_threads_enabled: false,
        exceptions_enabled: false,
        // The types of references other than functions.
        reference_types_enabled: false,
        gc_enabled: false,
        relaxed_simd_enabled: false,
        custom_page_sizes_enabled: false,
        wide_arithmetic_enabled: false,
        custom_descriptors_enabled: false,
        ..Config::arbitrary(chance)?
    })
}

fn contract() -> anyhow::Result<(Resolve, WorldId)> {
    let mut files = SourceMap::new();
    files.push_str("history.wit", include_str!("../../../wit/v0.1/history.wit"));
    files.push_str(
        "services.wit",
        include_str!("../../../wit/v0.1/services.wit"),
    );
    files.push_str(
        "strategy.wit",
        include_str!("../../../wit/v0.1/strategy.wit"),
    );
    files.push_str("worlds.wit", include_str!("../../../wit/v0.1/worlds.wit"));
    let package = files
        .parse()
        .map_err(|(_, error)| anyhow::anyhow!("{error}"))?;
    let mut resolve = Resolve::default();
    let package = resolve.push_group(package)?;
    let world = resolve.select_world(&[package], Some("pure-strategy"))?;
    Ok((resolve, world))
}
