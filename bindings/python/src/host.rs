//! The host as Python programs hold it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baler_host::archive::Archive;
use baler_host::conversation::ReadOptions;
use baler_host::conversation::tokenizers::Tokenizer;
use baler_host::model::{ModelGrant, ModelInfo, ModelLimits};
use baler_host::project::Project;
use baler_host::request::Policy;
use baler_host::strategy::EngineLimits;
use baler_host::{Compiler, Format, Host, Limits, Strategy};
use baler_models::clients::{Client, KeySource, ModelChoice};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use serde_json::json;

use crate::callables::PyModel;
use crate::conversation::NativeConversation;
use crate::errors::{self, Raise as _};
use crate::options::{self, Options};
use crate::per_process::PerProcess;
use crate::result::NativeResult;
use crate::running::{self, Cancel};
use crate::strategy::NativeStrategy;

/// Bytes up to which a conversation is read in the thread that asks: that takes less time than signals wait anyway.
const READ_AT_ONCE: usize = 2 << 20;

/// Reads conversations, loads strategies and runs compactions.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeHost {
    settings: Settings,
    live: PerProcess<Live>,
}

/// What a host is made of.
#[derive(Debug)]
struct Settings {
    state: Option<PathBuf>,
    archive: ArchiveChoice,
    tokenizer: Option<Tokenizer>,
    project: Option<Project>,
    model: Option<ModelGrant>,
    compiler: Vec<PathBuf>,
    concurrent_calls: u32,
    memory: usize,
    refuses_wasi: bool,
}

#[derive(Debug)]
enum ArchiveChoice {
    Off,
    InState,
    /// Opened once: it has no threads of its own.
    Opened(Archive),
    /// A URL.
    At(String, Vec<(String, String)>),
}

/// The host of this process.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) host: Arc<Host>,
    pub(crate) model: Option<ModelGrant>,
    pub(crate) policy: Policy,
    project: Option<Project>,
    /// Strategies that were named before.
    named: Mutex<HashMap<String, Found>>,
}

/// A strategy that was named.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) strategy: Strategy,
    /// Default limits, or those of `baler.toml`.
    pub(crate) limits: Limits,
    pub(crate) may_ask_model: bool,
}

#[pymethods]
impl NativeHost {
    /// Creates a host from options by name, as JSON. `model` is a callable or the name of a model.
    #[new]
    fn new(py: Python<'_>, options: &str, model: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut options = Options::read(options)?;
        let model = model.map(|model| grant(&model, &mut options)).transpose()?;
        let state = options.take("state", options::text)?.map(PathBuf::from);
        let archive = options.take("archive", options::text)?;
        let stores = options.take("archive_options", |value| {
            serde_json::from_value(value.clone()).map_err(|_| "expected pairs of texts".to_owned())
        })?;
        let project = options.take("project", options::text)?;
        let project = project.map(|file| project_of(&file)).transpose()?;
        let settings = Settings {
            archive: archive_of(archive, stores.unwrap_or_default(), state.is_some())?,
            state,
            tokenizer: options.take("tokenizer", |value| {
                let name = options::text(value)?;
                Tokenizer::named(&name).map_err(|error| error.to_string())
            })?,
            project,
            model,
            compiler: options
                .take("compiler", |value| {
                    serde_json::from_value(value.clone())
                        .map_err(|_| "expected a command as a list of texts".to_owned())
                })?
                .unwrap_or_default(),
            concurrent_calls: options
                .take("concurrent_calls", options::count)?
                .unwrap_or(16),
            memory: options
                .take("memory", options::count)?
                .unwrap_or(Limits::default().memory),
            refuses_wasi: !options.take("wasi", options::flag)?.unwrap_or(true),
        };
        options.end()?;
        let host = Self {
            settings,
            live: PerProcess::new(),
        };
        // Its errors belong here, not to the first call.
        py.detach(|| host.live().map(drop))?;
        Ok(host)
    }

    /// Reads a conversation from bytes, a text, or Python objects.
    #[pyo3(signature = (document, format, used, cancel))]
    fn read(
        &self,
        py: Python<'_>,
        document: &Bound<'_, PyAny>,
        format: Option<&str>,
        used: Option<u32>,
        cancel: &Cancel,
    ) -> PyResult<NativeConversation> {
        let format = format.map(format_named).transpose()?;
        let document = bytes_of(document)?;
        let is_short = document.len() <= READ_AT_ONCE;
        let work = || {
            let options = ReadOptions::default()
                .with_format(format)
                .with_used(used)
                .with_deadline(cancel.deadline());
            let read = self.live()?.host.read_with(document, options);
            read.map(NativeConversation).map_err(|error| error.raise())
        };
        if is_short {
            return py.detach(work);
        }
        running::run(py, cancel, work)
    }

    /// Compacts a conversation with the strategies of `chain`, in order.
    fn compact(
        &self,
        py: Python<'_>,
        conversation: &NativeConversation,
        chain: Vec<Py<NativeStrategy>>,
        options: &str,
        cancel: &Cancel,
    ) -> PyResult<NativeResult> {
        running::run(py, cancel, || {
            let live = self.live()?;
            let request = options::request(options, &live.policy, cancel.deadline())?;
            let work = async {
                let chain = live.chain(&chain).await?;
                let compaction = live.host.compact(&conversation.0, &chain, &request).await;
                compaction.map_err(|error| error.raise())
            };
            let compaction = cancel.wait(work)??;
            Ok(NativeResult(compaction))
        })
    }

    /// Loads strategies and reads options, to say what is wrong with them.
    fn check(
        &self,
        py: Python<'_>,
        chain: Vec<Py<NativeStrategy>>,
        options: &str,
        cancel: &Cancel,
    ) -> PyResult<()> {
        running::run(py, cancel, || {
            let live = self.live()?;
            options::request(options, &live.policy, cancel.deadline())?;
            cancel.wait(live.chain(&chain))?.map(drop)
        })
    }

    /// Decides whether to compact now.
    fn should_compact(
        &self,
        py: Python<'_>,
        conversation: &NativeConversation,
        strategy: Option<Py<NativeStrategy>>,
        options: &str,
        cancel: &Cancel,
    ) -> PyResult<bool> {
        running::run(py, cancel, || {
            let live = self.live()?;
            let request = options::request(options, &live.policy, cancel.deadline())?;
            let Some(strategy) = strategy else {
                return Ok(live.host.is_due(&conversation.0, &request));
            };
            let work = async {
                let strategy = strategy.get().ready(live).await?;
                PyResult::Ok(
                    live.host
                        .should_compact(&conversation.0, &strategy, &request)
                        .await,
                )
            };
            let answer = cancel.wait(work)??;
            Ok(answer.is_due)
        })
    }

    /// Asks a strategy to describe itself; returns JSON.
    fn introspect(
        &self,
        py: Python<'_>,
        strategy: Py<NativeStrategy>,
        cancel: &Cancel,
    ) -> PyResult<String> {
        running::run(py, cancel, || {
            let live = self.live()?;
            let work = async {
                let strategy = strategy.get().ready(live).await?;
                let told = live.host.introspect(&strategy, strategy.config()).await;
                let told = told.map_err(|error| error.raise())?;
                let component = strategy.component().map(|component| {
                    json!({
                        "content-hash": component.content_hash.to_string(),
                        "contract": component.contract,
                        "bytes": component.bytes,
                        "permissions": component.permissions,
                    })
                });
                let told = json!({"introspection": told, "component": component});
                PyResult::Ok(told.to_string())
            };
            cancel.wait(work)?
        })
    }

    /// Returns archived content by its reference.
    fn expand(&self, py: Python<'_>, reference: &str, cancel: &Cancel) -> PyResult<String> {
        running::run(py, cancel, || {
            let archive = self.archive()?;
            let work = async { archive.get(reference).await };
            let got = cancel.wait(work)?;
            got.map(|text| text.to_string())
                .map_err(|error| error.raise())
        })
    }

    /// Restores the conversation before a compaction, by the reference in its receipt.
    fn undo(&self, py: Python<'_>, reference: &str, cancel: &Cancel) -> PyResult<String> {
        running::run(py, cancel, || {
            let archive = self.archive()?;
            let work = async { archive.undo(reference).await };
            let restored = cancel.wait(work)?;
            restored.map_err(|error| error.raise())
        })
    }
}

impl NativeHost {
    /// Returns the host of this process.
    pub(crate) fn live(&self) -> PyResult<&Live> {
        self.live.get_or_make(|| self.settings.live())
    }

    fn archive(&self) -> PyResult<&Archive> {
        self.live()?.host.archive().ok_or_else(|| {
            errors::option(
                "the host has no archive: create it with a state folder or with `archive=`"
                    .to_owned(),
            )
        })
    }
}

impl Settings {
    fn live(&self) -> PyResult<Live> {
        let limits = EngineLimits::default()
            .with_concurrent_calls(self.concurrent_calls)
            .with_memory(EngineLimits::default().memory.max(self.memory));
        let mut builder = Host::builder()
            .limits(limits)
            .tokenizer(self.tokenizer.clone())
            .model(self.model.clone());
        if let Some((program, arguments)) = self.compiler.split_first() {
            builder = builder.compiler(Compiler::Command {
                program: program.clone(),
                arguments: arguments.iter().map(Into::into).collect(),
            });
        }
        if let Some(state) = &self.state {
            builder = builder.state(state);
        }
        builder = match &self.archive {
            ArchiveChoice::Off => builder.without_archive(),
            ArchiveChoice::InState => builder,
            ArchiveChoice::Opened(archive) => builder.archive(archive.clone()),
            ArchiveChoice::At(url, options) => {
                let options = options.iter().cloned();
                let archive = Archive::at(url, options)
                    .map_err(|error| errors::option(format!("`archive`: {error}")))?;
                builder.archive(archive)
            }
        };
        if self.refuses_wasi {
            builder = builder.without_wasi();
        }
        if let Some(project) = &self.project {
            builder = builder.project(project);
        }
        let policy = self.project.as_ref().map(Project::policy);
        Ok(Live {
            host: Arc::new(builder.build().map_err(|error| error.raise())?),
            model: self.model.clone(),
            policy: policy
                .map(|policy| policy.plans.clone())
                .unwrap_or_default(),
            project: self.project.clone(),
            named: Mutex::default(),
        })
    }
}

impl Live {
    pub(crate) async fn chain(&self, chain: &[Py<NativeStrategy>]) -> PyResult<Vec<Strategy>> {
        let mut ready = Vec::with_capacity(chain.len());
        for strategy in chain {
            ready.push(strategy.get().ready(self).await?);
        }
        Ok(ready)
    }

    /// Returns the strategy with this name: a native one, one that ships with baler, or one that `baler.toml`
    /// lists.
    pub(crate) async fn named(&self, name: &str) -> PyResult<Found> {
        if let Some(known) = self.known().get(name) {
            return Ok(known.clone());
        }
        let found = self.find(name).await?;
        Ok(self.known().entry(name.to_owned()).or_insert(found).clone())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Found>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn find(&self, name: &str) -> PyResult<Found> {
        let shipped = |strategy| Found {
            strategy,
            limits: Limits::default(),
            may_ask_model: true,
        };
        if let Some(native) = Strategy::native(name) {
            return Ok(shipped(native));
        }
        if let Some(bundled) = baler_strategies::by_name(name) {
            let loaded = self.host.load(bundled.name, bundled.wasm).await;
            let strategy = loaded.map_err(|error| error.raise())?;
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
        let loaded = self.host.load_listed(project, name).await;
        let strategy = loaded.map_err(|error| error.raise())?;
        Ok(Found {
            limits: *strategy.limits(),
            strategy,
            may_ask_model: listed.may_ask_model(),
        })
    }

    fn unknown(&self, name: &str) -> PyErr {
        let listed = self.project.iter().flat_map(Project::strategies);
        let known: Vec<&str> = baler_strategies::ALL
            .iter()
            .map(|bundled| bundled.name)
            .chain(Strategy::NATIVE.iter().copied())
            .chain(listed.map(baler_host::project::Listed::name))
            .collect();
        errors::strategy(format!(
            "no strategy is called `{name}`; known: {}. Load a file with `baler.Strategy.load(path)`",
            known.join(", ")
        ))
    }
}

/// Reads the list that the caller named, and so trusts.
fn project_of(file: &str) -> PyResult<Project> {
    let project = Project::read(file.as_ref()).map_err(|error| error.raise())?;
    let is_reserved = |name: &str| baler_strategies::by_name_in_any_case(name).is_some();
    let checked = project.check_names(is_reserved);
    checked.map_err(|error| error.raise())?;
    Ok(project)
}

fn format_named(name: &str) -> PyResult<Format> {
    name.parse().map_err(|_| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        errors::option(format!(
            "`format`: expected auto, {}; found {name:?}",
            known.join(", ")
        ))
    })
}

fn bytes_of(document: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = document.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if let Ok(text) = document.cast::<PyString>()
        && let Ok(text) = text.to_str()
    {
        return Ok(text.as_bytes().to_vec());
    }
    crate::json::to_json(document, "").map(String::into_bytes)
}

fn archive_of(
    named: Option<String>,
    options: Vec<(String, String)>,
    has_state: bool,
) -> PyResult<ArchiveChoice> {
    Ok(match named.as_deref() {
        None if has_state => ArchiveChoice::InState,
        None | Some("off") => ArchiveChoice::Off,
        Some("memory") => ArchiveChoice::Opened(Archive::in_memory()),
        Some(url) if url.contains("://") => ArchiveChoice::At(url.to_owned(), options),
        Some(folder) => {
            let archive = Archive::open(folder)
                .map_err(|error| errors::option(format!("`archive`: {error}")))?;
            ArchiveChoice::Opened(archive)
        }
    })
}

/// Returns the grant of a model: a callable, or the name of one that baler asks itself.
fn grant(model: &Bound<'_, PyAny>, options: &mut Options) -> PyResult<ModelGrant> {
    let window = options.take("model_window", options::count)?;
    let output = options.take("model_max_output", options::count)?;
    let calls = options.take("model_calls", options::count)?;
    let key = options.take("model_key", options::text)?;
    let limits = ModelLimits::default();
    let limits = limits.with_calls(calls.unwrap_or(limits.calls));
    if let Ok(name) = model.extract::<String>() {
        let wrong = |error: &dyn std::fmt::Display| errors::option(format!("`model`: {error}"));
        let choice: ModelChoice = name
            .parse()
            .map_err(|error: baler_models::clients::ChoiceError| wrong(&error))?;
        let source = key.map(|key| key.parse::<KeySource>()).transpose();
        let source = source.map_err(|error| wrong(&error))?;
        let client = Client::builder(choice)
            .key(source)
            .context_window(window)
            .max_output_tokens(output)
            .build()
            .map_err(|error| wrong(&error))?;
        return Ok(ModelGrant::new(Arc::new(client)).with_limits(limits));
    }
    let info = ModelInfo::new("python", window.unwrap_or(128_000), output.unwrap_or(4_096));
    let call = Arc::new(model.clone().unbind());
    Ok(ModelGrant::new(Arc::new(PyModel { call, info })).with_limits(limits))
}
