use std::path::PathBuf;

use baler_host::{Conversation, Host, Violation};
use clap::Args;
use serde_json::json;

use crate::arguments::{ConversationArguments, FormatArgument};
use crate::exit::{Exit, Failure};
use crate::output::{self, BAD, GOOD, Messages, styled};
use crate::{figures, input};

/// Check a conversation against the rules of its wire format
///
/// Lists every place where a rule is broken, with the rule's id, the message's number and what
/// to do about it. docs/wire-formats.md explains the rules.
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

    /// Tell as well what --repair of the other commands would mend, and what it would leave.
    /// Nothing is written
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
  0  it breaks no rule, or, with --repair, would break none after the repair
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
        Ok(if result.violations().is_empty() {
            Exit::Done
        } else {
            Exit::WrongInput
        })
    }
}

fn as_json(conversation: &Conversation, repaired: Option<&Conversation>) -> serde_json::Value {
    let violations = conversation.violations();
    let mut told = json!({
        "valid": violations.is_empty(),
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
                 message,
                 what,
                 ..
             }| {
                json!({"rule": rule, "message": message, "what": what, "remedy": rule.remedy()})
            },
        )
        .collect()
}

fn as_text(conversation: &Conversation, repaired: Option<&Conversation>) -> String {
    let violations = conversation.violations();
    let size = format!(
        "{} of {}",
        figures::count(messages(conversation), "message"),
        conversation.format()
    );
    let source = conversation
        .log()
        .map_or_else(String::new, |(kind, _)| format!(", from a {kind} log"));
    if violations.is_empty() {
        return format!("{}: {size}{source}\n", styled(GOOD.bold(), "valid"));
    }
    let mut text = format!(
        "{}: {size}{source} break rules at {}",
        styled(BAD.bold(), "invalid"),
        figures::count(violations.len(), "place")
    );
    violations
        .iter()
        .for_each(|violation| text.push_str(&input::told(violation)));
    text.push('\n');
    if let Some(repaired) = repaired {
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
    if left.is_empty() {
        text.push_str("and leave no rule broken\n");
        return;
    }
    let places = figures::count(left.len(), "place");
    text.push_str(&format!("and leave rules broken at {places}"));
    left.iter()
        .for_each(|violation| text.push_str(&input::told(violation)));
    text.push('\n');
}

fn messages(conversation: &Conversation) -> usize {
    conversation.units().iter().map(|unit| unit.messages).sum()
}
