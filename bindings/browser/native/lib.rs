//! The host for browsers: reads, checks, applies and writes in WebAssembly, while JavaScript runs the components.
//!
//! JavaScript writes texts into slots ([`reserve`]), calls a function, and reads what it made from the slots
//! ([`made`], [`made_length`]). Slot 0 holds JSON, slot 1 a document, an answer or another long text. A compaction that
//! asks a component stops with a question ([`job::Job`]); JavaScript runs the component, which may ask for the
//! conversation meanwhile ([`history`]), and goes on with the answer.

#![expect(
    unsafe_code,
    reason = "functions that JavaScript calls by name, and that read what it wrote"
)]

mod engine;
mod job;
mod slots;

use std::cell::RefCell;

use baler_embedding::Error;
use baler_host::archive::Archive;
use serde_json::{Value, json};

use crate::job::Job;
use crate::slots::Slots;

thread_local! {
    static STATE: RefCell<State> = RefCell::new(State::default());
}

#[derive(Default)]
struct State {
    slots: Slots,
    job: Option<Job>,
}

/// Makes room for `length` bytes in a slot; returns where.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(slot: u32, length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| state.slots.reserve(slot, length))
}

/// Where what a slot holds begins.
#[unsafe(no_mangle)]
pub extern "C" fn made(slot: u32) -> *const u8 {
    STATE.with_borrow(|state| state.slots.get(slot).as_ptr())
}

/// How many bytes a slot holds.
#[unsafe(no_mangle)]
pub extern "C" fn made_length(slot: u32) -> usize {
    STATE.with_borrow(|state| state.slots.get(slot).len())
}

/// Reads the document in slot 1; `format`, `used`, `tokenizer` in slot 0. Writes what it is to slot 0.
#[unsafe(no_mangle)]
pub extern "C" fn read() {
    answered(|state| {
        let options = state.slots.json()?;
        let host = job::host_of(&options, Archive::in_memory())?;
        let conversation = job::read(&host, &options, state.slots.take(1))?;
        Ok(json!({
            "format": conversation.format(),
            "tokens": conversation.tokens(),
            "overhead": conversation.overhead(),
            "messageCount": conversation.message_count(),
            "units": conversation.units(),
            "validation": conversation.violations(),
        }))
    });
}

/// Starts to compact the document in slot 1, with `options`, `chain`, `format`, `used`, `tokenizer` in slot 0. Writes an event
/// to slot 0.
#[unsafe(no_mangle)]
pub extern "C" fn start() {
    answered(|state| {
        let options = state.slots.json()?;
        let document = state.slots.take(1);
        let job = state.job.insert(Job::start(&options, document)?);
        job.go_on(&mut state.slots)
    });
}

/// Goes on with the answer of a component in slot 1; `trapped` is not 0 if it has none. Writes an event to slot 0.
#[unsafe(no_mangle)]
pub extern "C" fn answer(trapped: u32) {
    answered(|state| {
        let answer = state.slots.text(1);
        let job = state.job.as_mut().ok_or_else(job::none)?;
        job.answer((trapped == 0).then_some(answer));
        job.go_on(&mut state.slots)
    });
}

/// Writes to slot 1 what a component asks of the conversation: 0 `units`, 1 `read`, 2 `reference`, 3 `tools`. Returns
/// whether there is an answer.
#[unsafe(no_mangle)]
pub extern "C" fn history(question: u32, first: u32, count: u32) -> u32 {
    STATE.with_borrow_mut(|state| {
        let Some(call) = state.job.as_ref().and_then(Job::question) else {
            return 0;
        };
        let told = match question {
            0 => Some(call.units()),
            1 => Some(call.read(first, count)),
            2 => call.reference(first),
            _ => Some(call.tools()),
        };
        let has_answer = told.is_some();
        state.slots.set(1, told.unwrap_or_default().into_bytes());
        u32::from(has_answer)
    })
}

/// Counts the tokens of the text in slot 1, for a component.
#[unsafe(no_mangle)]
pub extern "C" fn count() -> u32 {
    STATE.with_borrow_mut(|state| {
        let text = state.slots.text(1);
        let call = state.job.as_ref().and_then(Job::question);
        call.map_or(0, |call| call.count(&text))
    })
}

/// Restores the document before the last compaction, in slot 1.
#[unsafe(no_mangle)]
pub extern "C" fn undo() {
    answered(|state| {
        let job = state.job.as_ref().ok_or_else(job::none)?;
        let document = job.undo()?;
        state.slots.set(1, document.into_bytes());
        Ok(Value::Null)
    });
}

/// Runs `work`, and writes to slot 0 what it made: `{"made": …}` or `{"error": {kind, option, message}}`.
fn answered(work: impl FnOnce(&mut State) -> Result<Value, Error>) {
    STATE.with_borrow_mut(|state| {
        let told = match work(state) {
            Ok(made) => json!({"made": made}),
            Err(error) => json!({"error": {
                "kind": error.kind.class(),
                "option": error.option,
                "message": error.message,
            }}),
        };
        state.slots.set(0, told.to_string().into_bytes());
    });
}
