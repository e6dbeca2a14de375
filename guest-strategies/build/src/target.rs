//! The wasm target of the toolchain in use.

use std::env;
use std::path::Path;
use std::process::Command;

/// Without WASI, so that a guest imports nothing but the contract.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// Installs the target through rustup where the toolchain lacks it.
pub(crate) fn ensure_installed() -> Result<(), String> {
    if is_installed() {
        return Ok(());
    }
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", WASM]);
    if let Some(toolchain) = env::var_os("RUSTUP_TOOLCHAIN") {
        rustup.arg("--toolchain").arg(toolchain);
    }
    let said = match rustup.output() {
        Ok(output) if output.status.success() && is_installed() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("rustup could not be started: {error}"),
    };
    Err(format!(
        "the Rust target `{WASM}` is missing, and baler's strategies are built for it ({said})\n\
         with rustup: run `rustup target add {WASM}`\n\
         with Debian's compiler: install the packages `rustc` and `libstd-rust-dev-wasm32`\n\
         with another compiler: install its standard library for `{WASM}`"
    ))
}

fn is_installed() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let Ok(output) = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", WASM])
        .output()
    else {
        return false;
    };
    let folder = String::from_utf8_lossy(&output.stdout);
    output.status.success() && Path::new(folder.trim()).is_dir()
}
