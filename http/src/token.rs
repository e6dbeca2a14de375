//! The secret that a client shows to a server.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use subtle::ConstantTimeEq as _;

/// Bytes of the longest token: what servers take of one header.
const MOST: usize = 8 * 1024;

/// Bytes of a token that nothing else is spelled like.
const LEAST_SECRET: usize = 8;

/// A bearer token. It is never shown: neither by `Debug` nor in an error.
#[derive(Clone)]
pub struct Token(Arc<str>);

/// A token cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// It is empty or longer than any token, or has characters that no header takes.
    #[error(
        "a token is one line of visible ASCII characters, at most {MOST}; make one with `openssl rand -hex 32`"
    )]
    Unfit,
    /// Its file cannot be read.
    #[error("cannot read the token file `{}`", path.to_string_lossy().escape_debug())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
}

impl Token {
    /// A token of this text. White space around it is not part of it.
    ///
    /// # Errors
    /// It is empty or longer than any token, or has a character that no header takes.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let is_fit =
            (1..=MOST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_fit.then(|| Self(text.into())).ok_or(TokenError::Unfit)
    }

    /// The token in a file. No more of it is read than a token has.
    ///
    /// # Errors
    /// The file cannot be read, or holds no token.
    pub fn from_file(file: &Path) -> Result<Self, TokenError> {
        let mut text = String::new();
        File::open(file)
            .and_then(|file| file.take(MOST as u64 + 1).read_to_string(&mut text))
            .map_err(|source| TokenError::Io {
                path: file.to_owned(),
                source,
            })?;
        Self::new(&text)
    }

    /// Whether `header` is the value of `Authorization` that carries this token. How long that
    /// takes does not depend on how much of it is right.
    pub(crate) fn is_in(&self, header: &[u8]) -> bool {
        let Some((scheme, shown)) = header.split_at_checked("Bearer ".len()) else {
            return false;
        };
        let is_equal: bool = shown.trim_ascii().ct_eq(self.0.as_bytes()).into();
        scheme.eq_ignore_ascii_case(b"Bearer ") & is_equal
    }

    /// The value of `Authorization` that carries it.
    pub(crate) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// The JSON text of an answer without the token: some servers repeat what they were sent. Only
    /// one with letters and digits is taken out, and none that is short: no name of a member and no
    /// number is spelled like it.
    pub(crate) fn taken_out_of(&self, answer: Vec<u8>) -> Vec<u8> {
        let has = |is: fn(&u8) -> bool| self.0.bytes().any(|byte| is(&byte));
        let is_secret =
            self.0.len() >= LEAST_SECRET && has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
        if !is_secret {
            return answer;
        }
        let mut left = Vec::with_capacity(answer.len());
        let mut rest = answer.as_slice();
        let first = self.0.bytes().next();
        while !rest.is_empty() {
            // Most of an answer cannot begin a token.
            let may_begin = |byte: &u8| *byte == b'\\' || Some(*byte) == first;
            let passed = rest.iter().position(may_begin).unwrap_or(rest.len());
            left.extend_from_slice(&rest[..passed]);
            rest = &rest[passed..];
            if let Some(bytes) = self.spelled_at_start(rest) {
                left.extend_from_slice(b"[token]");
                rest = &rest[bytes..];
            } else {
                // An escape as a whole: what is in it is not looked at as if it stood alone.
                let (_, bytes) = character(rest);
                left.extend_from_slice(&rest[..bytes]);
                rest = &rest[bytes..];
            }
        }
        left
    }

    /// The bytes that JSON text begins with and that spell the token, with escapes or without.
    fn spelled_at_start(&self, json: &[u8]) -> Option<usize> {
        let mut at = 0;
        for byte in self.0.bytes() {
            let (spelled, bytes) = character(&json[at..]);
            if spelled != Some(byte) {
                return None;
            }
            at += bytes;
        }
        Some(at)
    }
}

/// What JSON text begins with: the byte that it spells, where that may be one of a token, and how many
/// bytes spell it. None are only where there is no text.
fn character(json: &[u8]) -> (Option<u8>, usize) {
    match json {
        [] => (None, 0),
        [b'\\', b'u', hex @ ..] if hex.len() >= 4 => (unicode(&hex[..4]), 6),
        [b'\\', escaped @ (b'"' | b'\\' | b'/'), ..] => (Some(*escaped), 2),
        [b'\\', _, ..] => (None, 2),
        [byte, ..] => (Some(*byte), 1),
    }
}

/// The byte of this number, of hexadecimal digits in either case.
fn unicode(hex: &[u8]) -> Option<u8> {
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
    fn only_the_whole_token_is_right() {
        let token = Token::new("s3cret\n").expect("a token");
        for right in ["Bearer s3cret", "bearer s3cret", "Bearer  s3cret "] {
            assert!(token.is_in(right.as_bytes()), "{right}");
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
            assert!(!token.is_in(wrong.as_bytes()), "{wrong}");
        }
        assert!(!token.is_in(&[0xff; 20]));
    }

    #[test]
    fn a_token_is_never_shown() {
        let token = Token::new("s3cret").expect("a token");
        assert!(!format!("{token:?}").contains("s3cret"));
        let error = Token::new("s3cret\u{e9}").expect_err("no header takes it");
        assert!(!format!("{error} {error:?}").contains("s3cret"));
        for unfit in ["", " \n", "two words", &"x".repeat(MOST + 1)] {
            assert!(Token::new(unfit).is_err(), "{unfit:?}");
        }
    }

    #[test]
    fn a_token_is_taken_out_of_an_answer_however_json_spells_it() {
        let left = |token: &str, answer: &str| {
            let token = Token::new(token).expect("a token");
            let left = token.taken_out_of(answer.as_bytes().to_vec());
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
        // Nothing is taken for an escape that is none, and no escape is broken.
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
        assert_eq!(token.taken_out_of(vec![0xff]), [0xff]);
    }

    #[cfg(unix)]
    #[test]
    fn token_file_without_an_end_is_refused() {
        // Read to its end, it would take all memory there is.
        let endless = Token::from_file(Path::new("/dev/zero"));
        assert!(matches!(endless, Err(TokenError::Unfit)));
    }
}
