//! Keys that sign strategies: ECDSA with P-256 and SHA-256, as `openssl` and `cosign` make them.

use std::fmt;
use std::io::Write as _;
use std::path::Path;
use std::str::FromStr;

use baler_files::staged;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _,
    UnparsedPublicKey,
};

use crate::{Digest, pem};

/// What a public key of P-256 begins with in DER: an algorithm, a curve, and that an uncompressed point follows.
const SPKI_HEADER: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// Length of an uncompressed point.
const POINT: usize = 65;
const PUBLIC: &str = "PUBLIC KEY";
const PRIVATE: &str = "PRIVATE KEY";

/// Why a key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// A text is not a public key of this kind.
    #[error(
        "expected a public key of P-256 (SPKI, as PEM or its DER in base64), found {found}; `openssl pkey -in KEY.pem -pubout` writes one"
    )]
    Public {
        /// What it is.
        found: String,
    },
    /// A text is not a private key of this kind.
    #[error(
        "expected a private key of P-256 (PKCS#8 as PEM, without a password), found {found}; `openssl pkcs8 -topk8 -nocrypt -in KEY.pem` writes one"
    )]
    Private {
        /// What it is. It holds nothing of the key.
        found: String,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers, which a key and a signature need")]
    Random,
}

/// A public key: whose signatures are accepted.
///
/// ```
/// use baler_registry::{PublicKey, SigningKey};
///
/// let key = SigningKey::generate()?;
/// let public: PublicKey = key.public_key().to_base64().parse()?; // for `baler.toml`
/// assert_eq!(&public, key.public_key());
/// # Ok::<(), baler_registry::KeyError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    /// An uncompressed point of the curve.
    point: [u8; POINT],
}

impl PublicKey {
    fn spki(&self) -> Vec<u8> {
        [&SPKI_HEADER[..], &self.point].concat()
    }

    /// Returns its name: the hash of its DER.
    #[must_use]
    pub fn id(&self) -> Digest {
        Digest::of(&self.spki())
    }

    /// Returns its DER in base64, as in `baler.toml`.
    #[must_use]
    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.spki())
    }

    /// Returns its PEM, as `cosign verify --key` reads it.
    #[must_use]
    pub fn to_pem(&self) -> String {
        pem::write(PUBLIC, &self.spki())
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &self.point);
        key.verify(message, signature).is_ok()
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    /// Reads PEM, or DER in base64.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let failed = |found: String| KeyError::Public { found };
        let der = match pem::read(text) {
            Some((PUBLIC, der)) => der,
            Some((label, _)) => return Err(failed(format!("a `{label}`"))),
            None => {
                let der = STANDARD.decode(text.trim());
                der.map_err(|_| failed("neither PEM nor base64".to_owned()))?
            }
        };
        let point = der.strip_prefix(&SPKI_HEADER);
        let point = point.and_then(|point| <[u8; POINT]>::try_from(point).ok());
        // 4 says that the point is uncompressed.
        let point = point.filter(|point| point[0] == 4);
        let other = || failed(format!("{} bytes of another kind of key", der.len()));
        Ok(Self {
            point: point.ok_or_else(other)?,
        })
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.id())
    }
}

/// A private key, with its public key.
pub struct SigningKey {
    pair: EcdsaKeyPair,
    pkcs8: Vec<u8>,
    public: PublicKey,
}

impl SigningKey {
    /// Makes a new key.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn generate() -> Result<Self, KeyError> {
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new());
        Self::read(pkcs8.map_err(|_| KeyError::Random)?.as_ref().to_vec())
    }

    /// Reads PKCS#8 as PEM.
    ///
    /// # Errors
    /// It is something else, or the key of another curve.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let failed = |found: String| KeyError::Private { found };
        match pem::read(text) {
            Some((PRIVATE, der)) => Self::read(der),
            Some((label, _)) => Err(failed(format!("a `{label}`"))),
            None => Err(failed("no PEM".to_owned())),
        }
    }

    fn read(pkcs8: Vec<u8>) -> Result<Self, KeyError> {
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, &pkcs8, &SystemRandom::new());
        let failed = |found: String| KeyError::Private { found };
        let pair = pair.map_err(|error| failed(format!("one that is refused: {error}")))?;
        let point = pair.public_key().as_ref().try_into();
        let point = point.map_err(|_| failed("a public key of another length".to_owned()))?;
        Ok(Self {
            public: PublicKey { point },
            pair,
            pkcs8,
        })
    }

    /// Returns the public key.
    #[must_use]
    pub const fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Writes the private key as PEM to a new file that only its owner can read.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let mut file = staged::begin(folder.unwrap_or(Path::new(".")))?;
        file.write_all(pem::write(PRIVATE, &self.pkcs8).as_bytes())?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path).map_err(|error| error.error)?;
        Ok(())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let signature = self.pair.sign(&SystemRandom::new(), message);
        let signature = signature.map_err(|_| KeyError::Random)?;
        Ok(signature.as_ref().to_vec())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public.id())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        let key = SigningKey::generate().unwrap();
        let public = key.public_key();
        assert_eq!(&public.to_pem().parse::<PublicKey>().unwrap(), public);
        assert_eq!(&public.to_base64().parse::<PublicKey>().unwrap(), public);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.pem");
        key.save(&path).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(SigningKey::from_pem(&text).unwrap().public_key(), public);
        let error = key.save(&path).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn other_keys_are_refused_by_what_they_are() {
        let key = SigningKey::generate().unwrap();
        let mut compressed = key.public_key().spki();
        compressed[SPKI_HEADER.len()] = 2;
        for (text, found) in [
            (pem::write("RSA PUBLIC KEY", b"1"), "`RSA PUBLIC KEY`"),
            (pem::write(PUBLIC, &compressed), "91 bytes"),
            (pem::write(PUBLIC, &SPKI_HEADER), "26 bytes"),
            ("a key".to_owned(), "neither PEM nor base64"),
            (String::new(), "0 bytes"),
        ] {
            let error = text.parse::<PublicKey>().unwrap_err().to_string();
            assert!(error.contains(found), "{error}");
        }
        for (text, found) in [
            (pem::write("EC PRIVATE KEY", b"1"), "`EC PRIVATE KEY`"),
            (
                pem::write("ENCRYPTED PRIVATE KEY", b"1"),
                "`ENCRYPTED PRIVATE KEY`",
            ),
            (pem::write(PRIVATE, b"1"), "refused"),
            (key.public_key().to_pem(), "`PUBLIC KEY`"),
            ("a key".to_owned(), "no PEM"),
        ] {
            let error = SigningKey::from_pem(&text).unwrap_err().to_string();
            assert!(error.contains(found), "{error}");
        }
    }
}
