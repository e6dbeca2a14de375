//! Where the work stands, as far as the calls say: whether anything was changed, and whether it was checked since.

use std::collections::BTreeMap;

use super::actions::{Action, is_read_only_command};
use super::changes;
use super::facts::Fact;
use super::work::Work;

/// Said of work on files if no call edited one that was there before.
const UNEDITED: &str = "No edit of an existing file is known so far.";

/// Said of the service of customers if all calls only looked something up.
const UNCHANGED: &str = "No call changed anything so far.";

/// Around the command that checked last, and the files that were edited since.
const CHECKED: &str = "Since `";
const SINCE: &str = "` no check ran; edited since: ";

/// Fewest calls of which it is worth to say that they changed nothing.
const FEWEST: usize = 3;

/// Most files that are named.
const FILES: usize = 4;

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

/// Programs whose other words say nothing of a check.
const OTHERS: [&str; 12] = [
    "git", "rm", "mv", "cp", "mkdir", "touch", "echo", "cd", "chmod", "gh", "sed", "curl",
];

/// Words of commands that may change files unseen.
const EDITORS: [&str; 18] = [
    "sed", "perl", "patch", "apply", "checkout", "restore", "reset", "stash", "merge", "mv", "rm",
    "fmt", "format", "black", "prettier", "fix", "write", "tee",
];

/// Beginnings of the names of scripts that may do so.
const EDITING: [&str; 10] = [
    "fix", "update", "modify", "patch", "apply", "edit", "rewrite", "replace", "migrate", "format",
];

/// Beginnings of the names of tools that only look something up.
const LOOKUPS: [&str; 16] = [
    "get",
    "list",
    "search",
    "find",
    "look",
    "read",
    "fetch",
    "query",
    "check",
    "calculate",
    "think",
    "view",
    "show",
    "describe",
    "count",
    "retrieve",
];

/// Returns what is to be said of these facts, all of a conversation in their order. `knows_all` is whether none before them is
/// missing.
pub(super) fn of<'f>(
    facts: impl Iterator<Item = &'f Fact>,
    work: Work,
    knows_all: bool,
) -> Option<String> {
    let mut calls = 0;
    let mut is_changed = !knows_all;
    let mut check: Option<&str> = None;
    // Files with the number of the fact that edited them last.
    let mut edited: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, fact) in facts.enumerate() {
        if let Fact::Action(action) = fact {
            calls += 1;
            is_changed |= changes_something(action);
            if let Some(path) = action.edited_file() {
                edited.insert(changes::file(path), number);
            }
        }
        if let Some(command) = command(fact).filter(|command| is_check(command)) {
            check = Some(command);
            edited.clear();
        }
    }
    if !is_changed && calls >= FEWEST {
        return match work {
            Work::Coding => Some(UNEDITED.to_owned()),
            Work::Service => Some(UNCHANGED.to_owned()),
            Work::Chat => None,
        };
    }
    let check = check.filter(|_| work == Work::Coding && !edited.is_empty())?;
    let mut edited: Vec<(usize, &str)> = edited
        .into_iter()
        .map(|(file, number)| (number, file))
        .collect();
    edited.sort_unstable();
    let others = edited.len().saturating_sub(FILES);
    let files: Vec<&str> = edited[others..].iter().map(|(_, file)| *file).collect();
    let mut files = files.join(", ");
    if others > 0 {
        files.push_str(&format!(" and {others} more"));
    }
    Some(format!("{CHECKED}{check}{SINCE}{files}"))
}

/// Whether an entry of an earlier digest says where the work stood then.
pub(super) fn is_status(entry: &str) -> bool {
    entry == UNEDITED || entry == UNCHANGED || entry.starts_with(CHECKED) && entry.contains(SINCE)
}

/// Whether a summary says that nothing was changed before.
pub(super) fn is_all_unchanged(summary: &str) -> bool {
    let mut lines = summary.lines().filter_map(|line| line.strip_prefix("- "));
    lines.any(|line| line == UNEDITED || line == UNCHANGED)
}

/// Whether a call may have changed what was there before.
pub(super) fn changes_something(action: &Action) -> bool {
    match (action.command(), action.call()) {
        (Some(command), _) => may_edit(command),
        (_, Some(call)) => {
            let tool = call.split('(').next().unwrap_or(call).to_ascii_lowercase();
            !LOOKUPS.iter().any(|start| tool.starts_with(start))
        }
        _ => action.edited_file().is_some() && !action.has_created(),
    }
}

/// Whether a command may have changed a file unseen. Of one that was cut, the rest may have.
fn may_edit(command: &str) -> bool {
    let command = command.replace("2>&1", "").replace("2>/dev/null", "");
    let mut commands = command.split(['|', ';', '&']).map(str::trim);
    commands.any(|command| {
        let may = || {
            let words =
                || command.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
            words().any(|word| EDITORS.contains(&word))
                || words().any(|word| {
                    word.contains('.') && EDITING.iter().any(|start| word.starts_with(start))
                })
        };
        command.contains(['>', '…'])
            || command.contains("<<")
            || !is_read_only_command(command) && may()
    })
}

/// Returns the command that a fact says was run.
fn command(fact: &Fact) -> Option<&str> {
    match fact {
        Fact::Action(action) => action.command().filter(|_| !action.is_read_only()),
        Fact::Done(line) => {
            let (command, _) = line.strip_prefix("ran `")?.rsplit_once('`')?;
            Some(command)
        }
        _ => None,
    }
}

/// Whether a command runs tests, or builds or checks the code.
pub(super) fn is_check(command: &str) -> bool {
    let mut words = command.split(|c: char| !c.is_ascii_alphanumeric());
    let program = words.clone().next().unwrap_or_default();
    !OTHERS.contains(&program) && words.any(|word| CHECKS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, arguments: &str) -> Fact {
        let call = Action::read(tool, arguments, false, None);
        Fact::Action(Box::new(call.action))
    }

    fn ran(command: &str) -> Fact {
        call("bash", &format!(r#"{{"cmd": "{command}"}}"#))
    }

    fn edited(path: &str) -> Fact {
        call("edit", &format!(r#"{{"path": "{path}"}}"#))
    }

    fn status(facts: &[Fact], work: Work) -> Option<String> {
        of(facts.iter(), work, true)
    }

    #[test]
    fn that_no_file_was_edited_is_said_unless_a_command_may_have() {
        let mut facts = vec![ran("ls"), ran("cat a.rs"), ran("python3 try.py")];
        assert_eq!(status(&facts, Work::Coding).as_deref(), Some(UNEDITED));
        assert_eq!(of(facts.iter(), Work::Coding, false), None);
        facts.push(ran("cat <<'E' > try.py\\nE"));
        assert_eq!(status(&facts, Work::Coding).as_deref(), Some(UNEDITED));
        facts.push(ran("python3 try_fix.py 2>&1 | tail"));
        assert_eq!(status(&facts, Work::Coding).as_deref(), Some(UNEDITED));
        for may_edit in [
            "python3 update_a.py",
            "git apply a.diff",
            "ls > a.rs",
            "ls && rm a.rs",
            "eslint --fix src",
            "python3 - <<E",
        ] {
            facts.push(ran(may_edit));
            assert_eq!(status(&facts, Work::Coding), None, "{may_edit}");
            facts.pop();
        }
        facts.push(edited("a.rs"));
        assert_eq!(status(&facts, Work::Coding), None);
        assert_eq!(status(&facts[..2], Work::Coding), None);
    }

    #[test]
    fn edits_since_the_last_check_are_named() {
        let mut facts = vec![
            edited("src/old.rs"),
            ran("cargo test --lib"),
            edited("src/a.rs"),
            edited("src/b.rs"),
            ran("git commit -m test"),
            edited("src/a.rs"),
        ];
        let since = "Since `cargo test --lib` no check ran; edited since: b.rs, a.rs";
        assert_eq!(status(&facts, Work::Coding).as_deref(), Some(since));
        assert!(is_status(since));
        facts.push(ran("npm run lint"));
        assert_eq!(status(&facts, Work::Coding), None);
        let mut facts = vec![Fact::Done("ran `make` → done".to_owned())];
        facts.extend((0..6).map(|number| edited(&format!("{number}.rs"))));
        assert_eq!(
            status(&facts, Work::Coding).as_deref(),
            Some("Since `make` no check ran; edited since: 2.rs, 3.rs, 4.rs, 5.rs and 2 more")
        );
    }

    #[test]
    fn a_service_that_only_looked_something_up_says_so() {
        let mut facts = vec![
            call("get_user", r#"{"id": 7}"#),
            call("search_ferry", r#"{"to": "Oslo"}"#),
            call("find_fare", r#"{"to": "Oslo"}"#),
        ];
        assert_eq!(status(&facts, Work::Service).as_deref(), Some(UNCHANGED));
        assert_eq!(status(&facts, Work::Chat), None);
        assert!(is_all_unchanged(&format!("## History\n- {UNCHANGED}")));
        facts.push(call("book_ferry", r#"{"to": "Oslo"}"#));
        assert_eq!(status(&facts, Work::Service), None);
    }
}
