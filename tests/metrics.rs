//! Figures for OpenTelemetry. Alone in its process, because the provider is the process's own.

#![allow(
    clippy::expect_used,
    reason = "helpers of tests end the test where something is not as it should be"
)]

#[path = "end-to-end/support.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod support;

use baler_host::Strategy;
use opentelemetry::global;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};

use support::{chat, host, read, share};

#[tokio::test(flavor = "multi_thread")]
async fn compaction_metrics_have_names_and_no_text() {
    let exporter = InMemoryMetricExporter::default();
    let provider = SdkMeterProvider::builder()
        .with_reader(PeriodicReader::builder(exporter.clone()).build())
        .build();
    global::set_meter_provider(provider.clone());
    let host = host();
    let conversation = read(host, &chat());
    let compaction = host
        .compact(&conversation, &[Strategy::digest()], &share(0.5))
        .await
        .expect("no archive that could fail");
    assert!(compaction.is_compacted());
    provider.force_flush().expect("flushes");

    let metrics = exporter.get_finished_metrics().expect("are there");
    let all: Vec<_> = metrics
        .iter()
        .flat_map(|metrics| metrics.scope_metrics())
        .flat_map(|scope| scope.metrics())
        .collect();
    let tokens = all
        .iter()
        .find(|metric| metric.name() == "baler.compaction.tokens")
        .expect("is told");
    let AggregatedMetrics::U64(MetricData::Histogram(histogram)) = tokens.data() else {
        panic!("{tokens:?}");
    };
    let sums: Vec<u64> = histogram.data_points().map(|point| point.sum()).collect();
    let receipt = compaction.receipt();
    for expected in [receipt.tokens.before, receipt.tokens.after] {
        assert!(sums.contains(&u64::from(expected)), "{sums:?}");
    }
    let told = format!("{all:?}");
    for expected in [
        "baler.compaction.duration",
        "native:digest",
        "compacted",
        "openai-chat",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    for unit in 0..conversation.units().len() {
        for raw in conversation.raw_messages(unit) {
            assert!(!told.contains(raw));
        }
    }
}
