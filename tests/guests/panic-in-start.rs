//! Traps in the function that runs when the component is instantiated.
//!
//! Instantiating a guest is running it: a trap there is a guest's fault like any other.

use hostile_guests::{Hostile, hostile};

struct PanicInStart;

impl Hostile for PanicInStart {}

#[unsafe(export_name = "_initialize")]
extern "C" fn initialize() {
    core::arch::wasm32::unreachable()
}

hostile!(PanicInStart);
