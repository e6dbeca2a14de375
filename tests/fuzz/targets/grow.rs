//! A conversation that grows message by message, with compactions by changing strategies in
//! between, is at any time the one that would be read from its document; what is no message is
//! refused and changes nothing; and snapshots stay what they were.

#![no_main]

use baler_fuzz::{broken, budget, check, check_compaction, compact, host_of, made, strategy};
use baler_generated::{Choices, Generated};
use baler_host::{Conversation, Host, Request, conversation::rules::Violation};
use libfuzzer_sys::fuzz_target;

/// Compactions and garbage that come in between; the last places of the list are far behind.
const EVENTS: usize = 8;

fuzz_target!(|data: &[u8]| {
    let choices = &mut Choices::from_bytes(data);
    let start = choices.below(64);
    let events: Vec<Event> = (0..EVENTS).map(|_| Event::new(choices)).collect();
    let made = made(choices);
    let host = host_of(made.kind);
    let start = start % (made.messages.len() + 1);
    let mut grown = host.read(made.cut(start)).expect("a cut one is one");
    let mut snapshots = Vec::new();
    let mut is_pure = true;
    for (index, message) in made.messages.iter().enumerate().skip(start) {
        grown.append(message).expect("a message of the format");
        assert_is_as_read(host, &grown);
        for event in events.iter().filter(|event| event.at == index) {
            snapshots.push((grown.clone(), grown.document().to_owned()));
            is_pure &= event.happen(host, &mut grown, &made, message);
        }
    }
    if is_pure {
        assert_eq!(
            broken(&grown),
            Vec::<&Violation>::new(),
            "broken at the end"
        );
    }
    for (snapshot, document) in &snapshots {
        assert_eq!(snapshot.document(), document, "a snapshot changed");
        assert_is_as_read(host, snapshot);
    }
});

/// Something that happens behind a message.
struct Event {
    at: usize,
    strategy: baler_host::Strategy,
    budget: baler_host::Budget,
    /// Garbage to append, else a compaction.
    garbage: Option<(usize, usize)>,
}

impl Event {
    fn new(choices: &mut Choices<'_>) -> Self {
        Self {
            at: choices.below(48),
            strategy: strategy(choices),
            budget: budget(choices),
            garbage: choices
                .one_in(3)
                .then(|| (choices.below(16), choices.below(1024))),
        }
    }

    /// False where it left a message that may break a rule.
    fn happen(
        &self,
        host: &Host,
        grown: &mut Conversation,
        made: &Generated,
        message: &str,
    ) -> bool {
        if let Some((garbage, number)) = self.garbage {
            return append_garbage(grown, garbage, number, made, message);
        }
        let request = Request::default().with_budget(self.budget);
        let compaction = compact(host, grown, &self.strategy, &request);
        check_compaction(grown, &compaction, &request);
        let whole = host.read(grown.document()).expect("it is one");
        let of_whole = compact(host, &whole, &self.strategy, &request);
        assert_eq!(compaction.document(), of_whole.document(), "grown or read");
        *grown = compaction.conversation().clone();
        assert_is_as_read(host, grown);
        true
    }
}

/// Appends what is no message, or one that does not belong there. True where it was refused.
fn append_garbage(
    grown: &mut Conversation,
    garbage: usize,
    number: usize,
    made: &Generated,
    message: &str,
) -> bool {
    let before = grown.clone();
    let document = grown.document().to_owned();
    let cut = (number % message.len().max(1)..)
        .find(|at| message.is_char_boundary(*at))
        .unwrap_or_default();
    let other = &made.messages[number % made.messages.len()];
    let (piece, is_message) = match garbage {
        0 => (String::new(), false),
        1 => ("null".to_owned(), false),
        2 => (format!("[{message}]"), false),
        3 => (format!("{message},{message}"), false),
        4 => (format!("{message}]}}"), false),
        5 => (
            message.replacen('{', "{\"role\":\"user\",\"role\":\"user\",", 1),
            false,
        ),
        6 => ("\"text\"".to_owned(), false),
        7 => ("{}".to_owned(), true),
        8 => (r#"{"role":"pirate","content":"Arr"}"#.to_owned(), true),
        9 => (r#"{"role":"user","content":7,"parts":7}"#.to_owned(), true),
        10 => (other.clone(), true),
        11 => (
            r#"{"type":7,"role":"user","content":[{"type":7}]}"#.to_owned(),
            true,
        ),
        // A message that ends too early; all of it, where the cut is at its end.
        _ => (message[..cut].to_owned(), cut == message.len()),
    };
    if grown.append(&piece).is_ok() {
        assert!(is_message, "taken for a message: {piece}");
        return false;
    }
    assert_eq!(grown.document(), document, "refused, but there");
    assert_eq!(grown.units(), before.units());
    assert_eq!(grown.tokens(), before.tokens());
    true
}

fn assert_is_as_read(host: &Host, grown: &Conversation) {
    let whole = host.read(grown.document()).expect("what grew can be read");
    check(grown);
    assert_eq!(grown.units(), whole.units());
    assert_eq!(grown.tokens(), whole.tokens());
    assert_eq!(grown.overhead(), whole.overhead());
    assert_eq!(grown.media(), whole.media());
    assert_eq!(grown.bytes(), whole.bytes());
    assert_eq!(grown.violations(), whole.violations());
}
