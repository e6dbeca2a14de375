use std::path::PathBuf;

use baler_host::{Conversation, Host, Severity, Violation};
use clap::Args;
use serde_json::json;

use crate::arguments::{ConversationArguments, FormatArgument};
use crate::exit::{Exit, Failure};
use crate::output::{self, BAD, CHANGED, GOOD, Messages, styled};
use crate::{figures, input};

/// Check a conversation against the rules of its wire format
///
/// Lists every place where a rule is broken, with the rule's id, the message's number and what
/// to do about it. An error is something that the provider refuses; a warning is unusual, but no
/// refusal of it is known, and it stops nothing. docs/wire-formats.md explains the rules.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ValidateCommand {
    /// The conversation: a request body, its list of messages, or the log of a session. `-`, or
    /// nothing, reads it from standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Wire format of the conversation: auto, openai-chat, openai-responses, anthropic, gemini
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    format: FormatArgument,

    /// Tell as well what --repair of the other commands would repair, errors and warnings alike,
    /// and what it would leave. Nothing is written
    #[arg(long)]
    repair: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    /// Print nothing but errors: the exit code tells
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

const AFTER: &str = "\
Examples:
  baler validate request.json
  agent-dump | baler validate --format anthropic --json | jq '.violations[].rule'

Exit codes:
  0  it breaks no rule, or there are warnings alone; with --repair, that is so after the repair
  1  baler itself failed
  2  wrong use
  5  it breaks a rule, or cannot be read";

impl ValidateCommand {
    pub(crate) fn exec(self) -> Result<Exit, Failure> {
        let messages = Messages {
            quiet: self.quiet || self.json,
        };
        let document = input::read(self.file.as_deref(), "validate")?;
        let mut builder = Host::builder();
        if let Some(format) = self.format.0 {
            builder = builder.format(format);
        }
        let arguments = ConversationArguments {
            file: self.file.clone(),
            ..ConversationArguments::of(self.format)
        };
        let conversation = input::conversation(&builder.build()?, document, &arguments, messages)?;
        let repaired = self.repair.then(|| conversation.repaired());
        let repaired = repaired.as_ref();
        if self.json {
            let told = as_json(&conversation, repaired);
            output::listing(&format!("{told:#}\n"))?;
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

/// Whether no rule is broken of which a refusal is known.
fn is_valid(conversation: &Conversation) -> bool {
    let mut violations = conversation.violations().iter();
    violations.all(|violation| violation.severity == Severity::Warning)
}

fn as_json(conversation: &Conversation, repaired: Option<&Conversation>) -> serde_json::Value {
    let violations = conversation.violations();
    let mut told = json!({
        "valid": is_valid(conversation),
        "format": conversation.format(),
        "log": conversation.log().map(|(kind, _)| kind),
        "messages": messages(conversation),
        "violations": with_remedies(violations),
    });
    if let Some(repaired) = repaired {
        told["repairs"] = json!(repaired.repairs());
        told["unrepaired"] = with_remedies(&repaired.unrepaired());
    }
    told
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
    let (errors, warnings) = input::by_severity(conversation.violations());
    let size = format!(
        "{} of {}",
        figures::count(messages(conversation), "message"),
        conversation.format()
    );
    let source = conversation
        .log()
        .map_or_else(String::new, |(kind, _)| format!(", from a {kind} log"));
    let mut text = if errors.is_empty() {
        format!("{}: {size}{source}", styled(GOOD.bold(), "valid"))
    } else {
        format!(
            "{}: {size}{source} break rules at {}",
            styled(BAD.bold(), "invalid"),
            figures::count(errors.len(), "place")
        )
    };
    tell_all(&mut text, &errors);
    if !warnings.is_empty() {
        let places = figures::count(warnings.len(), "place");
        text.push_str(&format!(
            "\n{} at {places}: no refusal of that is known, and it is compacted all the same",
            styled(CHANGED.bold(), "warnings")
        ));
        tell_all(&mut text, &warnings);
    }
    text.push('\n');
    if let Some(repaired) = repaired
        && !(errors.is_empty() && warnings.is_empty())
    {
        tell_repairs(&mut text, repaired);
    }
    text
}

fn tell_repairs(text: &mut String, repaired: &Conversation) {
    let repairs = repaired.repairs();
    let changes = figures::count(repairs.len(), "change");
    text.push_str(&format!("\n--repair would make {changes}\n"));
    for repair in repairs {
        text.push_str(&format!("  {}\n", figures::cleaned(&repair.to_string())));
    }
    let left = repaired.unrepaired();
    let (errors, warnings) = input::by_severity(&left);
    if errors.is_empty() {
        text.push_str("and leave no rule broken");
    } else {
        let places = figures::count(errors.len(), "place");
        text.push_str(&format!("and leave rules broken at {places}"));
        tell_all(text, &errors);
    }
    if !warnings.is_empty() {
        let places = figures::count(warnings.len(), "place");
        text.push_str(&format!("\nand leave warnings at {places}"));
        tell_all(text, &warnings);
    }
    text.push('\n');
}

fn tell_all(text: &mut String, violations: &[&Violation]) {
    for violation in violations {
        text.push_str(&input::told(violation));
    }
}

fn messages(conversation: &Conversation) -> usize {
    conversation.units().iter().map(|unit| unit.messages).sum()
}
