mod source;

use std::cell::{Cell, RefCell};

use super::content::{message, part, plain};
use super::{Call, ScriptedModel};
use crate::{
    Content, Level, Media, Message, ModelRequest, PartTraits, Role, Situation, Source, Tool,
    ToolCall, Traits, Trigger, UnitKind,
};

/// A conversation written for a test.
///
/// `system`, `user`, `step`, `summary` and `other` add a unit. `joined`, `beside`, `thinking`, `opaque`,
/// `attached`, `pin`, `live`, `unseen` and `tokens` change the newest unit. Figures and traits are derived
/// from the content, as a host would do.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    units: Vec<Recorded>,
    definitions: u32,
    tools: Vec<Tool>,
    slice: Option<u32>,
    no_archive: bool,
    units_read: Cell<usize>,
    log: RefCell<Vec<(Level, String)>>,
    model: Option<ScriptedModel>,
}

#[derive(Debug, Clone)]
struct Recorded {
    kind: UnitKind,
    messages: Vec<Message>,
    tokens: Option<u32>,
    shortest: Option<u32>,
    traits: Traits,
}

impl Recording {
    /// Creates a conversation without units.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds instructions.
    #[must_use]
    pub fn system(self, text: &str) -> Self {
        let own = message(Role::System, vec![plain(text)]);
        self.with(UnitKind::Instructions, vec![own])
    }

    /// Adds a user message.
    #[must_use]
    pub fn user(self, text: &str) -> Self {
        self.with(UnitKind::User, vec![message(Role::User, vec![plain(text)])])
    }

    /// Adds a summary of an earlier compaction.
    #[must_use]
    pub fn summary(self, text: &str) -> Self {
        let part = part(Content::Text(text.to_owned()), PartTraits::REWRITTEN);
        self.with(UnitKind::Summary, vec![message(Role::User, vec![part])])
    }

    /// Adds a unit of the kind `other`, such as an output without a call.
    #[must_use]
    pub fn other(self, text: &str) -> Self {
        let own = message(Role::User, vec![plain(text)]);
        self.with(UnitKind::Other, vec![own])
    }

    /// Adds a text that an earlier compaction wrote to the first message of the newest unit.
    #[must_use]
    pub fn joined(self, text: &str) -> Self {
        let part = part(Content::Text(text.to_owned()), PartTraits::REWRITTEN);
        self.and(|unit| {
            if let Some(first) = unit.messages.first_mut() {
                first.parts.push(part);
            }
        })
    }

    /// Adds a step: the model's text, its calls, and one message for each output.
    #[must_use]
    pub fn step(self, text: &str, calls: impl IntoIterator<Item = Call>) -> Self {
        let mut parts = Vec::new();
        if !text.is_empty() {
            parts.push(plain(text));
        }
        let mut outputs = Vec::new();
        let mut traits = Traits::empty();
        for (index, call) in calls.into_iter().enumerate() {
            let id = format!("call-{}-{index}", self.units.len());
            parts.push(part(
                Content::Call(ToolCall {
                    id: id.clone(),
                    name: call.name,
                    arguments: call.arguments,
                }),
                PartTraits::empty(),
            ));
            let Some(mut output) = call.output else {
                traits |= Traits::PENDING;
                continue;
            };
            output.call_id = id;
            if output.failed {
                traits |= Traits::FAILED;
            }
            if !output.media.is_empty() {
                traits |= Traits::MEDIA;
            }
            let output = part(Content::Output(output), call.rights);
            outputs.push(message(Role::Tool, vec![output]));
        }
        let mut messages = vec![message(Role::Assistant, parts)];
        messages.append(&mut outputs);
        self.with(UnitKind::Step, messages)
            .and(|unit| unit.traits |= traits)
    }

    /// Adds a user message to the newest unit, after its outputs.
    #[must_use]
    pub fn beside(self, text: &str) -> Self {
        self.and(|unit| {
            unit.messages.push(message(Role::User, vec![plain(text)]));
        })
    }

    /// Adds thinking at the start of the newest unit.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        let thought = part(Content::Thinking(text.to_owned()), PartTraits::empty());
        self.and(|unit| {
            unit.traits |= Traits::THINKING;
            if let Some(first) = unit.messages.first_mut() {
                first.parts.insert(0, thought);
            }
        })
    }

    /// Adds an opaque part of this kind at the start of the newest unit, such as the result of a provider's
    /// own compaction. No plan may change it.
    #[must_use]
    pub fn opaque(self, kind: &str) -> Self {
        let own = part(Content::Opaque(kind.to_owned()), PartTraits::empty());
        self.and(|unit| {
            unit.traits |= Traits::OPAQUE;
            if let Some(first) = unit.messages.first_mut() {
                first.parts.insert(0, own);
            }
        })
    }

    /// Adds a media part, such as a picture, at the end of the newest unit's first message.
    #[must_use]
    pub fn attached(self, kind: &str, name: Option<&str>) -> Self {
        let media = Media {
            kind: kind.to_owned(),
            name: name.map(str::to_owned),
            bytes: 4000,
        };
        self.and(|unit| {
            unit.traits |= Traits::MEDIA;
            if let Some(first) = unit.messages.first_mut() {
                let media = Content::Media(media);
                first.parts.push(part(media, PartTraits::empty()));
            }
        })
    }

    /// Pins the newest unit.
    #[must_use]
    pub fn pin(self) -> Self {
        self.and(|unit| unit.traits |= Traits::PINNED)
    }

    /// Marks the newest unit as live: it arrived after the state that is to be compacted.
    #[must_use]
    pub fn live(self) -> Self {
        self.and(|unit| unit.traits |= Traits::LIVE)
    }

    /// The model has not seen the outputs of the newest unit, so no plan can edit them. The host
    /// can shorten them until the unit costs `shortest` tokens.
    ///
    /// Without this call, outputs count as seen, also at the end of the conversation.
    #[must_use]
    pub fn unseen(self, shortest: u32) -> Self {
        self.and(|unit| {
            unit.traits |= Traits::UNSEEN;
            unit.shortest = Some(shortest);
            let parts = unit.messages.iter_mut().flat_map(|own| &mut own.parts);
            let rights = PartTraits::REWRITABLE | PartTraits::EXCERPTABLE;
            parts.for_each(|part| part.traits.remove(rights));
        })
    }

    /// Sets the tokens of the newest unit, whatever its content.
    #[must_use]
    pub fn tokens(self, tokens: u32) -> Self {
        self.and(|unit| unit.tokens = Some(tokens))
    }

    /// Sets the tokens of the system prompt and the tool definitions that the request has in addition to its
    /// messages.
    #[must_use]
    pub fn definitions(mut self, tokens: u32) -> Self {
        self.definitions = tokens;
        self
    }

    /// Adds a tool that the request offers to the model. `parameters` is a JSON Schema.
    #[must_use]
    pub fn tool(mut self, name: &str, description: &str, parameters: &str) -> Self {
        self.tools.push(Tool {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters: parameters.to_owned(),
        });
        self
    }

    /// Limits each slice to `units` units, however many the strategy requests.
    #[must_use]
    pub fn slices_of(mut self, units: u32) -> Self {
        self.slice = Some(units.max(1));
        self
    }

    /// Removes the archive, so no unit has a reference.
    #[must_use]
    pub fn without_archive(mut self) -> Self {
        self.no_archive = true;
        self
    }

    /// Sets the model that the strategy may ask.
    #[must_use]
    pub fn model(mut self, model: ScriptedModel) -> Self {
        self.model = Some(model);
        self
    }

    /// Returns the situation of this conversation for a budget in tokens: triggered by the threshold, 40
    /// tokens for each mark, no limit of bytes or media. Change its fields as needed.
    pub fn situation(&self, budget: u32) -> Situation {
        let units = self.units();
        let instructions = units
            .iter()
            .filter(|unit| unit.kind == UnitKind::Instructions);
        let overhead = self.definitions + instructions.map(|unit| unit.tokens).sum::<u32>();
        let used = overhead + units.iter().map(|unit| unit.cost() as u32).sum::<u32>();
        let protected = units.iter().filter(|unit| unit.is_protected());
        let least: u32 = protected
            .map(|unit| unit.cost() as u32 - (unit.tokens - unit.shortest))
            .sum();
        Situation {
            trigger: Trigger::Threshold,
            context_window: 0,
            used,
            overhead,
            budget,
            floor: overhead + least,
            insertion_overhead: 40,
            opening_note: 0,
            cached_units: 0,
            max_bytes: None,
            max_media: None,
            context: String::new(),
            required: false,
        }
    }

    /// Returns how many units were read so far.
    pub fn units_read(&self) -> usize {
        self.units_read.get()
    }

    /// Returns the log of the strategy so far, oldest first.
    pub fn log(&self) -> Vec<(Level, String)> {
        self.log.borrow().clone()
    }

    /// Returns the requests to the model in the last run, oldest first.
    pub fn asked(&self) -> Vec<ModelRequest> {
        self.model
            .as_ref()
            .map_or_else(Vec::new, ScriptedModel::asked)
    }

    /// Restarts the script of the model.
    pub(super) fn rewind(&self) {
        if let Some(model) = &self.model {
            model.rewind();
        }
    }

    /// Returns the messages of a unit, empty if the unit does not exist.
    pub(super) fn messages(&self, unit: usize) -> &[Message] {
        self.units.get(unit).map_or(&[], |unit| &unit.messages)
    }

    fn with(mut self, kind: UnitKind, messages: Vec<Message>) -> Self {
        self.units.push(Recorded {
            kind,
            messages,
            tokens: None,
            shortest: None,
            traits: Traits::empty(),
        });
        self
    }

    fn and(mut self, change: impl FnOnce(&mut Recorded)) -> Self {
        if let Some(unit) = self.units.last_mut() {
            change(unit);
        }
        self
    }
}
