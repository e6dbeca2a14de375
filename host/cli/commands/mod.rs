//! The subcommands, one in each file.

mod archive;
mod cache;
mod compact;
#[cfg(feature = "eval")]
mod eval;
mod expand;
mod introspect;
mod report;
#[cfg(feature = "http")]
mod serve;
mod should_compact;
mod strategies;
mod trust;
#[cfg(feature = "eval")]
mod tune;
mod undo;
mod validate;
mod wrap;

pub(crate) use archive::ArchiveCommand;
pub(crate) use cache::CacheCommand;
pub(crate) use compact::CompactCommand;
#[cfg(feature = "eval")]
pub(crate) use eval::EvalCommand;
pub(crate) use expand::ExpandCommand;
pub(crate) use introspect::IntrospectCommand;
pub(crate) use report::ReportCommand;
#[cfg(feature = "http")]
pub(crate) use serve::ServeCommand;
pub(crate) use should_compact::ShouldCompactCommand;
pub(crate) use strategies::StrategiesCommand;
pub(crate) use trust::TrustCommand;
#[cfg(feature = "eval")]
pub(crate) use tune::TuneCommand;
pub(crate) use undo::UndoCommand;
pub(crate) use validate::ValidateCommand;
pub(crate) use wrap::{TASK as WRAP_TASK, WrapCommand};
