use std::path::PathBuf;

use baler_host::{
    Conversation, Host,
    conversation::rules::{Severity, Violation, ViolationCounts},
};
use clap::Args;
use serde_json::json;

use crate::arguments::{ConversationArguments, FormatArgument};
use crate::exit::{Exit, Failure};
use crate::figures::{self, number};
use crate::output::{self, BAD, CHANGED, GOOD, Messages, styled};
use crate::{files, input};

/// Check a conversation against the rules of its wire format
///
/// Lists every place where a rule is broken, with the rule's id, the number of the message and the remedy: at
/// most 1,000 places, errors before warnings, and how many more there are. An error is a broken rule where
/// the provider is known to refuse the request. A warning is one where no refusal is known; it does not
/// prevent a compaction. docs/wire-formats.md explains the rules.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ValidateCommand {
    /// The conversation: a request body, its list of messages, or a session log. `-`, or no FILE, reads
    /// standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Wire format of the conversation: auto (detect it), openai-chat, openai-responses, anthropic, gemini,
    /// bedrock-converse
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    format: FormatArgument,

    /// Also show what --repair of the other commands would repair and what would remain. Writes nothing
    #[arg(long)]
    repair: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    /// Print only errors; the exit code says the result
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

const AFTER: &str = "\
Examples:
  baler validate request.json
  agent-dump | baler validate --format anthropic --json | jq '.violations[].rule'

Exit codes:
  0  no errors; with --repair, no errors after the repair
  1  baler failed
  2  invalid usage
  5  invalid input: the conversation has errors, or cannot be read";

impl ValidateCommand {
    pub(crate) fn exec(self) -> Result<Exit, Failure> {
        let messages = Messages {
            quiet: self.quiet || self.json,
        };
        if !self.quiet {
            files::check_output_is_apart(self.file.as_deref())?;
        }
        let document = input::read(self.file.as_deref(), "validate")?;
        let host = Host::builder().format(self.format.0).build()?;
        let arguments = ConversationArguments {
            file: self.file.clone(),
            ..ConversationArguments::of(self.format)
        };
        let conversation = input::conversation(&host, document, &arguments, messages)?;
        let repaired = self.repair.then(|| conversation.repaired());
        let repaired = repaired.as_ref();
        if self.json {
            let value = as_json(&conversation, repaired);
            output::listing(&format!("{value:#}\n"))?;
        } else if !self.quiet {
            output::words(&as_text(&conversation, repaired))?;
        }
        let result = repaired.unwrap_or(&conversation);
        Ok(if is_valid(result) {
            Exit::Done
        } else {
            Exit::WrongInput
        })
    }
}

/// Returns whether the conversation has no errors.
fn is_valid(conversation: &Conversation) -> bool {
    conversation.violation_counts().errors == 0
}

fn as_json(conversation: &Conversation, repaired: Option<&Conversation>) -> serde_json::Value {
    let violations = conversation.violations();
    let mut value = json!({
        "valid": is_valid(conversation),
        "format": conversation.format(),
        "log": conversation.log().map(|(kind, _)| kind),
        "messages": messages(conversation),
        "violations": with_remedies(violations),
        "violation-counts": conversation.violation_counts(),
    });
    if let Some(repaired) = repaired {
        value["repairs"] = json!(repaired.repairs());
        value["repair-counts"] = json!(repaired.repair_counts());
        value["unrepaired"] = with_remedies(&repaired.unrepaired());
        value["unrepaired-counts"] = json!(repaired.violation_counts());
    }
    value
}

fn with_remedies(violations: &[Violation]) -> serde_json::Value {
    violations
        .iter()
        .map(
            |Violation {
                 rule,
                 severity,
                 message,
                 what,
             }| {
                json!({
                    "rule": rule,
                    "severity": severity,
                    "message": message,
                    "what": what,
                    "remedy": rule.remedy(),
                })
            },
        )
        .collect()
}

fn as_text(conversation: &Conversation, repaired: Option<&Conversation>) -> String {
    let counts = conversation.violation_counts();
    let size = format!(
        "{} of {}",
        figures::count(messages(conversation), "message"),
        conversation.format()
    );
    let source = conversation
        .log()
        .map_or_else(String::new, |(kind, _)| format!(", from a log of {kind}"));
    let mut text = if counts.errors == 0 {
        format!("{}: {size}{source}", styled(GOOD.bold(), "valid"))
    } else {
        format!(
            "{}: {size}{source} break rules at {}",
            styled(BAD.bold(), "invalid"),
            figures::count(counts.errors, "place")
        )
    };
    let violations = conversation.violations();
    push_violations(&mut text, violations, counts, Severity::Error);
    if counts.warnings > 0 {
        let places = figures::count(counts.warnings, "place");
        text.push_str(&format!(
            "\n{} at {places}: no refusal is known, so they do not prevent a compaction",
            styled(CHANGED.bold(), "warnings")
        ));
        push_violations(&mut text, violations, counts, Severity::Warning);
    }
    text.push('\n');
    if let Some(repaired) = repaired
        && counts.total > 0
    {
        push_repairs(&mut text, repaired);
    }
    text
}

fn push_repairs(text: &mut String, repaired: &Conversation) {
    let (repairs, counts) = (repaired.repairs(), repaired.repair_counts());
    let changes = figures::count(counts.total, "change");
    text.push_str(&format!("\n--repair would make {changes}\n"));
    for repair in repairs {
        text.push_str(&format!("  {}\n", figures::cleaned(&repair.to_string())));
    }
    for own in &counts.rules {
        let listed = repairs.iter().filter(|repair| repair.rule == own.rule);
        let more = own.repairs - listed.count();
        if more > 0 {
            text.push_str(&format!("  … and {} more ({})\n", number(more), own.rule));
        }
    }
    let (left, counts) = (repaired.unrepaired(), repaired.violation_counts());
    if counts.errors == 0 {
        text.push_str("and no broken rule would remain");
    } else {
        let places = figures::count(counts.errors, "place");
        text.push_str(&format!("and broken rules would remain at {places}"));
        push_violations(text, &left, counts, Severity::Error);
    }
    if counts.warnings > 0 {
        let places = figures::count(counts.warnings, "place");
        text.push_str(&format!("\nand warnings would remain at {places}"));
        push_violations(text, &left, counts, Severity::Warning);
    }
    text.push('\n');
}

/// Adds the listed violations of one severity, and how many more there are of each rule.
fn push_violations(
    text: &mut String,
    listed: &[Violation],
    counts: &ViolationCounts,
    severity: Severity,
) {
    let listed = || listed.iter().filter(move |own| own.severity == severity);
    for violation in listed() {
        text.push_str(&input::violation_lines(violation));
    }
    for own in &counts.rules {
        let shown = listed().filter(|violation| violation.rule == own.rule);
        let more = own.of(severity) - shown.count();
        if more > 0 {
            text.push_str(&format!("\n  … and {} more ({})", number(more), own.rule));
        }
    }
}

fn messages(conversation: &Conversation) -> usize {
    conversation.units().iter().map(|unit| unit.messages).sum()
}
