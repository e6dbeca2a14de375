//! The bearer token that a client shows to a server.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use subtle::ConstantTimeEq as _;

/// Bytes of the longest token, which servers accept in one header.
const MAX_BYTES: usize = 8 * 1024;

/// Bytes of the shortest token that is redacted: shorter ones could occur by chance.
const MIN_REDACTED_BYTES: usize = 8;

/// A bearer token. It is never shown: neither by `Debug` nor in an error.
#[derive(Clone)]
pub struct Token(Arc<str>);

/// The error of a token that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The token is empty or too long, or has characters that are not allowed in a header.
    #[error(
        "a token must be one line of visible ASCII characters, at most {MAX_BYTES}; make one with `openssl rand -hex 32`"
    )]
    Invalid,
    /// The token file cannot be read.
    #[error("cannot read the token file `{}`", path.to_string_lossy().escape_debug())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
}

impl Token {
    /// Makes a token from text. White space around it is removed.
    ///
    /// # Errors
    /// The text is empty or longer than 8 KiB, or has characters other than visible ASCII.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let is_fit = (1..=MAX_BYTES).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_fit.then(|| Self(text.into())).ok_or(TokenError::Invalid)
    }

    /// Reads a token from a file. Reads no more than the longest token.
    ///
    /// # Errors
    /// The file cannot be read, or does not hold a valid token.
    pub fn from_file(file: &Path) -> Result<Self, TokenError> {
        let mut text = String::new();
        File::open(file)
            .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_string(&mut text))
            .map_err(|source| TokenError::Io {
                path: file.to_owned(),
                source,
            })?;
        Self::new(&text)
    }

    /// Whether `header` is a value of `Authorization` with this token. The comparison takes constant time.
    pub(crate) fn matches_header(&self, header: &[u8]) -> bool {
        let Some((scheme, sent)) = header.split_at_checked("Bearer ".len()) else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"Bearer ") & self.is(sent)
    }

    /// Decides whether this is what a client sent. The comparison takes constant time.
    #[must_use]
    pub fn is(&self, sent: &[u8]) -> bool {
        sent.trim_ascii().ct_eq(self.0.as_bytes()).into()
    }

    /// Returns the value of `Authorization` with this token.
    pub(crate) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Replaces the token in the JSON text of an answer by `[token]`, since some servers repeat their
    /// requests. A short token, or one without both letters and digits, is not replaced: it could equal a
    /// member name or a number.
    pub(crate) fn redact(&self, answer: Vec<u8>) -> Vec<u8> {
        let has = |is: fn(&u8) -> bool| self.0.bytes().any(|byte| is(&byte));
        let is_secret = self.0.len() >= MIN_REDACTED_BYTES
            && has(u8::is_ascii_alphabetic)
            && has(u8::is_ascii_digit);
        if !is_secret {
            return answer;
        }
        let mut redacted = Vec::with_capacity(answer.len());
        let mut rest = answer.as_slice();
        let first = self.0.bytes().next();
        while !rest.is_empty() {
            // Skip the bytes that cannot begin the token.
            let may_begin = |byte: &u8| *byte == b'\\' || Some(*byte) == first;
            let passed = rest.iter().position(may_begin).unwrap_or(rest.len());
            redacted.extend_from_slice(&rest[..passed]);
            rest = &rest[passed..];
            if let Some(bytes) = self.encoded_length_at_start(rest) {
                redacted.extend_from_slice(b"[token]");
                rest = &rest[bytes..];
            } else {
                // Copy an escape as a whole, so that no token is found within it.
                let (_, bytes) = decode_character(rest);
                redacted.extend_from_slice(&rest[..bytes]);
                rest = &rest[bytes..];
            }
        }
        redacted
    }

    /// Returns the length of the token at the start of JSON text, escaped or not; `None` if absent.
    fn encoded_length_at_start(&self, json: &[u8]) -> Option<usize> {
        let mut at = 0;
        for byte in self.0.bytes() {
            let (decoded, bytes) = decode_character(&json[at..]);
            if decoded != Some(byte) {
                return None;
            }
            at += bytes;
        }
        Some(at)
    }
}

/// Decodes the first character or escape of JSON text. Returns its byte, or `None` if no token has it, and
/// its length, which is 0 only for an empty text.
fn decode_character(json: &[u8]) -> (Option<u8>, usize) {
    match json {
        [] => (None, 0),
        [b'\\', b'u', hex @ ..] if hex.len() >= 4 => (decode_hex(&hex[..4]), 6),
        [b'\\', escaped @ (b'"' | b'\\' | b'/'), ..] => (Some(*escaped), 2),
        [b'\\', _, ..] => (None, 2),
        [byte, ..] => (Some(*byte), 1),
    }
}

/// Decodes a byte from hexadecimal digits; `None` if they are invalid or the number is above 255.
fn decode_hex(hex: &[u8]) -> Option<u8> {
    let number = hex.iter().try_fold(0_u32, |number, digit| {
        Some(number * 16 + char::from(*digit).to_digit(16)?)
    });
    number.and_then(|number| u8::try_from(number).ok())
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_matches() {
        let token = Token::new("s3cret\n").expect("a token");
        for right in ["Bearer s3cret", "bearer s3cret", "Bearer  s3cret "] {
            assert!(token.matches_header(right.as_bytes()), "{right}");
        }
        for wrong in [
            "",
            "s3cret",
            "Bearer",
            "Bearer ",
            "Bearer s3cre",
            "Bearer s3cretX",
            "Basic s3cret",
            "Bearer S3CRET",
        ] {
            assert!(!token.matches_header(wrong.as_bytes()), "{wrong}");
        }
        assert!(!token.matches_header(&[0xff; 20]));
    }

    #[test]
    fn token_is_never_shown() {
        let token = Token::new("s3cret").expect("a token");
        assert!(!format!("{token:?}").contains("s3cret"));
        let error = Token::new("s3cret\u{e9}").expect_err("is not ASCII");
        assert!(!format!("{error} {error:?}").contains("s3cret"));
        for unfit in ["", " \n", "two words", &"x".repeat(MAX_BYTES + 1)] {
            assert!(Token::new(unfit).is_err(), "{unfit:?}");
        }
    }

    #[test]
    fn token_is_redacted_in_every_json_encoding() {
        let left = |token: &str, answer: &str| {
            let token = Token::new(token).expect("a token");
            let left = token.redact(answer.as_bytes().to_vec());
            String::from_utf8(left).expect("UTF-8")
        };
        let gone = r#"{"unchanged":"Bearer [token]!"}"#;
        for (token, spelled) in [
            ("s3cret-t0ken", "s3cret-t0ken"),
            ("s3cret/t0ken", "s3cret/t0ken"),
            ("s3cret/t0ken", r"s3cret\/t0ken"),
            (r#"s3cret"\/t0ken"#, r#"s3cret\"\\/t0ken"#),
            (r#"s3cret"\/t0ken"#, r#"s3cret\"\\\/t0ken"#),
            (r#"s3cret"\/t0ken"#, r"s3cret\u0022\u005C\u002ft0ken"),
            ("s3cret+t0ken==", r"s3cret\u002Bt0ken\u003d\u003D"),
            ("s3cret-t0ken", r"\u00733cret\u002dt0ke\u006E"),
        ] {
            let answer = format!(r#"{{"unchanged":"Bearer {spelled}!"}}"#);
            assert_eq!(left(token, &answer), gone, "{spelled}");
        }
        // These only look like encodings of the token, and no escape is broken.
        for spelled in [
            r"\\u00733cret-t0ken",
            r"\u01733cret-t0ken",
            r"\u00733cret\-t0ken",
            r"\u00733cret-t0ke\u00",
            "\\",
        ] {
            assert_eq!(left("s3cret-t0ken", spelled), spelled);
        }
        assert_eq!(left("n3cret-t0ken", r"\n3cret-t0ken"), r"\n3cret-t0ken");
        assert_eq!(
            left("s3cret-t0ken", r"s3crs3cret-t0ken\n"),
            r"s3cr[token]\n"
        );
        for token in ["unchanged", "s3cret", "12345678"] {
            let answer = r#"{"unchanged":"s3cret","value":12345678}"#;
            assert_eq!(left(token, answer), answer);
        }
        let token = Token::new("s3cret-t0ken").expect("a token");
        assert_eq!(token.redact(vec![0xff]), [0xff]);
    }

    #[cfg(unix)]
    #[test]
    fn token_file_without_an_end_is_refused() {
        // Read to its end, it would take all memory there is.
        let endless = Token::from_file(Path::new("/dev/zero"));
        assert!(matches!(endless, Err(TokenError::Invalid)));
    }
}
