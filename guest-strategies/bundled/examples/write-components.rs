//! Writes the components into a folder, for the package of this crate: `.ci/packages`.
//!
//! `cargo run --package baler-strategies --example write-components -- FOLDER`

use std::path::PathBuf;
use std::{env, fs, io};

use baler_strategies::parts;

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("give the folder to write to"))?;
    fs::create_dir_all(&folder)?;
    let named = baler_strategies::ALL
        .iter()
        .chain(baler_strategies::FILTERS);
    let named = named.map(|own| (own.name, own.wasm));
    let parts = [("view", parts::VIEW), ("fallback", parts::FALLBACK)];
    for (name, wasm) in named.chain(parts) {
        fs::write(folder.join(name).with_extension("wasm"), wasm)?;
    }
    Ok(())
}
