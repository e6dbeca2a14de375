//! The subcommands, one in each file.

#[cfg(feature = "registry")]
mod add;
mod archive;
#[cfg(feature = "eval")]
mod bench;
mod build;
mod cache;
mod compact;
mod compose;
#[cfg(feature = "http")]
mod doctor;
#[cfg(feature = "eval")]
mod eval;
mod expand;
mod introspect;
#[cfg(feature = "registry")]
mod lock;
#[cfg(feature = "http")]
mod mcp;
#[cfg(feature = "http")]
mod mcp_install;
mod new;
#[cfg(feature = "http")]
mod proxy;
#[cfg(feature = "registry")]
mod push;
mod report;
#[cfg(feature = "http")]
mod run;
#[cfg(feature = "http")]
mod serve;
#[cfg(feature = "http")]
mod sessions;
mod should_compact;
#[cfg(feature = "registry")]
mod sign;
mod strategies;
#[cfg(feature = "eval")]
mod test;
mod trust;
#[cfg(feature = "eval")]
mod tune;
#[cfg(feature = "http")]
mod ui;
mod undo;
mod validate;
#[cfg(feature = "registry")]
mod verify;
mod wrap;

#[cfg(feature = "registry")]
pub(crate) use add::AddCommand;
pub(crate) use archive::ArchiveCommand;
#[cfg(feature = "eval")]
pub(crate) use bench::BenchCommand;
pub(crate) use build::BuildCommand;
pub(crate) use cache::CacheCommand;
pub(crate) use compact::CompactCommand;
pub(crate) use compose::{ComposeCommand, TASK as COMPOSE_TASK};
#[cfg(feature = "http")]
pub(crate) use doctor::DoctorCommand;
#[cfg(feature = "eval")]
pub(crate) use eval::EvalCommand;
pub(crate) use expand::ExpandCommand;
pub(crate) use introspect::IntrospectCommand;
#[cfg(feature = "registry")]
pub(crate) use lock::{LockCommand, PullCommand, UpdateCommand};
#[cfg(feature = "http")]
pub(crate) use mcp::McpCommand;
pub(crate) use new::NewCommand;
#[cfg(feature = "http")]
pub(crate) use proxy::ProxyCommand;
#[cfg(feature = "registry")]
pub(crate) use push::PushCommand;
pub(crate) use report::ReportCommand;
#[cfg(feature = "http")]
pub(crate) use run::RunCommand;
#[cfg(feature = "http")]
pub(crate) use serve::ServeCommand;
#[cfg(feature = "http")]
pub(crate) use sessions::SessionsCommand;
pub(crate) use should_compact::ShouldCompactCommand;
#[cfg(feature = "registry")]
pub(crate) use sign::SignCommand;
pub(crate) use strategies::StrategiesCommand;
#[cfg(feature = "eval")]
pub(crate) use test::TestCommand;
pub(crate) use trust::TrustCommand;
#[cfg(feature = "eval")]
pub(crate) use tune::TuneCommand;
#[cfg(feature = "http")]
pub(crate) use ui::UiCommand;
pub(crate) use undo::UndoCommand;
pub(crate) use validate::ValidateCommand;
#[cfg(feature = "registry")]
pub(crate) use verify::VerifyCommand;
pub(crate) use wrap::{TASK as WRAP_TASK, WrapCommand};
