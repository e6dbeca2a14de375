//! Servers behind TLS, with certificates made here: strategies and models are asked where the
//! certificate is one that this machine trusts, and told nothing where it is not.

use std::io::{self, Read, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use baler_models::Provider;
use baler_models::testing::{Reply, ScriptedServer};
use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

use super::{Serving, baler, journey};

/// Who signs certificates of servers.
struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// All have the same name, so that a client has to look at the signature.
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let names = &mut params.distinguished_name;
        names.push(DnType::CommonName, "Authority of tests");
        let key = KeyPair::generate().expect("a key");
        Self {
            certificate: params.self_signed(&key).expect("a certificate"),
            issuer: Issuer::new(params, key),
        }
    }

    /// A server's certificate for this name or address, good up to the end of this year.
    fn sign(&self, name: &str, last_year: i32) -> Arc<ServerConfig> {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(last_year, 12, 31);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("signs");
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            );
        Arc::new(config.expect("a certificate and its key"))
    }

    /// The file by which a client trusts it, and nobody else.
    fn trusted(&self, folder: &TempDir) -> PathBuf {
        let file = folder.path().join("trusted.pem");
        std::fs::write(&file, self.certificate.pem()).expect("writes");
        file
    }
}

/// Certificates that no client may take who trusts this authority.
fn refused(authority: &Authority) -> [(&'static str, Arc<ServerConfig>); 3] {
    [
        (
            "of nobody we trust",
            Authority::new().sign("127.0.0.1", 2999),
        ),
        (
            "of another server",
            authority.sign("baler.example.org", 2999),
        ),
        ("of the past", authority.sign("127.0.0.1", 2001)),
    ]
}

/// TLS in front of a server that speaks plain HTTP. It runs until the tests end.
struct Front {
    address: SocketAddr,
    /// Requests that were read whole.
    passed: Arc<AtomicUsize>,
}

impl Front {
    fn of(server: &str, config: Arc<ServerConfig>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let address = listener.local_addr().expect("an address");
        let passed = Arc::new(AtomicUsize::new(0));
        let (server, counted) = (server.to_owned(), Arc::clone(&passed));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
                // What fails is the client's to tell.
                let _ = pass(StreamOwned::new(connection, stream), &server, &counted);
            }
        });
        Self { address, passed }
    }

    fn passed(&self) -> usize {
        self.passed.load(Ordering::SeqCst)
    }
}

/// Passes one request and its answer on.
fn pass(
    mut client: StreamOwned<ServerConnection, TcpStream>,
    server: &str,
    passed: &AtomicUsize,
) -> io::Result<()> {
    let request = request(&mut client)?;
    passed.fetch_add(1, Ordering::SeqCst);
    let mut server = TcpStream::connect(server)?;
    server.write_all(&request)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    client.write_all(&answer)?;
    client.conn.send_close_notify();
    client.flush()
}

fn request(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    const END: &[u8] = b"\r\n\r\n";
    let mut bytes = Vec::new();
    let mut whole = None;
    while whole.is_none_or(|whole| bytes.len() < whole) {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&piece[..read]);
        if let Some(end) = bytes.windows(END.len()).position(|bytes| bytes == END) {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| {
                line.strip_prefix("content-length:")?
                    .trim()
                    .parse::<usize>()
                    .ok()
            });
            whole = Some(end + END.len() + length.unwrap_or(0));
        }
    }
    Ok(bytes)
}

/// Compacts the journey by the strategy behind this front, with a token for it.
fn compact_by_server(folder: &TempDir, front: &Front, authority: &Authority) -> Output {
    let (server, url) = (front.address, format!("https://{}", front.address));
    baler(folder)
        .env("SSL_CERT_FILE", authority.trusted(folder))
        .env("BALER_REMOTE_TOKEN", format!("{server}=s3cret"))
        .args(["compact", "journey.json", "--strategy", &url])
        .output()
        .expect("it runs")
}

#[test]
fn remote_strategy_is_asked_over_tls_with_a_trusted_certificate() {
    let folder = TempDir::new().expect("a folder");
    journey(&folder);
    let authority = Authority::new();
    let server = Serving::start(&folder, &[], Some("s3cret"));
    let front = Front::of(&server.address, authority.sign("127.0.0.1", 2999));
    let ran = compact_by_server(&folder, &front, &authority);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert!(front.passed() >= 1);
}

#[test]
fn remote_strategy_with_an_untrusted_certificate_gets_no_request() {
    let folder = TempDir::new().expect("a folder");
    journey(&folder);
    let authority = Authority::new();
    let server = Serving::start(&folder, &[], Some("s3cret"));
    for (certificate, config) in refused(&authority) {
        let front = Front::of(&server.address, config);
        let ran = compact_by_server(&folder, &front, &authority);
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(4), "{certificate}: {stderr}");
        assert!(
            stderr.contains("its server did not return a result"),
            "{certificate}: {stderr}"
        );
        assert_eq!(front.passed(), 0, "{certificate}");
    }
}

/// Compacts the journey with a summary by the model behind this front.
fn compact_by_model(folder: &TempDir, front: &Front, authority: &Authority) -> Output {
    let model = format!("https://{}/v1#some-model", front.address);
    baler(folder)
        .env("SSL_CERT_FILE", authority.trusted(folder))
        .args(["compact", "journey.json", "--words"])
        .args(["--strategy", "native:summarize", "--model", &model])
        .output()
        .expect("it runs")
}

fn model() -> ScriptedServer {
    let answer = Reply::text(Provider::Compatible, "They sail on Tuesday.");
    ScriptedServer::start([answer]).expect("starts")
}

#[test]
fn model_is_asked_over_tls_with_a_trusted_certificate() {
    let folder = TempDir::new().expect("a folder");
    journey(&folder);
    let authority = Authority::new();
    let model = model();
    let front = Front::of(
        &model.address().to_string(),
        authority.sign("127.0.0.1", 2999),
    );
    let ran = compact_by_model(&folder, &front, &authority);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stdout).contains("They sail on Tuesday."));
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn model_with_an_untrusted_certificate_gets_no_request() {
    let folder = TempDir::new().expect("a folder");
    journey(&folder);
    let authority = Authority::new();
    let model = model();
    for (certificate, config) in refused(&authority) {
        let front = Front::of(&model.address().to_string(), config);
        let ran = compact_by_model(&folder, &front, &authority);
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(3), "{certificate}: {stderr}");
        assert!(
            stderr.contains("no trusted connection"),
            "{certificate}: {stderr}"
        );
        assert_eq!(front.passed(), 0, "{certificate}");
    }
    assert!(model.requests().is_empty());
}
