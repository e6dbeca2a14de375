//! Reading a conversation.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;
use std::thread;

use anyhow::{Context as _, anyhow};
use baler_host::{Conversation, Host, Tokenizer, Violation};
use serde::Deserialize;

use crate::exit::Failure;
use crate::figures;
use crate::output::{self, FAINT, styled};

/// The most bytes of a conversation. No model takes nearly as much; a file of this size is the
/// wrong one.
const LIMIT: u64 = 1 << 30;

/// The most broken rules that are told one by one.
const VIOLATIONS: usize = 20;

/// Reads the bytes of a conversation from a file, or from standard input.
pub(crate) fn read(file: Option<&Path>, command: &str) -> Result<Vec<u8>, Failure> {
    let bytes = match file.filter(|file| *file != Path::new("-")) {
        Some(file) => from_file(file).with_context(|| {
            format!(
                "cannot read `{}`; name a readable file, or `-` for standard input",
                file.display()
            )
        }),
        None if file.is_none() && io::stdin().is_terminal() => {
            return Err(Failure::wrong_use(anyhow!(
                "no conversation: name its file, or pipe it in\n\nUsage: baler {command} [OPTIONS] [FILE]\n\nFor more, try `baler {command} --help`."
            )));
        }
        None => limited(io::stdin().lock()).context("cannot read standard input"),
    };
    bytes.map_err(Failure::wrong_input)
}

fn from_file(file: &Path) -> anyhow::Result<Vec<u8>> {
    let metadata = fs::metadata(file)?;
    if metadata.is_dir() {
        return Err(anyhow!("it is a folder"));
    }
    if metadata.len() > LIMIT {
        return Err(too_large());
    }
    limited(File::open(file)?)
}

fn limited(source: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LIMIT {
        return Err(too_large());
    }
    Ok(bytes)
}

fn too_large() -> anyhow::Error {
    anyhow!(
        "it has more than {}, which no model's context window holds; give one request at a time",
        figures::bytes(LIMIT)
    )
}

/// Unpacks the vocabulary that will count `document`, beside other work.
pub(crate) fn warm_up(chosen: Option<&Tokenizer>, document: &[u8]) {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow, default)]
        model: Cow<'a, str>,
    }
    let tokenizer = chosen.cloned().unwrap_or_else(|| {
        // A bare list of messages names no model; and what is wrong is told by who reads it.
        let head = serde_json::from_slice::<Head<'_>>(document).ok();
        Tokenizer::for_model(head.as_ref().map_or("", |head| &head.model))
    });
    // Nobody waits for it: who counts first waits for the vocabulary.
    drop(thread::spawn(move || tokenizer.warm_up()));
}

/// The conversation in `document`.
pub(crate) fn conversation(host: &Host, document: Vec<u8>) -> Result<Conversation, Failure> {
    host.read_bytes(document).map_err(|error| {
        // A key or name in the message may be the document's own.
        Failure::wrong_input(anyhow!("{}", figures::cleaned(&error.to_string())))
    })
}

/// Tells which rules of its format a conversation breaks, and what to do about each.
pub(crate) fn tell_violations(conversation: &Conversation) {
    let violations = conversation.violations();
    let mut text = format!(
        "the conversation breaks rules of {} at {}; nothing was done",
        conversation.format(),
        figures::count(violations.len(), "place")
    );
    for violation in violations.iter().take(VIOLATIONS) {
        text.push_str(&told(violation));
    }
    if violations.len() > VIOLATIONS {
        text.push_str(&format!(
            "\n  … and {} more",
            figures::number((violations.len() - VIOLATIONS) as u64)
        ));
    }
    output::error(&text);
}

fn told(violation: &Violation) -> String {
    format!(
        "\n  {}\n    {}",
        figures::cleaned(&violation.to_string()),
        styled(FAINT, &format!("→ {}", violation.rule.remedy()))
    )
}
