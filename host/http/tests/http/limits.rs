use std::sync::Arc;
use std::time::{Duration, Instant};

use baler_http::{ServerLimits, Token};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::strategies::{leaking, slow};
use crate::support::{
    Running, compact_request, figure, get, journey, long_conversation, post, receive, send, serve,
    serve_within, until,
};

const PRIVATE: &str = "the key is under the mat";

/// A body that is invalid, with the status and the code of the response.
type InvalidBody = (String, u16, &'static str);

/// Bodies that cannot be parsed, or whose members are invalid.
fn invalid_members() -> Vec<InvalidBody> {
    [
        ("", 400, "malformed"),
        (PRIVATE, 400, "malformed"),
        (r#"{"conversation":"#, 400, "malformed"),
        ("{}", 400, "no-conversation"),
        (r#"{"conversation":null}"#, 400, "no-conversation"),
        (r#"{"the key is under the mat":1}"#, 400, "unknown-member"),
        (r#"{"messages":[],"model":"gpt-4o"}"#, 400, "unknown-member"),
        (
            r#"{"conversation":[],"budget":"the key is under the mat"}"#,
            400,
            "budget",
        ),
        (
            r#"{"conversation":[],"pins":"the key is under the mat"}"#,
            400,
            "wrong-member",
        ),
        (
            r#"{"conversation":[{"role":"user","content":"Hello."}],"pins":[7]}"#,
            400,
            "no-such-unit",
        ),
        (
            r#"{"conversation":[{"role":"user","content":"Hello."}],"config":{"keep":1}}"#,
            400,
            "config",
        ),
        (
            r#"{"contract":"the key is under the mat"}"#,
            400,
            "contract",
        ),
        (
            r#"{"contract":"baler:compaction@0.1.0","format":"the key is under the mat"}"#,
            400,
            "malformed",
        ),
    ]
    .map(|(body, status, code)| (body.to_owned(), status, code))
    .to_vec()
}

/// Bodies whose conversation cannot be read.
fn unreadable_conversations() -> Vec<InvalidBody> {
    let in_a_message = json!({"conversation": {"model": "gpt-4o", "messages": [{"role": PRIVATE, "content": PRIVATE}]}, "format": "openai-chat"});
    [
        r#"{"conversation":{"the key is under the mat":1}}"#.to_owned(),
        r#"{"conversation":"the key is under the mat"}"#.to_owned(),
        in_a_message.to_string(),
    ]
    .map(|body| (body, 422, "unreadable-conversation"))
    .to_vec()
}

/// Bodies that are nested too deeply, or too large for a limit of 200,000 bytes.
fn too_deep_or_too_large() -> Vec<InvalidBody> {
    let tower = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let deep = format!(
        r#"{{"conversation":{}1{}}}"#,
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let request = format!(r#"{{"model":"gpt-4o","x":{tower},"messages":[]}}"#);
    let as_text = |text: String| json!({"conversation": text}).to_string();
    let deep_over_lines = as_text(request.replace('[', "[\n"));
    let deep_as_text = as_text(request);
    let line =
        r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"Row."}}"#;
    let deep_in_log = as_text(format!(
        "{line}\n{{\"type\":\"user\",\"uuid\":\"v\",\"x\":{tower}}}\n{line}\n"
    ));
    let large = format!(r#"{{"conversation":"{}"}}"#, PRIVATE.repeat(10_000));
    vec![
        (deep, 400, "too-deep"),
        (deep_as_text, 400, "too-deep"),
        (deep_over_lines, 400, "too-deep"),
        (deep_in_log, 400, "too-deep"),
        (large, 413, "too-large"),
    ]
}

#[tokio::test]
async fn errors_are_json_and_quote_nothing_of_the_request() {
    let server = serve_within(ServerLimits {
        body_bytes: 200_000,
        ..ServerLimits::default()
    })
    .await;
    let cases = [
        invalid_members(),
        unreadable_conversations(),
        too_deep_or_too_large(),
    ];
    for (body, status, code) in cases.concat() {
        let response = post(&server, "/v1/compact", &body).await;
        let shown = body.chars().take(60).collect::<String>();
        assert_eq!(
            (response.status, response.code().as_str()),
            (status, code),
            "{shown}: {response:?}"
        );
        assert!(
            !response.body.contains("under the mat"),
            "{shown}: {response:?}"
        );
        assert_eq!(response.headers["content-type"], "application/json");
    }
}

#[tokio::test]
async fn unsupported_types_methods_and_paths_are_refused() {
    let server = serve(|builder| builder).await;
    let plain = send(
        server.address,
        "POST",
        "/v1/compact",
        &[("Content-Type", "text/plain")],
        "{}",
    )
    .await;
    assert_eq!((plain.status, plain.code().as_str()), (415, "media-type"));
    for (encoding, status) in [
        ("gzip", 415),
        ("identity, br", 415),
        ("\u{ed}dentity", 415),
        ("Identity", 200),
        ("", 200),
    ] {
        let headers = [
            ("Content-Type", "application/json"),
            ("Content-Encoding", encoding),
        ];
        let sent = send(server.address, "POST", "/v1/introspect", &headers, "{}").await;
        assert_eq!(sent.status, status, "{encoding}");
        if status == 415 {
            assert_eq!(sent.code(), "content-encoding", "{encoding}");
        }
    }
    let twice = [
        ("Content-Type", "application/json"),
        ("Content-Encoding", "identity"),
        ("Content-Encoding", "zstd"),
    ];
    let sent = send(server.address, "POST", "/v1/introspect", &twice, "{}").await;
    assert_eq!(sent.status, 415);
    assert_eq!(
        get(&server, "/v1/compact").await.code(),
        "method-not-allowed"
    );
    assert_eq!(get(&server, "/nowhere").await.code(), "not-found");
    assert_eq!(post(&server, "/v1/echo", "{}").await.status, 404);
}

/// A strategy that has seen one client's conversation cannot pass text of it to another client through an
/// error message.
#[tokio::test]
async fn errors_hold_no_text_of_a_strategy() {
    let server = serve(|builder| builder.chain(leaking())).await;
    assert_eq!(
        post(&server, "/v1/compact", &compact_request())
            .await
            .status,
        200
    );
    let hello = json!([{"role": "user", "content": "Hello."}]);
    let other = json!({"conversation": hello, "config": {"keep": 1}});
    let who = json!({"strategy": "leaking", "config": {"keep": 1}});
    let host = json!({"contract": "baler:compaction@0.1.0", "config": {"keep": 1}});
    for (path, body, code) in [
        ("/v1/compact", other, Some("config")),
        ("/v1/introspect", who, Some("cannot-say")),
        ("/v1/introspect", host, None),
    ] {
        let response = post(&server, path, &body.to_string()).await;
        match code {
            Some(code) => assert_eq!(response.code(), code, "{response:?}"),
            None => assert_eq!(response.json()["failure"]["kind"], "bad-config"),
        }
        assert!(!response.body.contains("train"), "{response:?}");
    }
}

#[tokio::test]
async fn chunked_body_is_limited_too() {
    let server = serve_within(ServerLimits {
        body_bytes: 1_000,
        ..ServerLimits::default()
    })
    .await;
    let mut stream = TcpStream::connect(server.address).await.expect("connects");
    let head = format!(
        "POST /v1/compact HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        server.address
    );
    stream.write_all(head.as_bytes()).await.expect("writes");
    for _ in 0..11 {
        let chunk = format!("64\r\n{}\r\n", "x".repeat(100));
        stream.write_all(chunk.as_bytes()).await.expect("writes");
    }
    let response = receive(&mut stream).await;
    assert_eq!(
        (response.status, response.code().as_str()),
        (413, "too-large")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_beyond_the_waiting_limit_get_503_at_once() {
    let server = serve(|builder| {
        builder.chain(slow(1.5)).limits(ServerLimits {
            concurrency: 1,
            waiting: 1,
            ..ServerLimits::default()
        })
    })
    .await;
    let server = Arc::new(server);
    let requests: Vec<_> = (0..6)
        .map(|_| {
            let server = server.clone();
            tokio::spawn(async move {
                let start = Instant::now();
                (
                    post(&server, "/v1/compact", &compact_request()).await,
                    start.elapsed(),
                )
            })
        })
        .collect();
    let mut refused = 0;
    for request in requests {
        let (response, time) = request.await.expect("no panic");
        if response.status == 503 {
            refused += 1;
            assert_eq!(response.code(), "overloaded");
            assert_eq!(response.headers["retry-after"], "1");
            assert!(time < Duration::from_millis(1_400), "{time:?}");
        } else {
            assert_eq!(response.status, 200, "{response:?}");
        }
    }
    assert_eq!(refused, 4);
    assert_eq!(
        post(&server, "/v1/compact", &compact_request())
            .await
            .status,
        200,
        "slots are free again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn request_that_takes_too_long_gets_504() {
    let server = serve_within(ServerLimits {
        request_time: Duration::from_millis(1),
        ..ServerLimits::default()
    })
    .await;
    let body = json!({"conversation": long_conversation(2_001), "budget": 200}).to_string();
    let late = post(&server, "/v1/compact", &body).await;
    assert_eq!((late.status, late.code().as_str()), (504, "timeout"));
    assert_eq!(get(&server, "/healthz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_strategy_leaves_time_for_the_next() {
    let server = serve(|builder| {
        builder.chain(slow(60.0)).limits(ServerLimits {
            request_time: Duration::from_secs(4),
            ..ServerLimits::default()
        })
    })
    .await;
    let response = post(&server, "/v1/compact", &compact_request()).await;
    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(response.json()["receipt"]["strategy"], "native:digest");
}

#[tokio::test]
async fn slow_heads_and_bodies_are_cut_off() {
    let server = serve_within(ServerLimits {
        head_time: Duration::from_millis(300),
        read_time: Duration::from_millis(300),
        ..ServerLimits::default()
    })
    .await;
    let mut head = TcpStream::connect(server.address).await.expect("connects");
    head.write_all(b"POST /v1/compact HTTP/1.1\r\nHo")
        .await
        .expect("writes");
    let start = Instant::now();
    let response = receive(&mut head).await;
    assert!(
        response.status == 0 || response.status == 408,
        "{response:?}"
    );
    let mut body = TcpStream::connect(server.address).await.expect("connects");
    body.write_all(b"POST /v1/compact HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{").await.expect("writes");
    let response = receive(&mut body).await;
    assert_eq!(
        (response.status, response.code().as_str()),
        (408, "too-slow")
    );
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?}",
        start.elapsed()
    );
}

/// Sends the head of a request to echo a body of so many bytes, and nothing of the body.
async fn begin_echo(server: &Running, bytes: usize) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.expect("connects");
    let head = format!(
        "POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {bytes}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.expect("writes");
    stream
}

#[tokio::test]
async fn stalled_body_releases_its_memory() {
    let hours = Duration::from_secs(10_000);
    let server = serve(|builder| {
        builder.with_echo().limits(ServerLimits {
            read_time: hours,
            read_stall: Duration::from_millis(300),
            ..ServerLimits::default()
        })
    })
    .await;
    let mut halts = begin_echo(&server, 1 << 20).await;
    let most = " ".repeat((1 << 20) - 1);
    halts.write_all(most.as_bytes()).await.expect("writes");
    let response = receive(&mut halts).await;
    assert_eq!(
        (response.status, response.code().as_str()),
        (408, "too-slow")
    );
    assert!(response.body.contains("65536 bytes"), "{response:?}");
    until(async || figure(&server, "baler_buffered_bytes").await == 0).await;
}

#[tokio::test]
async fn slow_body_is_accepted_while_it_keeps_arriving() {
    let server = serve(|builder| {
        builder.with_echo().limits(ServerLimits {
            read_stall: Duration::from_millis(500),
            ..ServerLimits::default()
        })
    })
    .await;
    let piece = " ".repeat(64 << 10);
    let mut slow = begin_echo(&server, 3 * piece.len()).await;
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(200)).await;
        slow.write_all(piece.as_bytes()).await.expect("writes");
    }
    assert_eq!(receive(&mut slow).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_strategy_leaves_slots_for_others() {
    let server = serve(|builder| {
        builder.offers(slow(5.0)).limits(ServerLimits {
            concurrency: 4,
            ..ServerLimits::default()
        })
    })
    .await;
    let server = Arc::new(server);
    let slow: Vec<_> = (0..8)
        .map(|_| {
            let server = server.clone();
            let body = json!({"conversation": journey(), "budget": 200, "strategy": "slow"});
            tokio::spawn(async move { post(&server, "/v1/compact", &body.to_string()).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let start = Instant::now();
    assert_eq!(
        post(&server, "/v1/compact", &compact_request())
            .await
            .status,
        200
    );
    assert!(
        start.elapsed() < Duration::from_secs(4),
        "{:?}",
        start.elapsed()
    );
    slow.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn idle_connections_do_not_lock_out_others() {
    let hours = Duration::from_secs(10_000);
    let server = serve_within(ServerLimits {
        connections: 2,
        head_time: hours,
        ..ServerLimits::default()
    })
    .await;
    let mut idle = Vec::new();
    for _ in 0..2 {
        let mut client = TcpStream::connect(server.address).await.expect("connects");
        client
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .await
            .expect("writes");
        client.readable().await.expect("an answer");
        idle.push(client);
    }
    for _ in 0..3 {
        assert_eq!(
            post(&server, "/v1/compact", &compact_request())
                .await
                .status,
            200
        );
    }
}

#[tokio::test]
async fn responses_without_a_token_close_the_connection() {
    let token = Token::new("s3cret").expect("a token");
    let server = serve(|builder| {
        builder.token(token).limits(ServerLimits {
            head_time: Duration::from_secs(10_000),
            ..ServerLimits::default()
        })
    })
    .await;
    for asked in [
        "GET /healthz",
        "GET /openapi.json",
        "GET /metrics",
        "GET /v1/compact",
        "GET /nowhere",
    ] {
        let mut client = TcpStream::connect(server.address).await.expect("connects");
        let request = format!("{asked} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        client.write_all(request.as_bytes()).await.expect("writes");
        // The server closes the connection, which the client would keep open.
        let answer = receive(&mut client).await;
        assert_eq!(answer.headers["connection"], "close", "{asked}");
    }
}

#[tokio::test]
async fn silent_and_idle_connections_are_closed() {
    let server = serve_within(ServerLimits {
        head_time: Duration::from_millis(300),
        ..ServerLimits::default()
    })
    .await;
    let start = Instant::now();
    let mut silent = TcpStream::connect(server.address).await.expect("connects");
    receive(&mut silent).await;
    let mut idle = TcpStream::connect(server.address).await.expect("connects");
    idle.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .expect("writes");
    assert_eq!(receive(&mut idle).await.status, 200);
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test]
async fn client_with_a_far_too_large_body_gets_its_413() {
    let server = serve_within(ServerLimits {
        body_bytes: 1_000,
        ..ServerLimits::default()
    })
    .await;
    let response = post(&server, "/v1/compact", &" ".repeat(20 << 20)).await;
    assert_eq!(
        (response.status, response.code().as_str()),
        (413, "too-large")
    );
}

#[tokio::test]
async fn body_of_many_tiny_items_is_refused_for_its_work_memory() {
    let server = serve_within(ServerLimits {
        working_bytes: 1 << 20,
        ..ServerLimits::default()
    })
    .await;
    // 6,000 lists, objects and commas of 512 bytes each make 3 MB. As a log there are 4,000 of them.
    let items = r#"{"x":[]},"#.repeat(2_000);
    let tiny = format!(r#"{{"conversation":[{items}{{}}]}}"#);
    let log = json!({"conversation": items.replace(',', "\n")}).to_string();
    for body in [tiny, log] {
        let refused = post(&server, "/v1/compact", &body).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (413, "too-much-work"),
            "{refused:?}"
        );
        assert!(refused.body.contains("1048576"), "{refused:?}");
    }
    // 700 of them make 359 KB, and three times that with a repair.
    let some = r#"{"x":[]},"#.repeat(233);
    for repair in [true, false] {
        let body = format!(r#"{{"repair":{repair},"conversation":[{some}{{}}]}}"#);
        let answer = post(&server, "/v1/compact", &body).await;
        assert_eq!(answer.status == 413, repair, "{answer:?}");
    }
    let text = "by night train, ".repeat(1_200);
    let one = json!({"conversation": [{"role": "user", "content": text}]});
    let answer = post(&server, "/v1/compact", &one.to_string()).await;
    assert_eq!(
        answer.status, 200,
        "one text needs little memory: {answer:?}"
    );
}

#[tokio::test]
async fn memory_of_all_bodies_is_limited_together() {
    let server = serve_within(ServerLimits {
        buffered_bytes: 4_096,
        ..ServerLimits::default()
    })
    .await;
    let refused = post(&server, "/v1/compact", &format!("{:6000}", "{}")).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (503, "overloaded")
    );
    assert_eq!(
        post(&server, "/v1/introspect", "{}").await.status,
        200,
        "the memory was released"
    );
}

#[tokio::test]
async fn client_refused_for_memory_gets_its_503() {
    let server = serve_within(ServerLimits {
        buffered_bytes: 1 << 20,
        ..ServerLimits::default()
    })
    .await;
    let refused = post(&server, "/v1/compact", &" ".repeat(20 << 20)).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (503, "overloaded")
    );
}
