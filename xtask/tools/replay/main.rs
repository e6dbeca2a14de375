//! What a proxy saves in recorded sessions, and what it keeps of them: each session is sent again, request by request, to a
//! provider that counts what its cache serves: as it is, through `baler proxy`, and through CliffCompaction.
//!
//! `cargo xtask replay [CORPUS] [--cliff FOLDER [--python PROGRAM]]`

mod cliff;
mod session;
mod table;
mod upstream;
mod way;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use baler_corpus::Corpus;
use baler_host::serve_as_compiler;
use clap::Parser;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use cliff::Package;
use session::Session;
use table::Row;
use way::Ways;

/// Replays recorded sessions through proxies, and counts what a provider would bill.
#[derive(Debug, Parser)]
struct Arguments {
    /// Folder of recorded conversations [default: $BALER_CORPUS, else ../shared/data]
    corpus: Option<PathBuf>,
    /// Folder with the Python package `cliffcompaction`; without it, only baler is measured
    #[arg(long)]
    cliff: Option<PathBuf>,
    /// A Python that has httpx, starlette and uvicorn
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Tokens from which on a request is compacted. Sessions of twice as many and more take part
    #[arg(long, default_value_t = 30_000)]
    at: u32,
    /// Tokens that a request has then, through baler
    #[arg(long, default_value_t = 15_000)]
    budget: u32,
}

fn main() -> anyhow::Result<ExitCode> {
    // Components are compiled in a child: this program, run once more.
    if let Some(done) = serve_as_compiler() {
        return Ok(done);
    }
    let arguments = Arguments::parse();
    tokio::runtime::Runtime::new()?.block_on(run(arguments))?;
    Ok(ExitCode::SUCCESS)
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let folder = arguments.corpus.unwrap_or_else(baler_corpus::folder);
    let corpus = Corpus::read(&folder).with_context(|| {
        format!(
            "expected a folder with recorded conversations, found nothing at {}; name one, or set BALER_CORPUS",
            folder.display()
        )
    })?;
    let cliff = arguments.cliff.map(|folder| Package {
        folder,
        python: arguments.python,
    });
    match &cliff {
        Some(package) => package.check()?,
        None => anstream::eprintln!("CliffCompaction is left out: name its folder by --cliff"),
    }
    let ways = Arc::new(Ways::new(cliff, arguments.at, arguments.budget).await?);
    let sessions = Session::all(&ways.host, &corpus, arguments.at.saturating_mul(2))?;
    drop(corpus);
    let rows = replay(&ways, sessions).await?;
    anstream::println!(
        "{} sessions of {} tokens and more, compacted from {} tokens on: by baler to {}, by CliffCompaction as it does.\n\
         A window of {} tokens would have ended a session at the request that is named.\n\n{}\n\
         The same, by baler to the mean size that CliffCompaction compacts to in that session, where it gets below the trigger. What is still there is measured at \
         ten requests of each session.\n\n{}",
        rows.len(),
        arguments.at.saturating_mul(2),
        arguments.at,
        arguments.budget,
        ways.window(),
        table::costs(&rows),
        table::kept(&rows)
    );
    Ok(())
}

/// Replays sessions, as many at once as there are processors. Their order stays.
async fn replay(ways: &Arc<Ways>, sessions: Vec<Session>) -> anyhow::Result<Vec<Row>> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let slots = Arc::new(Semaphore::new(processors));
    let mut running = JoinSet::new();
    for (place, session) in sessions.into_iter().enumerate() {
        let (ways, slots) = (Arc::clone(ways), Arc::clone(&slots));
        running.spawn(async move {
            let _slot = slots.acquire().await?;
            let row = ways.all(&session).await;
            let row = row.with_context(|| session.name.clone())?;
            anstream::eprintln!("{}: {} requests", row.name, row.none.len());
            anyhow::Ok((place, row))
        });
    }
    let mut rows = Vec::new();
    while let Some(row) = running.join_next().await {
        rows.push(row??);
    }
    rows.sort_by_key(|(place, _)| *place);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}
