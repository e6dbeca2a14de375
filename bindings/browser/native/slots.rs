//! Texts that JavaScript and Rust hand to one another.

use baler_embedding::{Error, Kind};
use serde_json::Value;

/// How many slots there are.
const SLOTS: usize = 2;

#[derive(Default)]
pub(crate) struct Slots([Vec<u8>; SLOTS]);

impl Slots {
    pub(crate) fn reserve(&mut self, slot: u32, length: usize) -> *mut u8 {
        let bytes = self.slot(slot);
        bytes.clear();
        bytes.resize(length, 0);
        bytes.as_mut_ptr()
    }

    pub(crate) fn get(&self, slot: u32) -> &[u8] {
        self.0.get(slot as usize).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn set(&mut self, slot: u32, bytes: Vec<u8>) {
        *self.slot(slot) = bytes;
    }

    pub(crate) fn take(&mut self, slot: u32) -> Vec<u8> {
        std::mem::take(self.slot(slot))
    }

    /// The text of a slot, which JavaScript wrote as UTF-8.
    pub(crate) fn text(&mut self, slot: u32) -> String {
        String::from_utf8(self.take(slot)).unwrap_or_default()
    }

    /// The JSON of slot 0.
    pub(crate) fn json(&self) -> Result<Value, Error> {
        serde_json::from_slice(self.get(0))
            .map_err(|error| Error::new(Kind::Option, format!("expected options as JSON: {error}")))
    }

    fn slot(&mut self, slot: u32) -> &mut Vec<u8> {
        let last = SLOTS - 1;
        &mut self.0[(slot as usize).min(last)]
    }
}
