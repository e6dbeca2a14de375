//! The compactor: keeps one conversation of an agent within its window over time.
//!
//! It holds the conversation that the agent should send. The agent appends messages as they arrive, and calls
//! [`Compactor::step`] before each request to the model, which compacts when a trigger is reached. A journal
//! holds every message that was ever appended: [`Compactor::save`] writes it, [`Compactor::resume`] continues
//! from it.

mod config;
mod events;
mod guard;
mod hooks;
mod journal;
mod later;
mod options;
mod pinned;
mod pressure;
mod saved;
#[cfg(test)]
mod tests;
mod work;

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

pub use config::{CompactorConfig, ConfigFormError};
pub use events::{Event, EventStream};
pub use hooks::{HookContext, HookDecision, Hooks};
pub(crate) use later::is_sound;
pub use options::{CompactorOptions, OptionError, Triggers};
pub use pressure::Pressure;
pub use saved::{ResumeError, SaveError};
pub use work::{Finished, Work};

use baler_conversation::{Conversation, ReadError};

use crate::compaction::Compaction;
use crate::error::HostError;
use crate::host::Host;
use crate::limits::Limits;
use crate::receipt::{Outcome, Receipt, Unchanged};
use crate::report::Decision;
use crate::request::{Budget, Pins, Request, Trigger};
use crate::retrieve::{self, Retrieve};
use crate::situation::MustStay;
use crate::strategy::Strategy;
use guard::{LastFutileAttempt, Size, fires_from};
use journal::Journal;
use pinned::Pinned;
use work::Generation;

/// The most events that are kept for a slow listener.
const EVENTS: usize = 64;

/// The most that a result may have of a request that the provider refused as too long.
const OVERFLOW_SHARE: f64 = 0.7;

/// Returns the most tokens of a request, after the provider refused one with this number of tokens.
pub(crate) fn of_refused(tokens: u32) -> u32 {
    ((f64::from(tokens) * OVERFLOW_SHARE) as u32).max(1)
}

/// Keeps one conversation within its model's context window.
///
/// ```
/// use std::sync::Arc;
/// use baler_host::{Compactor, CompactorOptions, Host};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let host = Arc::new(Host::builder().build()?);
/// let conversation = host.read(r#"{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello!"}]}"#)?;
/// let options = CompactorOptions::default().with_context_window(128_000);
/// let mut compactor = Compactor::new(Arc::clone(&host), conversation, [], options.clone())?;
/// let step = compactor.step().await?;                          // before each request to the model
/// assert!(!step.is_compacted());                              // far below the share at which one is due
/// compactor.append(r#"{"role": "assistant", "content": "Hi!"}"#)?;
/// let resumed = Compactor::resume(host, &compactor.save()?, [], options)?;
/// assert_eq!(resumed.history().count(), 2);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Compactor {
    host: Arc<Host>,
    chain: Arc<[Strategy]>,
    options: CompactorOptions,
    pinned: Pinned,
    context: Option<String>,
    hooks: Option<Arc<dyn Hooks>>,
    events: broadcast::Sender<Event>,
    journal: Journal,
    view: Conversation,
    /// Replaced whenever the view changes other than by appending, or the pins change. Unique among all
    /// compactors.
    generation: Generation,
    reported: Option<Usage>,
    failures: u32,
    last_futile_attempt: Option<LastFutileAttempt>,
    /// The size that the newest compaction left.
    settled: Option<Size>,
    /// References of removed content, oldest first.
    removed: Vec<String>,
    /// Whether more content was archived than receipts list.
    has_unlisted: bool,
    running: Option<Running>,
}

/// Work in parallel with the agent, which is aborted when its compactor is dropped.
#[derive(Debug)]
struct Running(JoinHandle<Finished>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The tokens that the provider reported, and the host's count of the same messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Usage {
    reported: u32,
    counted: u32,
}

/// Limits the calls of a strategy that declares no timeout to this number of milliseconds.
fn undeclared(strategy: &Strategy, ms: u32) -> Strategy {
    let limits = Limits {
        undeclared_time: Duration::from_millis(ms.into()),
        ..*strategy.limits()
    };
    strategy.clone().with_limits(limits)
}

/// The result of a step.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Step {
    /// Why a compaction was due; `None` if none was.
    pub pressure: Option<Pressure>,
    /// The receipts of the compactions that ended in this step: at most one, or two if one began earlier.
    pub receipts: Vec<Receipt>,
    /// The reason of a hook's veto.
    pub vetoed: Option<String>,
    /// Whether a compaction was due but was not attempted, because the newest attempt was futile and the
    /// conversation has hardly changed since.
    pub held: bool,
}

impl Step {
    /// Returns whether the conversation became smaller.
    #[must_use]
    pub fn is_compacted(&self) -> bool {
        let is_one = |receipt: &Receipt| receipt.outcome == Outcome::Compacted;
        self.receipts.iter().any(is_one)
    }
}

impl Compactor {
    /// Creates a compactor for `conversation`. `chain` holds the strategies in the order in which they are
    /// tried; the host's own strategies end every chain.
    ///
    /// # Errors
    /// Returns an error if an option is invalid, or if the only trigger is a share of an unknown context
    /// window.
    pub fn new(
        host: Arc<Host>,
        conversation: Conversation,
        chain: impl Into<Arc<[Strategy]>>,
        options: CompactorOptions,
    ) -> Result<Self, OptionError> {
        options.check()?;
        options.check_share()?;
        let mut journal = Journal::default();
        for raw in journal::messages(&conversation) {
            journal.message(raw);
        }
        let chain: Arc<[Strategy]> = chain.into();
        let chain = match options.undeclared_timeout_ms {
            None => chain,
            Some(ms) => chain
                .iter()
                .map(|strategy| undeclared(strategy, ms))
                .collect(),
        };
        Ok(Self {
            host,
            chain,
            options,
            pinned: Pinned::FirstUser,
            context: None,
            hooks: None,
            events: broadcast::channel(EVENTS).0,
            journal,
            view: conversation,
            generation: Generation::default(),
            reported: None,
            failures: 0,
            last_futile_attempt: None,
            settled: None,
            removed: Vec::new(),
            has_unlisted: false,
            running: None,
        })
    }

    /// Returns the same compactor with hooks that run before and after each compaction.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Arc<dyn Hooks>) -> Self {
        self.hooks = Some(hooks);
        self
    }

    /// Sets what is pinned. Units are those of the present view; see [`Pins`]. They stay pinned through every
    /// compaction, whatever their numbers become. If the pins change, the result of work that was begun is
    /// discarded, and a futile compaction is attempted again.
    ///
    /// # Errors
    /// Returns an error if the view has no such unit. Then nothing has changed.
    pub fn pin(&mut self, pins: Pins) -> Result<(), HostError> {
        let pinned = Pinned::of(pins, &self.view)?;
        // A program may set the same pins at every step.
        if pinned != self.pinned {
            self.pinned = pinned;
            self.generation = Generation::default();
            // The old pins may have been the reason that the compaction was futile.
            self.last_futile_attempt = None;
            self.settled = None;
        }
        Ok(())
    }

    /// Sets the JSON text that strategies get with each call: turns left, memory, data … `None` removes it.
    pub fn set_context(&mut self, json: Option<String>) {
        self.context = json;
    }

    /// Returns the events from now on.
    #[must_use]
    pub fn events(&self) -> EventStream {
        EventStream(self.events.subscribe())
    }

    /// Returns the conversation that the model should be sent.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.view
    }

    /// Returns the request body that the model should be sent.
    #[must_use]
    pub fn document(&self) -> &str {
        self.view.document()
    }

    /// Returns the options.
    #[must_use]
    pub fn options(&self) -> &CompactorOptions {
        &self.options
    }

    /// Returns the number of failures that strategies declared in a row.
    #[must_use]
    pub fn failures_in_a_row(&self) -> u32 {
        self.failures
    }

    /// Returns the number of compactions that changed the conversation.
    #[must_use]
    pub fn compactions(&self) -> usize {
        self.journal.compactions()
    }

    /// Returns all messages that were ever appended, unchanged, as JSON texts.
    pub fn history(&self) -> impl Iterator<Item = &str> {
        self.journal.all()
    }

    /// Returns the messages that the model saw just before the compaction with this number, counted from 0,
    /// as JSON texts; `None` if there is no such compaction.
    #[must_use]
    pub fn seen_before(&self, compaction: usize) -> Option<Vec<&str>> {
        (compaction < self.journal.compactions()).then(|| self.journal.view_before(compaction))
    }

    /// Returns the tool that lets the agent's model retrieve what was removed from this conversation until
    /// now; `None` if the host has no archive.
    #[must_use]
    pub fn retrieve_tool(&self) -> Option<Retrieve> {
        let mut retrieve = Retrieve::new(self.host.archive()?.clone());
        retrieve.note_all(self.removed.iter().map(String::as_str));
        retrieve.note_unlisted(self.has_unlisted);
        Some(retrieve)
    }

    /// Appends a message, as JSON in the conversation's wire format. See
    /// [`Conversation::append`].
    ///
    /// # Errors
    /// Returns an error if it is not a message of this format. Then nothing has changed.
    pub fn append(&mut self, message: &str) -> Result<(), ReadError> {
        self.append_all([message])
    }

    /// Appends messages, such as all outputs of a step. See [`Conversation::append_all`].
    ///
    /// # Errors
    /// Returns an error at the first text that is not a message of this format. The messages before it are
    /// appended; it and those after it are not.
    pub fn append_all<'m>(
        &mut self,
        messages: impl IntoIterator<Item = &'m str>,
    ) -> Result<(), ReadError> {
        let mut newest: Option<&str> = None;
        // The iterator advances only after the message before was appended.
        let noted = messages.into_iter().inspect(|message| {
            if let Some(taken) = newest.replace(message) {
                self.journal.message(taken);
            }
        });
        self.view.append_all(noted)?;
        if let Some(taken) = newest {
            self.journal.message(taken);
        }
        Ok(())
    }

    /// Notes the tokens that the provider reported for its newest response, input and output together. Call
    /// it after the response was appended. The figure takes precedence over the host's count until the next
    /// compaction.
    pub fn reported(&mut self, tokens: u32) {
        let counted = self.view.tokens();
        self.reported = (tokens > 0).then_some(Usage {
            reported: tokens,
            counted,
        });
        self.view.mark_sent();
    }

    /// Returns the tokens of the next request: the figure that the provider reported, plus the host's count
    /// of later messages; without such a figure, the host's count of all.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        let counted = self.view.tokens();
        match self.reported {
            Some(usage) => usage
                .reported
                .saturating_add(counted.saturating_sub(usage.counted)),
            None => counted,
        }
    }

    /// Compacts if a compaction is due. Call it before each request to the model.
    ///
    /// Otherwise its cost is negligible, except for a strategy that is asked
    /// ([`CompactorOptions::ask_strategy`]): for that, all messages are counted again if the provider
    /// reported a figure.
    ///
    /// # Errors
    /// Returns an error if the host failed, for example if removed content could not be archived. Then the
    /// conversation is unchanged.
    pub async fn step(&mut self) -> Result<Step, HostError> {
        let mut step = Step::default();
        self.collect(&mut step, false).await?;
        let by_host = self.pressure();
        let pressure = match by_host {
            Some(pressure) if pressure.is_required() => Some(pressure),
            pressure => self.with_strategy(pressure).await,
        };
        step.pressure = pressure;
        let Some(pressure) = pressure else {
            // If the host would compact and the strategy says wait, no early compaction begins either. Below
            // the trigger, wait only means "not yet".
            if by_host.is_none() {
                self.begin_early();
            }
            return Ok(step);
        };
        // Finishes an early compaction first, which may be enough.
        if self.running.is_some() {
            self.collect(&mut step, true).await?;
            if self.pressure().is_none() && step.is_compacted() {
                return Ok(step);
            }
        }
        if self.is_held(pressure.is_required()) {
            step.held = true;
            return Ok(step);
        }
        let trigger = Trigger::Threshold;
        self.work_through(trigger, pressure, &mut step).await?;
        Ok(step)
    }

    /// Compacts after the provider refused the request as too long. Each call has a lower target.
    ///
    /// # Errors
    /// Returns an error for the reasons of [`Compactor::step`].
    pub async fn overflowed(&mut self) -> Result<Step, HostError> {
        let mut step = Step {
            pressure: Some(Pressure::Overflow),
            ..Step::default()
        };
        let most = of_refused(self.tokens());
        self.collect(&mut step, true).await?;
        // The early compaction may be enough.
        if step.is_compacted() && self.tokens() <= most {
            return Ok(step);
        }
        self.work_through(Trigger::Overflow, Pressure::Overflow, &mut step)
            .await?;
        Ok(step)
    }

    /// Compacts now, at the request of a person or program. `wish` holds instructions for the strategy.
    /// Triggers and earlier futile attempts do not count. Without a wish, an early compaction is applied
    /// instead; with a wish, it is discarded, because it began without the wish.
    ///
    /// # Errors
    /// Returns an error for the reasons of [`Compactor::step`].
    pub async fn compact_now(&mut self, wish: Option<&str>) -> Result<Step, HostError> {
        let mut step = Step {
            pressure: Some(Pressure::Manual),
            ..Step::default()
        };
        if wish.is_none() {
            self.collect(&mut step, true).await?;
            if step.is_compacted() {
                return Ok(step);
            }
        } else if self.running.take().is_some() {
            // It began without the wish.
            let _ = self.events.send(Event::Outdated);
        }
        let trigger = Trigger::Manual(wish.map(str::to_owned));
        self.work_through(trigger, Pressure::Manual, &mut step)
            .await?;
        Ok(step)
    }

    /// Returns a compaction that can run independently of the compactor, on another task.
    /// [`Compactor::apply`] accepts its result.
    #[must_use]
    pub fn work(&self) -> Work {
        self.work_for(Trigger::Scheduled, Pressure::Tokens)
    }

    /// Applies finished work. Messages that were appended in the meantime follow the result, without thinking
    /// that the model accepts only after the messages that it was bound to.
    ///
    /// The result is discarded ([`Event::Outdated`]) if the conversation was compacted or the pins changed
    /// since the work began, if the work belongs to another compactor, if the provider would refuse the
    /// combined conversation, or if an appended message continues a removed unit.
    ///
    /// Call it before a request, not while the model is answering: if an answer is appended afterwards, the
    /// compactor cannot tell which messages its thinking is bound to.
    ///
    /// # Errors
    /// Returns an error for the reasons of [`Compactor::step`].
    pub fn apply(&mut self, finished: Finished) -> Result<Step, HostError> {
        let mut step = Step::default();
        self.take(finished, &mut step)?;
        Ok(step)
    }

    /// Decides by the host's triggers and limits.
    fn pressure(&self) -> Option<Pressure> {
        pressure::of(&self.view, self.tokens(), &self.options, self.settled)
    }

    /// Combines the host's decision with that of the strategy, if it is asked.
    async fn with_strategy(&self, pressure: Option<Pressure>) -> Option<Pressure> {
        let Some(strategy) = self.chain.first().filter(|_| self.options.ask_strategy) else {
            return pressure;
        };
        if strategy.is_native() {
            return pressure;
        }
        let request = Request {
            budget: Budget::Tokens(self.options.threshold().unwrap_or(u32::MAX)),
            ..self.request(Trigger::Threshold)
        };
        let answer = self
            .host
            .should_compact(&self.snapshot(), strategy, &request)
            .await;
        match answer.decision {
            Decision::Compact(_) => pressure.or(Some(Pressure::Strategy)),
            Decision::Wait(_) => None,
            Decision::HostDecides if !self.options.has_trigger() => {
                pressure.or(Some(Pressure::Strategy))
            }
            Decision::HostDecides => pressure,
        }
    }

    fn is_held(&self, is_required: bool) -> bool {
        let retry_after = self.options.retry_after;
        self.last_futile_attempt
            .is_some_and(|attempt| attempt.holds(&self.view, retry_after, is_required))
    }

    /// Begins a compaction in parallel with the agent, if `early` is set and reached, and there is a runtime: in a
    /// browser there is none.
    fn begin_early(&mut self) {
        let is_soon = self.options.early.is_some_and(|early| {
            let left = self.settled.map(|left| left.tokens);
            let threshold = self.options.threshold();
            threshold.is_some_and(|most| {
                let least = (f64::from(most) * early).ceil() as u64;
                u64::from(self.tokens()) >= fires_from(least, left)
            })
        });
        if is_soon
            && self.running.is_none()
            && !self.is_held(false)
            && let Ok(runtime) = Handle::try_current()
        {
            self.running = Some(Running(runtime.spawn(self.work().run())));
        }
    }

    /// Applies an early compaction if it has ended; with `wait`, waits for its end.
    async fn collect(&mut self, step: &mut Step, wait: bool) -> Result<(), HostError> {
        let Some(running) = self.running.as_mut() else {
            return Ok(());
        };
        if !wait && !running.0.is_finished() {
            return Ok(());
        }
        // The task stays in place until it has ended, because the future of a step may be dropped.
        let ended = (&mut running.0).await;
        self.running = None;
        match ended {
            Ok(finished) => self.take(finished, step),
            Err(_) => {
                let why = "the early compaction panicked or was aborted".to_owned();
                let _ = self.events.send(Event::Failed(why));
                Ok(())
            }
        }
    }

    async fn work_through(
        &mut self,
        trigger: Trigger,
        pressure: Pressure,
        step: &mut Step,
    ) -> Result<(), HostError> {
        let finished = self.work_for(trigger, pressure).run().await;
        self.take(finished, step)
    }

    /// Returns the view, with counts corrected by the provider's figure if there is one. That counts all
    /// messages again, so it is only for compactions and for strategies that are asked.
    fn snapshot(&self) -> Conversation {
        match self.reported {
            Some(_) => self.view.counting(self.tokens()),
            None => self.view.clone(),
        }
    }

    fn work_for(&self, trigger: Trigger, pressure: Pressure) -> Work {
        let snapshot = self.snapshot();
        let mut request = Request {
            required: pressure.is_required(),
            ..self.request(trigger)
        };
        // The target uses the same counts as the work.
        let stay = MustStay::of(&snapshot, &request);
        let target = self.options.target(&snapshot, &stay);
        let target = match pressure {
            Pressure::Overflow => {
                target.min(of_refused(snapshot.tokens()).max(stay.least_budget(&snapshot)))
            }
            _ => target,
        };
        request.budget = Budget::Tokens(target);
        request.max_bytes = self.options.target_bytes(&snapshot, &stay);
        Work {
            host: Arc::clone(&self.host),
            chain: Arc::clone(&self.chain),
            hooks: self.hooks.clone(),
            events: self.events.clone(),
            snapshot,
            counted: self.view.tokens(),
            generation: self.generation.clone(),
            pressure,
            request,
        }
    }

    fn request(&self, trigger: Trigger) -> Request {
        Request {
            trigger,
            pins: self.pinned.pins(&self.view),
            context_window: self.options.context_window,
            max_bytes: self.options.triggers.bytes,
            context: self.context.clone(),
            failures_in_a_row: self.failures,
            policy: self.options.policy.clone(),
            ..Request::default()
        }
    }

    fn take(&mut self, finished: Finished, step: &mut Step) -> Result<(), HostError> {
        let compaction = match finished.result {
            Ok(Ok(compaction)) => compaction,
            Ok(Err(why)) => {
                step.vetoed = Some(why);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let tried = (&finished.snapshot, finished.counted);
        if finished.generation.is(&self.generation) && self.settle(tried, &compaction) {
            step.receipts.push(compaction.receipt().clone());
        } else {
            let _ = self.events.send(Event::Outdated);
        }
        Ok(())
    }

    /// Applies a compaction. `tried` is its snapshot, with the snapshot's tokens by the host's count. Returns
    /// false if the result does not fit the messages that were appended since; then nothing has changed.
    fn settle(&mut self, tried: (&Conversation, u32), compaction: &Compaction) -> bool {
        let (snapshot, counted) = tried;
        let receipt = compaction.receipt();
        if receipt.outcome != Outcome::Compacted {
            let may_be_tried = matches!(
                receipt.outcome,
                Outcome::Unchanged(Unchanged::StrategyFailed | Unchanged::StrategyDeclined)
            );
            // Later messages were not part of the attempt.
            self.last_futile_attempt = Some(LastFutileAttempt {
                tokens: counted,
                messages: snapshot.message_count(),
                may_be_tried,
                was_required: receipt.required,
            });
            self.failures = receipt.failures_in_a_row;
            return true;
        }
        let result = compaction.conversation();
        let Some(next) = later::append_later(compaction, snapshot, &self.view) else {
            return false;
        };
        let mut pinned = self.pinned.clone();
        pinned.follow(snapshot, compaction.changes());
        if !pinned.move_to(&next.moved) {
            return false;
        }
        self.failures = receipt.failures_in_a_row;
        self.last_futile_attempt = None;
        self.removed
            .extend(retrieve::references(receipt).map(str::to_owned));
        self.has_unlisted |= retrieve::has_unlisted(receipt);
        if next.is_as_it_came {
            let origins = &compaction.changes().messages;
            self.journal
                .compaction(snapshot.message_count(), origins, result);
        } else {
            // Later messages were changed or moved too.
            self.journal
                .compaction(self.view.message_count(), &next.origins, &next.view);
        }
        self.pinned = pinned;
        self.view = next.view;
        self.generation = Generation::default();
        self.reported = None;
        // Later messages are not part of what the compaction left, and may be removed at once.
        self.settled = Some(Size::of(result, result.tokens()));
        true
    }
}
