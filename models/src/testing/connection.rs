//! One connection: a request is read, a reply is written in the way that the script says.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::replies::{Manner, Reply};
use super::server::Stage;

/// A request, as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// `POST`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names, in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body, as text.
    pub body: String,
}

impl Recorded {
    /// The value of a header. The name is in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `null` where it is none.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// More than any test sends.
const MOST: usize = 64 * 1024 * 1024;
/// Nobody who sends a request to this machine takes longer for the next piece of it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Longer than any test waits.
const FOR_EVER: Duration = Duration::from_secs(60 * 60);

/// Reads a request and replies. Errors are the client's going away.
pub(super) fn serve(mut stream: TcpStream, stage: &Stage) {
    let served = stream
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| stream.set_nodelay(true))
        .and_then(|()| read(&mut stream))
        .and_then(|request| {
            let reply = stage.reply_to(request);
            write(&mut stream, &reply, stage)
        });
    if served.is_ok() {
        // Closing with unread bytes would reset the connection before the reply is read.
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read(&mut [0]);
    }
}

fn read(stream: &mut TcpStream) -> io::Result<Recorded> {
    const END: &[u8] = b"\r\n\r\n";
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(END.len()).position(|bytes| bytes == END) {
            break end;
        }
        more(stream, &mut bytes)?;
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
        more(stream, &mut bytes)?;
    }
    Ok(Recorded {
        method: request.next().unwrap_or_default(),
        path: request.next().unwrap_or_default(),
        headers,
        body: String::from_utf8_lossy(&bytes[start..start + length]).into_owned(),
    })
}

fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut piece = [0; 16 * 1024];
    let read = stream.read(&mut piece)?;
    if read == 0 || bytes.len() > MOST {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    bytes.extend_from_slice(&piece[..read]);
    Ok(())
}

fn write(stream: &mut TcpStream, reply: &Reply, stage: &Stage) -> io::Result<()> {
    if !stage.wait(reply.delay) {
        return Ok(());
    }
    let head = reply.head();
    let bytes = [head.as_bytes(), &reply.body].concat();
    match reply.manner {
        Manner::Whole => stream.write_all(&bytes)?,
        Manner::Silent => {
            stage.wait(FOR_EVER);
        }
        Manner::Trickled(pause) => {
            stream.write_all(head.as_bytes())?;
            for byte in &reply.body {
                stream.write_all(&[*byte])?;
                if !stage.wait(pause) {
                    break;
                }
            }
        }
        Manner::HangingBehind(bytes_of_body) => {
            stream.write_all(&bytes[..(head.len() + bytes_of_body).min(bytes.len())])?;
            stage.wait(FOR_EVER);
        }
        Manner::ClosedBehind(bytes_of_body) => {
            stream.write_all(&bytes[..(head.len() + bytes_of_body).min(bytes.len())])?;
        }
        Manner::Endless => {
            stream.write_all(head.as_bytes())?;
            while stage.wait(Duration::ZERO) && !reply.body.is_empty() {
                stream.write_all(&reply.body)?;
            }
        }
    }
    stream.flush()
}
