use std::net::TcpListener;

use super::*;

/// Long enough to see that it is kept, and that one attempt is all there is.
const SHORT: Duration = Duration::from_millis(300);

fn unavailable(result: Result<Answer, ModelError>) -> String {
    match result {
        Err(ModelError::Unavailable(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_that_hangs_holds_nobody_up() {
    for provider in PROVIDERS {
        let right = Reply::text(provider, "yes");
        for reply in [
            Reply::silence(),
            right.clone().hanging_behind(0),
            right.clone().hanging_behind(20),
            right.clone().after(Duration::from_secs(60)),
            right.trickled(Duration::from_millis(20)),
        ] {
            let reason = unavailable(ask_one(provider, reply, SHORT).await);
            assert!(reason.contains("no answer within 0.3 s"), "{reason}");
            assert!(reason.contains("1 attempt in 0."), "{reason}");
        }
    }
}

#[tokio::test]
async fn a_slow_server_is_waited_for() {
    let provider = Provider::Gemini;
    for reply in [
        Reply::text(provider, "yes").after(SHORT),
        Reply::text(provider, "yes").trickled(Duration::from_millis(1)),
    ] {
        assert_eq!(ask_one(provider, reply, PLENTY).await.unwrap().text, "yes");
    }
}

#[tokio::test]
async fn an_attempt_that_hangs_is_followed_by_another() {
    let provider = Provider::OpenAi;
    let server = server([Reply::silence(), Reply::text(provider, "yes")]);
    let client = builder(provider, &server)
        .attempt_time(SHORT)
        .build()
        .unwrap();
    assert_eq!(ask(&client, PLENTY).await.unwrap().text, "yes");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn an_error_is_told_although_its_text_hangs() {
    let provider = Provider::OpenAi;
    let reply = Reply::error(provider, 401, "no").hanging_behind(3);
    let result = ask_one(provider, reply, PLENTY).await;
    let Err(ModelError::Refused(reason)) = result else {
        panic!("{result:?}");
    };
    assert!(reason.starts_with("status 401"), "{reason}");
}

#[tokio::test]
async fn half_an_answer_is_none() {
    for provider in PROVIDERS {
        let whole = Reply::text(provider, "yes");
        let reason = unavailable(ask_one(provider, whole.clone().closed_behind(20), SHORT).await);
        assert!(reason.contains("the answer broke off"), "{reason}");
        // The same without a length, so that only the JSON tells.
        let half = Reply::raw("HTTP/1.1 200 OK\r\n\r\n{\"choices\": [{\"mess");
        let reason = unavailable(ask_one(provider, half, SHORT).await);
        assert!(reason.contains("the answer broke off"), "{reason}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_is_told() {
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
async fn nobody_listens() {
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
async fn a_host_that_does_not_exist_is_told() {
    let choice: ModelChoice = "http://no-such-host.invalid/v1#m".parse().unwrap();
    let client = Client::builder(choice)
        .key(KeySource::None)
        .build()
        .unwrap();
    // Behind a proxy it is the proxy that says so, in words of its own.
    assert!(ask(&client, Duration::from_secs(1)).await.is_err());
}

#[tokio::test]
async fn tls_with_a_server_without_is_told_at_once() {
    let address = speaking_plainly();
    let choice: ModelChoice = format!("https://{address}/v1#m").parse().unwrap();
    let client = match Client::builder(choice).key(KeySource::None).build() {
        Ok(client) => client,
        // A machine without certificates.
        Err(error) => return assert!(error.to_string().contains("trusted"), "{error}"),
    };
    let result = ask(&client, PLENTY).await;
    let Err(ModelError::Other(reason)) = result else {
        panic!("{result:?}");
    };
    assert!(reason.contains("no trusted connection"), "{reason}");
}

/// A server that answers whatever comes with a line of text, once.
fn speaking_plainly() -> std::net::SocketAddr {
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
async fn what_is_no_answer_is_told_without_its_text() {
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
            let Err(ModelError::Other(reason)) = result else {
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
    assert!(matches!(result, Err(ModelError::Other(_))), "{result:?}");
}

#[tokio::test]
async fn what_an_error_says_is_shown_in_short() {
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
async fn a_body_without_end_is_not_read_to_its_end() {
    for provider in PROVIDERS {
        for reply in [
            Reply::endless(vec![b' '; 64 * 1024]),
            Reply::endless("[0,".repeat(10_000)),
            Reply::body(200, "application/json", vec![b' '; 9 * 1024 * 1024]),
            Reply::raw("HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n{}"),
        ] {
            let result = ask_one(provider, reply, PLENTY).await;
            let Err(ModelError::Other(reason)) = result else {
                panic!("{result:?}");
            };
            assert!(reason.contains("8388608 bytes"), "{reason}");
        }
    }
}

#[tokio::test]
async fn headers_without_end_are_not_read_to_their_end() {
    let reply = Reply::raw("HTTP/1.1 200 OK\r\n".to_owned() + &"a: b\r\n".repeat(1_000_000));
    unavailable(ask_one(Provider::OpenAi, reply, SHORT).await);
}

#[tokio::test]
async fn what_is_too_long_is_told_with_what_fits() {
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
async fn an_error_with_status_200_is_an_error() {
    let body = serde_json::json!({"error": {"code": 400, "type": "exceed_context_size_error",
        "message": "the request exceeds the available context size", "n_ctx": 8192}});
    let result = ask_one(Provider::Compatible, Reply::json(200, &body), PLENTY).await;
    assert_eq!(result, Err(ModelError::TooLong { fits: Some(8_192) }));
    let body = serde_json::json!({"error": "something"});
    let result = ask_one(Provider::Compatible, Reply::json(200, &body), PLENTY).await;
    assert!(matches!(result, Err(ModelError::Other(_))), "{result:?}");
}

#[tokio::test]
async fn question_can_be_dropped_while_the_server_is_silent() {
    let server = server([Reply::silence()]);
    let client = builder(Provider::OpenAi, &server).build().unwrap();
    let question = question();
    let again = || true;
    let asked = client.ask(&question, PLENTY, &again);
    assert!(tokio::time::timeout(SHORT, asked).await.is_err());
    assert_eq!(server.requests().len(), 1);
}
