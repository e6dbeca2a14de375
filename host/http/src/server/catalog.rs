//! The strategies of a server. Clients select them by name, never by file or URL.

use axum::http::StatusCode;
use baler_host::{Strategy, conversation::Deadline};

use super::error::ApiError;

/// The strategies that clients can name.
#[derive(Debug)]
pub(crate) struct Catalog {
    known: Vec<Strategy>,
    default: Vec<Strategy>,
}

impl Catalog {
    /// Makes a catalog. `default` is the chain of requests that name no strategy. Clients can name its
    /// strategies, `others`, and the native ones.
    pub(crate) fn new(default: Vec<Strategy>, others: Vec<Strategy>) -> Self {
        let native = [Strategy::digest(), Strategy::truncate()];
        let mut known: Vec<Strategy> = Vec::new();
        for strategy in default.iter().cloned().chain(others).chain(native) {
            if known.iter().all(|other| other.name() != strategy.name()) {
                known.push(strategy);
            }
        }
        let default = if default.is_empty() {
            vec![Strategy::digest()]
        } else {
            default
        };
        Self { known, default }
    }

    pub(crate) fn known(&self) -> &[Strategy] {
        &self.known
    }

    pub(crate) fn default_chain(&self) -> &[Strategy] {
        &self.default
    }

    /// Returns the indices of the default chain in [`Self::known`].
    pub(crate) fn default_indices(&self) -> Vec<usize> {
        let index_of = |strategy: &Strategy| self.index_of(strategy.name());
        self.default.iter().filter_map(index_of).collect()
    }

    /// Returns the indices of the named strategies in [`Self::known`].
    ///
    /// # Errors
    /// A name is unknown or occurs twice, or there are more than `most` names.
    pub(crate) fn indices(&self, names: &[&str], most: usize) -> Result<Vec<usize>, ApiError> {
        if names.len() > most {
            return Err(ApiError::bad_request(
                "chain",
                format!(
                    "`strategy` names {} strategies, but this server's limit is {most}",
                    names.len()
                ),
            ));
        }
        let mut indices = Vec::with_capacity(names.len());
        for name in names {
            let index = self.index_of(name).ok_or_else(|| self.unknown_strategy())?;
            if indices.contains(&index) {
                return Err(ApiError::bad_request(
                    "chain",
                    "`strategy` names a strategy more than once; name each once, since a strategy that failed is not tried again",
                ));
            }
            indices.push(index);
        }
        Ok(indices)
    }

    /// Returns the strategy of this name.
    ///
    /// # Errors
    /// The name is unknown.
    pub(crate) fn get(&self, name: &str) -> Result<&Strategy, ApiError> {
        self.known
            .iter()
            .find(|strategy| strategy.name() == name)
            .ok_or_else(|| self.unknown_strategy())
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.known
            .iter()
            .position(|strategy| strategy.name() == name)
    }

    fn unknown_strategy(&self) -> ApiError {
        let known: Vec<&str> = self.known.iter().map(Strategy::name).collect();
        ApiError::new(
            StatusCode::BAD_REQUEST,
            "unknown-strategy",
            format!(
                "this server has no strategy of that name; it has: {}",
                known.join(", ")
            ),
        )
    }

    /// Returns the chain of these names, or the default chain if there are none.
    ///
    /// # Errors
    /// As [`Self::indices`].
    pub(crate) fn chain(
        &self,
        names: Option<&[&str]>,
        most: usize,
    ) -> Result<Vec<Strategy>, ApiError> {
        match names {
            None | Some([]) => Ok(self.default.clone()),
            Some(names) => {
                let indices = self.indices(names, most)?;
                let found = indices
                    .into_iter()
                    .filter_map(|index| self.known.get(index));
                Ok(found.cloned().collect())
            }
        }
    }
}

/// Limits the time of each strategy so that time remains for the next: the chain as a whole gets three
/// quarters of the request's remaining time, and the native strategies after it the rest.
pub(crate) fn limit_times(chain: Vec<Strategy>, deadline: &Deadline) -> Vec<Strategy> {
    let Some(time) = deadline.remaining() else {
        return chain;
    };
    let share = time * 3 / 4 / u32::try_from(chain.len().max(1)).unwrap_or(u32::MAX);
    chain
        .into_iter()
        .map(|strategy| {
            let limits = *strategy.limits();
            strategy.with_limits(
                limits
                    .with_time(limits.time.min(share))
                    .with_model_time(limits.model_time.min(share)),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_configured_and_native_strategies_can_be_named() {
        let catalog = Catalog::new(Vec::new(), Vec::new());
        assert_eq!(catalog.default_chain()[0].name(), "native:digest");
        let named = catalog
            .chain(Some(&["native:truncate"]), 8)
            .expect("the strategy exists");
        assert_eq!(named[0].name(), "native:truncate");
        for name in ["../../evil.wasm", "http://127.0.0.1/", "", "native:private"] {
            let error = catalog.chain(Some(&[name]), 8).expect_err("is rejected");
            assert!(!format!("{error:?}").contains("evil"));
        }
        for names in [["native:digest"; 2], ["native:digest", "native:truncate"]] {
            assert!(catalog.chain(Some(&names), 1).is_err(), "too many");
        }
        let twice = catalog.chain(Some(&["native:digest"; 2]), 8);
        let error = twice.expect_err("is named twice");
        assert!(format!("{error:?}").contains("more than once"), "{error:?}");
    }

    #[test]
    fn chain_leaves_time_for_the_native_strategies_after_it() {
        let chain = || vec![Strategy::digest(), Strategy::truncate()];
        let time_of = |deadline| limit_times(chain(), &deadline)[0].limits().time;
        // Half of three quarters of 4 s, less the time that has passed.
        let share = time_of(Deadline::after(Duration::from_secs(4)));
        let most = Duration::from_millis(1_500);
        assert!(share > Duration::ZERO && share <= most, "{share:?}");
        let over = Deadline::never();
        assert_eq!(time_of(over.clone()), Duration::from_secs(2));
        over.stop();
        assert_eq!(time_of(over), Duration::ZERO);
    }
}
