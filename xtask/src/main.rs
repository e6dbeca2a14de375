//! Runs the tools with which baler is maintained.
//!
//! ```console
//! $ cargo xtask help
//! $ cargo xtask smith 500 42
//! ```

#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "it speaks to a maintainer's terminal"
)]

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

/// A tool.
struct Tool {
    name: &'static str,
    /// Arguments that it takes, as a line of help shows them.
    takes: &'static str,
    /// What it does, as a line of help says it.
    does: &'static str,
    /// The commands that run it, from the root of the checkout; the last one gets the arguments.
    commands: &'static [&'static str],
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "public-api",
        takes: "[--bless]",
        does: "compares the public API of the libraries with docs/api, or writes it there",
        commands: &[
            "cargo run --locked --quiet --target-dir target --manifest-path xtask/public-api/Cargo.toml --",
        ],
    },
    Tool {
        name: "every-cut",
        takes: "[FOLDER] [--strategy FILE.wasm…]",
        does: "compacts recorded conversations at every cut, and checks each result",
        commands: &["cargo run --locked --release --package baler-corpus --bin every-cut --"],
    },
    Tool {
        name: "recorded",
        takes: "FOLDER",
        does: "validates recorded requests, and compares with how they were answered",
        commands: &["cargo run --locked --quiet --package baler-corpus --bin recorded --"],
    },
    Tool {
        name: "accounts",
        takes: "[FOLDER]",
        does: "checks recorded summaries as answers of a model: against their own conversations, and against others",
        commands: &["cargo run --locked --release --package baler-corpus --bin accounts --"],
    },
    Tool {
        name: "small-model",
        takes: "[CONVERSATION…]",
        does: "compacts with a small model that runs here (installs it: 15 minutes), and shows what is taken of its answers",
        commands: &["python3 xtask/small_model.py"],
    },
    Tool {
        name: "fidelity",
        takes: "PLAIN.json AT-SUMMARIES.json [--before OLDER.json]",
        does: "writes the tables of docs/fidelity.md from what `baler eval --json` measured",
        commands: &["python3 xtask/fidelity.py"],
    },
    Tool {
        name: "gallery",
        takes: "--components FOLDER | [RECORDINGS] [--set NAME…] [--on TEXT] [--originals FILE.md…]",
        does: "writes the gallery's strategies as components; or measures them, and writes docs/gallery.md",
        commands: &["python3 xtask/gallery.py"],
    },
    Tool {
        name: "weights",
        takes: "[--fit] EPISODES RECORDINGS",
        does: "measures what each weight of the digest does, or fits them",
        commands: &["cargo run --locked --release --package baler-weights --features fit --"],
    },
    Tool {
        name: "terminal",
        takes: "--output FILE.svg -- COMMAND…",
        does: "draws what a command prints in a terminal, for the README",
        commands: &["python3 xtask/terminal.py"],
    },
    Tool {
        name: "scaling",
        takes: "[FILTER…] [--all] [--list]",
        does: "measures how the host's work grows in every dimension of its input",
        commands: &[
            "cargo build --locked --release --package baler",
            "cargo run --locked --release --package baler-tools --bin scaling --",
        ],
    },
    Tool {
        name: "smith",
        takes: "[GUESTS [SEED]]",
        does: "loads and calls guests of random code",
        commands: &["cargo run --locked --release --package baler-tools --bin smith --"],
    },
    Tool {
        name: "soak",
        takes: "[CALLS [SECONDS]]",
        does: "calls strategies a million times, and watches memory and latency",
        commands: &["cargo run --locked --release --package baler-tools --bin soak --"],
    },
    Tool {
        name: "load",
        takes: "",
        does: "measures the load that `baler serve` handles",
        commands: &["cargo run --locked --release --package baler-tools --bin load --"],
    },
    Tool {
        name: "relay",
        takes: "",
        does: "measures what `baler proxy` adds to requests and streams",
        commands: &["cargo run --locked --release --package baler-tools --bin relay --"],
    },
    Tool {
        name: "replay",
        takes: "[CORPUS] [--cliff FOLDER]",
        does: "replays recorded sessions through `baler proxy` and another proxy, and counts what a provider would bill",
        commands: &["cargo run --locked --release --package baler-tools --bin replay --"],
    },
    Tool {
        name: "bench",
        takes: "[FILTER]",
        does: "runs the benchmarks",
        commands: &["cargo bench --locked --package baler-benches --"],
    },
    Tool {
        name: "peers",
        takes: "FOLDER",
        does: "compares with the compaction of other packages (Python)",
        commands: &["benches/peers/run.sh"],
    },
    Tool {
        name: "originals",
        takes: "",
        does: "holds the strategies of the gallery against what they are written after (Python)",
        commands: &["benches/peers/originals.sh"],
    },
];

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let name = arguments.next().unwrap_or_else(|| "help".into());
    if name == "help" || name == "--help" || name == "-h" {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(tool) = TOOLS.iter().find(|tool| name == tool.name) else {
        let name = name.to_string_lossy();
        eprintln!("error: there is no tool `{name}`\n\n{}", help());
        return ExitCode::from(2);
    };
    run(tool, &arguments.collect::<Vec<OsString>>())
}

fn help() -> String {
    let mut help =
        "Tools with which baler is maintained: cargo xtask TOOL [ARGUMENTS]\n\n".to_owned();
    for tool in TOOLS {
        let usage = format!("{} {}", tool.name, tool.takes);
        help += &format!("  {}\n        {}\n", usage.trim_end(), tool.does);
    }
    help
}

/// Runs the commands of a tool, up to the first that fails.
fn run(tool: &Tool, arguments: &[OsString]) -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (index, words) in tool.commands.iter().enumerate() {
        let (program, rest) = words.split_once(' ').unwrap_or((words, ""));
        let mut command = Command::new(program);
        command.args(rest.split_whitespace()).current_dir(&root);
        if index + 1 == tool.commands.len() {
            command.args(arguments);
        }
        let ended = match command.status() {
            Ok(ended) => ended,
            Err(error) => {
                eprintln!(
                    "error: cannot run `{program}`, which `{}` needs: {error}",
                    tool.name
                );
                return ExitCode::FAILURE;
            }
        };
        if !ended.success() {
            let code = ended.code().and_then(|code| u8::try_from(code).ok());
            return ExitCode::from(code.unwrap_or(1));
        }
    }
    ExitCode::SUCCESS
}
