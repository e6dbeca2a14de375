//! The corpus, and what is asked about each of its conversations.

use std::sync::Arc;

use baler_generated::{Choices, Generated, Kind, conversation, session};
use baler_host::request::{Policy, Trigger};
use baler_host::{Budget, Conversation, Pins, Request};

use crate::odd;

/// About how many messages the generated conversations have.
const LENGTHS: [usize; 6] = [2, 5, 12, 30, 70, 150];

/// A conversation.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// Its name, fit for a file.
    pub(crate) name: String,
    /// The request body.
    pub(crate) document: Arc<str>,
    /// How it came about, so that it can be cut and continued; `None` for an odd one.
    pub(crate) generated: Option<Generated>,
}

/// Returns the corpus: in each wire format the odd sessions, and generated ones of several lengths.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for (place, kind) in Kind::ALL.into_iter().enumerate() {
        for (number, length) in LENGTHS.into_iter().enumerate() {
            let seed = (number * Kind::ALL.len() + place) as u64;
            let generated = conversation(kind, length, &mut Choices::from_seed(seed));
            cases.push(Case {
                name: format!("{}-{length}", kind.name()),
                document: generated.document().into(),
                generated: Some(generated),
            });
        }
        for (name, events) in odd::sessions() {
            cases.push(Case {
                name: format!("{}-{name}", kind.name()),
                document: session::body(kind, &events).to_string().into(),
                generated: None,
            });
        }
    }
    cases
}

/// What is asked about a conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Situation {
    /// What is asked, in words.
    pub(crate) words: &'static str,
    /// The options of `baler compact` that ask the same; `None` if there are none.
    pub(crate) options: Option<&'static str>,
    pub(crate) request: fn(&Conversation) -> Request,
}

/// Everything that is asked about each conversation.
pub(crate) const SITUATIONS: [Situation; 14] = [
    Situation {
        words: "as small as possible",
        options: Some("--budget 1"),
        request: |_| Request::new(Budget::Tokens(1)),
    },
    Situation {
        words: "a tenth",
        options: Some("--budget 10%"),
        request: |_| share(0.1),
    },
    Situation {
        words: "half",
        options: Some("--budget 50%"),
        request: |_| share(0.5),
    },
    Situation {
        words: "a little smaller",
        options: Some("--budget 95%"),
        request: |_| share(0.95),
    },
    Situation {
        words: "nothing pinned",
        options: Some("--budget 30% --pin none"),
        request: |_| share(0.3).with_pins(Pins::None),
    },
    Situation {
        words: "every fifth unit pinned",
        options: None,
        request: |conversation| {
            let units = (0..conversation.units().len()).step_by(5);
            share(0.5).with_pins(Pins::Units(units.collect()))
        },
    },
    Situation {
        words: "the last third arrived meanwhile",
        options: None,
        request: |conversation| {
            share(0.3).with_live_from(Some(conversation.message_count() * 2 / 3))
        },
    },
    Situation {
        words: "with instructions of a person",
        options: Some("--budget 30% --instructions 'keep the API design'"),
        request: |_| {
            share(0.3).with_trigger(Trigger::Manual(Some("keep the API design".to_owned())))
        },
    },
    Situation {
        words: "required after an overflow of a small window",
        options: Some("--budget 20% --trigger overflow --required --context-window 1000"),
        request: |_| {
            share(0.2)
                .with_trigger(Trigger::Overflow)
                .with_required(true)
                .with_context_window(1_000)
        },
    },
    Situation {
        words: "nothing may be rewritten",
        options: None,
        request: |_| {
            share(0.3).with_policy(
                Policy::default()
                    .with_rewrite_outputs(false)
                    .with_excerpts(false),
            )
        },
    },
    Situation {
        words: "everything may be rewritten, and the user's words removed",
        options: None,
        request: |_| {
            share(0.3).with_policy(
                Policy::default()
                    .with_rewrite_assistant(true)
                    .with_remove_media(true)
                    .with_user_percent(0),
            )
        },
    },
    Situation {
        words: "no pictures",
        options: Some("--budget 60% --max-media 0"),
        request: |_| {
            share(0.6)
                .with_max_media(0)
                .with_policy(Policy::default().with_remove_media(true))
        },
    },
    Situation {
        words: "few bytes",
        options: None,
        request: |conversation| share(0.9).with_max_bytes(conversation.bytes() / 3),
    },
    Situation {
        words: "with a context that it does not know",
        options: Some("--budget 40% --context '{\"turns\":{\"left\":-1},\"memory\":null}'"),
        request: |_| share(0.4).with_context(r#"{"turns":{"left":-1},"memory":null}"#.to_owned()),
    },
];

fn share(share: f64) -> Request {
    Request::new(Budget::Share(share))
}
