use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;
use serde::Deserialize;

use crate::archive::{ArchiveArguments, failure};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::whole_file::WholeFile;
use crate::{figures, files, input, settings};

/// Restore a conversation as it was before a compaction
///
/// Needs the receipt of the compaction, and the archive that it used. Writes the conversation byte for byte
/// as it was read, without repairs; for a session log, the request body that baler made of the log. Messages
/// that were added after the compaction are not part of it. After several compactions, each receipt restores
/// the input of its own compaction, so the first receipt restores the original conversation.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct UndoCommand {
    /// The receipt: the file of --receipt, or all that --json printed. `-`, or no RECEIPT, reads standard
    /// input
    #[arg(value_name = "RECEIPT")]
    receipt: Option<PathBuf>,

    /// Write the conversation to this file, whole or not at all, instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    archive: ArchiveArguments,
}

const AFTER: &str = "\
Examples:
  baler compact request.json --receipt receipt.json > smaller.json
  baler undo receipt.json | cmp - request.json

Exit codes:
  0  the conversation was restored
  1  baler failed: the archive cannot be read, a file cannot be written
  2  invalid usage: the compaction changed or archived nothing; the archive lacks content that
     the receipt refers to (it is another archive, or `baler archive gc` cleared it); or the
     result would replace the receipt
  5  invalid input: the file is not a receipt";

/// The fields of a receipt that undo needs.
#[derive(Deserialize)]
struct Receipt {
    outcome: String,
    #[serde(default)]
    undo: Option<String>,
}

/// The fields of the output of `baler compact --json` that undo needs.
#[derive(Deserialize)]
struct Printed {
    receipt: Receipt,
}

impl UndoCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let output = self.output.as_deref();
        let output = output.filter(|file| *file != Path::new("-"));
        if output.is_some_and(|output| files::is_input(output, self.receipt.as_deref())) {
            return Err(Failure::wrong_use(anyhow!(
                "`--output` would replace the receipt, without which nothing can be undone; name another file"
            )));
        }
        match output {
            None => files::check_output_is_apart(self.receipt.as_deref())?,
            Some(output) => {
                let key = settings::key_file(self.archive.state());
                files::check_not_in_use("--output", output, key.as_slice())?;
            }
        }
        let bytes = input::read(self.receipt.as_deref(), "undo")?;
        let Receipt { outcome, undo } = receipt(&bytes)?;
        let reference = undo.ok_or_else(|| {
            let outcome = figures::shortened(&outcome);
            Failure::wrong_use(match outcome.as_str() {
                "unchanged" => anyhow!("nothing to undo: that run changed nothing"),
                _ => anyhow!(
                    "that conversation was {outcome} without an archive, so it cannot be undone; use your own copy of the original"
                ),
            })
        })?;
        let file = output.map(WholeFile::create).transpose()?;
        let archive = self.archive.open()?;
        let document = archive.undo(&reference).await.map_err(failure)?;
        match file {
            Some(file) => file.finish(&document)?,
            None => output::document(&[&document])?,
        }
        Ok(Exit::Done)
    }
}

/// Returns whether this is a regular file that holds a receipt of a compaction that can be undone.
pub(super) fn can_undo(file: &Path) -> bool {
    let read = || -> anyhow::Result<Vec<u8>> { input::limited(files::regular(file)?) };
    let receipt = read().ok().and_then(|bytes| receipt(&bytes).ok());
    receipt.is_some_and(|receipt| receipt.undo.is_some())
}

fn receipt(bytes: &[u8]) -> Result<Receipt, Failure> {
    let bytes = files::without_byte_order_mark(bytes);
    serde_json::from_slice::<Printed>(bytes)
        .map(|printed| printed.receipt)
        .or_else(|_| serde_json::from_slice(bytes))
        .map_err(|_| {
            anyhow!(
                "not a receipt; give the file that `--receipt` wrote, or the output of `--json`"
            )
        })
        .context("cannot read the receipt")
        .map_err(Failure::wrong_input)
}
