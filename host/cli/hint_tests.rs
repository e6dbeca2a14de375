//! What texts of the program and of its libraries tell people to type has to be there.

#![cfg(all(feature = "eval", feature = "http"))]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use baler_host::Strategy;
use clap::CommandFactory as _;

use crate::Program;

/// The folders with texts that reach people. Paths of modules of tests have `tests` in them.
const TEXTS: [&str; 5] = [
    "host/cli",
    "host/core/src",
    "host/eval/src",
    "host/http/src",
    "host/models/src",
];

/// The texts and help of all files in a folder, line by line, without comments and tests.
fn lines(folder: &Path, all: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let is_of_tests = path.file_stem().is_some_and(|name| name == "tests");
        // What `baler build` runs has options of its own.
        let is_of_tools = path.ends_with("commands/build");
        if is_of_tests || is_of_tools {
            continue;
        }
        if path.is_dir() {
            lines(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).expect("text");
            let text = text.split("#[cfg(test)]\nmod tests").next();
            let told = text.unwrap_or_default().lines().map(str::trim_start);
            let told = told.filter(|line| line.starts_with("///") || !line.starts_with("//"));
            all.extend(told.map(str::to_owned));
        }
    }
}

/// The words that stand behind `before`, of small letters and hyphens.
fn words_behind(lines: &[String], before: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for line in lines {
        for (at, _) in line.match_indices(before) {
            // `a--b` and `---` are no options.
            let is_begun = line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
            let word = line[at + before.len()..]
                .split(|c: char| !(c.is_ascii_lowercase() || c == '-'))
                .next()
                .unwrap_or_default();
            if !is_begun && word.starts_with(|c: char| c.is_ascii_lowercase()) {
                words.insert(word.to_owned());
            }
        }
    }
    words
}

#[test]
fn hints_name_commands_options_and_strategies_that_there_are() {
    let mut all = Vec::new();
    for folder in TEXTS {
        lines(Path::new(folder), &mut all);
    }
    let mut program = Program::command();
    program.build();
    let mut options = BTreeSet::new();
    let mut commands = BTreeSet::new();
    let mut left = vec![&program];
    while let Some(command) = left.pop() {
        commands.insert(command.get_name().to_owned());
        let long = command.get_arguments().filter_map(|own| own.get_long());
        options.extend(long.map(str::to_owned));
        left.extend(command.get_subcommands());
    }
    // Those of Claude Code, Codex and systemctl.
    let others = [
        "mcp-config",
        "now",
        "oss",
        "print",
        "profile",
        "settings",
        "user",
    ];
    options.extend(others.map(str::to_owned));
    let hinted = words_behind(&all, "--");
    assert!(hinted.contains("budget"), "nothing was read: {hinted:?}");
    let missing: Vec<&String> = hinted.difference(&options).collect();
    assert!(
        missing.is_empty(),
        "no command has these options: {missing:?}"
    );
    let hinted = words_behind(&all, "`baler ");
    assert!(
        hinted.contains("strategies"),
        "nothing was read: {hinted:?}"
    );
    let missing: Vec<&String> = hinted.difference(&commands).collect();
    assert!(
        missing.is_empty(),
        "there are no such commands: {missing:?}"
    );
    for name in words_behind(&all, "native:") {
        let name = format!("native:{name}");
        assert!(Strategy::NATIVE.contains(&name.as_str()), "{name}");
    }
}
