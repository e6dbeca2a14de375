//! The subcommands, one in each file.

mod archive;
mod cache;
mod compact;
mod compose;
#[cfg(feature = "http")]
mod doctor;
#[cfg(feature = "eval")]
mod eval;
mod expand;
mod introspect;
#[cfg(feature = "http")]
mod mcp;
#[cfg(feature = "http")]
mod mcp_install;
#[cfg(feature = "http")]
mod proxy;
mod report;
#[cfg(feature = "http")]
mod run;
#[cfg(feature = "http")]
mod serve;
#[cfg(feature = "http")]
mod sessions;
mod should_compact;
mod strategies;
mod trust;
#[cfg(feature = "eval")]
mod tune;
#[cfg(feature = "http")]
mod ui;
mod undo;
mod validate;
mod wrap;

pub(crate) use archive::ArchiveCommand;
pub(crate) use cache::CacheCommand;
pub(crate) use compact::CompactCommand;
pub(crate) use compose::{ComposeCommand, TASK as COMPOSE_TASK};
#[cfg(feature = "http")]
pub(crate) use doctor::DoctorCommand;
#[cfg(feature = "eval")]
pub(crate) use eval::EvalCommand;
pub(crate) use expand::ExpandCommand;
pub(crate) use introspect::IntrospectCommand;
#[cfg(feature = "http")]
pub(crate) use mcp::McpCommand;
#[cfg(feature = "http")]
pub(crate) use proxy::ProxyCommand;
pub(crate) use report::ReportCommand;
#[cfg(feature = "http")]
pub(crate) use run::RunCommand;
#[cfg(feature = "http")]
pub(crate) use serve::ServeCommand;
#[cfg(feature = "http")]
pub(crate) use sessions::SessionsCommand;
pub(crate) use should_compact::ShouldCompactCommand;
pub(crate) use strategies::StrategiesCommand;
pub(crate) use trust::TrustCommand;
#[cfg(feature = "eval")]
pub(crate) use tune::TuneCommand;
#[cfg(feature = "http")]
pub(crate) use ui::UiCommand;
pub(crate) use undo::UndoCommand;
pub(crate) use validate::ValidateCommand;
pub(crate) use wrap::{TASK as WRAP_TASK, WrapCommand};
