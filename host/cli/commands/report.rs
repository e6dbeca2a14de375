use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::whole_file::WholeFile;
use crate::{files, input, report, settings};

/// Make a page for a browser from receipts and evaluations
///
/// Writes one self-contained HTML file. For a compaction, the page shows what was kept, rewritten, removed
/// and inserted, unit by unit, and why; sizes, attempts and faults; and how to retrieve removed content.
/// Several receipts, in their order, show a conversation over time. For an evaluation, it shows the charts.
/// The page holds no text of a message, runs no script and loads nothing.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ReportCommand {
    /// The output of `baler compact --json`, a receipt (which does not say how large each unit is), or the
    /// file of `baler eval --json FILE`; may be given several times. `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Write the page to this file, whole or not at all, instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  baler compact request.json --json -o smaller.json > run.json
  baler report run.json -o report.html
  baler report runs/*.json -o life.html
  baler eval recorded/ --json figures.json && baler report figures.json > figures.html

Exit codes:
  0  the page was written
  1  baler failed: the page cannot be written whole
  2  invalid usage
  5  invalid input: a file cannot be read, or is neither a receipt nor an evaluation";

impl ReportCommand {
    pub(crate) fn exec(self) -> Result<Exit, Failure> {
        let output = self.output.as_deref();
        let output = output.filter(|file| *file != Path::new("-"));
        self.check_files_stay(output)?;
        let file = output.map(WholeFile::create).transpose()?;
        let mut sources = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let bytes = input::read(Some(file), "report")?;
            let source = report::source(file, &bytes).map_err(Failure::wrong_input)?;
            sources.push((file.display().to_string(), source));
        }
        let page = report::page(&sources);
        match file {
            Some(file) => file.finish(&page)?,
            None => output::document(&[&page])?,
        }
        Ok(Exit::Done)
    }

    /// Fails if the page would replace, or be appended to, a file that it is made of: a receipt is needed to
    /// undo its compaction.
    fn check_files_stay(&self, output: Option<&Path>) -> Result<(), Failure> {
        let Some(output) = output else {
            let mut read = self.files.iter();
            return read.try_for_each(|file| files::check_output_is_apart(Some(file)));
        };
        if let Some(file) = self
            .files
            .iter()
            .find(|file| files::is_input(output, Some(file)))
        {
            return Err(Failure::wrong_use(anyhow!(
                "`--output` would replace a file that the page is made of: `{}`; name another file",
                file.display()
            )));
        }
        let key = settings::key_file(None);
        files::check_not_in_use("--output", output, key.as_slice())
    }
}
