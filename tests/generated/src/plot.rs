//! Who speaks when; the same for all formats.

use crate::scribe::Scribe;

/// How much of a step's calls is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    All,
    /// The conversation ends here. Where each output is a message of its own, some are there.
    NotAll,
}

/// What a format can say. Each method adds one or more messages, with which all rules hold.
pub(crate) trait Format<'c, 'b> {
    fn scribe(&mut self) -> &mut Scribe<'c, 'b>;

    /// What stands before the first user message.
    fn opening(&mut self, messages: &mut Vec<String>);

    fn user(&mut self, messages: &mut Vec<String>);

    /// A response without calls that the client has to answer.
    fn answer(&mut self, messages: &mut Vec<String>);

    /// A response with calls, and their outputs.
    fn step(&mut self, answered: Answered, messages: &mut Vec<String>);

    /// The body before and behind the messages.
    fn body(&mut self) -> [String; 2];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Answer,
    User,
    Outputs,
    Pending,
}

/// The messages, and the body before and behind them.
pub(crate) fn play<'c, 'b: 'c>(
    mut format: impl Format<'c, 'b>,
    messages_about: usize,
) -> (Vec<String>, [String; 2]) {
    // This comes first: bytes that run out would make all conversations end the same way.
    let end = match format.scribe().below(4) {
        0 => End::Answer,
        1 => End::User,
        2 => End::Outputs,
        _ => End::Pending,
    };
    let body = format.body();
    let mut messages = Vec::new();
    format.opening(&mut messages);
    loop {
        let steps = turn(&mut format, messages_about, &mut messages);
        if messages.len() >= messages_about || format.scribe().choices.is_exhausted() {
            if end == End::User && steps > 0 {
                format.user(&mut messages);
            }
            break;
        }
        // A user can interrupt, too.
        if !format.scribe().one_in(8) {
            format.answer(&mut messages);
        }
    }
    match end {
        End::Answer => format.answer(&mut messages),
        End::User => {}
        End::Outputs => format.step(Answered::All, &mut messages),
        End::Pending => format.step(Answered::NotAll, &mut messages),
    }
    (messages, body)
}

/// What the user says and the agent does. Returns how many steps that were.
fn turn<'c, 'b: 'c>(
    format: &mut impl Format<'c, 'b>,
    messages_about: usize,
    messages: &mut Vec<String>,
) -> usize {
    format.user(messages);
    while format.scribe().one_in(6) {
        format.user(messages);
    }
    let steps = if format.scribe().one_in(6) {
        format.scribe().below(30)
    } else {
        format.scribe().below(4)
    };
    for step in 0..steps {
        if messages.len() >= messages_about {
            return step;
        }
        format.step(Answered::All, messages);
    }
    steps
}
