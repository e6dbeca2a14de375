//! From wasmtime's errors to faults, by type and never by the text of a message.

use std::str::Utf8Error;

use wasmtime::PoolConcurrencyLimitError;
use wasmtime::component::ResourceTableError;

use super::CallFailure;
use super::store::Broken;
use crate::fault::{Fault, HostError, Quantity, Trap};
use crate::limits::{EngineLimits, Limits};

pub(super) fn classify(
    error: &wasmtime::Error,
    limits: &Limits,
    engine: &EngineLimits,
) -> CallFailure {
    if let Some(Broken(fault)) = error.downcast_ref() {
        return CallFailure::Fault(fault.clone());
    }
    if error.is::<PoolConcurrencyLimitError>() {
        return CallFailure::Host(HostError::Overloaded {
            limit: engine.concurrent_calls as usize,
        });
    }
    if error.is::<wasmtime::WasmtimeBug>() || error.is::<wasmtime::error::OutOfMemory>() {
        return CallFailure::Host(HostError::Sandbox {
            what: format!("{error:#}"),
        });
    }
    if let Some(trap) = error.downcast_ref() {
        return CallFailure::Fault(of_trap(*trap, limits, engine));
    }
    // What is left is how the component model says that a guest handed over something wrong:
    // a text that is not UTF-8, a stranger's handle, or an error that is only a message. Our
    // own imports return typed errors alone, so none of these is ours.
    if error.is::<Utf8Error>()
        || error.is::<ResourceTableError>()
        || error.is::<&'static str>()
        || error.is::<String>()
    {
        return CallFailure::Fault(Fault::OutputMalformed);
    }
    // One error is neither: that the bytes which a call may hand over ran out. Its type is
    // private to wasmtime, so it is known by being none of the others.
    CallFailure::Fault(Fault::OutputTooLarge {
        what: Quantity::LiftedBytes,
        limit: limits.lifted_bytes as u64,
    })
}

fn of_trap(trap: wasmtime::Trap, limits: &Limits, engine: &EngineLimits) -> Fault {
    use wasmtime::Trap as T;
    let trap = match trap {
        T::OutOfFuel => return Fault::OutOfFuel { limit: limits.fuel },
        T::Interrupt => return Fault::timeout(limits.time),
        T::StackOverflow => {
            return Fault::Stack {
                limit: engine.stack as u64,
            };
        }
        T::UnreachableCodeReached => Trap::Unreachable,
        T::MemoryOutOfBounds | T::HeapMisaligned => Trap::MemoryOutOfBounds,
        T::TableOutOfBounds | T::IndirectCallToNull | T::BadSignature => Trap::Table,
        T::IntegerOverflow | T::IntegerDivisionByZero | T::BadConversionToInteger => {
            Trap::Arithmetic
        }
        T::CannotEnterComponent | T::CannotLeaveComponent => Trap::ComponentModel,
        _ => Trap::Other,
    };
    Fault::Trap { trap }
}
