//! The options of a window.

use baler_host::Request;
use serde_json::{Value, json};

use super::{Options, count};
use crate::error::{Error, Kind};

/// When a window compacts, and to what size.
#[derive(Debug)]
pub(crate) struct WindowSize {
    /// Tokens from which on histories are compacted.
    pub(crate) at: u32,
    /// Tokens that a result should fit in.
    pub(crate) budget: u32,
    /// The options of its compactions, as JSON.
    pub(crate) rest: String,
}

/// Reads the options of a window.
pub(crate) fn window(json: &str) -> Result<WindowSize, Error> {
    let mut options = Options::read(json)?;
    let window: Option<u32> = options.take("context_window", tokens)?;
    let at = options.take("at", tokens)?;
    let budget = options.take("budget", tokens)?;
    let at = match (at, window) {
        (Some(at), Some(window)) if at > window => {
            let message =
                format!("expected at most the context window of {window} tokens, found {at}");
            return Err(Error::option("at", message));
        }
        (Some(at), _) => at,
        (None, Some(window)) => due(window),
        (None, None) => {
            return Err(Error::new(
                Kind::Option,
                "expected `context_window`, the model's, or `at`, the tokens from which on to compact".to_owned(),
            ));
        }
    };
    let mut rest = options.into_value();
    if let (Value::Object(rest), Some(window)) = (&mut rest, window) {
        rest.insert("context_window".to_owned(), json!(window));
    }
    Ok(WindowSize {
        at,
        budget: budget.unwrap_or(at / 2),
        rest: rest.to_string(),
    })
}

fn tokens(value: &Value) -> Result<u32, String> {
    count(value).map_err(|_| "expected a number of tokens above 0".to_owned())
}

/// The tokens from which on a conversation for a context window is compacted.
fn due(window: u32) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a u32"
    )]
    let due = (f64::from(window) * Request::DUE_SHARE) as u32;
    due
}
