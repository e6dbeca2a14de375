//! The cases: documents that grow in one dimension, and the stages that process them.

use baler_generated::Kind;
use baler_host::Pins;

use crate::dimensions::{self, ALL, Dimension, Make, calls, messages, texts};
use crate::stage::Stage;
use crate::wire::{around, user};

/// The kind of a dimension's documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It obeys the rules of its format.
    Valid,
    /// It breaks one that repairs are there for.
    Broken,
    /// It is read, or refused; whether it is valid is not the question.
    Odd,
    /// It is valid, and has a plan, which is what grows.
    Planned,
}

/// A document of some size, in pieces.
#[derive(Debug)]
pub(crate) struct Input {
    /// The request body up to the first message.
    pub(crate) before: String,
    pub(crate) messages: Vec<String>,
    pub(crate) pins: Pins,
    /// What a strategy of somewhere else answers, where that is what grows.
    pub(crate) answer: String,
}

impl Input {
    /// A request; `more` are further members of the body, each with a comma behind it.
    pub(crate) fn request(wire: Kind, more: &str, messages: Vec<String>) -> Self {
        let head = match wire {
            Kind::OpenAiChat => r#""model":"gpt-4o","messages":["#,
            Kind::OpenAiResponses => r#""model":"gpt-5","input":["#,
            Kind::Anthropic => r#""model":"claude-sonnet-4-5","max_tokens":1024,"messages":["#,
            Kind::Gemini => r#""contents":["#,
            Kind::BedrockConverse if more.contains("toolConfig") => r#""messages":["#,
            // Calls need it.
            Kind::BedrockConverse => {
                r#""toolConfig":{"tools":[{"toolSpec":{"name":"read","inputSchema":{"json":{"type":"object"}}}}]},"messages":["#
            }
        };
        Self {
            before: format!("{{{more}{head}"),
            messages,
            pins: Pins::FirstUser,
            answer: String::new(),
        }
    }

    /// A request in which the user asks for something, and these messages follow.
    pub(crate) fn asked(wire: Kind, messages: impl IntoIterator<Item = String>) -> Self {
        let task = std::iter::once(user(wire, "Count the grain."));
        Self::request(wire, "", task.chain(messages).collect())
    }

    /// A request in which these messages stand between a task and a word of the user's.
    pub(crate) fn within(wire: Kind, messages: impl IntoIterator<Item = String>) -> Self {
        Self::request(wire, "", around(wire, messages))
    }

    pub(crate) fn with_pins(mut self, pins: Vec<usize>) -> Self {
        self.pins = Pins::Units(pins);
        self
    }

    pub(crate) fn document(&self) -> String {
        let messages = self.messages.join(",");
        [&self.before, messages.as_str(), "]}"].concat()
    }

    /// The document with its first message alone.
    pub(crate) fn beginning(&self) -> String {
        let first = self.messages.first().map_or("", String::as_str);
        [&self.before, first, "]}"].concat()
    }
}

/// A line of the table.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) dimension: &'static str,
    pub(crate) stage: Stage,
    /// The kind of the documents.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "tests hold it against the documents")
    )]
    pub(crate) state: State,
    pub(crate) wire: Kind,
    make: Make,
}

/// Dimensions that strategies, appending and archives are measured in where not all are: what they
/// look at grows in these.
pub(crate) const OF_STRATEGIES: [&str; 11] = [
    "turns",
    "steps",
    "parallel calls",
    "long outputs in one step",
    calls::UNSEEN_OUTPUTS,
    "text: names",
    "text: names that collide",
    "texts of the user's",
    texts::SPACES_THEN_NUMBERS,
    texts::LONG_KEY,
    texts::TYPED_THEN_MARKERS,
];

impl Line {
    /// Whether it is measured where nothing is asked for: every dimension in every format, but not
    /// every strategy in each.
    pub(crate) fn is_chosen(&self) -> bool {
        match self.stage {
            Stage::Read
            | Stage::Validate
            | Stage::Repair
            | Stage::Compact("native:truncate")
            | Stage::ArchiveInFolder
            | Stage::Live
            | Stage::Retrieve
            | Stage::Plan => true,
            Stage::Compact(_) | Stage::Append | Stage::Archive | Stage::Undo => {
                OF_STRATEGIES.contains(&self.dimension)
            }
        }
    }

    pub(crate) fn label(&self) -> String {
        format!(
            "{:<26} {:<17} {}",
            self.dimension,
            self.wire.name(),
            self.stage
        )
    }

    pub(crate) fn input(&self, size: usize) -> Input {
        (self.make)(self.wire, size)
    }
}

/// All lines, always in the same order.
pub(crate) fn lines() -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |dimension: &Dimension, stages: &[Stage]| {
        for &wire in dimension.wires {
            lines.extend(stages.iter().map(|&stage| Line {
                dimension: dimension.name,
                stage,
                state: dimension.state,
                wire,
                make: dimension.make,
            }));
        }
    };
    for dimension in dimensions::all() {
        add(dimension, &stages(dimension.state));
    }
    let life = Dimension::valid("a life", ALL, messages::steps);
    add(&life, &[Stage::Live]);
    add(&life, &[Stage::Retrieve]);
    // Each shortened output tells where the whole of it is archived.
    let unseen = Dimension::valid(calls::UNSEEN_OUTPUTS, ALL, calls::unseen_outputs);
    add(&unseen, &[Stage::ArchiveInFolder]);
    lines
}

/// What is done with documents of a dimension.
fn stages(state: State) -> Vec<Stage> {
    let mut stages = vec![Stage::Read, Stage::Validate];
    match state {
        State::Planned => return vec![Stage::Plan],
        State::Broken => stages.push(Stage::Repair),
        State::Valid => {
            stages.extend(Stage::STRATEGIES.map(Stage::Compact));
            stages.extend([Stage::Append, Stage::Archive, Stage::Undo]);
        }
        State::Odd => {
            stages.push(Stage::Repair);
            stages.push(Stage::Compact("native:truncate"));
            stages.push(Stage::Compact("native:digest"));
            stages.push(Stage::Append);
        }
    }
    stages
}
