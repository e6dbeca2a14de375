//! The load that `baler serve` handles: 200 requests of 200 KB at once, compared with a route that only
//! returns the body; and how a hostile strategy affects the clients of other strategies.
//!
//! `cargo xtask load`

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use baler_host::{Compiler, Host, serve_as_compiler, strategy::EngineLimits};
use baler_http::{Server, ServerLimits};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[path = "soak/latency.rs"]
mod latency;
use latency::Latencies;

/// Requests that come at once.
const REQUESTS: usize = 200;

/// Requests that come one after another: enough for a second or more, so that a hostile one is
/// seen from its begin to its end.
const IN_TURN: usize = 2_000;

/// Bytes of a conversation.
const BYTES: usize = 200_000;

fn main() -> anyhow::Result<ExitCode> {
    // Components are compiled in a child: this program, run once more.
    if let Some(done) = serve_as_compiler() {
        return Ok(done);
    }
    let runtime = tokio::runtime::Runtime::new()?;
    let done = runtime.block_on(run());
    runtime.shutdown_timeout(Duration::from_secs(3));
    done.map(|()| ExitCode::SUCCESS)
}

async fn run() -> anyhow::Result<()> {
    let limits = ServerLimits {
        // Half of it is for one strategy.
        waiting: 2 * REQUESTS,
        ..ServerLimits::default()
    };
    let calls = u32::try_from(limits.concurrency)?;
    let host = Host::builder()
        .compiler(Compiler::ThisProgram)
        .limits(
            EngineLimits::default()
                .with_concurrent_calls(calls)
                // It would rest after three faults, and there would be nothing to measure.
                .with_faults(u32::MAX),
        )
        .build()?;
    let window = baler_strategies::by_name("sliding-window").context("it ships with baler")?;
    let window = host.load("sliding-window", window.wasm).await?;
    let hostile = host
        .load("hostile", baler_hostile_guests::LOOP_FOREVER.wasm)
        .await?;
    let server = Server::builder(host)
        .offers(vec![window, hostile])
        .limits(limits)
        .with_echo()
        .bind("127.0.0.1:0".parse()?)
        .await?;
    let address = server.address();
    tokio::spawn(server.serve(std::future::pending()));

    anstream::println!(
        "{} cores, {} requests run at once; bodies of {} KB; times in ms\n",
        std::thread::available_parallelism().map_or(0, usize::from),
        limits.concurrency,
        BYTES / 1_000
    );
    // The vocabulary is unpacked once.
    measure(address, "/v1/compact", &body("native:digest"), 1, 1).await?;
    anstream::println!("{REQUESTS} at once              per second      p50      p99");
    let at_once = [
        ("/v1/echo", "native:digest", "echo"),
        ("/v1/compact", "native:digest", "native:digest"),
        ("/v1/compact", "sliding-window", "sliding-window"),
    ];
    for (path, strategy, name) in at_once {
        tell(
            name,
            &measure(address, path, &body(strategy), REQUESTS, REQUESTS).await?,
        );
    }
    anstream::println!("\n{IN_TURN} by 2 clients, in turn       per second      p50      p99");
    for (beside, hostile_clients) in [
        ("alone", 0),
        ("1 hostile beside", 1),
        ("2 hostile beside", 2),
    ] {
        let end = Arc::new(AtomicBool::new(false));
        let hostile: Vec<_> = (0..hostile_clients)
            .map(|_| tokio::spawn(attack(address, end.clone())))
            .collect();
        for strategy in ["native:digest", "sliding-window"] {
            let times = measure(address, "/v1/compact", &body(strategy), IN_TURN, 2).await?;
            tell(&format!("{strategy}, {beside}"), &times);
        }
        end.store(true, Ordering::Relaxed);
        let mut attacks = 0;
        for client in hostile {
            attacks += client.await??;
        }
        if hostile_clients > 0 {
            anstream::println!("  ({attacks} hostile requests were cut off meanwhile)");
        }
    }
    Ok(())
}

/// Sends requests that loop until they are cut off, one after another.
async fn attack(address: SocketAddr, end: Arc<AtomicBool>) -> anyhow::Result<u32> {
    let body = body("hostile");
    let mut attacks = 0;
    while !end.load(Ordering::Relaxed) {
        let answer = ask(address, "/v1/compact", &body).await?;
        ensure!(
            answer.contains("\"timeout\"") || answer.contains("out-of-fuel"),
            "it was not cut off"
        );
        attacks += 1;
    }
    Ok(attacks)
}

/// `requests` requests by `clients` clients, each of which sends its next when it has its answer. Returns how long all of them
/// took, and each.
async fn measure(
    address: SocketAddr,
    path: &'static str,
    body: &str,
    requests: usize,
    clients: usize,
) -> anyhow::Result<(Duration, Latencies)> {
    let body: Arc<str> = body.into();
    let start = Instant::now();
    let clients: Vec<_> = (0..clients)
        .map(|_| {
            let body = body.clone();
            tokio::spawn(async move {
                let mut times = Latencies::default();
                for _ in 0..requests / clients {
                    let start = Instant::now();
                    let answer = ask(address, path, &body).await?;
                    ensure!(answer.starts_with("HTTP/1.1 200"), "{:.200}", answer);
                    times.add(start.elapsed());
                }
                anyhow::Ok(times)
            })
        })
        .collect();
    let mut each = Latencies::default();
    for client in clients {
        each.join(client.await??);
    }
    Ok((start.elapsed(), each))
}

fn tell(name: &str, (whole, each): &(Duration, Latencies)) {
    let rate = each.calls() as f64 / whole.as_secs_f64();
    let [median, p99] = [each.quantile(0.5), each.p99()].map(|time| time.as_secs_f64() * 1e3);
    anstream::println!("  {name:<32} {rate:>6.0} {median:>8.1} {p99:>8.1}");
}

async fn ask(address: SocketAddr, path: &str, body: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

/// A request for half of a conversation of an agent that reads files.
fn body(strategy: &str) -> String {
    let mut messages = vec![
        json!({"role": "user", "content": "Mend the parser of the tariff tables; never touch vendor/."}),
    ];
    let mut bytes = 0;
    for step in 0.. {
        let id = format!("c{step}");
        let lines: String = (0..60)
            .map(|line| {
                format!("{line:>4} | let column_{line} = parse(&input[{step}..{line}])?;\n")
            })
            .collect();
        bytes += lines.len() + 300;
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": {"name": "read", "arguments": json!({"path": format!("src/part_{step}.rs")}).to_string()}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": lines}));
        if bytes > BYTES {
            break;
        }
    }
    messages.push(json!({"role": "user", "content": "Now run the whole suite, please."}));
    json!({"strategy": strategy, "budget": "50%", "conversation": {"model": "gpt-4o", "messages": messages}}).to_string()
}
