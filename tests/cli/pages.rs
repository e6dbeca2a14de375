//! Commands of the README and of `docs/` run as the pages say.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use super::support::Bench;

/// A block of a page: what its fence names, and its lines.
fn blocks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```") {
            blocks.push((
                kind,
                lines.by_ref().take_while(|line| *line != "```").collect(),
            ));
        }
    }
    blocks
}

/// A line without its numbers. The tokens of texts that baler wrote depend on its secret key.
fn without_numbers(line: &str) -> String {
    let is_of_number = |c: char| c.is_ascii_digit() || c == ',';
    let mut shown = String::new();
    for c in line.trim_end().chars() {
        match c {
            c if !is_of_number(c) => shown.push(c),
            _ if !shown.ends_with('#') => shown.push('#'),
            _ => {}
        }
    }
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_readmes_first_command_prints_what_the_readme_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("README.md")).expect("it is there");
    let blocks = blocks(&page);
    let mut pairs = blocks.windows(2);
    let (command, shown) = pairs
        .find_map(|pair| match pair {
            [("sh", command), ("text", shown)]
                if command[0].starts_with("cargo run -- compact") =>
            {
                Some((command[0], shown))
            }
            _ => None,
        })
        .expect("the README has a command to try, and what it prints");
    let words: Vec<&str> = command.split(' ').collect();
    let arguments = words
        .strip_prefix(&["cargo", "run", "--"])
        .expect("it runs baler");
    let bench = Bench::new();
    let folder = "examples/conversations";
    fs::create_dir_all(bench.path(folder)).expect("a folder");
    for example in fs::read_dir(root.join(folder)).expect("examples") {
        let example = example.expect("an example");
        fs::copy(example.path(), bench.path(folder).join(example.file_name())).expect("copied");
    }
    let ran = bench.run(arguments).ends(0);
    let mut printed = ran.stderr.lines();
    let (ellipsis, shown) = shown.split_last().expect("lines");
    assert_eq!(ellipsis.trim(), "…");
    for line in shown {
        let own = printed.next().unwrap_or_default();
        assert_eq!(
            without_numbers(own),
            without_numbers(line),
            "{}",
            ran.stderr
        );
        // What happened to which units does not depend on the key.
        let units = |line: &str| line.chars().take(18).collect::<String>();
        assert_eq!(units(own), units(line), "{}", ran.stderr);
    }
}

/// Commands that end otherwise than with 0, by what is in them: the server and the providers that they name are not
/// there, or the page says so.
const ENDS: [(&str, i32); 3] = [
    ("--model openai:gpt-5-mini", 2), // the key is missing
    ("--strategy http://127.0.0.1:7410", 4),
    ("should-compact request.json --context-window 128000", 3),
];

/// Commands that other tests run: building, and a server.
fn is_elsewhere(command: &str) -> bool {
    [
        "cargo ",
        "sh ",
        "baler serve",
        "baler proxy",
        "printf '{",
        "curl ",
        "baler build",
    ]
    .iter()
    .any(|start| command.starts_with(start))
}

/// Runs every command of a page's `sh` blocks, in their order, in one folder. Of a command that goes on in the next line,
/// both lines are one.
#[track_caller]
#[allow(
    clippy::print_stderr,
    reason = "a test that leaves something out says so"
)]
fn every_command_runs(page: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join(page)).expect("it is there");
    let bench = Bench::new();
    symlink(root.join("examples"), bench.path("examples")).expect("a link");
    fs::create_dir(bench.path("bin")).expect("a folder");
    symlink(env!("CARGO_BIN_EXE_baler"), bench.path("bin/baler")).expect("a link");
    // What these would do with a provider is tested elsewhere.
    for agent in ["claude", "codex", "gemini"] {
        symlink("/bin/true", bench.path("bin").join(agent)).expect("a link");
    }
    let component = baler_strategies::by_name("sliding-window").expect("ships");
    for name in [
        "untrusted.wasm",
        "loop-forever.wasm",
        "ours.wasm",
        "strategies/keep-newest.wasm",
    ] {
        fs::create_dir_all(bench.path("strategies")).expect("a folder");
        bench.file(name, component.wasm);
    }
    fs::create_dir_all(bench.path("recorded/bugs")).expect("a folder");
    fs::copy(
        root.join("examples/conversations/fix-a-bug.openai.json"),
        bench.path("recorded/bugs/one.json"),
    )
    .expect("copied");
    // What pages show before they name the files.
    for (from, to) in [
        ("fix-a-bug.openai.json", "request.json"),
        ("fix-a-clock.claude-code.jsonl", "session.jsonl"),
    ] {
        fs::copy(
            root.join("examples/conversations").join(from),
            bench.path(to),
        )
        .expect("copied");
    }
    bench.file(
        "baler.toml",
        "[strategies.keep-newest]\nsource = { path = \"strategies/keep-newest.wasm\" }\n",
    );
    let path = format!("{}:/usr/bin:/bin", bench.path("bin").display());
    let mut ran = 0;
    for (_, lines) in blocks(&text).iter().filter(|(kind, _)| *kind == "sh") {
        let block = lines.join("\n").replace("|\n", "| ").replace("\\\n", " ");
        for command in block
            .lines()
            .filter(|line| !is_elsewhere(line.trim_start()))
        {
            let program = command.split_whitespace().next().unwrap_or("#");
            if program.starts_with('#') {
                continue;
            }
            let mut shell = Command::new("bash");
            shell
                .args(["-o", "pipefail", "-c", command])
                .env_clear()
                .envs([("PATH", path.as_str()), ("NO_COLOR", "1")])
                .env("HOME", bench.folder.path())
                .env("BALER_STATE", bench.path("state"))
                .stdin(Stdio::null())
                .current_dir(bench.folder.path());
            let output = shell.output().expect("it runs");
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            if errors.contains("jq: command not found") {
                eprintln!("skipped, as jq is not installed: {command}");
                continue;
            }
            let ends = ENDS.iter().find(|(part, _)| command.contains(part));
            let expected = ends.map_or(0, |(_, code)| *code);
            assert_eq!(output.status.code(), Some(expected), "{command}\n{errors}");
            ran += 1;
        }
    }
    assert!(ran > 0, "{page} has commands");
}

#[test]
fn every_command_of_the_readme_runs() {
    every_command_runs("README.md");
}

#[test]
fn every_command_of_the_page_of_commands_runs() {
    every_command_runs("docs/commands.md");
}

#[test]
fn every_command_of_the_other_pages_runs() {
    for page in ["docs/strategies.md", "docs/report.md", "docs/proxy.md"] {
        every_command_runs(page);
    }
}
