//! OpenTelemetry metrics of questions to models, named by its GenAI conventions. They hold nothing of a
//! conversation (invariant I9).

use std::sync::OnceLock;
use std::time::Duration;

use baler_models::{Answer, ModelError, ModelInfo};
use opentelemetry::metrics::Histogram;
use opentelemetry::{KeyValue, global};

struct Instruments {
    tokens: Histogram<u64>,
    duration: Histogram<f64>,
}

/// Returns the instruments, created at the first measurement. A meter provider must be installed before that.
fn instruments() -> &'static Instruments {
    static INSTRUMENTS: OnceLock<Instruments> = OnceLock::new();
    INSTRUMENTS.get_or_init(|| {
        let meter = global::meter("baler");
        Instruments {
            tokens: meter
                .u64_histogram("gen_ai.client.token.usage")
                .with_unit("{token}")
                .with_description("Tokens of what strategies asked models")
                .build(),
            duration: meter
                .f64_histogram("gen_ai.client.operation.duration")
                .with_unit("s")
                .with_description("Time of what strategies asked models")
                .build(),
        }
    })
}

/// Records the result of a question.
pub(super) fn question(info: &ModelInfo, result: &Result<Answer, ModelError>, time: Duration) {
    let instruments = instruments();
    let mut attributes = vec![
        KeyValue::new("gen_ai.operation.name", "chat"),
        KeyValue::new("gen_ai.request.model", info.name.clone()),
    ];
    if let Ok(answer) = result {
        for (kind, tokens) in [
            ("input", answer.input_tokens),
            ("output", answer.output_tokens),
        ] {
            let attributes =
                [&attributes[..], &[KeyValue::new("gen_ai.token.type", kind)]].concat();
            let tokens = tokens.map_or(0, u64::from);
            instruments.tokens.record(tokens, &attributes);
        }
    }
    if let Err(error) = result {
        attributes.push(KeyValue::new("error.type", super::code(error)));
    }
    instruments.duration.record(time.as_secs_f64(), &attributes);
}
