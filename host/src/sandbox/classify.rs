//! From wasmtime's errors to faults, by type and never by the text of a message.

use std::io;
use std::str::Utf8Error;

use rustix::io::Errno;
use wasmtime::PoolConcurrencyLimitError;

use super::CallFailure;
use super::store::Broken;
use crate::error::HostError;
use crate::fault::{Fault, Quantity, Trap};
use crate::limits::{EngineLimits, Limits};

/// `has_run` is that the guest executed something before the error.
pub(super) fn classify(
    error: wasmtime::Error,
    limits: &Limits,
    engine: &EngineLimits,
    has_run: bool,
) -> CallFailure {
    let ours = |error: wasmtime::Error| {
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
        return ours(error);
    }
    if is_without_memory(&error) {
        return CallFailure::Host(HostError::NoMemory(error.into()));
    }
    // The machine gives no more of something else, such as room for a file of memory.
    if error.is::<io::Error>() || error.is::<Errno>() {
        return ours(error);
    }
    if let Some(trap) = error.downcast_ref() {
        return CallFailure::Fault(of_trap(*trap, limits, engine));
    }
    // A guest that has not run yet handed nothing over: what is left is that the host could not
    // make room for it.
    if !has_run {
        return ours(error);
    }
    // What is left is how the component model says that a guest handed over something wrong:
    // a text that is not UTF-8, or an error that is only a message. Our
    // own imports return typed errors alone, and so does the machine, so none of these is ours.
    if error.is::<Utf8Error>() || error.is::<&'static str>() || error.is::<String>() {
        return CallFailure::Fault(Fault::OutputMalformed);
    }
    // One error is neither: that the bytes which a call may hand over ran out. Its type is
    // private to wasmtime, so it is known by being none of the others.
    CallFailure::Fault(Fault::OutputTooLarge {
        what: Quantity::LiftedBytes,
        limit: limits.lifted_bytes as u64,
    })
}

/// What is most often missing where the system gives no memory: more of it seldom is.
fn is_without_memory(error: &wasmtime::Error) -> bool {
    let by_number = error.downcast_ref::<Errno>() == Some(&Errno::NOMEM);
    let by_kind = error.downcast_ref::<io::Error>();
    by_number || by_kind.is_some_and(|error| error.kind() == io::ErrorKind::OutOfMemory)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn classified(error: wasmtime::Error, has_run: bool) -> CallFailure {
        let engine = EngineLimits::default();
        classify(error, &Limits::default(), &engine, has_run)
    }

    #[test]
    fn what_the_machine_refuses_is_never_the_guests() {
        for has_run in [false, true] {
            let no_room = || io::Error::from(io::ErrorKind::FileTooLarge);
            for error in [
                wasmtime::Error::new(no_room()),
                wasmtime::Error::new(no_room()).context("cannot make an image of memory"),
                wasmtime::Error::new(Errno::NOSPC),
            ] {
                let told = format!("{error:#}");
                let failure = classified(error, has_run);
                let CallFailure::Host(failure @ HostError::Sandbox { .. }) = &failure else {
                    panic!("{failure:?}");
                };
                let text = failure.with_causes();
                assert!(text.ends_with(&told), "{text}");
            }
        }
    }

    #[test]
    fn where_there_is_no_address_space_it_is_told_what_takes_it() {
        for has_run in [false, true] {
            for error in [
                wasmtime::Error::new(io::Error::from(io::ErrorKind::OutOfMemory)),
                wasmtime::Error::new(Errno::NOMEM),
                wasmtime::Error::new(Errno::NOMEM).context(format!("mmap of {} bytes", 1)),
            ] {
                let told = format!("{error:#}");
                let failure = classified(error, has_run);
                let CallFailure::Host(failure @ HostError::NoMemory(_)) = &failure else {
                    panic!("{failure:?}");
                };
                let text = failure.with_causes();
                assert!(
                    text.contains("each memory of a component takes 4 GiB"),
                    "{text}"
                );
                assert!(text.ends_with(&told), "{text}");
            }
        }
    }

    #[test]
    fn a_message_alone_is_the_guests_only_once_it_has_run() {
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
    fn traps_and_limits_are_the_guests_from_the_start() {
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
