//! Serves one connection: reads a request, and writes the scripted reply.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::reply::{Delivery, Reply};
use super::server::Shared;

/// A request that the server received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRequest {
    /// The method, such as `POST`.
    pub method: String,
    /// The path with the query.
    pub path: String,
    /// The headers: names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body, as text.
    pub body: String,
}

impl RecordedRequest {
    /// Returns the value of a header. Give the name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON; `null` if it is not JSON.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// The most bytes of a request, more than any test sends.
const MAX_REQUEST_BYTES: usize = 64 * 1024 * 1024;
/// How long to wait for the next part of a request.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Longer than any test waits.
const FOREVER: Duration = Duration::from_secs(60 * 60);

/// Reads a request and replies. Ignores errors, which mean that the client disconnected.
pub(super) fn serve(mut stream: TcpStream, shared: &Shared) {
    let served = stream
        .set_read_timeout(Some(READ_TIMEOUT))
        .and_then(|()| stream.set_nodelay(true))
        .and_then(|()| read(&mut stream))
        .and_then(|request| {
            let reply = shared.reply_to(request);
            write(&mut stream, &reply, shared)
        });
    if served.is_ok() {
        // Closing with unread bytes would reset the connection before the reply is read.
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read(&mut [0]);
    }
}

fn read(stream: &mut TcpStream) -> io::Result<RecordedRequest> {
    const END: &[u8] = b"\r\n\r\n";
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(END.len()).position(|bytes| bytes == END) {
            break end;
        }
        read_more(stream, &mut bytes)?;
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut request = lines
        .next()
        .unwrap_or_default()
        .split(' ')
        .map(str::to_owned);
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .and_then(|(_, length)| length.parse::<usize>().ok())
        .unwrap_or_default();
    let start = end + END.len();
    while bytes.len() - start < length {
        read_more(stream, &mut bytes)?;
    }
    Ok(RecordedRequest {
        method: request.next().unwrap_or_default(),
        path: request.next().unwrap_or_default(),
        headers,
        body: String::from_utf8_lossy(&bytes[start..start + length]).into_owned(),
    })
}

fn read_more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut piece = [0; 16 * 1024];
    let read = stream.read(&mut piece)?;
    if read == 0 || bytes.len() > MAX_REQUEST_BYTES {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    bytes.extend_from_slice(&piece[..read]);
    Ok(())
}

fn write(stream: &mut TcpStream, reply: &Reply, shared: &Shared) -> io::Result<()> {
    if !shared.wait(reply.delay) {
        return Ok(());
    }
    let head = reply.head();
    let bytes = [head.as_bytes(), &reply.body].concat();
    match reply.delivery {
        Delivery::Whole => stream.write_all(&bytes)?,
        Delivery::Silent => {
            shared.wait(FOREVER);
        }
        Delivery::Trickled(pause) => {
            stream.write_all(head.as_bytes())?;
            for byte in &reply.body {
                stream.write_all(&[*byte])?;
                if !shared.wait(pause) {
                    break;
                }
            }
        }
        Delivery::StallingAfter(bytes_of_body) => {
            stream.write_all(&bytes[..(head.len() + bytes_of_body).min(bytes.len())])?;
            shared.wait(FOREVER);
        }
        Delivery::ClosedAfter(bytes_of_body) => {
            stream.write_all(&bytes[..(head.len() + bytes_of_body).min(bytes.len())])?;
        }
        Delivery::Endless => {
            stream.write_all(head.as_bytes())?;
            while shared.wait(Duration::ZERO) && !reply.body.is_empty() {
                stream.write_all(&reply.body)?;
            }
        }
    }
    stream.flush()
}
