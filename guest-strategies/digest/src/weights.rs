//! What a digest prefers, in one table.
//!
//! The unit is one name that the agent will use again: a line that is worth 0.5 is worth as much as a name
//! that is used again with a probability of one half. A line is worth its own weight and those of the names in
//! it that nothing before it has said (`coverage.rs`). The weights were found with `baler eval` on half of the
//! sets of docs/fidelity.md, and by reading digests; that page says what was tried.
//!
//! Changing a figure changes the bytes of results.

/// Names of a conversation that are expected to be used again: the weights of all names together.
pub(crate) const NAMES_USED_AGAIN: f64 = 140.0;

/// The most that one name is worth.
pub(crate) const MOST_OF_A_NAME: f64 = 3.0;

/// Worth of a name in a mere list, as a share of that in a line about it: nothing says what it is.
pub(crate) const LISTED: f64 = 0.7;

/// The same for a name that is listed behind what was done with the file, or by the command, in which it was.
pub(crate) const ATTACHED: f64 = 1.0;

/// Least worth of an entry per token. Anything below is filler, and the tokens are better left to the window.
pub(crate) const LEAST: f64 = 0.000_5;

/// Of the first request, which mostly is the task.
pub(crate) const TASK_ITSELF: f64 = 8.0;

/// Of a later request: the newest, and how much of it the oldest has.
pub(crate) const REQUEST: f64 = 5.0;
pub(crate) const OLD_REQUEST: f64 = 0.5;

/// Bytes from which on a request says something: `continue` does not.
pub(crate) const SAYING: f64 = 40.0;

/// Of a longer form of a request or a conclusion, as a share of the worth of the form before it.
pub(crate) const REST: f64 = 0.4;

/// Of a sentence of the user that is a rule.
pub(crate) const RULE: f64 = 20.0;

/// Of an action that changed something, of a command that may have, of a call, and of one that only read.
pub(crate) const CHANGE: f64 = 4.0;
pub(crate) const COMMAND: f64 = 0.5;
pub(crate) const CALL: f64 = 0.6;
pub(crate) const LOOK: f64 = 0.15;

/// How much of its weight the oldest file that was changed has: what is there now stays there.
pub(crate) const OLD_CHANGE: f64 = 0.7;

/// Of a call or command that committed, and said what.
pub(crate) const COMMITTED: f64 = 3.0;

/// Of a command that tests, builds or checks the code, and that printed how it went.
pub(crate) const CHECK: f64 = 2.0;

/// Of an action whose outcome is known, in addition.
pub(crate) const OUTCOME: f64 = 0.4;

/// Of an entry of an earlier digest about what was done.
pub(crate) const DONE: f64 = 0.8;

/// Of a long text of the model.
pub(crate) const CONCLUSION: f64 = 3.0;

/// Of a long text in which the model wrote a command.
pub(crate) const THOUGHT_ALOUD: f64 = 2.0;

/// Of a report of another agent.
pub(crate) const REPORT: f64 = 5.0;

/// Of a text with which the model ended its turn: it mostly sums up what was done.
pub(crate) const CLOSING: f64 = 5.0;

/// Bytes from which on a conclusion is worth more, as many times as it is longer; and the most times.
pub(crate) const LONG: f64 = 1_500.0;
pub(crate) const LONGER: f64 = 2.5;

/// Of what the model said along with a call.
pub(crate) const SAID: f64 = 1.5;

/// How much of that of any text of the model is left in a conversation without tools.
pub(crate) const MODEL_IN_CHAT: f64 = 0.05;

/// Of an error that surely is one, besides the last; and of the newest line that may be one.
pub(crate) const ERROR: f64 = 0.7;
pub(crate) const NEWEST_ERROR: f64 = 4.0;

/// Of an unfinished and of a finished entry of the to-do list.
pub(crate) const TASK: f64 = 1.5;
pub(crate) const FINISHED_TASK: f64 = 0.4;

/// Of values in an output.
pub(crate) const VALUES: f64 = 0.1;

/// Of a line of an earlier summary.
pub(crate) const EARLIER: f64 = 1.0;

/// Of a statement of the user in a conversation without tools, times the probability that it is one; below the
/// least it is small talk. The least probability of the first one, and how much of the worth is left if a later one corrects it.
pub(crate) const STATEMENT: f64 = 6.0;
pub(crate) const LEAST_STATEMENT: f64 = 0.1;
pub(crate) const TASK_STATEMENT: f64 = 0.8;
pub(crate) const CORRECTED: f64 = 0.2;

/// How much of its weight the oldest entry has; requests have a factor of their own.
pub(crate) const OLD: f64 = 0.25;

/// By how many parts of the conversation the weight has fallen to 1/e of the way to [`OLD`].
pub(crate) const AGEING: f64 = 0.2;

/// By which power of its occurrences a name is more likely to be used again.
pub(crate) const TIMES: f64 = 0.4;
