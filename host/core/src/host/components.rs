//! Loads components, alone or from a list (`baler.toml`).

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use baler_conversation::marks::SecretKey;

use super::{Host, HostBuilder};
use crate::compaction::Compaction;
use crate::error::HostError;
use crate::limits::{EngineLimits, Limits};
use crate::project::{Listed, ListedError, Permit, Project};
use crate::sandbox::{Compiler, GuestRunner, LoadError, Sandbox};
use crate::strategy::{Permission, Strategy};
use crate::strategy_name::StrategyName;

/// What a host needs to load components.
#[derive(Debug, Default)]
pub(super) struct Components {
    limits: EngineLimits,
    /// The state folder, which will hold compiled code.
    state: Option<PathBuf>,
    compiler: Option<Compiler>,
    refuses_wasi: bool,
    /// The list of strategies that receipts name.
    project: Option<Project>,
    /// Created when the first component is loaded: native strategies need no pool.
    sandbox: OnceLock<Arc<Sandbox>>,
}

impl Components {
    pub(super) fn with(self, limits: EngineLimits, state: Option<PathBuf>) -> Self {
        Self {
            limits,
            state,
            ..self
        }
    }

    fn sandbox(&self, key: &SecretKey) -> Result<&Arc<Sandbox>, HostError> {
        if let Some(sandbox) = self.sandbox.get() {
            return Ok(sandbox);
        }
        let compiler = self.compiler.clone().unwrap_or(Compiler::InProcess);
        let state = self.state.as_deref();
        let state = state.map(|folder| (folder, key.clone()));
        let sandbox = Sandbox::new(self.limits, compiler, state, self.refuses_wasi)?;
        Ok(self.sandbox.get_or_init(|| Arc::new(sandbox)))
    }

    /// Returns a compaction whose receipt says which list of strategies the host is under.
    pub(super) fn under_list(&self, mut compaction: Compaction) -> Compaction {
        let receipt = &mut compaction.receipt;
        let tried = receipt.attempts.iter();
        let tried: Vec<&str> = tried.map(|tried| &*tried.strategy).collect();
        receipt.project = self.project.as_ref().map(|list| list.use_for(&tried));
        compaction
    }
}

impl HostBuilder {
    /// Sets the process in which components are compiled. Default: [`Compiler::InProcess`]. A program that
    /// loads untrusted components should use a child process, since a component can attack its compiler.
    #[must_use]
    pub fn compiler(mut self, compiler: impl Into<Option<Compiler>>) -> Self {
        self.components.compiler = compiler.into();
        self
    }

    /// Refuses components that import WASI. Default: they load and get WASI with nothing behind it, if this crate
    /// was built with its feature `wasi`.
    #[must_use]
    pub fn without_wasi(mut self) -> Self {
        self.components.refuses_wasi = true;
        self
    }

    /// Puts the host under a list of strategies: it refuses components that import WASI if the list does, and receipts
    /// say which list it is and what it sets ([`Receipt::project`](crate::Receipt)). What plans may do
    /// ([`ProjectPolicy::plans`](crate::project::ProjectPolicy)) is set for each request. Default: none.
    #[must_use]
    pub fn project(mut self, list: &Project) -> Self {
        self.components.refuses_wasi |= list.policy().wasi == Permit::Refuse;
        self.components.project = Some(list.clone());
        self
    }
}

impl Host {
    /// Loads a component from the bytes of its file. No code of the component runs. `name` is its name in
    /// marks and receipts, such as the file name; characters other than ASCII letters, digits and `-_.`
    /// become `-`.
    ///
    /// # Errors
    /// The bytes are no component; the component has no contract that this host supports, does not compile,
    /// or needs more than a sandbox offers; or the host failed.
    pub async fn load(&self, name: &str, component: &[u8]) -> Result<Strategy, LoadError> {
        let sandbox = self.components.sandbox(self.reader.key())?;
        let guest = sandbox.load(component).await?;
        let name = StrategyName::like(name, &guest.hash);
        let runner = GuestRunner::new(Arc::clone(sandbox), guest);
        Ok(Strategy::new(name, Arc::new(runner)))
    }

    /// Loads a strategy of `baler.toml` with its config and limits, within its policy of digests and WASI. A model that
    /// it may ask ([`Listed::may_ask_model`](crate::project::Listed::may_ask_model)) is granted with [`Strategy::with_model`]; what plans may do
    /// ([`ProjectPolicy::plans`](crate::project::ProjectPolicy::plans)) is set with
    /// [`Request::with_policy`](crate::Request::with_policy).
    ///
    /// # Errors
    /// No strategy of this name is listed; its file cannot be read, is not the listed one or cannot be used; or its
    /// config does not fit.
    pub async fn load_listed(
        &self,
        project: &Project,
        name: &str,
    ) -> Result<Strategy, ListedError> {
        let listed = project.strategy(name).ok_or_else(|| ListedError::Unknown {
            name: name.into(),
            file: project.file().into(),
        })?;
        let wasm = listed.read(project, self.components.limits.component_bytes)?;
        self.load_pulled(project, listed, &wasm).await
    }

    /// Loads a strategy of `baler.toml` as [`Host::load_listed`] does, of a component that the caller read: it is in a
    /// registry, and was pulled.
    ///
    /// # Errors
    /// The component cannot be used, or its config does not fit.
    pub async fn load_pulled(
        &self,
        project: &Project,
        listed: &Listed,
        wasm: &[u8],
    ) -> Result<Strategy, ListedError> {
        let name = listed.name();
        let strategy = self.load(name, wasm).await;
        let strategy = strategy.map_err(|source| ListedError::Load {
            name: name.into(),
            source: Box::new(source),
        })?;
        let component = strategy.component();
        let uses_wasi =
            component.is_some_and(|component| component.permissions.contains(&Permission::Wasi));
        if uses_wasi && project.policy().wasi == Permit::Refuse {
            return Err(ListedError::WasiRefused {
                name: name.into(),
                file: project.file().into(),
            });
        }
        let strategy = strategy.with_limits(listed.limits(Limits::default()));
        let Some(config) = listed.config() else {
            return Ok(strategy);
        };
        let configured = self.configure(strategy, config).await;
        configured.map_err(|source| ListedError::Config {
            name: name.into(),
            file: project.file().into(),
            source: Box::new(source),
        })
    }
}
