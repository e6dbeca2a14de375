//! `summarize` as a component. It is written in the crate `baler-strategy-core`.

baler_strategy::export!(baler_strategy_core::Summarize);
