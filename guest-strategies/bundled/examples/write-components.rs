//! Writes the components into a folder, for the package of this crate: `.ci/packages`.
//!
//! `cargo run --package baler-strategies --example write-components -- FOLDER`

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("give the folder to write to"))?;
    fs::create_dir_all(&folder)?;
    for own in baler_strategies::ALL {
        fs::write(folder.join(own.name).with_extension("wasm"), own.wasm)?;
    }
    Ok(())
}
