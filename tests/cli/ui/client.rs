//! A served page, and a client as small as HTTP lets it be.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::support::Bench;

/// A running server. It ends with the test.
pub(super) struct Served {
    child: Child,
    pub(super) address: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer.
pub(super) struct Answer {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    /// The links of a page that begin so.
    pub(super) fn links(&self, start: &str) -> Vec<String> {
        let opens = format!("href=\"{start}");
        let after = self.body.split(&opens).skip(1);
        let rest = after.filter_map(|rest| rest.split('"').next());
        rest.map(|rest| format!("{start}{rest}")).collect()
    }
}

impl Served {
    /// Starts `baler ui`.
    pub(super) fn start(bench: &Bench, options: &[&str]) -> Self {
        Self::command(bench, "ui", options)
    }

    /// Starts a command that listens.
    pub(super) fn command(bench: &Bench, command: &str, options: &[&str]) -> Self {
        let mut child = bench
            .command()
            .args([command, "--listen", "127.0.0.1:0"])
            .args(options)
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut lines = stderr.lines().map(|line| line.expect("text"));
        let said = lines
            .find(|line| line.starts_with("listening on http://"))
            .expect("it listens");
        let rest = said.trim_start_matches("listening on http://");
        let end = rest.find(['/', ';']).unwrap_or(rest.len());
        Self {
            child,
            address: rest[..end].to_owned(),
        }
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "127.0.0.1", &[], b"")
    }

    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        host: &str,
        headers: &[&str],
        body: &[u8],
    ) -> Answer {
        let mut stream = TcpStream::connect(&self.address).expect("connects");
        let more: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\n{more}\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("writes");
        stream.write_all(body).expect("writes");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("reads");
        let answer = String::from_utf8(answer).expect("UTF-8");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let header = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_ascii_lowercase(), value.to_owned()))
        };
        Answer {
            status: status.and_then(|code| code.parse().ok()).expect("a status"),
            headers: lines.filter_map(header).collect(),
            body: body.to_owned(),
        }
    }
}
