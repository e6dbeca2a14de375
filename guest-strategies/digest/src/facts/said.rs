//! What the model said, and what other agents reported to it.

use std::borrow::Cow;

use super::Fact;
use crate::{listings, part, shell_blocks, text, verbs};

/// Most bytes of what the model said with a call.
const SAID: usize = 240;

/// Most bytes of what a report is about.
const SUBJECT: usize = 100;

/// Most bytes of any other text of the model.
const CONCLUSION: usize = 20_000;

/// Bytes from which on the commands in a text are shortened.
const WITH_BLOCKS: usize = 900;

/// Bytes from which on a text with a call says more than what the call is for.
const EXPLANATION: usize = 300;

/// Reads a text of the model, which `calls` tools with it or not.
pub(super) fn read(text: &str, calls: bool, facts: &mut Vec<Fact>) {
    let text = without_label(text);
    // The call says what the model is about to do.
    if calls && text.trim().len() <= EXPLANATION {
        let first = text.lines().map(str::trim).find(|line| line.len() > 1);
        if let Some(first) = first.filter(|line| !announces(line)) {
            facts.push(Fact::Said {
                text: text::line(first, SAID),
                ends_turn: false,
                before_look: false,
            });
        }
        return;
    }
    facts.extend(of_text(text, !calls));
}

/// Returns the fact of a text without a call, or with one that it explains at length; `None` if it is blank.
pub(super) fn of_text(text: &str, ends_turn: bool) -> Option<Fact> {
    let text = shell_blocks::with_short_blocks(text, WITH_BLOCKS);
    let text = text::block(&limited(&text), CONCLUSION);
    (!text.is_empty()).then_some(Fact::Said {
        text,
        ends_turn,
        before_look: false,
    })
}

/// Returns the fact of a report that the model got from another agent on a subject; `None` if it is blank.
pub(super) fn of_report(text: &str, subject: Option<&str>) -> Option<Fact> {
    let text = listings::folded(&limited(text));
    let text = match subject {
        Some(subject) => format!("{subject}: {}", text.trim_start()),
        None => text,
    };
    let text = text::block(&text, CONCLUSION);
    (!text.is_empty()).then_some(Fact::Reported(text))
}

/// Returns what a call of another agent is about, in a few words.
pub(super) fn subject_of(arguments: &str) -> Option<String> {
    const SUBJECTS: [&str; 4] = ["description", "title", "subject", "name"];
    let arguments = text::parsed(arguments)?;
    let mut members = SUBJECTS
        .iter()
        .filter_map(|name| arguments.get(*name)?.as_str());
    members.next().map(|subject| text::line(subject, SUBJECT))
}

fn limited(text: &str) -> Cow<'_, str> {
    match text.len() > CONCLUSION {
        true => Cow::Owned(text::ends(text.trim(), CONCLUSION)),
        false => Cow::Borrowed(text),
    }
}

/// Bytes of a text that decide whether it consists of sentences.
const PROSE: usize = 2_000;

/// Bytes from which on the output of another agent is a report.
const REPORT: usize = 100;

/// Whether the output of a tool is a report by another agent.
pub(super) fn is_report(tool: &str, output: &str) -> bool {
    let tells = is_reported_by(tool) || verbs::verb(tool).is_none() && is_prose(output);
    output.len() > REPORT && tells && !part::is_data(output)
}

/// Whether a text consists of sentences, and not of code, logs or lists.
fn is_prose(text: &str) -> bool {
    let text = &text[..text.floor_char_boundary(PROSE)];
    let (mut all, mut others) = (0, 0);
    for c in text.chars() {
        all += 1;
        others += usize::from(!c.is_alphabetic() && c != ' ');
    }
    let ends = text.matches(['.', '!', '?', '。', '؟', '।']).count();
    ends > 0 && others * 10 <= all
}

/// Whether a tool calls another agent, by its name: `Task`, `dispatch_agent`.
pub(super) fn is_reported_by(tool: &str) -> bool {
    const OTHER: [&str; 5] = ["get", "list", "set", "user", "update"];
    let words = verbs::words(tool);
    let is_agents = words
        .iter()
        .any(|word| matches!(&**word, "agent" | "subagent" | "agents"));
    words == ["task"]
        || words == ["task", "output"]
        || is_agents && !words.iter().any(|word| OTHER.contains(&&**word))
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
