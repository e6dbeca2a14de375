//! Builds two of the SDK's examples as components: a strategy whose `should-compact` looks at every unit, and one that
//! reads every message.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use baler_guest_build::{Kind, components};

#[expect(
    clippy::print_stderr,
    reason = "build scripts report errors on standard error"
)]
fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    for path in ["guest-strategies/sdk", "Cargo.toml", "Cargo.lock", "wit"] {
        println!("cargo::rerun-if-changed=../{path}");
    }
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    let out_dir = std::env::var_os("OUT_DIR").ok_or("Cargo did not set `OUT_DIR`")?;
    let sdk = Path::new("../guest-strategies/sdk")
        .canonicalize()
        .map_err(|error| format!("cannot find the SDK: {error}"))?;
    components(
        &sdk,
        &PathBuf::from(out_dir),
        Kind::Examples,
        "component",
        &["keep-last", "excerpt-outputs"],
    )?;
    Ok(())
}
