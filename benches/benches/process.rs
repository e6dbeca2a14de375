//! The program as a process: time and peak memory of `baler compact`, and how long the fallback takes if a
//! guest loops. Needs `cargo build --release` first.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a command that prints a table, and panics if it cannot measure"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const RUNS: usize = 15;

fn main() {
    let program = program();
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("state");
    println!("medians of {RUNS} runs of `target/release/baler compact`");
    println!("{:<52} {:>10} {:>12}", "", "ms", "peak MB");
    let version = measure(Command::new(&program).arg("--version"));
    print_row("baler --version (starting a process)", version);
    for megabytes in [1, 4] {
        let path = folder.path().join(format!("{megabytes}.json"));
        std::fs::write(&path, baler_benches::agent(megabytes * 1_000_000)).expect("writes");
        for strategy in [
            "native:digest",
            "native:truncate",
            "sliding-window",
            "mask-tool-outputs",
        ] {
            let measured = measure(&mut compact(&program, &state, &path, strategy));
            print_row(&format!("{megabytes} MB, {strategy}"), measured);
        }
    }
    let guest = folder.path().join("loop-forever.wasm");
    std::fs::write(&guest, baler_hostile_guests::LOOP_FOREVER.wasm).expect("writes");
    let path = folder.path().join("1.json");
    let mut command = compact(&program, &state, &path, &guest.display().to_string());
    let measured = measure(command.args(["--timeout", "100ms"]));
    print_row("1 MB, a guest that loops, --timeout 100ms", measured);
}

fn print_row(name: &str, (time, memory): (f64, f64)) {
    println!("{name:<52} {time:>10.1} {memory:>12.1}");
}

fn compact(program: &Path, state: &Path, path: &Path, strategy: &str) -> Command {
    let mut command = Command::new(program);
    command
        .arg("compact")
        .arg(path)
        .args(["--strategy", strategy, "--quiet", "--state"])
        .arg(state);
    command
}

/// Returns the median time in ms, and the peak memory in MB.
fn measure(command: &mut Command) -> (f64, f64) {
    // The first run compiles the strategies.
    let mut times: Vec<f64> = (0..=RUNS)
        .map(|_| {
            let start = Instant::now();
            let status = command
                .stdout(Stdio::null())
                .status()
                .expect("build it first: cargo build --release");
            assert!(matches!(status.code(), Some(0 | 4)), "{status}");
            start.elapsed().as_secs_f64() * 1e3
        })
        .skip(1)
        .collect();
    times.sort_by(f64::total_cmp);
    (times[RUNS / 2], peak(command))
}

/// Returns the peak memory in MB, as GNU time reports it.
fn peak(command: &Command) -> f64 {
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%M"])
        .arg(command.get_program())
        .args(command.get_args())
        .stdout(Stdio::null())
        .output();
    let kib = output.ok().and_then(|output| {
        let text = String::from_utf8(output.stderr).ok()?;
        text.lines().last()?.trim().parse::<f64>().ok()
    });
    kib.map_or(f64::NAN, |kib| kib * 1024.0 / 1e6)
}

/// Returns the path of `target/release/baler`, next to which this bench was built.
fn program() -> PathBuf {
    let own = std::env::current_exe().expect("this program");
    own.ancestors()
        .map(|folder| folder.join("baler"))
        .find(|program| program.is_file())
        .expect("build it first: cargo build --release")
}
