//! What the model said and thought.

use std::borrow::Cow;

use super::Fact;
use crate::{changes, decisions, gist, open_points, shell_blocks, text, verbs};

/// Most bytes of what the model said with a call, and of what it thought.
const SAID: usize = 240;

/// Most bytes of any other text of the model.
const CONCLUSION: usize = 20_000;

/// Most bytes of a line of a longer log.
const LINE: usize = 2_000;

/// Bytes from which on the commands in a text are shortened.
const WITH_BLOCKS: usize = 900;

/// Bytes from which on a text with a call says more than what the call is for.
const EXPLANATION: usize = 300;

/// Bytes of a thought that are read, from its end.
const THOUGHT: usize = 8_000;

/// Reads what the model thought: what it found out, or else what it thought about.
pub(super) fn read_thought(text: &str, facts: &mut Vec<Fact>) {
    // What it came to stands at its end.
    let end = text.ceil_char_boundary(text.len().saturating_sub(THOUGHT));
    let text = &text[end..];
    let found = decisions::last_lines(text);
    if found.is_empty() {
        facts.extend(gist_of(text).map(Fact::Thought));
    }
    facts.extend(found.into_iter().map(Fact::Decision));
}

/// Returns the gist of a thought in one line, without announcements and headings; `None` if there is nothing else.
fn gist_of(thought: &str) -> Option<String> {
    let is_heading = |line: &str| line.starts_with("**") && line.ends_with("**");
    let lines = thought.lines().map(str::trim);
    let lines: Vec<&str> = lines
        .filter(|line| !line.is_empty() && !is_heading(line) && !announces(line))
        .collect();
    let gist = gist::of(&lines.join("\n"), SAID);
    (!gist.is_empty()).then(|| text::line(&gist, SAID))
}

/// Reads a text of the model, which `calls` tools with it or not: decisions, open points, and what it says.
pub(super) fn read(text: &str, calls: bool, facts: &mut Vec<Fact>) {
    let text = without_label(text);
    facts.extend(decisions::lines(text).into_iter().map(Fact::Decision));
    // The call says what the model is about to do.
    if calls && text.trim().len() <= EXPLANATION {
        let first = text.lines().map(str::trim).find(|line| line.len() > 1);
        if let Some(first) = first.filter(|line| !announces(line)) {
            facts.push(Fact::Said {
                text: text::line(first, SAID),
                forms: Vec::new(),
                ends_turn: false,
                is_log: false,
            });
        }
        return;
    }
    // Some agents write their commands into what they say, and what they announce with them is done at once.
    if !calls && !shell_blocks::has_command(text) {
        facts.extend(open_points::lines(text).into_iter().map(Fact::Open));
    }
    facts.extend(changes::proposed(text).into_iter().map(Fact::Changed));
    facts.extend(of_text(text, !calls));
}

/// Returns the fact of a text without a call, or with one that it explains at length; `None` if it is blank.
pub(super) fn of_text(text: &str, ends_turn: bool) -> Option<Fact> {
    let text = shell_blocks::with_short_blocks(text, WITH_BLOCKS);
    let text = match text.len() > CONCLUSION {
        true if gist::is_log(&text) => {
            Cow::Owned(text::ends(with_short_lines(&text).trim(), CONCLUSION))
        }
        true => Cow::Owned(text::ends(text.trim(), CONCLUSION)),
        false => text,
    };
    let text = text::block(&text, CONCLUSION);
    // The digest has an entry of its own for the edit.
    let says_nothing = text.is_empty() || changes::is_edit_alone(&text);
    (!says_nothing).then(|| Fact::Said {
        forms: gist::forms(&text),
        is_log: gist::is_log(&text),
        text,
        ends_turn,
    })
}

/// Returns a text of which each line has at most [`LINE`] bytes: one of a log can be longer than all others.
fn with_short_lines(text: &str) -> String {
    let lines = text.lines().map(|line| text::shorten(line, LINE));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the fact of a report that the model got from another agent; `None` if it is blank.
pub(super) fn of_report(text: &str) -> Option<Fact> {
    let text = match text.len() > CONCLUSION {
        true => Cow::Owned(text::ends(text.trim(), CONCLUSION)),
        false => Cow::Borrowed(text),
    };
    let text = text::block(&text, CONCLUSION);
    (!text.is_empty()).then(|| Fact::Reported {
        forms: gist::forms(&text),
        text,
    })
}

/// Whether what a tool returns is a report by another agent, by its name: `Task`, `dispatch_agent`.
pub(super) fn is_reported_by(tool: &str) -> bool {
    const OTHER: [&str; 5] = ["get", "list", "set", "user", "update"];
    let tool = verbs::spaced(tool);
    let words: Vec<&str> = tool.split(|c: char| !c.is_alphanumeric()).collect();
    let is_agents = words
        .iter()
        .any(|word| matches!(*word, "agent" | "subagent" | "agents"));
    words == ["task"]
        || words == ["task", "output"]
        || is_agents && !words.iter().any(|word| OTHER.contains(word))
}

/// Returns a text without the label that models which think aloud put before their thoughts.
fn without_label(text: &str) -> &str {
    const LABEL: &str = "thought:";
    let text = text.trim_start();
    let head = text.get(..LABEL.len());
    match head.is_some_and(|head| head.eq_ignore_ascii_case(LABEL)) {
        true => text[LABEL.len()..].trim_start(),
        false => text,
    }
}

/// Whether a line only announces what comes next.
pub(crate) fn announces(line: &str) -> bool {
    const STARTS: [&str; 8] = [
        "let me", "let's", "i'll", "i will", "now let", "now i", "next,", "first,",
    ];
    let starts = |start: &&str| {
        line.get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    line.ends_with(':') || line.starts_with(text::FENCE) || STARTS.iter().any(starts)
}
