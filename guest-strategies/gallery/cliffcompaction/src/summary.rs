//! The words of the summary.

use baler_strategy::{Content, Conversation, Message, Role, UnitKind};

use crate::{Config, Cut};

/// The first line, by which the original recognises its summaries.
const HEADER: &str =
    "The following is a summary of your previous actions (long observations omitted):";

/// What stands between two parts.
pub(crate) const SEPARATOR: &str = "\n\n---\n\n";

/// Reports of subagents that a program put into a message of the user. What the model says next repeats them.
const NOTIFICATION: [&str; 2] = ["<task-notification>", "</task-notification>"];

/// Returns the whole text of a summary.
pub(crate) fn joined(parts: &[String]) -> String {
    match parts {
        [] => HEADER.to_owned(),
        parts => format!("{HEADER}\n\n{}", parts.join(SEPARATOR)),
    }
}

/// Returns what the summary says of the compacted part, oldest first. Protected units stay and are not in it, and earlier
/// summaries are dropped.
pub(crate) fn parts(conversation: &Conversation<'_>, cut: Cut, config: &Config) -> Vec<String> {
    let units = conversation.units();
    let read = conversation.read(cut.start..cut.end);
    let old = read
        .filter(|(unit, _)| !units[*unit].is_protected() && units[*unit].kind != UnitKind::Summary);
    old.flat_map(|(_, messages)| messages)
        .flat_map(|message| match message.role {
            Role::Assistant => of_model(&message, config).into_iter().collect(),
            _ => of_others(&message, config),
        })
        .collect()
}

/// One part for all that a message of the model thinks, says and does.
fn of_model(message: &Message, config: &Config) -> Option<String> {
    let (mut thinking, mut said, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for part in &message.parts {
        match &part.content {
            Content::Thinking(text) if config.keep_thinking => thinking.push(text.as_str()),
            Content::Text(text) => said.push(text.as_str()),
            Content::Call(call) => {
                let arguments = truncated(&call.arguments, config.cmd_max_chars);
                calls.push(format!("[{}] {arguments}", call.name));
            }
            _ => {}
        }
    }
    let mut lines = Vec::new();
    for (word, texts, most) in [
        ("thinking", thinking, config.thinking_max_chars),
        ("assistant", said, config.thought_max_chars),
    ] {
        let texts: Vec<&str> = texts
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .collect();
        let text = texts.join("\n");
        if !text.trim().is_empty() {
            lines.push(format!("{word}: {}", truncated(text.trim(), most)));
        }
    }
    lines.extend(calls);
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A part for each short result and each text of the user.
fn of_others(message: &Message, config: &Config) -> Vec<String> {
    let parts = message.parts.iter().filter_map(|part| match &part.content {
        Content::Output(output) => {
            let text = output.text.trim();
            let is_short = text.chars().count() <= config.result_max_chars;
            (is_short && !text.is_empty()).then(|| format!("result: {text}"))
        }
        Content::Text(text) => {
            let text = without_notifications(text);
            let text = text.trim();
            (!text.is_empty()).then(|| format!("user: {}", truncated(text, config.human_max_chars)))
        }
        _ => None,
    });
    parts.collect()
}

/// Cuts a text to so many characters, to any number if `most` is 0.
fn truncated(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) if most > 0 => format!("{}...", &text[..end]),
        _ => text.to_owned(),
    }
}

fn without_notifications(text: &str) -> String {
    let [begin, end] = NOTIFICATION;
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, report)) = rest.split_once(begin)
        && let Some((_, after)) = report.split_once(end)
    {
        kept.push_str(before);
        rest = after.trim_start();
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_counts_characters() {
        assert_eq!(truncated("日本語です", 2), "日本...");
        assert_eq!(truncated("日本語", 3), "日本語");
        assert_eq!(truncated("日本語", 0), "日本語");
    }

    #[test]
    fn notifications_are_left_out_and_an_open_one_is_not() {
        let text =
            "See. <task-notification>done\n</task-notification>\n\nGo on. <task-notification>x";
        assert_eq!(
            without_notifications(text),
            "See. Go on. <task-notification>x"
        );
    }
}
