//! Strategies as Python programs hold them: what to load, with which config and limits.

use std::path::PathBuf;

use baler_embedding::{Load, Strategy};
use pyo3::prelude::*;

use crate::callables::Callable;
use crate::errors::raised;

/// A strategy, with its config and its limits. Hosts load it when they first use it.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeStrategy(pub(crate) Strategy);

#[pymethods]
impl NativeStrategy {
    /// Names a strategy that ships with baler, or that `baler.toml` lists.
    #[staticmethod]
    fn named(name: String, config: Option<String>, limits: String) -> PyResult<Self> {
        made(Strategy::named(name, load(config, limits, true)))
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
        let load = load(config, limits, may_ask_model);
        made(Strategy::component(name, wasm.into(), load))
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
        let load = load(config, limits, may_ask_model);
        made(py.detach(|| Strategy::load(&path, name, load)))
    }

    /// Takes a callable: `(operation, request) -> answer`, both as JSON.
    #[staticmethod]
    fn callable(
        name: String,
        call: Py<PyAny>,
        config: Option<String>,
        limits: String,
    ) -> PyResult<Self> {
        let load = load(config, limits, false);
        made(Strategy::function(name, Callable::function(call), load))
    }

    /// The name in marks and receipts.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The component; `None` if it has another source.
    #[getter]
    fn wasm(&self) -> Option<&[u8]> {
        self.0.wasm()
    }
}

/// Returns the strategies of a chain.
pub(crate) fn chain_of(chain: &[Py<NativeStrategy>]) -> Vec<Strategy> {
    chain
        .iter()
        .map(|strategy| strategy.get().0.clone())
        .collect()
}

fn load(config: Option<String>, limits: String, may_ask_model: bool) -> Load {
    Load {
        config,
        limits,
        may_ask_model,
    }
}

fn made(strategy: Result<Strategy, baler_embedding::Error>) -> PyResult<NativeStrategy> {
    strategy.map(NativeStrategy).map_err(raised)
}
