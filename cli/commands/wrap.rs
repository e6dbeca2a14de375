use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use baler_host::strategy::EngineLimits;
use clap::{Args, ValueEnum};
use wasmparser::{Parser, Payload};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{PackageId, Resolve, SourceMap};

use crate::exit::{Exit, Failure};
use crate::output::Messages;
use crate::report::quoted;
use crate::whole_file::WholeFile;
use crate::{figures, files};

/// Make a component of a core module
///
/// A compiler for C, Go or Rust makes a core WebAssembly module. baler runs components. This command adds what is
/// missing: the types of the contract, unless the module carries them, and WASI with nothing behind it, if
/// the module imports preview 1 of WASI. It is for modules of your own: it runs without a sandbox.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct WrapCommand {
    /// The core module; `-` for standard input
    #[arg(value_name = "MODULE.wasm")]
    module: PathBuf,

    /// The component
    #[arg(short, long, value_name = "STRATEGY.wasm")]
    output: PathBuf,

    /// The world of the contract that the module was built for, if it carries no types. By default the one
    /// with `model` if the module imports that
    #[arg(long, value_enum)]
    world: Option<World>,

    /// Replace preview 1 of WASI by this adapter. The component then imports what the adapter imports. By
    /// default by one with nothing behind it, so that the component imports no WASI
    #[arg(long, value_name = "ADAPTER.wasm")]
    adapter: Option<PathBuf>,

    /// Print nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

const AFTER: &str = "\
Examples:
  baler wrap target/wasm32-unknown-unknown/release/keep_last.wasm -o keep-last.wasm
  baler wrap core.wasm -o keep-newest.wasm && baler introspect keep-newest.wasm

Exit codes: 0 wrapped, 1 baler failed, 2 invalid usage, or the component cannot be written, 5 the module cannot be wrapped";

/// A world of the contract.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum World {
    PureStrategy,
    ModelStrategy,
}

impl World {
    const fn name(self) -> &'static str {
        match self {
            Self::PureStrategy => "pure-strategy",
            Self::ModelStrategy => "model-strategy",
        }
    }
}

/// The files of the contract, as this program supports it.
const CONTRACT: [(&str, &str); 4] = [
    ("history.wit", include_str!("../../wit/v0.1/history.wit")),
    ("services.wit", include_str!("../../wit/v0.1/services.wit")),
    ("strategy.wit", include_str!("../../wit/v0.1/strategy.wit")),
    ("worlds.wit", include_str!("../../wit/v0.1/worlds.wit")),
];

/// The import by which a module asks a model.
const MODEL: &str = "baler:compaction/model@0.1.0";

/// The import name of preview 1 of WASI.
const PREVIEW_1: &str = "wasi_snapshot_preview1";

/// Preview 1 of WASI with nothing behind it, as text.
const NOTHING: &str = include_str!("../../guest-strategies/wasi/deny.wat");

/// What of a module decides how it is wrapped.
#[derive(Debug, Default)]
struct Contents {
    has_types: bool,
    asks_model: bool,
    uses_preview_1: bool,
}

impl WrapCommand {
    pub(crate) fn exec(self) -> Result<Exit, Failure> {
        if self.output.as_os_str() == "-" {
            return Err(Failure::wrong_use(anyhow!(
                "`--output` takes a file: a component cannot be printed"
            )));
        }
        let in_use: Vec<PathBuf> = self.adapter.iter().cloned().collect();
        if files::is_input(&self.output, Some(&self.module)) {
            return Err(Failure::wrong_use(anyhow!(
                "`--output` names the module, and would replace it: `{}`; name another file",
                self.output.display()
            )));
        }
        files::check_not_in_use("--output", &self.output, &in_use)?;
        let module = read(&self.module)?;
        let adapter = self.adapter.as_deref().map(read).transpose()?;
        let output = WholeFile::create(&self.output).map_err(Failure::wrong_use)?;
        let component = self.wrapped(module, adapter).map_err(|error| {
            let module = self.module.display();
            Failure::wrong_input(error.context(format!("cannot wrap `{module}`")))
        })?;
        output
            .finish_binary(&component)
            .map_err(Failure::wrong_use)?;
        Messages { quiet: self.quiet }.say(&format!(
            "{}: a component of {}; `baler introspect {}` shows what it is\n",
            self.output.display(),
            figures::bytes(component.len() as u64),
            quoted(&self.output.display().to_string()),
        ));
        Ok(Exit::Done)
    }

    fn wrapped(&self, mut module: Vec<u8>, adapter: Option<Vec<u8>>) -> anyhow::Result<Vec<u8>> {
        let contents = Contents::of(&module)?;
        if contents.has_types && self.world.is_some() {
            return Err(anyhow!(
                "it carries the types of its world, which `--world` cannot change; leave the option out"
            ));
        }
        if !contents.uses_preview_1 && self.adapter.is_some() {
            return Err(anyhow!(
                "it does not import `{PREVIEW_1}`, which `--adapter` is for; leave the option out"
            ));
        }
        if !contents.has_types {
            self.add_types(&mut module, &contents)?;
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

    fn add_types(&self, module: &mut Vec<u8>, contents: &Contents) -> anyhow::Result<()> {
        let world = self.world.unwrap_or(match contents.asks_model {
            true => World::ModelStrategy,
            false => World::PureStrategy,
        });
        let (contract, package) = contract()?;
        let world = contract.select_world(&[package], Some(world.name()))?;
        embed_component_metadata(module, &contract, world, StringEncoding::UTF8)
    }
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

/// Reads a module.
fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let limit = EngineLimits::default().component_bytes as u64;
    let shown = file.display();
    let bytes = if file.as_os_str() == "-" {
        files::bounded(io::stdin().lock(), limit)
    } else {
        let file = files::regular(file).with_context(|| format!("cannot read `{shown}`"));
        files::bounded(file.map_err(Failure::wrong_input)?, limit)
    };
    bytes
        .with_context(|| format!("cannot read `{shown}`"))
        .and_then(|bytes| {
            bytes.ok_or_else(|| {
                anyhow!("`{shown}` has more than {limit} bytes, the limit for components")
            })
        })
        .map_err(Failure::wrong_input)
}

/// Reads the contract.
fn contract() -> anyhow::Result<(Resolve, PackageId)> {
    let mut files = SourceMap::new();
    for (name, text) in CONTRACT {
        files.push_str(name, text);
    }
    let mut resolve = Resolve::default();
    let package = files.parse().map_err(|(_, error)| anyhow!("{error}"))?;
    let package = resolve.push_group(package)?;
    Ok((resolve, package))
}
