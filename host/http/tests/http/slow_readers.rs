use std::time::Duration;

use baler_http::ServerLimits;
use tokio::io::AsyncReadExt as _;

use crate::support::{ask_without_reading, figure, get, post, serve, until};

const HOURS: Duration = Duration::from_secs(10_000);

#[tokio::test]
async fn clients_that_do_not_read_lose_their_connections() {
    let server = serve(|builder| {
        builder.with_echo().limits(ServerLimits {
            connections: 2,
            write_stall: Duration::from_millis(300),
            write_time: HOURS,
            ..ServerLimits::default()
        })
    })
    .await;
    let mut idle = Vec::new();
    for _ in 0..2 {
        idle.push(ask_without_reading(&server, "/v1/echo", &" ".repeat(8 << 20)).await);
    }
    assert_eq!(
        get(&server, "/healthz").await.status,
        200,
        "another client is served"
    );
}

#[tokio::test]
async fn client_that_reads_too_slowly_loses_its_connection() {
    let server = serve(|builder| {
        builder.with_echo().limits(ServerLimits {
            connections: 1,
            write_stall: HOURS,
            write_time: Duration::from_secs(1),
            ..ServerLimits::default()
        })
    })
    .await;
    let mut slow = ask_without_reading(&server, "/v1/echo", &" ".repeat(8 << 20)).await;
    let trickle = tokio::spawn(async move {
        while matches!(slow.read(&mut [0; 64]).await, Ok(1..)) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    assert_eq!(
        get(&server, "/healthz").await.status,
        200,
        "another client is served"
    );
    trickle.abort();
}

#[tokio::test]
async fn response_counts_as_memory_until_it_is_read() {
    let server = serve(|builder| {
        builder.with_echo().limits(ServerLimits {
            buffered_bytes: 3 << 20,
            write_stall: HOURS,
            write_time: HOURS,
            ..ServerLimits::default()
        })
    })
    .await;
    let large = "abc ".repeat(1 << 19);
    let conversation = format!(
        r#"{{"conversation":[{{"role":"user","content":"{large}"}}],"budget":4000000000}}"#
    );
    for (path, body) in [("/v1/echo", &large), ("/v1/compact", &conversation)] {
        let mut unread = ask_without_reading(&server, path, body).await;
        let mut begin = [0; 12];
        unread.read_exact(&mut begin).await.expect("an answer");
        assert_eq!(&begin, b"HTTP/1.1 200", "{path}");
        assert_eq!(figure(&server, "baler_running").await, 0, "{path}");
        let refused = post(&server, path, body).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (503, "overloaded"),
            "{path}"
        );
        drop(unread);
        until(async || figure(&server, "baler_buffered_bytes").await == 0).await;
        let answer = post(&server, path, body).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.body.contains(&large), "{path}");
    }
}

#[tokio::test]
async fn response_that_is_read_releases_its_memory() {
    let server = serve(|builder| builder.with_echo()).await;
    let body = " ".repeat(4 << 20);
    // The connection stays open.
    let mut stream = ask_without_reading(&server, "/v1/echo", &body).await;
    until(async || figure(&server, "baler_buffered_bytes").await >= body.len()).await;
    // The response with its head is longer, but its rest is in the system's buffers by then.
    let mut answer = vec![0; body.len() + 64];
    stream.read_exact(&mut answer).await.expect("an answer");
    until(async || figure(&server, "baler_buffered_bytes").await == 0).await;
}
