//! Reads answers within limits.

use reqwest::{Response, StatusCode};

use super::Registry;
use crate::error::RegistryError;
use crate::shown::shown;

/// Maximum bytes that are read of an answer which reports an error.
const ERROR_BYTES: usize = 4 << 10;

impl Registry {
    /// Checks the status of an answer.
    pub(super) async fn expect(
        &self,
        response: Response,
        expected: StatusCode,
        what: &str,
    ) -> Result<Response, RegistryError> {
        let status = response.status();
        if status == expected {
            return Ok(response);
        }
        let host = self.host.clone();
        let what = what.to_owned();
        Err(match status {
            StatusCode::NOT_FOUND => RegistryError::Missing {
                place: self.place().to_string(),
                what,
            },
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => RegistryError::Unauthorized {
                host,
                what,
                found: match self.credentials {
                    Some(_) => "those that it was given",
                    None => "none",
                },
            },
            _ => RegistryError::Status {
                host,
                what,
                expected: expected.as_u16(),
                found: status.as_u16(),
                message: self.message(response).await,
            },
        })
    }

    /// Returns what an answer says of an error, if it says something short.
    async fn message(&self, response: Response) -> String {
        let body = self.read(response, "the error", ERROR_BYTES).await;
        shown(&String::from_utf8_lossy(&body.unwrap_or_default()))
    }

    /// Reads an answer of at most `limit` bytes.
    pub(super) async fn read(
        &self,
        mut response: Response,
        what: &str,
        limit: usize,
    ) -> Result<Vec<u8>, RegistryError> {
        let too_large = |found: String| RegistryError::TooLarge {
            what: what.to_owned(),
            limit: limit as u64,
            found,
        };
        if let Some(announced) = response.content_length()
            && announced > limit as u64
        {
            return Err(too_large(announced.to_string()));
        }
        let mut content = Vec::new();
        loop {
            let chunk = tokio::time::timeout_at(self.deadline, response.chunk()).await;
            let chunk = chunk.map_err(|_| self.slow(what, self.limits.time))?;
            let Some(chunk) = chunk.map_err(|error| self.failed(error, what))? else {
                return Ok(content);
            };
            if chunk.len() > limit - content.len() {
                return Err(too_large(format!("more than {limit}")));
            }
            content.extend_from_slice(&chunk);
        }
    }
}
