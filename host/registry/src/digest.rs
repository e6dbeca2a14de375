//! Content hashes as OCI spells them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::shown::shown;

/// A SHA-256 hash: `sha256:` and 64 hex digits.
///
/// ```
/// use baler_registry::Digest;
///
/// let text = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
/// assert_eq!(Digest::of(b"{}").to_string(), text);
/// assert_eq!(text.parse(), Ok(Digest::of(b"{}")));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

/// A text is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected `sha256:` and 64 lowercase hex digits, found `{0}`")]
pub struct DigestError(String);

impl Digest {
    /// Returns the hash of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the 64 hex digits.
    #[must_use]
    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let parse = || {
            let hex = text.strip_prefix("sha256:")?.as_bytes();
            let mut bytes = [0; 32];
            if hex.len() != 2 * bytes.len() {
                return None;
            }
            // Uppercase is not accepted: a digest has one spelling.
            let value = |digit: u8| match digit {
                b'0'..=b'9' => Some(digit - b'0'),
                b'a'..=b'f' => Some(digit - b'a' + 10),
                _ => None,
            };
            for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
                *byte = value(pair[0])? << 4 | value(pair[1])?;
            }
            Some(Self(bytes))
        };
        parse().ok_or_else(|| DigestError(shown(text)))
    }
}

impl TryFrom<String> for Digest {
    type Error = DigestError;

    fn try_from(text: String) -> Result<Self, DigestError> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_have_one_spelling() {
        let good = Digest::of(b"").to_string();
        assert_eq!(good.parse::<Digest>().unwrap(), Digest::of(b""));
        let hex = good.trim_start_matches("sha256:");
        for bad in [
            hex.to_owned(),
            good.to_uppercase(),
            format!("sha256:{}", hex.to_uppercase()),
            format!("sha512:{hex}"),
            good[..70].to_owned(),
            format!("{good}0"),
            "sha256:../../../../etc/passwd".to_owned(),
        ] {
            let error = bad.parse::<Digest>().unwrap_err().to_string();
            assert!(error.contains(&bad), "{error}");
        }
    }
}
