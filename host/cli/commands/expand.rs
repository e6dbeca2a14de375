use std::collections::HashSet;
use std::iter;

use baler_host::Archive;
use clap::Args;

use crate::archive::{ArchiveArguments, failure};
use crate::exit::{Exit, Failure};
use crate::{figures, output};

/// Show content that was removed from a conversation
///
/// Retrieves archived messages by their references, which placeholders and receipts hold (`archive` and
/// `originals`), and prints those of each reference once. Prints nothing unless all references are found and
/// their content is intact.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ExpandCommand {
    /// References, each of 20 hex digits, such as 3f2a90c41be07d5512aa
    #[arg(value_name = "REF", required = true)]
    references: Vec<String>,

    /// Print one JSON object: for each reference the list of its messages, byte for byte as they were
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    archive: ArchiveArguments,
}

const AFTER: &str = "\
Examples:
  baler expand 3f2a90c41be07d5512aa
  jq -r '.archive[].reference' receipt.json | xargs baler expand --json

Exit codes: 0 all found, 1 the archive cannot be read, 2 invalid usage: not a reference, or nothing is archived under it";

/// The most bytes of entries that are kept in memory between checking all entries and printing them. Entries
/// beyond that are read again when they are printed. If one is gone by then, only a part of the result is
/// printed.
const KEPT: usize = 64 << 20;

/// The number of bytes that are written at once. A longer line is written as a whole.
const PIECE: usize = 64 << 10;

impl ExpandCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let archive = self.archive.open()?;
        let mut known = HashSet::new();
        let references = self.references.iter().map(String::as_str);
        let references: Vec<&str> = references.filter(|given| known.insert(*given)).collect();
        let mut room = KEPT;
        let mut kept = Vec::with_capacity(references.len());
        for reference in &references {
            let messages = self.read(&archive, reference).await?;
            let left = room.checked_sub(messages.len());
            room = left.unwrap_or(room);
            kept.push(left.map(|_| messages));
        }
        for (index, (reference, kept)) in references.iter().zip(kept).enumerate() {
            let messages = match kept {
                Some(messages) => messages,
                None => self.read(&archive, reference).await?,
            };
            self.print(index, reference, &messages)?;
        }
        if self.json {
            output::document(&["}\n"])?;
        }
        Ok(Exit::Done)
    }

    /// Returns the messages that are stored under a reference, in the form in which they are printed.
    async fn read(&self, archive: &Archive, reference: &str) -> Result<String, Failure> {
        let messages = if self.json {
            archive.get(reference).await
        } else {
            archive.text(reference).await
        };
        messages.map_err(failure)
    }

    fn print(&self, index: usize, reference: &str, messages: &str) -> anyhow::Result<()> {
        let is_first = index == 0;
        if self.json {
            let before = if is_first { "{" } else { "," };
            output::document(&[before, "\"", reference, "\":", messages])
        } else {
            if !is_first {
                output::words("\n")?;
            }
            pieces(messages).try_for_each(|piece| output::words(&piece))
        }
    }
}

/// Cleans untrusted text line by line, and returns it in pieces of whole lines, because an entry may have
/// millions of lines.
fn pieces(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut lines = text.lines().peekable();
    iter::from_fn(move || {
        lines.peek()?;
        let mut piece = String::new();
        while piece.len() < PIECE
            && let Some(line) = lines.next()
        {
            piece.push_str(&figures::cleaned(line));
            piece.push('\n');
        }
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_small_and_hold_whole_lines() {
        let text: String = (0..30_000)
            .map(|line| format!("line {line}\t\u{7}\n\n"))
            .collect();
        let all: Vec<String> = pieces(&text).collect();
        assert!(all.len() > 2);
        for piece in &all {
            assert!(piece.len() < PIECE + 20 && piece.ends_with('\n'));
        }
        let cleaned: String = (0..30_000)
            .map(|line| format!("line {line} \n\n"))
            .collect();
        assert!(all.concat() == cleaned);
    }
}
