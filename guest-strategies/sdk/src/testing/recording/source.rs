use super::Recording;
use crate::model::ModelSource;
use crate::testing::content::{bytes, media};
use crate::testing::count;
use crate::{Content, Level, Message, Source, Tool, Traits, Unit, UnitKind};

/// The tokens of a message in addition to its parts.
const ENVELOPE: u32 = 4;

impl Source for Recording {
    fn units(&self) -> Vec<Unit> {
        let newest_user = self
            .units
            .iter()
            .rposition(|unit| unit.kind == UnitKind::User);
        // A finished turn ends with a step without calls that the user answers.
        let holds_calls = |index: usize| {
            let messages = self.units[index].messages.iter();
            let mut parts = messages.flat_map(|message| &message.parts);
            parts.any(|part| matches!(part.content, Content::Call(_)))
        };
        let is_answer =
            |index: usize| self.units[index].kind == UnitKind::Step && !holds_calls(index);
        let first_unfinished = (1..self.units.len())
            .rev()
            .find(|index| self.units[*index].kind == UnitKind::User && is_answer(index - 1))
            .unwrap_or(0);
        let mut turn = 0;
        let figures = self.units.iter().enumerate().map(|(index, recorded)| {
            turn += u32::from(recorded.kind == UnitKind::User);
            let stays = Traits::PINNED | Traits::PENDING | Traits::LIVE | Traits::UNSEEN;
            let mut traits = recorded.traits;
            traits.set(Traits::CALLS, holds_calls(index));
            traits.set(Traits::FINISHED, index < first_unfinished);
            traits.set(
                Traits::PROTECTED,
                recorded.kind == UnitKind::Instructions
                    || traits.intersects(stays)
                    || newest_user == Some(index),
            );
            let parts = || recorded.messages.iter().flat_map(|message| &message.parts);
            let counted = parts().map(|part| part.tokens).sum::<u32>();
            let tokens = recorded
                .tokens
                .unwrap_or(counted + ENVELOPE * recorded.messages.len() as u32);
            Unit {
                kind: recorded.kind,
                turn,
                messages: recorded.messages.len() as u32,
                tokens,
                shortest: recorded.shortest.unwrap_or(tokens),
                bytes: parts().map(bytes).sum::<u32>() + 30 * recorded.messages.len() as u32,
                media: parts().map(media).sum(),
                traits,
            }
        });
        figures.collect()
    }

    fn read(&self, first: u32, count: u32) -> Vec<Vec<Message>> {
        let count = self.slice.map_or(count, |slice| count.min(slice));
        let units = self.units.iter().skip(first as usize).take(count as usize);
        let read: Vec<_> = units.map(|unit| unit.messages.clone()).collect();
        self.units_read.set(self.units_read.get() + read.len());
        read
    }

    fn reference(&self, unit: u32) -> Option<String> {
        let exists = (unit as usize) < self.units.len() && !self.no_archive;
        exists.then(|| format!("ref-{unit}"))
    }

    fn tools(&self) -> Vec<Tool> {
        self.tools.clone()
    }

    fn count(&self, text: &str) -> u32 {
        count(text)
    }

    fn log(&self, level: Level, message: &str) {
        self.log.borrow_mut().push((level, message.to_owned()));
    }

    fn model(&self) -> Option<&dyn ModelSource> {
        self.model.as_ref().map(|model| model as &dyn ModelSource)
    }
}
