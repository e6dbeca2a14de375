//! What strategies that summarise have in common.
//!
//! [`summarize`] shows the model a transcript of units that fits its window, hands it what
//! earlier summaries say, and takes its answer only where it is a summary.

mod summarize;

mod question;

mod transcript;

mod excerpt;

mod answer;

mod shorten;

mod earlier;

mod place;

pub mod testing;

pub use answer::unwrapped;
pub use earlier::so_far;
pub use place::{Place, after_the_dropped, room, set_aside};
pub use question::{Form, Question, wishes};
pub use summarize::{LIMITS, METRICS, Spent, Summary, attempt, summarize};
pub use transcript::has_users_words;
