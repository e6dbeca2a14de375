//! The subcommands, one in each file.

mod compact;
mod introspect;
mod should_compact;
mod strategies;
mod validate;

pub(crate) use compact::CompactCommand;
pub(crate) use introspect::IntrospectCommand;
pub(crate) use should_compact::ShouldCompactCommand;
pub(crate) use strategies::StrategiesCommand;
pub(crate) use validate::ValidateCommand;
