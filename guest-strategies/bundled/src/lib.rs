//! The strategies that ship with baler, as WebAssembly components. They run in the same
//! sandbox as anybody else's.

/// A strategy that ships with baler.
#[derive(Debug, Clone, Copy)]
pub struct Bundled {
    /// Its name, in kebab-case.
    pub name: &'static str,
    /// The component.
    pub wasm: &'static [u8],
}

/// All of them.
pub static ALL: &[Bundled] = include!(concat!(env!("OUT_DIR"), "/all.rs"));

/// Filters before a strategy, for `baler compose`. None is a strategy by itself.
pub static FILTERS: &[Bundled] = include!(concat!(env!("OUT_DIR"), "/filters.rs"));

/// What `baler compose` puts between other components.
pub mod parts {
    /// The conversation as a filter shows it to the strategy behind it.
    pub static VIEW: &[u8] = include!(concat!(env!("OUT_DIR"), "/view.rs"));

    /// The second strategy where the first one fails.
    pub static FALLBACK: &[u8] = include!(concat!(env!("OUT_DIR"), "/fallback.rs"));
}

/// The strategy of this name.
pub fn by_name(name: &str) -> Option<&'static Bundled> {
    ALL.iter().find(|bundled| bundled.name == name)
}

/// The filter of this name.
pub fn filter_by_name(name: &str) -> Option<&'static Bundled> {
    FILTERS.iter().find(|bundled| bundled.name == name)
}

/// Returns the strategy of this name, in any case of letters.
pub fn by_name_in_any_case(name: &str) -> Option<&'static Bundled> {
    by_name(&name.to_ascii_lowercase())
}

/// Whether a component is one of these that write digests, byte for byte: its name says nothing.
/// A host reads the sections of their texts back (`Strategy::writing_digests` of `baler-host`).
pub fn writes_digests(wasm: &[u8]) -> bool {
    ["tiered", "tiered-model"]
        .into_iter()
        .filter_map(by_name)
        .any(|own| own.wasm == wasm)
}

/// Whether a component reads the context of a request (`--context`); none where it is not one of
/// these, byte for byte.
pub fn reads_context(wasm: &[u8]) -> Option<bool> {
    let own = ALL.iter().find(|own| own.wasm == wasm)?;
    Some(["coalesce", "trim"].contains(&own.name))
}
