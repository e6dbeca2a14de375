//! Strategies behind a URL.

#[cfg(feature = "http")]
mod tokens;

use std::path::PathBuf;

use baler_host::Strategy;
use clap::Args;

use crate::exit::Failure;

#[cfg(feature = "http")]
pub(crate) use tokens::Tokens;

/// Options for strategies behind URLs.
#[derive(Debug, Default, Args)]
pub(crate) struct RemoteArguments {
    /// Send a token to the server HOST of a strategy: HOST=env:NAME or HOST=file:PATH, never the token
    /// itself; HOST with its port if the URL has one; may be given several times. No other server gets
    /// the token, and over plain http only this machine [default: the
    /// HOST=TOKEN pairs in $BALER_REMOTE_TOKEN and in the file that $BALER_REMOTE_TOKEN_FILE names]
    #[cfg(feature = "http")]
    #[arg(
        long = "remote-token",
        value_name = "HOST=WHERE",
        help_heading = "Strategy"
    )]
    tokens: Vec<String>,
}

impl RemoteArguments {
    /// Reads the tokens for the servers of these URLs.
    ///
    /// # Errors
    /// A token cannot be read, or is for a server that none of the URLs names.
    #[cfg(feature = "http")]
    pub(crate) fn tokens(&self, urls: &[&str]) -> Result<Tokens, Failure> {
        Tokens::read(&self.tokens, urls)
    }

    /// Returns the files that hold tokens, including the one that the environment names.
    #[cfg(feature = "http")]
    pub(crate) fn token_files(&self) -> impl Iterator<Item = PathBuf> {
        self.tokens
            .iter()
            .filter_map(|typed| tokens::file_of(typed))
            .chain(tokens::file_of_environment())
    }

    /// Returns no files: without HTTP there are no tokens.
    #[cfg(not(feature = "http"))]
    pub(crate) fn token_files(&self) -> impl Iterator<Item = PathBuf> {
        std::iter::empty()
    }

    /// Returns no tokens: without HTTP there are none.
    #[cfg(not(feature = "http"))]
    pub(crate) fn tokens(&self, _: &[&str]) -> Result<Tokens, Failure> {
        Ok(Tokens)
    }
}

/// Whether the name of a strategy is a URL or a mistyped one. A mistyped URL must not be treated as a file
/// name, which messages repeat as a whole.
pub(crate) fn is_url(named: &str) -> bool {
    let lower = named.trim_start().to_ascii_lowercase();
    lower.starts_with("http:") || lower.starts_with("https:") || lower.contains("://")
}

/// Makes the strategy behind a URL, with the token for its server. Does not connect yet.
///
/// # Errors
/// The URL cannot be used, or its token would be sent unencrypted to another machine.
#[cfg(feature = "http")]
pub(crate) fn find(url: &str, tokens: &Tokens) -> Result<Strategy, Failure> {
    use crate::figures::cleaned;
    use baler_http::{HttpRemote, UrlError};

    let remote = HttpRemote::new(url).and_then(|remote| match tokens.of(url) {
        Some(token) => remote.token(token),
        None => Ok(remote),
    });
    let remote = remote.map_err(|error| {
        let is_secret = matches!(error, UrlError::HasSecret);
        // Show neither a URL that may contain a password, nor a query, which may contain a key.
        let shown = match (is_secret, url.find(['?', '#'])) {
            (true, _) => String::new(),
            (false, Some(query)) => format!(" `{}…`", cleaned(&url[..=query])),
            (false, None) => format!(" `{}`", cleaned(url)),
        };
        Failure::wrong_use(anyhow::anyhow!("cannot use the strategy{shown}: {error}"))
    })?;
    Ok(Strategy::remote(remote.shared()))
}

/// Without HTTP there are no servers, and so no tokens for them.
#[cfg(not(feature = "http"))]
#[derive(Debug)]
pub(crate) struct Tokens;

/// Fails: without HTTP there are no strategies behind URLs.
#[cfg(not(feature = "http"))]
pub(crate) fn find(_: &str, _: &Tokens) -> Result<Strategy, Failure> {
    Err(Failure::wrong_use(anyhow::anyhow!(
        "this baler was built without HTTP and cannot use strategies behind URLs; build it with the feature `http`"
    )))
}
