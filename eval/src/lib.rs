//! Measures what compaction strategies keep that is needed later, without asking a model.
//!
//! A recorded conversation is cut; a strategy compacts what stood before the cut; and what
//! really happened behind it tells what would have been needed. *Recall* is the share of names
//! (paths, symbols, ids, numbers) that the model used again behind the cut, had from before
//! it, and would still find. Where a set asks questions and names the messages that hold the
//! answers, it also tells what of these is left. Beside each strategy stand baselines of equal
//! size.
//!
//! Sizes are characters of content: text, thinking, names and arguments of calls, outputs; a
//! picture is 4,800. Instructions and the system prompt stay whatever is done and do not count.

mod baselines;
mod bounded;
mod cases;
pub mod corpus;
mod entities;
mod evidence;
mod measure;
mod reading;
mod options;
mod normalised;
mod run;
mod search;
mod statistics;
mod table;
mod unseen;

pub use baselines::Baseline;
pub use entities::Kind;
pub use measure::Measured;
pub use options::Options;
pub use run::{Evaluation, Measuring, Of, Result, Resumed, Row};
pub use statistics::{Interval, Summary};
pub use table::{json, markdown};
