//! Requests that were recorded with the status of their answers, and what baler says about them.
//!
//! A folder of requests holds a file for each body, and `INDEX.tsv` with a line for each: file, status of the
//! answer, address, bytes, name of the recording, kinds of blocks. The first three have to be there.

mod address;
mod exceptions;
mod tally;

pub use exceptions::{EXCEPTIONS, Exception};
pub use tally::Tally;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use baler_conversation::rules::{Rule, Severity};
use baler_conversation::{Format, ReadError, ReadOptions, Reader, SecretKey};

use address::{Address, names_anthropic};

const INDEX: &str = "INDEX.tsv";

/// A recorded request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The name of its folder, `/`, and that of its file.
    pub name: String,
    /// The status of the answer.
    pub status: u16,
    /// The address that it was sent to.
    pub address: String,
    /// The name of the recording; empty if the index has none.
    pub recording: String,
    path: PathBuf,
}

/// What baler says about a request.
#[derive(Debug)]
pub enum Verdict {
    /// The request was read, and breaks these rules.
    Read {
        /// Rules that are broken as errors.
        errors: BTreeSet<Rule>,
        /// Rules that are broken as warnings.
        warnings: BTreeSet<Rule>,
    },
    /// baler reads the format, but not this request.
    Unread(ReadError),
    /// baler does not read requests of this kind, for the given reason.
    Apart(&'static str),
}

/// Validates all requests of a folder and of its sub-folders.
///
/// # Errors
/// A file cannot be read, an index has a line of another form, or there is no index.
pub fn validate(folder: &Path) -> anyhow::Result<Tally> {
    let reader = Reader::new(SecretKey::random().context("cannot get random bytes")?);
    let mut tally = Tally::default();
    for request in requests(folder)? {
        let verdict = verdict(&reader, &request)?;
        tally.add(&request, verdict);
    }
    Ok(tally)
}

fn requests(folder: &Path) -> anyhow::Result<Vec<Request>> {
    let shown = folder.display();
    let mut folders = Vec::new();
    for entry in folder
        .read_dir()
        .with_context(|| format!("cannot read the folder {shown}"))?
    {
        let path = entry
            .with_context(|| format!("cannot read the folder {shown}"))?
            .path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.push(folder.to_owned());
    folders.sort();
    let mut requests = Vec::new();
    for folder in folders.iter().filter(|own| own.join(INDEX).is_file()) {
        requests.extend(indexed(folder)?);
    }
    ensure!(
        !requests.is_empty(),
        "found no requests in {shown}; expected an {INDEX} in it, or in folders in it"
    );
    Ok(requests)
}

/// Reads the index of one folder.
fn indexed(folder: &Path) -> anyhow::Result<Vec<Request>> {
    let path = folder.join(INDEX);
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(index, line)| {
            request(folder, line).with_context(|| format!("{}, line {}", path.display(), index + 1))
        })
        .collect()
}

fn request(folder: &Path, line: &str) -> anyhow::Result<Request> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [file, status, address, rest @ ..] = columns.as_slice() else {
        bail!(
            "expected a file, a status and an address between tabs; found columns: {}",
            columns.len()
        );
    };
    let set = folder.file_name().unwrap_or_default().to_string_lossy();
    Ok(Request {
        name: format!("{set}/{file}"),
        status: status
            .parse()
            .with_context(|| format!("expected a status such as 200; found: {status}"))?,
        address: (*address).to_owned(),
        recording: rest.get(1).copied().unwrap_or_default().to_owned(),
        path: folder.join(file),
    })
}

fn verdict(reader: &Reader, request: &Request) -> anyhow::Result<Verdict> {
    let body = std::fs::read(&request.path)
        .with_context(|| format!("cannot read {}", request.path.display()))?;
    let format = match address::of(&request.address) {
        Address::Of(format) => Some(format),
        Address::Unknown => None,
        Address::Model if names_anthropic(&body) => Some(Format::Anthropic),
        Address::Model => return Ok(Verdict::Apart("a body in the format of its model")),
        Address::Apart(reason) => return Ok(Verdict::Apart(reason)),
    };
    let options = ReadOptions::default().with_format(format);
    Ok(match reader.read_with(body, options) {
        Ok(conversation) => {
            let counts = conversation.violation_counts();
            let broken = |severity: Severity| -> BTreeSet<Rule> {
                let rules = counts.rules.iter();
                rules
                    .filter(|own| own.of(severity) > 0)
                    .map(|own| own.rule)
                    .collect()
            };
            Verdict::Read {
                errors: broken(Severity::Error),
                warnings: broken(Severity::Warning),
            }
        }
        Err(_) if format.is_none() => Verdict::Apart("an unknown format"),
        Err(ReadError::NoMessages { .. }) => Verdict::Apart("no messages"),
        Err(ReadError::Empty | ReadError::NotUtf8 { .. } | ReadError::NotJson { .. }) => {
            Verdict::Apart("no JSON")
        }
        Err(error) => Verdict::Unread(error),
    })
}
