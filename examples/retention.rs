//! Measures what a strategy keeps of recorded conversations, beside truncation at equal size.
//!
//! ```text
//! cargo run --release --example retention -- [FOLDER] [--share 25] [--strategy native:digest]
//! ```
//!
//! *rules*: of the sentences in the user's messages that hold never, always, must, do not,
//! don't or only, the share that is still there word for word, in what was kept or inserted.
//! *error*: whether the last line of the tools' outputs that tells of an error is still there
//! word for word. Both are means over conversations; those in which there is nothing to
//! measure are left out of the mean and counted.
//!
//! The budget is the overhead and a share of the tokens of all other units. Where what must
//! stay is already larger than that (*floor*), no strategy decides anything: such conversations
//! count, and figures without them stand below. Prints counts and ratios, never text.

#![allow(clippy::print_stdout)]

#[path = "retention/measure.rs"]
mod measure;
#[path = "retention/table.rs"]
mod table;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use baler_corpus::Recorded;
use baler_host::{Budget, Format, Host, Outcome, Request, SecretKey, Strategy};

use table::{Case, Result, Table};

/// The same key each time: seals differ in tokens, and so would the figures.
const KEY: SecretKey = SecretKey::new([0; 32]);

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let (folder, share, name) = arguments()?;
    let Some(recorded) = baler_corpus::conversations_in(&folder) else {
        println!(
            "no recorded conversations: there is no folder {}",
            folder.display()
        );
        return Ok(());
    };
    let strategy = Strategy::native(&name).with_context(|| {
        format!(
            "no strategy is called `{name}`; known: {}",
            Strategy::NATIVE.join(", ")
        )
    })?;
    let mut measured = Table::new(&name, share);
    let mut baseline = Table::new("native:truncate", share);
    for one in &recorded {
        let format: Format = one.format.parse().map_err(anyhow::Error::msg)?;
        let host = Host::builder().key(KEY).format(format).build()?;
        measured.add(case(&host, one, &strategy, share).await?);
        baseline.add(case(&host, one, &Strategy::truncate(), share).await?);
    }
    measured.print();
    baseline.print();
    Ok(())
}

fn arguments() -> anyhow::Result<(PathBuf, f64, String)> {
    let (mut folder, mut share, mut name) =
        (baler_corpus::folder(), 25.0, "native:digest".to_owned());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--share" => share = words.next().context("--share takes a number")?.parse()?,
            "--strategy" => name = words.next().context("--strategy takes a name")?,
            option if option.starts_with('-') => bail!("there is no option {option}"),
            path => folder = path.into(),
        }
    }
    Ok((folder, share / 100.0, name))
}

/// Compacts one conversation and measures what is left of it.
async fn case(
    host: &Host,
    recorded: &Recorded,
    strategy: &Strategy,
    share: f64,
) -> anyhow::Result<Case> {
    let mut case = Case::new(recorded.set);
    let Ok(conversation) = host.read(recorded.document.as_str()) else {
        return Ok(case);
    };
    if !conversation.violations().is_empty() {
        return Ok(case);
    }
    let request = Request {
        budget: Budget::Share(share),
        ..Request::default()
    };
    let chain = std::slice::from_ref(strategy);
    let compaction = host.compact(&conversation, chain, &request).await?;
    let again = host.compact(&conversation, chain, &request).await?;
    let receipt = compaction.receipt();
    // The same absolute budget a second time has to change nothing.
    let same = Request {
        budget: Budget::Tokens(receipt.tokens.budget),
        ..request
    };
    let settled = host
        .compact(compaction.conversation(), chain, &same)
        .await?;
    let before = measure::Contents::of(&conversation);
    let after = measure::Contents::of(compaction.conversation());
    let rules = before.rules();
    case.result = Some(Result {
        is_changed: receipt.outcome == Outcome::Compacted,
        fell_back: receipt.fell_back,
        below_floor: receipt.tokens.below_floor,
        is_valid: compaction.conversation().violations().is_empty(),
        is_within: receipt.tokens.after <= receipt.tokens.budget.max(receipt.tokens.floor),
        is_same: again.document() == compaction.document(),
        is_settled: !settled.is_compacted(),
        before: receipt.tokens.before,
        after: receipt.tokens.after,
        rules: (!rules.is_empty()).then(|| after.share_of(&rules)),
        error: before.last_error().map(|error| after.share_of(&[error])),
        bytes: receipt.bytes.before,
        time: Duration::from_micros(
            receipt
                .attempts
                .iter()
                .map(|attempt| attempt.usage.time_us)
                .sum(),
        ),
    });
    Ok(case)
}
