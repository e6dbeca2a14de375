//! Keeps what must stay and, of the rest, the newest units: at most `units` of them, and no more than fit.

use baler_strategy::{Conversation, Failure, FreeBudget, PlanBuilder, Report, Situation, Strategy};
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
        "properties": {
            "units": {
                "type": "integer",
                "minimum": 0,
                "default": 40,
                "description": "How many units to keep at most, beside those that must stay."
            }
        }
    }"#;
    const REASON_CODES: &'static [&'static str] = &["old"];
    const METRIC_NAMES: &'static [&'static str] = &["removed"];

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let units = conversation.units();
        let mut free = FreeBudget::after_protected(situation, units);
        // The host may have to begin the result with a note.
        free.spend(situation.opening_note, 0);
        let mut builder = PlanBuilder::keeping_protected(conversation);
        let others = units.iter().enumerate().rev();
        let others = others.filter(|(_, unit)| !unit.is_protected());
        for (index, unit) in others.take(config.units as usize) {
            if !free.take(unit) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use baler_strategy::Source;
    use baler_strategy::testing::{Recording, run};

    fn harbour() -> Recording {
        Recording::new()
            .user("Chart the harbour.")
            .pin()
            .step("Berth one is deep.", [])
            .tokens(300)
            .step("Berth two is shallow.", [])
            .attached("image", None)
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
        let units = recording.units();
        let bytes = units.iter().map(|unit| unit.bytes).sum::<u32>() - units[1].bytes;
        let rows: [(_, _, _, _, &[usize]); 8] = [
            (floor + 300, None, None, "", &[0, 2, 3, 4]),
            (floor + 299, None, None, "", &[0, 3, 4]),
            (floor, None, None, "", &[0, 3]),
            (10_000, Some(bytes), None, "", &[0, 2, 3, 4]),
            (10_000, Some(bytes - 1), None, "", &[0, 3, 4]),
            (10_000, None, Some(0), "", &[0, 3, 4]),
            (10_000, None, None, r#"{"units": 1}"#, &[0, 3, 4]),
            (10_000, None, None, "", &[0, 1, 2, 3, 4]),
        ];
        for (budget, max_bytes, max_media, config, kept) in rows {
            let situation = Situation {
                max_bytes,
                max_media,
                ..recording.situation(budget)
            };
            let tested = run::<ThisStrategy>(&recording, &situation, config)
                .expect("the strategy declares no failure");
            assert_eq!(tested.kept(), kept, "{situation:?} {config}");
        }
    }
}
