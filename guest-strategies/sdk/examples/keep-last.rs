//! A complete strategy: keeps the protected units and the newest other units that fit.

use baler_strategy::{
    Conversation, Decision, Failure, FreeBudget, NoConfig, PlanBuilder, Report, Situation, Strategy,
};

struct KeepLast;

impl Strategy for KeepLast {
    type Config = NoConfig;
    const NAME: &'static str = "keep-last";
    const VERSION: &'static str = "0.1.0";
    const DESCRIPTION: &'static str = "Keeps the newest units that fit.";

    /// Compacts as soon as another unit as long as the longest one would not fit.
    fn should_compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        _: &NoConfig,
    ) -> Result<Decision, Failure> {
        let longest = conversation.units().iter().map(|unit| unit.tokens).max();
        let next = situation.used.saturating_add(longest.unwrap_or(0));
        Ok(if next > situation.budget {
            Decision::Compact("one more step like the longest would not fit".to_owned())
        } else {
            Decision::Wait("the next step fits".to_owned())
        })
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        _: &NoConfig,
    ) -> Result<Report, Failure> {
        let mut free = FreeBudget::after_protected(situation, conversation.units());
        let mut builder = PlanBuilder::keeping_protected(conversation);
        for (index, unit) in conversation.units().iter().enumerate().rev() {
            if !unit.is_protected() && !free.take(unit) {
                break;
            }
            builder.keep(index);
        }
        Ok(Report::compacted(builder.build()?))
    }
}

baler_strategy::export!(KeepLast);

#[cfg(test)]
mod tests {
    use super::*;
    use baler_strategy::testing::{Recording, run};

    #[test]
    fn keep_last_removes_the_oldest_units_first() {
        let recording = Recording::new()
            .user("Is the build green?")
            .tokens(100)
            .user("And the tests?")
            .tokens(100)
            .user("Then release it.")
            .tokens(100);
        let tested = run::<KeepLast>(&recording, &recording.situation(250), "")
            .expect("the strategy declares no failure");
        assert_eq!(
            tested.render(),
            "drop 0 user\nkeep 1 user\nkeep 2 user protected\n"
        );
    }
}
