//! Makes a request over HTTP, through WASI.
//!
//! The host offers no network: the component is refused when it is loaded, and the message names the
//! import and its likely cause.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

wit_bindgen::generate!({
    inline: "
        package hostile:wasi;
        world wants {
            import wasi:http/outgoing-handler@0.2.0;
        }
        package wasi:http@0.2.0 {
            interface outgoing-handler {
                handle: func(url: string) -> string;
            }
        }
    ",
    generate_all,
});

struct WantsHttp;

impl Hostile for WantsHttp {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        unchanged(wasi::http::outgoing_handler::handle("http://localhost/"))
    }
}

hostile!(WantsHttp);
