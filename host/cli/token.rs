//! The address and the token of a server or proxy.

use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::anyhow;
use baler_http::{ServerError, Token};

use crate::exit::Failure;

/// Reads the token of a file, else of the environment; `None` if absent.
pub(crate) fn read(file: Option<&Path>) -> Result<Option<Token>, Failure> {
    let token = match file {
        Some(file) => Token::from_file(file),
        None => match env::var_os("BALER_TOKEN").filter(|token| !token.is_empty()) {
            Some(token) => Token::new(&token.to_string_lossy()),
            None => return Ok(None),
        },
    };
    token.map(Some).map_err(Failure::wrong_use)
}

/// Returns the failure of an address that needs a token, with the options that set one.
pub(crate) fn needed(address: SocketAddr) -> Failure {
    Failure::wrong_use(anyhow!(
        "`{address}` can be reached from other machines, and no token is set: set one with --token-file or $BALER_TOKEN, or listen on 127.0.0.1"
    ))
}

/// Returns the failure of an address that cannot be bound.
pub(crate) fn listen_failure(error: ServerError) -> Failure {
    match error {
        ServerError::NeedsToken { address } => needed(address),
        error => Failure::wrong_use(error),
    }
}

/// An address to listen on: a port alone is one of this machine.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.parse::<u16>();
    let address = match port {
        Ok(port) => Ok((Ipv4Addr::LOCALHOST, port).into()),
        Err(_) => text.parse(),
    };
    address.map_err(|_| {
        "give an address and a port such as 127.0.0.1:7411, or a port of this machine".to_owned()
    })
}
