use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use baler_proxy::{Action, Exchange, Sessions, Total};
use clap::Args;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::figures::{cleaned, number, status, utc};
use crate::output;
use crate::settings;

/// List the sessions that passed through `baler run` and `baler proxy`, and what they saved
///
/// Sizes and counts only: no text of a conversation is recorded. The tokens that went on are those that baler counted; what
/// was billed, and how much came from the provider's cache, is what the provider reported.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct SessionsCommand {
    /// The session whose requests are listed: its name, or how it begins [default: list the sessions]
    #[arg(value_name = "SESSION")]
    session: Option<String>,

    /// Print the receipt of the session's Nth compaction, 1 for the first. `baler undo` restores the request from it
    #[arg(long, value_name = "N", requires = "session", conflicts_with = "json")]
    receipt: Option<usize>,

    /// Print JSON: all that is recorded
    #[arg(long)]
    json: bool,

    /// State folder [default: $BALER_STATE, else $XDG_STATE_HOME/baler, else ~/.local/state/baler]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

const AFTER: &str = "\
Exit codes: 0 listed, 1 baler failed, 2 invalid usage, such as a session that does not exist";

impl SessionsCommand {
    pub(crate) fn exec(self) -> Result<Exit, Failure> {
        let state = settings::state_folder(self.state.as_deref());
        let folder = state.map(|state| state.join("sessions"));
        let sessions = match folder.filter(|folder| folder.exists()) {
            Some(folder) => Sessions::open(folder).map_err(anyhow::Error::from)?,
            None if self.session.is_none() => {
                let nothing = "no sessions yet: `baler run -- PROGRAM` makes one\n";
                output::words(if self.json { "[]\n" } else { nothing })?;
                return Ok(Exit::Done);
            }
            None => return Err(unknown(&self.session.unwrap_or_default())),
        };
        match self.session {
            Some(name) => {
                let exchanges = named(&sessions, &name)?;
                if let Some(number) = self.receipt {
                    let mut compactions = exchanges
                        .iter()
                        .filter(|exchange| exchange.action == Action::Compacted);
                    let many = compactions.clone().count();
                    let receipt = number
                        .checked_sub(1)
                        .and_then(|before| compactions.nth(before)?.receipt.as_ref());
                    let receipt = receipt.ok_or_else(|| {
                        Failure::wrong_use(anyhow!(
                            "compaction {number} does not exist; the session has {many}"
                        ))
                    })?;
                    output::listing(&format!("{receipt}\n"))?;
                    return Ok(Exit::Done);
                }
                match self.json {
                    true => output::listing(&format!("{}\n", json!(exchanges)))?,
                    false => output::words(&requests(&exchanges))?,
                }
            }
            None => list(&sessions, self.json)?,
        }
        Ok(Exit::Done)
    }
}

/// Returns the exchanges of the session with this name, or of the only one that begins so.
fn named(sessions: &Sessions, name: &str) -> Result<Vec<Exchange>, Failure> {
    let names = sessions.names();
    let mut begun = names.iter().filter(|other| other.starts_with(name));
    let name = match (begun.next(), begun.next()) {
        (Some(only), None) => only,
        _ => name,
    };
    sessions.exchanges(name).map_err(|_| unknown(name))
}

fn unknown(name: &str) -> Failure {
    Failure::wrong_use(anyhow!(
        "no session, or more than one, is called `{}`; `baler sessions` lists them",
        cleaned(name)
    ))
}

fn list(sessions: &Sessions, as_json: bool) -> anyhow::Result<()> {
    let mut rows = vec![
        [
            "last request",
            "session",
            "program",
            "requests",
            "compactions",
            "tokens sent",
            "without baler",
            "from the cache",
        ]
        .map(str::to_owned),
    ];
    let mut values = Vec::new();
    for name in sessions.names() {
        let Ok(exchanges) = sessions.exchanges(&name) else {
            continue;
        };
        let Some(last) = exchanges.last() else {
            continue;
        };
        let mut total = Total::default();
        exchanges.iter().for_each(|exchange| total.add(exchange));
        values.push(json!({
            "session": name, "program": last.program, "time": last.time,
            "requests": total.requests, "compactions": total.compactions,
            "tokens-sent": total.tokens_sent, "tokens-came": total.tokens_came, "usage": total.usage,
        }));
        rows.push([
            time(last),
            name,
            cleaned(&last.program),
            number(total.requests as u64),
            number(total.compactions as u64),
            number(total.tokens_sent),
            number(total.tokens_came),
            total
                .usage
                .cached_share()
                .map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", share * 100.0)),
        ]);
    }
    match as_json {
        true => output::listing(&format!("{}\n", json!(values))),
        false => output::words(&table(&rows, 3)),
    }
}

fn requests(exchanges: &[Exchange]) -> String {
    let mut rows = vec![
        [
            "time",
            "done",
            "tokens came",
            "tokens sent",
            "from the cache",
            "status",
            "added",
        ]
        .map(str::to_owned),
    ];
    rows.extend(exchanges.iter().map(|exchange| {
        let why = exchange
            .why
            .as_ref()
            .map(|why| format!(" ({})", cleaned(why)))
            .unwrap_or_default();
        let shadow = if exchange.shadow { "would be " } else { "" };
        let again = if exchange.again {
            ", after a refusal"
        } else {
            ""
        };
        [
            time(exchange),
            format!("{shadow}{}{why}{again}", exchange.action.name()),
            number(exchange.tokens[0]),
            number(exchange.tokens[1]),
            exchange
                .usage
                .map_or_else(|| "-".to_owned(), |usage| number(usage.cached)),
            status(exchange),
            crate::figures::time(Duration::from_micros(exchange.added_us)),
        ]
    }));
    table(&rows, 2)
}

fn time(exchange: &Exchange) -> String {
    utc(exchange.time)
}

/// Writes rows in columns: the first ones are words, the others numbers.
fn table<const N: usize>(rows: &[[String; N]], words: usize) -> String {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut written = String::new();
    for row in rows {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match column < words {
                true => write!(written, "{cell:<width$}  "),
                false => write!(written, "{cell:>width$}  "),
            };
        }
        written.truncate(written.trim_end().len());
        written.push('\n');
    }
    written
}
