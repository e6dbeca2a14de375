//! Strategies behind a URL.

use baler_host::Strategy;

use crate::exit::Failure;

/// Whether a strategy is named by a URL.
pub(crate) fn is_url(named: &str) -> bool {
    let lower = named.trim_start().to_ascii_lowercase();
    lower.starts_with("http://") || lower.starts_with("https://")
}

/// The strategy behind a URL, with the token for it. Nothing is connected to yet.
#[cfg(feature = "http")]
pub(crate) fn find(url: &str) -> Result<Strategy, Failure> {
    use crate::figures::cleaned;
    use baler_sidecar::HttpRemote;

    let mut remote = HttpRemote::new(url).map_err(|error| {
        // Without the URL where a password stands in it.
        let shown = match error {
            baler_sidecar::UrlError::HasSecret => String::new(),
            _ => format!(" `{}`", cleaned(url)),
        };
        Failure::wrong_use(anyhow::anyhow!("cannot use the strategy{shown}: {error}"))
    })?;
    if let Some(token) = token()? {
        remote = remote.token(token);
    }
    Ok(Strategy::remote(remote.shared()))
}

/// The token for servers of strategies.
#[cfg(feature = "http")]
fn token() -> Result<Option<baler_sidecar::Token>, Failure> {
    use baler_sidecar::Token;

    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let token = match (
        variable("BALER_REMOTE_TOKEN"),
        variable("BALER_REMOTE_TOKEN_FILE"),
    ) {
        (Some(token), _) => Token::new(&token.to_string_lossy()),
        (None, Some(file)) => Token::from_file(file.as_ref()),
        (None, None) => return Ok(None),
    };
    token.map(Some).map_err(Failure::wrong_use)
}

/// Without HTTP there are none.
#[cfg(not(feature = "http"))]
pub(crate) fn find(_: &str) -> Result<Strategy, Failure> {
    Err(Failure::wrong_use(anyhow::anyhow!(
        "this baler was built without HTTP and has no strategies behind URLs; build it with the feature `http`"
    )))
}
