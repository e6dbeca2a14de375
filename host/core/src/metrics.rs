//! Figures for OpenTelemetry, through the meter provider that the program has installed; without
//! one they cost next to nothing.
//! Nothing of a conversation is in them (invariant I9).

use std::sync::OnceLock;
use std::time::Duration;

use opentelemetry::metrics::{Counter, Histogram};
use opentelemetry::{KeyValue, global};

use crate::receipt::{AttemptResult, Receipt};

struct Instruments {
    duration: Histogram<f64>,
    tokens: Histogram<u64>,
    faults: Counter<u64>,
}

/// Made when the first figure comes: a provider has to be installed before that.
fn instruments() -> &'static Instruments {
    static INSTRUMENTS: OnceLock<Instruments> = OnceLock::new();
    INSTRUMENTS.get_or_init(|| {
        let meter = global::meter("baler");
        Instruments {
            duration: meter
                .f64_histogram("baler.compaction.duration")
                .with_unit("s")
                .with_description("Time of a compaction, all strategies of its chain together")
                .build(),
            tokens: meter
                .u64_histogram("baler.compaction.tokens")
                .with_unit("{token}")
                .with_description("Tokens of a conversation before and after a compaction")
                .build(),
            faults: meter
                .u64_counter("baler.strategy.faults")
                .with_unit("{fault}")
                .with_description("Faults and failures of strategies")
                .build(),
        }
    })
}

/// Notes what came of a compaction.
pub(crate) fn compaction(receipt: &Receipt) {
    let instruments = instruments();
    let common = [
        KeyValue::new("baler.outcome", receipt.outcome.name()),
        KeyValue::new("baler.trigger", receipt.trigger.clone()),
        KeyValue::new("baler.format", receipt.format.name()),
        KeyValue::new(
            "baler.strategy",
            receipt.strategy.clone().unwrap_or_default(),
        ),
    ];
    instruments.duration.record(
        Duration::from_micros(receipt.time_us).as_secs_f64(),
        &common,
    );
    for (state, tokens) in [
        ("before", receipt.tokens.before),
        ("after", receipt.tokens.after),
    ] {
        let attributes = [&common[..], &[KeyValue::new("baler.state", state)]].concat();
        instruments.tokens.record(tokens.into(), &attributes);
    }
    for attempt in &receipt.attempts {
        let what = match &attempt.result {
            AttemptResult::Fault { fault } => fault.code(),
            AttemptResult::Failure { .. } => "declared",
            _ => continue,
        };
        let attributes = [
            KeyValue::new("baler.fault", what),
            KeyValue::new("baler.strategy", attempt.strategy.clone()),
        ];
        instruments.faults.add(1, &attributes);
    }
}
