//! Keeps what must stay and the newest units that fit: a whole strategy.

use baler_strategy::{
    Conversation, Decision, Draft, Failure, NoConfig, Report, Room, Situation, Strategy,
};

struct KeepLast;

impl Strategy for KeepLast {
    type Config = NoConfig;
    const NAME: &'static str = "keep-last";
    const VERSION: &'static str = "0.1.0";
    const DESCRIPTION: &'static str = "Keeps the newest units that fit.";

    /// As soon as one more step as long as the longest so far would not fit.
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
        let mut room = Room::beside_protected(situation, conversation.units());
        let mut draft = Draft::of_protected(conversation);
        for (index, unit) in conversation.units().iter().enumerate().rev() {
            if !unit.is_protected() && !room.take(unit) {
                break;
            }
            draft.keep(index);
        }
        Ok(Report::compacted(draft.build()?))
    }
}

baler_strategy::export!(KeepLast);

#[cfg(test)]
mod tests {
    use super::*;
    use baler_strategy::testing::{Recording, run};

    #[test]
    fn the_oldest_go_first() {
        let recording = Recording::new()
            .user("Is the build green?")
            .tokens(100)
            .user("And the tests?")
            .tokens(100)
            .user("Then release it.")
            .tokens(100);
        let tested = run::<KeepLast>(&recording, &recording.situation(250), "")
            .expect("it has no way to fail");
        assert_eq!(
            tested.render(),
            "drop 0 user\nkeep 1 user\nkeep 2 user protected\n"
        );
    }
}
