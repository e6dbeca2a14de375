use std::net::TcpListener;

use super::*;

/// Too short for a second attempt.
const SHORT: Duration = Duration::from_millis(300);

fn unavailable(result: Result<Answer, ModelError>) -> String {
    match result {
        Err(ModelError::Unavailable(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn client_gives_up_in_time_on_a_hanging_server() {
    for provider in PROVIDERS {
        let right = Reply::text(provider, "yes");
        for reply in [
            Reply::silence(),
            right.clone().stalling_after(0),
            right.clone().stalling_after(20),
            right.clone().delayed(Duration::from_secs(60)),
            right.trickled(Duration::from_millis(20)),
        ] {
            let reason = unavailable(ask_one(provider, reply, SHORT).await);
            assert!(reason.contains("no answer within 0.3 s"), "{reason}");
            assert!(reason.contains("1 attempt in 0."), "{reason}");
        }
    }
}

#[tokio::test]
async fn client_waits_for_a_slow_server() {
    let provider = Provider::Gemini;
    for reply in [
        Reply::text(provider, "yes").delayed(SHORT),
        Reply::text(provider, "yes").trickled(Duration::from_millis(1)),
    ] {
        assert_eq!(ask_one(provider, reply, PLENTY).await.unwrap().text, "yes");
    }
}

#[tokio::test]
async fn client_retries_after_a_hanging_attempt() {
    let provider = Provider::OpenAi;
    let server = server([Reply::silence(), Reply::text(provider, "yes")]);
    let client = builder(provider, &server)
        .attempt_timeout(SHORT)
        .build()
        .unwrap();
    assert_eq!(ask(&client, PLENTY).await.unwrap().text, "yes");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn error_is_reported_although_its_body_hangs() {
    let provider = Provider::OpenAi;
    let reply = Reply::error(provider, 401, "no").stalling_after(3);
    let result = ask_one(provider, reply, PLENTY).await;
    let Err(ModelError::Refused(reason)) = result else {
        panic!("{result:?}");
    };
    assert!(reason.starts_with("status 401"), "{reason}");
}

#[tokio::test]
async fn truncated_answer_is_an_error() {
    for provider in PROVIDERS {
        let whole = Reply::text(provider, "yes");
        let reason = unavailable(ask_one(provider, whole.clone().closed_after(20), SHORT).await);
        assert!(reason.contains("the answer broke off"), "{reason}");
        // Without a length, only the JSON shows that the answer is truncated.
        let half = Reply::raw("HTTP/1.1 200 OK\r\n\r\n{\"choices\": [{\"mess");
        let reason = unavailable(ask_one(provider, half, SHORT).await);
        assert!(reason.contains("the answer broke off"), "{reason}");
    }
}

#[tokio::test]
async fn broken_connection_is_reported() {
    for reply in [
        Reply::raw(""),
        Reply::raw("HTTP/1.1 20"),
        Reply::raw("hello\r\n\r\n"),
    ] {
        let reason = unavailable(ask_one(Provider::OpenAi, reply, SHORT).await);
        assert!(reason.contains("the connection broke"), "{reason}");
    }
}

#[tokio::test]
async fn missing_server_is_reported() {
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let choice: ModelChoice = format!("http://{address}/v1#m").parse().unwrap();
    let client = Client::builder(choice)
        .key(KeySource::None)
        .build()
        .unwrap();
    let reason = unavailable(ask(&client, Duration::from_secs(1)).await);
    assert!(reason.contains("no connection"), "{reason}");
    assert!(reason.contains("attempts in"), "{reason}");
    assert!(!reason.contains("http"), "{reason}");
}

#[tokio::test]
async fn unknown_host_is_reported() {
    let choice: ModelChoice = "http://no-such-host.invalid/v1#m".parse().unwrap();
    let client = Client::builder(choice)
        .key(KeySource::None)
        .build()
        .unwrap();
    // With a proxy, the proxy reports the error in its own words.
    assert!(ask(&client, Duration::from_secs(1)).await.is_err());
}

#[tokio::test]
async fn tls_with_a_plain_server_fails_without_retry() {
    let address = plain_server();
    let choice: ModelChoice = format!("https://{address}/v1#m").parse().unwrap();
    let client = match Client::builder(choice).key(KeySource::None).build() {
        Ok(client) => client,
        // A machine without certificates.
        Err(error) => return assert!(error.to_string().contains("trusted"), "{error}"),
    };
    let result = ask(&client, PLENTY).await;
    assert!(
        matches!(result, Err(ModelError::InsecureConnection(_))),
        "{result:?}"
    );
}

/// A server without TLS that answers one request.
fn plain_server() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.read(&mut [0; 4096]);
    });
    address
}

#[tokio::test]
async fn invalid_answer_is_reported_without_its_text() {
    let secret = "a text that nobody needs to see";
    for provider in PROVIDERS {
        for body in [
            format!("<!doctype html><html><body>{secret}</body></html>"),
            format!("{secret} {}", "x".repeat(10_000)),
            format!("{{\"{secret}\": 1}}"),
            format!("[\"{secret}\"]"),
            format!("\"{secret}\""),
            "7".to_owned(),
            "[".repeat(100_000) + &"]".repeat(100_000),
            "[".repeat(100_000),
            String::new(),
            "\u{0}\u{1}".to_owned(),
            "null".to_owned(),
        ] {
            let start: String = body.chars().take(20).collect();
            let result = ask_one(provider, Reply::body(200, "text/html", body), PLENTY).await;
            let Err(ModelError::InvalidAnswer(reason)) = result else {
                panic!("{start}: {result:?}");
            };
            assert!(!reason.contains(secret), "{reason}");
            assert!(reason.len() < 200, "{reason}");
        }
    }
    let result = ask_one(
        Provider::OpenAi,
        Reply::body(200, "a/b", [0xff, 0xfe]),
        PLENTY,
    )
    .await;
    assert!(
        matches!(result, Err(ModelError::InvalidAnswer(_))),
        "{result:?}"
    );
}

#[tokio::test]
async fn error_message_is_shortened() {
    for provider in PROVIDERS {
        let said = format!("a model\nof that name {}", "is missing ".repeat(1_000));
        let result = ask_one(provider, Reply::error(provider, 404, &said), PLENTY).await;
        let Err(ModelError::Refused(reason)) = result else {
            panic!("{result:?}");
        };
        assert!(
            reason.starts_with("status 404, a model of that name"),
            "{reason}"
        );
        assert!(reason.len() < 400, "{reason}");
    }
}

#[tokio::test]
async fn endless_body_is_not_read_to_its_end() {
    for provider in PROVIDERS {
        for reply in [
            Reply::endless(vec![b' '; 64 * 1024]),
            Reply::endless("[0,".repeat(10_000)),
            Reply::body(200, "application/json", vec![b' '; 9 * 1024 * 1024]),
            Reply::raw("HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n{}"),
        ] {
            let result = ask_one(provider, reply, PLENTY).await;
            let Err(ModelError::InvalidAnswer(reason)) = result else {
                panic!("{result:?}");
            };
            assert!(reason.contains("8388608 bytes"), "{reason}");
        }
    }
}

#[tokio::test]
async fn endless_headers_are_not_read_to_their_end() {
    let reply = Reply::raw("HTTP/1.1 200 OK\r\n".to_owned() + &"a: b\r\n".repeat(1_000_000));
    unavailable(ask_one(Provider::OpenAi, reply, SHORT).await);
}

#[tokio::test]
async fn too_long_reports_how_many_tokens_fit() {
    for provider in PROVIDERS {
        let result = ask_one(provider, Reply::too_long(provider, 64_000), PLENTY).await;
        let fits = Some(64_000);
        assert_eq!(result, Err(ModelError::TooLong { fits }), "{provider:?}");
        let page = Reply::body(413, "text/html", "<html>Request Entity Too Large</html>");
        let result = ask_one(provider, page, PLENTY).await;
        assert_eq!(
            result,
            Err(ModelError::TooLong { fits: None }),
            "{provider:?}"
        );
    }
}

#[tokio::test]
async fn error_with_status_200_is_an_error() {
    let body = serde_json::json!({"error": {"code": 400, "type": "exceed_context_size_error",
        "message": "the request exceeds the available context size", "n_ctx": 8192}});
    let result = ask_one(Provider::Compatible, Reply::json(200, &body), PLENTY).await;
    assert_eq!(result, Err(ModelError::TooLong { fits: Some(8_192) }));
    let body = serde_json::json!({"error": "something"});
    let result = ask_one(Provider::Compatible, Reply::json(200, &body), PLENTY).await;
    assert!(
        matches!(result, Err(ModelError::InvalidAnswer(_))),
        "{result:?}"
    );
}

#[tokio::test]
async fn question_can_be_dropped_while_the_server_is_silent() {
    let server = server([Reply::silence()]);
    let client = builder(Provider::OpenAi, &server).build().unwrap();
    let question = question();
    let may_retry = || true;
    let asked = client.ask(&question, PLENTY, &may_retry);
    assert!(tokio::time::timeout(SHORT, asked).await.is_err());
    assert_eq!(server.requests().len(), 1);
}
