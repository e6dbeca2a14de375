//! `scripted STEPS WINDOW TASK [LINES [CALLS]]`: plays a session on a free port, and prints what it has seen when it is told to end.

#![expect(clippy::print_stdout, reason = "it speaks to scripts")]

use anyhow::Context as _;
use baler_scripted::{Provider, Script};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: scripted STEPS WINDOW TASK [LINES [CALLS]]";
    let number = |place: usize| arguments.get(place).and_then(|text| text.parse().ok());
    let script = Script {
        steps: number(0).context(usage)?,
        window: number(1)
            .and_then(|window: usize| u32::try_from(window).ok())
            .context(usage)?,
        task: arguments.get(2).context(usage)?.clone(),
        lines: number(3).unwrap_or(60),
        calls: number(4).unwrap_or(1),
    };
    let provider = Provider::bind(script, "127.0.0.1:0".parse()?)?;
    let seen = provider.seen();
    println!("http://{}", provider.address());
    let mut end = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    provider
        .serve(async { end.recv().await.map_or((), |()| ()) })
        .await;
    println!("{}", serde_json::to_string_pretty(&seen.report())?);
    Ok(())
}
