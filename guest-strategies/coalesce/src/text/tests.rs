mod sections;
mod signature;
mod stats;

use super::{Past, TextSource, Tool, render};
use crate::Config;
use crate::context::{Context, TurnOfProgram};
use crate::limits::Limits;
use crate::stats::Stats;
use crate::turn::Turn;

/// The text for the context of a program and a config, both JSON; all turns are old.
#[track_caller]
fn rendered(context: &str, config: &str) -> (String, Stats) {
    let context = Context::parse(context).expect("it is a context");
    let config: Config = serde_json::from_str(config).expect("it is a config");
    let tools: Vec<Tool> = context.tools.iter().flatten().map(Tool::from).collect();
    let no_turns: &[TurnOfProgram] = &[];
    let turns: Vec<Turn> = context
        .turns
        .as_deref()
        .unwrap_or(no_turns)
        .iter()
        .map(|turn| Turn::of_program(turn, config.result_excerpts as usize))
        .collect();
    let turns: Vec<&Turn> = turns.iter().collect();
    let source = TextSource {
        context: &context,
        tools: &tools,
        turns: &turns,
        is_newest: true,
        past: &Past::default(),
    };
    render(&source, &Limits::of(&config, 0))
}

#[track_caller]
fn text(context: &str) -> String {
    rendered(context, "{}").0
}

/// The text of these turns alone.
#[track_caller]
fn text_of(turns: &str) -> String {
    text(&format!(r#"{{"turns":{turns}}}"#))
}

#[track_caller]
fn assert_shows(text: &str, shown: &[&str], not_shown: &[&str]) {
    for shown in shown {
        assert!(text.contains(shown), "no {shown:?} in:\n{text}");
    }
    for not_shown in not_shown {
        assert!(!text.contains(not_shown), "{not_shown:?} in:\n{text}");
    }
}

/// A turn that made these calls: names and arguments.
fn ok(calls: &[(&str, &str)]) -> String {
    let calls: Vec<String> = calls
        .iter()
        .map(|(name, arguments)| format!(r#"{{"name":"{name}","arguments":{arguments}}}"#))
        .collect();
    format!(r#"{{"tool-calls":[{}]}}"#, calls.join(","))
}

/// A turn that printed these lines.
fn prints(lines: &[&str]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("{line:?}")).collect();
    format!(r#"{{"prints":[{}]}}"#, lines.join(","))
}

/// A turn that failed.
fn fail(program: &str, message: &str) -> String {
    format!(r#"{{"success":false,"program":"{program}","error":{{"message":"{message}"}}}}"#)
}

fn list(turns: &[String]) -> String {
    format!("[{}]", turns.join(","))
}

const PRINTLN: &str = r#""tools":[{"name":"println","signature":"(line :string) -> :any"}]"#;
