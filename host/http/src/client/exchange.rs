//! Sends one question to a server and reads its answer.

use std::io;

use baler_host::remote::{Operation, RemoteError};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper::{Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::rustls::pki_types::ServerName;

use super::HttpRemote;
use crate::descriptors::is_resource_exhaustion;

/// Bytes that are read at once, and the limit of a response's head. Interim responses (`100 Continue`)
/// that have been read are skipped in one go, without a check of the deadline. So they are read in small
/// pieces.
const READ_AT_ONCE: usize = 16 * 1024;

/// Sends a question and returns the answer, of at most `most_bytes` bytes. Dropping the future closes the
/// connection, which tells the server that nobody waits.
pub(super) async fn ask(
    remote: &HttpRemote,
    question: Operation,
    request: String,
    most_bytes: usize,
) -> Result<Vec<u8>, RemoteError> {
    let request = self::request(remote, question, request)?;
    let connect = tokio::time::timeout(remote.connect_time, connect(remote));
    let stream = connect.await.map_err(|_| RemoteError::ConnectTimeout)??;
    let answer = match stream {
        Stream::Plain(stream) => exchange(TokioIo::new(stream), request, most_bytes).await,
        Stream::Secure(stream) => exchange(TokioIo::new(*stream), request, most_bytes).await,
    }?;
    Ok(match &remote.token {
        Some(token) => token.redact(answer),
        None => answer,
    })
}

enum Stream {
    Plain(TcpStream),
    Secure(Box<tokio_rustls::client::TlsStream<TcpStream>>),
}

async fn connect(remote: &HttpRemote) -> Result<Stream, RemoteError> {
    let address = &remote.address;
    let stream = TcpStream::connect((address.host.as_str(), address.port))
        .await
        .map_err(|error| connect_error(&error))?;
    let _ = stream.set_nodelay(true);
    let Some(tls) = &remote.tls else {
        // The machine's resolver decides what `localhost` is.
        if remote.token.is_some() && !is_loopback(&stream) {
            return Err(RemoteError::Unreachable);
        }
        return Ok(Stream::Plain(stream));
    };
    let name = ServerName::try_from(address.host.clone()).map_err(|_| RemoteError::Unreachable)?;
    let stream = tls.connect(name, stream).await;
    stream
        .map(|stream| Stream::Secure(Box::new(stream)))
        .map_err(|error| tls_error(&error))
}

/// Returns why a TLS handshake failed. A connection that breaks during the handshake is like one that
/// breaks later: an overloaded server or network can cause it, so it does not mean that the server is
/// unreachable.
fn tls_error(error: &io::Error) -> RemoteError {
    match error.kind() {
        // The server does not speak TLS, or its certificate is not trusted.
        io::ErrorKind::InvalidData => RemoteError::Unreachable,
        io::ErrorKind::TimedOut => RemoteError::ConnectTimeout,
        _ if is_resource_exhaustion(error) => RemoteError::NoRoom,
        _ => RemoteError::Connection,
    }
}

/// Returns why a connection failed. A lack of resources in this process is not the server's fault.
fn connect_error(error: &io::Error) -> RemoteError {
    // If the lookup of a name fails for lack of a descriptor, the error looks like that of an unknown
    // name. So check whether a descriptor is free.
    let is_system_error = error.raw_os_error().is_some();
    let cannot_open = || TcpSocket::new_v4().is_err_and(|error| is_resource_exhaustion(&error));
    if is_resource_exhaustion(error) || (!is_system_error && cannot_open()) {
        RemoteError::NoRoom
    } else if error.kind() == io::ErrorKind::TimedOut {
        RemoteError::ConnectTimeout
    } else {
        RemoteError::Unreachable
    }
}

/// Whether the peer has a loopback address.
fn is_loopback(stream: &TcpStream) -> bool {
    stream
        .peer_addr()
        .is_ok_and(|peer| peer.ip().to_canonical().is_loopback())
}

fn request(
    remote: &HttpRemote,
    question: Operation,
    body: String,
) -> Result<Request<Full<Bytes>>, RemoteError> {
    let address = &remote.address;
    let mut request = Request::post(format!("{}/v1/{}", address.path, question.name()))
        .header(header::HOST, &address.authority)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json")
        .header(header::CONNECTION, "close");
    if let Some(token) = &remote.token {
        let mut value =
            header::HeaderValue::from_str(&token.header()).map_err(|_| RemoteError::Connection)?;
        value.set_sensitive(true);
        request = request.header(header::AUTHORIZATION, value);
    }
    request
        .body(Full::new(Bytes::from(body)))
        .map_err(|_| RemoteError::Connection)
}

async fn exchange<S: Read + Write + Unpin + Send + 'static>(
    stream: S,
    request: Request<Full<Bytes>>,
    most_bytes: usize,
) -> Result<Vec<u8>, RemoteError> {
    let (mut sender, mut connection) = http1::Builder::new()
        .read_buf_exact_size(Some(READ_AT_ONCE))
        .handshake(stream)
        .await
        .map_err(|_| RemoteError::Connection)?;
    let answer = async {
        let response = sender
            .send_request(request)
            .await
            .map_err(|_| RemoteError::Connection)?;
        read(response, most_bytes).await
    };
    let mut answer = std::pin::pin!(answer);
    let mut is_open = true;
    loop {
        tokio::select! {
            biased;
            answer = &mut answer => return answer,
            // The data that arrived before the connection closed can still be read.
            _ = &mut connection, if is_open => is_open = false,
        }
    }
}

async fn read(response: Response<Incoming>, most_bytes: usize) -> Result<Vec<u8>, RemoteError> {
    // This includes redirects: the conversation is sent to no other server.
    if response.status() != StatusCode::OK {
        return Err(RemoteError::Status(response.status().as_u16()));
    }
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| RemoteError::Connection)?;
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > most_bytes {
                return Err(RemoteError::TooLarge);
            }
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;
    use tokio_rustls::rustls::{CertificateError, Error};

    use super::*;

    #[test]
    fn lack_of_resources_is_told_apart_from_an_unreachable_server() {
        for (errno, expected) in [
            (Errno::MFILE, RemoteError::NoRoom),
            (Errno::NFILE, RemoteError::NoRoom),
            (Errno::NOMEM, RemoteError::NoRoom),
            (Errno::NOBUFS, RemoteError::NoRoom),
            (Errno::ADDRNOTAVAIL, RemoteError::NoRoom),
            (Errno::TIMEDOUT, RemoteError::ConnectTimeout),
            (Errno::CONNREFUSED, RemoteError::Unreachable),
            (Errno::HOSTUNREACH, RemoteError::Unreachable),
        ] {
            let error = io::Error::from_raw_os_error(errno.raw_os_error());
            assert_eq!(connect_error(&error), expected, "{error}");
        }
        // Descriptors are free, so the name is unknown.
        let unknown = io::Error::other("failed to lookup address information");
        assert_eq!(connect_error(&unknown), RemoteError::Unreachable);
    }

    #[test]
    fn broken_tls_handshake_is_told_apart_from_an_untrusted_certificate() {
        let of_kind = |kind| tls_error(&io::Error::from(kind));
        for kind in [
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::ConnectionAborted,
            io::ErrorKind::BrokenPipe,
            io::ErrorKind::UnexpectedEof,
        ] {
            assert_eq!(of_kind(kind), RemoteError::Connection, "{kind:?}");
        }
        assert_eq!(
            of_kind(io::ErrorKind::TimedOut),
            RemoteError::ConnectTimeout
        );
        let no_memory = io::Error::from_raw_os_error(Errno::NOBUFS.raw_os_error());
        assert_eq!(tls_error(&no_memory), RemoteError::NoRoom);
        let unknown = Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let untrusted = io::Error::new(io::ErrorKind::InvalidData, unknown);
        assert_eq!(tls_error(&untrusted), RemoteError::Unreachable);
    }
}
