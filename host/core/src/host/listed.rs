//! Loads the strategies of `baler.toml`.

use super::Host;
use crate::limits::Limits;
use crate::project::{ListedError, Permit, Project};
use crate::strategy::{Permission, Strategy};

/// Loads a strategy of `baler.toml` ([`Host::load_listed`]).
pub(crate) async fn load_listed(
    host: &Host,
    project: &Project,
    name: &str,
) -> Result<Strategy, ListedError> {
    let listed = project.strategy(name).ok_or_else(|| ListedError::Unknown {
        name: name.into(),
        file: project.file().into(),
    })?;
    let wasm = listed.read(project, host.limits().component_bytes)?;
    let strategy = host.load(name, &wasm).await;
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
    let configured = host.configure(strategy, config).await;
    configured.map_err(|source| ListedError::Config {
        name: name.into(),
        file: project.file().into(),
        source: Box::new(source),
    })
}
