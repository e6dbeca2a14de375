//! What passes as it came, and what is refused.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use baler_http::{ServerLimits, Token};
use baler_proxy::{Action, Proxy};
use bytes::Bytes;
use serde_json::Value;

use crate::support::{anywhere, ask, builder, chat, client, folder, start, upstream};

fn ok(_: usize, _: &Bytes) -> Response<Body> {
    Response::new(Body::from(
        r#"{"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}"#,
    ))
}

#[tokio::test]
async fn a_request_that_is_not_due_passes_byte_for_byte_with_its_headers() {
    let upstream = upstream(|_, _| {
        let mut response = Response::new(Body::from("{\"object\" : \"answer\"}"));
        let headers = response.headers_mut();
        headers.insert("request-id", HeaderValue::from_static("req_7"));
        headers.insert("retry-after", HeaderValue::from_static("3"));
        headers.insert("x-baler", HeaderValue::from_static("a lie"));
        response
    });
    let (url, _) = start(builder(upstream.address, 100_000, 50_000));
    let body = "{ \"messages\":[ {\"content\":\"\\u0041\", \"role\":\"user\"} ] ,\"unknown\":1e2}";
    let response = client()
        .post(format!("{url}/anthropic/v1/messages?beta=true"))
        .header("x-api-key", "sk-secret")
        .header("anthropic-beta", "a,b")
        .header("connection", "x-private")
        .header("x-private", "1")
        .body(body)
        .send()
        .await
        .expect("an answer");
    assert_eq!(response.headers()["request-id"], "req_7");
    assert_eq!(response.headers()["retry-after"], "3");
    assert_eq!(response.headers()["x-baler"], "passed");
    assert_eq!(
        response.text().await.expect("a body"),
        "{\"object\" : \"answer\"}"
    );
    let got = upstream.last();
    assert_eq!(got.line, "POST /v1/messages?beta=true");
    assert_eq!(got.body, body);
    assert_eq!(got.headers["x-api-key"], "sk-secret");
    assert_eq!(got.headers["anthropic-beta"], "a,b");
    assert_eq!(got.headers["host"], upstream.address.to_string());
    assert!(!got.headers.contains_key("x-private"));
}

#[tokio::test]
async fn what_is_no_conversation_passes_whatever_its_size() {
    let upstream = upstream(ok);
    let (url, exchanges) = start(builder(upstream.address, 50, 20));
    let long = chat(40, "Aino");
    for path in [
        "/anthropic/v1/messages/count_tokens",
        "/openai/v1/responses/compact",
        "/openai/v1/embeddings",
        "/gemini/v1beta/models/m:countTokens",
    ] {
        let answer = client()
            .post(format!("{url}{path}"))
            .body(long.clone())
            .send()
            .await;
        assert!(
            !answer.expect("an answer").headers().contains_key("x-baler"),
            "{path}"
        );
        assert_eq!(upstream.last().body, long, "{path}");
    }
    let continued = r#"{"model": "gpt-5", "previous_response_id": "resp_1", "input": "And now, after all of that, a question with many words so that it is due."}"#;
    let trigger = r#"{"model": "gpt-5", "input": [{"role": "user", "content": "A question with many words so that it is due, and then some more of them to be sure, and again some more words."}, {"type": "compaction_trigger"}]}"#;
    for (body, done) in [
        (continued, "passed; why=stored-by-provider"),
        (trigger, "passed; why=provider-compacts"),
        ("{\"input\": [", "passed; why=unreadable"),
        ("潮", "passed; why=unreadable"),
        (
            "[1, 2, 3] and fifty more bytes, so that it is not small at all",
            "passed; why=unreadable",
        ),
    ] {
        let body = format!("{body}{}", " ".repeat(60));
        let answer = client()
            .post(format!("{url}/v1/responses"))
            .body(body.clone())
            .send()
            .await;
        assert_eq!(answer.expect("an answer").headers()["x-baler"], done);
        assert_eq!(upstream.last().body, body);
    }
    assert!(
        exchanges
            .lock()
            .expect("no panic")
            .iter()
            .all(|one| one.action == Action::Passed)
    );
}

#[tokio::test]
async fn a_body_for_which_there_is_no_room_passes_as_it_arrives() {
    let upstream = upstream(ok);
    let limits = ServerLimits {
        body_bytes: 10_000,
        ..Proxy::limits()
    };
    let (url, _) = start(builder(upstream.address, 50, 20).limits(limits));
    let long = chat(60, "Aino");
    assert!(long.len() > 20_000);
    let known = client()
        .post(format!("{url}/v1/chat/completions"))
        .body(long.clone());
    let chunks: Vec<_> = long
        .as_bytes()
        .chunks(3_000)
        .map(|chunk| Ok::<_, std::io::Error>(Bytes::copy_from_slice(chunk)))
        .collect();
    let stream = http_body_util::StreamBody::new(Stream(chunks.into_iter()));
    let chunked = client()
        .post(format!("{url}/v1/chat/completions"))
        .body(reqwest::Body::wrap(stream));
    for request in [known, chunked] {
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.headers()["x-baler"], "passed; why=too-large");
        assert_eq!(upstream.last().body, long);
    }
}

/// Pieces of a body, one after the other.
struct Stream(std::vec::IntoIter<Result<Bytes, std::io::Error>>);

impl futures_core::Stream for Stream {
    type Item = Result<http_body::Frame<Bytes>, std::io::Error>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Ready(self.0.next().map(|piece| piece.map(http_body::Frame::data)))
    }
}

#[tokio::test]
async fn pieces_of_an_answer_pass_when_they_arrive() {
    let (send, receive) = tokio::sync::mpsc::unbounded_channel::<Bytes>();
    let receive = std::sync::Arc::new(std::sync::Mutex::new(Some(receive)));
    let upstream = upstream(move |_, _| {
        let mut receive = receive
            .lock()
            .expect("no panic")
            .take()
            .expect("one request");
        let pieces = Pieces(std::future::poll_fn(move |context| {
            receive.poll_recv(context).map(|piece| piece.map(Ok))
        }));
        let mut response = Response::new(Body::new(http_body_util::StreamBody::new(pieces)));
        let events = HeaderValue::from_static("text/event-stream");
        response.headers_mut().insert(header::CONTENT_TYPE, events);
        response
    });
    let (url, exchanges) = start(builder(upstream.address, 100_000, 50_000));
    let first = Bytes::from("data: {\"choices\": []}\n\n");
    send.send(first.clone()).expect("is read");
    let request = client()
        .post(format!("{url}/v1/chat/completions"))
        .body(chat(2, "Aino"));
    let mut response = request.send().await.expect("an answer");
    assert_eq!(response.chunk().await.expect("a piece"), Some(first));
    let second =
        Bytes::from("data: {\"usage\": {\"prompt_tokens\": 30, \"completion_tokens\": 2}}\n\n");
    send.send(second.clone()).expect("is read");
    assert_eq!(response.chunk().await.expect("a piece"), Some(second));
    assert!(
        exchanges.lock().expect("no panic").is_empty(),
        "it has not ended"
    );
    drop(send);
    assert_eq!(response.chunk().await.expect("the end"), None);
    let told = exchanges.lock().expect("no panic");
    assert_eq!(told[0].usage.map(|usage| usage.fresh), Some(30));
}

/// A future that is asked for one piece after the other.
struct Pieces<F>(std::future::PollFn<F>);

impl<F> futures_core::Stream for Pieces<F>
where
    F: FnMut(&mut std::task::Context<'_>) -> std::task::Poll<Option<std::io::Result<Bytes>>>
        + Unpin,
{
    type Item = std::io::Result<http_body::Frame<Bytes>>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::pin::Pin::new(&mut self.0)
            .poll(context)
            .map(|piece| piece.map(|piece| piece.map(http_body::Frame::data)))
    }
}

#[tokio::test]
async fn requests_that_have_no_way_are_refused_in_the_form_of_their_provider() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let nowhere = gone.local_addr().expect("an address");
    drop(gone);
    let (url, exchanges) = start(builder(nowhere, 100, 50));
    for (path, place) in [
        ("/anthropic/v1/messages", "/error/message"),
        ("/v1/chat/completions", "/error/message"),
        ("/v1beta/models/m:generateContent", "/error/message"),
    ] {
        let answer = client()
            .post(format!("{url}{path}"))
            .body("{}")
            .send()
            .await
            .expect("an answer");
        assert_eq!(answer.status(), StatusCode::BAD_GATEWAY);
        let body: Value =
            serde_json::from_str(&answer.text().await.expect("a body")).expect("JSON");
        let message = body
            .pointer(place)
            .and_then(Value::as_str)
            .unwrap_or_default();
        assert!(
            message.starts_with("baler: cannot connect to the upstream"),
            "{message}"
        );
    }
    let told = exchanges.lock().expect("no panic").clone();
    assert_eq!(told.len(), 3);
    assert!(
        told.iter()
            .all(|one| one.status == 502 && one.why.as_deref() == Some("unreachable"))
    );
    let lost = client()
        .post(format!("{url}/elsewhere/v1/chat/completions"))
        .send()
        .await;
    let lost = lost.expect("an answer");
    assert_eq!(lost.status(), StatusCode::NOT_FOUND);
    assert!(
        lost.text()
            .await
            .expect("a body")
            .contains("anthropic, openai, gemini")
    );
    let upgrade = client()
        .get(format!("{url}/openai/v1/responses"))
        .header("upgrade", "websocket")
        .header("connection", "upgrade");
    let upgrade = upgrade.send().await.expect("an answer");
    assert_eq!(upgrade.status(), StatusCode::UPGRADE_REQUIRED);
}

#[tokio::test]
async fn another_protocol_that_is_only_offered_does_not_keep_a_request_from_passing() {
    let upstream = upstream(ok);
    let (url, _) = start(builder(upstream.address, 100_000, 50_000));
    let request = client()
        .post(format!("{url}/v1/chat/completions"))
        .header("upgrade", "h2c")
        .header("connection", "upgrade, http2-settings")
        .header("http2-settings", "AAMAAABkAAQAoAAAAAIAAAAA");
    let answer = request.body(chat(1, "Aino")).send().await;
    assert_eq!(answer.expect("an answer").status(), StatusCode::OK);
    let headers = upstream.last().headers;
    assert!(!headers.contains_key("upgrade") && !headers.contains_key("http2-settings"));
}

#[tokio::test]
async fn pages_of_the_web_get_no_answer() {
    let upstream = upstream(ok);
    let (url, _) = start(builder(upstream.address, 100_000, 50_000));
    for (name, value) in [("host", "evil.example"), ("origin", "https://evil.example")] {
        let request = client()
            .post(format!("{url}/v1/messages"))
            .header(name, value)
            .header("anthropic-version", "2023-06-01");
        let answer = request.body("{}").send().await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{name}");
        let body: Value =
            serde_json::from_str(&answer.text().await.expect("a body")).expect("JSON");
        assert_eq!(body["error"]["type"], "permission_error");
    }
    assert_eq!(upstream.count(), 0);
}

/// A stream of events that says a few words, and then nothing, or breaks off.
fn begun(words: &'static str, breaks_off: bool) -> Response<Body> {
    let mut words = Some(Bytes::from_static(words.as_bytes()));
    let mut wait = Box::pin(tokio::time::sleep(Duration::from_millis(200)));
    let broken = || Some(Err(std::io::ErrorKind::Other.into()));
    let pieces = std::future::poll_fn(move |context| match words.take() {
        Some(words) => std::task::Poll::Ready(Some(Ok(words))),
        None if breaks_off => wait.as_mut().poll(context).map(|()| broken()),
        None => std::task::Poll::Pending,
    });
    let mut response = Response::new(Body::new(http_body_util::StreamBody::new(Pieces(pieces))));
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

#[tokio::test]
async fn a_stream_that_breaks_off_at_its_beginning_breaks_off_for_the_client() {
    let upstream = upstream(|_, _| begun(": wait\n\n", true));
    let (url, _) = start(builder(upstream.address, 100_000, 50_000));
    let request = client().post(format!("{url}/v1/chat/completions"));
    let whole = match request.body(chat(1, "Aino")).send().await {
        Ok(answer) => answer.bytes().await,
        Err(error) => Err(error),
    };
    assert!(whole.is_err(), "{whole:?}");
}

#[tokio::test]
async fn a_client_learns_soon_that_an_answer_is_on_its_way() {
    let upstream = upstream(|_, _| begun(": wait\n\n", false));
    let (url, _) = start(builder(upstream.address, 100_000, 50_000));
    let asked = tokio::time::timeout(Duration::from_secs(5), ask(&url, chat(1, "Aino")));
    let mut answer = asked.await.expect("an answer in time");
    let first = answer.chunk().await.expect("a body");
    assert_eq!(first.as_deref(), Some(&b": wait\n\n"[..]));
}

#[tokio::test]
async fn errors_redirects_and_nonsense_of_an_upstream_pass_as_they_are() {
    let answers: [(u16, &str, &str); 5] = [
        (
            429,
            "application/json",
            r#"{"error": {"type": "rate_limit_error", "message": "slow down"}}"#,
        ),
        (302, "text/plain", "elsewhere"),
        (503, "text/html", "<h1>Busy</h1>"),
        (200, "text/event-stream", "data: {\"half"),
        (
            400,
            "application/json",
            r#"{"error": {"message": "temperature must be <= 2"}}"#,
        ),
    ];
    let upstream = upstream(move |number, _| {
        let (status, kind, body) = answers[number];
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = StatusCode::from_u16(status).expect("a status");
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(
            header::LOCATION,
            HeaderValue::from_static("http://evil.example/"),
        );
        response
    });
    let (url, _) = start(builder(upstream.address, 100_000, 50_000));
    for (status, _, body) in answers {
        let answer = ask(&url, chat(2, "Aino")).await;
        assert_eq!(answer.status(), status);
        assert_eq!(answer.text().await.expect("a body"), body);
    }
    assert_eq!(upstream.count(), answers.len());
}

#[tokio::test]
async fn a_client_without_the_token_is_refused_and_the_token_goes_no_further() {
    let upstream = upstream(ok);
    let token = Token::new("0123456789abcdef").expect("a token");
    let (_folder, views) = folder();
    let (url, _) = start(
        builder(upstream.address, 400, 200)
            .token(token)
            .views(&views),
    );
    let request = || {
        client()
            .post(format!("{url}/v1/chat/completions"))
            .body(chat(30, "Aino"))
    };
    let refused = request()
        .header("authorization", "Bearer 0123456789abcdef")
        .send()
        .await
        .expect("an answer");
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(upstream.count(), 0);
    let answer = request()
        .header("x-baler-token", "0123456789abcdef")
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.headers()["x-baler"], "compacted");
    assert!(!upstream.last().headers.contains_key("x-baler-token"));
    assert!(!views.exists(), "nothing of several people is stored");
    let exposed =
        builder(upstream.address, 400, 200).bind("0.0.0.0:0".parse().expect("an address"));
    assert!(exposed.is_err());
}

#[tokio::test]
async fn a_body_that_stops_arriving_is_refused() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let upstream = upstream(ok);
    let limits = ServerLimits {
        read_time: Duration::from_millis(50),
        ..Proxy::limits()
    };
    let proxy = builder(upstream.address, 100, 50)
        .limits(limits)
        .bind(anywhere())
        .expect("a proxy");
    let address = proxy.address();
    tokio::spawn(proxy.serve(std::future::pending()));
    let mut stream = tokio::net::TcpStream::connect(address)
        .await
        .expect("a connection");
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 900\r\n\r\n{\"mess";
    stream.write_all(head.as_bytes()).await.expect("is written");
    let mut answer = vec![0; 64];
    let read = stream.read(&mut answer).await.expect("an answer");
    assert!(String::from_utf8_lossy(&answer[..read]).starts_with("HTTP/1.1 408"));
    assert_eq!(upstream.count(), 0);
}
