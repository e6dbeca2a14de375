//! I9 for spans and events: whatever they record is caught here. Alone in its process, because
//! tracing remembers for all threads together what anybody wants to hear of.

#![allow(
    clippy::expect_used,
    reason = "helpers of tests end the test where something is not as it should be"
)]

#[path = "end-to-end/support.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod support;

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use baler_host::Strategy;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use support::{chat, host_with, read, share};

/// Keeps the name and every field of all spans and events.
#[derive(Clone, Default)]
struct Caught(Arc<Mutex<String>>);

impl Visit for Caught {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = self.0.lock().expect("no test panics while it writes");
        text.push_str(&format!("{}={value:?} ", field.name()));
    }
}

impl Subscriber for Caught {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("baler")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.clone().record_debug_name(span.metadata());
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Caught {
    fn record_debug_name(&self, metadata: &Metadata<'_>) {
        let mut text = self.0.lock().expect("no test panics while it writes");
        text.push_str(&format!("span {} ", metadata.name()));
    }
}

#[test]
fn i9_spans_and_events_hold_no_text_of_the_conversation() {
    let secret = "xyzzy-4711";
    let document = chat().replace("tariff", secret).replace("lexer", secret);
    let caught = Caught::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    tracing::subscriber::with_default(caught.clone(), || {
        runtime.block_on(async {
            let host = host_with(|builder| builder);
            let conversation = read(&host, &document);
            let mut chain = Vec::new();
            for guest in [
                baler_hostile_guests::LEAK_THROUGH_WORDS,
                baler_hostile_guests::LEAK_THROUGH_CODES,
                baler_hostile_guests::PANIC,
            ] {
                chain.push(host.load(guest.name, guest.wasm).await.expect("loads"));
            }
            chain.push(Strategy::digest());
            let request = share(0.3)
                .with_required(true)
                .with_free_text_in_receipt(true);
            host.compact(&conversation, &chain, &request)
                .await
                .expect("no archive that could fail");
        });
    });
    let text = caught.0.lock().expect("no test panics while it writes");
    assert!(
        text.contains("span strategy.compact strategy=\"leak-through-words\""),
        "{text}"
    );
    assert!(text.contains("result=\"failure\""), "{text}");
    assert!(!text.contains(secret), "{text}");
}
