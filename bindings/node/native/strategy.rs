//! Strategies as JavaScript programs hold them: what to load, with which config and limits.

use std::path::Path;

use baler_embedding::{Load, Strategy};
use napi::bindgen_prelude::{ClassInstance, Uint8Array};
use napi_derive::napi;

use crate::errors::thrown;
use crate::functions::NativeInbox;

/// A strategy, with its config and its limits. Hosts load it when they first use it.
#[napi]
#[derive(Debug)]
pub struct NativeStrategy {
    pub(crate) inner: Strategy,
}

/// How a strategy is loaded.
#[napi(object)]
#[derive(Debug)]
pub struct LoadOptions {
    /// Its config as JSON.
    pub config: Option<String>,
    /// Its limits as JSON.
    pub limits: String,
    /// Whether it may ask the host's model.
    pub may_ask_model: bool,
}

#[napi]
impl NativeStrategy {
    /// Names a strategy that ships with baler, or that `baler.toml` lists.
    ///
    /// # Errors
    /// A limit is wrong.
    #[napi(factory, catch_unwind)]
    pub fn named(name: String, load: LoadOptions) -> napi::Result<Self> {
        made(Strategy::named(name, load.into()))
    }

    /// Takes a component, as the bytes of its file.
    ///
    /// # Errors
    /// A limit is wrong.
    #[napi(factory, catch_unwind)]
    pub fn component(name: String, wasm: Uint8Array, load: LoadOptions) -> napi::Result<Self> {
        made(Strategy::component(name, (*wasm).into(), load.into()))
    }

    /// Reads a component from a file.
    ///
    /// # Errors
    /// The file cannot be read, or a limit is wrong.
    #[napi(factory, catch_unwind)]
    pub fn load(path: String, name: Option<String>, load: LoadOptions) -> napi::Result<Self> {
        made(Strategy::load(Path::new(&path), name, load.into()))
    }

    /// Takes a function of the thread of `inbox`, under its number there.
    ///
    /// # Errors
    /// A limit is wrong.
    #[napi(factory, catch_unwind)]
    pub fn function(
        name: String,
        inbox: &NativeInbox,
        number: u32,
        load: LoadOptions,
    ) -> napi::Result<Self> {
        let function = inbox.inner.function(number.into());
        made(Strategy::function(name, function, load.into()))
    }

    /// The name in marks and receipts.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn name(&self) -> String {
        self.inner.name().to_owned()
    }
}

/// Returns the strategies of a chain.
pub(crate) fn chain_of(chain: &[ClassInstance<'_, NativeStrategy>]) -> Vec<Strategy> {
    chain
        .iter()
        .map(|strategy| strategy.inner.clone())
        .collect()
}

impl From<LoadOptions> for Load {
    fn from(options: LoadOptions) -> Self {
        Self {
            config: options.config,
            limits: options.limits,
            may_ask_model: options.may_ask_model,
        }
    }
}

fn made(strategy: Result<Strategy, baler_embedding::Error>) -> napi::Result<NativeStrategy> {
    let inner = strategy.map_err(thrown)?;
    Ok(NativeStrategy { inner })
}
