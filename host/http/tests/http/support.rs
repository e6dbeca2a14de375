use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use baler_generated::{Choices, Kind, conversation};
use baler_host::{Host, strategy::EngineLimits};
use baler_http::{Server, ServerBuilder, ServerLimits};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) fn host() -> Host {
    let limits = EngineLimits::default().with_concurrent_calls(4);
    Host::builder().limits(limits).build().expect("a host")
}

/// A server that runs until this is dropped or stopped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) done: JoinHandle<()>,
}

impl Running {
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn stop(&mut self) {
        self.stop.take();
    }
}

/// Starts a server on a free loopback port.
pub(crate) async fn serve(change: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Running {
    let builder = change(Server::builder(host()));
    let server = builder
        .bind("127.0.0.1:0".parse().expect("an address"))
        .await
        .expect("binds");
    let (stop, stopped) = oneshot::channel::<()>();
    Running {
        address: server.address(),
        stop: Some(stop),
        done: tokio::spawn(server.serve(async {
            let _ = stopped.await;
        })),
    }
}

/// Starts a server with these limits.
pub(crate) async fn serve_within(limits: ServerLimits) -> Running {
    serve(|builder| builder.limits(limits)).await
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// Returns the code of an error response.
    pub(crate) fn code(&self) -> String {
        let error = self.json();
        assert!(error["error"]["message"].is_string(), "{self:?}");
        error["error"]["code"].as_str().expect("a code").to_owned()
    }
}

pub(crate) async fn post(server: &Running, path: &str, body: &str) -> Response {
    send(
        server.address,
        "POST",
        path,
        &[("Content-Type", "application/json")],
        body,
    )
    .await
}

pub(crate) async fn get(server: &Running, path: &str) -> Response {
    send(server.address, "GET", path, &[], "").await
}

pub(crate) async fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        if *name == "Host" {
            head = head.replacen(&format!("Host: {address}"), &format!("Host: {value}"), 1);
        } else {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    let mut stream = TcpStream::connect(address).await.expect("connects");
    // The server may refuse the request before it has read everything.
    let _ = stream
        .write_all(format!("{head}\r\n{body}").as_bytes())
        .await;
    receive(&mut stream).await
}

/// Sends a request and does not read its response. The receive buffer is so small that most of a large
/// response cannot be sent.
pub(crate) async fn ask_without_reading(server: &Running, path: &str, body: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4_096).expect("sets it");
    let mut stream = socket.connect(server.address).await.expect("connects");
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("writes");
    stream
}

/// Waits until a condition holds, for at most 20 s and the time of the checks.
pub(crate) async fn until(mut condition: impl AsyncFnMut() -> bool) {
    for _ in 0..400 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the condition did not become true");
}

/// Returns the value of one of the server's metrics.
pub(crate) async fn figure(server: &Running, name: &str) -> usize {
    let figures = get(server, "/metrics").await.body;
    let value = figures
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    value.unwrap_or_else(|| panic!("no `{name}`: {figures}"))
}

/// Reads a response until the connection ends.
pub(crate) async fn receive(stream: &mut TcpStream) -> Response {
    let mut bytes = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(60), stream.read_to_end(&mut bytes))
        .await
        .expect("an answer");
    let text = String::from_utf8(bytes).expect("UTF-8");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1)?.parse().ok());
    Response {
        status: status.unwrap_or(0),
        headers: lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect(),
        body: body.to_owned(),
    }
}

/// A generated conversation of about forty messages.
pub(crate) fn generated_conversation(kind: Kind, seed: u64) -> String {
    conversation(kind, 40, &mut Choices::from_seed(seed)).document()
}

/// A conversation of `messages` messages of about two hundred characters each.
pub(crate) fn long_conversation(messages: usize) -> Value {
    let messages: Vec<Value> = (0..messages)
        .map(|index| {
            let role = if index % 2 == 0 { "user" } else { "assistant" };
            let content = format!(
                "Leg {index} of the journey: {}",
                "by night train, ".repeat(11)
            );
            json!({"role": role, "content": content})
        })
        .collect();
    json!({"model": "gpt-4o", "messages": messages})
}

/// A conversation of 21 messages that ends with the user.
pub(crate) fn journey() -> Value {
    long_conversation(21)
}

/// The body of a request to compact [`journey`].
pub(crate) fn compact_request() -> String {
    json!({"conversation": journey(), "budget": 200}).to_string()
}
