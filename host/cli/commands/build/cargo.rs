//! Strategies in Rust, by Cargo.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::anyhow;
use serde::Deserialize;

use super::tools::{Needs, Tool, ask, output_of, run};
use crate::exit::Failure;

/// The oldest one knows edition 2024.
const CARGO: Tool = Tool {
    program: "cargo",
    asked: "--version",
    least: (1, 85),
    install: "rustup.rs says how",
};

const fn target(wasi: bool) -> &'static str {
    match wasi {
        true => "wasm32-wasip2",
        false => "wasm32-unknown-unknown",
    }
}

/// Returns whether the compiler that this folder uses has a target.
fn has_target(folder: &Path, target: &str) -> bool {
    let asked = ["--print", "target-libdir", "--target", target];
    ask(folder, "rustc", &asked).is_ok_and(|libraries| Path::new(libraries.trim()).is_dir())
}

pub(super) fn check(needs: &mut Needs<'_>, folder: &Path, wasi: bool) {
    let target = target(wasi);
    if needs.tool(&CARGO)
        && !has_target(folder, target)
        && ask(folder, "rustup", &["--version"]).is_err()
    {
        needs.lacks(
            &format!("the target {target} of the Rust compiler, and rustup, which would add it"),
            "install Rust by rustup (rustup.rs), or the target by what installed Rust",
        );
    }
}

/// What Cargo says of something it made.
#[derive(Debug, Deserialize)]
struct Artifact {
    manifest_path: PathBuf,
    target: Target,
    filenames: Vec<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Target {
    crate_types: Vec<String>,
}

/// Returns the module that Cargo makes of the project; with `wasi`, the component.
pub(super) fn build(folder: &Path, wasi: bool) -> Result<PathBuf, Failure> {
    let target = target(wasi);
    if !has_target(folder, target) {
        run(Command::new("rustup")
            .args(["target", "add", target])
            .current_dir(folder))?;
    }
    let said = output_of(
        Command::new("cargo")
            .args(["build", "--release", "--target", target])
            .arg("--message-format=json-render-diagnostics")
            .current_dir(folder),
    )?;
    module_of(&said, &folder.join("Cargo.toml")).ok_or_else(|| {
        Failure::wrong_input(anyhow!(
            "`Cargo.toml` in `{}` makes no module: expected `crate-type = [\"cdylib\"]` below `[lib]`",
            folder.display()
        ))
    })
}

/// Returns the module among what Cargo says it made. Dependencies may make one too.
fn module_of(said: &str, manifest: &Path) -> Option<PathBuf> {
    let artifacts = said
        .lines()
        .filter_map(|line| serde_json::from_str::<Artifact>(line).ok());
    let mut own = artifacts.filter(|artifact| {
        artifact.manifest_path == manifest
            && artifact
                .target
                .crate_types
                .iter()
                .any(|kind| kind == "cdylib")
    });
    let is_module = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "wasm");
    own.find_map(|artifact| artifact.filenames.into_iter().find(is_module))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_of_takes_that_of_the_project() {
        let artifact = |manifest: &str, kind: &str, file: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"{manifest}","target":{{"crate_types":["{kind}"]}},"filenames":["{file}"]}}"#
            )
        };
        let said = [
            artifact("/dependency/Cargo.toml", "cdylib", "/target/other.wasm"),
            artifact("/own/Cargo.toml", "bin", "/target/program.wasm"),
            artifact("/own/Cargo.toml", "cdylib", "/target/own.wasm"),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
        ]
        .join("\n");
        let found = module_of(&said, Path::new("/own/Cargo.toml"));
        assert_eq!(found, Some("/target/own.wasm".into()));
        assert_eq!(module_of(&said, Path::new("/third/Cargo.toml")), None);
    }
}
