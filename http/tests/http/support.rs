use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use baler_generated::{Choices, Kind, conversation};
use baler_host::{EngineLimits, Host};
use baler_http::{Server, ServerBuilder, ServerLimits};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) fn host() -> Host {
    let limits = EngineLimits {
        concurrent_calls: 4,
        ..EngineLimits::default()
    };
    Host::builder().limits(limits).build().expect("a host")
}

/// A server that runs until it is dropped or stopped.
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

/// A server with limits for tests.
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
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The code of an error.
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
    // A server may refuse before it has read everything.
    let _ = stream
        .write_all(format!("{head}\r\n{body}").as_bytes())
        .await;
    receive(&mut stream).await
}

/// Sends a request and does not read its answer, with so little room for one that most of a large
/// answer cannot be sent.
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

/// Waits until something is so.
pub(crate) async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..400 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it did not come to that");
}

/// A figure of the server's.
pub(crate) async fn figure(server: &Running, name: &str) -> usize {
    let figures = get(server, "/metrics").await.body;
    let value = figures
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    value.unwrap_or_else(|| panic!("no `{name}`: {figures}"))
}

/// Reads a response to its end.
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

/// A made-up conversation of about forty messages.
pub(crate) fn made(kind: Kind, seed: u64) -> String {
    conversation(kind, 40, &mut Choices::from_seed(seed)).document()
}

/// A talk of `legs` messages of about two hundred characters.
pub(crate) fn talk(legs: usize) -> Value {
    let messages: Vec<Value> = (0..legs)
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

/// A talk that ends with the user.
pub(crate) fn journey() -> Value {
    talk(21)
}

/// A request to compact it.
pub(crate) fn ask() -> String {
    json!({"conversation": journey(), "budget": 200}).to_string()
}
