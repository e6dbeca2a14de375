//! What the agent did, read from its tool calls, whatever the names of the tools.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::checks;
use super::commands;
use super::errors;
use super::part::is_data;
use super::scan;
use super::text;
use super::values;
use super::verbs::{CALLED, known, verb, words};
use super::weights;

/// Most bytes of a command, of the arguments of a call, of its output, and of that of a call that did something.
const COMMAND: usize = 240;
const ARGUMENTS: usize = 240;
const ANSWER: usize = 100;
const EFFECT: usize = 160;

/// Most bytes of a command as the label of names in its output.
const LABEL: usize = 200;

/// Most bytes of the outcome of a command.
const OUTCOME: usize = 120;

/// Most names of a change.
const NAMES: usize = 5;

/// One call, or an entry of an earlier digest about several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Action {
    /// The path, the command, or the call with its arguments.
    target: String,
    kind: Kind,
    /// Verbs with the number of times.
    verbs: Vec<(&'static str, u32)>,
    /// Names in the arguments of a change, which say what was changed.
    names: Vec<String>,
    ended: Ended,
    answer: Option<String>,
}

/// How an action ended, as far as its output shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// It has no output, or stood in an earlier digest.
    Unknown,
    Well,
    /// Its output mentions errors, whatever its exit code.
    WithErrors,
    Failed,
}

impl Ended {
    const fn of(failed: bool, answer: Option<&str>) -> Self {
        match answer {
            _ if failed => Self::Failed,
            Some(_) => Self::Well,
            None => Self::Unknown,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Path,
    Command,
    Call,
}

/// Names of arguments that hold a path, and of those that hold a command.
const PATHS: &[&str] = &[
    "path",
    "file",
    "filename",
    "filepath",
    "dir",
    "directory",
    "folder",
    "url",
    "uri",
    "notebook",
];
const COMMANDS: &[&str] = &["command", "cmd", "script", "commands"];

impl Action {
    /// Creates the action of a call of `tool`; `answer` is its output, if known.
    pub(super) fn of_call(tool: &str, arguments: &str, failed: bool, answer: Option<&str>) -> Self {
        let value = text::parsed(arguments).unwrap_or(Value::Null);
        let command = command_of(&value);
        let command = command.as_deref().map(without_shell);
        let texts = texts_of(&value);
        let mut action = Self::without_names(tool, &value, &texts, command, failed, answer);
        if action.kind == Kind::Path && !action.is_read_only() {
            action.names = match command.filter(|word| !is_word(word)) {
                // Of a file that was written, names in the text say what.
                Some(command) => changed_names(&[("text", command)], &action.target),
                None => changed_names(&texts, &action.target),
            };
        }
        action
    }

    /// Creates the action of a call with these arguments, the texts among them, and the `command` in them.
    fn without_names(
        tool: &str,
        value: &Value,
        texts: &[(&str, &str)],
        command: Option<&str>,
        failed: bool,
        answer: Option<&str>,
    ) -> Self {
        let named = |names: &[&str]| {
            texts
                .iter()
                .find(|(name, value)| !value.is_empty() && is_named(name, names))
                .map(|(_, value)| *value)
        };
        let path = named(PATHS).filter(|path| path.len() <= 400 && !path.contains('\n'));
        let new = |target, kind, verb| Self {
            target,
            kind,
            verbs: vec![(verb, 1)],
            names: Vec::new(),
            ended: Ended::of(failed, answer),
            answer: None,
        };
        match (path, command) {
            // A tool with several commands, of which one was called for this path.
            (Some(path), Some(word)) if is_word(word) => {
                let verb = verb(word).or_else(|| verb(tool)).unwrap_or(CALLED);
                new(text::line(path, ARGUMENTS), Kind::Path, verb)
            }
            (_, Some(command)) => Self::of_command(command, failed, answer),
            (Some(path), None) if verb(tool).is_some_and(|verb| verb != "ran") => new(
                text::line(path, ARGUMENTS),
                Kind::Path,
                match verb(tool).unwrap_or(CALLED) {
                    "edited" if answer.is_some_and(|answer| says_created(path, answer)) => {
                        "created"
                    }
                    verb => verb,
                },
            ),
            _ => {
                let looks = only_looks(tool);
                let has_arguments = value.as_object().is_some_and(|all| !all.is_empty());
                Self {
                    answer: answer.and_then(|answer| match looks && !failed {
                        false if has_arguments => effect_of(answer),
                        _ => answer_of(answer),
                    }),
                    ..new(
                        call(tool, value),
                        Kind::Call,
                        if looks { LOOKED } else { CALLED },
                    )
                }
            }
        }
    }

    /// Creates the action of a call whose output, and what it changed, do not matter.
    pub(super) fn of_bare_call(tool: &str, arguments: &str) -> Self {
        let value = text::parsed(arguments).unwrap_or(Value::Null);
        let command = command_of(&value);
        let command = command.as_deref().map(without_shell);
        Self::without_names(tool, &value, &texts_of(&value), command, false, None)
    }

    /// Creates the action of a shell command; `answer` is its output, if known.
    pub(super) fn of_command(command: &str, failed: bool, answer: Option<&str>) -> Self {
        let (target, kind, verb) = match commands::on_file(command) {
            Some((verb, path)) => (path, Kind::Path, verb),
            None => (command, Kind::Command, "ran"),
        };
        Self {
            target: text::line(target, COMMAND),
            kind,
            verbs: vec![(verb, 1)],
            names: Vec::new(),
            ended: Ended::of(failed, answer),
            // The contents of a file are not an outcome.
            answer: answer
                .filter(|_| kind == Kind::Command)
                .and_then(|answer| match failed {
                    true => error(answer).or_else(|| outcome(answer)),
                    false => outcome(answer),
                }),
        }
    }

    /// Parses what [`Action::line`] wrote of a path, so that further actions can be merged. `None` for other
    /// lines.
    pub(super) fn of_line(line: &str) -> Option<Self> {
        let (line, failed) = line
            .strip_suffix(FAILED)
            .map_or((line, false), |line| (line, true));
        let (line, names) = match line
            .strip_suffix(')')
            .and_then(|line| line.rsplit_once(" ("))
        {
            Some((line, names)) => (line, names.split(", ").map(str::to_owned).collect()),
            None => (line, Vec::new()),
        };
        let (target, verbs) = line.rsplit_once(": ")?;
        let verbs = verbs
            .split(", ")
            .map(|verb| {
                let (verb, count) = verb.split_once(TIMES).unwrap_or((verb, "1"));
                Some((known(verb)?, count.parse().ok()?))
            })
            .collect::<Option<Vec<_>>>()?;
        Some(Self {
            target: target.to_owned(),
            kind: Kind::Path,
            verbs,
            names,
            ended: Ended::of(failed, None),
            answer: None,
        })
    }

    /// Describes the action in one line: its target, what was done, and the outcome.
    pub(super) fn line(&self) -> String {
        self.line_with(&[])
    }

    /// Describes the action with further names that were in its arguments or its output.
    pub(super) fn line_with(&self, further: &[&str]) -> String {
        let times = |count: u32| {
            if count > 1 {
                format!("{TIMES}{count}")
            } else {
                String::new()
            }
        };
        let all: u32 = self
            .verbs
            .iter()
            .fold(0, |sum, (_, count)| sum.saturating_add(*count));
        let mut line = match self.kind {
            Kind::Path => {
                let verbs: Vec<String> = self
                    .verbs
                    .iter()
                    .map(|(verb, count)| format!("{verb}{}", times(*count)))
                    .collect();
                format!("{}: {}", self.target, verbs.join(", "))
            }
            Kind::Command => format!("ran `{}`{}", self.target, times(all)),
            Kind::Call => format!("called {}{}", self.target, times(all)),
        };
        let own = self.names.iter().map(String::as_str);
        let names: Vec<&str> = own.chain(further.iter().copied()).collect();
        if !names.is_empty() && self.kind == Kind::Path {
            line.push_str(" (");
            line.push_str(&names.join(", "));
            line.push(')');
        }
        if let Some(answer) = &self.answer {
            line.push_str(" → ");
            line.push_str(answer);
        }
        if self.has_failed() {
            line.push_str(FAILED);
        }
        if !names.is_empty() && self.kind != Kind::Path {
            line.push_str(" — ");
            line.push_str(&names.join(", "));
        }
        line
    }

    /// Returns the label of names that were in its arguments or its output, as [`label`] does.
    pub(super) fn label(&self) -> String {
        match self.kind {
            Kind::Path | Kind::Call => self.target.clone(),
            Kind::Command => format!("`{}`", text::line(&self.target, LABEL)),
        }
    }

    /// Returns the outcome, if it is known.
    pub(super) fn outcome(&self) -> Option<&str> {
        self.answer.as_deref()
    }

    /// Returns the path of the file that it is about.
    pub(super) fn file(&self) -> Option<&str> {
        (self.kind == Kind::Path).then_some(&*self.target)
    }

    /// Whether it went well, as its output shows.
    pub(super) fn went_well(&self) -> bool {
        self.ended == Ended::Well
    }

    fn has_failed(&self) -> bool {
        self.ended == Ended::Failed
    }

    /// Notes that its output has lines which mention errors, surely or only by a word: what tools show of a file that they
    /// changed may have such words.
    pub(super) fn note_errors(&mut self, are_sure: bool) {
        if self.went_well() && (are_sure || self.kind == Kind::Command) {
            self.ended = Ended::WithErrors;
        }
    }

    /// Returns what tells whether another action did the same: its label, and of a file also whether it was only read.
    pub(super) fn attempt(&self) -> String {
        let label = self.label();
        match self.kind == Kind::Path && self.is_read_only() {
            true => format!("{label}: read"),
            false => label,
        }
    }

    /// Returns the command that it ran.
    pub(super) fn command(&self) -> Option<&str> {
        (self.kind == Kind::Command).then_some(&*self.target)
    }

    /// Returns the number of names that it states by itself.
    pub(super) const fn names(&self) -> usize {
        self.names.len()
    }

    /// What the action is worth in a digest, by what it did.
    pub(super) fn worth(&self) -> f64 {
        if self.has_committed() {
            return weights::committed();
        }
        let is_look = self.is_read_only() || self.kind == Kind::Call && self.says_nothing();
        let is_check = self.command().is_some_and(checks::is_check);
        worth_of(
            self.kind,
            is_look,
            is_check,
            self.has_failed() || self.answer.is_some(),
        )
    }

    /// Whether it answered with what it committed or took back.
    fn has_committed(&self) -> bool {
        let answer = self.answer.as_deref();
        answer.is_some_and(|answer| commit(answer).is_some())
    }

    /// Whether it is a call of which neither arguments nor an answer are known.
    fn says_nothing(&self) -> bool {
        self.target.ends_with("()") && self.answer.is_none()
    }

    /// Whether it changed nothing, as far as its verb or command shows.
    pub(super) fn is_read_only(&self) -> bool {
        match self.kind {
            Kind::Path => self.verbs.iter().all(|(verb, _)| is_look(verb)),
            Kind::Command => is_read_only_command(&self.target),
            Kind::Call => self.verbs.iter().all(|(verb, _)| *verb == LOOKED),
        }
    }
}

/// Whether a verb says that nothing was changed.
fn is_look(verb: &str) -> bool {
    matches!(verb, "read" | "searched")
}

/// Whether a tool that was called without a path only looks something up. Without a path, `open` creates something:
/// `open_ticket`.
pub(super) fn only_looks(tool: &str) -> bool {
    verb(tool).is_some_and(is_look) && !words(tool).iter().any(|word| word == "open")
}

/// The verb of a call that only looks something up.
const LOOKED: &str = "looked";

/// Returns what an action is worth, by its kind and whether its outcome is known.
fn worth_of(kind: Kind, is_look: bool, is_check: bool, is_outcome_known: bool) -> f64 {
    let by_kind = match kind {
        _ if is_look => weights::look(),
        Kind::Path => weights::change(),
        Kind::Command => weights::command(),
        Kind::Call => weights::call(),
    };
    match is_outcome_known {
        true if is_check => weights::check(),
        true => by_kind + weights::outcome(),
        false => by_kind,
    }
}

/// Returns what a line of an earlier digest about a command or a call is worth, and whether that only looked something up.
pub(super) fn worth_of_line(line: &str) -> (f64, bool) {
    let is_outcome_known = line.contains(" → ") || line.contains(FAILED);
    let command = line
        .strip_prefix("ran `")
        .and_then(|rest| rest.split_once('`'));
    let (kind, is_look, is_check) = match command {
        Some((command, _)) => {
            let is_look = is_read_only_command(command);
            (
                Kind::Command,
                is_look,
                !is_look && checks::is_check(command),
            )
        }
        None => {
            let tool = line
                .strip_prefix("called ")
                .and_then(|rest| rest.split('(').next());
            (Kind::Call, tool.is_some_and(only_looks), false)
        }
    };
    (worth_of(kind, is_look, is_check, is_outcome_known), is_look)
}

const FAILED: &str = " — failed";

/// What precedes the number of times.
pub(super) const TIMES: &str = " ×";

/// Merges actions on the same target, each at the place of the last. Failed ones are merged separately, since
/// they did nothing.
pub(super) fn merged<'a>(
    actions: impl Iterator<Item = (usize, &'a Action)>,
) -> Vec<(usize, Action)> {
    let mut merged: BTreeMap<(Kind, &str, bool, &str), (usize, Action)> = BTreeMap::new();
    for (place, action) in actions {
        // Without arguments, only what it answered says what a call did.
        let answer = match action.target.ends_with("()") {
            true => action.outcome().unwrap_or_default(),
            false => "",
        };
        match merged.entry((action.kind, &action.target, action.has_failed(), answer)) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert((place, action.clone()));
            }
            std::collections::btree_map::Entry::Occupied(mut entry) => {
                let (last, known) = entry.get_mut();
                *last = place;
                known.answer.clone_from(&action.answer);
                for name in &action.names {
                    if !known.names.contains(name) {
                        known.names.push(name.clone());
                    }
                }
                // The newest names say most.
                let older = known.names.len().saturating_sub(NAMES);
                known.names.drain(..older);
                for (verb, count) in &action.verbs {
                    match known.verbs.iter_mut().find(|(known, _)| known == verb) {
                        Some((_, known)) => *known = known.saturating_add(*count),
                        None => known.verbs.push((verb, *count)),
                    }
                }
            }
        }
    }
    let mut merged: Vec<(usize, Action)> = merged.into_values().collect();
    merged.sort_by_key(|(place, _)| *place);
    merged
}

/// Returns the arguments of a call that are texts, with their names.
fn texts_of(arguments: &Value) -> Vec<(&str, &str)> {
    let members = arguments.as_object().into_iter().flatten();
    let texts = members.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
    texts.collect()
}

/// Returns the command in the arguments of a call: a string, or a list of its words.
fn command_of(arguments: &Value) -> Option<Cow<'_, str>> {
    let members = arguments.as_object()?;
    let mut named = members.iter().filter(|(name, _)| is_named(name, COMMANDS));
    let text = named
        .clone()
        .filter_map(|(_, value)| value.as_str())
        .find(|text| !text.is_empty());
    match text {
        Some(text) => Some(Cow::Borrowed(text)),
        None => {
            let (_, words) = named.find(|(_, value)| value.is_array())?;
            Some(Cow::Owned(joined(words)))
        }
    }
}

/// Joins a list of words to one command.
fn joined(words: &Value) -> String {
    let words = words.as_array().into_iter().flatten();
    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
    words.join(" ")
}

/// Returns a command without the shell that runs it, and without the change to a folder before it.
fn without_shell(command: &str) -> &str {
    let mut bare = command.trim();
    for shell in ["bash -lc ", "bash -c ", "sh -c ", "zsh -lc "] {
        bare = bare.strip_prefix(shell).unwrap_or(bare);
    }
    if bare.starts_with("cd ")
        && let Some((_, rest)) = bare.split_once("&&")
    {
        bare = rest.trim();
    }
    bare
}

/// Whether a command only reads, by its first words.
pub(super) fn is_read_only_command(command: &str) -> bool {
    const LOOKING: [&str; 20] = [
        "ls",
        "cat",
        "grep",
        "rg",
        "find",
        "head",
        "tail",
        "wc",
        "tree",
        "pwd",
        "which",
        "nl",
        "sed -n",
        "git status",
        "git log",
        "git diff",
        "git show",
        "git branch",
        "git grep",
        "stat",
    ];
    LOOKING.iter().any(|known| {
        command
            .strip_prefix(known)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

/// Returns the outcome of a command: its whole output if that is short, the beginning of a message in one line, or else its
/// last line if that sums up, or what it says of commits.
fn outcome(output: &str) -> Option<String> {
    let output = without_rules(output);
    if !output.contains(char::is_alphanumeric) {
        return None;
    }
    // The beginning of a longer message says what matters: `Command running in background with ID: b7a5c1e. Output is …`
    let is_message = output.len() <= 2 * OUTCOME && !output.contains('\n') && !is_data(output);
    if output.len() <= OUTCOME || is_message {
        return Some(text::line(output, OUTCOME));
    }
    const SUMS: [&str; 9] = [
        "pass", "fail", "error", "ok", "success", "done", "finished", "warning", "total",
    ];
    let last = without_rules(output.lines().next_back()?);
    let lower = last.to_ascii_lowercase();
    let sums_up = last.len() <= OUTCOME && SUMS.iter().any(|sign| lower.contains(sign));
    match sums_up {
        true => Some(text::line(last, OUTCOME)),
        false => commit(output),
    }
}

/// What the lines begin with before the first version of what an edit replaces, and behind the second one: in text of aider and
/// arguments of Roo, and in arguments of Cline.
const AROUND: [&str; 4] = ["<<<<<<", "------- SEARCH", ">>>>>>", "+++++++ REPLACE"];

/// Whether a line stands before or behind the versions of what an edit replaces.
fn is_marker(line: &str) -> bool {
    AROUND.iter().any(|start| line.starts_with(start))
}

/// Returns what a tool answered, if that is short, says what was committed, or is a record with a status.
fn answer_of(answer: &str) -> Option<String> {
    let answer = without_rules(answer);
    match answer.len() <= ANSWER {
        true => (!answer.is_empty() && !is_marker(answer)).then(|| text::line(answer, ANSWER)),
        false => commit(answer).or_else(|| values::record(answer, ANSWER)),
    }
}

/// Returns the result of a call that did something: the line about a commit, the members of a record, or the beginning of
/// the output.
fn effect_of(answer: &str) -> Option<String> {
    let committed = (answer.len() > ANSWER).then(|| commit(answer)).flatten();
    if let Some(known) = committed.or_else(|| values::record(answer, EFFECT)) {
        return Some(known);
    }
    let answer = without_rules(answer);
    let is_said = answer.contains(char::is_alphanumeric) && !is_marker(answer);
    is_said.then(|| text::line(answer, EFFECT))
}

/// Returns a text without the spaces and ruled lines around it: `==== 3 passed ====`.
fn without_rules(text: &str) -> &str {
    let mut text = text.trim();
    for rule in ['=', '─', '━'] {
        let ruled = [rule; 3].iter().collect::<String>();
        if text.starts_with(&ruled) {
            text = text.trim_start_matches(rule).trim_start();
        }
        if text.ends_with(&ruled) {
            text = text.trim_end_matches(rule).trim_end();
        }
    }
    text
}

/// Returns the last line of an output that says what was committed or taken back, as git and editors that commit by
/// themselves do: `[main 3f2a91c] Mend the lock`, `Commit 3f2a91c fix: …`, `Removed: 3f2a91c fix: …`.
fn commit(output: &str) -> Option<String> {
    const BEFORE: [&str; 3] = ["Commit ", "Removed: ", "HEAD is now at "];
    let is_hash = |word: &str| {
        let word = word.trim_end_matches([']', ':']);
        let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
        word.len() >= 7 && is_hex && word.contains(|c: char| c.is_ascii_alphabetic())
    };
    let says = |line: &&str| {
        let of_editor = BEFORE.iter().find_map(|before| line.strip_prefix(before));
        let of_editor = of_editor
            .and_then(|rest| rest.split(' ').next())
            .is_some_and(is_hash);
        let words = || line.split(' ').skip(1).take(3);
        let of_git =
            line.starts_with('[') && words().any(|word| word.ends_with(']') && is_hash(word));
        line.len() <= 2 * OUTCOME && (of_editor || of_git || line.starts_with("Applied edit to "))
    };
    let mut lines = output
        .lines()
        .rev()
        .map(str::trim)
        .skip_while(|line| !says(line));
    let last = lines.next()?;
    // An editor commits what its linter changed after what the model did.
    let is_editors = |line: &&str| line.starts_with(BEFORE[0]) && says(line);
    let first = is_editors(&last)
        .then(|| lines.take_while(is_editors).last())
        .flatten();
    Some(text::line(first.unwrap_or(last), OUTCOME))
}

/// Whether the output of a tool that writes files says that there was none at `path` before.
fn says_created(path: &str, output: &str) -> bool {
    let head = &output[..output.floor_char_boundary(ANSWER)];
    let head = head.replace(path, "");
    let mut words = head.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word.eq_ignore_ascii_case("created"))
}

/// Returns the last line of the output of a failed command that mentions an error, if it is short.
fn error(output: &str) -> Option<String> {
    let mut lines = errors::lines(output).into_iter();
    lines.next().filter(|line| line.len() <= OUTCOME)
}

/// Returns the most frequent names in the texts of a change, in the order of their first occurrence.
fn changed_names(texts: &[(&str, &str)], target: &str) -> Vec<String> {
    let mut found: Vec<(&str, usize)> = Vec::new();
    // The command of a tool with several commands says what was done and not to what.
    let texts = texts.iter().filter(|(name, _)| !is_named(name, COMMANDS));
    for name in texts.flat_map(|(_, text)| scan::names(text)) {
        if target.contains(name) || name.len() > 60 || name.contains(['(', ')', ',']) {
            continue;
        }
        match found.iter().position(|(known, _)| *known == name) {
            Some(index) => found[index].1 += 1,
            None if found.len() < 200 => found.push((name, 1)),
            None => {}
        }
    }
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(found[*index].1));
    order.truncate(NAMES);
    order.sort_unstable();
    order
        .into_iter()
        .map(|index| found[index].0.to_owned())
        .collect()
}

/// Returns a label for a call: its path, its command, or the tool with its arguments.
pub(super) fn label(tool: &str, arguments: &str) -> String {
    Action::of_bare_call(tool, arguments).label()
}

/// Returns a label for a shell command.
pub(super) fn label_of_command(command: &str) -> String {
    Action::of_command(command, false, None).label()
}

fn is_named(name: &str, names: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    names.iter().any(|known| {
        name == *known
            || name
                .strip_suffix(known)
                .is_some_and(|before| before.ends_with(['_', '-']))
    })
}

fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Formats a call with its arguments, shortened.
fn call(tool: &str, arguments: &Value) -> String {
    let mut shown = Vec::new();
    if let Value::Object(members) = arguments {
        for (name, value) in members {
            let value = match value {
                Value::String(text) => text::line(text, 80),
                Value::Null => continue,
                other => text::line(&other.to_string(), 120),
            };
            shown.push(format!("{name}={value}"));
        }
    }
    text::line(&format!("{tool}({})", shown.join(", ")), ARGUMENTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tool: &str, arguments: &str) -> String {
        Action::of_call(tool, arguments, false, None).line()
    }

    #[test]
    fn an_action_states_its_target_and_verb() {
        assert_eq!(
            line("readFile", r#"{"file_path": "src/a.rs"}"#),
            "src/a.rs: read"
        );
        assert_eq!(
            line(
                "editor",
                r#"{"command": "str_replace", "path": "a.py", "new": "x"}"#
            ),
            "a.py: edited"
        );
        assert_eq!(
            line("bash", r#"{"command": "cargo test\n--lib"}"#),
            "ran `cargo test --lib`"
        );
        assert_eq!(
            line(
                "shell",
                r#"{"command": ["bash", "-lc", "cd /srv && make test"]}"#
            ),
            "ran `make test`"
        );
        assert_eq!(
            line(
                "book_seat",
                r#"{"flight": "BX71", "row": 12, "note": null}"#
            ),
            "called book_seat(flight=BX71, row=12)"
        );
        assert_eq!(line("ping", "not JSON"), "called ping()");
    }

    #[test]
    fn a_file_that_was_written_for_the_first_time_was_created() {
        let wrote = |answer: &str| {
            let arguments = r#"{"path": "src/tide.rs"}"#;
            Action::of_call("Write", arguments, false, Some(answer)).line()
        };
        assert_eq!(wrote("File created at src/tide.rs"), "src/tide.rs: created");
        assert_eq!(wrote("Updated src/tide.rs"), "src/tide.rs: edited");
        let of_name = r#"{"path": "created_at.rs"}"#;
        let updated = Action::of_call("Write", of_name, false, Some("created_at.rs is updated"));
        assert_eq!(updated.line(), "created_at.rs: edited");
    }

    #[test]
    fn a_short_outcome_is_included() {
        let found = Action::of_call(
            "find_user",
            r#"{"mail": "m@x.test"}"#,
            false,
            Some("user_812"),
        );
        assert_eq!(found.line(), "called find_user(mail=m@x.test) → user_812");
        let failed = Action::of_call("bash", r#"{"cmd": "make"}"#, true, Some("no rule"));
        assert_eq!(failed.line(), "ran `make` → no rule — failed");
        let long = format!("{}\n3 passed, 1 failed\n", "a line of the log\n".repeat(20));
        let tested = Action::of_call("bash", r#"{"cmd": "make test"}"#, false, Some(&long));
        assert_eq!(tested.line(), "ran `make test` → 3 passed, 1 failed");
    }

    #[test]
    fn an_outcome_is_without_ruled_lines_and_tells_of_commits() {
        let ran =
            |output: &str| Action::of_call("bash", r#"{"cmd": "x"}"#, false, Some(output)).line();
        let log = "a line of the log\n".repeat(20);
        assert_eq!(
            ran("===== 3 passed in 0.1s ====="),
            "ran `x` → 3 passed in 0.1s"
        );
        assert_eq!(
            ran(&format!(
                "{log}[main 3f2a91c] Mend the lock\n 2 files changed\n"
            )),
            "ran `x` → [main 3f2a91c] Mend the lock"
        );
        assert_eq!(ran(&format!("{log}[main lock] Mend\nit\n")), "ran `x`");
        assert_eq!(ran("=====\n"), "ran `x`");
        assert_eq!(ran("dGVzdA=="), "ran `x` → dGVzdA==");
        assert_eq!(
            ran(&format!(
                "{log}[main (root-commit) 3f2a91c] Begin\n1 file\n"
            )),
            "ran `x` → [main (root-commit) 3f2a91c] Begin"
        );
        assert_eq!(
            ran(&format!(
                "{log}Applied edit to a.rs\nCommit 3f2a91c fix: the lock\nCommit 455a87d style: it\n{log}"
            )),
            "ran `x` → Commit 3f2a91c fix: the lock"
        );
        assert_eq!(
            ran(&format!("{log}Commit hooks passed\n[main 3f2a91c] Mend\n")),
            "ran `x` → [main 3f2a91c] Mend"
        );
        for other in [
            "Commit messages should be short",
            "[pid 1234567] sails",
            "Removed: it",
        ] {
            assert_eq!(ran(&format!("{log}{other}\nit\n")), "ran `x`", "{other}");
        }
    }

    #[test]
    fn calls_without_arguments_are_told_apart_by_their_answers() {
        let tokens =
            "Tokens: 31,921 sent, 11 received. Cost: 0.10 message, 0.71 session.\n".repeat(2);
        let answers = [
            format!("{tokens}Applied edit to a.rs  \nCommit 3f2a91c fix: a  \n"),
            format!("{tokens}Commit 7be01d4 fix: b  \n"),
            ">>>>>> REPLACE".to_owned(),
            tokens.clone(),
        ];
        let of_answer = |answer: &String| Action::of_call("aider", "{}", false, Some(answer));
        let actions: Vec<Action> = answers.iter().map(of_answer).collect();
        let merged = merged(actions.iter().enumerate());
        let lines: Vec<String> = merged.iter().map(|(_, action)| action.line()).collect();
        assert_eq!(
            lines,
            [
                "called aider() → Commit 3f2a91c fix: a",
                "called aider() → Commit 7be01d4 fix: b",
                "called aider() ×2"
            ]
        );
        assert!(merged[2].1.worth() < merged[0].1.worth());
    }

    #[test]
    fn read_only_commands_are_distinguished_from_others() {
        let is_read_only = |command: &str| Action::of_command(command, false, None).is_read_only();
        assert!(
            is_read_only("ls -l src")
                && is_read_only("git log -3")
                && is_read_only("sed -n 1,9p a.rs")
        );
        assert!(
            !is_read_only("make test") && !is_read_only("git commit -m x") && !is_read_only("lsof")
        );
    }

    #[test]
    fn actions_on_one_target_are_merged_and_can_be_parsed() {
        let calls = [("read", "a"), ("edit", "a"), ("read", "b"), ("edit", "a")];
        let actions: Vec<Action> = calls
            .iter()
            .map(|(tool, path)| {
                Action::of_call(tool, &format!(r#"{{"path": "{path}"}}"#), false, None)
            })
            .collect();
        let merged = merged(actions.iter().enumerate());
        let lines: Vec<String> = merged.iter().map(|(_, action)| action.line()).collect();
        assert_eq!(lines, ["b: read", "a: read, edited ×2"]);
        assert_eq!(Action::of_line(&lines[1]).as_ref(), Some(&merged[1].1));
        assert_eq!(Action::of_line("called x(a: b)"), None);
    }

    #[test]
    fn failed_actions_are_merged_separately() {
        let edit = |failed| Action::of_call("edit", r#"{"path": "a"}"#, failed, None);
        let actions = [
            edit(true),
            edit(false),
            edit(true),
            edit(false),
            edit(false),
        ];
        let merged = merged(actions.iter().enumerate());
        let lines: Vec<String> = merged.iter().map(|(_, action)| action.line()).collect();
        assert_eq!(lines, ["a: edited ×2 — failed", "a: edited ×3"]);
        for (line, (_, action)) in lines.iter().zip(&merged) {
            assert_eq!(Action::of_line(line).as_ref(), Some(action));
        }
    }
}
