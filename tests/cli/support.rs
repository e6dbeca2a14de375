//! The set-up that the tests share: a folder for each test, and what a run of the program returned.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::state;

/// A folder of its own for a test: state, files and nothing of the person's who runs it. What was
/// compiled is shared.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        state::in_folder(folder.path());
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, content).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baler"));
        command
            .env_clear()
            .env("NO_COLOR", "1")
            .env("HOME", self.folder.path())
            .env("BALER_STATE", self.path("state"))
            .stdin(Stdio::null())
            .current_dir(self.folder.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command().args(arguments).output().expect("it runs"))
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = self
            .command()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut stdin = child.stdin.take().expect("an input");
        let input = input.to_vec();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("it ends");
        writer.join().expect("written");
        Ran::of(output)
    }

    /// What is in the folder, apart from the state.
    pub(crate) fn entries(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.folder.path())
            .expect("the folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .filter(|name| name != "state")
            .collect();
        names.sort();
        names
    }
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("no signal"),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}", self.stderr);
        self
    }

    /// The words are on standard error, in this order.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        let mut rest = self.stderr.as_str();
        for word in words {
            let Some(at) = rest.find(word) else {
                panic!("`{word}` is not said, or not there:\n{}", self.stderr);
            };
            rest = &rest[at + word.len()..];
        }
        self
    }
}

pub(crate) fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/conversations")
        .join(name)
        .to_str()
        .expect("UTF-8")
        .to_owned()
}

pub(crate) fn examples() -> [String; 5] {
    [
        "fix-a-bug.openai.json",
        "book-a-flight.anthropic.json",
        "plan-a-week.openai.json",
        "sort-recipes.responses.json",
        "plan-a-sail.gemini.json",
    ]
    .map(example)
}

pub(crate) fn read_receipt(bench: &Bench, name: &str) -> Value {
    serde_json::from_slice(&fs::read(bench.path(name)).expect("a receipt")).expect("JSON")
}

/// Compacts an example with a receipt in this file, and gives what came out.
pub(crate) fn compact_with_receipt(
    bench: &Bench,
    input: &str,
    receipt: &str,
    more: &[&str],
) -> Ran {
    let arguments = ["compact", input, "--receipt", receipt];
    bench.run(&[&arguments[..], more].concat())
}

/// A folder that no umask opens to others.
pub(crate) fn private_folder(bench: &Bench, name: &str) -> std::path::PathBuf {
    let path = bench.path(name);
    fs::create_dir(&path).expect("a folder");
    #[cfg(unix)]
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("set");
    path
}
