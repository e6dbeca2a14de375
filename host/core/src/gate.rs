//! Admission control for calls of strategies, for programs that serve many clients.

use std::any::Any;
use std::fmt;

/// Permit of one call. The call occupies its place until the permit is dropped.
pub type Permit = Box<dyn Any + Send>;

/// Admits or refuses calls of a strategy ([`crate::Strategy::with_gate`]).
///
/// A program can limit with it how many slow calls run at once.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use baler_host::Strategy;
/// use baler_host::strategy::{Gate, Permit};
///
/// /// Admits one call at a time.
/// #[derive(Debug, Default)]
/// struct OneAtATime(Mutex<Arc<()>>);
/// impl Gate for OneAtATime {
///     fn enter(&self) -> Option<Permit> {
///         let place = self.0.lock().ok()?;
///         (Arc::strong_count(&place) == 1).then(|| Box::new(Arc::clone(&place)) as Permit)
///     }
/// }
/// let gate = Arc::new(OneAtATime::default());
/// let strategy = Strategy::digest().with_gate(gate.clone());
/// let first = gate.enter();
/// assert!(first.is_some() && gate.enter().is_none());
/// drop(first);
/// assert!(gate.enter().is_some());
/// ```
pub trait Gate: fmt::Debug + Send + Sync {
    /// Admits a call, or returns `None` if it may not run now. Must return at once: nothing may wait here.
    fn enter(&self) -> Option<Permit>;
}
