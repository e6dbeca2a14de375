//! Guests that attack the host that runs them, as components: one for each file in `tests/guests`.
//! The table in this crate's README says what each does and what must come of it.
//!
//! [`for_each_hostile_guest!`] calls a macro with the name of every guest, so that a test which
//! says what it expects of each does not compile when a guest is new:
//!
//! ```text
//! macro_rules! test {
//!     (loop_forever) => {
//!         #[test]
//!         fn loop_forever() { … }
//!     };
//!     …
//! }
//! baler_hostile_guests::for_each_hostile_guest!(test);
//! ```

/// A guest, ready to load.
#[derive(Debug, Clone, Copy)]
pub struct Guest {
    /// The name of its file, without the ending.
    pub name: &'static str,
    /// A component, unless being none is the attack.
    pub wasm: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/guests.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guest_has_a_row_in_the_table() {
        let table = include_str!("../README.md");
        let rows: Vec<&str> = table
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
            .collect();
        let names: Vec<&str> = ALL.iter().map(|guest| guest.name).collect();
        assert_eq!(
            rows, names,
            "the rows of tests/hostile/README.md, in order of name"
        );
    }
}
