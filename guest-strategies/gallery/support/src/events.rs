use std::ops::Range;

use baler_strategy::{Content, Conversation};

/// The conversation as OpenHands' condensers see it: a list of events. An instruction, a message of the user and an
/// answer without calls are one event each. A call and its observation are two, and parallel calls come one after
/// another, each followed by its observation.
#[derive(Debug, Clone)]
pub struct Events {
    units: Vec<Range<usize>>,
}

impl Events {
    /// Returns the events of the conversation.
    pub fn of(conversation: &Conversation<'_>) -> Self {
        let mut next = 0;
        let mut units = Vec::new();
        for (_, messages) in conversation.read(0..conversation.units().len()) {
            let parts = messages.iter().flat_map(|message| &message.parts);
            let calls = parts.filter(|part| matches!(part.content, Content::Call(_)));
            let end = next + (2 * calls.count()).max(1);
            units.push(next..end);
            next = end;
        }
        Self { units }
    }

    /// Returns the number of events.
    pub fn count(&self) -> usize {
        self.units.last().map_or(0, |last| last.end)
    }

    /// Returns the event that is output `number` of a unit.
    pub fn of_output(&self, unit: usize, number: usize) -> usize {
        self.units[unit].start + 2 * number + 1
    }

    /// Returns whether a unit stays if only some events do. OpenHands drops calls without observations and the other way
    /// around: a response is sent if all its observations are there, and the event of at least one of its calls.
    pub fn keep(&self, unit: usize, stays: impl Fn(usize) -> bool) -> bool {
        let events = self.units[unit].clone();
        if events.len() == 1 {
            return stays(events.start);
        }
        let observations = events.clone().skip(1).step_by(2);
        observations.into_iter().all(&stays) && events.step_by(2).any(stays)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baler_strategy::testing::{Recording, call};

    #[test]
    fn a_response_needs_all_its_observations_and_one_of_its_calls() {
        let calls = || [call("ls", "{}", "a"), call("cat", "{}", "b")];
        let recording = Recording::new()
            .system("Be brief.")
            .user("Look.")
            .step("", calls())
            .step("Done.", []);
        let events = Events::of(&Conversation::new(&recording));
        assert_eq!(events.count(), 7);
        assert_eq!(events.of_output(2, 1), 5);
        let kept_from = |first| {
            (0..4)
                .filter(|unit| events.keep(*unit, |event| event >= first))
                .collect::<Vec<_>>()
        };
        assert_eq!(kept_from(2), [2, 3]);
        // The first call is gone, but not its observation.
        assert_eq!(kept_from(3), [2, 3]);
        assert_eq!(kept_from(4), [3]);
    }

    #[test]
    fn a_single_call_needs_its_observation() {
        let recording = Recording::new().step("", [call("ls", "{}", "a")]);
        let events = Events::of(&Conversation::new(&recording));
        assert!(events.keep(0, |_| true));
        assert!(!events.keep(0, |event| event >= 1));
        assert!(!events.keep(0, |event| event < 1));
    }
}
