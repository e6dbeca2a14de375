//! The stages that process a document, and how long the host takes for them.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use baler_host::{
    Archive, Budget, Compaction, Compactor, CompactorOptions, Conversation, Host, Limits, Receipt,
    Request, Strategy, archive::Retrieve, conversation::SecretKey,
    conversation::tokenizers::Tokenizer, strategy::EngineLimits,
};
use tokio::runtime::Runtime;

use crate::case::Input;
use crate::plans::Answering;

/// Tokens of the window of an agent's life: a compaction for every few dozen messages.
const WINDOW: u32 = 4_000;

/// What is measured of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Reading and counting, with nothing remembered, and dropping what was read.
    Read,
    /// All rules.
    Validate,
    Repair,
    /// The whole call, with this strategy.
    Compact(&'static str),
    /// Message by message.
    Append,
    /// A compaction that archives what it removes, in memory.
    Archive,
    /// The same in a temporary folder, as the program does.
    ArchiveInFolder,
    Undo,
    /// An agent's life under a [`baler_host::Compactor`]: compactions of compactions.
    Live,
    /// Looking up what was removed, an eighth of all references.
    Retrieve,
    /// Checking and carrying out a plan that a strategy of somewhere else gives.
    Plan,
}

impl Stage {
    pub(crate) const STRATEGIES: [&'static str; 5] = [
        "native:truncate",
        "native:digest",
        "sliding-window",
        "mask-tool-outputs",
        "tiered",
    ];
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Validate => "validate",
            Self::Repair => "repair",
            Self::Compact(strategy) => return write!(f, "compact {strategy}"),
            Self::Append => "append",
            Self::Archive => "archive",
            Self::ArchiveInFolder => "archive in a folder",
            Self::Undo => "undo",
            Self::Live => "live",
            Self::Retrieve => "recall",
            Self::Plan => "plan",
        })
    }
}

/// One run of a stage.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) seconds: f64,
    /// How it ended, in a word or two, never with text of the document.
    pub(crate) outcome: String,
}

impl Run {
    fn since(start: Instant, outcome: impl Into<String>) -> Self {
        Self {
            seconds: start.elapsed().as_secs_f64(),
            outcome: outcome.into(),
        }
    }

    /// What could not be begun, since what comes before it went otherwise.
    fn none(outcome: &str) -> Self {
        Self {
            seconds: 0.0,
            outcome: outcome.to_owned(),
        }
    }
}

/// The key of every host here, so that what one process compiled the next may run.
fn key() -> SecretKey {
    SecretKey::new([7; 32])
}

/// All that is needed to run a stage again and again.
pub(crate) struct Bench {
    stage: Stage,
    runtime: Runtime,
    host: Arc<Host>,
    chain: Vec<Strategy>,
}

impl Bench {
    pub(crate) fn new(stage: Stage, state: &Path) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let host = Host::builder()
            .state(state)
            .key(key())
            .without_archive()
            // It would rest after three faults, and there would be nothing to measure.
            .limits(EngineLimits::default().with_faults(u32::MAX))
            .build()?;
        let chain = match stage {
            Stage::Compact(name) => vec![strategy(&runtime, &host, name)?],
            Stage::Live => vec![Strategy::digest()],
            _ => vec![Strategy::truncate()],
        };
        Ok(Self {
            stage,
            runtime,
            host: Arc::new(host),
            chain,
        })
    }

    /// Runs the stage once.
    pub(crate) fn run(&self, input: &Input) -> anyhow::Result<Run> {
        match self.stage {
            Stage::Read => Self::read(input),
            Stage::Validate => Ok(self.validate(input)),
            Stage::Repair => Ok(self.repair(input)),
            Stage::Compact(_) => self.compact(input),
            Stage::Append => Ok(self.append(input)),
            Stage::Archive => self.archive(Archive::in_memory(), input),
            Stage::ArchiveInFolder => self.archive_in_folder(input),
            Stage::Undo => self.undo(input),
            Stage::Retrieve => self.retrieve_tool(input),
            Stage::Plan => self.plan(input),
            Stage::Live => self.live(input),
        }
    }

    /// With a tokenizer that remembers nothing.
    fn read(input: &Input) -> anyhow::Result<Run> {
        let tokenizer = Tokenizer::named(Tokenizer::DEFAULT)?;
        let host = Host::builder().key(key()).tokenizer(tokenizer).build()?;
        let document = input.document();
        let start = Instant::now();
        let outcome = match host.read(document) {
            Ok(_) => "read",
            Err(_) => "refused",
        };
        Ok(Run::since(start, outcome))
    }

    fn validate(&self, input: &Input) -> Run {
        let Ok(conversation) = self.host.read(input.document()) else {
            return Run::none("refused");
        };
        let start = Instant::now();
        let is_broken = conversation.broken().next().is_some();
        Run::since(start, if is_broken { "broken" } else { "valid" })
    }

    fn repair(&self, input: &Input) -> Run {
        let Some(conversation) = self.validated(input) else {
            return Run::none("refused");
        };
        let start = Instant::now();
        let repaired = conversation.repaired();
        let is_broken = repaired.broken().next().is_some();
        let outcome = match (is_broken, repaired.repairs().is_empty()) {
            (true, _) => "still broken",
            (false, true) => "nothing to repair",
            (false, false) => "repaired",
        };
        drop(repaired);
        Run::since(start, outcome)
    }

    fn compact(&self, input: &Input) -> anyhow::Result<Run> {
        self.compacted(&self.host, &self.chain, input)
            .map(|(run, _)| run)
    }

    fn append(&self, input: &Input) -> Run {
        let Ok(mut conversation) = self.host.read(input.beginning()) else {
            return Run::none("refused");
        };
        let request = request(input);
        let messages = input.messages.get(1..).unwrap_or_default();
        let at_once = messages.chunk_by(|one, next| is_of_a_step(one) && is_of_a_step(next));
        let start = Instant::now();
        for messages in at_once {
            if conversation
                .append_all(messages.iter().map(String::as_str))
                .is_err()
            {
                return Run::since(start, "an append refused");
            }
            // As an agent's loop asks at each step.
            let _ = self.host.is_due(&conversation, &request);
        }
        Run::since(start, "appended")
    }

    fn archive(&self, archive: Archive, input: &Input) -> anyhow::Result<Run> {
        let host = Self::archiving(archive)?;
        let (run, _) = self.compacted(&host, &self.chain, input)?;
        Ok(run)
    }

    fn archive_in_folder(&self, input: &Input) -> anyhow::Result<Run> {
        let folder = tempfile::tempdir().context("there is no folder for an archive")?;
        self.archive(Archive::open(folder.path())?, input)
    }

    fn undo(&self, input: &Input) -> anyhow::Result<Run> {
        let host = Self::archiving(Archive::in_memory())?;
        let (_, compaction) = self.compacted(&host, &self.chain, input)?;
        let archive = host.archive().context("it was given one")?;
        let Some(receipt) = compaction.as_ref().map(Compaction::receipt) else {
            return Ok(Run::none("refused"));
        };
        let Some(reference) = &receipt.undo else {
            return Ok(Run::none("nothing stored"));
        };
        let start = Instant::now();
        let undone = self.runtime.block_on(archive.undo(reference))?;
        let run = Run::since(start, "restored");
        if undone == input.document() {
            Ok(run)
        } else {
            Err(anyhow!("what was undone is another document"))
        }
    }

    fn retrieve_tool(&self, input: &Input) -> anyhow::Result<Run> {
        let host = Self::archiving(Archive::in_memory())?;
        let (_, compaction) = self.compacted(&host, &self.chain, input)?;
        let archive = host.archive().context("it was given one")?.clone();
        let receipt: Option<&Receipt> = compaction.as_ref().map(Compaction::receipt);
        let Some(archived) = receipt.and_then(|receipt| receipt.archive.as_ref()) else {
            return Ok(Run::none("nothing stored"));
        };
        let start = Instant::now();
        let mut recall = Retrieve::new(archive);
        if let Some(receipt) = receipt {
            recall.note(receipt);
        }
        for entry in archived.iter().step_by(8) {
            let question = format!(r#"{{"reference":"{}"}}"#, entry.reference);
            let _ = self.runtime.block_on(recall.answer(&question));
        }
        Ok(Run::since(start, "looked up"))
    }

    /// An agent's life: each message comes alone, and what gets too long is compacted, again and again.
    fn live(&self, input: &Input) -> anyhow::Result<Run> {
        let Ok(conversation) = self.host.read(input.beginning()) else {
            return Ok(Run::none("refused"));
        };
        let options = CompactorOptions::default().with_context_window(Some(WINDOW));
        let start = Instant::now();
        let host = Arc::clone(&self.host);
        let mut compactor = Compactor::new(host, conversation, &self.chain[..], options)?;
        for message in input.messages.iter().skip(1) {
            compactor.append(message)?;
            self.runtime.block_on(compactor.step())?;
        }
        let outcome = match compactor.compactions() {
            0 => "never compacted",
            _ => "compacted on the way",
        };
        drop(compactor);
        Ok(Run::since(start, outcome))
    }

    /// No limit of a plan applies, because the growth of the host's work is measured.
    fn plan(&self, input: &Input) -> anyhow::Result<Run> {
        let strategy = Strategy::remote(Arc::new(Answering::new(&input.answer)));
        let limits = Limits::default()
            .with_time(Duration::from_secs(600))
            .with_lifted_bytes(usize::MAX)
            .with_inserted_bytes(usize::MAX)
            .with_pieces(usize::MAX)
            .with_edits(usize::MAX)
            .with_annotations(usize::MAX);
        self.compacted(&self.host, &[strategy.with_limits(limits)], input)
            .map(|(run, _)| run)
    }

    /// A conversation whose rules were checked before.
    fn validated(&self, input: &Input) -> Option<Conversation> {
        let conversation = self.host.read(input.document()).ok()?;
        let _ = conversation.violations();
        Some(conversation)
    }

    fn compacted(
        &self,
        host: &Host,
        chain: &[Strategy],
        input: &Input,
    ) -> anyhow::Result<(Run, Option<Compaction>)> {
        let Some(conversation) = self.validated(input) else {
            return Ok((Run::none("refused"), None));
        };
        let request = request(input);
        let start = Instant::now();
        let compaction = self
            .runtime
            .block_on(host.compact(&conversation, chain, &request))?;
        let mut run = Run::since(start, compaction.receipt().outcome.name());
        for attempt in &compaction.receipt().attempts {
            let (name, result) = (&attempt.strategy, attempt.result.code());
            run.outcome.push_str(&format!(", {name}: {result}"));
        }
        Ok((run, Some(compaction)))
    }

    fn archiving(archive: Archive) -> anyhow::Result<Host> {
        Ok(Host::builder().key(key()).archive(archive).build()?)
    }
}

fn request(input: &Input) -> Request {
    // A plan that is given may keep most of it.
    let share = if input.answer.is_empty() { 0.3 } else { 0.9 };
    Request::default()
        .with_budget(Budget::Share(share))
        .with_pins(input.pins.clone())
}

fn strategy(runtime: &Runtime, host: &Host, name: &str) -> anyhow::Result<Strategy> {
    if let Some(native) = Strategy::native(name) {
        return Ok(native);
    }
    let bundled = baler_strategies::by_name(name).context("it ships with baler")?;
    Ok(runtime.block_on(host.load(name, bundled.wasm))?)
}

/// Whether a message is a call or an output of a step, which an agent appends together with the others.
fn is_of_a_step(message: &str) -> bool {
    const SIGNS: [&str; 5] = [
        r#""role":"tool""#,
        r#""tool_result""#,
        r#""function_call""#,
        r#""function_call_output""#,
        r#""functionResponse""#,
    ];
    SIGNS.iter().any(|sign| message.contains(sign))
}
