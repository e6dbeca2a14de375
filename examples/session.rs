//! A session of an agent, sent twice: as it is, and through `baler_proxy`. `cargo run --example session`
//!
//! The model is a script (`tests/scripted`), with a window that is too small for the session: it wants one command run after
//! the other, checks the rules of its wire format and that each output came back, and counts what its cache would serve.

#![expect(clippy::print_stdout, reason = "it is an example")]

use std::sync::{Arc, Mutex};

use baler_host::view::Window;
use baler_host::{Format, Host, Strategy};
use baler_proxy::{Action, Exchange, Proxy, Upstreams};
use baler_scripted::{Provider, Report, Script};

const TASK: &str = "never move cask-00000";
const STEPS: usize = 120;
const WINDOW: u32 = 20_000;

/// Lets the agent work through a proxy that compacts, or only looks on.
async fn session(
    is_shadow: bool,
) -> anyhow::Result<(Vec<Exchange>, Report, anyhow::Result<usize>)> {
    let anywhere = "127.0.0.1:0".parse()?;
    let script = Script {
        steps: STEPS,
        calls: 1,
        window: WINDOW,
        task: TASK.to_owned(),
        lines: 40,
    };
    let provider = Provider::bind(script, anywhere)?;
    let upstream = format!("anthropic=http://{}", provider.address());
    let seen = provider.seen();
    tokio::spawn(provider.serve(std::future::pending()));

    let host = Arc::new(Host::builder().build()?);
    let window = Window::new(host, [Strategy::digest()], WINDOW * 8 / 10, WINDOW * 4 / 10)?;
    let exchanges: Arc<Mutex<Vec<Exchange>>> = Arc::default();
    let told = Arc::clone(&exchanges);
    let proxy = Proxy::builder(window, Upstreams::default().with(upstream.parse()?))
        .shadow(is_shadow)
        .on_exchange(move |exchange| {
            if let Ok(mut told) = told.lock() {
                told.push(exchange);
            }
        })
        .bind(anywhere)?;
    let url = format!("http://{}/anthropic", proxy.address());
    tokio::spawn(proxy.serve(std::future::pending()));

    let task = format!("Count what all cellars hold, one after the other, and {TASK}.");
    let worked = baler_scripted::work(&url, Format::Anthropic, &task, STEPS + 1).await;
    let exchanges = exchanges
        .lock()
        .map(|told| told.clone())
        .unwrap_or_default();
    Ok((exchanges, seen.report(), worked))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let (direct, _, direct_end) = session(true).await?;
    let (through, report, end) = session(false).await?;
    println!("a model with a window of {WINDOW} tokens\n");
    println!("turn   direct                  through baler");
    for (turn, exchange) in through.iter().enumerate() {
        let before = direct.get(turn);
        let is_last = turn + 1 == through.len();
        let is_refused = before.is_some_and(|before| before.status != 200);
        let is_compacted = exchange.action == Action::Compacted;
        if !(turn % 20 == 0 || is_compacted || is_refused || is_last) {
            continue;
        }
        let direct = match before {
            Some(before) if is_refused => format!("{:>6} tokens: refused", before.tokens[0]),
            Some(before) => format!("{:>6} tokens", before.tokens[0]),
            None => "     -".to_owned(),
        };
        let [came, sent] = exchange.tokens;
        let through = if is_compacted {
            format!("{came:>6} tokens → {sent}, compacted")
        } else {
            format!("{sent:>6} tokens")
        };
        println!("{:>4}   {direct:<22}  {through}", turn + 1);
    }
    println!();
    let outcome = |ended: &anyhow::Result<usize>| match ended {
        Ok(_) => "the model ended the session".to_owned(),
        Err(_) => "the session broke off".to_owned(),
    };
    println!("direct:         {}", outcome(&direct_end));
    println!(
        "through baler:  {}; {} of {STEPS} outputs came back, {} requests were refused, {} lacked the task;\n                {:.0} % of the tokens between compactions came from the cache",
        outcome(&end),
        report.steps,
        report.refused.len() + report.too_long,
        report.without_task,
        report.cached_share * 100.0,
    );
    Ok(())
}
