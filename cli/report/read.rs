//! What a file says, as far as a report shows it. A file may come from anybody.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::anyhow;
use baler_host::CacheEffect;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

use super::evaluation::Evaluation;

/// The version of receipts that is known.
const VERSION: u64 = 1;

/// One file.
pub(crate) enum Source {
    Run(Box<Run>),
    Evaluation(Evaluation),
}

/// A compaction, or that there was none.
#[derive(Deserialize)]
pub(crate) struct Run {
    pub(crate) receipt: Receipt,
    /// What became of every unit; none in a receipt alone.
    pub(crate) units: Option<Vec<Unit>>,
}

/// A unit, or a text that was inserted (`cli/strip.rs` writes it).
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Unit {
    pub(crate) unit: Option<usize>,
    pub(crate) kind: String,
    pub(crate) fate: Fate,
    #[serde(default)]
    pub(crate) protected: bool,
    pub(crate) messages: usize,
    pub(crate) tokens_before: u32,
    pub(crate) tokens_after: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fate {
    Kept,
    Rewritten,
    Joined,
    Dropped,
    Inserted,
}

/// What is shown of a receipt (`host/src/receipt.rs`). What strategies say in words is not.
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
    pub(crate) cache: Option<Cache>,
    pub(crate) units: Units,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) archive: Option<Vec<Archived>>,
    pub(crate) undo: Option<String>,
    #[serde(default)]
    pub(crate) repairs: Vec<Repair>,
    #[serde(default)]
    pub(crate) originals: Vec<Original>,
    #[serde(default)]
    pub(crate) violations: Vec<Violation>,
    pub(crate) time_us: u64,
    #[serde(default)]
    pub(crate) stages: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
pub(crate) struct Tokens {
    pub(crate) before: u32,
    pub(crate) after: u32,
    pub(crate) budget: u32,
    pub(crate) floor: u32,
    pub(crate) overhead: u32,
}

#[derive(Deserialize)]
pub(crate) struct BeforeAfter {
    pub(crate) before: u64,
    pub(crate) after: u64,
}

#[derive(Deserialize)]
#[serde(remote = "CacheEffect", rename_all = "kebab-case")]
struct CacheForm {
    tokens_cached: u32,
    tokens_thrown_away: u32,
    tokens_saved: u32,
    pays_after_requests: u32,
}

#[derive(Deserialize)]
pub(crate) struct Cache(#[serde(with = "CacheForm")] pub(crate) CacheEffect);

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Units {
    pub(crate) before: u64,
    pub(crate) kept: u64,
    pub(crate) rewritten: u64,
    pub(crate) dropped: u64,
    pub(crate) inserted: u64,
    pub(crate) thinking_dropped: u64,
}

#[derive(Deserialize)]
pub(crate) struct Reason {
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) code: String,
}

#[derive(Deserialize)]
pub(crate) struct Archived {
    pub(crate) unit: usize,
    pub(crate) reference: String,
}

#[derive(Deserialize)]
pub(crate) struct Repair {
    pub(crate) rule: String,
    pub(crate) message: usize,
    pub(crate) what: String,
}

#[derive(Deserialize)]
pub(crate) struct Original {
    pub(crate) message: usize,
    pub(crate) reference: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Violation {
    pub(crate) rule: String,
}

#[derive(Deserialize)]
pub(crate) struct Attempt {
    pub(crate) strategy: String,
    pub(crate) component: Option<Component>,
    pub(crate) result: Ended,
    pub(crate) usage: Usage,
    pub(crate) model: Option<Model>,
    #[serde(default)]
    pub(crate) metrics: Vec<Metric>,
}

#[derive(Deserialize)]
pub(crate) struct Component {
    pub(crate) digest: String,
    pub(crate) contract: String,
    pub(crate) permissions: Vec<String>,
    pub(crate) bytes: u64,
}

#[derive(Deserialize)]
pub(crate) struct Ended {
    pub(crate) result: String,
    pub(crate) fault: Option<Map<String, Value>>,
    pub(crate) failure: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Usage {
    pub(crate) fuel: Option<u64>,
    pub(crate) time_us: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) host_calls: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Model {
    pub(crate) calls: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cost: Option<f64>,
}

#[derive(Deserialize)]
pub(crate) struct Metric {
    pub(crate) name: String,
    pub(crate) value: Value,
}

/// As much as tells the kinds of files apart.
#[derive(Deserialize)]
struct Shape {
    receipt: Option<Value>,
    summary: Option<IgnoredAny>,
    conversations: Option<IgnoredAny>,
    messages: Option<IgnoredAny>,
    input: Option<IgnoredAny>,
    contents: Option<IgnoredAny>,
}

const WANTED: &str =
    "give what `baler compact --json` prints, a receipt, or what `baler eval --json FILE` writes";

/// Finds out what a file is, and reads it.
pub(crate) fn source(file: &Path, bytes: &[u8]) -> anyhow::Result<Source> {
    let shown = file.display();
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(anyhow!("`{shown}` is empty; {WANTED}"));
    }
    let shape = match serde_json::from_slice::<Shape>(bytes) {
        Ok(shape) => shape,
        Err(error) if error.is_eof() => {
            return Err(anyhow!(
                "`{shown}` ends too early, in line {}: it is not whole; {WANTED}",
                error.line()
            ));
        }
        Err(error) if error.is_data() => {
            return Err(anyhow!(
                "`{shown}` is no receipt and no evaluation; {WANTED}"
            ));
        }
        Err(error) => {
            return Err(anyhow!(
                "`{shown}` is no JSON: line {}, column {}; {WANTED}",
                error.line(),
                error.column()
            ));
        }
    };
    match (&shape.receipt, &shape.summary) {
        (Some(Value::Object(receipt)), _) => {
            check_version(file, receipt.get("receipt"))?;
            exactly(file, "the run", bytes).map(|run| Source::Run(Box::new(run)))
        }
        (Some(version), _) => {
            check_version(file, Some(version))?;
            let receipt = exactly(file, "the receipt", bytes)?;
            Ok(Source::Run(Box::new(Run {
                receipt,
                units: None,
            })))
        }
        (None, Some(_)) if shape.conversations.is_some() => {
            exactly(file, "the evaluation", bytes).map(Source::Evaluation)
        }
        _ if shape.messages.is_some() || shape.input.is_some() || shape.contents.is_some() => Err(
            anyhow!("`{shown}` is a conversation, not what was done to it; {WANTED}"),
        ),
        _ => Err(anyhow!(
            "`{shown}` is no receipt and no evaluation; {WANTED}"
        )),
    }
}

fn check_version(file: &Path, version: Option<&Value>) -> anyhow::Result<()> {
    let shown = file.display();
    match version.and_then(Value::as_u64) {
        Some(VERSION) => Ok(()),
        Some(other) => Err(anyhow!(
            "`{shown}` is a receipt of another version than {VERSION}, which is all that this baler reads: {other}"
        )),
        None => Err(anyhow!(
            "`{shown}` has a receipt without a version; {WANTED}"
        )),
    }
}

/// What the reader says is wrong may quote the file, so only the place is told.
fn exactly<T: DeserializeOwned>(file: &Path, what: &str, bytes: &[u8]) -> anyhow::Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        anyhow!(
            "`{}` cannot be read: {what} has another form than this baler writes, seen at line {}, column {}",
            file.display(),
            error.line(),
            error.column()
        )
    })
}
