//! The contract, as wit-bindgen reads it. The only place that names wit-bindgen: two versions
//! of it in one guest would not link.
//!
//! The world is the larger one. A component imports only what its code calls, so a strategy that
//! never asks the model is one of the pure world.
#![allow(
    missing_docs,
    unsafe_code,
    unused_qualifications,
    clippy::all,
    clippy::cast_possible_truncation,
    reason = "generated; what the contract documents is documented here as well"
)]

wit_bindgen::generate!({
    path: "../../wit/v0.1",
    world: "model-strategy",
    additional_derives: [Clone, PartialEq],
    export_macro_name: "__export_component",
    pub_export_macro: true,
    default_bindings_module: "baler_strategy::bindings",
    generate_unused_types: true,
});
