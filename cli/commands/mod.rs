//! The subcommands, one in each file.

mod compact;
#[cfg(feature = "eval")]
mod eval;
mod introspect;
#[cfg(feature = "http")]
mod serve;
mod should_compact;
mod strategies;
mod validate;

pub(crate) use compact::CompactCommand;
#[cfg(feature = "eval")]
pub(crate) use eval::EvalCommand;
pub(crate) use introspect::IntrospectCommand;
#[cfg(feature = "http")]
pub(crate) use serve::ServeCommand;
pub(crate) use should_compact::ShouldCompactCommand;
pub(crate) use strategies::StrategiesCommand;
pub(crate) use validate::ValidateCommand;
