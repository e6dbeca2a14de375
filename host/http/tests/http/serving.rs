use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use baler_host::{Request, Strategy};
use baler_http::{HttpRemote, Server, ServerError, ServerLimits, Token};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::strategies::Endless;
use crate::support::{
    ask_without_reading, figure, get, host, journey, receive, send, serve, until,
};

fn token() -> Token {
    Token::new("s3cret").expect("a token")
}

#[tokio::test]
async fn without_a_token_only_loopback_clients_are_served() {
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
        ("ev\u{ed}l.example", 421),
        ("[::1].evil.example", 421),
        ("[::1", 421),
        ("localhost:80@evil.example", 421),
        ("localhost:evil.example", 421),
        ("localhost:7410", 200),
        ("localhost:", 200),
        ("[::1]:80", 200),
        ("[::1]", 200),
        ("127.0.0.1", 200),
    ] {
        let headers = [("Content-Type", "application/json"), ("Host", named)];
        let response = send(server.address, "POST", "/v1/introspect", &headers, "{}").await;
        assert_eq!(response.status, status, "{named}: {response:?}");
    }
}

/// A web page that reaches the server by a name of its own cannot add a second name, nor leave its own out.
#[tokio::test]
async fn request_names_its_host_once_with_and_without_a_token() {
    for token in [None, Some(token())] {
        let server = serve(|builder| match token.clone() {
            Some(token) => builder.token(token),
            None => builder,
        })
        .await;
        let ask = async |version: &str, hosts: &[&str], path: &str| {
            let hosts: String = hosts
                .iter()
                .map(|host| format!("Host: {host}\r\n"))
                .collect();
            let head = format!(
                "POST {path} HTTP/{version}\r\n{hosts}Authorization: Bearer s3cret\r\n\
                 Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
            );
            let mut stream = TcpStream::connect(server.address).await.expect("connects");
            stream.write_all(head.as_bytes()).await.expect("writes");
            // Such a client keeps no connection.
            receive(&mut stream).await
        };
        for hosts in [
            &[][..],
            &["localhost", "localhost"],
            &["localhost", "evil.example"],
            &["evil.example", "localhost"],
        ] {
            let refused = ask("1.1", hosts, "/v1/introspect").await;
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (400, "host"),
                "{hosts:?}"
            );
        }
        assert_eq!(ask("1.0", &[], "/v1/introspect").await.status, 200);
        let twice = ["localhost", "localhost"];
        assert_eq!(ask("1.0", &twice, "/v1/introspect").await.status, 400);
    }
}

#[tokio::test]
async fn token_is_required_except_for_health_and_openapi() {
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
async fn remote_strategy_without_the_token_falls_back() {
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
async fn shutdown_finishes_running_requests_and_accepts_no_more() {
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

#[tokio::test(flavor = "multi_thread")]
async fn the_grace_period_ends_every_connection_whatever_its_client_does() {
    let hours = Duration::from_secs(10_000);
    let grace = Duration::from_millis(300);
    let endless = Arc::new(Endless::default());
    let mut server = serve(|builder| {
        builder
            .with_echo()
            .offers(endless.chain())
            .limits(ServerLimits {
                grace,
                head_time: hours,
                read_time: hours,
                request_time: hours,
                write_stall: hours,
                write_time: hours,
                ..ServerLimits::default()
            })
    })
    .await;
    let work = json!({"conversation": journey(), "budget": 200, "strategy": "endless"});
    let mut clients = vec![
        ask_without_reading(&server, "/v1/echo", &" ".repeat(4 << 20)).await,
        ask_without_reading(&server, "/v1/compact", &work.to_string()).await,
    ];
    for begun in [
        "POST /v1/compact HTTP/1.1\r\nHo",
        "POST /v1/compact HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    ] {
        let mut client = TcpStream::connect(server.address).await.expect("connects");
        client.write_all(begun.as_bytes()).await.expect("writes");
        clients.push(client);
    }
    until(async || figure(&server, "baler_running").await == 1).await;
    assert_eq!(endless.cancelled(), 0);
    let start = Instant::now();
    server.stop();
    tokio::time::timeout(Duration::from_secs(60), &mut server.done)
        .await
        .expect("it stopped within its time")
        .expect("no panic");
    let took = start.elapsed();
    assert!(
        took >= grace,
        "it stopped after {took:?}, before the grace period ended"
    );
    until(async || endless.cancelled() == 1).await;
    for (number, mut client) in clients.into_iter().enumerate() {
        let mut rest = Vec::new();
        // Whether it ends with a reset or not.
        let _ = tokio::time::timeout(Duration::from_secs(60), client.read_to_end(&mut rest))
            .await
            .expect("the connection was closed");
        // The first client is the one to whom a large answer was being sent.
        assert!(
            number > 0 || rest.len() < 4 << 20,
            "the whole answer was sent to a client that did not read"
        );
    }
}
