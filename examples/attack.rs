//! Writes one of the hostile guests that the tests attack the host with, to try it oneself.
//!
//! `cargo run --example attack -- loop-forever loop-forever.wasm`

use std::process::ExitCode;

use anyhow::Context as _;
use baler_hostile_guests::ALL;

fn main() -> anyhow::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let guest = ALL.iter().find(|guest| guest.name == name);
    let (Some(guest), Some(file)) = (guest, arguments.next()) else {
        let names: Vec<&str> = ALL.iter().map(|guest| guest.name).collect();
        anstream::eprintln!("usage: attack NAME FILE.wasm\nnames: {}", names.join(", "));
        return Ok(ExitCode::from(2));
    };
    std::fs::write(&file, guest.wasm).with_context(|| format!("cannot write `{file}`"))?;
    Ok(ExitCode::SUCCESS)
}
