mod module;

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use baler_host::child::ChildError;
use baler_host::strategy::EngineLimits;
use clap::Args;

pub(super) use module::Job;
pub(crate) use module::TASK;

use crate::contract::World;
use crate::exit::{Exit, Failure};
use crate::output::Messages;
use crate::report::quoted;
use crate::whole_file::WholeFile;
use crate::{figures, files};

/// Make a component of a core module
///
/// A compiler for C, Go or Rust makes a core WebAssembly module. baler runs components. This command adds what is
/// missing: the types of the contract, unless the module carries them, and WASI with nothing behind it, if
/// the module imports preview 1 of WASI. The module is read in a child process with limits, like a component that is
/// compiled.
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

impl WrapCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
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
        let job = Job {
            world: self.world,
            module,
            adapter,
        };
        let component = component_of(&job, &self.module).await?;
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
}

/// Returns the component that a core module makes. `shown` is the path of the module, for errors.
pub(super) async fn component_of(job: &Job, shown: &Path) -> Result<Vec<u8>, Failure> {
    TASK.run(&job.written()?, &EngineLimits::default())
        .await
        .map_err(|error| not_wrapped(shown, error))
}

fn not_wrapped(module: &Path, error: ChildError) -> Failure {
    let is_ours = error.is_by_the_machine();
    let error = anyhow::Error::from(error).context(format!("cannot wrap `{}`", module.display()));
    if is_ours {
        Failure::from(error)
    } else {
        Failure::wrong_input(error)
    }
}

/// Reads a module or a component.
pub(super) fn read(file: &Path) -> Result<Vec<u8>, Failure> {
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
