//! WASI with nothing behind it: what a component gets of it, what the host shows of that, and that a host may
//! refuse it. `hostile.rs` has what becomes of components that abuse it.

use std::collections::BTreeSet;

use baler_host::strategy::{LogLevel, Permission};
use baler_host::{Host, Strategy};

use crate::support::{assert_good, chat, half, host, read};

fn guest(name: &str) -> &'static [u8] {
    let mut guests = baler_hostile_guests::ALL.iter();
    guests
        .find(|guest| guest.name == name)
        .expect("a guest of that name")
        .wasm
}

async fn loaded(host: &Host, name: &str) -> Strategy {
    let strategy = host.load(name, guest(name)).await;
    strategy.unwrap_or_else(|error| panic!("{name}: {}", baler_host::with_causes(&error)))
}

#[tokio::test]
async fn wasi_is_one_permission_however_many_of_its_interfaces_are_imported() {
    let strategy = loaded(host(), "wasi-looks-around").await;
    let component = strategy.component().expect("it is a component");
    let permissions = &component.permissions;
    assert!(permissions.contains(&Permission::Wasi), "{permissions:?}");
    let different: BTreeSet<_> = permissions.iter().collect();
    assert_eq!(different.len(), permissions.len());
    // A component without WASI does not have the permission.
    let strategy = loaded(host(), "wants-model").await;
    let component = strategy.component().expect("it is a component");
    assert!(!component.permissions.contains(&Permission::Wasi));
}

#[tokio::test]
async fn wasi_gives_the_same_numbers_and_times_in_each_call_and_host() {
    let mut thrown = Vec::new();
    for _ in 0..2 {
        let host = Host::builder().without_archive().build().expect("a host");
        let strategy = loaded(&host, "wasi-throws-dice").await;
        for _ in 0..3 {
            let chain = std::slice::from_ref(&strategy);
            let conversation = read(&host, &chat());
            let compaction = host
                .compact(&conversation, chain, &half())
                .await
                .expect("compacts");
            assert_good(&conversation, &compaction, &host);
            let attempt = &compaction.receipt().attempts[0];
            assert_eq!(
                attempt.usage.host_calls, 7,
                "six of WASI and one of history"
            );
            thrown.push((format!("{:?}", attempt.metrics), attempt.usage.fuel));
            std::thread::sleep(std::time::Duration::from_millis(3));
        }
    }
    assert!(thrown[0].0.contains("removed"), "{}", thrown[0].0);
    thrown.dedup();
    assert_eq!(thrown.len(), 1, "{thrown:?}");
}

/// Waits are the one part of WASI that uses real time by itself.
#[tokio::test]
async fn waits_of_wasi_measure_no_time() {
    let strategy = loaded(host(), "wasi-stopwatch").await;
    let conversation = read(host(), &chat());
    let request = half().with_verify(true);
    let compaction = host().compact(&conversation, &[strategy], &request).await;
    let compaction = compaction.expect("no archive that could fail");
    let attempt = &compaction.receipt().attempts[0];
    assert_eq!(attempt.result.code(), "accepted");
    assert!(
        format!("{:?}", attempt.metrics).contains("400"),
        "{:?}",
        attempt.metrics
    );
}

#[tokio::test]
async fn what_a_component_writes_to_its_streams_is_in_the_log_of_its_call() {
    let strategy = loaded(host(), "wasi-writes-lines").await;
    let conversation = read(host(), &chat());
    let mut request = half();
    request.free_text_in_receipt = true;
    let compaction = host()
        .compact(&conversation, &[strategy], &request)
        .await
        .expect("compacts");
    let told = compaction.receipt().attempts[0].free_text.as_ref();
    let log = &told.expect("it was asked for").log;
    let lines: Vec<_> = log
        .iter()
        .map(|line| (line.level, line.text.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            (LogLevel::Info, "high water"),
            (LogLevel::Warn, "no berth"),
            (LogLevel::Info, "at noon \u{fffd}[31m"),
        ]
    );
}

#[tokio::test]
async fn a_host_may_refuse_wasi() {
    let host = Host::builder()
        .without_archive()
        .without_wasi()
        .build()
        .expect("a host");
    let error = host
        .load("dice", guest("wasi-throws-dice"))
        .await
        .expect_err("refused");
    assert_eq!(error.code(), "wasi-refused");
    let told = error.to_string();
    assert!(
        told.contains("`wasi:") && told.contains("refused here"),
        "{told}"
    );
    loaded(&host, "wants-model").await;
}
