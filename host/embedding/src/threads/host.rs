//! The host as bindings hold it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baler_host::Limits;
use baler_host::archive::Archive;
use baler_host::conversation::ReadOptions;
use baler_host::model::ModelGrant;
use baler_host::project::{Listed, ListedSource, Project};
use baler_host::request::Policy;
use baler_host::with_causes;
use serde_json::{Value, json};

use super::call::Cancel;
use super::per_process::PerProcess;
use super::settings::Settings;
use super::strategy::Strategy;
use crate::compaction::Compaction;
use crate::conversation::Conversation;
use crate::error::{Error, Remedy};
use crate::options;

/// Reads conversations, loads strategies and runs compactions. Its methods work in the thread that calls them, and block
/// it; run them in a [`super::Call`].
#[derive(Debug, Clone)]
pub struct Host(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    live: PerProcess<Live>,
}

/// The host of this process.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) host: Arc<baler_host::Host>,
    pub(crate) model: Option<ModelGrant>,
    pub(crate) policy: Policy,
    project: Option<Project>,
    state: Option<PathBuf>,
    /// Strategies that were named before.
    named: Mutex<HashMap<String, Found>>,
}

/// A strategy that was named.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) strategy: baler_host::Strategy,
    /// Default limits, or those of `baler.toml`.
    pub(crate) limits: Limits,
    pub(crate) may_ask_model: bool,
}

impl Host {
    /// Creates a host.
    ///
    /// # Errors
    /// It cannot be built, for example because its state folder cannot be written.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let live = PerProcess::new();
        let host = Self(Arc::new(Inner { settings, live }));
        // Its errors belong here, not to the first call.
        host.live()?;
        Ok(host)
    }

    /// Whether strategies can ask a model.
    #[must_use]
    pub fn has_model(&self) -> bool {
        self.0.settings.model.is_some()
    }

    /// Reads a conversation: a request body, a list of messages or a session log. `format`: the name of its wire format,
    /// unless it should be detected. `used`: tokens that the provider reported for it.
    ///
    /// # Errors
    /// It is not a conversation, or the format is unknown.
    pub fn read(
        &self,
        document: Vec<u8>,
        format: Option<&str>,
        used: Option<u32>,
        cancel: &Cancel,
    ) -> Result<Conversation, Error> {
        let options = ReadOptions::default()
            .with_format(format.map(options::format).transpose()?)
            .with_used(used)
            .with_deadline(cancel.deadline());
        Ok(Conversation(
            self.live()?.host.read_with(document, options)?,
        ))
    }

    /// Compacts a conversation with the strategies of `chain`, in order. `options` are those of a compaction, as JSON.
    ///
    /// # Errors
    /// An option is wrong, a strategy cannot be used, or what would be removed could not be archived.
    pub fn compact(
        &self,
        conversation: &Conversation,
        chain: &[Strategy],
        options: &str,
        cancel: &Cancel,
    ) -> Result<Compaction, Error> {
        let live = self.live()?;
        let request = options::compaction(options, &live.policy, cancel.deadline())?;
        cancel.wait(async {
            let chain = live.chain(chain).await?;
            let made = live.host.compact(&conversation.0, &chain, &request).await?;
            Ok(made.into())
        })
    }

    /// Loads strategies and reads options, to say what is wrong with them.
    ///
    /// # Errors
    /// Those of [`Host::compact`].
    pub fn check(&self, chain: &[Strategy], options: &str, cancel: &Cancel) -> Result<(), Error> {
        let live = self.live()?;
        options::compaction(options, &live.policy, cancel.deadline())?;
        cancel.wait(live.chain(chain)).map(drop)
    }

    /// Decides whether to compact now; without a strategy by the tokens alone.
    ///
    /// # Errors
    /// An option is wrong, or the strategy cannot be used.
    pub fn should_compact(
        &self,
        conversation: &Conversation,
        strategy: Option<&Strategy>,
        options: &str,
        cancel: &Cancel,
    ) -> Result<bool, Error> {
        let live = self.live()?;
        let request = options::compaction(options, &live.policy, cancel.deadline())?;
        let Some(strategy) = strategy else {
            return Ok(live.host.is_due(&conversation.0, &request));
        };
        cancel.wait(async {
            let strategy = strategy.ready(live).await?;
            let asked = live
                .host
                .should_compact(&conversation.0, &strategy, &request);
            Ok(asked.await.is_due)
        })
    }

    /// Asks a strategy to describe itself: `introspection`, and `component` if it is one.
    ///
    /// # Errors
    /// The strategy cannot be used, or does not answer.
    pub fn introspect(&self, strategy: &Strategy, cancel: &Cancel) -> Result<Value, Error> {
        let live = self.live()?;
        cancel.wait(async {
            let strategy = strategy.ready(live).await?;
            let told = live.host.introspect(&strategy, strategy.config()).await?;
            let component = strategy.component().map(|component| {
                json!({
                    "content-hash": component.content_hash.to_string(),
                    "contract": component.contract,
                    "bytes": component.bytes,
                    "permissions": component.permissions,
                })
            });
            Ok(json!({"introspection": told, "component": component}))
        })
    }

    /// Returns archived content by its reference.
    ///
    /// # Errors
    /// There is no archive, or nothing under the reference.
    pub fn expand(&self, reference: &str, cancel: &Cancel) -> Result<String, Error> {
        let archive = self.archive()?;
        cancel.wait(async { Ok(archive.get(reference).await?.to_string()) })
    }

    /// Restores the conversation before a compaction, by the reference in its receipt.
    ///
    /// # Errors
    /// There is no archive, or nothing under the reference.
    pub fn undo(&self, reference: &str, cancel: &Cancel) -> Result<String, Error> {
        let archive = self.archive()?;
        cancel.wait(async { Ok(archive.undo(reference).await?) })
    }

    /// Returns the host of this process.
    pub(crate) fn live(&self) -> Result<&Live, Error> {
        let Inner { settings, live } = &*self.0;
        live.get_or_make(|| {
            let policy = settings.project.as_ref().map(Project::policy);
            Ok(Live {
                host: Arc::new(settings.build()?),
                model: settings.model.clone(),
                policy: policy
                    .map(|policy| policy.plans.clone())
                    .unwrap_or_default(),
                project: settings.project.clone(),
                state: settings.state.clone(),
                named: Mutex::default(),
            })
        })
    }

    fn archive(&self) -> Result<&Archive, Error> {
        self.live()?.host.archive().ok_or_else(|| {
            Error::new(crate::Kind::Option, "the host has no archive".to_owned())
                .with_remedy(Remedy::GiveArchive)
        })
    }
}

impl Live {
    pub(crate) async fn chain(
        &self,
        chain: &[Strategy],
    ) -> Result<Vec<baler_host::Strategy>, Error> {
        let mut ready = Vec::with_capacity(chain.len());
        for strategy in chain {
            ready.push(strategy.ready(self).await?);
        }
        Ok(ready)
    }

    /// Returns the strategy with this name: a native one, one that ships with baler, or one that `baler.toml`
    /// lists.
    pub(crate) async fn named(&self, name: &str) -> Result<Found, Error> {
        if let Some(known) = self.known().get(name) {
            return Ok(known.clone());
        }
        let found = self.find(name).await?;
        Ok(self.known().entry(name.to_owned()).or_insert(found).clone())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Found>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn find(&self, name: &str) -> Result<Found, Error> {
        let shipped = |strategy| Found {
            strategy,
            limits: Limits::default(),
            may_ask_model: true,
        };
        if let Some(native) = baler_host::Strategy::native(name) {
            return Ok(shipped(native));
        }
        if let Some(bundled) = baler_strategies::by_name(name) {
            let strategy = self.host.load(bundled.name, bundled.wasm).await?;
            return Ok(shipped(
                match baler_strategies::writes_digests(bundled.wasm) {
                    true => strategy.writing_digests(),
                    false => strategy,
                },
            ));
        }
        let listed = self.project.as_ref().and_then(|project| {
            let listed = project.strategy(name)?;
            Some((project, listed))
        });
        let Some((project, listed)) = listed else {
            return Err(self.unknown(name));
        };
        let strategy = match listed.source() {
            ListedSource::Registry(source) => {
                let state = self.state.as_deref();
                let wasm = baler_registry::project::load(project, listed, source, state);
                let wasm = wasm.map_err(|error| Error::strategy(with_causes(&error)))?;
                self.host.load_pulled(project, listed, &wasm).await?
            }
            _ => self.host.load_listed(project, name).await?,
        };
        Ok(Found {
            limits: *strategy.limits(),
            strategy,
            may_ask_model: listed.may_ask_model(),
        })
    }

    fn unknown(&self, name: &str) -> Error {
        let listed = self.project.iter().flat_map(Project::strategies);
        let known: Vec<&str> = baler_strategies::ALL
            .iter()
            .map(|bundled| bundled.name)
            .chain(baler_host::Strategy::NATIVE.iter().copied())
            .chain(listed.map(Listed::name))
            .collect();
        let known = known.join(", ");
        Error::strategy(format!("no strategy is called `{name}`; known: {known}"))
            .with_remedy(Remedy::LoadFile)
    }
}
