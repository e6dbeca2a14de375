//! What a component says of itself, before anything of it is stored or published.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use baler_host::strategy::{EngineLimits, Introspection, inspect};
use baler_registry::{Interfaces, semver::Version};

use crate::arguments::SandboxArguments;
use crate::exit::Failure;
use crate::figures::cleaned;
use crate::output::Messages;
use crate::settings::{HostSettings, Keeping};
use crate::sources;

/// A component, and what its bytes and its strategy say.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) wasm: Vec<u8>,
    /// Such as `baler:compaction@0.1.0`.
    pub(crate) contract: String,
    pub(crate) interfaces: Interfaces,
    /// What the strategy declares; none of it is checked.
    pub(crate) said: Introspection,
}

impl Component {
    /// Reads the component of a file.
    pub(crate) async fn read(file: &Path, sandbox: &SandboxArguments) -> Result<Self, Failure> {
        let wasm = sources::read(file).map_err(Failure::wrong_use)?;
        let shown = cleaned(&file.to_string_lossy());
        Self::of(wasm, &shown, sandbox).await
    }

    /// Inspects a component, and asks its strategy what it is. `shown` is how messages call it.
    pub(crate) async fn of(
        wasm: Vec<u8>,
        shown: &str,
        sandbox: &SandboxArguments,
    ) -> Result<Self, Failure> {
        let cannot_use = |error: anyhow::Error| {
            Failure::wrong_input(anyhow!(
                "cannot use `{shown}`: {}",
                cleaned(&format!("{error:#}"))
            ))
        };
        let inspected =
            inspect(&wasm, &EngineLimits::default()).map_err(|error| cannot_use(error.into()))?;
        let host = sandbox.host(
            HostSettings {
                archive: Keeping::Nowhere,
                ..HostSettings::default()
            },
            Messages { quiet: true },
        )?;
        let strategy = host.load("strategy", &wasm).await;
        let strategy = strategy.map_err(|error| match sources::is_ours(&error) {
            true => Failure::from(anyhow::Error::from(error)),
            false => cannot_use(error.into()),
        })?;
        let said = host.introspect(&strategy, None).await;
        let said = said.map_err(|error| cannot_use(error.into()))?;
        Ok(Self {
            wasm,
            contract: inspected.contract,
            interfaces: Interfaces {
                imports: inspected.imports,
                exports: inspected.exports,
            },
            said,
        })
    }

    /// Returns the version that the strategy declares.
    pub(crate) fn version(&self) -> anyhow::Result<Version> {
        Version::parse(&self.said.version).with_context(|| {
            format!(
                "expected a version such as 0.1.0 in what the strategy declares, found `{}`; correct it",
                cleaned(&self.said.version)
            )
        })
    }

    /// Returns its imports besides those that every strategy may have, for people.
    pub(crate) fn permissions(&self) -> Vec<&str> {
        let imports = self.interfaces.imports.iter().map(String::as_str);
        imports
            .filter(|name| {
                !["history", "tokenizer", "log", "strategy"]
                    .iter()
                    .any(|own| name.starts_with(&format!("baler:compaction/{own}@")))
            })
            .collect()
    }
}
