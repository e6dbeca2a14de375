//! Where the work stands, as far as the calls say: whether anything was changed, and whether it was checked since.

use std::collections::{BTreeMap, BTreeSet};

use super::actions::{Action, is_read_only_command};
use super::changes;
use super::facts::Fact;
use super::verbs::spaced;
use super::work::Work;

/// Said of work on files if no call edited one that was there before.
const UNEDITED: &str = "No edit of an existing file is known so far.";

/// Said of the service of customers if all calls only looked something up.
const UNCHANGED: &str = "No call changed anything so far.";

/// Around the command that checked last, and the files that were edited since.
const CHECKED: &str = "Since `";
const SINCE: &str = "` no check is known; edited since: ";

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

/// Words of commands that say nothing of a check, although others do: `pip install pytest`.
const OTHERS: [&str; 18] = [
    "git", "rm", "mv", "cp", "mkdir", "touch", "echo", "cd", "chmod", "gh", "sed", "curl",
    "install", "add", "docker", "ls", "cat", "grep",
];

/// Words of checks with which they also edit.
const EDITING: [&str; 7] = ["fix", "write", "w", "fmt", "format", "i", "update"];

/// Programs that change nothing.
const HARMLESS: [&str; 14] = [
    "cd", "echo", "true", "false", "sleep", "export", "sort", "uniq", "cut", "diff", "date", "env",
    "mkdir", "touch",
];

/// Programs that run a script, the endings of scripts, and beginnings of the names of those that may edit.
const INTERPRETERS: [&str; 4] = ["python", "python3", "node", "ruby"];
const SCRIPTS: [&str; 4] = [".py", ".js", ".mjs", ".rb"];
const EDITORS: [&str; 14] = [
    "fix", "update", "modify", "patch", "apply", "edit", "rewrite", "replace", "migrate", "format",
    "add", "insert", "remove", "change",
];

/// Words of `find` with which it does more than to find.
const FIND: [&str; 6] = ["-exec", "-execdir", "-delete", "-ok", "-okdir", "-fprint"];

/// First words of the names of tools that only look something up, and words with which such a name does more:
/// `check_in`, `find_and_modify`.
const LOOKUPS: [&str; 16] = [
    "get",
    "list",
    "search",
    "find",
    "lookup",
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
const MORE: [&str; 20] = [
    "and", "or", "in", "out", "off", "for", "set", "update", "delete", "create", "modify",
    "replace", "remove", "book", "cancel", "buy", "sell", "send", "insert", "write",
];

/// The first word of the names of tools that run SQL, and words with which a statement of it writes.
const QUERY: &str = "query";
const WRITING: [&str; 10] = [
    "insert", "update", "delete", "drop", "alter", "create", "truncate", "merge", "replace", "call",
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
    let mut read: BTreeSet<&str> = BTreeSet::new();
    let mut created: BTreeSet<&str> = BTreeSet::new();
    for (number, fact) in facts.enumerate() {
        // What calls changed, they say themselves.
        is_changed |= matches!(fact, Fact::Changed(line) if changes::is_proposed(line));
        let Fact::Action(action) = fact else {
            continue;
        };
        calls += 1;
        let path = action.file();
        let is_overwritten = || path.is_some_and(|path| read.contains(path));
        let is_created = action.has_created() && action.edited_file().is_some();
        if is_created && !is_overwritten() {
            created.extend(path);
        }
        let is_own = work == Work::Coding && path.is_some_and(|path| created.contains(path));
        is_changed |=
            !is_own && changes_something(action, work) || action.has_created() && is_overwritten();
        // A file that the agent created did not exist before.
        read.extend(path.filter(|path| !created.contains(path)));
        if action.has_written() {
            edited.extend(path.map(|path| (path, number)));
        }
        if let Some(command) = action.command().filter(|command| is_check(command)) {
            check = Some(command);
            edited.clear();
        } else if action.call().is_some_and(|call| is_check(&spaced(call))) {
            check = None;
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
    let edited = edited
        .into_iter()
        .map(|(path, number)| (number, changes::file(path)));
    let mut edited: Vec<(usize, &str)> = edited.collect();
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

/// Whether a text that a program wrote is the summary of another program, which tells of what is not known otherwise.
pub(super) fn is_summary(text: &str) -> bool {
    const SIGNS: [&str; 4] = [
        "This session is being continued",
        "Here is a summary of",
        "Another language model started",
        "<state_snapshot>",
    ];
    SIGNS.iter().any(|sign| text.contains(sign))
}

/// Whether a call may have changed what was there before. In the service of customers, a file that was created counts.
pub(super) fn changes_something(action: &Action, work: Work) -> bool {
    if let Some(call) = action.call() {
        let tool = spaced(call.split('(').next().unwrap_or(call));
        let mut words = tool.split(|c: char| !c.is_alphanumeric());
        let is_lookup = words.next().is_some_and(|word| LOOKUPS.contains(&word));
        let may_write = tool.starts_with(QUERY) && may_write_to_database(call);
        return !is_lookup || words.any(|word| MORE.contains(&word)) || may_write;
    }
    match action.command() {
        Some(_) => action.may_edit(),
        None => action.edited_file().is_some() && (work == Work::Service || !action.has_created()),
    }
}

/// Whether a call has a statement of SQL that writes, or one of which only the beginning is known:
/// `query(sql=DELETE FROM berths)`.
fn may_write_to_database(call: &str) -> bool {
    let mut words = call.split(|c: char| !c.is_alphanumeric() && c != '_');
    call.contains('…')
        || words.any(|word| WRITING.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

/// Whether a command may change what was there before: any that is not known to change nothing.
pub(super) fn may_edit(command: &str) -> bool {
    let command = command.replace("2>&1", "").replace("2>/dev/null", "");
    let command = behind_harmless_script(&command).unwrap_or(&command);
    let mut commands = command.split(['|', ';', '&', '\n']).map(str::trim);
    commands.any(|command| !is_harmless(command))
}

/// Returns what follows a script that only imports modules and prints: `python3 -c "import a; print(a)" || echo none`. `None`
/// if a command begins with anything else.
fn behind_harmless_script(command: &str) -> Option<&str> {
    const RUNS: [&str; 2] = ["python3 -c ", "python -c "];
    let rest = RUNS
        .iter()
        .find_map(|run| command.trim_start().strip_prefix(run))?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (script, behind) = rest[1..].split_once(quote)?;
    let is_harmless = |statement: &str| {
        let statement = statement.trim();
        let prints = statement.starts_with("print(") && statement.matches('(').count() == 1;
        let imports = statement.starts_with("import ") || statement.starts_with("from ");
        statement.is_empty() || prints || imports && !statement.contains('(')
    };
    // The shell runs what stands in these.
    let is_plain = !script.contains(['`', '…']) && !script.contains("$(");
    (is_plain && script.split([';', '\n']).all(is_harmless)).then_some(behind)
}

fn is_harmless(command: &str) -> bool {
    if command.contains(['>', '…']) || command.contains("<<") {
        return false;
    }
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else {
        return true;
    };
    if is_read_only_command(command) {
        return program != "find" || !words.any(|word| FIND.contains(&word));
    }
    if INTERPRETERS.contains(&program)
        && let Some(script) = words.clone().next()
        && SCRIPTS.iter().any(|ending| script.ends_with(ending))
    {
        let name = changes::file(script);
        return !EDITORS.iter().any(|start| name.starts_with(start));
    }
    let mut parts = command.split(|c: char| !c.is_ascii_alphanumeric());
    HARMLESS.contains(&program) || is_check(command) && !parts.any(|part| EDITING.contains(&part))
}

/// Whether one of several commands runs tests, or builds or checks the code.
pub(super) fn is_check(command: &str) -> bool {
    command.split(['|', ';', '&', '\n']).any(|command| {
        let words = || command.split(|c: char| !c.is_ascii_alphanumeric());
        words().any(|word| CHECKS.contains(&word)) && !words().any(|word| OTHERS.contains(&word))
    })
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
        facts.push(ran("cd src && python3 try_fix.py 2>&1 | tail"));
        facts.push(ran("cargo test"));
        facts.push(ran("python3 -c 'import a; print(a)' || echo none"));
        assert_eq!(status(&facts, Work::Coding).as_deref(), Some(UNEDITED));
        for may_edit in [
            "python3 update_a.py",
            "git apply a.diff",
            "git revert HEAD",
            "ls > a.rs",
            "ls && rm a.rs",
            "grep a a.rs\\nsed -i s/a/b/ a.rs",
            "find . -name a -delete",
            "eslint --fix src",
            "cargo fmt",
            "cp a.rs b.rs",
            "python3 - <<E",
            "cat <<'E' > a.rs\\nE",
            "sed -i s/a/b/ a.rs",
            "python3 -c 'import a; a.run()'",
            "python3 -c 'print(1)' && rm a.rs",
            "python3 -c 'print(`rm a.rs`)'",
            "python3 -c 'print(a.run())'",
            "cat a.py | python3",
            "grep -n ' -c ' a.sh && git checkout a.sh && echo 'done'",
            "bash -c 'rm a.rs'",
        ] {
            facts.push(call("read", r#"{"path": "a.rs"}"#));
            facts.push(ran(may_edit));
            let said = status(&facts, Work::Coding);
            assert_ne!(said.as_deref(), Some(UNEDITED), "{may_edit}");
            facts.truncate(facts.len() - 2);
        }
        // What was created may be edited.
        facts.push(ran("mkdir out && touch out/b.rs"));
        facts.push(ran("sed -i s/a/b/ try.py"));
        facts.push(Fact::Changed("edited try.py: `a` → `b`".to_owned()));
        assert_eq!(status(&facts, Work::Coding).as_deref(), Some(UNEDITED));
        facts.truncate(facts.len() - 3);
        facts.push(Fact::Changed("proposed an edit".to_owned()));
        assert_eq!(status(&facts, Work::Coding), None);
        facts.pop();
        facts.push(edited("a.rs"));
        assert_ne!(status(&facts, Work::Coding).as_deref(), Some(UNEDITED));
        assert_eq!(status(&facts[..2], Work::Coding), None);
    }

    #[test]
    fn edits_since_the_last_check_are_named() {
        let mut facts = vec![
            edited("src/old.rs"),
            ran("mkdir -p out && cargo test --lib"),
            edited("src/a.rs"),
            edited("src/b.rs"),
            ran("git commit -m test"),
            ran("pip install pytest"),
            call("run_shell", r#"{"cmd": "ls", "dir_path": "tests"}"#),
            edited("src/a.rs"),
        ];
        let since =
            "Since `mkdir -p out && cargo test --lib` no check is known; edited since: b.rs, a.rs";
        assert_eq!(status(&facts, Work::Coding).as_deref(), Some(since));
        assert!(is_status(since));
        facts.push(call("run_tests", "{}"));
        assert_eq!(status(&facts, Work::Coding), None);
        facts.pop();
        facts.push(ran("npm run lint"));
        assert_eq!(status(&facts, Work::Coding), None);
        let mut facts = vec![ran("make")];
        facts.extend((0..6).map(|number| edited(&format!("{number}.rs"))));
        assert_eq!(
            status(&facts, Work::Coding).as_deref(),
            Some("Since `make` no check is known; edited since: 2.rs, 3.rs, 4.rs, 5.rs and 2 more")
        );
        // What an earlier digest left out is not known.
        facts[0] = Fact::Done("ran `make` → done".to_owned());
        assert_eq!(status(&facts, Work::Coding), None);
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
        for acts in [
            "book_ferry",
            "check_in",
            "findAndModify",
            "checkout",
            "list_for_sale",
        ] {
            facts.push(call(acts, r#"{"to": "Oslo"}"#));
            assert_eq!(status(&facts, Work::Service), None, "{acts}");
            facts.pop();
        }
        for sql in ["delete\\n from trips", "update trips SET to = 7", "with …"] {
            facts.push(call("query", &format!(r#"{{"sql": "{sql}"}}"#)));
            assert_eq!(status(&facts, Work::Service), None, "{sql}");
            facts.pop();
        }
        facts.push(call("query", r#"{"sql": "select * from trips"}"#));
        facts.push(call("listFerries", r#"{"to": "Oslo"}"#));
        assert_eq!(status(&facts, Work::Service).as_deref(), Some(UNCHANGED));
    }
}
