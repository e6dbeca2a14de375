//! The tools of a language: whether they are there and new enough, and running them.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context as _, anyhow};

use crate::exit::Failure;
use crate::output::{FAINT, Messages, styled};

/// A tool that has to be installed.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) program: &'static str,
    /// The argument that makes it print its version.
    pub(super) asked: &'static str,
    /// The oldest version that builds a strategy.
    pub(super) least: (u32, u32),
    /// How it is installed.
    pub(super) install: &'static str,
}

/// Makes the bindings for C and Go.
pub(super) const WIT_BINDGEN: Tool = Tool {
    program: "wit-bindgen",
    asked: "--version",
    least: (0, 63),
    install: "cargo install --locked wit-bindgen-cli --version 0.63.0 --no-default-features --features c,go (Cargo: rustup.rs)",
};

/// What a project needs before it can be built, and what of that is missing.
#[derive(Debug)]
pub(super) struct Needs<'a> {
    folder: &'a Path,
    missing: Vec<String>,
}

impl<'a> Needs<'a> {
    pub(super) const fn of(folder: &'a Path) -> Self {
        Self {
            folder,
            missing: Vec::new(),
        }
    }

    /// Returns whether a tool is there and new enough.
    pub(super) fn tool(&mut self, tool: &Tool) -> bool {
        let (major, minor) = tool.least;
        let found = match ask(self.folder, tool.program, &[tool.asked]) {
            Ok(said) => match version_in(&said) {
                Some(version) if version >= tool.least => return true,
                Some((major, minor)) => format!("found {major}.{minor}"),
                None => "found, but says no version".to_owned(),
            },
            Err(why) => why.to_owned(),
        };
        let Tool {
            program, install, ..
        } = tool;
        self.missing.push(format!(
            "{program} {major}.{minor} or later: {found}\n      install it: {install}"
        ));
        false
    }

    /// Adds a need that is not met.
    pub(super) fn lacks(&mut self, what: &str, remedy: &str) {
        self.missing.push(format!("{what}\n      {remedy}"));
    }

    /// The contract, which the tools of all languages but Rust read.
    pub(super) fn contract(&mut self) {
        if !self.folder.join("wit").is_dir() {
            self.lacks(
                "the folder `wit` with the contract",
                "`baler new` writes it into each project: copy it from one",
            );
        }
    }

    /// Fails if anything is missing, and says all of it.
    pub(super) fn met(self) -> Result<(), Failure> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let failure = Failure::wrong_use(anyhow!(
            "cannot build `{}`, and nothing was written; missing or too old:",
            self.folder.display()
        ));
        let lines = self.missing.iter().map(|line| format!("\n  → {line}"));
        Err(failure.with_more(lines.collect::<String>()))
    }
}

/// Returns what a tool prints, or in a few words why it prints nothing.
pub(super) fn ask(
    folder: &Path,
    program: &str,
    arguments: &[&str],
) -> Result<String, &'static str> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err("not found"),
        _ => Err("found, but it does not start"),
    }
}

/// Returns the first two numbers with a dot between them.
fn version_in(text: &str) -> Option<(u32, u32)> {
    let is_of_version = |c: char| c.is_ascii_digit() || c == '.';
    text.split(|c| !is_of_version(c)).find_map(|word| {
        let mut numbers = word.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    })
}

/// Runs a tool. What it prints goes to standard error.
pub(super) fn run(command: &mut Command) -> Result<(), Failure> {
    tell(command);
    let status = command.stdin(Stdio::null()).stdout(io::stderr()).status();
    ended(command, status)
}

/// Runs a tool and returns its standard output. What else it prints goes to standard error.
pub(super) fn output_of(command: &mut Command) -> Result<String, Failure> {
    tell(command);
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output();
    let (status, text) = match output {
        Ok(output) => (Ok(output.status), output.stdout),
        Err(error) => (Err(error), Vec::new()),
    };
    ended(command, status)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Says which command runs.
fn tell(command: &Command) {
    let mut line = format!("$ {}", command.get_program().to_string_lossy());
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    Messages { quiet: false }.say(&format!("{}\n", styled(FAINT, &line)));
}

fn ended(command: &Command, status: io::Result<ExitStatus>) -> Result<(), Failure> {
    let program = command.get_program().to_string_lossy();
    let status = status
        .with_context(|| format!("cannot start `{program}`"))
        .map_err(Failure::wrong_use)?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::wrong_input(anyhow!(
        "`{program}` failed ({status}); what it says stands above, and nothing was written"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_in_reads_what_tools_say() {
        for (said, version) in [
            ("v20.20.2\n", Some((20, 20))),
            ("Python 3.9.18", Some((3, 9))),
            ("go version go1.27.3 linux/amd64", Some((1, 27))),
            ("Debian clang version 19.1.7 (3~deb12u1)", Some((19, 1))),
            ("wit-bindgen-cli 0.63.0", Some((0, 63))),
            ("10.8.2", Some((10, 8))),
            ("usage: go", None),
            ("", None),
            ("99999999999.1 2.3", Some((2, 3))),
        ] {
            assert_eq!(version_in(said), version, "{said}");
        }
    }
}
