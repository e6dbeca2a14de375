//! Reads the environment of the host's process, through WASI.
//!
//! The host offers no WASI: the component is refused when it is loaded, and the message names the
//! import and its likely cause.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

wit_bindgen::generate!({
    inline: "
        package hostile:wasi;
        world wants {
            import wasi:cli/environment@0.2.0;
        }
        package wasi:cli@0.2.0 {
            interface environment {
                get-environment: func() -> list<tuple<string, string>>;
            }
        }
    ",
    generate_all,
});

struct WantsWasi;

impl Hostile for WantsWasi {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        unchanged(format!("{:?}", wasi::cli::environment::get_environment()))
    }
}

hostile!(WantsWasi);
