//! When a strategy may be asked, in a program that serves many.

use std::any::Any;
use std::fmt;

/// A call that was let in. It leaves when this is dropped.
pub type Permit = Box<dyn Any + Send>;

/// Lets calls of a strategy in, or does not: so one that takes long leaves a program's turns to
/// others ([`crate::Strategy::with_gate`]).
pub trait Gate: fmt::Debug + Send + Sync {
    /// Lets a call in; `None` where there is no room for it now. Nothing waits here.
    fn enter(&self) -> Option<Permit>;
}
