//! Values that a forked process makes anew.

use std::process;
use std::sync::OnceLock;

/// A value of this process. After a fork the child has none of its parent's threads, so what relies on
/// threads (a runtime, an engine with its clock) is made again there; the parent's stays unused.
#[derive(Debug)]
pub(crate) struct PerProcess<T> {
    process: OnceLock<u32>,
    value: OnceLock<T>,
    /// The same for a child of this process.
    child: OnceLock<Box<Self>>,
}

impl<T> PerProcess<T> {
    /// Creates one without a value.
    pub(crate) const fn new() -> Self {
        Self {
            process: OnceLock::new(),
            value: OnceLock::new(),
            child: OnceLock::new(),
        }
    }

    /// Returns the value of this process; `make` makes it if there is none.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn get_or_make<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        let this = process::id();
        let mut own = self;
        while *own.process.get_or_init(|| this) != this {
            own = own.child.get_or_init(|| Box::new(Self::new()));
        }
        if let Some(value) = own.value.get() {
            return Ok(value);
        }
        // Two threads may both make one; one of the two is dropped.
        let made = make()?;
        Ok(own.value.get_or_init(|| made))
    }
}
