//! Nothing: only its dependencies count (`Cargo.toml`).
