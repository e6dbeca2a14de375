//! Reads the fields of receipts and evaluations that a report shows. The files are untrusted.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use baler_host::receipt::{
    Archived, BeforeAfter, CacheEffect, Original, ReasonCode, Tokens, Units, Usage,
};
use baler_host::strategy::Metric;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::{RawValue, Value};

use super::evaluation::Evaluation;
use crate::files;

/// The version of receipts that this baler reads.
const VERSION: u64 = 1;

/// The content of a file.
pub(crate) enum Source {
    Run(Box<Run>),
    Evaluation(Evaluation),
}

/// A run of `baler compact`, whether it compacted or not.
#[derive(Deserialize)]
pub(crate) struct Run {
    pub(crate) receipt: Receipt,
    /// The outcome of every unit; `None` in a receipt alone.
    pub(crate) units: Option<Vec<Unit>>,
}

/// A unit, or an inserted text (`host/cli/unit_listing.rs` writes it).
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Unit {
    pub(crate) unit: Option<usize>,
    pub(crate) kind: String,
    pub(crate) outcome: UnitOutcome,
    /// Whether it is removed, and all of its words stand in the inserted texts.
    #[serde(default)]
    pub(crate) quoted: bool,
    #[serde(default)]
    pub(crate) protected: bool,
    pub(crate) messages: usize,
    pub(crate) tokens_before: u32,
    /// `None` if that is not recorded, as of a rewritten unit in the record of a session.
    pub(crate) tokens_after: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UnitOutcome {
    Kept,
    Rewritten,
    Joined,
    Removed,
    Inserted,
}

/// The fields of a receipt that are shown (`host/core/src/receipt.rs`). Strategies' free-text messages are not.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Receipt {
    pub(crate) outcome: String,
    pub(crate) why: Option<String>,
    pub(crate) strategy: Option<String>,
    pub(crate) fell_back: bool,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) format: String,
    pub(crate) tokenizer: String,
    pub(crate) trigger: String,
    pub(crate) tokens: Tokens,
    pub(crate) bytes: BeforeAfter,
    pub(crate) messages: BeforeAfter,
    pub(crate) cache: Option<CacheEffect>,
    pub(crate) units: Units,
    pub(crate) reasons: Vec<ReasonCode>,
    pub(crate) archive: Option<Vec<Archived>>,
    pub(crate) undo: Option<String>,
    #[serde(default)]
    pub(crate) repairs: Vec<Repair>,
    #[serde(default)]
    pub(crate) originals: Vec<Original>,
    /// The number of originals, including those that are not listed.
    #[serde(default)]
    pub(crate) original_count: usize,
    #[serde(default)]
    pub(crate) violations: Vec<Violation>,
    pub(crate) time_us: u64,
    #[serde(default)]
    pub(crate) stages: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
pub(crate) struct Repair {
    pub(crate) rule: String,
    pub(crate) message: usize,
    pub(crate) what: String,
}

#[derive(Deserialize)]
pub(crate) struct Violation {
    pub(crate) rule: String,
    pub(crate) severity: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Attempt {
    pub(crate) strategy: String,
    pub(crate) component: Option<Component>,
    pub(crate) result: Ended,
    pub(crate) usage: Usage,
    pub(crate) model: Option<Model>,
    pub(crate) verification: Option<String>,
    #[serde(default)]
    pub(crate) metrics: Vec<Metric>,
}

#[derive(Deserialize)]
pub(crate) struct Component {
    #[serde(rename = "content-hash")]
    pub(crate) content_hash: String,
    pub(crate) contract: String,
    pub(crate) permissions: Vec<String>,
    pub(crate) bytes: u64,
}

#[derive(Deserialize)]
pub(crate) struct Ended {
    pub(crate) result: String,
    pub(crate) fault: Option<BTreeMap<String, Value>>,
    pub(crate) failure: Option<BTreeMap<String, Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Model {
    pub(crate) calls: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cost: Option<f64>,
}

/// The members that distinguish the kinds of files.
#[derive(Deserialize)]
struct Shape<'a> {
    /// A whole receipt, or, if the file itself is a receipt, its version.
    #[serde(borrow)]
    receipt: Option<&'a RawValue>,
    summary: Option<IgnoredAny>,
    conversations: Option<IgnoredAny>,
    messages: Option<IgnoredAny>,
    input: Option<IgnoredAny>,
    contents: Option<IgnoredAny>,
}

/// The version of a receipt.
#[derive(Deserialize)]
struct Version {
    receipt: Option<u64>,
}

/// The kinds of files that a report accepts, for error messages.
const ACCEPTED: &str =
    "give what `baler compact --json` prints, a receipt, or what `baler eval --json FILE` writes";

/// Detects the kind of a file, and reads it.
pub(crate) fn source(file: &Path, bytes: &[u8]) -> anyhow::Result<Source> {
    let shown = file.display();
    let bytes = files::without_byte_order_mark(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(anyhow!("`{shown}` is empty; {ACCEPTED}"));
    }
    let shape = match serde_json::from_slice::<Shape<'_>>(bytes) {
        Ok(shape) => shape,
        Err(error) if error.is_eof() => {
            return Err(anyhow!(
                "`{shown}` ends too early, in line {}: it is not complete; {ACCEPTED}",
                error.line()
            ));
        }
        Err(error) if error.is_data() => {
            return Err(anyhow!(
                "`{shown}` is neither a receipt nor an evaluation; {ACCEPTED}"
            ));
        }
        Err(error) => {
            return Err(anyhow!(
                "`{shown}` is not JSON: line {}, column {}; {ACCEPTED}",
                error.line(),
                error.column()
            ));
        }
    };
    match (shape.receipt, &shape.summary) {
        (Some(receipt), _) if receipt.get().starts_with('{') => {
            let version = serde_json::from_str::<Version>(receipt.get());
            check_version(file, version.ok().and_then(|version| version.receipt))?;
            Ok(Source::Run(Box::new(exactly(file, "the run", bytes)?)))
        }
        (Some(version), _) => {
            check_version(file, version.get().parse().ok())?;
            Ok(Source::Run(Box::new(Run {
                receipt: exactly(file, "the receipt", bytes)?,
                units: None,
            })))
        }
        (None, Some(_)) if shape.conversations.is_some() => {
            let evaluation: Evaluation = exactly(file, "the evaluation", bytes)?;
            let checked = evaluation.check();
            checked.with_context(|| format!("`{shown}` cannot be shown"))?;
            Ok(Source::Evaluation(evaluation))
        }
        _ if shape.messages.is_some() || shape.input.is_some() || shape.contents.is_some() => Err(
            anyhow!("`{shown}` is a conversation, not a receipt or an evaluation; {ACCEPTED}"),
        ),
        _ => Err(anyhow!(
            "`{shown}` is neither a receipt nor an evaluation; {ACCEPTED}"
        )),
    }
}

fn check_version(file: &Path, version: Option<u64>) -> anyhow::Result<()> {
    let shown = file.display();
    match version {
        Some(VERSION) => Ok(()),
        Some(other) => Err(anyhow!(
            "`{shown}` is a receipt of another version than {VERSION}, the only one that this baler reads: {other}"
        )),
        None => Err(anyhow!(
            "`{shown}` has a receipt without a version; {ACCEPTED}"
        )),
    }
}

/// Reads a value. The reader's message may quote the file, so the error says only where it is wrong.
fn exactly<T: DeserializeOwned>(file: &Path, what: &str, bytes: &[u8]) -> anyhow::Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        anyhow!(
            "`{}` cannot be read: {what} has another form than this baler writes, at line {}, column {}",
            file.display(),
            error.line(),
            error.column()
        )
    })
}
