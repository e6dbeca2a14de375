//! Validates recorded requests, and compares what baler says with how providers answered them.
//!
//! ```text
//! cargo run --release --package baler-corpus --bin recorded -- FOLDER
//! ```
//!
//! What lies in the folder: `tests/corpus/src/recorded`. Prints which accepted requests break a rule and which
//! refused ones break none, by file, never text; and a table by rule for `docs/wire-formats.md`.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::Path;
use std::process::ExitCode;

use baler_corpus::recorded::validate;

const HELP: &str = "\
Validates recorded requests, and compares what baler says with how providers answered them.

Usage: recorded FOLDER

FOLDER, or each folder in it, holds bodies of requests and INDEX.tsv, with a line for each body and tabs between its
columns: file, status of the answer, address, bytes, name of the recording, kinds of blocks.

Prints the accepted requests (2xx) in which baler reports an error, the refused ones (400, 413, 422) in which it
reports nothing, and for each rule how many requests break it. Names files and rules, never text. Requests in formats
that baler does not read, and other answers, are counted apart.

Exit codes:
  0  no accepted request has an error, except for those in tests/corpus/src/recorded/exceptions.rs
  1  an accepted request has an error, or cannot be read as a conversation
  2  a file or an index cannot be read, or the arguments are wrong";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let folder = match words.as_slice() {
        ["--help" | "-h"] => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        [folder] if !folder.starts_with('-') => Path::new(folder),
        _ => {
            eprintln!(
                "expected one folder; found arguments: {}\n\n{HELP}",
                words.len()
            );
            return ExitCode::from(2);
        }
    };
    match validate(folder) {
        Ok(tally) => {
            print!("{tally}");
            ExitCode::from(u8::from(tally.is_stricter()))
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::from(2)
        }
    }
}
