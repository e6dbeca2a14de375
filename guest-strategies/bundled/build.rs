//! Builds the strategies as components and lists them for `src/lib.rs`.

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
    let workspace = here.join("..");
    println!("cargo::rerun-if-changed=build.rs");
    for path in [
        "sdk",
        "summarize-core",
        "tiered-core",
        "Cargo.toml",
        "Cargo.lock",
        "../wit",
        "digest",
        "../host/provenance",
    ]
    .iter()
    .chain(&STRATEGIES)
    {
        println!("cargo::rerun-if-changed={}", workspace.join(path).display());
    }
    let workspace = workspace
        .canonicalize()
        .map_err(|error| format!("cannot find `{}`: {error}", workspace.display()))?;
    let components = components(&workspace, &out_dir, Kind::Packages, &STRATEGIES)?;
    let mut list = String::from("&[\n");
    for component in components {
        let _ = writeln!(
            list,
            "    Bundled {{ name: {:?}, wasm: include_bytes!({:?}) }},",
            component.name, component.path
        );
    }
    list.push_str("]\n");
    write(&out_dir.join("all.rs"), &list)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}
