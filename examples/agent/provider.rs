//! The agent's model, as a server on loopback.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::Context as _;
use baler_models::testing::{Reply, ScriptedServer};
use serde_json::Value;

/// What the server does with a request.
pub(crate) enum Provided {
    Answer,
    Error(u16),
    CloseMidAnswer,
    TooLong,
}

pub(crate) struct Server(ScriptedServer);

impl Server {
    pub(crate) fn start() -> io::Result<Self> {
        ScriptedServer::start([]).map(Self)
    }

    /// Sends a request and reads the answer; or the status, 0 where nothing sensible came.
    pub(crate) fn ask(
        &self,
        request: &str,
        provided: Provided,
        answer: &Value,
    ) -> anyhow::Result<Result<Value, u16>> {
        self.0.queue(match provided {
            Provided::Answer => Reply::json(200, answer),
            Provided::Error(status) => Reply::body(status, "application/json", "{}"),
            Provided::TooLong => Reply::body(413, "application/json", "{}"),
            Provided::CloseMidAnswer => Reply::raw(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{\"cho",
            ),
        });
        let response = self.post(request).context("the model's server is gone")?;
        let Some((head, body)) = response.split_once("\r\n\r\n") else {
            return Ok(Err(0));
        };
        let status: u16 = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or(0);
        if status != 200 {
            return Ok(Err(status));
        }
        Ok(serde_json::from_str(body).map_err(|_| 0))
    }

    fn post(&self, body: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(self.0.address())?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: agent\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        let mut response = Vec::new();
        // What was closed half way is read as far as it came.
        let _ = stream.read_to_end(&mut response);
        Ok(String::from_utf8_lossy(&response).into_owned())
    }
}
