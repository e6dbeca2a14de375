//! How many places the system's allocator keeps memory in.
//!
//! That of glibc has up to eight for each core, and gives a thread one of them. What a thread gave
//! back stays in its place for others that use it, so a server, whose threads come and go, would keep
//! several times what it ever used at once.

/// Lets there be one place for each core, as many as can be at work, unless who runs the program
/// said how many (`MALLOC_ARENA_MAX`). Called before there are threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn one_for_each_core() {
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
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // Where it does not do so, all works as well, in more memory.
        mallopt(M_ARENA_MAX, c_int::try_from(cores).unwrap_or(c_int::MAX));
    }
}

/// Other allocators keep less.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) const fn one_for_each_core() {}
