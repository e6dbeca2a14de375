//! What the strategies of the gallery share.
//!
//! Each of them follows the rule of another project, with its defaults. A rule knows nothing of baler's contract: it
//! drops protected units, ends over the budget, or writes a placeholder that is longer than what it replaces. So a
//! strategy writes down what the rule says in a [`Draft`], and [`Draft::report`] makes a valid plan of it: protected
//! units stay, and the oldest other units are removed until the result fits.

mod draft;
mod events;
mod outputs;

pub use draft::{Draft, json_bytes};
pub use events::Events;
pub use outputs::Output;

use baler_strategy::{Decision, Situation, Trigger};

/// The answer of `should-compact` where the rule has a trigger of its own. `due` is its reason, if it is reached and
/// the rule would change something: without the second, a trigger that stays reached would ask again at each request.
/// Where the host needs a smaller conversation anyway, it decides.
pub fn decide(situation: &Situation, due: Option<String>, not_due: &str) -> Decision {
    let is_asked = matches!(situation.trigger, Trigger::Overflow | Trigger::Manual(_));
    match due {
        Some(reason) => Decision::Compact(reason),
        None if is_asked || situation.required || situation.used > situation.budget => {
            Decision::HostDecides
        }
        None => Decision::Wait(not_due.to_owned()),
    }
}
