//! The cases: documents that grow in one dimension, and the stages that process them.

use baler_generated::Kind;
use baler_host::Pins;

use crate::dimensions::{self, Dimension, calls, texts};
use crate::plans;
use crate::stage::Stage;

/// The kind of a dimension's documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It obeys the rules of its format.
    Valid,
    /// It breaks one that repairs are there for.
    Broken,
    /// It is read, or refused; whether it is valid is not the question.
    Odd,
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
    make: fn(Kind, usize) -> Input,
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
    for dimension in dimensions::all() {
        let Dimension {
            name,
            state,
            wires,
            make,
        } = dimension;
        for wire in wires {
            for stage in stages(state) {
                lines.push(Line {
                    dimension: name,
                    stage,
                    state,
                    wire: *wire,
                    make,
                });
            }
        }
    }
    for &(name, wires, make) in plans::ALL_PLANNED {
        for wire in wires {
            lines.push(Line {
                dimension: name,
                stage: Stage::Plan,
                state: State::Valid,
                wire: *wire,
                make,
            });
        }
    }
    for stage in [Stage::Live, Stage::Retrieve] {
        for wire in Kind::ALL {
            lines.push(Line {
                dimension: "a life",
                stage,
                state: State::Valid,
                wire,
                make: dimensions::messages::steps,
            });
        }
    }
    // Each shortened output tells where the whole of it is archived.
    for wire in Kind::ALL {
        lines.push(Line {
            dimension: calls::UNSEEN_OUTPUTS,
            stage: Stage::ArchiveInFolder,
            state: State::Valid,
            wire,
            make: calls::unseen_outputs,
        });
    }
    lines
}

/// What is done with documents of a dimension.
fn stages(state: State) -> Vec<Stage> {
    let mut stages = vec![Stage::Read, Stage::Validate];
    match state {
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
