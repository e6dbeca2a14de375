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
    command.split(['|', ';', '&', '\n']).any(|command| {
        let words = || command.split(|c: char| !c.is_ascii_alphanumeric());
        words().any(|word| CHECKS.contains(&word)) && !words().any(|word| OTHERS.contains(&word))
    })
}
