//! Counts the tokens of units by the configured counter.

use baler_strategy::{Content, Conversation, Message, Situation, Unit, UnitKind};

use crate::TokenCounter;

/// The tokens of a conversation. With `quarter` they are only an estimate.
#[derive(Debug)]
pub(crate) struct Costs {
    overhead: u64,
    units: Vec<u64>,
}

impl Costs {
    pub(crate) fn of(
        conversation: &Conversation<'_>,
        situation: &Situation,
        counter: TokenCounter,
    ) -> Self {
        let units = conversation.units();
        match counter {
            TokenCounter::Host => Self {
                overhead: situation.overhead.into(),
                units: units.iter().map(Unit::cost).collect(),
            },
            TokenCounter::Quarter => Self {
                overhead: 0,
                units: conversation
                    .read(0..units.len())
                    .map(|(_, messages)| messages.iter().map(quarter).sum())
                    .collect(),
            },
        }
    }

    /// Returns the tokens of the overhead and of all units for which `stays` returns true.
    pub(crate) fn of_kept(&self, stays: impl Fn(usize) -> bool) -> u64 {
        let units = self.units.iter().enumerate();
        let kept = units.filter(|(index, _)| stays(*index));
        self.overhead + kept.map(|(_, tokens)| tokens).sum::<u64>()
    }
}

/// Returns the number of messages in the units for which `stays` returns true, without instructions.
pub(crate) fn messages(units: &[Unit], stays: impl Fn(usize) -> bool) -> u64 {
    let kept = units.iter().enumerate().filter(|(index, _)| stays(*index));
    let messages = kept.filter(|(_, unit)| unit.kind != UnitKind::Instructions);
    messages.map(|(_, unit)| u64::from(unit.messages)).sum()
}

/// Returns a quarter of the characters of everything that is sent as text.
fn quarter(message: &Message) -> u64 {
    let characters = |text: &str| text.chars().count();
    let parts = message.parts.iter().map(|part| match &part.content {
        Content::Text(text) | Content::Thinking(text) => characters(text),
        Content::Call(call) => characters(&call.name) + characters(&call.arguments),
        Content::Output(output) => characters(&output.text),
        Content::Media(_) | Content::Opaque(_) => 0,
    });
    quarter_of(parts.sum())
}

fn quarter_of(characters: usize) -> u64 {
    match characters {
        0 => 0,
        characters => (characters as u64 / 4).max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baler_strategy::testing::{Recording, call};

    /// T16, PT-T5, PT-I8
    #[test]
    fn a_quarter_of_the_characters_but_at_least_one() {
        let counted = ["hello world", "hi", "", "0123456789"].map(|text| {
            let recording = Recording::new().user(text);
            let conversation = Conversation::new(&recording);
            let situation = recording.situation(0);
            Costs::of(&conversation, &situation, TokenCounter::Quarter).of_kept(|_| true)
        });
        assert_eq!(counted, [2, 1, 0, 2]);
    }

    /// PT-N14, ALL-N13
    #[test]
    fn everything_that_is_sent_counts() {
        let recording = Recording::new()
            .definitions(100)
            .system("12345678")
            .step("", [call("grep", "12345678", "1234")]);
        let conversation = Conversation::new(&recording);
        let situation = recording.situation(0);
        let total = |counter| Costs::of(&conversation, &situation, counter).of_kept(|_| true);
        assert_eq!(total(TokenCounter::Quarter), 2 + 3 + 1);
        assert_eq!(total(TokenCounter::Host), u64::from(situation.used));
    }
}
