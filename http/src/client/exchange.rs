//! One question and its answer.

use std::io;

use baler_host::{Question, RemoteError};
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
use crate::descriptors::is_out_of_room;

/// Bytes that are read at once, and the most that the head of an answer may have. Interim answers (`100 Continue`)
/// are passed over in one go as far as they are read, and no deadline is looked at meanwhile: so they are read in
/// small pieces.
const READ_AT_ONCE: usize = 16 * 1024;

/// Dropping the future closes the connection, by which the server knows that nobody waits.
pub(super) async fn ask(
    remote: &HttpRemote,
    question: Question,
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
        Some(token) => token.taken_out_of(answer),
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
        .map_err(|error| unconnected(&error))?;
    let _ = stream.set_nodelay(true);
    let Some(tls) = &remote.tls else {
        // `localhost` is what the machine's resolver takes it for.
        if remote.token.is_some() && !is_of_this_machine(&stream) {
            return Err(RemoteError::Unreachable);
        }
        return Ok(Stream::Plain(stream));
    };
    let name = ServerName::try_from(address.host.clone()).map_err(|_| RemoteError::Unreachable)?;
    let stream = tls.connect(name, stream).await;
    stream
        .map(|stream| Stream::Secure(Box::new(stream)))
        .map_err(|error| unsecured(&error))
}

/// Why a connection could not be made secure. One that breaks meanwhile breaks as it can later: a
/// server or a network that has too much to do causes that, so it tells nothing of the server.
fn unsecured(error: &io::Error) -> RemoteError {
    match error.kind() {
        // What came is no TLS, or of a server that is not trusted: nobody is there to be asked.
        io::ErrorKind::InvalidData => RemoteError::Unreachable,
        io::ErrorKind::TimedOut => RemoteError::ConnectTimeout,
        _ if is_out_of_room(error) => RemoteError::NoRoom,
        _ => RemoteError::Connection,
    }
}

/// Why there is no connection. What this process itself lacks is no fault of the server's.
fn unconnected(error: &io::Error) -> RemoteError {
    // A name that could not be looked up for want of a descriptor is told as one that is not
    // known, so it is tried whether there is one.
    let is_looked_up = error.raw_os_error().is_some();
    let cannot_open = || TcpSocket::new_v4().is_err_and(|error| is_out_of_room(&error));
    if is_out_of_room(error) || (!is_looked_up && cannot_open()) {
        RemoteError::NoRoom
    } else if error.kind() == io::ErrorKind::TimedOut {
        RemoteError::ConnectTimeout
    } else {
        RemoteError::Unreachable
    }
}

fn is_of_this_machine(stream: &TcpStream) -> bool {
    stream
        .peer_addr()
        .is_ok_and(|peer| peer.ip().to_canonical().is_loopback())
}

fn request(
    remote: &HttpRemote,
    question: Question,
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
            // What came before it closed can still be read.
            _ = &mut connection, if is_open => is_open = false,
        }
    }
}

async fn read(response: Response<Incoming>, most_bytes: usize) -> Result<Vec<u8>, RemoteError> {
    // A redirect is one of these too: the conversation goes to nobody else.
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
    fn what_this_process_lacks_is_no_fault_of_the_server() {
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
            assert_eq!(unconnected(&error), expected, "{error}");
        }
        // There are descriptors, so the name is not known.
        let unknown = io::Error::other("failed to lookup address information");
        assert_eq!(unconnected(&unknown), RemoteError::Unreachable);
    }

    #[test]
    fn a_tls_handshake_that_breaks_is_a_broken_connection_and_a_wrong_certificate_is_no_server() {
        let of_kind = |kind| unsecured(&io::Error::from(kind));
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
        assert_eq!(unsecured(&no_memory), RemoteError::NoRoom);
        let unknown = Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let untrusted = io::Error::new(io::ErrorKind::InvalidData, unknown);
        assert_eq!(unsecured(&untrusted), RemoteError::Unreachable);
    }
}
