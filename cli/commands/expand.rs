use baler_host::ArchiveError;
use clap::Args;

use crate::archive::ArchiveArguments;
use crate::exit::{Exit, Failure};
use crate::{figures, output};

/// Show what left a conversation
///
/// Takes references, as placeholders and receipts name them (`archive` and `originals`), and
/// prints the messages that are stored under each.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ExpandCommand {
    /// References, of 20 hex digits each
    #[arg(value_name = "REF", required = true)]
    references: Vec<String>,

    /// Print one JSON object: for each reference the list of its messages, as they were
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    archive: ArchiveArguments,
}

const AFTER: &str = "\
Examples:
  baler expand 3f2a90c41be07d5512aa
  jq -r '.archive[].reference' receipt.json | xargs baler expand --json

Exit codes: 0 all were found, 1 the archive cannot be read, 2 wrong use: no reference, or nothing stored under it";

impl ExpandCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let archive = self.archive.open()?;
        let mut found = Vec::new();
        for reference in &self.references {
            let messages = if self.json {
                archive.get(reference).await
            } else {
                archive.text(reference).await
            };
            found.push((reference, messages.map_err(failure)?));
        }
        if self.json {
            let members: Vec<String> = found
                .iter()
                .map(|(reference, messages)| format!("\"{reference}\":{messages}"))
                .collect();
            output::document(&["{", &members.join(","), "}\n"])?;
        } else {
            let texts: Vec<String> = found
                .iter()
                .map(|(_, messages)| cleaned_lines(messages))
                .collect();
            output::words(&(texts.join("\n\n") + "\n"))?;
        }
        Ok(Exit::Done)
    }
}

/// A stranger's words, line by line.
fn cleaned_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(figures::cleaned).collect();
    lines.join("\n")
}

/// A wrong reference is the caller's; all else is the archive's.
pub(crate) fn failure(error: ArchiveError) -> Failure {
    match error {
        ArchiveError::NoReference { .. } | ArchiveError::Missing { .. } => {
            Failure::wrong_use(error)
        }
        error => anyhow::Error::from(error).into(),
    }
}
