//! Measures how much strategies keep of what is needed later, without asking a model.
//!
//! A recorded conversation is cut, and a strategy compacts the part before the cut. The part after the cut
//! shows what was needed. *Recall*: of the names (paths, identifiers, ids, numbers) before the cut that the
//! model used again after it, the share that the result still contains. If a set has questions and names the
//! messages that hold the answers, the share of these messages and answers in the result is measured as well.
//! Baselines of equal size are measured for comparison.
//!
//! With [`Options::constraints`], a sentence in which the user says how to work is put into each conversation, to see
//! whether it is there word for word after each compaction.
//!
//! Sizes are characters of content: text, thinking, names and arguments of calls, and outputs. A picture
//! counts as 4,800. Instructions and the system prompt are never removed and do not count.

mod baselines;
mod bounded_file;
mod cases;
mod constraints;
mod context;
pub mod corpus;
mod evidence;
mod explain;
mod fingerprint;
mod measure;
mod message;
mod names;
mod needs;
mod options;
mod paths;
mod reader;
mod recent;
mod run;
mod search;
mod sent;
mod state;
mod statistics;
mod table;
mod threads;
mod transcript;
mod tune;
mod unseen;
mod verdict;
mod words;

pub use baselines::Baseline;
pub use constraints::{ConstraintKind, ConstraintPlace, ConstraintRow};
pub use explain::explain;
pub use fingerprint::RunFingerprint;
pub use measure::Measurement;
pub use names::NameKind;
pub use options::Options;
pub use reader::{OpenSheet, ReaderFolder, ReaderOptions, ReaderScore};
pub use run::{ConversationResult, Evaluation, ResumedRun, Row, SkipReason};
pub use sent::{RecordedRequest, Sent, session};
pub use statistics::Interval;
pub use table::{json, markdown};
pub use tune::{Candidate, Goal, Score, Scored, Space, TuneOptions, Tuned, configs, tune};
