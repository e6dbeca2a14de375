use std::sync::Arc;
use std::time::Duration;

use baler_sidecar::ServerLimits;

use crate::strategies::{Gate, slow};
use crate::support::{ask, ask_without_reading, figure, get, post, serve, until};

#[tokio::test]
async fn requests_are_answered_while_work_blocks_its_thread() {
    let gate = Arc::new(Gate::default());
    let server = Arc::new(serve(|builder| builder.chain(gate.chain())).await);
    let blocked = tokio::spawn({
        let server = server.clone();
        async move { post(&server, "/v1/compact", &ask()).await.status }
    });
    until(async || gate.inside() == 1).await;
    assert_eq!(get(&server, "/healthz").await.status, 200);
    assert_eq!(gate.inside(), 1, "the work still blocks");
    gate.open();
    assert_eq!(blocked.await.expect("no panic"), 200);
}

#[tokio::test]
async fn large_bodies_are_worked_on_one_after_the_other() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder.chain(gate.chain()).limits(ServerLimits {
            concurrency: 4,
            working_bytes: 4_096,
            ..ServerLimits::default()
        })
    });
    let server = Arc::new(server.await);
    assert!(ask().len() > 4_096);
    let requests: Vec<_> = (0..2)
        .map(|_| {
            let server = server.clone();
            tokio::spawn(async move { post(&server, "/v1/compact", &ask()).await.status })
        })
        .collect();
    until(async || gate.inside() == 1 && figure(&server, "baler_waiting").await == 1).await;
    gate.open();
    for request in requests {
        assert_eq!(request.await.expect("no panic"), 200);
    }
    assert_eq!(gate.most(), 1);
}

#[tokio::test]
async fn a_client_that_goes_away_cancels_its_work() {
    let hours = Duration::from_secs(10_000);
    let server = serve(|builder| {
        builder.chain(slow(9_999.0)).limits(ServerLimits {
            request_time: hours,
            ..ServerLimits::default()
        })
    })
    .await;
    let client = ask_without_reading(&server, "/v1/compact", &ask()).await;
    until(async || figure(&server, "baler_running").await == 1).await;
    drop(client);
    until(async || figure(&server, "baler_running").await == 0).await;
    until(async || figure(&server, "baler_buffered_bytes").await == 0).await;
}

#[tokio::test]
async fn work_that_cannot_be_cancelled_keeps_its_turn_and_its_memory_until_it_ends() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder.chain(gate.chain()).limits(ServerLimits {
            concurrency: 1,
            ..ServerLimits::default()
        })
    });
    let server = Arc::new(server.await);
    let client = ask_without_reading(&server, "/v1/compact", &ask()).await;
    until(async || gate.inside() == 1).await;
    drop(client);
    let next = tokio::spawn({
        let server = server.clone();
        async move { post(&server, "/v1/compact", &ask()).await.status }
    });
    until(async || figure(&server, "baler_waiting").await == 1).await;
    assert_eq!(gate.inside(), 1);
    assert!(figure(&server, "baler_buffered_bytes").await >= 2 * ask().len());
    gate.open();
    assert_eq!(next.await.expect("no panic"), 200);
    assert_eq!(gate.most(), 1);
    until(async || figure(&server, "baler_running").await == 0).await;
    until(async || figure(&server, "baler_buffered_bytes").await == 0).await;
}

#[tokio::test]
async fn a_client_that_goes_away_while_it_waits_leaves_its_place_to_another() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder.chain(gate.chain()).limits(ServerLimits {
            concurrency: 1,
            waiting: 1,
            ..ServerLimits::default()
        })
    })
    .await;
    let _first = ask_without_reading(&server, "/v1/compact", &ask()).await;
    until(async || gate.inside() == 1).await;
    let waits = ask_without_reading(&server, "/v1/compact", &ask()).await;
    until(async || figure(&server, "baler_waiting").await == 1).await;
    let refused = post(&server, "/v1/compact", &ask()).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    drop(waits);
    until(async || figure(&server, "baler_waiting").await == 0).await;
    let _another = ask_without_reading(&server, "/v1/compact", &ask()).await;
    until(async || figure(&server, "baler_waiting").await == 1).await;
    gate.open();
    until(async || figure(&server, "baler_running").await == 0).await;
}

#[tokio::test]
async fn a_request_whose_time_is_over_is_answered_while_its_work_keeps_its_turn() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder.chain(gate.chain()).limits(ServerLimits {
            concurrency: 1,
            request_time: Duration::from_secs(2),
            ..ServerLimits::default()
        })
    })
    .await;
    for _ in 0..2 {
        let late = post(&server, "/v1/compact", &ask()).await;
        assert_eq!((late.status, late.code().as_str()), (504, "timeout"));
        assert_eq!(gate.inside(), 1);
        assert_eq!(figure(&server, "baler_running").await, 1);
    }
    gate.open();
    until(async || figure(&server, "baler_running").await == 0).await;
    assert_eq!(gate.most(), 1);
}
