//! Writes generated sessions with known facts, as a corpus for `baler eval`: one set for each format.
//!
//! `cargo run --package baler-generated --bin episodes -- WORDING.json OUT [SESSIONS]`

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use baler_generated::{Choices, Episodes, Kind};

/// Sessions of each format, if no number is given.
const SESSIONS: u64 = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(wording), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("expected a file of scenarios, such as tests/generated/wording/episodes/development.json, and a folder to write to".into());
    };
    let sessions = match arguments.next() {
        Some(number) => number.to_string_lossy().parse()?,
        None => SESSIONS,
    };
    let episodes = Episodes::read(&fs::read_to_string(wording)?)?;
    for (place, kind) in Kind::ALL.into_iter().enumerate() {
        let folder = PathBuf::from(&out).join(kind.name());
        fs::create_dir_all(&folder)?;
        for session in 0..sessions {
            let seed = session * Kind::ALL.len() as u64 + place as u64;
            let body = episodes.session(kind, &mut Choices::from_seed(seed));
            fs::write(folder.join(format!("{session:03}.json")), body.to_string())?;
        }
    }
    Ok(())
}
