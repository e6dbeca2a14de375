//! The page of a receipt, by the program: reports are no part of the library.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context as _;

use super::Run;
use crate::case::Input;

pub(super) fn report(folder: &Path, input: &Input) -> anyhow::Result<Run> {
    let own = std::env::current_exe().context("this program does not know where it is")?;
    let program = own.parent().map(|folder| folder.join("baler"));
    let Some(program) = program.filter(|program| program.exists()) else {
        return Ok(Run::none("no program; build it first"));
    };
    // Several lines are measured at once, in the same folder.
    let own = std::process::id();
    let receipt = folder.join(format!("receipt-{own}.json"));
    let page = folder.join(format!("page-{own}.html"));
    std::fs::write(&receipt, input.document()).context("a receipt cannot be written")?;
    let start = Instant::now();
    let status = Command::new(program)
        .arg("report")
        .arg(&receipt)
        .arg("-o")
        .arg(&page)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .context("the program does not run")?;
    Ok(Run::since(
        start,
        if status.success() {
            "a page"
        } else {
            "refused"
        },
    ))
}
