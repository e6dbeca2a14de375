//! Reads the fields of receipts and evaluations that a report shows. The files are untrusted.

use std::fmt;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use baler_host::receipt::CacheEffect;
use serde::de::{DeserializeOwned, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};

use super::bounded::{List, Members, Scalar, Text};
use super::evaluation::Evaluation;
use crate::files;

/// The version of receipts that this baler reads.
const VERSION: u64 = 1;

/// The most entries of lists of units or messages. A conversation with that many has a gigabyte.
const MANY: usize = 1_000_000;

/// The most reasons, and the most metrics of a strategy: five times the host's default limit.
const ANNOTATIONS: usize = 100_000;

/// The most entries of short lists: strategies that were tried, permissions, stages of a run.
const FEW: usize = 1_000;

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
    pub(crate) units: Option<List<Unit, MANY>>,
}

/// A unit, or an inserted text (`host/cli/unit_listing.rs` writes it).
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Unit {
    pub(crate) unit: Option<usize>,
    pub(crate) kind: Text,
    pub(crate) outcome: UnitOutcome,
    /// Whether it is removed, and all of its words stand in the inserted texts.
    #[serde(default)]
    pub(crate) quoted: bool,
    #[serde(default)]
    pub(crate) protected: bool,
    pub(crate) messages: usize,
    pub(crate) tokens_before: u32,
    pub(crate) tokens_after: u32,
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
    pub(crate) outcome: Text,
    pub(crate) why: Option<Text>,
    pub(crate) strategy: Option<Text>,
    pub(crate) fell_back: bool,
    pub(crate) attempts: List<Attempt, FEW>,
    pub(crate) format: Text,
    pub(crate) tokenizer: Text,
    pub(crate) trigger: Text,
    pub(crate) tokens: Tokens,
    pub(crate) bytes: BeforeAfter,
    pub(crate) messages: BeforeAfter,
    pub(crate) cache: Option<Cache>,
    pub(crate) units: Units,
    pub(crate) reasons: List<Reason, ANNOTATIONS>,
    pub(crate) archive: Option<List<Archived, MANY>>,
    pub(crate) undo: Option<Text>,
    #[serde(default)]
    pub(crate) repairs: List<Repair, MANY>,
    #[serde(default)]
    pub(crate) originals: List<Original, MANY>,
    /// The number of originals, including those that are not listed.
    #[serde(default)]
    pub(crate) original_count: usize,
    #[serde(default)]
    pub(crate) violations: List<Violation, MANY>,
    pub(crate) time_us: u64,
    #[serde(default)]
    pub(crate) stages: Members<u64, FEW>,
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
pub(crate) struct Cache(pub(crate) CacheEffect);

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Units {
    pub(crate) before: u64,
    pub(crate) kept: u64,
    pub(crate) rewritten: u64,
    pub(crate) removed: u64,
    pub(crate) inserted: u64,
    pub(crate) thinking_removed: u64,
    #[serde(default)]
    pub(crate) texts_shortened: u64,
    #[serde(default)]
    pub(crate) pictures_left_out: u64,
}

#[derive(Deserialize)]
pub(crate) struct Reason {
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) code: Text,
}

#[derive(Deserialize)]
pub(crate) struct Archived {
    pub(crate) unit: usize,
    pub(crate) reference: Text,
}

#[derive(Deserialize)]
pub(crate) struct Repair {
    pub(crate) rule: Text,
    pub(crate) message: usize,
    pub(crate) what: Text,
}

#[derive(Deserialize)]
pub(crate) struct Original {
    pub(crate) message: usize,
    pub(crate) reference: Option<Text>,
}

#[derive(Deserialize)]
pub(crate) struct Violation {
    pub(crate) rule: Text,
    pub(crate) severity: Option<Text>,
}

#[derive(Deserialize)]
pub(crate) struct Attempt {
    pub(crate) strategy: Text,
    pub(crate) component: Option<Component>,
    pub(crate) result: Ended,
    pub(crate) usage: Usage,
    pub(crate) model: Option<Model>,
    pub(crate) verification: Option<Text>,
    #[serde(default)]
    pub(crate) metrics: List<Metric, ANNOTATIONS>,
}

#[derive(Deserialize)]
pub(crate) struct Component {
    #[serde(rename = "content-hash")]
    pub(crate) content_hash: Text,
    pub(crate) contract: Text,
    pub(crate) permissions: List<Text, FEW>,
    pub(crate) bytes: u64,
}

#[derive(Deserialize)]
pub(crate) struct Ended {
    pub(crate) result: Text,
    pub(crate) fault: Option<Members<Scalar, FEW>>,
    pub(crate) failure: Option<Members<Scalar, FEW>>,
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
    pub(crate) name: Text,
    pub(crate) value: Scalar,
}

/// The members that distinguish the kinds of files.
#[derive(Deserialize)]
struct Shape {
    receipt: Option<Head>,
    summary: Option<IgnoredAny>,
    conversations: Option<IgnoredAny>,
    messages: Option<IgnoredAny>,
    input: Option<IgnoredAny>,
    contents: Option<IgnoredAny>,
}

/// The value of the member `receipt`: a whole receipt, or, if the file itself is a receipt, its version.
enum Head {
    /// A receipt, with its version if it has one.
    Receipt(Option<u64>),
    Version(Option<u64>),
}

impl<'de> Deserialize<'de> for Head {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Head;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a receipt or its version")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Head, A::Error> {
                let mut version = None;
                while let Some(name) = map.next_key::<Text>()? {
                    if name.as_str() == "receipt" {
                        version = whole(&map.next_value::<Scalar>()?);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Head::Receipt(version))
            }

            fn visit_u64<E: Error>(self, version: u64) -> Result<Head, E> {
                Ok(Head::Version(Some(version)))
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Head, E> {
                Ok(Head::Version(None))
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Head, E> {
                Ok(Head::Version(None))
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<Head, E> {
                Ok(Head::Version(None))
            }

            fn visit_str<E: Error>(self, _: &str) -> Result<Head, E> {
                Ok(Head::Version(None))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Head, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Head::Version(None))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

fn whole(value: &Scalar) -> Option<u64> {
    match value {
        Scalar::Whole(number) => Some(*number),
        _ => None,
    }
}

impl Run {
    /// Fails if a list is longer than baler writes it.
    fn check(&self) -> anyhow::Result<()> {
        if let Some(units) = &self.units {
            units.check("units")?;
        }
        self.receipt.check()
    }
}

impl Receipt {
    fn check(&self) -> anyhow::Result<()> {
        self.attempts.check("attempts")?;
        self.reasons.check("reasons")?;
        if let Some(archive) = &self.archive {
            archive.check("archive")?;
        }
        self.repairs.check("repairs")?;
        self.originals.check("originals")?;
        self.violations.check("violations")?;
        self.stages.check("stages")?;
        self.attempts.iter().try_for_each(Attempt::check)
    }
}

impl Attempt {
    fn check(&self) -> anyhow::Result<()> {
        if let Some(component) = &self.component {
            component.permissions.check("permissions")?;
        }
        for (name, members) in [
            ("fault", &self.result.fault),
            ("failure", &self.result.failure),
        ] {
            if let Some(members) = members {
                members.check(name)?;
            }
        }
        self.metrics.check("metrics")
    }
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
    let shape = match serde_json::from_slice::<Shape>(bytes) {
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
        (Some(Head::Receipt(version)), _) => {
            check_version(file, version)?;
            let run: Run = exactly(file, "the run", bytes)?;
            bounded(file, run.check())?;
            Ok(Source::Run(Box::new(run)))
        }
        (Some(Head::Version(version)), _) => {
            check_version(file, version)?;
            let receipt: Receipt = exactly(file, "the receipt", bytes)?;
            bounded(file, receipt.check())?;
            Ok(Source::Run(Box::new(Run {
                receipt,
                units: None,
            })))
        }
        (None, Some(_)) if shape.conversations.is_some() => {
            let evaluation: Evaluation = exactly(file, "the evaluation", bytes)?;
            bounded(file, evaluation.check())?;
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

/// Adds the file name to an error about a list that is too long, or about a value that baler never writes.
fn bounded(file: &Path, checked: anyhow::Result<()>) -> anyhow::Result<()> {
    checked.with_context(|| {
        format!(
            "`{}` cannot be shown, because baler did not write it in this form",
            file.display()
        )
    })
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
