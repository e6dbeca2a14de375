//! What all strategies that summarise with a model share.
//!
//! [`summarize`] sends the model a transcript that fits its window, with the texts of earlier summaries, and
//! accepts the answer only if it is a summary.

mod summarize;
mod question;
mod transcript;
mod excerpt;
mod answer;
mod claims;
mod shorten;
mod earlier_summaries;
mod placement;
pub mod testing;

pub use answer::without_frame;
pub use claims::{Checked, Read};
pub use earlier_summaries::earlier_summaries;
pub use placement::{UnitOutcome, max_summary_tokens, reserve, summary_position};
pub use question::{Form, Question, wishes};
pub use summarize::{
    LIMITS, METRICS, ModelUsage, Summary, summarize, summarize_with_usage, with_messages_between,
};
pub use transcript::has_users_words;
