use std::time::Duration;

use baler_host::archive::Contents;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::archive::{ArchiveArguments, failure};
use crate::exit::{Exit, Failure};
use crate::{figures, output};

/// Show the archive, or clear old content
///
/// The archive holds content that was removed from conversations, and what `baler undo` needs. Without a
/// subcommand, shows where the archive is and how much it holds.
#[derive(Debug, Args)]
#[command(after_help = AFTER, args_conflicts_with_subcommands = true)]
pub(crate) struct ArchiveCommand {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    shown: Shown,
}

#[derive(Debug, Subcommand)]
enum Command {
    Gc(GcCommand),
}

#[derive(Debug, Args)]
struct Shown {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    archive: ArchiveArguments,
}

/// Clear old content
///
/// Compactions older than the given age can then no longer be undone. Their content is removed too, unless a
/// younger compaction uses it, or it is not yet a day and an hour older than that age. Unfinished files of
/// killed runs are removed at any age. Other programs may use the archive meanwhile. Only files that baler
/// wrote are removed.
#[derive(Debug, Args)]
struct GcCommand {
    /// The age, such as 30d or 12h
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = age)]
    older_than: Duration,

    /// Show what would be cleared, and clear nothing
    #[arg(short = 'n', long)]
    dry_run: bool,

    #[command(flatten)]
    shown: Shown,
}

const AFTER: &str = "\
Examples:
  baler archive
  baler archive gc --older-than 30d --dry-run

Exit codes: 0 done, 1 the archive cannot be read or written, 2 invalid usage";

fn age(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|_| "give a number with its unit, such as 30d or 12h".to_owned())
}

impl ArchiveCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        match self.command {
            None => {
                let archive = self.shown.archive.open()?;
                let contents = archive.contents().await.map_err(failure)?;
                self.shown.print(archive.place(), "", contents)
            }
            Some(Command::Gc(command)) => command.exec().await,
        }
    }
}

impl GcCommand {
    async fn exec(self) -> Result<Exit, Failure> {
        let archive = self.shown.archive.open()?;
        let (verb, contents) = if self.dry_run {
            ("would be cleared: ", archive.old(self.older_than).await)
        } else {
            ("cleared: ", archive.clear(self.older_than).await)
        };
        self.shown
            .print(archive.place(), verb, contents.map_err(failure)?)
    }
}

impl Shown {
    fn print(&self, place: &str, verb: &str, contents: Contents) -> Result<Exit, Failure> {
        if self.json {
            let mut value = json!(contents);
            value["archive"] = json!(place);
            output::document(&[&format!("{value:#}\n")])?;
        } else {
            let Contents {
                entries,
                compactions,
                unfinished,
                bytes,
                ..
            } = contents;
            let unfinished = match unfinished {
                0 => String::new(),
                files => format!(", and {}", figures::count(files, "unfinished file")),
            };
            output::words(&format!(
                "{}\n{verb}{} in {} of {}{}\n",
                figures::cleaned(place),
                figures::bytes(bytes),
                figures::count(entries, "entry"),
                figures::count(compactions, "compaction"),
                unfinished,
            ))?;
        }
        Ok(Exit::Done)
    }
}
