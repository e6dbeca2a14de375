//! Sections about tools, data and definitions.

use std::fmt::Write;

use super::TextSource;
use crate::context::{Function, ToolOfProgram};
use crate::limits::Limits;
use crate::order::by_name;
use crate::signature::{Colons, Signature};
use crate::stats::Stats;
use crate::turn::PRINTLN;
use crate::value::Value;

/// The column at which the comment about a name begins.
const COLUMN: usize = 30;

/// A tool as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tool {
    pub name: String,
    pub signature: Signature,
    pub description: String,
}

impl From<&ToolOfProgram> for Tool {
    fn from(tool: &ToolOfProgram) -> Self {
        let signature = tool.signature.as_deref().and_then(Signature::parse);
        Self {
            name: tool.name.clone(),
            signature: signature.unwrap_or_else(Signature::unknown),
            description: tool.description.clone().unwrap_or_default(),
        }
    }
}

impl From<&baler_strategy::Tool> for Tool {
    fn from(tool: &baler_strategy::Tool) -> Self {
        let schema = serde_json::from_str(&tool.parameters).unwrap_or(Value::Nil);
        Self {
            name: tool.name.clone(),
            signature: Signature::of_schema(&schema),
            description: tool.description.clone(),
        }
    }
}

/// Returns the sections about tools, data and definitions.
pub(super) fn section(source: &TextSource<'_>, limits: &Limits, stats: &mut Stats) -> String {
    let sections = [
        Some(tools(source.tools, limits, stats)),
        data(source, limits, stats),
        definitions(source, limits, stats),
    ];
    let sections: Vec<String> = sections.into_iter().flatten().collect();
    sections.join("\n\n")
}

fn tools(tools: &[Tool], limits: &Limits, stats: &mut Stats) -> String {
    if tools.is_empty() {
        return ";; No tools available".to_owned();
    }
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let order = by_name(&names);
    listed(";; === tools ===", &order, limits, stats, |place, _| {
        let tool = &tools[*place];
        let mut line = format!(
            "tool/{}({}) -> {}",
            tool.name,
            tool.signature.params(),
            tool.signature.returns.text(Colons::Without)
        );
        if !tool.description.is_empty() {
            let _ = write!(line, "  ; {}", tool.description);
        }
        line
    })
}

fn data(source: &TextSource<'_>, limits: &Limits, stats: &mut Stats) -> Option<String> {
    let data = &source.context.data;
    let names: Vec<&str> = data.iter().map(|(name, _)| name.as_str()).collect();
    let order = by_name(&names);
    (!data.is_empty()).then(|| {
        listed(";; === data/ ===", &order, limits, stats, |place, stats| {
            let (name, value) = &data[*place];
            let about = match name.starts_with('_') {
                true => "[Hidden] [Firewalled]".to_owned(),
                false => sample(value, limits, stats),
            };
            let name = padded(&format!("data/{name}"));
            format!("{name}; {}, {about}", value.type_name())
        })
    })
}

/// A definition: a function or a value.
enum Definition<'a> {
    Function(&'a Function),
    Value(&'a str, &'a Value),
}

fn definitions(source: &TextSource<'_>, limits: &Limits, stats: &mut Stats) -> Option<String> {
    let memory = &source.context.memory;
    let functions = memory.functions.iter();
    let functions: Vec<&str> = functions.map(|function| function.name.as_str()).collect();
    let values = memory.values.iter();
    let values: Vec<&str> = values.map(|(name, _)| name.as_str()).collect();
    let mut all = Vec::new();
    for place in by_name(&functions) {
        all.push(Definition::Function(&memory.functions[place]));
    }
    for place in by_name(&values) {
        let (name, value) = &memory.values[place];
        if !value.is_nothing() {
            all.push(Definition::Value(name, value));
        }
    }
    // A program that can print values needs no samples.
    let has_samples = source.tools.iter().all(|tool| tool.name != PRINTLN);
    (!all.is_empty()).then(|| {
        let header = ";; === user/ (your prelude) ===";
        listed(header, &all, limits, stats, |definition, stats| {
            let (name, value) = match definition {
                Definition::Function(function) => return function_line(function),
                Definition::Value(name, value) => (name, value),
            };
            let mut line = format!("{}; = {}", padded(name), value.type_name());
            if name.starts_with('_') {
                line.push_str(", [Hidden]");
            } else if has_samples {
                let _ = write!(line, ", {}", sample(value, limits, stats));
            }
            line
        })
    })
}

fn function_line(function: &Function) -> String {
    let mut params = function.params.join(" ");
    if let Some(rest) = &function.rest {
        let blank = if params.is_empty() { "" } else { " " };
        let _ = write!(params, "{blank}& {rest}");
    }
    let mut line = format!("({} [{params}])", function.name);
    if let Some(doc) = &function.doc {
        line = format!("{}; \"{doc}\"", padded(&line));
    }
    if let Some(returns) = &function.returns {
        let _ = write!(line, " -> {returns}");
    }
    line
}

fn sample(value: &Value, limits: &Limits, stats: &mut Stats) -> String {
    let mut printer = limits.samples();
    let sample = printer.print(value);
    stats.hidden_keys += printer.hidden;
    format!("sample: {sample}")
}

fn padded(name: &str) -> String {
    format!("{name:COLUMN$}")
}

/// Returns a header and a line for each entry, up to the limit.
fn listed<T>(
    header: &str,
    entries: &[T],
    limits: &Limits,
    stats: &mut Stats,
    line: impl Fn(&T, &mut Stats) -> String,
) -> String {
    let mut text = header.to_owned();
    for entry in entries.iter().take(limits.entries) {
        let _ = write!(text, "\n{}", limits.line(&line(entry, stats)));
    }
    if let Some(more @ 1..) = entries.len().checked_sub(limits.entries) {
        stats.entries_removed += more as u64;
        let _ = write!(text, "\n;; ... {more} more");
    }
    text
}
