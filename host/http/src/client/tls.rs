//! HTTPS, with the certificates that this machine trusts.

use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::UrlError;

/// Makes a connector that trusts the machine's certificates.
///
/// # Errors
/// There are none, or TLS cannot be set up.
pub(crate) fn connector() -> Result<TlsConnector, UrlError> {
    let mut roots = RootCertStore::empty();
    // Some stores hold certificates that cannot be parsed; they are skipped.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(UrlError::Tls {
            what: "this machine has no trusted certificates; install them (often the package `ca-certificates`), or name a file of certificates in SSL_CERT_FILE".to_owned(),
        });
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| UrlError::Tls {
            what: error.to_string(),
        })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
