//! `baler:compaction@0.1.0`.

mod generated {
    wasmtime::component::bindgen!({
        path: "../wit/v0.1",
        world: "pure-strategy",
        imports: { default: trappable },
        exports: { default: async },
        with: {
            "baler:compaction/history.conversation": crate::sandbox::imports::Lent,
        },
    });
}

pub(crate) use generated::baler::compaction::{history, log, tokenizer};
pub(crate) use generated::exports::baler::compaction::strategy;
pub(crate) use generated::{PureStrategy, PureStrategyPre};
