//! A strategy behind a filter, natively.

use std::cell::RefCell;
use std::marker::PhantomData;

use super::Recording;
use crate::filter::Behind;
use crate::model::ModelSource;
use crate::{
    Content, Conversation, Decision, Failure, Introspection, Level, Message, Report, Shown,
    Situation, Source, Strategy, Tool, Unit, config, guest,
};

pub(super) struct Native<'a, S> {
    recording: &'a Recording,
    shown: RefCell<Vec<Shown>>,
    strategy: PhantomData<S>,
}

impl<'a, S: Strategy> Native<'a, S> {
    pub(super) fn new(recording: &'a Recording) -> Self {
        Self {
            recording,
            shown: RefCell::default(),
            strategy: PhantomData,
        }
    }

    fn view(&self) -> View<'a> {
        View {
            recording: self.recording,
            shown: self.shown.borrow().clone(),
        }
    }
}

impl<S: Strategy> Behind for Native<'_, S> {
    fn introspect(&self, config: Option<&str>) -> Result<Introspection, Failure> {
        guest::introspect::<S>(config)
    }

    fn show(&self, texts: &[Shown]) {
        self.shown.replace(texts.to_vec());
    }

    fn should_compact(&self, situation: &Situation, config: &str) -> Result<Decision, Failure> {
        let config = config::parse::<S>(config)?;
        S::should_compact(&Conversation::new(&self.view()), situation, &config)
    }

    fn compact(&self, situation: &Situation, config: &str) -> Result<Report, Failure> {
        let config = config::parse::<S>(config)?;
        S::compact(&Conversation::new(&self.view()), situation, &config)
    }
}

/// The recording as the filter shows it.
struct View<'a> {
    recording: &'a Recording,
    shown: Vec<Shown>,
}

impl Source for View<'_> {
    fn units(&self) -> Vec<Unit> {
        self.recording.units()
    }

    fn read(&self, first: u32, count: u32) -> Vec<Vec<Message>> {
        let mut read = self.recording.read(first, count);
        for shown in &self.shown {
            let unit = shown.unit.checked_sub(first);
            let part = unit
                .and_then(|unit| read.get_mut(unit as usize))
                .and_then(|messages| messages.get_mut(shown.message as usize))
                .and_then(|message| message.parts.get_mut(shown.part as usize));
            match part.map(|part| &mut part.content) {
                Some(Content::Text(text) | Content::Thinking(text)) => text.clone_from(&shown.text),
                Some(Content::Call(call)) => call.arguments.clone_from(&shown.text),
                Some(Content::Output(output)) => output.text.clone_from(&shown.text),
                _ => {}
            }
        }
        read
    }

    fn reference(&self, unit: u32) -> Option<String> {
        self.recording.reference(unit)
    }

    fn tools(&self) -> Vec<Tool> {
        self.recording.tools()
    }

    fn count(&self, text: &str) -> u32 {
        self.recording.count(text)
    }

    fn log(&self, level: Level, message: &str) {
        Source::log(self.recording, level, message);
    }

    fn model(&self) -> Option<&dyn ModelSource> {
        self.recording.model()
    }
}
