//! Strategies as Python programs hold them: what to load, with which config and limits.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use baler_host::strategy::EngineLimits;
use baler_host::{Limits, Strategy};
use pyo3::prelude::*;

use crate::callables::PyStrategy;
use crate::errors::{self, Raise as _};
use crate::host::Live;
use crate::options::{self, Options};

/// Counts the callables of this process.
static CALLABLES: AtomicU64 = AtomicU64::new(0);

/// A strategy, with its config and its limits. Hosts load it when they first use it.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeStrategy {
    source: Source,
    name: String,
    config: Option<String>,
    limits: String,
    /// Whether it gets the host's model.
    may_ask_model: bool,
}

#[derive(Debug, Clone)]
enum Source {
    /// A strategy that ships with baler, or one that `baler.toml` lists.
    Named,
    Component(Arc<[u8]>),
    Callable(Arc<PyStrategy>),
}

#[pymethods]
impl NativeStrategy {
    /// Names a strategy that ships with baler, or that `baler.toml` lists.
    #[staticmethod]
    fn named(name: String, config: Option<String>, limits: String) -> PyResult<Self> {
        check_limits(&limits)?;
        Ok(Self {
            source: Source::Named,
            name,
            config,
            limits,
            may_ask_model: true,
        })
    }

    /// Takes a component, as the bytes of its file.
    #[staticmethod]
    fn component(
        name: String,
        wasm: &[u8],
        config: Option<String>,
        limits: String,
        may_ask_model: bool,
    ) -> PyResult<Self> {
        check_limits(&limits)?;
        Ok(Self {
            source: Source::Component(wasm.into()),
            name,
            config,
            limits,
            may_ask_model,
        })
    }

    /// Reads a component from a file.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        name: Option<String>,
        config: Option<String>,
        limits: String,
        may_ask_model: bool,
    ) -> PyResult<Self> {
        let wasm = py.detach(|| read(&path)).map_err(errors::strategy)?;
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
        Self::component(name, &wasm, config, limits, may_ask_model)
    }

    /// Takes a callable: `(operation, request) -> answer`, both as JSON.
    #[staticmethod]
    fn callable(
        name: String,
        call: Py<PyAny>,
        config: Option<String>,
        limits: String,
    ) -> PyResult<Self> {
        check_limits(&limits)?;
        let number = CALLABLES.fetch_add(1, Ordering::Relaxed);
        let strategy = PyStrategy {
            call: Arc::new(call),
            name: name.clone(),
            address: format!("python:{number}:{name}"),
        };
        Ok(Self {
            source: Source::Callable(Arc::new(strategy)),
            name,
            config,
            limits,
            may_ask_model: false,
        })
    }

    /// The name in marks and receipts.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The component; `None` if it has another source.
    #[getter]
    fn wasm(&self) -> Option<&[u8]> {
        match &self.source {
            Source::Component(wasm) => Some(wasm),
            Source::Named | Source::Callable(_) => None,
        }
    }
}

impl NativeStrategy {
    /// Makes the strategy ready in a host.
    pub(crate) async fn ready(&self, live: &Live) -> PyResult<Strategy> {
        let mut may_ask_model = self.may_ask_model;
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
            Source::Callable(callable) => {
                let strategy = Strategy::remote(Arc::clone(callable) as _);
                let limits = *strategy.limits();
                (strategy, limits)
            }
        };
        let mut strategy = strategy.with_limits(limits(&self.limits, base)?);
        if let Some(config) = &self.config {
            if strategy.is_native() {
                return Err(errors::option(format!(
                    "`config`: `{}` is a native strategy and takes none; leave it out",
                    self.name
                )));
            }
            let configured = live.host.configure(strategy, config).await;
            strategy = configured.map_err(|error| error.raise())?;
        }
        if !strategy.lacks_model() {
            return Ok(strategy);
        }
        match (&live.model, may_ask_model) {
            (Some(model), true) => Ok(strategy.with_model(model.clone())),
            (_, false) => Err(errors::strategy(format!(
                "`{}` wants to ask a model, which was not granted: load it with `may_ask_model=True`, or \
                 list it in `baler.toml` with `grant = [\"model\"]`, if you trust it with the conversation and the \
                 cost",
                self.name
            ))),
            (None, true) => Err(errors::strategy(format!(
                "`{}` wants to ask a model, and the host has none: give one, such as \
                 `baler.Host(model=\"openai:gpt-5-mini\")`",
                self.name
            ))),
        }
    }
}

/// Returns the exception for a component that cannot be loaded.
fn cannot_use(name: &str, error: baler_host::strategy::LoadError) -> PyErr {
    match error {
        baler_host::strategy::LoadError::Host(error) => error.raise(),
        error => errors::strategy(format!(
            "cannot use `{name}`: {}",
            baler_host::with_causes(&error)
        )),
    }
}

fn check_limits(json: &str) -> PyResult<()> {
    limits(json, Limits::default()).map(drop)
}

/// Returns the limits `base`, except those that were given.
fn limits(json: &str, base: Limits) -> PyResult<Limits> {
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

fn seconds(value: &serde_json::Value) -> Result<Duration, String> {
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
