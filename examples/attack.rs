//! Writes one of the hostile guests that the tests attack the host with, to try it oneself.
//!
//! `cargo run --example attack -- loop-forever loop-forever.wasm`

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(file)) = (arguments.next(), arguments.next()) else {
        let names: Vec<&str> = baler_hostile_guests::ALL
            .iter()
            .map(|guest| guest.name)
            .collect();
        anstream::eprintln!("usage: attack NAME FILE.wasm\nnames: {}", names.join(", "));
        return ExitCode::from(2);
    };
    let Some(guest) = baler_hostile_guests::ALL
        .iter()
        .find(|guest| guest.name == name)
    else {
        anstream::eprintln!("error: no hostile guest is called `{name}`");
        return ExitCode::from(2);
    };
    match std::fs::write(&file, guest.wasm) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("error: cannot write `{file}`: {error}");
            ExitCode::FAILURE
        }
    }
}
