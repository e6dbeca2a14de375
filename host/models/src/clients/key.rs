//! API keys: where to read them, and how they stay secret.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::str::FromStr;

use reqwest::header::HeaderValue;

/// Where to read a key. Written `env:NAME`, `file:PATH` or `none`; never the key itself.
///
/// ```
/// use baler_models::clients::KeySource;
///
/// let source: KeySource = "env:MY_KEY".parse()?;
/// assert_eq!(source, KeySource::Env("MY_KEY".to_owned()));
/// # Ok::<(), baler_models::clients::KeySourceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The environment variable of this name.
    Env(String),
    /// The only line of this file.
    File(PathBuf),
    /// Send no key.
    None,
}

/// A text does not say where to read a key. The error does not repeat the text, which may be the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected `env:NAME`, `file:PATH` or `none`, and never the key itself")]
pub struct KeySourceError;

/// A key cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The environment variable is not set, or it is empty.
    #[error(
        "the environment variable {variable} is not set or empty; set it to the key, or take the key from a file"
    )]
    Missing {
        /// The variable's name.
        variable: String,
    },
    /// The file cannot be read.
    #[error("expected a file with the key as its only line, and `{}` cannot be read", path.display())]
    Unreadable {
        /// The file's path.
        path: PathBuf,
        /// Why it cannot be read. Display does not include it.
        source: std::io::Error,
    },
    /// The variable or file holds something other than a key.
    #[error(
        "expected a key in `{location}`: one line of printable ASCII of at most {MAX_BYTES} bytes"
    )]
    Invalid {
        /// The variable or the file.
        location: KeySource,
    },
}

/// Far longer than any key.
const MAX_BYTES: usize = 8 * 1024;

/// Minimum length, in bytes, of a key that is treated as a secret.
const MIN_SECRET_BYTES: usize = 8;

/// A secret that is sent to the provider and never shown.
#[derive(Clone)]
pub(super) struct Key(String);

impl KeySource {
    /// Reads the key; `None` for [`KeySource::None`].
    pub(super) fn read(&self) -> Result<Option<Key>, KeyError> {
        match self {
            Self::Env(name) => {
                let value = std::env::var_os(name).unwrap_or_else(OsString::new);
                if value.is_empty() {
                    return Err(KeyError::Missing {
                        variable: name.clone(),
                    });
                }
                let key = value.to_str().and_then(Key::new);
                key.map(Some).ok_or_else(|| KeyError::Invalid {
                    location: self.clone(),
                })
            }
            Self::File(path) => {
                let mut text = String::new();
                File::open(path)
                    .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_string(&mut text))
                    .map_err(|source| KeyError::Unreadable {
                        path: path.clone(),
                        source,
                    })?;
                Key::new(&text).map(Some).ok_or_else(|| KeyError::Invalid {
                    location: self.clone(),
                })
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

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::None => f.write_str("none"),
        }
    }
}

impl Key {
    fn new(text: &str) -> Option<Self> {
        let key = text.trim();
        let is_key =
            (1..=MAX_BYTES).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| Self(key.to_owned()))
    }

    /// Returns the value of a header: `prefix` and the key. Its `Debug` does not show the key.
    pub(super) fn header(&self, prefix: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Removes the key from a text. Some servers repeat the request in their errors.
    pub(super) fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }

    /// Removes the key from a model's answer, which becomes part of a conversation. Only a key that is
    /// unlikely to occur by chance is removed: servers without keys are given words such as `ollama`.
    pub(super) fn redact_answer(&self, text: String) -> String {
        let is_secret =
            self.0.len() >= MIN_SECRET_BYTES && self.0.bytes().any(|byte| byte.is_ascii_digit());
        if is_secret { self.redact(&text) } else { text }
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
    fn read_ignores_a_line_break_at_the_end_of_a_file() {
        let file = file("sk-secret\n");
        let key = KeySource::File(file.path().to_owned())
            .read()
            .unwrap()
            .unwrap();
        assert_eq!(key.0, "sk-secret");
        assert_eq!(format!("{key:?}"), "Key(..)");
    }

    #[test]
    fn errors_do_not_repeat_an_invalid_key() {
        for text in [
            "",
            " \n",
            "two words",
            "two\nlines",
            "schlüssel",
            &"x".repeat(MAX_BYTES + 1),
        ] {
            let file = file(text);
            let error = KeySource::File(file.path().to_owned()).read().unwrap_err();
            assert!(matches!(error, KeyError::Invalid { .. }), "{error}");
            let shown = format!("{error} {error:?}");
            assert!(text.trim().is_empty() || !shown.contains(text), "{shown}");
        }
    }

    #[test]
    fn errors_name_a_missing_variable() {
        let error = KeySource::Env("BALER_TEST_NOT_SET".to_owned())
            .read()
            .unwrap_err();
        assert!(error.to_string().contains("BALER_TEST_NOT_SET"), "{error}");
    }

    #[test]
    fn errors_name_a_missing_file() {
        let error = KeySource::File("no/such/key".into()).read().unwrap_err();
        assert!(error.to_string().contains("no/such/key"), "{error}");
    }

    #[test]
    fn key_source_has_three_forms() {
        assert_eq!("env:KEY".parse(), Ok(KeySource::Env("KEY".to_owned())));
        assert_eq!("file:a:b".parse(), Ok(KeySource::File("a:b".into())));
        assert_eq!("none".parse(), Ok(KeySource::None));
        for wrong in ["", "env:", "file:", "none:", "sk-proj-secret", "env:A=B"] {
            assert_eq!(wrong.parse::<KeySource>(), Err(KeySourceError), "{wrong}");
        }
        assert!(!KeySourceError.to_string().contains("sk-"));
    }

    #[test]
    fn redact_answer_removes_only_secrets() {
        for (key, text, left) in [
            ("sk-secret-1", "It was sk-secret-1.", "It was [key]."),
            ("lm-studio", "It runs lm-studio.", "It runs lm-studio."),
            ("x1", "x1 and x2", "x1 and x2"),
        ] {
            let key = Key::new(key).unwrap();
            assert_eq!(key.redact_answer(text.to_owned()), left);
        }
    }

    #[test]
    fn debug_of_a_header_hides_the_key() {
        let value = Key::new("sk-secret").unwrap().header("Bearer ").unwrap();
        assert!(!format!("{value:?}").contains("secret"));
    }
}
