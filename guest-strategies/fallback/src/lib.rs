//! Two strategies as one: the second one where the first fails.
//!
//! `baler compose` puts this component before two strategies. The second runs if the first declares a failure, or if it
//! leaves the conversation unchanged although the host requires a change. A trap of the first ends both: the
//! component model has no way to catch it. The host's chain does that.

mod config;
mod description;

use baler_strategy::bindings::baler::compaction::{log, strategy};
use baler_strategy::bindings::baler::composition::otherwise;
use baler_strategy::bindings::exports::baler::compaction::strategy::Guest;
use baler_strategy::{Decision, Failure, Introspection, Level, Outcome, Report, Situation};

use config::Configs;

/// The component.
#[derive(Debug)]
pub struct Fallback;

impl Guest for Fallback {
    fn introspect(config: Option<String>) -> Result<Introspection, Failure> {
        let configs = config.as_deref().map(Configs::read).transpose()?;
        let [first, second] = match &configs {
            Some(configs) => [
                strategy::introspect(Some(&configs.first))?,
                otherwise::introspect(Some(&configs.otherwise))?,
            ],
            None => [strategy::introspect(None)?, otherwise::introspect(None)?],
        };
        description::of_both(first, second)
    }

    fn should_compact(situation: Situation, config: String) -> Result<Decision, Failure> {
        let configs = Configs::read(&config)?;
        match strategy::should_compact(&situation, &configs.first) {
            Err(failure) if !is_fault_of_the_config(&failure) => {
                otherwise::should_compact(&situation, &configs.otherwise)
            }
            answer => answer,
        }
    }

    fn compact(situation: Situation, config: String) -> Result<Report, Failure> {
        let configs = Configs::read(&config)?;
        let answer = strategy::compact(&situation, &configs.first);
        let Some(why) = why_not(&answer, situation.required) else {
            return answer;
        };
        log::emit(Level::Info, &format!("the second strategy runs: {why}"));
        otherwise::compact(&situation, &configs.otherwise)
    }
}

/// Returns why the answer of the first strategy does not count; `None` if it does.
fn why_not(answer: &Result<Report, Failure>, is_required: bool) -> Option<&str> {
    match answer {
        Err(failure) if is_fault_of_the_config(failure) => None,
        Err(Failure::BadConfig(why) | Failure::Model(why) | Failure::Other(why)) => Some(why),
        Ok(report) => match &report.outcome {
            Outcome::Unchanged(why) if is_required => Some(why),
            _ => None,
        },
    }
}

/// Whoever wrote a wrong config has to hear of it.
const fn is_fault_of_the_config(failure: &Failure) -> bool {
    matches!(failure, Failure::BadConfig(_))
}

// Native linkers reject the names that a component exports.
#[cfg(target_family = "wasm")]
baler_strategy::bindings::__export_component!(Fallback with_types_in baler_strategy::bindings);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_runs_after_a_failure_and_after_unchanged_if_that_is_not_accepted() {
        let other = Err(Failure::Other("no".to_owned()));
        assert_eq!(why_not(&other, false), Some("no"));
        let bad = Err(Failure::BadConfig("no".to_owned()));
        assert_eq!(why_not(&bad, true), None);
        let unchanged = Ok(Report::unchanged("fits"));
        assert_eq!(why_not(&unchanged, false), None);
        assert_eq!(why_not(&unchanged, true), Some("fits"));
    }
}
