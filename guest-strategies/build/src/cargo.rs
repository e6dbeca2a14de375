//! The nested Cargo.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::target::WASM;

/// What the names stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Packages of the workspace, each with a `cdylib`.
    Packages,
    /// Examples with crate type `cdylib` of the workspace's root package.
    Examples,
}

/// Runs Cargo and returns the core module of each name.
pub(crate) fn build(
    workspace: &Path,
    target_dir: &Path,
    kind: Kind,
    profile: &str,
    names: &[&str],
) -> Result<Vec<PathBuf>, String> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        if is_of_the_outer_build(&name) {
            command.env_remove(name);
        }
    }
    command
        .env("CARGO_ENCODED_RUSTFLAGS", path_remapping(workspace))
        .current_dir(workspace)
        .args(["build", "--profile", profile, "--locked", "--target", WASM])
        .arg("--target-dir")
        .arg(target_dir);
    for name in names {
        command.args([
            match kind {
                Kind::Packages => "--package",
                Kind::Examples => "--example",
            },
            name,
        ]);
    }
    let output = command
        .output()
        .map_err(|error| format!("cannot start Cargo for the guests: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "building the guests in `{}` failed:\n{}",
            workspace.display(),
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let folder = target_dir.join(WASM).join(profile);
    Ok(names
        .iter()
        .map(|name| {
            let file = format!("{}.wasm", name.replace('-', "_"));
            match kind {
                Kind::Packages => folder.join(file),
                Kind::Examples => folder.join("examples").join(file),
            }
        })
        .collect())
}

/// Cargo sets these for what it builds, or the user for the outer build. What finds the
/// toolchain, the registry and the shared pool of jobs stays.
fn is_of_the_outer_build(name: &OsString) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let kept = ["CARGO", "CARGO_HOME", "CARGO_MAKEFLAGS"].contains(&name)
        || [
            "CARGO_NET_",
            "CARGO_HTTP_",
            "CARGO_REGISTRY_",
            "CARGO_REGISTRIES_",
            "CARGO_SOURCE_",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix));
    let outer = name.starts_with("CARGO_")
        || [
            "RUSTC",
            "RUSTDOC",
            "RUSTFLAGS",
            "RUSTDOCFLAGS",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTC_LINKER",
            "TARGET",
            "HOST",
            "PROFILE",
            "OUT_DIR",
            "OPT_LEVEL",
            "DEBUG",
            "NUM_JOBS",
            "CLIPPY_ARGS",
            "__CARGO_DEFAULT_LIB_METADATA",
        ]
        .contains(&name);
    outer && !kept
}

/// Paths of the machine stand in panic messages; without them the same source gives the same
/// bytes everywhere.
fn path_remapping(workspace: &Path) -> OsString {
    let home = env::home_dir().unwrap_or_default();
    let folder =
        |variable, name| env::var_os(variable).map_or_else(|| home.join(name), PathBuf::from);
    let (cargo, rustup) = (
        folder("CARGO_HOME", ".cargo"),
        folder("RUSTUP_HOME", ".rustup"),
    );
    let mut flags = OsString::new();
    // The last holds the sources of std, where they are installed.
    for (from, to) in [
        (workspace, "/guests"),
        (&cargo, "/cargo"),
        (&rustup, "/rustup"),
    ] {
        if !flags.is_empty() {
            // Cargo's separator between encoded flags.
            flags.push("\u{1f}");
        }
        flags.push("--remap-path-prefix=");
        flags.push(from);
        flags.push("=");
        flags.push(to);
    }
    flags
}
