use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use baler_host::{Request, Strategy};
use baler_sidecar::{HttpRemote, Server, ServerError, Token};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::support::{Running, get, host, journey, post, receive, send, serve};

fn token() -> Token {
    Token::new("s3cret").expect("a token")
}

#[tokio::test]
async fn without_a_token_only_this_machine_is_served() {
    let open: SocketAddr = "0.0.0.0:0".parse().expect("an address");
    let refused = Server::builder(host()).bind(open).await;
    let error = refused.expect_err("others could reach it");
    assert!(matches!(error, ServerError::NeedsToken { .. }));
    assert!(error.to_string().contains("127.0.0.1"), "{error}");
    assert!(
        Server::builder(host())
            .token(token())
            .bind(open)
            .await
            .is_ok()
    );
    let server = serve(|builder| builder).await;
    for (named, status) in [
        ("evil.example", 421),
        ("localhost:7410", 200),
        ("[::1]:80", 200),
        ("127.0.0.1", 200),
    ] {
        let headers = [("Content-Type", "application/json"), ("Host", named)];
        let response = send(server.address, "POST", "/v1/introspect", &headers, "{}").await;
        assert_eq!(response.status, status, "{named}: {response:?}");
    }
}

#[tokio::test]
async fn a_token_has_to_be_shown_for_all_but_health_and_description() {
    let server = serve(|builder| builder.token(token())).await;
    let shown = |token: &'static str| {
        [
            ("Content-Type", "application/json"),
            ("Authorization", token),
        ]
    };
    for wrong in [
        "",
        "Bearer",
        "Bearer s3cre",
        "Bearer s3cret2",
        "Basic s3cret",
    ] {
        let response = send(
            server.address,
            "POST",
            "/v1/introspect",
            &shown(wrong),
            "{}",
        )
        .await;
        assert_eq!(
            (response.status, response.code().as_str()),
            (401, "unauthorized"),
            "{wrong}"
        );
        assert_eq!(response.headers["www-authenticate"], "Bearer");
        assert!(!response.body.contains("s3cret"));
    }
    let right = send(
        server.address,
        "POST",
        "/v1/introspect",
        &shown("Bearer s3cret"),
        "{}",
    )
    .await;
    assert_eq!(right.status, 200);
    assert_eq!(get(&server, "/metrics").await.status, 401);
    assert_eq!(get(&server, "/healthz").await.body, r#"{"status":"ok"}"#);
    assert_eq!(get(&server, "/openapi.json").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_with_the_token_is_served_and_one_without_falls_back() {
    let server = serve(|builder| builder.token(token())).await;
    let host = host();
    let talk = host.read(journey().to_string()).expect("reads");
    let strategies = [
        (
            HttpRemote::new(&server.url())
                .expect("a URL")
                .token(token())
                .expect("a loopback address"),
            false,
        ),
        (HttpRemote::new(&server.url()).expect("a URL"), true),
    ];
    for (remote, falls_back) in strategies {
        assert!(!format!("{remote:?}").contains("s3cret"));
        let compaction = host
            .compact(
                &talk,
                &[Strategy::remote(remote.shared())],
                &Request::default(),
            )
            .await
            .expect("works");
        assert_eq!(
            compaction.receipt().fell_back,
            falls_back,
            "{:?}",
            compaction.receipt().attempts
        );
        assert!(compaction.is_compacted());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn when_it_stops_what_runs_is_finished_and_nothing_new_begins() {
    let mut server = serve(|builder| builder).await;
    let address = server.address;
    let body = json!({"conversation": journey(), "budget": 200}).to_string();
    let mut stream = TcpStream::connect(address).await.expect("connects");
    let head = format!(
        "POST /v1/compact HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let (first, second) = body.split_at(body.len() / 2);
    stream
        .write_all(format!("{head}{first}").as_bytes())
        .await
        .expect("writes");
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.stop();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(
        TcpStream::connect(address).await.is_err(),
        "it takes no more connections"
    );
    stream.write_all(second.as_bytes()).await.expect("writes");
    let response = receive(&mut stream).await;
    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(response.json()["outcome"], "compacted");
    (&mut server.done).await.expect("it stopped");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_does_not_keep_it_from_stopping() {
    let mut server = serve(|builder| builder).await;
    let _idle = TcpStream::connect(server.address).await.expect("connects");
    assert_eq!(get(&server, "/healthz").await.status, 200);
    let start = Instant::now();
    server.stop();
    (&mut server.done).await.expect("it stopped");
    assert!(
        start.elapsed() < Duration::from_secs(15),
        "{:?}",
        start.elapsed()
    );
}

/// A client that goes away leaves nothing running behind.
#[tokio::test(flavor = "multi_thread")]
async fn who_hangs_up_gives_his_room_back() {
    let server: Arc<Running> = Arc::new(serve(|builder| builder).await);
    for _ in 0..40 {
        let body = json!({"conversation": journey(), "budget": 200}).to_string();
        let mut stream = TcpStream::connect(server.address).await.expect("connects");
        let head = format!(
            "POST /v1/compact HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.expect("writes");
        drop(stream);
    }
    let body = json!({"conversation": journey(), "budget": 200}).to_string();
    assert_eq!(post(&server, "/v1/compact", &body).await.status, 200);
    for _ in 0..100 {
        if get(&server, "/metrics")
            .await
            .body
            .contains("baler_running 0\n")
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("something still runs");
}
