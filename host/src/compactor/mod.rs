//! The compactor: one for each conversation, asked at every step of an agent's loop.
//!
//! It holds what the agent should send. Messages are appended as they come; [`Compactor::step`]
//! is called before each request to the model, and compacts where it is time. Everything that
//! ever came stays in its journal: [`Compactor::save`] writes it, [`Compactor::resume`] goes on
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

use tokio::sync::broadcast;
use tokio::task::JoinHandle;

pub use config::{CompactorConfig, ConfigFormError};
pub use events::{Event, EventStream};
pub use hooks::{HookContext, HookDecision, Hooks};
pub use options::{CompactorOptions, OptionError, Triggers};
pub use pressure::Pressure;
pub use saved::{ResumeError, SaveError};
pub use work::{Finished, Work};

use baler_conversation::{Conversation, ReadError};

use crate::archive::retrieve::{self, Retrieve};
use crate::compaction::Compaction;
use crate::error::HostError;
use crate::host::Host;
use crate::limits::Limits;
use crate::receipt::{Outcome, Receipt, Unchanged};
use crate::report::Decision;
use crate::request::{Budget, Pins, Request, Trigger};
use crate::strategy::Strategy;
use guard::{LastFutileAttempt, Size, fires_from};
use journal::Journal;
use pinned::Pinned;
use work::Generation;

/// Events that a slow listener may be behind.
const EVENTS: usize = 64;

/// What is left of a request that the provider refused as too long.
const OVERFLOW_SHARE: f64 = 0.7;

/// How large a request may be, of so many tokens of one that was refused.
fn of_refused(tokens: u32) -> u32 {
    ((f64::from(tokens) * OVERFLOW_SHARE) as u32).max(1)
}

/// Keeps one conversation within its model's window.
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
    /// Another one whenever the view becomes another one than the old with something appended, or
    /// other units of it are pinned. No two are the same, of whatever compactors.
    generation: Generation,
    reported: Option<Usage>,
    failures: u32,
    fruitless: Option<LastFutileAttempt>,
    /// What the newest compaction left.
    settled: Option<Size>,
    /// References of what left, oldest first.
    left: Vec<String>,
    /// Whether more left than receipts listed.
    has_unlisted: bool,
    running: Option<Running>,
}

/// Work beside the agent's, which ends with its compactor.
#[derive(Debug)]
struct Running(JoinHandle<Finished>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What the provider counted, and what the host had counted for the same messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Usage {
    reported: u32,
    counted: u32,
}

/// The strategy, with so many milliseconds for a call where it declares no time.
fn undeclared(strategy: &Strategy, ms: u32) -> Strategy {
    let limits = Limits {
        undeclared_time: Duration::from_millis(ms.into()),
        ..*strategy.limits()
    };
    strategy.clone().with_limits(limits)
}

/// What a step came to.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Step {
    /// Why it was time; none where it was not.
    pub pressure: Option<Pressure>,
    /// The receipts of the compactions that ended with this step: none, one, or where one was
    /// begun earlier, two.
    pub receipts: Vec<Receipt>,
    /// A hook said no, and why.
    pub vetoed: Option<String>,
    /// It is time, but the newest try came to nothing and hardly anything has changed since.
    pub held: bool,
}

impl Step {
    /// Whether the conversation became smaller.
    #[must_use]
    pub fn is_compacted(&self) -> bool {
        let is_one = |receipt: &Receipt| receipt.outcome == Outcome::Compacted;
        self.receipts.iter().any(is_one)
    }
}

impl Compactor {
    /// A compactor for `conversation`, with strategies in the order in which they are tried.
    /// The host's own always end the chain.
    ///
    /// # Errors
    /// An option makes no sense; or the only trigger is a share of a context window that is missing.
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
            fruitless: None,
            settled: None,
            left: Vec::new(),
            has_unlisted: false,
            running: None,
        })
    }

    /// With hooks around each compaction.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Arc<dyn Hooks>) -> Self {
        self.hooks = Some(hooks);
        self
    }

    /// What stays in any case. Units are those of the present view; see [`Pins`]. They stay pinned
    /// through every compaction, whatever their numbers become. Where this is another choice than
    /// before, work that was begun goes by the old one, and so its result is thrown away; and what came
    /// to nothing is tried again.
    ///
    /// # Errors
    /// The view has no such unit; then nothing has changed.
    pub fn pin(&mut self, pins: Pins) -> Result<(), HostError> {
        let pinned = Pinned::of(pins, &self.view)?;
        // Who says the same at every step changes nothing.
        if pinned != self.pinned {
            self.pinned = pinned;
            self.generation = Generation::default();
            // What was pinned may have been all that kept it as large as it is.
            self.fruitless = None;
            self.settled = None;
        }
        Ok(())
    }

    /// Sets the JSON for strategies: turns left, memory, data … `None` removes it.
    pub fn set_context(&mut self, json: Option<String>) {
        self.context = json;
    }

    /// Returns the events from now on.
    #[must_use]
    pub fn events(&self) -> EventStream {
        EventStream(self.events.subscribe())
    }

    /// What the model is to be sent, as a conversation.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.view
    }

    /// What the model is to be sent: the request body.
    #[must_use]
    pub fn document(&self) -> &str {
        self.view.document()
    }

    /// How it works.
    #[must_use]
    pub fn options(&self) -> &CompactorOptions {
        &self.options
    }

    /// Failures that strategies declared in a row.
    #[must_use]
    pub fn failures_in_a_row(&self) -> u32 {
        self.failures
    }

    /// How many compactions there were that changed something.
    #[must_use]
    pub fn compactions(&self) -> usize {
        self.journal.compactions()
    }

    /// All messages that ever came, as they came.
    pub fn history(&self) -> impl Iterator<Item = &str> {
        self.journal.all()
    }

    /// The messages that the model saw just before the compaction with this number, counted
    /// from 0.
    #[must_use]
    pub fn seen_before(&self, compaction: usize) -> Option<Vec<&str>> {
        (compaction < self.journal.compactions()).then(|| self.journal.view_before(compaction))
    }

    /// The tool by which the agent's model has back what left this conversation until now; none
    /// where its host has no archive.
    #[must_use]
    pub fn retrieve_tool(&self) -> Option<Retrieve> {
        let mut recall = Retrieve::new(self.host.archive()?.clone());
        recall.note_all(self.left.iter().map(String::as_str));
        recall.note_unlisted(self.has_unlisted);
        Some(recall)
    }

    /// Appends a message, as JSON in the conversation's wire format. See
    /// [`Conversation::append`].
    ///
    /// # Errors
    /// It is no message of this format; then nothing has changed.
    pub fn append(&mut self, message: &str) -> Result<(), ReadError> {
        self.append_all([message])
    }

    /// Appends messages, such as all outputs of a step. See [`Conversation::append_all`].
    ///
    /// # Errors
    /// One is no message of this format. It and those behind it are not there; those before are.
    pub fn append_all<'m>(
        &mut self,
        messages: impl IntoIterator<Item = &'m str>,
    ) -> Result<(), ReadError> {
        let mut newest: Option<&str> = None;
        // The next one is asked for when the one before was taken.
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

    /// Notes what the provider reported for its newest response: tokens of input and output
    /// together. Call it once the response was appended. It is preferred to what the host
    /// counts, until a compaction makes it void.
    pub fn reported(&mut self, tokens: u32) {
        let counted = self.view.tokens();
        self.reported = (tokens > 0).then_some(Usage {
            reported: tokens,
            counted,
        });
        self.view.mark_sent();
    }

    /// Tokens of the next request: as the provider reported, and what came since by the host's
    /// count; or all by that.
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

    /// To be called before each request to the model. Compacts where it is time, and otherwise
    /// costs next to nothing beside what the strategy takes that is asked
    /// ([`CompactorOptions::ask_strategy`]): for that all messages are counted again where the
    /// provider reported a figure.
    ///
    /// # Errors
    /// What leaves could not be archived; then nothing has left.
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
            // What the strategy holds back is not begun beside, to be applied by the next step. Below
            // the trigger its word says no more than the host's own: that it is not time yet.
            if by_host.is_none() {
                self.begin_early();
            }
            return Ok(step);
        };
        // What was begun early ends first, and may be enough.
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

    /// To be called when the provider refused the request as too long. Each call aims lower.
    ///
    /// # Errors
    /// As [`Compactor::step`].
    pub async fn overflowed(&mut self) -> Result<Step, HostError> {
        let mut step = Step {
            pressure: Some(Pressure::Overflow),
            ..Step::default()
        };
        let most = of_refused(self.tokens());
        self.collect(&mut step, true).await?;
        // What was begun early may be enough.
        if step.is_compacted() && self.tokens() <= most {
            return Ok(step);
        }
        self.work_through(Trigger::Overflow, Pressure::Overflow, &mut step)
            .await?;
        Ok(step)
    }

    /// Compacts now, because somebody asks for it, perhaps saying what to keep in mind. Triggers
    /// do not count, and neither does what came to nothing before. What was begun early is applied in
    /// its place, unless there is a wish: that was begun without it, and is thrown away.
    ///
    /// # Errors
    /// As [`Compactor::step`].
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
            // It was begun without the wish.
            let _ = self.events.send(Event::Outdated);
        }
        let trigger = Trigger::Manual(wish.map(str::to_owned));
        self.work_through(trigger, Pressure::Manual, &mut step)
            .await?;
        Ok(step)
    }

    /// A compaction as a piece of work that needs nothing of the compactor, to be run beside it,
    /// on another task. [`Compactor::apply`] takes what comes of it.
    #[must_use]
    pub fn work(&self) -> Work {
        self.work_for(Trigger::Scheduled, Pressure::Tokens)
    }

    /// Applies finished work. Messages that came meanwhile stay, behind what it made of the
    /// others, without thinking that the model takes only behind what it was made behind. Where the
    /// conversation has become another one, or the work was another compactor's, or a provider
    /// would refuse what comes of it, or what came goes on with a unit that left, nothing is done.
    /// Call it before a request, not while one is answered: nothing tells behind what an answer was
    /// made that is appended afterwards.
    ///
    /// # Errors
    /// As [`Compactor::step`].
    pub fn apply(&mut self, finished: Finished) -> Result<Step, HostError> {
        let mut step = Step::default();
        self.take(finished, &mut step)?;
        Ok(step)
    }

    /// The host's own view.
    fn pressure(&self) -> Option<Pressure> {
        pressure::of(&self.view, self.tokens(), &self.options, self.settled)
    }

    /// The host's view, and the strategy's where it has one.
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
        self.fruitless
            .is_some_and(|fruitless| fruitless.holds(&self.view, retry_after, is_required))
    }

    /// Begins a compaction beside the agent's work, where that is wanted and soon needed.
    fn begin_early(&mut self) {
        let is_soon = self.options.early.is_some_and(|early| {
            let left = self.settled.map(|left| left.tokens);
            let threshold = self.options.threshold();
            threshold.is_some_and(|most| {
                let least = (f64::from(most) * early).ceil() as u64;
                u64::from(self.tokens()) >= fires_from(least, left)
            })
        });
        if is_soon && self.running.is_none() && !self.is_held(false) {
            self.running = Some(Running(tokio::spawn(self.work().run())));
        }
    }

    /// Takes what was begun early, if it has ended, or waits for it.
    async fn collect(&mut self, step: &mut Step, wait: bool) -> Result<(), HostError> {
        let Some(running) = self.running.as_mut() else {
            return Ok(());
        };
        if !wait && !running.0.is_finished() {
            return Ok(());
        }
        // It stays where it is until it has ended: a step may be dropped while it waits.
        let ended = (&mut running.0).await;
        self.running = None;
        match ended {
            Ok(finished) => self.take(finished, step),
            Err(_) => {
                let why = "the work beside the agent's ended before its time".to_owned();
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

    /// The view, counted by the provider's own figure where there is one. That counts all messages
    /// again, so it is for what goes by it: a compaction, and a strategy that is asked and reads all
    /// of them as well.
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
        // By the count that the work goes by.
        let situation = self.host.situation(&snapshot, &request);
        let target = self.options.target(&situation);
        let target = match pressure {
            Pressure::Overflow => target.min(of_refused(snapshot.tokens()).max(situation.least())),
            _ => target,
        };
        request.budget = Budget::Tokens(target);
        request.max_bytes = self.options.target_bytes(&situation);
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

    /// Makes what came of a compaction of a snapshot, which had so many tokens by the host's count,
    /// the view. False where it does not fit what came since; then nothing has changed.
    fn settle(&mut self, tried: (&Conversation, u32), compaction: &Compaction) -> bool {
        let (snapshot, counted) = tried;
        let receipt = compaction.receipt();
        if receipt.outcome != Outcome::Compacted {
            let may_be_tried = matches!(
                receipt.outcome,
                Outcome::Unchanged(Unchanged::StrategyFailed | Unchanged::StrategyDeclined)
            );
            // What came since was not tried.
            self.fruitless = Some(LastFutileAttempt {
                tokens: counted,
                messages: snapshot.message_count(),
                may_be_tried,
                was_required: receipt.required,
            });
            self.failures = receipt.failures_in_a_row;
            return true;
        }
        let result = compaction.conversation();
        let Some(next) = later::behind(compaction, snapshot, &self.view) else {
            return false;
        };
        let mut pinned = self.pinned.clone();
        pinned.follow(snapshot, compaction.changes());
        if !pinned.move_to(&next.moved) {
            return false;
        }
        self.failures = receipt.failures_in_a_row;
        self.fruitless = None;
        self.left
            .extend(retrieve::references(receipt).map(str::to_owned));
        self.has_unlisted |= retrieve::has_unlisted(receipt);
        if next.is_as_it_came {
            let origins = &compaction.changes().messages;
            self.journal
                .compaction(snapshot.message_count(), origins, result);
        } else {
            // What came since became something else with it.
            self.journal
                .compaction(self.view.message_count(), &next.origins, &next.view);
        }
        self.pinned = pinned;
        self.view = next.view;
        self.generation = Generation::default();
        self.reported = None;
        // What came since is none of what it left, and may go at once.
        self.settled = Some(Size::of(result, result.tokens()));
        true
    }
}
