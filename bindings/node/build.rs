//! Links the library as Node.js loads it.

fn main() {
    napi_build::setup();
}
