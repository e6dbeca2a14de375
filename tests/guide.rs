//! Runs the guide for authors (`docs/authors.md`): every command on it, in order, as an author and then a user would.

#![cfg(all(unix, feature = "registry", feature = "eval"))]
#![allow(clippy::expect_used, reason = "helpers of tests are tests")]

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

#[path = "state/mod.rs"]
mod state;

const GUIDE: &str = include_str!("../docs/authors.md");

/// The blocks of the guide in a language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let blocks = GUIDE.split(fence.as_str()).skip(1);
    blocks
        .map(|rest| rest.split("```").next().expect("a block ends"))
        .collect()
}

/// A person's machine: a folder with a checkout of baler in it, and the program on the path.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        state::in_folder(folder.path());
        let root = env!("CARGO_MANIFEST_DIR");
        fs::create_dir(folder.path().join("here")).expect("a folder");
        symlink(root, folder.path().join("here/baler")).expect("a link");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs lines of a shell from a folder, with a state folder.
    fn runs(&self, lines: &str, folder: &Path, state: &str) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_baler"));
        let programs = program.parent().expect("a folder");
        let path = env::var("PATH").expect("a path");
        let home = env::home_dir().expect("a home");
        let or_at_home = |variable: &str, name: &str| {
            env::var_os(variable).unwrap_or_else(|| home.join(name).into())
        };
        let mut command = Command::new("bash");
        command
            .args(["-euc", lines])
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("NO_COLOR", "1")
            .env("BALER_STATE", self.path(state))
            .env("CARGO_HOME", or_at_home("CARGO_HOME", ".cargo"))
            .env("RUSTUP_HOME", or_at_home("RUSTUP_HOME", ".rustup"))
            .env("CARGO_NET_OFFLINE", "true")
            // That of the test of `baler build`, which builds the same dependencies.
            .env(
                "CARGO_TARGET_DIR",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-in-rust"),
            );
        command.output().expect("it runs")
    }

    /// Verifies the bundle in the shelf with Sigstore's own library, and returns what it signs; `None` where there is no npm.
    fn verified_by_sigstore(&self) -> Option<Value> {
        let blobs = fs::read_dir(self.path("shelf/blobs/sha256")).expect("blobs");
        let blobs = blobs.map(|blob| fs::read(blob.expect("a blob").path()).expect("it is read"));
        let mut bundles = blobs.filter(|blob| {
            let json = serde_json::from_slice::<Value>(blob);
            json.is_ok_and(|json| json.get("dsseEnvelope").is_some())
        });
        let bundle = bundles.next().expect("a bundle");
        let folder = self.path("sigstore");
        fs::create_dir_all(&folder).expect("a folder");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("host/registry/tests/sigstore");
        for name in ["package.json", "package-lock.json", "verify.mjs"] {
            fs::copy(sources.join(name), folder.join(name)).expect("it is copied");
        }
        fs::write(folder.join("bundle.json"), bundle).expect("it is written");
        let install = self.runs("npm ci --silent --no-audit --no-fund", &folder, "state");
        if !install.status.success() {
            return None;
        }
        let verify = "node verify.mjs bundle.json ../acme.key.pub";
        let verified = self.runs(verify, &folder, "state");
        assert!(verified.status.success(), "{}", said(&verified));
        Some(serde_json::from_slice(&verified.stdout).expect("JSON"))
    }
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

#[test]
#[expect(clippy::print_stderr, reason = "it says what it leaves out")]
fn every_command_of_the_guide_runs_and_a_user_gets_what_the_author_signed() {
    let machine = Machine::new();
    let commands = blocks("sh").concat();
    let (begin, rest) = commands
        .split_once("cd keep-failures\n")
        .expect("the guide begins a project");
    let begun = machine.runs(begin, &machine.path("here"), "state");
    assert!(begun.status.success(), "{}", said(&begun));
    let project = machine.path("here/keep-failures");
    let code = blocks("rust")[0];
    fs::write(project.join("src/lib.rs"), code).expect("it is written");

    let author = rest
        .split_once("mkdir ../agent\n")
        .expect("a user follows")
        .0;
    let ran = machine.runs(author, &project, "state");
    assert!(ran.status.success(), "{}", said(&ran));
    let text = said(&ran);
    for words in [
        "1 passed",   // `cargo test`
        "\npassed\n", // `baler test`
        "keep-last",  // `baler bench`
        "would be compacted by keep-failures",
        "pushed oci-layout:../shelf:0.1.0",
        "signed with the key sha256:",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }

    // A user's machine has another state folder: nothing of the author's is known there.
    let user = &rest[author.len()..];
    let ran = machine.runs(user, &project, "users-state");
    assert!(ran.status.success(), "{}", said(&ran));
    let text = said(&ran);
    for words in [
        "signed by `acme` with the key sha256:",
        "keep-failures: its plan was applied",
        "1 strategy locked as listed",
        "updated  keep-failures 0.1.1",
        "(from 0.1.0)",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    fs::rename(machine.path("here/shelf"), machine.path("shelf")).expect("it is moved");
    for key in ["acme.key", "acme.key.pub"] {
        fs::rename(machine.path("here").join(key), machine.path(key)).expect("it is moved");
    }
    match machine.verified_by_sigstore() {
        Some(signed) => {
            assert_eq!(
                signed["predicateType"],
                "https://sigstore.dev/cosign/sign/v1"
            );
        }
        None => eprintln!("not verified by @sigstore/verify: npm or its registry is not there"),
    }
}
