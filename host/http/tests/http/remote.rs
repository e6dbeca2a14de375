use std::net::SocketAddr;
use std::time::{Duration, Instant};

use baler_generated::Kind;
use baler_host::{
    Budget, Compaction, Format, Host, Limits, Request, Strategy,
    conversation::ReadOptions,
    receipt::{AttemptResult, Outcome, Unchanged},
    remote::{Operation, Remote as _, RemoteError},
    strategy::Decision,
};
use baler_http::{HttpRemote, Token};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::support::{generated_conversation, get, host, journey, serve};

/// Time limit of a remote strategy in these tests; and the additional time that a busy machine may need.
const TIME: Duration = Duration::from_millis(800);
const TOLERANCE: Duration = Duration::from_secs(15);

fn behind(url: &str) -> Strategy {
    let remote = HttpRemote::new(url).expect("a URL");
    Strategy::remote(remote.shared()).with_limits(Limits::default().with_time(TIME))
}

/// A remote strategy with enough time, for a server that works.
fn good(url: &str) -> Strategy {
    let strategy = behind(url);
    let time = Duration::from_secs(30);
    strategy.with_limits(Limits::default().with_time(time))
}

async fn compact(host: &Host, strategy: Strategy) -> Compaction {
    let conversation = host.read(journey().to_string()).expect("reads");
    host.compact(&conversation, &[strategy], &Request::default())
        .await
        .expect("no archive that could fail")
}

/// PL-8, PL-11: local and remote have the same type and the same result.
#[tokio::test(flavor = "multi_thread")]
async fn two_chained_servers_compact_conversations_of_every_format() {
    let last = serve(|builder| builder).await;
    let middle = serve(|builder| builder.chain(vec![good(&last.url())])).await;
    let host = host();
    for kind in Kind::ALL {
        let mut compacted = 0;
        for seed in 0..3 {
            let format: Format = kind.name().parse().expect("a format");
            let options = ReadOptions::default().with_format(Some(format));
            let document = host
                .read_with(generated_conversation(kind, seed).into_bytes(), options)
                .expect("reads");
            let local = host
                .compact(&document, &[Strategy::digest()], &Request::default())
                .await
                .expect("works");
            let far = host
                .compact(&document, &[good(&middle.url())], &Request::default())
                .await
                .expect("works");
            let receipt = far.receipt();
            assert_eq!(
                receipt.outcome,
                local.receipt().outcome,
                "{kind:?} {seed}: {:?}",
                receipt.attempts
            );
            assert!(
                !receipt.fell_back,
                "{kind:?} {seed}: {:?}",
                receipt.attempts
            );
            assert!(
                far.conversation().broken().next().is_none(),
                "{kind:?} {seed}"
            );
            compacted += usize::from(far.is_compacted());
        }
        assert!(compacted > 0, "{kind:?}");
    }
    let figures = get(&last, "/metrics").await.body;
    assert!(
        figures.contains("route=\"compact\",status=\"200\""),
        "the last server was called: {figures}"
    );
    assert!(!figures.contains("status=\"4"), "{figures}");
}

#[test]
fn remote_strategies_of_one_server_have_distinct_names() {
    for (url, name) in [
        ("http://127.0.0.1:7410/", "127.0.0.1-7410"),
        ("http://127.0.0.1:07410", "127.0.0.1-7410"),
        ("http://127.0.0.1:7410/one", "127.0.0.1-7410-one"),
        ("http://127.0.0.1:7410/two/", "127.0.0.1-7410-two"),
    ] {
        assert_eq!(behind(url).name(), name, "{url}");
    }
    let long = "http://strategies.of.a.host.with.a.long.name.example.org/team";
    let [one, other] = ["one", "two"].map(|path| behind(&format!("{long}/{path}")));
    assert_ne!(one.name(), other.name());
    let start = "strategies.of.a.host.with.a.long.name.e-";
    assert!(one.name().starts_with(start), "{}", one.name());
}

/// What a misbehaving server does with a connection after a request to compact.
type Act = fn(TcpStream) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Starts a server that answers `introspect` with an empty object and misbehaves on other requests.
async fn bad(act: Act) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = Vec::new();
                let mut buffer = [0; 4096];
                while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                    match stream.read(&mut buffer).await {
                        Ok(read) if read > 0 => head.extend_from_slice(&buffer[..read]),
                        _ => return,
                    }
                }
                if head.starts_with(b"POST /v1/introspect") {
                    answer(&mut stream, "200 OK", "{}").await;
                } else {
                    act(stream).await;
                }
            });
        }
    });
    address
}

async fn answer(stream: &mut TcpStream, status: &str, body: &str) {
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nLocation: http://127.0.0.1:1/\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(text.as_bytes()).await;
    // The request may not be read completely; closing now would discard the answer.
    let _ = stream.shutdown().await;
    let mut rest = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(2), stream.read_to_end(&mut rest)).await;
}

macro_rules! act {
    ($stream:ident => $body:block) => {
        |stream: TcpStream| {
            Box::pin(async move {
                // The connection stays open until the body has run.
                #[allow(unused_mut, reason = "some bodies only hold it")]
                let mut $stream = stream;
                $body
                drop($stream);
            })
        }
    };
}

/// A kind of misbehaviour: what the server does, and the code of the fault.
type Misbehaviour = (&'static str, Act, &'static str);

fn slow_servers() -> [Misbehaviour; 4] {
    [
        (
            "hangs",
            act!(stream => { tokio::time::sleep(Duration::from_secs(60)).await; }),
            "timeout",
        ),
        (
            "trickles its head",
            act!(stream => {
                for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n".iter().cycle() {
                    if stream.write_all(&[*byte]).await.is_err() { return; }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }),
            "timeout",
        ),
        (
            "trickles its body",
            act!(stream => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n").await;
                while stream.write_all(b" ").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }),
            "timeout",
        ),
        (
            "floods with interim answers",
            act!(stream => {
                let flood = "HTTP/1.1 100 Continue\r\n\r\n".repeat(40_000);
                while stream.write_all(flood.as_bytes()).await.is_ok() {}
            }),
            "timeout",
        ),
    ]
}

fn servers_with_invalid_answers() -> [Misbehaviour; 4] {
    [
        (
            "answers garbage",
            act!(stream => { answer(&mut stream, "200 OK", "\u{1}garbage").await; }),
            "output-malformed",
        ),
        (
            "answers HTML",
            act!(stream => { answer(&mut stream, "200 OK", "<!doctype html><title>Welcome").await; }),
            "output-malformed",
        ),
        (
            "drops a protected unit",
            act!(stream => { answer(&mut stream, "200 OK", DROPS_PROTECTED).await; }),
            "invalid-plan",
        ),
        (
            "answers far too much",
            act!(stream => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n").await;
                let spaces = vec![b' '; 1 << 20];
                while stream.write_all(&spaces).await.is_ok() {}
            }),
            "output-too-large",
        ),
    ]
}

fn failing_servers() -> [Misbehaviour; 5] {
    [
        (
            "does not speak HTTP",
            act!(stream => {
                let _ = stream.write_all(b"\x16\x03\x01 what?\r\n\r\n").await;
                tokio::time::sleep(Duration::from_millis(200)).await;
            }),
            "remote",
        ),
        (
            "fails",
            act!(stream => { answer(&mut stream, "500 Internal Server Error", "Traceback").await; }),
            "remote",
        ),
        (
            "requires a token",
            act!(stream => { answer(&mut stream, "401 Unauthorized", "").await; }),
            "remote",
        ),
        (
            "redirects",
            act!(stream => { answer(&mut stream, "307 Temporary Redirect", "").await; }),
            "remote",
        ),
        (
            "hangs up within its answer",
            act!(stream => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"outcome\":").await;
                let _ = stream.shutdown().await;
            }),
            "remote",
        ),
    ]
}

/// P15, PL-15, PL-S33, PV7, PL-N11, ALL-N15
#[tokio::test(flavor = "multi_thread")]
async fn misbehaving_servers_are_faults_and_the_fallback_runs_in_time() {
    let drops_protected =
        json!({"outcome": {"compacted": {"pieces": [{"keep": {"first": 0, "count": 1}}]}}});
    assert_eq!(drops_protected.to_string(), DROPS_PROTECTED);
    let cases = slow_servers()
        .into_iter()
        .chain(servers_with_invalid_answers())
        .chain(failing_servers());
    let host = host();
    for (what, act, fault) in cases {
        let address = bad(act).await;
        let start = Instant::now();
        let compaction = compact(&host, behind(&format!("http://{address}"))).await;
        let time = start.elapsed();
        let receipt = compaction.receipt();
        assert_eq!(
            receipt.attempts[0].result.code(),
            fault,
            "{what}: {:?}",
            receipt.attempts[0]
        );
        assert_eq!(receipt.strategy.as_deref(), Some("native:digest"), "{what}");
        assert!(
            compaction.conversation().broken().next().is_none(),
            "{what}"
        );
        assert!(time < TIME + TOLERANCE, "{what}: {time:?}");
    }
}

const DROPS_PROTECTED: &str =
    r#"{"outcome":{"compacted":{"pieces":[{"keep":{"count":1,"first":0}}]}}}"#;

/// P15, PL-S33
#[tokio::test]
async fn fallback_runs_at_once_if_nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let start = Instant::now();
    let compaction = compact(&host(), behind(&format!("http://{address}"))).await;
    assert_eq!(compaction.receipt().attempts[0].result.code(), "remote");
    assert!(compaction.is_compacted());
    assert!(start.elapsed() < TOLERANCE);
}

/// Linux does not answer a connection attempt while the queue of the server is full.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn full_server_is_told_apart_from_an_absent_one() {
    let socket = TcpSocket::new_v4().expect("a socket");
    let any = "127.0.0.1:0".parse().expect("an address");
    socket.bind(any).expect("binds");
    let listener = socket.listen(1).expect("listens");
    let address = listener.local_addr().expect("an address");
    let moment = Duration::from_millis(200);
    let mut queue = Vec::new();
    while queue.len() < 16
        && let Ok(stream) = tokio::time::timeout(moment, TcpStream::connect(address)).await
    {
        queue.push(stream.expect("connects"));
    }
    let remote = HttpRemote::new(&format!("http://{address}")).expect("a URL");
    let remote = remote.connect_time(moment);
    let ask = async || remote.ask(Operation::Compact, String::new(), 16).await;
    assert_eq!(ask().await, Err(RemoteError::ConnectTimeout));
    drop((queue, listener));
    assert_eq!(ask().await, Err(RemoteError::Unreachable));
}

#[tokio::test]
async fn token_that_the_server_repeats_is_redacted() {
    let act: Act = act!(stream => {
        answer(&mut stream, "200 OK", r#"{"outcome":{"unchanged":"Bearer s3cret-t0ken"}}"#).await;
    });
    let address = bad(act).await;
    let token = Token::new("s3cret-t0ken").expect("a token");
    let remote = HttpRemote::new(&format!("http://{address}")).expect("a URL");
    let remote = remote.token(token).expect("it is this machine");
    let said = remote.ask(Operation::Compact, String::new(), 1_000).await;
    let expected = br#"{"outcome":{"unchanged":"Bearer [token]"}}"#;
    assert_eq!(said, Ok(expected.to_vec()));
}

/// P12, P13: with half of the settings of a remote strategy there is none, and nothing is called.
#[tokio::test]
async fn without_a_remote_the_native_strategy_decides() {
    let host = host();
    let short = host
        .read(r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hello."}]}"#)
        .expect("reads");
    let compaction = host
        .compact(&short, &[], &Request::default())
        .await
        .expect("works");
    assert!(matches!(
        compaction.receipt().outcome,
        Outcome::Unchanged(Unchanged::WithinBudget | Unchanged::AtFloor)
    ));
    assert!(HttpRemote::new("baler").is_err(), "a name is not a URL");
    assert!(
        HttpRemote::new("http://").is_err(),
        "a scheme alone is not a URL"
    );
}

/// PL-I2, PL-I8
#[tokio::test(flavor = "multi_thread")]
async fn should_compact_is_asked_over_http_and_the_host_decides_on_failure() {
    let server = serve(|builder| builder).await;
    let host = host();
    let conversation = host.read(journey().to_string()).expect("reads");
    let absent: SocketAddr = "127.0.0.1:1".parse().expect("an address");
    for (url, is_good) in [(server.url(), true), (format!("http://{absent}"), false)] {
        for (tokens, is_time) in [(100, true), (100_000, false)] {
            let request = Request::default().with_budget(Budget::Tokens(tokens));
            let gate = host
                .should_compact(&conversation, &good(&url), &request)
                .await;
            assert_eq!(gate.decision, Decision::HostDecides);
            assert_eq!(gate.is_due, is_time);
            assert_eq!(
                matches!(gate.attempt.result, AttemptResult::Accepted),
                is_good
            );
        }
    }
}
