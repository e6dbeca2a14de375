//! Makes a component of a core module. It reads the module, which may be hostile, so it runs in a child process.

use anyhow::{Context as _, anyhow};
use baler_host::child::ChildTask;
use serde::{Deserialize, Serialize};
use wasmparser::{Parser, Payload};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{PackageId, Resolve, SourceMap};

use crate::contract::{self, MODEL, World};

/// Wraps the [`Job`] of its input.
pub(crate) const TASK: ChildTask = ChildTask::new("baler-wrap-module", |input, _| {
    Job::read(input)
        .and_then(Job::wrapped)
        .map_err(|error| format!("{error:#}"))
});

/// The import name of preview 1 of WASI.
const PREVIEW_1: &str = "wasi_snapshot_preview1";

/// Preview 1 of WASI with nothing behind it, as text.
const NOTHING: &str = include_str!("deny.wat");

/// Properties of a module that decide how it is wrapped.
#[derive(Debug, Default)]
struct Contents {
    has_types: bool,
    asks_model: bool,
    uses_preview_1: bool,
}

/// What is to be wrapped, and how.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) world: Option<World>,
    pub(crate) module: Vec<u8>,
    pub(crate) adapter: Option<Vec<u8>>,
}

/// The first line of a job, which describes the bytes after it.
#[derive(Serialize, Deserialize)]
struct Head {
    world: Option<World>,
    /// Bytes of the module.
    module: usize,
    /// Whether an adapter follows the module.
    has_adapter: bool,
}

impl Job {
    /// Returns the job as the task reads it.
    pub(super) fn written(&self) -> anyhow::Result<Vec<u8>> {
        let head = Head {
            world: self.world,
            module: self.module.len(),
            has_adapter: self.adapter.is_some(),
        };
        let mut written = serde_json::to_vec(&head)?;
        written.push(b'\n');
        written.extend_from_slice(&self.module);
        written.extend_from_slice(self.adapter.as_deref().unwrap_or_default());
        Ok(written)
    }

    fn read(written: &[u8]) -> anyhow::Result<Self> {
        let line = written.iter().position(|byte| *byte == b'\n');
        let (head, rest) = written.split_at(line.map_or(written.len(), |end| end + 1));
        let head: Head = serde_json::from_slice(head).context("the job is not one of baler's")?;
        let (module, adapter) = rest
            .split_at_checked(head.module)
            .context("the job ends too early")?;
        Ok(Self {
            world: head.world,
            module: module.to_vec(),
            adapter: head.has_adapter.then(|| adapter.to_vec()),
        })
    }

    fn wrapped(self) -> anyhow::Result<Vec<u8>> {
        let Self {
            world,
            mut module,
            adapter,
        } = self;
        let contents = Contents::of(&module)?;
        if contents.has_types && world.is_some() {
            return Err(anyhow!(
                "it carries the types of its world, which `--world` cannot change; leave the option out"
            ));
        }
        if !contents.uses_preview_1 && adapter.is_some() {
            return Err(anyhow!(
                "it does not import `{PREVIEW_1}`, which `--adapter` is for; leave the option out"
            ));
        }
        if !contents.has_types {
            let world = world.unwrap_or(match contents.asks_model {
                true => World::ModelStrategy,
                false => World::PureStrategy,
            });
            add_types(&mut module, world)?;
        }
        let mut encoder = ComponentEncoder::default().validate(true).module(&module)?;
        if contents.uses_preview_1 {
            let adapter = match adapter {
                Some(adapter) => adapter,
                None => wat::parse_str(NOTHING)?,
            };
            encoder = encoder.adapter(PREVIEW_1, &adapter)?;
        }
        encoder.encode()
    }
}

fn add_types(module: &mut Vec<u8>, world: World) -> anyhow::Result<()> {
    let (contract, package) = resolved()?;
    let world = contract.select_world(&[package], Some(world.name()))?;
    embed_component_metadata(module, &contract, world, StringEncoding::UTF8)
}

impl Contents {
    fn of(module: &[u8]) -> anyhow::Result<Self> {
        if !module.starts_with(b"\0asm") {
            return Err(anyhow!(
                "it is not WebAssembly: it does not begin with `\\0asm`; give the `.wasm` file that the compiler wrote"
            ));
        }
        if Parser::is_component(module) {
            return Err(anyhow!(
                "it is a component already; `baler compact --strategy` takes it as it is"
            ));
        }
        let mut contents = Self::default();
        for payload in Parser::new(0).parse_all(module) {
            match payload.context("it is broken")? {
                Payload::CustomSection(section) => {
                    contents.has_types |= section.name().starts_with("component-type");
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let name = import.context("it is broken")?.module;
                        contents.asks_model |= name == MODEL;
                        contents.uses_preview_1 |= name == PREVIEW_1;
                    }
                }
                _ => {}
            }
        }
        Ok(contents)
    }
}

/// Reads the contract.
fn resolved() -> anyhow::Result<(Resolve, PackageId)> {
    let mut files = SourceMap::new();
    for (name, text) in contract::FILES {
        files.push_str(name, text);
    }
    let mut resolve = Resolve::default();
    let package = files.parse().map_err(|(_, error)| anyhow!("{error}"))?;
    let package = resolve.push_group(package)?;
    Ok((resolve, package))
}
