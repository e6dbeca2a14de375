mod component;

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use baler_host::child::ChildError;
use baler_host::strategy::EngineLimits;
use clap::Args;

pub(crate) use component::TASK;
use component::{Job, Named};

use super::wrap::read;
use crate::exit::{Exit, Failure};
use crate::figures::{self, cleaned};
use crate::files;
use crate::output::Messages;
use crate::report::quoted;
use crate::whole_file::WholeFile;

/// Make one component of several
///
/// A filter, such as `redact`, is put before the strategy that follows it: it decides what the strategy reads, and changes
/// its plan. Two strategies become one: the second runs if the first declares a failure, or leaves a conversation
/// unchanged that has to become smaller. The result is a strategy like any other, in one file, and runs in every host
/// of the contract.
///
/// The components are read in a child process with limits. The same components give the same bytes.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ComposeCommand {
    /// Filters and strategies, in order, as files or by the names of those that ship with baler; the last is a strategy
    #[arg(value_name = "COMPONENT", required = true, num_args = 2..)]
    components: Vec<PathBuf>,

    /// The composed strategy
    #[arg(short, long, value_name = "STRATEGY.wasm")]
    output: PathBuf,

    /// Print nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

const AFTER: &str = "\
Examples:
  baler compose redact tiered -o redacting.wasm
  baler compose redact strategies/keep-newest.wasm sliding-window -o both.wasm
  baler compact request.json --strategy redacting.wasm

Exit codes: 0 composed, 1 baler failed, 2 invalid usage, or the component cannot be written, 5
the components cannot be composed";

impl ComposeCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        if self.output.as_os_str() == "-" {
            return Err(Failure::wrong_use(anyhow!(
                "`--output` takes a file: a component cannot be printed"
            )));
        }
        files::check_not_in_use("--output", &self.output, &self.components)?;
        let components: Result<Vec<Named>, Failure> =
            self.components.iter().map(|own| found(own)).collect();
        let job = Job {
            components: components?,
        };
        let output = WholeFile::create(&self.output).map_err(Failure::wrong_use)?;
        let limits = EngineLimits::default();
        let component = TASK
            .run(&job.written()?, &limits)
            .await
            .map_err(not_composed)?;
        if component.len() > limits.component_bytes {
            return Err(Failure::wrong_input(anyhow!(
                "the components have {} bytes together; the limit for components is {}",
                component.len(),
                limits.component_bytes
            )));
        }
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

/// Returns the component of a name or a file.
fn found(named: &Path) -> Result<Named, Failure> {
    let name = cleaned(&named.to_string_lossy());
    let own = named.to_str().and_then(|named| {
        baler_strategies::by_name(named).or_else(|| baler_strategies::filter_by_name(named))
    });
    let wasm = match own {
        Some(own) => own.wasm.to_vec(),
        None if named.extension().is_none() && !named.exists() => {
            let filters: Vec<&str> = baler_strategies::FILTERS
                .iter()
                .map(|own| own.name)
                .collect();
            return Err(Failure::wrong_use(anyhow!(
                "`{name}` is neither a file nor something that ships with baler; `baler strategies` lists the strategies, and filters are: {}",
                filters.join(", ")
            )));
        }
        None => read(named)?,
    };
    Ok(Named { name, wasm })
}

fn not_composed(error: ChildError) -> Failure {
    let is_ours = error.is_by_the_machine();
    let error = anyhow::Error::from(error).context("cannot compose these components");
    if is_ours {
        Failure::from(error)
    } else {
        Failure::wrong_input(error)
    }
}
