//! Plans against conversations of all formats.

mod edits;
mod excerpts;
mod order;
mod properties;
mod thinking;
mod user_texts;

/// Returns a host and its archive in memory.
fn host() -> (crate::Host, crate::Archive) {
    let archive = crate::Archive::in_memory();
    let host = crate::Host::builder().archive(archive.clone()).build();
    (host.expect("a host"), archive)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
}
