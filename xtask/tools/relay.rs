//! What a proxy adds: to a request that needs no compaction, to one that is compacted, and to 500 streams at once. Beside
//! each figure stands that of the same client without the proxy.
//!
//! `cargo xtask relay`

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, header};
use baler_generated::{Choices, Kind};
use baler_host::{Compiler, Host, serve_as_compiler, view::Window};
use baler_http::Listener;
use baler_models::clients::connections;
use baler_proxy::{Action, Exchange, Proxy, Upstreams};
use http_body_util::BodyExt as _;

#[path = "soak/latency.rs"]
mod latency;
use latency::Latencies;

/// How often as many streams are opened.
const ROUNDS: usize = 12;

const REQUESTS: usize = 1_000;
const STREAMS: usize = 500;
const PIECES: usize = 20;

fn main() -> anyhow::Result<std::process::ExitCode> {
    // Components are compiled in a child: this program, run once more.
    if let Some(done) = serve_as_compiler() {
        return Ok(done);
    }
    tokio::runtime::Runtime::new()?.block_on(run())?;
    Ok(std::process::ExitCode::SUCCESS)
}

/// Starts an upstream that reads a request and says something, slowly if its path has `slow`.
fn upstream() -> anyhow::Result<SocketAddr> {
    let listener = Listener::bind("127.0.0.1:0".parse()?, None)?;
    let address = listener.address();
    let router = Router::new().fallback(async |request: Request<Body>| {
        let is_slow = request.uri().path().contains("slow");
        let _ = request.into_body().collect().await;
        let (send, receive) = tokio::sync::mpsc::channel(1);
        tokio::spawn(async move {
            for _ in 0..PIECES {
                let piece = "data: {\"choices\": [{\"delta\": {\"content\": \"wind\"}}]}\n\n";
                if send.send(piece).await.is_err() {
                    break;
                }
                if is_slow {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        });
        let mut response = Response::new(events(receive));
        let events = HeaderValue::from_static("text/event-stream");
        response.headers_mut().insert(header::CONTENT_TYPE, events);
        response
    });
    tokio::spawn(listener.serve(router, Proxy::limits(), std::future::pending()));
    Ok(address)
}

fn events(mut receive: tokio::sync::mpsc::Receiver<&'static str>) -> Body {
    let pieces = futures_util::stream::poll_fn(move |context| receive.poll_recv(context));
    let frames = futures_util::StreamExt::map(pieces, |piece| {
        Ok::<_, std::convert::Infallible>(http_body::Frame::data(piece.into()))
    });
    Body::new(http_body_util::StreamBody::new(frames))
}

/// A conversation of about this many bytes that ends with a question of its own.
fn conversation(bytes: usize) -> String {
    let mut messages = 16;
    loop {
        let made =
            baler_generated::conversation(Kind::OpenAiChat, messages, &mut Choices::from_seed(7));
        if made.document().len() >= bytes {
            return made.document().to_owned();
        }
        messages += messages / 4;
    }
}

async fn run() -> anyhow::Result<()> {
    let upstream = upstream()?;
    let exchanges: Arc<Mutex<Vec<Exchange>>> = Arc::default();
    let proxy = async |at: u32| -> anyhow::Result<SocketAddr> {
        let host = Arc::new(Host::builder().compiler(Compiler::ThisProgram).build()?);
        let wasm = baler_strategies::by_name("tiered")
            .context("it ships with baler")?
            .wasm;
        let tiered = host.load("tiered", wasm).await?;
        let window = Window::new(host, [tiered], at, at / 2)?;
        let upstreams = Upstreams::default().with(format!("openai=http://{upstream}").parse()?);
        let told = Arc::clone(&exchanges);
        let builder = Proxy::builder(window, upstreams).on_exchange(move |exchange| {
            if let Ok(mut told) = told.lock() {
                told.push(exchange);
            }
        });
        let proxy = builder.bind("127.0.0.1:0".parse()?)?;
        let address = proxy.address();
        tokio::spawn(proxy.serve(std::future::pending()));
        Ok(address)
    };

    let body = conversation(200_000);
    let idle = proxy(10_000_000).await?;
    anstream::println!(
        "first byte of the answer to a request of {} KB that needs no compaction, {REQUESTS} one after the other",
        body.len() / 1_000
    );
    for (name, address) in [
        ("direct", upstream),
        ("proxy", idle),
        ("direct", upstream),
        ("proxy", idle),
    ] {
        anstream::println!("  {name:8} {}", first_bytes(address, &body).await?);
    }
    // With a view in memory every request is read and compared.
    let busy = proxy(40_000).await?;
    anstream::println!("the same with a session that was compacted before");
    for (name, address) in [("direct", upstream), ("proxy", busy)] {
        anstream::println!("  {name:8} {}", first_bytes(address, &body).await?);
    }

    anstream::println!(
        "{STREAMS} streams at once, of {PIECES} pieces in {} s",
        PIECES / 10
    );
    for (name, address) in [("direct", upstream), ("proxy", idle)] {
        let before = resident();
        let (time, most) = streams(address).await?;
        // What stays after the first time, and no more after the others, is kept for the next.
        let mut after = vec![resident().to_string()];
        for _ in 1..ROUNDS {
            streams(address).await?;
            after.push(resident().to_string());
        }
        anstream::println!(
            "  {name:8} {:.2} s, {most} MiB at the most, {before} MiB before, then each time {} MiB",
            time.as_secs_f64(),
            after.join(", ")
        );
    }

    anstream::println!("a request that is compacted, by `tiered`");
    for megabytes in [1, 2, 4] {
        let body = conversation(megabytes << 20);
        for try_number in 0..5 {
            // Another session each time.
            let body = body.replacen("content\":\"", &format!("content\":\"{try_number} "), 1);
            ask(&client()?, busy, "v1", body.clone()).await?;
        }
        let told = exchanges.lock().ok().context("no panic")?;
        let last = told.iter().rev().take(5);
        let mut times: Vec<u64> = last
            .clone()
            .filter(|one| one.action == Action::Compacted)
            .map(|one| one.added_us)
            .collect();
        ensure!(
            !times.is_empty(),
            "nothing was compacted: {:?}",
            last.map(|one| (&one.why, one.tokens)).collect::<Vec<_>>()
        );
        times.sort_unstable();
        let median = times[times.len() / 2] as f64 / 1_000.0;
        anstream::println!(
            "  {:.1} MB: {median:.1} ms, {:.1} ms per MB",
            body.len() as f64 / 1e6,
            median / (body.len() as f64 / 1e6)
        );
    }
    Ok(())
}

fn client() -> anyhow::Result<reqwest::Client> {
    Ok(connections(&"http://127.0.0.1:9".parse()?, false)?
        .pool_max_idle_per_host(1_000)
        .build()?)
}

async fn ask(
    client: &reqwest::Client,
    address: SocketAddr,
    path: &str,
    body: String,
) -> anyhow::Result<()> {
    let mut answer = client
        .post(format!("http://{address}/{path}/chat/completions"))
        .body(body)
        .send()
        .await?;
    ensure!(answer.status().is_success(), "{}", answer.status());
    while answer.chunk().await?.is_some() {}
    Ok(())
}

async fn first_bytes(address: SocketAddr, body: &str) -> anyhow::Result<String> {
    let client = client()?;
    let mut latencies = Latencies::default();
    for number in 0..REQUESTS {
        let body = body.replacen(
            "\"messages\"",
            &format!("\"user\":\"{number}\",\"messages\""),
            1,
        );
        let begin = Instant::now();
        let mut answer = client
            .post(format!("http://{address}/v1/chat/completions"))
            .body(body)
            .send()
            .await?;
        answer.chunk().await?.context("an answer")?;
        latencies.add(begin.elapsed());
        while answer.chunk().await?.is_some() {}
    }
    let mut sorted = Latencies::default();
    sorted.join(latencies);
    Ok(sorted.to_string())
}

async fn streams(address: SocketAddr) -> anyhow::Result<(Duration, usize)> {
    let client = client()?;
    let body = conversation(20_000);
    let begin = Instant::now();
    let all: Vec<_> = (0..STREAMS)
        .map(|_| {
            let (client, body) = (client.clone(), body.clone());
            tokio::spawn(async move { ask(&client, address, "v1/slow", body).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let most = resident();
    for one in all {
        one.await??;
    }
    Ok((begin.elapsed(), most))
}

/// Memory of this process in MiB, where the system tells.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    kib.unwrap_or(0) >> 10
}
