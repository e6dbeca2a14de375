//! The tokens for servers of remote strategies.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use baler_http::{Token, is_server_of};
use baler_models::clients::KeySource;

use crate::exit::Failure;
use crate::figures::cleaned;

/// The environment variable that holds HOST=TOKEN pairs.
const VARIABLE: &str = "BALER_REMOTE_TOKEN";

/// The environment variable that names a file of HOST=TOKEN pairs.
const FILE_VARIABLE: &str = "BALER_REMOTE_TOKEN_FILE";

/// Bytes of the largest token file, which can hold hundreds of tokens.
const MAX_BYTES: usize = 64 << 10;

/// Tokens, each for one server.
#[derive(Debug, Default)]
pub(crate) struct Tokens(Vec<ServerToken>);

#[derive(Debug)]
struct ServerToken {
    /// `HOST` or `HOST:PORT`.
    server: String,
    token: Token,
}

impl Tokens {
    /// Reads the tokens of the options, followed by those of the environment if there are any URLs. Errors
    /// do not quote the text, which may be a token.
    ///
    /// # Errors
    /// A token is malformed or cannot be read, or an option is for a server that none of the URLs names.
    pub(super) fn read(typed: &[String], urls: &[&str]) -> Result<Self, Failure> {
        let mut tokens = Self(
            typed
                .iter()
                .map(|typed| parse_option(typed))
                .collect::<anyhow::Result<_>>()
                .map_err(Failure::wrong_use)?,
        );
        let is_used =
            |entry: &&ServerToken| urls.iter().any(|url| is_server_of(&entry.server, url));
        if let Some(unused) = tokens.0.iter().find(|entry| !is_used(entry)) {
            return Err(Failure::wrong_use(anyhow!(
                "--remote-token is for the server `{0}`, but no strategy has a URL of that server; name one with --strategy, such as https://{0}, and give the port if the URL has one",
                cleaned(&unused.server)
            )));
        }
        if !urls.is_empty() {
            let others = Self::from_environment().map_err(Failure::wrong_use)?;
            tokens.0.extend(others);
        }
        Ok(tokens)
    }

    /// Returns the token for the server of this URL; `None` if absent.
    pub(super) fn of(&self, url: &str) -> Option<Token> {
        self.0
            .iter()
            .find(|entry| is_server_of(&entry.server, url))
            .map(|entry| entry.token.clone())
    }

    fn from_environment() -> anyhow::Result<Vec<ServerToken>> {
        let mut tokens = Vec::new();
        if let Some(text) = non_empty_variable(VARIABLE) {
            tokens.extend(parse_pairs(&text.to_string_lossy(), VARIABLE)?);
        }
        if let Some(file) = file_of_environment() {
            let text = read_token_file(&file)?;
            tokens.extend(parse_pairs(&text, FILE_VARIABLE)?);
        }
        Ok(tokens)
    }
}

/// Returns an environment variable; `None` if it is empty or absent.
fn non_empty_variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the token file that the environment names; `None` if absent.
pub(super) fn file_of_environment() -> Option<PathBuf> {
    non_empty_variable(FILE_VARIABLE).map(PathBuf::from)
}

/// Reads the token of an option.
fn parse_option(typed: &str) -> anyhow::Result<ServerToken> {
    let malformed = || {
        anyhow!(
            "--remote-token expects HOST=env:NAME or HOST=file:PATH, such as baler.example.org=env:MY_TOKEN; do not give the token itself, which other users of this machine could see"
        )
    };
    let (server, source) = split_pair(typed).ok_or_else(malformed)?;
    let token = match source.parse() {
        Ok(KeySource::Env(name)) => match env::var_os(&name).filter(|value| !value.is_empty()) {
            Some(value) => Token::new(&value.to_string_lossy()),
            None => {
                return Err(anyhow!(
                    "--remote-token names the environment variable `{}`, which is not set or empty; set it to the token",
                    cleaned(&name)
                ));
            }
        },
        Ok(KeySource::File(file)) => Token::from_file(&file),
        Ok(KeySource::None) | Err(_) => return Err(malformed()),
    };
    Ok(ServerToken {
        server: server.to_owned(),
        token: token.with_context(|| format!("--remote-token for `{}`", cleaned(server)))?,
    })
}

/// Returns the file that an option names; `None` if it names none.
pub(super) fn file_of(typed: &str) -> Option<PathBuf> {
    match split_pair(typed)?.1.parse() {
        Ok(KeySource::File(file)) => Some(file),
        _ => None,
    }
}

/// Parses the tokens of a variable or of its file: pairs separated by white space.
fn parse_pairs(text: &str, variable: &str) -> anyhow::Result<Vec<ServerToken>> {
    let pairs = text.split_whitespace().enumerate();
    pairs
        .map(|(index, pair)| {
            let pair = split_pair(pair).and_then(|(server, token)| {
                let token = Token::new(token).ok()?;
                let server = server.to_owned();
                Some(ServerToken { server, token })
            });
            pair.with_context(|| {
                format!(
                    "${variable} expects HOST=TOKEN pairs separated by white space, such as baler.example.org=…; entry {} is not such a pair",
                    index + 1
                )
            })
        })
        .collect()
}

/// Splits `SERVER=REST`. Returns `None` if the server is empty or a URL, or the rest is empty.
fn split_pair(pair: &str) -> Option<(&str, &str)> {
    let (server, rest) = pair.split_once('=')?;
    let is_server = !server.is_empty() && !server.contains(['/', '@']);
    (is_server && !rest.is_empty()).then_some((server, rest))
}

fn read_token_file(file: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    File::open(file)
        .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_string(&mut text))
        .with_context(|| {
            format!(
                "cannot read the token file `{}`, which ${FILE_VARIABLE} names",
                cleaned(&file.to_string_lossy())
            )
        })?;
    if text.len() > MAX_BYTES {
        return Err(anyhow!(
            "the token file that ${FILE_VARIABLE} names has more than {MAX_BYTES} bytes; name a file that holds HOST=TOKEN pairs only"
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(text: &str) -> Vec<String> {
        let pairs = parse_pairs(text, VARIABLE).expect("pairs");
        pairs.into_iter().map(|entry| entry.server).collect()
    }

    #[test]
    fn remote_token_pairs_name_their_servers() {
        assert_eq!(servers(""), [""; 0]);
        assert_eq!(
            servers(" a.example=YWJj==\n[::1]:7410=s3cret\tb:8443=x "),
            ["a.example", "[::1]:7410", "b:8443"]
        );
    }

    #[test]
    fn remote_token_without_its_server_is_refused_and_not_repeated() {
        for wrong in [
            "s3cret",
            "=s3cret",
            "a.example=",
            "a.example=x s3cret",
            "https://a.example=s3cret",
            "me@a.example=s3cret",
            "a.example=s3cret\u{e9}",
        ] {
            let error = parse_pairs(wrong, VARIABLE).expect_err("it is refused");
            let shown = format!("{error:#} {error:?}");
            assert!(shown.contains("HOST=TOKEN"), "{shown}");
            assert!(!shown.contains("s3cret"), "{shown}");
        }
        for wrong in ["s3cret", "a.example=s3cret", "a.example=none", "=env:PATH"] {
            let error = parse_option(wrong).expect_err("it is refused");
            let shown = format!("{error:#} {error:?}");
            assert!(shown.contains("HOST=env:NAME"), "{shown}");
            assert!(!shown.contains("s3cret"), "{shown}");
        }
    }

    #[test]
    fn remote_token_is_sent_to_its_own_server_only() {
        let tokens =
            Tokens(parse_pairs("a.example=one b.example:8443=two", VARIABLE).expect("pairs"));
        for (url, has) in [
            ("https://a.example/team", true),
            ("https://b.example:8443", true),
            ("https://b.example", false),
            ("https://c.example", false),
            ("https://a.example:8443", false),
        ] {
            assert_eq!(tokens.of(url).is_some(), has, "{url}");
        }
    }
}
