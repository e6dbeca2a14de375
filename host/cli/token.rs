//! The token of a server or proxy.

use std::env;
use std::path::Path;

use baler_http::Token;

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
