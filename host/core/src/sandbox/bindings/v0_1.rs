//! `baler:compaction@0.1.0`.

mod generated {
    wasmtime::component::bindgen!({
        path: "wit/v0.1",
        world: "model-strategy",
        imports: {
            "baler:compaction/model.complete": async | trappable,
            default: trappable,
        },
        exports: { default: async },
    });
}

pub(crate) use generated::baler::compaction::{history, log, model, tokenizer};
pub(crate) use generated::exports::baler::compaction::strategy;
pub(crate) use generated::{ModelStrategy, ModelStrategyPre};
