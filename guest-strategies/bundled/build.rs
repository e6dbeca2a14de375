//! Lists the strategies for `src/lib.rs`, as components: built from their sources in a checkout, and as they were shipped
//! in a published package (`components/`).

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use baler_guest_build::{Kind, components};

const STRATEGIES: [&str; 8] = [
    "tiered",
    "tiered-model",
    "sliding-window",
    "mask-tool-outputs",
    "coalesce",
    "trim",
    "summarize",
    "anchored",
];

#[expect(
    clippy::print_stderr,
    reason = "this is how a build script tells what is wrong"
)]
fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    let folder = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .ok_or_else(|| format!("Cargo did not set `{name}`"))
    };
    let (here, out_dir) = (folder("CARGO_MANIFEST_DIR")?, folder("OUT_DIR")?);
    println!("cargo::rerun-if-changed=build.rs");
    let workspace = here.join("../..");
    let components: Vec<(&str, PathBuf)> = if here.join("../sdk").is_dir() {
        from_sources(&workspace, &out_dir)?
    } else {
        let shipped = here.join("components");
        let path = |name| shipped.join(name).with_extension("wasm");
        STRATEGIES.iter().map(|name| (*name, path(*name))).collect()
    };
    let mut list = String::from("&[\n");
    for (name, path) in components {
        let _ = writeln!(
            list,
            "    Bundled {{ name: {name:?}, wasm: include_bytes!({path:?}) }},"
        );
    }
    list.push_str("]\n");
    write(&out_dir.join("all.rs"), &list)
}

/// Builds the components.
fn from_sources(workspace: &Path, out_dir: &Path) -> Result<Vec<(&'static str, PathBuf)>, String> {
    for path in [
        "Cargo.toml",
        "Cargo.lock",
        "wit",
        "guest-strategies/sdk",
        "guest-strategies/core",
        "guest-strategies/digest",
        "host/provenance",
    ] {
        println!("cargo::rerun-if-changed={}", workspace.join(path).display());
    }
    let strategies = workspace.join("guest-strategies");
    for name in STRATEGIES {
        println!(
            "cargo::rerun-if-changed={}",
            strategies.join(name).display()
        );
    }
    let workspace = workspace
        .canonicalize()
        .map_err(|error| format!("cannot find `{}`: {error}", workspace.display()))?;
    let components = components(
        &workspace,
        out_dir,
        Kind::Packages,
        "component",
        &STRATEGIES,
    )?;
    let paths = components.into_iter().map(|component| component.path);
    Ok(STRATEGIES.into_iter().zip(paths).collect())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}
