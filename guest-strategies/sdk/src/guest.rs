//! Connects the generated bindings to a [`Strategy`] or a [`Filter`].

use std::marker::PhantomData;
use std::sync::Once;

use crate::bindings::baler::compaction::{history, log, strategy, tokenizer};
use crate::bindings::baler::composition::view;
use crate::bindings::exports::baler::compaction::strategy::Guest;
use crate::conversation::Source;
use crate::filter::{self, Behind};
use crate::{
    Conversation, Decision, Failure, Filter, Introspection, Level, Message, Report, Shown,
    Situation, Strategy, Tool, Unit, config,
};

/// The component that exports a strategy.
#[derive(Debug)]
pub struct Component<S>(PhantomData<S>);

impl<S: Strategy + 'static> Guest for Component<S> {
    fn introspect(config: Option<String>) -> Result<Introspection, Failure> {
        report_panics();
        introspect::<S>(config.as_deref())
    }

    fn should_compact(situation: Situation, config: String) -> Result<Decision, Failure> {
        report_panics();
        let config = config::parse::<S>(&config)?;
        S::should_compact(&Conversation::new(&Host), &situation, &config)
    }

    fn compact(situation: Situation, config: String) -> Result<Report, Failure> {
        report_panics();
        let config = config::parse::<S>(&config)?;
        S::compact(&Conversation::new(&Host), &situation, &config)
    }
}

/// The component that exports a filter.
#[derive(Debug)]
pub struct FilterComponent<S>(PhantomData<S>);

impl<S: Filter + 'static> Guest for FilterComponent<S> {
    fn introspect(config: Option<String>) -> Result<Introspection, Failure> {
        report_panics();
        filter::introspect::<S>(&Imported, config.as_deref())
    }

    fn should_compact(situation: Situation, config: String) -> Result<Decision, Failure> {
        report_panics();
        filter::should_compact::<S>(&Imported, &Conversation::new(&Host), &situation, &config)
    }

    fn compact(situation: Situation, config: String) -> Result<Report, Failure> {
        report_panics();
        filter::compact::<S>(&Imported, &Conversation::new(&Host), &situation, &config)
    }
}

/// The strategy behind a filter, as the component imports it.
struct Imported;

impl Behind for Imported {
    fn introspect(&self, config: Option<&str>) -> Result<Introspection, Failure> {
        strategy::introspect(config)
    }

    fn show(&self, texts: &[Shown]) {
        view::show(texts);
    }

    fn should_compact(&self, situation: &Situation, config: &str) -> Result<Decision, Failure> {
        strategy::should_compact(situation, config)
    }

    fn compact(&self, situation: &Situation, config: &str) -> Result<Report, Failure> {
        strategy::compact(situation, config)
    }
}

pub(crate) fn introspect<S: Strategy>(config: Option<&str>) -> Result<Introspection, Failure> {
    if let Some(config) = config {
        config::parse::<S>(config)?;
    }
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    Ok(Introspection {
        name: S::NAME.to_owned(),
        version: S::VERSION.to_owned(),
        description: S::DESCRIPTION.to_owned(),
        config_schema: S::CONFIG_SCHEMA.to_owned(),
        reason_codes: owned(S::REASON_CODES),
        metric_names: owned(S::METRIC_NAMES),
        timeout_ms: S::LIMITS.timeout_ms,
        memory_mib: S::LIMITS.memory_mib,
        fuel: S::LIMITS.fuel,
        metadata: Vec::new(),
    })
}

/// The conversation of the running call, as the host provides it.
struct Host;

impl Source for Host {
    fn units(&self) -> Vec<Unit> {
        Unit::all(&history::units())
    }

    fn read(&self, first: u32, count: u32) -> Vec<Vec<Message>> {
        history::read(first, count)
    }

    fn reference(&self, unit: u32) -> Option<String> {
        history::reference(unit)
    }

    fn tools(&self) -> Vec<Tool> {
        history::tools()
    }

    fn count(&self, text: &str) -> u32 {
        tokenizer::count(text)
    }

    fn log(&self, level: Level, message: &str) {
        log::emit(level, message);
    }
}

/// Logs the message and the location of a panic. The host itself sees only that the guest trapped.
fn report_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let message = panic.payload_as_str().unwrap_or("no message");
            let text = match panic.location() {
                Some(place) => format!("panic at {place}: {message}"),
                None => format!("panic: {message}"),
            };
            log::emit(Level::Error, &text);
        }));
    });
}
