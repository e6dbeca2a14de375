//! Times one call of the library, for comparison with the same call from another language.
//!
//! ```text
//! one-call FILE STRATEGY ROUNDS
//! ```
//!
//! Reads and compacts the conversation in FILE to half of its size, ROUNDS times after one that does not count, and
//! prints the median in milliseconds.

#![allow(clippy::print_stdout)]

use std::process::ExitCode;
use std::time::Instant;

use baler_host::{Compiler, Host, Request, serve_as_compiler};

type Error = Box<dyn std::error::Error>;

fn main() -> Result<ExitCode, Error> {
    if let Some(code) = serve_as_compiler() {
        return Ok(code);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, strategy, rounds] = arguments.as_slice() else {
        return Err("expected a file, a strategy and a number of rounds".into());
    };
    let document = std::fs::read(file)?;
    let wasm = baler_strategies::by_name(strategy).ok_or("no such strategy ships with baler")?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let state = tempfile::tempdir()?;
    let host = Host::builder()
        .compiler(Compiler::ThisProgram)
        .state(state.path())
        .without_archive()
        .build()?;
    let strategy = runtime
        .block_on(host.load(wasm.name, wasm.wasm))?
        .writing_digests();
    let chain = [strategy];
    let mut times = Vec::new();
    for _ in 0..=rounds.parse::<usize>()? {
        let start = Instant::now();
        let conversation = host.read_bytes(document.clone())?;
        let request = Request::default();
        let compaction = runtime.block_on(host.compact(&conversation, &chain, &request))?;
        let bytes = compaction.document().as_bytes().to_vec();
        times.push(start.elapsed());
        drop(bytes);
    }
    times.remove(0);
    times.sort();
    println!("{:.3}", times[times.len() / 2].as_secs_f64() * 1_000.0);
    Ok(ExitCode::SUCCESS)
}
