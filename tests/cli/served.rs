//! What `baler proxy` serves itself.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::json;

use crate::support::Bench;

/// A running proxy, which ends with its value.
struct Running {
    child: Child,
    address: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn proxy(bench: &Bench, options: &[&str]) -> Running {
    let mut command = bench.command();
    command
        .args(["proxy", "--listen", "127.0.0.1:0"])
        .args(options);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let first = lines.next().expect("a line").expect("text");
    let address = first.strip_prefix("listening on http://").expect(&first);
    let address = address.split(';').next().expect("an address").to_owned();
    Running { child, address }
}

/// Sends a request, and returns the whole answer.
fn send(proxy: &Running, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(&proxy.address).expect("it listens");
    let (host, length) = (&proxy.address, body.len());
    let request = format!(
        "{head}\r\nhost: {host}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

#[test]
fn a_proxy_serves_its_metrics() {
    let bench = Bench::new();
    let proxy = proxy(&bench, &[]);
    let answer = send(&proxy, "GET /metrics HTTP/1.1", "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(
        answer.contains("\nbaler_proxy_compactions_total 0\n"),
        "{answer}"
    );
}

const POST: &str = "POST /mcp HTTP/1.1\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-06-18";

#[test]
fn a_proxy_serves_the_tool_that_retrieves() {
    let bench = Bench::new();
    let proxy = proxy(&bench, &[]);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "retrieve", "arguments": {"query": "herons"}}});
    let answer = send(&proxy, POST, &call.to_string());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("Nothing"), "{answer}");
    let of_a_page = format!("{POST}\r\norigin: https://page.example");
    let answer = send(&proxy, &of_a_page, &call.to_string());
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}

#[test]
fn a_proxy_that_several_people_share_does_not_serve_the_tool() {
    let bench = Bench::new();
    let token = bench.file("token", "a-token-that-is-long-enough-0123456789");
    let proxy = proxy(&bench, &["--token-file", &token]);
    let head = format!("{POST}\r\nx-baler-token: a-token-that-is-long-enough-0123456789");
    let answer = send(&proxy, &head, "{}");
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
}
