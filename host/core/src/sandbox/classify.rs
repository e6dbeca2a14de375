//! Classifies wasmtime's errors as faults of the component or failures of the host, by their type and never
//! by the text of a message.

use std::io;
use std::str::Utf8Error;

use rustix::io::Errno;
use wasmtime::PoolConcurrencyLimitError;

use super::CallFailure;
use super::store::Broken;
use crate::error::HostError;
use crate::fault::{Fault, Quantity, Trap};
use crate::limits::{EngineLimits, Limits};

/// Classifies an error of a call. `has_run` says whether the component executed any code before the error.
pub(super) fn classify(
    error: wasmtime::Error,
    limits: &Limits,
    engine: &EngineLimits,
    has_run: bool,
) -> CallFailure {
    let host_failure = |error: wasmtime::Error| {
        CallFailure::Host(HostError::Sandbox {
            action: "cannot run the component",
            source: error.into(),
        })
    };
    if let Some(Broken(fault)) = error.downcast_ref() {
        return CallFailure::Fault(fault.clone());
    }
    if error.is::<PoolConcurrencyLimitError>() {
        return CallFailure::Host(HostError::Overloaded {
            limit: engine.concurrent_calls as usize,
        });
    }
    if error.is::<wasmtime::WasmtimeBug>() || error.is::<wasmtime::error::OutOfMemory>() {
        return host_failure(error);
    }
    if is_out_of_memory(&error) {
        return CallFailure::Host(HostError::NoMemory(error.into()));
    }
    // The machine lacks another resource, such as space for a file of memory.
    if error.is::<io::Error>() || error.is::<Errno>() {
        return host_failure(error);
    }
    #[cfg(feature = "wasi")]
    if let Some(fault) = super::wasi::fault(&error, limits) {
        return CallFailure::Fault(fault);
    }
    if let Some(trap) = error.downcast_ref() {
        return CallFailure::Fault(fault_of_trap(*trap, limits, engine));
    }
    // A component that has not run yet passed nothing to the host, so the host failed to start it.
    if !has_run {
        return host_failure(error);
    }
    // By these types the component model reports that a component passed an invalid value: text that is not
    // UTF-8, or an error that is only a message. The host's imports and the machine return only typed errors,
    // so none of these comes from the host.
    if error.is::<Utf8Error>() || error.is::<&'static str>() || error.is::<String>() {
        return CallFailure::Fault(Fault::OutputMalformed);
    }
    // The remaining error says that the component passed too many bytes. Its type is private to wasmtime, so
    // it is recognized by being none of the others.
    CallFailure::Fault(Fault::OutputTooLarge {
        what: Quantity::LiftedBytes,
        limit: limits.lifted_bytes as u64,
    })
}

/// Returns whether the system refused memory, usually because address space is missing.
fn is_out_of_memory(error: &wasmtime::Error) -> bool {
    let by_number = error.downcast_ref::<Errno>() == Some(&Errno::NOMEM);
    let by_kind = error.downcast_ref::<io::Error>();
    by_number || by_kind.is_some_and(|error| error.kind() == io::ErrorKind::OutOfMemory)
}

/// Returns the fault for a trap of the component.
fn fault_of_trap(trap: wasmtime::Trap, limits: &Limits, engine: &EngineLimits) -> Fault {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn classified(error: wasmtime::Error, has_run: bool) -> CallFailure {
        let engine = EngineLimits::default();
        classify(error, &Limits::default(), &engine, has_run)
    }

    #[test]
    fn missing_resources_of_the_machine_are_host_failures() {
        for has_run in [false, true] {
            let no_space = || io::Error::from(io::ErrorKind::FileTooLarge);
            for error in [
                wasmtime::Error::new(no_space()),
                wasmtime::Error::new(no_space()).context("cannot make an image of memory"),
                wasmtime::Error::new(Errno::NOSPC),
            ] {
                let message = format!("{error:#}");
                let failure = classified(error, has_run);
                let CallFailure::Host(failure @ HostError::Sandbox { .. }) = &failure else {
                    panic!("{failure:?}");
                };
                let text = crate::error::with_causes(&failure);
                assert!(text.ends_with(&message), "{text}");
            }
        }
    }

    #[test]
    fn missing_address_space_is_reported_with_what_uses_it() {
        for has_run in [false, true] {
            for error in [
                wasmtime::Error::new(io::Error::from(io::ErrorKind::OutOfMemory)),
                wasmtime::Error::new(Errno::NOMEM),
                wasmtime::Error::new(Errno::NOMEM).context(format!("mmap of {} bytes", 1)),
            ] {
                let message = format!("{error:#}");
                let failure = classified(error, has_run);
                let CallFailure::Host(failure @ HostError::NoMemory(_)) = &failure else {
                    panic!("{failure:?}");
                };
                let text = crate::error::with_causes(&failure);
                assert!(
                    text.contains("each memory of a component takes 4 GiB"),
                    "{text}"
                );
                assert!(text.ends_with(&message), "{text}");
            }
        }
    }

    #[test]
    fn plain_message_is_a_fault_only_after_the_component_has_run() {
        let message = || wasmtime::Error::msg("no room in the pool");
        let before = classified(message(), false);
        assert!(matches!(before, CallFailure::Host(_)), "{before:?}");
        let after = classified(message(), true);
        assert!(
            matches!(after, CallFailure::Fault(Fault::OutputMalformed)),
            "{after:?}"
        );
    }

    #[test]
    fn traps_and_limits_are_faults_even_before_the_component_has_run() {
        let trap = wasmtime::Error::new(wasmtime::Trap::UnreachableCodeReached);
        let limit = wasmtime::Error::new(Broken(Fault::Table {
            limit: 1,
            wanted: 2,
        }));
        for (error, code) in [(trap, "trap"), (limit, "table")] {
            let failure = classified(error, false);
            let CallFailure::Fault(fault) = &failure else {
                panic!("{failure:?}");
            };
            assert_eq!(fault.code(), code);
        }
    }
}
