//! Keys: where they come from, and that they stay hidden.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::str::FromStr;

use reqwest::header::HeaderValue;

/// Where a key comes from. Written `env:NAME`, `file:PATH` or `none`; a key itself is never written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The environment variable of this name.
    Env(String),
    /// The first and only line of this file.
    File(PathBuf),
    /// No key is sent.
    None,
}

/// A text is no source of a key. The text is not repeated: it may be the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key comes from `env:NAME`, from `file:PATH`, or is `none`; it is never given itself")]
pub struct KeySourceError;

/// There is no key where it should be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The variable is not set, or empty.
    #[error("the environment variable {0} holds no key; set it, or take the key from a file")]
    Missing(String),
    /// The file cannot be read.
    #[error("expected a file with the key as its only line, and `{}` cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not. Whoever shows the error shows its source, too.
        source: std::io::Error,
    },
    /// What is there cannot be a key.
    #[error("what {0} holds is no key: a key is one line of printable ASCII, at most {MOST} bytes")]
    NotAKey(String),
}

/// No key comes near it.
const MOST: usize = 8 * 1024;

/// Minimum length, in bytes, of a key that is treated as a secret.
const LEAST_SECRET: usize = 8;

/// A secret that is sent to the provider and shown to nobody.
#[derive(Clone)]
pub(super) struct Key(String);

impl KeySource {
    /// The key; none where none is wanted.
    pub(super) fn read(&self) -> Result<Option<Key>, KeyError> {
        match self {
            Self::Env(name) => {
                let value = std::env::var_os(name).unwrap_or_else(OsString::new);
                if value.is_empty() {
                    return Err(KeyError::Missing(name.clone()));
                }
                let key = value.to_str().and_then(Key::new);
                key.map(Some)
                    .ok_or_else(|| KeyError::NotAKey(format!("the environment variable {name}")))
            }
            Self::File(path) => {
                let mut text = String::new();
                File::open(path)
                    .and_then(|file| file.take(MOST as u64 + 1).read_to_string(&mut text))
                    .map_err(|source| KeyError::Unreadable {
                        path: path.clone(),
                        source,
                    })?;
                Key::new(&text)
                    .map(Some)
                    .ok_or_else(|| KeyError::NotAKey(format!("the file {}", path.display())))
            }
            Self::None => Ok(None),
        }
    }
}

impl FromStr for KeySource {
    type Err = KeySourceError;

    fn from_str(text: &str) -> Result<Self, KeySourceError> {
        match text.split_once(':') {
            Some(("env", name)) if !name.is_empty() && !name.contains(['=', '\0']) => {
                Ok(Self::Env(name.to_owned()))
            }
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.into())),
            None if text == "none" => Ok(Self::None),
            _ => Err(KeySourceError),
        }
    }
}

impl Key {
    fn new(text: &str) -> Option<Self> {
        let key = text.trim();
        let is_one =
            (1..=MOST).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        is_one.then(|| Self(key.to_owned()))
    }

    /// The value of a header, which `Debug` does not show either.
    pub(super) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{before}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// `text` without the key: some servers repeat what they were sent.
    pub(super) fn taken_out_of(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }

    /// Removes the key from a model's answer, which becomes part of a conversation. Only a key that is
    /// unlikely to occur by chance is removed: servers without keys are given words such as `ollama`.
    pub(super) fn taken_out_of_answer(&self, text: String) -> String {
        let is_secret =
            self.0.len() >= LEAST_SECRET && self.0.bytes().any(|byte| byte.is_ascii_digit());
        if is_secret {
            self.taken_out_of(&text)
        } else {
            text
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn a_file_may_end_in_a_line_break() {
        let file = file("sk-secret\n");
        let key = KeySource::File(file.path().to_owned())
            .read()
            .unwrap()
            .unwrap();
        assert_eq!(key.0, "sk-secret");
        assert_eq!(format!("{key:?}"), "Key(..)");
    }

    #[test]
    fn what_is_no_key_is_not_repeated() {
        for text in [
            "",
            " \n",
            "two words",
            "two\nlines",
            "schlüssel",
            &"x".repeat(MOST + 1),
        ] {
            let file = file(text);
            let error = KeySource::File(file.path().to_owned()).read().unwrap_err();
            assert!(matches!(error, KeyError::NotAKey(_)), "{error}");
            let shown = format!("{error} {error:?}");
            assert!(text.trim().is_empty() || !shown.contains(text), "{shown}");
        }
    }

    #[test]
    fn a_missing_variable_is_named() {
        let error = KeySource::Env("BALER_TEST_NOT_SET".to_owned())
            .read()
            .unwrap_err();
        assert!(error.to_string().contains("BALER_TEST_NOT_SET"), "{error}");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = KeySource::File("no/such/key".into()).read().unwrap_err();
        assert!(error.to_string().contains("no/such/key"), "{error}");
    }

    #[test]
    fn a_source_is_written_in_three_ways() {
        assert_eq!("env:KEY".parse(), Ok(KeySource::Env("KEY".to_owned())));
        assert_eq!("file:a:b".parse(), Ok(KeySource::File("a:b".into())));
        assert_eq!("none".parse(), Ok(KeySource::None));
        for wrong in ["", "env:", "file:", "none:", "sk-proj-secret", "env:A=B"] {
            assert_eq!(wrong.parse::<KeySource>(), Err(KeySourceError), "{wrong}");
        }
        assert!(!KeySourceError.to_string().contains("sk-"));
    }

    #[test]
    fn only_a_secret_is_taken_out_of_an_answer() {
        for (key, text, left) in [
            ("sk-secret-1", "It was sk-secret-1.", "It was [key]."),
            ("lm-studio", "It runs lm-studio.", "It runs lm-studio."),
            ("x1", "x1 and x2", "x1 and x2"),
        ] {
            let key = Key::new(key).unwrap();
            assert_eq!(key.taken_out_of_answer(text.to_owned()), left);
        }
    }

    #[test]
    fn a_header_hides_it() {
        let value = Key::new("sk-secret").unwrap().header("Bearer ").unwrap();
        assert!(!format!("{value:?}").contains("secret"));
    }
}
