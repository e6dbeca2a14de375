//! The output of an evaluation: tables and files.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use baler_eval::Evaluation;

use crate::output;
use crate::report;
use crate::whole_file::WholeFile;

/// The files that a run writes. They are created before anything is measured, because measuring can take
/// hours and a file may not be writable.
#[derive(Debug)]
pub(super) struct Results {
    json: Option<WholeFile>,
    /// `None` means standard output.
    tables: Option<WholeFile>,
    charts: Option<Vec<WholeFile>>,
}

impl Results {
    pub(super) fn begin(
        json: Option<&Path>,
        tables: Option<&Path>,
        charts: Option<&Path>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            json: json.map(WholeFile::create).transpose()?,
            tables: tables.map(WholeFile::create).transpose()?,
            charts: charts.map(begin_charts).transpose()?,
        })
    }

    /// Writes everything, the tables first. If an output cannot be written, the others still are, because
    /// they took long to measure.
    ///
    /// # Errors
    /// The error of the first output that could not be written.
    pub(super) fn write(self, evaluation: &Evaluation) -> anyhow::Result<()> {
        let tables = baler_eval::markdown(evaluation);
        let printed = match self.tables {
            Some(file) => file.finish(&tables),
            None => output::words_in_full(&tables),
        };
        if self.json.is_none() && self.charts.is_none() {
            return printed;
        }
        let figures = baler_eval::json(evaluation);
        let written = match self.json {
            Some(file) => file.finish(&format!("{figures:#}")),
            None => Ok(()),
        };
        let drawn = match self.charts {
            Some(files) => draw(files, figures),
            None => Ok(()),
        };
        printed.and(written).and(drawn)
    }
}

fn begin_charts(folder: &Path) -> anyhow::Result<Vec<WholeFile>> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    report::chart_files()
        .map(|name| WholeFile::create(&folder.join(name)))
        .collect()
}

/// Writes the charts, each whole or not at all.
fn draw(files: Vec<WholeFile>, figures: serde_json::Value) -> anyhow::Result<()> {
    let figures: report::Evaluation =
        serde_json::from_value(figures).context("the charts cannot be drawn")?;
    figures.check().context("the charts cannot be drawn")?;
    for (file, chart) in files.into_iter().zip(report::charts(&figures)) {
        match chart {
            Some(chart) => file.finish(&chart)?,
            // One of an earlier run would pass for this one's.
            None => file.remove()?,
        }
    }
    Ok(())
}
