//! Strategies in TypeScript and JavaScript, by the scripts of `package.json`.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::tools::{Needs, Tool, run};
use crate::exit::Failure;

const NODE: Tool = Tool {
    program: "node",
    asked: "--version",
    least: (20, 0),
    install: "nodejs.org, or the package of your system",
};

const NPM: Tool = Tool {
    program: if cfg!(windows) { "npm.cmd" } else { "npm" },
    asked: "--version",
    least: (9, 0),
    install: "it comes with Node.js; on Debian and Ubuntu also by apt-get install npm",
};

pub(super) fn check(needs: &mut Needs<'_>) {
    needs.tool(&NODE);
    needs.tool(&NPM);
    needs.contract();
}

/// Runs the script `build`, which writes the component.
pub(super) fn build(folder: &Path) -> Result<(), Failure> {
    let npm = || {
        let mut npm = Command::new(NPM.program);
        npm.current_dir(folder);
        npm
    };
    if !is_installed(folder) {
        let install = if folder.join("package-lock.json").exists() {
            "ci"
        } else {
            "install"
        };
        run(npm().args([install, "--no-audit", "--no-fund"]))?;
    }
    run(npm().args(["run", "build"]))
}

/// Returns whether what is installed is newer than what says what should be.
fn is_installed(folder: &Path) -> bool {
    let written = |file: &str| fs::metadata(folder.join(file)).and_then(|file| file.modified());
    // npm writes this last.
    let Ok(installed) = written("node_modules/.package-lock.json") else {
        return false;
    };
    ["package.json", "package-lock.json"]
        .iter()
        .all(|file| written(file).is_ok_and(|written| written <= installed))
}
