//! Commands that test, build or check the code.

/// Words of commands that check what was done.
const CHECKS: [&str; 22] = [
    "test",
    "tests",
    "pytest",
    "tox",
    "unittest",
    "runtests",
    "jest",
    "vitest",
    "rspec",
    "phpunit",
    "ctest",
    "build",
    "check",
    "lint",
    "clippy",
    "vet",
    "tsc",
    "mypy",
    "ruff",
    "eslint",
    "typecheck",
    "make",
];

/// Words of commands that say nothing of a check, although others do: `pip install pytest`.
const OTHERS: [&str; 18] = [
    "git", "rm", "mv", "cp", "mkdir", "touch", "echo", "cd", "chmod", "gh", "sed", "curl",
    "install", "add", "docker", "ls", "cat", "grep",
];

/// Whether one of several commands runs tests, or builds or checks the code.
pub(super) fn is_check(command: &str) -> bool {
    checks(command).any(|command| words(command).any(|word| CHECKS.contains(&word)))
}

/// Whether two commands check the same kind of thing: that a linter finds nothing says nothing of a test. A folder with the
/// name of a check makes none.
pub(super) fn are_alike(one: &str, other: &str) -> bool {
    let kinds = |commands| {
        let words = checks(commands).flat_map(str::split_whitespace);
        words.map(|word: &str| word.trim_matches('`'))
    };
    kinds(one).any(|word| CHECKS.contains(&word) && kinds(other).any(|other| other == word))
}

/// Iterates those of several commands that may check something.
fn checks(commands: &str) -> impl Iterator<Item = &str> {
    let commands = commands.split(['|', ';', '&', '\n']);
    commands.filter(|command| !words(command).any(|word| OTHERS.contains(&word)))
}

fn words(command: &str) -> impl Iterator<Item = &str> {
    command.split(|c: char| !c.is_ascii_alphanumeric())
}
