//! The strategies that a server has. Clients name them; they never name files or URLs.

use axum::http::StatusCode;
use baler_host::{Deadline, Limits, Strategy};

use super::error::ApiError;

/// What clients can choose from.
#[derive(Debug)]
pub(crate) struct Catalog {
    known: Vec<Strategy>,
    default: Vec<Strategy>,
}

impl Catalog {
    /// `default` is the chain of who names none; it can be named as well, and so can the host's
    /// own strategies.
    pub(crate) fn new(default: Vec<Strategy>, others: Vec<Strategy>) -> Self {
        let native = [Strategy::digest(), Strategy::truncate()];
        let mut known: Vec<Strategy> = Vec::new();
        for strategy in default.iter().cloned().chain(others).chain(native) {
            if known.iter().all(|own| own.name() != strategy.name()) {
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

    /// Where the strategies of who names none stand in all that are known.
    pub(crate) fn default_places(&self) -> Vec<usize> {
        let place = |strategy: &Strategy| self.place(strategy.name());
        self.default.iter().filter_map(place).collect()
    }

    /// Where the strategies of these names stand in all that are known. At most `most`, and none
    /// twice: what failed once is not tried again.
    pub(crate) fn places(&self, names: &[&str], most: usize) -> Result<Vec<usize>, ApiError> {
        if names.len() > most {
            return Err(ApiError::bad_request(
                "chain",
                format!(
                    "`strategy` names more than {most} strategies, which is this server's limit"
                ),
            ));
        }
        let mut places = Vec::with_capacity(names.len());
        for name in names {
            let place = self.place(name).ok_or_else(|| self.unknown())?;
            if places.contains(&place) {
                return Err(ApiError::bad_request(
                    "chain",
                    "`strategy` names a strategy more than once; one that fails is not tried again, so name each once",
                ));
            }
            places.push(place);
        }
        Ok(places)
    }

    pub(crate) fn one(&self, name: &str) -> Result<&Strategy, ApiError> {
        self.known
            .iter()
            .find(|strategy| strategy.name() == name)
            .ok_or_else(|| self.unknown())
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.known
            .iter()
            .position(|strategy| strategy.name() == name)
    }

    fn unknown(&self) -> ApiError {
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

    /// The chain of these names, at most `most`; that of who names none.
    pub(crate) fn chain(
        &self,
        names: Option<&[&str]>,
        most: usize,
    ) -> Result<Vec<Strategy>, ApiError> {
        match names {
            None | Some([]) => Ok(self.default.clone()),
            Some(names) => {
                let places = self.places(names, most)?;
                let found = places.into_iter().filter_map(|place| self.known.get(place));
                Ok(found.cloned().collect())
            }
        }
    }
}

/// The chain, none of which can take so long that nothing is left for the next: three quarters of
/// what is left of the request's time for all of them together, and the rest for the host's own.
pub(crate) fn within(chain: Vec<Strategy>, deadline: &Deadline) -> Vec<Strategy> {
    let Some(time) = deadline.remaining() else {
        return chain;
    };
    let share = time * 3 / 4 / u32::try_from(chain.len().max(1)).unwrap_or(u32::MAX);
    chain
        .into_iter()
        .map(|strategy| {
            let limits = *strategy.limits();
            strategy.with_limits(Limits {
                time: limits.time.min(share),
                model_time: limits.model_time.min(share),
                ..limits
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_what_was_configured_can_be_named() {
        let catalog = Catalog::new(Vec::new(), Vec::new());
        assert_eq!(catalog.default_chain()[0].name(), "native:digest");
        let named = catalog
            .chain(Some(&["native:truncate"]), 8)
            .expect("it is there");
        assert_eq!(named[0].name(), "native:truncate");
        for name in ["../../evil.wasm", "http://127.0.0.1/", "", "native:private"] {
            let error = catalog.chain(Some(&[name]), 8).expect_err("it is not");
            assert!(!format!("{error:?}").contains("evil"));
        }
        for wrong in [["native:digest"; 2], ["native:digest", "native:truncate"]] {
            assert!(catalog.chain(Some(&wrong), 1).is_err(), "too many");
        }
        let twice = catalog.chain(Some(&["native:digest"; 2]), 8);
        let error = twice.expect_err("it comes twice");
        assert!(format!("{error:?}").contains("more than once"), "{error:?}");
    }

    #[test]
    fn time_is_left_for_the_end_of_the_chain() {
        let chain = || vec![Strategy::digest(), Strategy::truncate()];
        let time_of = |deadline| within(chain(), &deadline)[0].limits().time;
        // Half of three quarters, less what the clock went on; alone it has two seconds.
        let share = time_of(Deadline::after(Duration::from_secs(4)));
        let most = Duration::from_millis(1_500);
        assert!(share > Duration::ZERO && share <= most, "{share:?}");
        let over = Deadline::never();
        assert_eq!(time_of(over.clone()), Duration::from_secs(2));
        over.stop();
        assert_eq!(time_of(over), Duration::ZERO);
    }
}
