//! Logs of programs that need few dimensions: their readers share the pairing and the writing of those above.

use super::Dimension;
use crate::case::Input;
use crate::wire::line;

pub(super) const CLAUDE_STREAM_JSON: &[Dimension] =
    &[("steps", stream_steps), ("compactions", stream_compactions)];
pub(super) const CLINE: &[Dimension] = &[("steps", cline_steps), ("summaries", cline_summaries)];
pub(super) const OPENCODE: &[Dimension] = &[
    ("messages", opencode_messages),
    ("steps of a message", opencode_steps),
    ("summaries", opencode_summaries),
];
pub(super) const COPILOT: &[Dimension] = &[
    ("steps", copilot_steps),
    ("compactions", copilot_compactions),
];
pub(super) const DROID: &[Dimension] =
    &[("steps", droid_steps), ("compactions", droid_compactions)];

fn use_of(number: usize) -> String {
    format!(r#"[{{"type":"tool_use","id":"c{number}","name":"read","input":{{}}}}]"#)
}

fn result_of(number: usize) -> String {
    let text = line(number);
    format!(r#"[{{"type":"tool_result","tool_use_id":"c{number}","content":"{text}"}}]"#)
}

/// Elements between a head and an end, with commas.
fn listed(head: &str, elements: Vec<String>, end: &str) -> Input {
    let last = elements.len().saturating_sub(1);
    let commas = elements.into_iter().enumerate().map(|(place, element)| {
        let comma = if place < last { "," } else { "" };
        format!("{element}{comma}")
    });
    let lines = std::iter::once(head.to_owned())
        .chain(commas)
        .chain([end.to_owned()]);
    Input::log(lines.collect())
}

fn stream(number: usize, role: &str, content: &str, more: &str) -> String {
    format!(
        r#"{{"type":"{role}","uuid":"u{number}","session_id":"s","parent_tool_use_id":null,"message":{{"id":"m{number}","role":"{role}","content":{content}}}{more}}}"#
    )
}

fn stream_steps(n: usize) -> Input {
    let prompt = stream(0, "user", r#""Count the grain.""#, "");
    let steps = (1..=n / 2).flat_map(|number| {
        [
            stream(number * 2, "assistant", &use_of(number), ""),
            stream(number * 2 + 1, "user", &result_of(number), ""),
        ]
    });
    Input::log(std::iter::once(prompt).chain(steps).collect())
}

/// Each compaction keeps all messages.
fn stream_compactions(n: usize) -> Input {
    let prompt = stream(0, "user", r#""Count the grain.""#, "");
    let lines = (1..=n / 4).flat_map(|number| {
        let boundary = format!(
            r#"{{"type":"system","subtype":"compact_boundary","uuid":"b{number}","session_id":"s","compact_metadata":{{"preserved_segment":{{"head_uuid":"u0","tail_uuid":"u{}"}}}}}}"#,
            number * 4
        );
        let summary = format!(r#""{}""#, line(number));
        [
            stream(number * 4, "user", r#""And what went out?""#, ""),
            boundary,
            stream(number * 4 + 1, "user", &summary, r#","isSynthetic":true"#),
        ]
    });
    Input::log(std::iter::once(prompt).chain(lines).collect())
}

fn cline(role: &str, content: &str, more: &str) -> String {
    format!(r#"{{"role":"{role}","ts":1,"content":{content}{more}}}"#)
}

fn task() -> String {
    cline(
        "user",
        r#"[{"type":"text","text":"<task>Count the grain.</task>"}]"#,
        "",
    )
}

fn cline_steps(n: usize) -> Input {
    let steps = (0..n / 2).flat_map(|number| {
        [
            cline("assistant", &use_of(number), ""),
            cline("user", &result_of(number), ""),
        ]
    });
    listed("[", std::iter::once(task()).chain(steps).collect(), "]")
}

fn cline_summaries(n: usize) -> Input {
    let summaries = (0..n).map(|number| {
        let more = format!(
            r#","isSummary":true,"condenseId":"{number}","condenseParent":"{}""#,
            number + 1
        );
        cline("user", &format!(r#""{}""#, line(number)), &more)
    });
    listed("[", std::iter::once(task()).chain(summaries).collect(), "]")
}

const EXPORT: &str = r#"{"info":{"id":"s","directory":"/d"},"messages":["#;

fn opencode(id: usize, info: &str, parts: &str) -> String {
    format!(r#"{{"info":{{"id":"m{id}",{info}}},"parts":[{parts}]}}"#)
}

const ANSWERED: &str = r#""role":"assistant","providerID":"anthropic","modelID":"claude-small""#;

fn said(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn tool(number: usize) -> String {
    format!(
        r#"{{"type":"step-start"}},{{"type":"tool","callID":"c{number}","tool":"read","state":{{"status":"completed","input":{{}},"output":"{}"}}}}"#,
        line(number)
    )
}

fn asked() -> String {
    opencode(0, r#""role":"user""#, &said("Count the grain."))
}

fn opencode_messages(n: usize) -> Input {
    let steps = (1..=n).map(|number| opencode(number, ANSWERED, &tool(number)));
    listed(
        EXPORT,
        std::iter::once(asked()).chain(steps).collect(),
        "]}",
    )
}

fn opencode_steps(n: usize) -> Input {
    let steps: Vec<String> = (0..n).map(tool).collect();
    let message = opencode(1, ANSWERED, &steps.join(","));
    listed(EXPORT, vec![asked(), message], "]}")
}

fn opencode_summaries(n: usize) -> Input {
    let summaries = (1..=n).map(|number| {
        let info = format!(r#"{ANSWERED},"summary":true,"parentID":"m{}""#, number - 1);
        opencode(number, &info, &said(&line(number)))
    });
    listed(
        EXPORT,
        std::iter::once(asked()).chain(summaries).collect(),
        "]}",
    )
}

fn event(kind: &str, data: &str) -> String {
    format!(r#"{{"type":"{kind}","data":{{{data}}},"id":"e","timestamp":"t","parentId":null}}"#)
}

fn begun() -> [String; 2] {
    [
        event("session.start", r#""selectedModel":"claude-small""#),
        event("user.message", r#""content":"Count the grain.""#),
    ]
}

fn copilot_steps(n: usize) -> Input {
    let steps = (0..n / 2).flat_map(|number| {
        let text = line(number);
        [
            event(
                "assistant.message",
                &format!(
                    r#""content":"","toolRequests":[{{"toolCallId":"c{number}","name":"read","arguments":{{}}}}]"#
                ),
            ),
            event(
                "tool.execution_complete",
                &format!(
                    r#""toolCallId":"c{number}","success":true,"result":{{"content":"{text}"}}"#
                ),
            ),
        ]
    });
    Input::log(begun().into_iter().chain(steps).collect())
}

fn copilot_compactions(n: usize) -> Input {
    let lines = (0..n / 3).flat_map(|number| {
        let text = line(number);
        [
            event("session.compaction_start", ""),
            event("user.message", &format!(r#""content":"{text}""#)),
            event(
                "session.compaction_complete",
                &format!(r#""success":true,"summaryContent":"{text}""#),
            ),
        ]
    });
    Input::log(begun().into_iter().chain(lines).collect())
}

fn droid(number: usize, role: &str, content: &str) -> String {
    format!(
        r#"{{"type":"message","id":"m{number}","message":{{"role":"{role}","content":{content}}}}}"#
    )
}

const DROID_START: &str = r#"{"type":"session_start","id":"s","version":2}"#;

fn droid_steps(n: usize) -> Input {
    let steps = (0..n / 2).flat_map(|number| {
        [
            droid(number * 2 + 1, "assistant", &use_of(number)),
            droid(number * 2 + 2, "user", &result_of(number)),
        ]
    });
    let prompt = droid(0, "user", r#""Count the grain.""#);
    let lines = [DROID_START.to_owned(), prompt].into_iter().chain(steps);
    Input::log(lines.collect())
}

/// Each compaction keeps all messages.
fn droid_compactions(n: usize) -> Input {
    let lines = (0..n / 2).flat_map(|number| {
        let text = line(number);
        [
            droid(number, "user", &format!(r#""{text}""#)),
            format!(
                r#"{{"type":"compaction_state","id":"c{number}","summaryText":"{text}","anchorMessage":{{"id":"m0","index":0}}}}"#
            ),
        ]
    });
    let prompt = droid(0, "user", r#""Count the grain.""#);
    let lines = [DROID_START.to_owned(), prompt].into_iter().chain(lines);
    Input::log(lines.collect())
}
