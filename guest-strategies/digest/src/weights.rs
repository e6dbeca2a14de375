//! What a digest prefers, in one table.
//!
//! The unit is one name that the agent will use again: a line that is worth 0.5 is worth as much as a name
//! that is used again with a probability of one half. A line is worth its own weight and those of the names in
//! it that nothing before it has said (`coverage.rs`). The weights were found with `baler eval` on half of the
//! sets of docs/fidelity.md, and by reading digests; that page says what was tried.
//!
//! Changing a figure changes the bytes of results.

/// Declares a function for each weight. With the feature `fit`, environment variables can replace their values.
macro_rules! weights {
    ($($(#[$doc:meta])* $name:ident = $value:literal;)*) => {
        $(
            $(#[$doc])*
            #[cfg(not(feature = "fit"))]
            pub(crate) const fn $name() -> f64 {
                $value
            }

            $(#[$doc])*
            #[cfg(feature = "fit")]
            pub(crate) fn $name() -> f64 {
                static VALUE: std::sync::LazyLock<f64> = std::sync::LazyLock::new(|| {
                    let own = std::env::var(concat!("WEIGHT_", stringify!($name)));
                    own.ok().and_then(|own| own.parse().ok()).unwrap_or($value)
                });
                *VALUE
            }
        )*
    };
}

weights! {
    /// Names of a conversation that are expected to be used again: the weights of all names together.
    names_used_again = 35.0;

    /// The most that one name is worth.
    most_of_a_name = 9.0;

    /// Worth of a name in a mere list, as a share of that in a line about it: nothing says what it is.
    listed = 0.7;

    /// Most of a digest that names may take which stand with nothing that happened.
    bare_names = 0.1;

    /// The same for a name that is listed behind what was done with the file, or by the command, in which it was.
    attached = 1.0;

    /// Least worth of an entry per token. Anything below is filler, and the tokens are better left to the window.
    least = 0.0005;

    /// Of the first request, which mostly is the task.
    task_itself = 8.0;

    /// Of a later request: the newest, and how much of it the oldest has.
    request = 5.0;
    old_request = 0.5;

    /// Bytes from which on a request says something: `continue` does not.
    saying = 40.0;

    /// Of a longer form of a request or a conclusion, as a share of the worth of the form before it.
    rest = 0.4;

    /// Of a sentence of the user that is a rule.
    rule = 20.0;

    /// Of an action that changed something, of a command that may have, of a call, and of one that only read.
    change = 12.0;
    command = 0.8;
    call = 4.0;
    look = 0.45;

    /// How much of its weight the oldest action has that did something: what is done stays done.
    old_change = 0.7;

    /// Of a call or command that committed, and said what.
    committed = 3.0;

    /// Of a command that tests, builds or checks the code, and that printed how it went.
    check = 1.2;

    /// Of an action whose outcome is known, in addition.
    outcome = 0.4;

    /// Of a long text of the model.
    conclusion = 4.0;

    /// Of a long text in which the model wrote a command.
    thought_aloud = 0.67;

    /// Of a report of another agent.
    report = 15.0;

    /// Of a text with which the model ended its turn: it mostly sums up what was done.
    closing = 4.0;

    /// By which power of its length a text of more than a hundred bytes says more.
    longer = 0.3;

    /// Of what the model said along with a call.
    said = 4.5;

    /// How much of that is left if these calls only looked something up: then it mostly says what for.
    before_look = 0.2;

    /// How much of that of any text of the model is left in a conversation without tools.
    model_in_chat = 0.017;

    /// Of an error that surely is one, besides the last; and of the newest line that may be one.
    error = 2.0;

    /// How much of that is left if it was repaired, as far as later runs show.
    repaired = 0.1;
    newest_error = 4.0;

    /// Of an unfinished and of a finished entry of the to-do list.
    task = 4.0;
    finished_task = 2.0;

    /// Of values in an output.
    values = 0.1;

    /// Of a line of an earlier summary.
    earlier = 4.0;

    /// Of a statement of the user in a conversation without tools, times the probability that it is one; below the
    /// least it is small talk. The least probability of the first one, and how much of the worth is left if a later one corrects it.
    statement = 6.0;
    least_statement = 0.1;
    task_statement = 0.8;
    corrected = 0.2;

    /// How much of its weight the oldest entry has; requests have a factor of their own.
    old = 0.15;

    /// By how many parts of the conversation the weight has fallen to 1/e of the way to [`OLD`].
    ageing = 0.2;

    /// By which power of its occurrences a name is more likely to be used again.
    times = 0.4;
}
