//! Strategies as bindings hold them: what to load, with which config and limits.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use baler_host::Limits;
use baler_host::remote::{AnswerFuture, Operation, Remote, RemoteError};
use baler_host::strategy::{EngineLimits, LoadError};
use serde_json::Value;

use super::function::{self, Function, Subject};
use super::host::Live;
use crate::error::{Error, Remedy};
use crate::options::{self, Options};

/// Counts the functions of this process.
static FUNCTIONS: AtomicU64 = AtomicU64::new(0);

/// Returns the strategies that ship with baler, as pairs of a name and a component; without a component for those that
/// are part of the host.
pub fn shipped() -> impl Iterator<Item = (&'static str, Option<&'static [u8]>)> {
    let native = baler_host::Strategy::NATIVE
        .iter()
        .map(|name| (*name, None));
    let bundled = baler_strategies::ALL.iter();
    bundled
        .map(|bundled| (bundled.name, Some(bundled.wasm)))
        .chain(native)
}

/// A strategy, with its config and its limits. Hosts load it when they first use it.
#[derive(Debug, Clone)]
pub struct Strategy {
    source: Source,
    name: String,
    load: Load,
}

/// How a strategy is loaded.
#[derive(Debug, Clone, Default)]
pub struct Load {
    /// Its config as JSON; `None` for its defaults.
    pub config: Option<String>,
    /// Options `timeout` (seconds), `memory` (bytes) and `fuel`, as JSON; empty for defaults.
    pub limits: String,
    /// Whether a component may ask the host's model.
    pub may_ask_model: bool,
}

#[derive(Debug, Clone)]
enum Source {
    /// A strategy that ships with baler, or one that `baler.toml` lists.
    Named,
    Component(Arc<[u8]>),
    Function(Arc<Asked>),
}

impl Strategy {
    /// Names a strategy that ships with baler, or that `baler.toml` lists.
    ///
    /// # Errors
    /// A limit is wrong.
    pub fn named(name: String, load: Load) -> Result<Self, Error> {
        Self::of(Source::Named, name, load)
    }

    /// Takes a component, as the bytes of its file.
    ///
    /// # Errors
    /// A limit is wrong.
    pub fn component(name: String, wasm: Arc<[u8]>, load: Load) -> Result<Self, Error> {
        Self::of(Source::Component(wasm), name, load)
    }

    /// Reads a component from a file. Its name is that of the file, with the extension if a strategy that ships with
    /// baler has the same name.
    ///
    /// # Errors
    /// The file cannot be read or is too large, or a limit is wrong.
    pub fn load(path: &Path, name: Option<String>, load: Load) -> Result<Self, Error> {
        let wasm = read(path).map_err(Error::strategy)?;
        let name = name.unwrap_or_else(|| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let shipped = baler_strategies::by_name_in_any_case(&stem);
            // A receipt must not call another file by the name of one that ships with baler.
            match shipped.is_some_and(|shipped| shipped.wasm != &wasm[..]) {
                true => path.file_name().unwrap_or_default().to_string_lossy(),
                false => stem,
            }
            .into_owned()
        });
        Self::component(name, wasm.into(), load)
    }

    /// Takes a function of the caller. Its plans are checked like those of any strategy.
    ///
    /// # Errors
    /// A limit is wrong.
    pub fn function(name: String, function: Arc<dyn Function>, load: Load) -> Result<Self, Error> {
        let number = FUNCTIONS.fetch_add(1, Ordering::Relaxed);
        let asked = Asked {
            function,
            name: name.clone(),
            address: format!("function:{number}:{name}"),
        };
        Self::of(Source::Function(Arc::new(asked)), name, load)
    }

    fn of(source: Source, name: String, load: Load) -> Result<Self, Error> {
        limits(&load.limits, Limits::default())?;
        Ok(Self { source, name, load })
    }

    /// The name in marks and receipts.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The component; `None` if it has another source.
    #[must_use]
    pub fn wasm(&self) -> Option<&[u8]> {
        match &self.source {
            Source::Component(wasm) => Some(wasm),
            Source::Named | Source::Function(_) => None,
        }
    }

    /// Makes the strategy ready in a host.
    pub(crate) async fn ready(&self, live: &Live) -> Result<baler_host::Strategy, Error> {
        let mut may_ask_model = self.load.may_ask_model;
        let (strategy, base) = match &self.source {
            Source::Named => {
                let found = live.named(&self.name).await?;
                may_ask_model = found.may_ask_model;
                (found.strategy, found.limits)
            }
            Source::Component(wasm) => {
                let loaded = live.host.load(&self.name, wasm).await;
                let loaded = loaded.map_err(|error| cannot_use(&self.name, error))?;
                (loaded, Limits::default())
            }
            Source::Function(function) => {
                let strategy = baler_host::Strategy::remote(Arc::clone(function) as _);
                let limits = *strategy.limits();
                (strategy, limits)
            }
        };
        let mut strategy = strategy.with_limits(limits(&self.load.limits, base)?);
        if let Some(config) = &self.load.config {
            if strategy.is_native() {
                return Err(Error::option(
                    "config",
                    format!(
                        "`{}` is a native strategy and takes none; leave it out",
                        self.name
                    ),
                ));
            }
            strategy = live.host.configure(strategy, config).await?;
        }
        if !strategy.lacks_model() {
            return Ok(strategy);
        }
        let wants =
            |lack: &str| Error::strategy(format!("`{}` wants to ask a model, {lack}", self.name));
        match (&live.model, may_ask_model) {
            (Some(model), true) => Ok(strategy.with_model(model.clone())),
            (_, false) => Err(wants("which was not granted").with_remedy(Remedy::GrantModel)),
            (None, true) => Err(wants("and the host has none").with_remedy(Remedy::GiveModel)),
        }
    }
}

/// Returns the error for a component that cannot be loaded.
fn cannot_use(name: &str, error: LoadError) -> Error {
    match error {
        LoadError::Host(error) => error.into(),
        error => Error::strategy(format!(
            "cannot use `{name}`: {}",
            baler_host::with_causes(&error)
        )),
    }
}

/// Returns the limits `base`, except those that were given.
fn limits(json: &str, base: Limits) -> Result<Limits, Error> {
    let mut options = Options::read(json)?;
    let mut limits = base;
    if let Some(time) = options.take("timeout", seconds)? {
        limits = limits.with_time(time).with_model_time(time);
    }
    if let Some(memory) = options.take("memory", options::count)? {
        limits = limits.with_memory(memory);
    }
    if let Some(fuel) = options.take("fuel", options::count)? {
        limits = limits.with_fuel(fuel);
    }
    options.end()?;
    Ok(limits)
}

fn seconds(value: &Value) -> Result<Duration, String> {
    value
        .as_f64()
        .filter(|seconds| *seconds > 0.0 && *seconds <= 86_400.0)
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected seconds, more than 0 and at most a day".to_owned())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let limit = EngineLimits::default().component_bytes as u64;
    let shown = path.display();
    let metadata = std::fs::metadata(path).map_err(|error| {
        format!("cannot read the strategy `{shown}`: {error}; name a readable .wasm file")
    })?;
    if !metadata.is_file() {
        return Err(format!(
            "`{shown}` is not a file; name a strategy's .wasm file"
        ));
    }
    if metadata.len() > limit {
        return Err(format!(
            "`{shown}` has {} bytes; the limit for components is {limit}",
            metadata.len()
        ));
    }
    std::fs::read(path).map_err(|error| format!("cannot read the strategy `{shown}`: {error}"))
}

/// A strategy that is a function of the caller.
#[derive(Debug)]
struct Asked {
    function: Arc<dyn Function>,
    name: String,
    /// Unique in this process, because faults are counted by it.
    address: String,
}

impl Remote for Asked {
    fn name(&self) -> &str {
        &self.name
    }

    fn address(&self) -> &str {
        &self.address
    }

    fn ask(&self, operation: Operation, request: String, most_bytes: usize) -> AnswerFuture<'_> {
        Box::pin(async move {
            let subject = Subject::Strategy { operation, request };
            let answer = function::ask(&self.function, subject).await;
            let answer = answer.map_err(|_| RemoteError::Malformed)?;
            match answer.len() > most_bytes {
                true => Err(RemoteError::TooLarge),
                false => Ok(answer.into_bytes()),
            }
        })
    }
}
