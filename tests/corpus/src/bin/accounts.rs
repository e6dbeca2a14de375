//! Checks summaries that programs recorded as strategies check what a model answers: each against its own conversation, and
//! against every other.
//!
//! ```text
//! cargo run --release --package baler-corpus --bin accounts -- [FOLDER]
//! ```
//!
//! Prints figures by file, never text.

#![allow(clippy::print_stdout)]

use std::process::ExitCode;

use anyhow::bail;
use baler_corpus::{Corpus, RecordingKind};
use baler_strategy_core::summary::Read;
use serde_json::Value;

/// A recorded compaction.
struct Recorded {
    /// Of the session.
    id: String,
    read: Read,
    account: String,
}

fn main() -> anyhow::Result<ExitCode> {
    let folder = std::env::args().nth(1).map(Into::into);
    let folder = folder.unwrap_or_else(baler_corpus::folder);
    let Some(corpus) = Corpus::read(&folder) else {
        bail!(
            "expected a folder with recorded conversations; {} does not exist",
            folder.display()
        );
    };
    let logs = corpus.conversations.iter();
    let logs = logs.filter(|one| one.kind == RecordingKind::Log);
    let recorded: Vec<Recorded> = logs
        .flat_map(|log| recorded_in(&log.id, &log.document))
        .collect();
    if recorded.is_empty() {
        bail!(
            "expected logs of Claude Code with a compaction and its summary; found none in {}",
            folder.display()
        );
    }
    println!(
        "lines left out of each summary, and of those of other sessions; `-`: it is taken for no summary"
    );
    let mut refused = 0;
    for one in &recorded {
        let own = left_out(&one.read, &one.account);
        refused += usize::from(own.is_none());
        let others = recorded.iter().filter(|other| other.id != one.id);
        let others = others.map(|other| shown(left_out(&one.read, &other.account), other));
        let others: Vec<String> = others.collect();
        println!("{}: {}; {}", one.id, shown(own, one), others.join(" "));
    }
    Ok(ExitCode::from(u8::from(refused > 0)))
}

fn left_out(read: &Read, account: &str) -> Option<usize> {
    read.check(account).ok().map(|checked| checked.left_out)
}

fn shown(left_out: Option<usize>, of: &Recorded) -> String {
    match left_out {
        Some(left_out) => format!("{left_out}/{}", of.account.lines().count()),
        None => "-".to_owned(),
    }
}

/// The compactions in a log of Claude Code, each with its summary.
fn recorded_in(id: &str, log: &str) -> Vec<Recorded> {
    let mut recorded = Vec::new();
    let mut texts = Vec::new();
    let mut before = None;
    for line in log.lines() {
        let record: Value = serde_json::from_str(line).unwrap_or_default();
        if record["subtype"] == "compact_boundary" {
            before = Some(texts.len());
        }
        let content = &record["message"]["content"];
        let summary = content.as_str().or_else(|| content[0]["text"].as_str());
        if record["isCompactSummary"] == true
            && let Some((before, account)) = before.take().zip(summary)
        {
            let texts: Vec<&str> = texts[..before].iter().map(String::as_str).collect();
            recorded.push(Recorded {
                id: id.to_owned(),
                read: Read::of(&[], &texts),
                account: account.to_owned(),
            });
        }
        collect(record, &mut texts);
    }
    recorded
}

fn collect(value: Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.into_iter().for_each(|value| collect(value, texts)),
        Value::Object(members) => members
            .into_iter()
            .for_each(|(_, value)| collect(value, texts)),
        _ => {}
    }
}
