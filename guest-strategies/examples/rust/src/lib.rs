//! Keeps what must stay and, of the rest, the newest units: at most `units` of them, and no more than fit.

use baler_strategy::{
    Conversation, Failure, PlanBuilder, Report, Situation, Strategy, Unit, UnitKind,
};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    units: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { units: 40 }
    }
}

struct ThisStrategy;

impl Strategy for ThisStrategy {
    type Config = Config;
    const NAME: &'static str = "keep-newest";
    const VERSION: &'static str = "0.1.0";
    const DESCRIPTION: &'static str = "Keeps the newest units that fit.";
    const CONFIG_SCHEMA: &'static str = r#"{
        "type": "object",
        "additionalProperties": false,
        "properties": {"units": {"type": "integer", "minimum": 0, "default": 40}}
    }"#;
    const REASON_CODES: &'static [&'static str] = &["old"];
    const METRIC_NAMES: &'static [&'static str] = &["removed"];

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let units = conversation.units();
        let protected = units.iter().filter(|unit| unit.is_protected());
        let mut free = i64::from(situation.budget)
            - i64::from(situation.overhead)
            - i64::from(situation.opening_note)
            - protected.map(cost).sum::<i64>();
        let mut builder = PlanBuilder::keeping_protected(conversation);
        let others = units.iter().enumerate().rev();
        let others = others.filter(|(_, unit)| !unit.is_protected());
        for (index, unit) in others.take(config.units as usize) {
            free -= cost(unit);
            if free < 0 {
                break;
            }
            builder.keep(index);
        }
        let removed: Vec<usize> = (0..units.len())
            .filter(|unit| !builder.keeps(*unit))
            .collect();
        if removed.is_empty() {
            let report = Report::unchanged("all of it is new enough");
            return Ok(report.with_count("removed", 0));
        }
        for unit in &removed {
            builder.reason(*unit..unit + 1, "old");
        }
        let report = Report::compacted(builder.build()?);
        Ok(report.with_count("removed", removed.len() as u64))
    }
}

baler_strategy::export!(ThisStrategy);

/// Instructions are part of the overhead already.
fn cost(unit: &Unit) -> i64 {
    match unit.kind {
        UnitKind::Instructions => 0,
        _ => unit.tokens.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baler_strategy::testing::{Recording, run};

    fn harbour() -> Recording {
        Recording::new()
            .user("Chart the harbour.")
            .pin()
            .step("Berth one is deep.", [])
            .tokens(300)
            .step("Berth two is shallow.", [])
            .tokens(200)
            .user("Go on.")
            .tokens(10)
            .step("Berth three is free.", [])
            .tokens(100)
    }

    #[test]
    fn keeps_what_must_stay_and_the_newest_that_fit() {
        let recording = harbour();
        let floor = recording.situation(0).floor;
        for (budget, config, kept) in [
            (floor + 300, "", &[0, 2, 3, 4][..]),
            (floor + 299, "", &[0, 3, 4]),
            (floor, "", &[0, 3]),
            (floor + 1_000, r#"{"units": 1}"#, &[0, 3, 4]),
        ] {
            let tested = run::<ThisStrategy>(&recording, &recording.situation(budget), config)
                .expect("the strategy declares no failure");
            assert_eq!(tested.kept(), kept, "{budget} {config}");
        }
    }
}
