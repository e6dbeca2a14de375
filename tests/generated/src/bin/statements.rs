//! Writes generated chats with statements, as a corpus for `baler eval`: one set for each language.
//!
//! `cargo run --package baler-generated --bin statements -- WORDING OUT [CHATS]`

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use baler_generated::{Choices, Wording};

/// Chats of each language, if no number is given.
const CHATS: u64 = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(wording), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("expected a folder with wording, such as tests/generated/wording/development, and a folder to write to".into());
    };
    let chats = match arguments.next() {
        Some(number) => number.to_string_lossy().parse()?,
        None => CHATS,
    };
    let out = PathBuf::from(out);
    for file in fs::read_dir(wording)? {
        let file = file?.path();
        let Some(language) = file.file_stem().and_then(|stem| stem.to_str()) else {
            continue;
        };
        let wording = Wording::read(&fs::read_to_string(&file)?)?;
        let lines: Vec<String> = (0..chats)
            .map(|seed| wording.chat(&mut Choices::from_seed(seed)).to_string())
            .collect();
        let folder = out.join(language);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("chats.jsonl"), lines.join("\n"))?;
    }
    Ok(())
}
