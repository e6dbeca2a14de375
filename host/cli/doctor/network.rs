//! Whether servers answer.

use std::net::SocketAddr;
use std::time::Duration;

use baler_models::clients::{BaseUrl, connections};

use super::Check;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// An answer of a server.
struct Answered {
    status: u16,
    /// Whether a proxy of baler's gave it.
    is_baler: bool,
}

/// Asks a server for nothing. Any answer will do.
async fn ask(url: &str) -> anyhow::Result<Answered> {
    let base: BaseUrl = url.parse()?;
    let http = connections(&base, false)?.timeout(PATIENCE).build()?;
    let answer = http.head(url).send().await?;
    Ok(Answered {
        status: answer.status().as_u16(),
        is_baler: answer.headers().contains_key("x-baler"),
    })
}

/// Checks whether an upstream answers.
pub(super) async fn upstream(name: String, url: &str) -> Check {
    match ask(url).await {
        Ok(answered) => Check::ok(name, format!("{url} answers ({})", answered.status)),
        Err(error) => Check::wrong(
            name,
            format!("{url} does not answer: {}", error.root_cause()),
            "check the network, the base URL that the program is set to, and $HTTPS_PROXY; --offline leaves this out",
        ),
    }
}

/// Checks what listens where `baler proxy` does.
pub(super) async fn proxy(address: SocketAddr) -> Check {
    let name = "proxy";
    match ask(&format!("http://{address}")).await {
        Ok(answered) if answered.is_baler => Check::ok(name, format!("listens on {address}")),
        Ok(_) => Check::warning(
            name,
            format!("another program listens on {address}"),
            "give `baler proxy` another address by --listen; `baler run` finds a free one itself",
        ),
        Err(_) => Check::ok(
            name,
            format!("none listens on {address}; `baler run` needs none"),
        ),
    }
}
