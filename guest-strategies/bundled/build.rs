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

/// Filters before a strategy.
const FILTERS: [&str; 1] = ["redact"];

/// What `baler compose` puts between others.
const PARTS: [&str; 2] = ["view", "fallback"];

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
    let names = [&STRATEGIES[..], &FILTERS, &PARTS].concat();
    let paths: Vec<PathBuf> = if here.join("../sdk").is_dir() {
        from_sources(&workspace, &out_dir, &names)?
    } else {
        let shipped = here.join("components");
        let path = |name| shipped.join(name).with_extension("wasm");
        names.iter().map(path).collect()
    };
    let components: Vec<(&str, PathBuf)> = names.into_iter().zip(paths).collect();
    let (strategies, rest) = components.split_at(STRATEGIES.len());
    let (filters, parts) = rest.split_at(FILTERS.len());
    write(&out_dir.join("all.rs"), &list(strategies))?;
    write(&out_dir.join("filters.rs"), &list(filters))?;
    for (name, path) in parts {
        let part = format!("include_bytes!({path:?})\n");
        write(&out_dir.join(name).with_extension("rs"), &part)?;
    }
    Ok(())
}

/// Lists components, as Rust.
fn list(components: &[(&str, PathBuf)]) -> String {
    let mut list = String::from("&[\n");
    for (name, path) in components {
        let _ = writeln!(
            list,
            "    Bundled {{ name: {name:?}, wasm: include_bytes!({path:?}) }},"
        );
    }
    list.push_str("]\n");
    list
}

/// Builds the components.
fn from_sources(workspace: &Path, out_dir: &Path, names: &[&str]) -> Result<Vec<PathBuf>, String> {
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
    for name in names {
        println!(
            "cargo::rerun-if-changed={}",
            strategies.join(name).display()
        );
    }
    let workspace = workspace
        .canonicalize()
        .map_err(|error| format!("cannot find `{}`: {error}", workspace.display()))?;
    let components = components(&workspace, out_dir, Kind::Packages, "component", names)?;
    Ok(components
        .into_iter()
        .map(|component| component.path)
        .collect())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}
