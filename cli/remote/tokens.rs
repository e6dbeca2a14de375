//! Which server is shown which token.

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

/// Tokens in the environment, for all servers that the caller knows.
const VARIABLE: &str = "BALER_REMOTE_TOKEN";

/// The same in a file.
const FILE_VARIABLE: &str = "BALER_REMOTE_TOKEN_FILE";

/// Bytes of such a file: hundreds of tokens.
const MOST: usize = 64 << 10;

/// Tokens, each of one server. A server that none was given to gets none.
#[derive(Debug, Default)]
pub(crate) struct Tokens(Vec<Given>);

#[derive(Debug)]
struct Given {
    /// `HOST` or `HOST:PORT`.
    server: String,
    token: Token,
}

impl Tokens {
    /// The tokens that were typed, and behind them those of the environment, which is not looked
    /// at where nothing runs behind a URL. What is wrong is told without the text: it may be the
    /// token.
    pub(super) fn read(typed: &[String], urls: &[&str]) -> Result<Self, Failure> {
        let mut tokens = Self(
            typed
                .iter()
                .map(|typed| option(typed))
                .collect::<anyhow::Result<_>>()
                .map_err(Failure::wrong_use)?,
        );
        let is_used = |given: &&Given| urls.iter().any(|url| is_server_of(&given.server, url));
        if let Some(unused) = tokens.0.iter().find(|given| !is_used(given)) {
            return Err(Failure::wrong_use(anyhow!(
                "--remote-token is for the server `{0}`, and no strategy has a URL of that server; name one by --strategy, such as https://{0}, and give the port where the URL has one",
                cleaned(&unused.server)
            )));
        }
        if !urls.is_empty() {
            let others = Self::of_environment().map_err(Failure::wrong_use)?;
            tokens.0.extend(others);
        }
        Ok(tokens)
    }

    /// The token for the server of this URL.
    pub(super) fn of(&self, url: &str) -> Option<Token> {
        self.0
            .iter()
            .find(|given| is_server_of(&given.server, url))
            .map(|given| given.token.clone())
    }

    fn of_environment() -> anyhow::Result<Vec<Given>> {
        let mut tokens = Vec::new();
        if let Some(text) = variable(VARIABLE) {
            tokens.extend(pairs(&text.to_string_lossy(), VARIABLE)?);
        }
        if let Some(file) = file_of_environment() {
            let text = read(&file)?;
            tokens.extend(pairs(&text, FILE_VARIABLE)?);
        }
        Ok(tokens)
    }
}

/// A variable of the environment that is not empty.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The file of tokens that the environment names.
pub(super) fn file_of_environment() -> Option<PathBuf> {
    variable(FILE_VARIABLE).map(PathBuf::from)
}

/// The token of an option.
fn option(typed: &str) -> anyhow::Result<Given> {
    let malformed = || {
        anyhow!(
            "--remote-token expects HOST=env:NAME or HOST=file:PATH, such as baler.example.org=env:MY_TOKEN; it is never given the token itself, which other users of this machine could see"
        )
    };
    let (server, source) = split(typed).ok_or_else(malformed)?;
    let token = match source.parse() {
        Ok(KeySource::Env(name)) => match env::var_os(&name).filter(|value| !value.is_empty()) {
            Some(value) => Token::new(&value.to_string_lossy()),
            None => {
                return Err(anyhow!(
                    "--remote-token takes a token from the environment variable `{}`, and that is not set or empty",
                    cleaned(&name)
                ));
            }
        },
        Ok(KeySource::File(file)) => Token::from_file(&file),
        Ok(KeySource::None) | Err(_) => return Err(malformed()),
    };
    Ok(Given {
        server: server.to_owned(),
        token: token.with_context(|| format!("--remote-token for `{}`", cleaned(server)))?,
    })
}

/// The file that an option takes its token from.
pub(super) fn file_of(typed: &str) -> Option<PathBuf> {
    match split(typed)?.1.parse() {
        Ok(KeySource::File(file)) => Some(file),
        _ => None,
    }
}

/// The tokens of a variable or of its file: pairs with white space between.
fn pairs(text: &str, variable: &str) -> anyhow::Result<Vec<Given>> {
    let pairs = text.split_whitespace().enumerate();
    pairs
        .map(|(index, pair)| {
            let pair = split(pair).and_then(|(server, token)| {
                let token = Token::new(token).ok()?;
                let server = server.to_owned();
                Some(Given { server, token })
            });
            pair.with_context(|| {
                format!(
                    "${variable} expects HOST=TOKEN, such as baler.example.org=…, and several of them with white space between, so that no server gets the token of another; entry {} is something else",
                    index + 1
                )
            })
        })
        .collect()
}

/// A server, and what stands behind `=`. A URL is no server.
fn split(pair: &str) -> Option<(&str, &str)> {
    let (server, rest) = pair.split_once('=')?;
    let is_server = !server.is_empty() && !server.contains(['/', '@']);
    (is_server && !rest.is_empty()).then_some((server, rest))
}

fn read(file: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    File::open(file)
        .and_then(|file| file.take(MOST as u64 + 1).read_to_string(&mut text))
        .with_context(|| {
            format!(
                "cannot read the file of tokens that ${FILE_VARIABLE} names, `{}`",
                cleaned(&file.to_string_lossy())
            )
        })?;
    if text.len() > MOST {
        return Err(anyhow!(
            "the file of tokens that ${FILE_VARIABLE} names has more than {MOST} bytes; give one that holds HOST=TOKEN lines only"
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(text: &str) -> Vec<String> {
        let pairs = pairs(text, VARIABLE).expect("pairs");
        pairs.into_iter().map(|given| given.server).collect()
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
            let error = pairs(wrong, VARIABLE).expect_err("it is refused");
            let shown = format!("{error:#} {error:?}");
            assert!(shown.contains("HOST=TOKEN"), "{shown}");
            assert!(!shown.contains("s3cret"), "{shown}");
        }
        for wrong in ["s3cret", "a.example=s3cret", "a.example=none", "=env:PATH"] {
            let error = option(wrong).expect_err("it is refused");
            let shown = format!("{error:#} {error:?}");
            assert!(shown.contains("HOST=env:NAME"), "{shown}");
            assert!(!shown.contains("s3cret"), "{shown}");
        }
    }

    #[test]
    fn remote_token_goes_to_no_server_but_its_own() {
        let tokens = Tokens(pairs("a.example=one b.example:8443=two", VARIABLE).expect("pairs"));
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
