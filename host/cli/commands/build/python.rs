//! Strategies in Python, by componentize-py in an environment of the project.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use super::MADE;
use super::tools::{Needs, Tool, ask, run};
use crate::contract::World;
use crate::exit::Failure;

const PYTHON: Tool = Tool {
    program: "python3",
    asked: "--version",
    least: (3, 10),
    install: "python.org, or the package of your system",
};

pub(super) fn check(needs: &mut Needs<'_>, folder: &Path) {
    if needs.tool(&PYTHON)
        && ask(folder, PYTHON.program, &["-c", "import ensurepip, venv"]).is_err()
    {
        needs.lacks(
            "the module `venv` of python3",
            "on Debian and Ubuntu: apt-get install python3-venv",
        );
    }
    needs.contract();
}

/// Writes the component. With `wasi` it imports WASI, and `print` and exceptions show in its log.
pub(super) fn build(folder: &Path, world: World, wasi: bool) -> Result<(), Failure> {
    let programs = folder
        .join("build/venv")
        .join(if cfg!(windows) { "Scripts" } else { "bin" });
    let componentize = programs.join("componentize-py");
    // Its programs do not start if the project was moved, or the Python that it is of was removed.
    let starts = |program: &Path, argument: &str| {
        program
            .to_str()
            .is_some_and(|program| ask(folder, program, &[argument]).is_ok())
    };
    if !starts(&componentize, "--version") {
        run(Command::new(PYTHON.program)
            .args(["-m", "venv", "--clear", "build/venv"])
            .current_dir(folder))?;
    }
    run(Command::new(programs.join("python"))
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ])
        .args(["--requirement", "requirements.txt"])
        .current_dir(folder))?;
    let componentize = || {
        let mut command = Command::new(&componentize);
        command
            .args(["--wit-path", "wit", "--world", world.name()])
            .current_dir(folder);
        command
    };
    // For editors and for the tests. It does not write into a folder that is there.
    let bindings = folder.join("build/bindings");
    if bindings.exists() {
        fs::remove_dir_all(&bindings)
            .with_context(|| format!("cannot replace `{}`", bindings.display()))?;
    }
    run(componentize().args(["bindings", "build/bindings"]))?;
    let mut command = componentize();
    command.arg("componentize");
    if !wasi {
        command.arg("--stub-wasi");
    }
    run(command.args(["--python-path", ".", "strategy", "--output", MADE]))
}
