//! The cases: documents that grow in one dimension, and the stages that process them.

use baler_generated::Kind;
use baler_host::Pins;

use crate::dimensions::{self, Dimension, calls, texts};
use crate::logs;
use crate::plans;
use crate::receipts;
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
    /// Messages, or the lines of a log.
    pub(crate) messages: Vec<String>,
    between: &'static str,
    after: &'static str,
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
            between: ",",
            after: "]}",
            pins: Pins::FirstUser,
            answer: String::new(),
        }
    }

    /// The log of a session.
    pub(crate) fn log(lines: Vec<String>) -> Self {
        Self {
            before: String::new(),
            messages: lines,
            between: "\n",
            after: "\n",
            pins: Pins::FirstUser,
            answer: String::new(),
        }
    }

    pub(crate) fn with_pins(mut self, pins: Vec<usize>) -> Self {
        self.pins = Pins::Units(pins);
        self
    }

    pub(crate) fn document(&self) -> String {
        let messages = self.messages.join(self.between);
        [&self.before, messages.as_str(), self.after].concat()
    }

    /// The document with its first message alone.
    pub(crate) fn beginning(&self) -> String {
        let first = self.messages.first().map_or("", String::as_str);
        [&self.before, first, self.after].concat()
    }
}

/// A line of the table.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) dimension: &'static str,
    /// The format, or the program whose log it is.
    pub(crate) kind: &'static str,
    pub(crate) stage: Stage,
    /// The kind of the documents.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "tests hold it against the documents")
    )]
    pub(crate) state: State,
    make: Make,
}

#[derive(Debug, Clone, Copy)]
enum Make {
    Request(fn(Kind, usize) -> Input, Kind),
    Log(fn(usize) -> Input),
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
            | Stage::Plan
            | Stage::Report => true,
            Stage::Compact(_) | Stage::Append | Stage::Archive | Stage::Undo => {
                matches!(self.make, Make::Request(..)) && OF_STRATEGIES.contains(&self.dimension)
            }
        }
    }

    pub(crate) fn label(&self) -> String {
        format!("{:<26} {:<17} {}", self.dimension, self.kind, self.stage)
    }

    pub(crate) fn input(&self, size: usize) -> Input {
        match self.make {
            Make::Request(make, wire) => make(wire, size),
            Make::Log(make) => make(size),
        }
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
            for stage in stages(state, true) {
                lines.push(Line {
                    dimension: name,
                    kind: wire.name(),
                    stage,
                    state,
                    make: Make::Request(make, *wire),
                });
            }
        }
    }
    for (kind, name, make) in logs::all() {
        for stage in stages(State::Valid, false) {
            lines.push(Line {
                dimension: name,
                kind,
                stage,
                state: State::Odd,
                make: Make::Log(make),
            });
        }
    }
    for &(name, wires, make) in plans::ALL_PLANNED {
        for wire in wires {
            lines.push(Line {
                dimension: name,
                kind: wire.name(),
                stage: Stage::Plan,
                state: State::Valid,
                make: Make::Request(make, *wire),
            });
        }
    }
    for &(name, make) in receipts::ALL_WRITTEN {
        lines.push(Line {
            dimension: name,
            kind: "receipt",
            stage: Stage::Report,
            state: State::Odd,
            make: Make::Log(make),
        });
    }
    for stage in [Stage::Live, Stage::Retrieve] {
        for wire in Kind::ALL {
            lines.push(Line {
                dimension: "a life",
                kind: wire.name(),
                stage,
                state: State::Valid,
                make: Make::Request(dimensions::messages::steps, wire),
            });
        }
    }
    // Each shortened output tells where the whole of it is archived.
    for wire in Kind::ALL {
        lines.push(Line {
            dimension: calls::UNSEEN_OUTPUTS,
            kind: wire.name(),
            stage: Stage::ArchiveInFolder,
            state: State::Valid,
            make: Make::Request(calls::unseen_outputs, wire),
        });
    }
    lines
}

/// What is done with documents of a dimension.
fn stages(state: State, is_request: bool) -> Vec<Stage> {
    let mut stages = vec![Stage::Read, Stage::Validate];
    match state {
        State::Broken => stages.push(Stage::Repair),
        State::Valid => {
            stages.extend(Stage::STRATEGIES.map(Stage::Compact));
            if is_request {
                stages.extend([Stage::Append, Stage::Archive, Stage::Undo]);
            }
        }
        State::Odd => {
            stages.push(Stage::Repair);
            stages.push(Stage::Compact("native:truncate"));
            stages.push(Stage::Compact("native:digest"));
            if is_request {
                stages.push(Stage::Append);
            }
        }
    }
    stages
}
