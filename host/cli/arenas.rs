//! How many places the system's allocator keeps memory in.
//!
//! That of glibc has up to eight for each core, and gives a thread one of them. What a thread gave
//! back stays in its place for others that use it, so a server, whose threads come and go, would keep
//! several times what it ever used at once.

/// Places that a command needs that works on one conversation. Each reserves 64 MiB of address space, and twice that while it is
/// made, which may be limited (`ulimit -v`).
const FEW: usize = 2;

/// Lets there be few places. Called before there are threads.
pub(crate) fn few() {
    at_most(FEW);
}

/// Lets there be one place for each core, as many as can be at work.
#[cfg(feature = "http")]
pub(crate) fn one_for_each_core() {
    at_most(std::thread::available_parallelism().map_or(1, usize::from));
}

/// Lets there be so many places, unless who runs the program said how many (`MALLOC_ARENA_MAX`).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn at_most(places: usize) {
    use std::ffi::c_int;

    /// From `malloc.h`.
    const M_ARENA_MAX: c_int = -8;

    // SAFETY: this is how glibc declares it. It takes two numbers, locks what it changes, and can be
    // called at any time.
    #[allow(
        unsafe_code,
        reason = "no crate without `unsafe` has it; see the comment above"
    )]
    unsafe extern "C" {
        safe fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }

    if std::env::var_os("MALLOC_ARENA_MAX").is_none() {
        // Where it does not do so, all works as well, in more memory.
        mallopt(M_ARENA_MAX, c_int::try_from(places).unwrap_or(c_int::MAX));
    }
}

/// Other allocators keep less.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
const fn at_most(_: usize) {}
