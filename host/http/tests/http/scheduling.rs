use std::sync::Arc;
use std::time::Duration;

use baler_http::ServerLimits;
use serde_json::{Value, json};

use crate::strategies::{Gate, broken, silent_model, slow};
use crate::support::{
    Response, ask_without_reading, compact_request, figure, get, journey, long_conversation, post,
    serve, until,
};

#[tokio::test]
async fn server_answers_while_work_blocks_its_thread() {
    let gate = Arc::new(Gate::default());
    let server = Arc::new(serve(|builder| builder.chain(gate.chain())).await);
    let blocked = tokio::spawn({
        let server = server.clone();
        async move {
            post(&server, "/v1/compact", &compact_request())
                .await
                .status
        }
    });
    until(async || gate.inside() == 1).await;
    assert_eq!(get(&server, "/healthz").await.status, 200);
    assert_eq!(gate.inside(), 1, "the work still blocks");
    gate.open();
    assert_eq!(blocked.await.expect("no panic"), 200);
}

#[tokio::test]
async fn work_memory_limits_how_many_large_bodies_run() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder.chain(gate.chain()).limits(ServerLimits {
            concurrency: 8,
            // A request needs 8 bytes for each of its 5 KB, and 512 for each of its 67 lists, objects and
            // commas, which makes 75 KB.
            working_bytes: 100_000,
            ..ServerLimits::default()
        })
    });
    let server = Arc::new(server.await);
    let requests: Vec<_> = (0..2)
        .map(|_| {
            let server = server.clone();
            tokio::spawn(async move {
                post(&server, "/v1/compact", &compact_request())
                    .await
                    .status
            })
        })
        .collect();
    until(async || gate.inside() == 1 && figure(&server, "baler_waiting").await == 1).await;
    let working = figure(&server, "baler_working_bytes").await;
    assert!((50_000..100_000).contains(&working), "{working}");
    gate.open();
    for request in requests {
        assert_eq!(request.await.expect("no panic"), 200);
    }
    assert_eq!(gate.most(), 1);
}

#[tokio::test]
async fn small_request_passes_waiting_large_ones_of_the_same_strategy() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder.chain(gate.chain()).limits(ServerLimits {
            concurrency: 4,
            // A 64th is 93 KB, and `compact_request` needs 75 KB.
            working_bytes: 6_000_000,
            ..ServerLimits::default()
        })
    })
    .await;
    // 46 KB and 600 lists, objects and commas: 680 KB.
    let large = json!({"conversation": long_conversation(201), "budget": 2_000}).to_string();
    let mut clients = Vec::new();
    for _ in 0..5 {
        clients.push(ask_without_reading(&server, "/v1/compact", &large).await);
    }
    // Of the two slots of a strategy, large requests may use one.
    until(async || gate.inside() == 1 && figure(&server, "baler_waiting").await == 4).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(gate.inside(), 1);
    clients.push(ask_without_reading(&server, "/v1/compact", &compact_request()).await);
    until(async || gate.inside() == 2).await;
    assert_eq!(figure(&server, "baler_waiting").await, 4);
    gate.open();
}

#[tokio::test]
async fn waiting_for_one_strategy_is_limited_to_half() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder.offers(gate.chain()).limits(ServerLimits {
            concurrency: 2,
            waiting: 4,
            ..ServerLimits::default()
        })
    })
    .await;
    let gated = json!({"conversation": journey(), "budget": 200, "strategy": "gate"}).to_string();
    let mut clients = Vec::new();
    // One runs and two wait, which is half of all.
    for _ in 0..3 {
        clients.push(ask_without_reading(&server, "/v1/compact", &gated).await);
    }
    until(async || gate.inside() == 1 && figure(&server, "baler_waiting").await == 2).await;
    let refused = post(&server, "/v1/compact", &gated).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (503, "overloaded")
    );
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(
        post(&server, "/v1/compact", &compact_request())
            .await
            .status,
        200
    );
    gate.open();
}

#[tokio::test]
async fn requests_do_not_wait_for_later_strategies_of_the_chain() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder
            .chain([slow(0.0), gate.chain()].concat())
            .limits(ServerLimits {
                // Two slots for each strategy, and three for both.
                concurrency: 4,
                request_time: Duration::from_secs(5),
                ..ServerLimits::default()
            })
    })
    .await;
    let gated = json!({"conversation": journey(), "budget": 200, "strategy": "gate"}).to_string();
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients.push(ask_without_reading(&server, "/v1/compact", &gated).await);
    }
    until(async || gate.inside() == 2 && figure(&server, "baler_waiting").await == 1).await;
    // The first strategy declines.
    let answer = post(&server, "/v1/compact", &compact_request()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!((gate.inside(), gate.most()), (2, 2));
    gate.open();
}

#[tokio::test]
async fn called_strategy_frees_its_slot_and_a_busy_one_is_skipped() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder
            .chain([broken(), gate.chain()].concat())
            .limits(ServerLimits {
                // Two slots for each strategy, and three for both.
                concurrency: 4,
                request_time: Duration::from_secs(5),
                ..ServerLimits::default()
            })
    })
    .await;
    let results = |answer: &Response| -> Vec<String> {
        let receipt = &answer.json()["receipt"];
        let attempts = receipt["attempts"].as_array().expect("attempts");
        let result = |attempt: &Value| attempt["result"]["result"].as_str().map(str::to_owned);
        attempts.iter().filter_map(result).collect()
    };
    let mut clients = Vec::new();
    for _ in 0..2 {
        clients.push(ask_without_reading(&server, "/v1/compact", &compact_request()).await);
    }
    until(async || gate.inside() == 2).await;
    // Both requests have released their slots of the first strategy.
    let answer = post(&server, "/v1/compact", &compact_request()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(results(&answer)[..2], ["fault", "busy"]);
    assert_eq!(answer.json()["outcome"], "compacted");
    assert_eq!((gate.inside(), gate.most()), (2, 2));
    gate.open();
}

#[tokio::test]
async fn silent_model_leaves_half_of_the_slots_to_others() {
    let server = serve(|builder| {
        builder.chain(silent_model()).limits(ServerLimits {
            concurrency: 4,
            ..ServerLimits::default()
        })
    })
    .await;
    // A budget that fits a summary, so that the model is called.
    let summarized = json!({"conversation": journey(), "budget": "50%"}).to_string();
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(ask_without_reading(&server, "/v1/compact", &summarized).await);
    }
    until(async || {
        figure(&server, "baler_running").await == 2 && figure(&server, "baler_waiting").await == 2
    })
    .await;
    let own = json!({"conversation": journey(), "budget": 200, "strategy": "native:digest"});
    let answer = post(&server, "/v1/compact", &own.to_string()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["outcome"], "compacted");
    assert_eq!(figure(&server, "baler_running").await, 2);
    drop(clients);
    until(async || figure(&server, "baler_running").await == 0).await;
}

#[tokio::test]
async fn all_lanes_together_leave_a_quarter_of_the_slots() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder
            .offers([slow(9_999.0), gate.chain()].concat())
            .limits(ServerLimits {
                concurrency: 4,
                ..ServerLimits::default()
            })
    })
    .await;
    let mut clients = Vec::new();
    for name in ["slow", "slow", "gate", "gate"] {
        let body = json!({"conversation": journey(), "budget": 200, "strategy": name});
        clients.push(ask_without_reading(&server, "/v1/compact", &body.to_string()).await);
    }
    until(async || {
        figure(&server, "baler_running").await == 3 && figure(&server, "baler_waiting").await == 1
    })
    .await;
    let answer = post(&server, "/v1/compact", &compact_request()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["outcome"], "compacted");
    assert_eq!(figure(&server, "baler_running").await, 3);
    gate.open();
    drop(clients);
    until(async || figure(&server, "baler_running").await == 0).await;
}

#[tokio::test]
async fn empty_strategy_list_uses_the_lane_of_the_default_chain() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder.chain(gate.chain()).limits(ServerLimits {
            concurrency: 2,
            ..ServerLimits::default()
        })
    })
    .await;
    let empty = json!({"conversation": journey(), "budget": 200, "strategy": []}).to_string();
    let mut clients = Vec::new();
    for _ in 0..2 {
        clients.push(ask_without_reading(&server, "/v1/compact", &empty).await);
    }
    until(async || gate.inside() == 1 && figure(&server, "baler_waiting").await == 1).await;
    let own = json!({"conversation": journey(), "budget": 200, "strategy": "native:digest"});
    let answer = post(&server, "/v1/compact", &own.to_string()).await;
    assert_eq!(answer.status, 200, "half of the slots are free: {answer:?}");
    assert_eq!(gate.most(), 1);
    gate.open();
}

#[tokio::test]
async fn strategy_list_waits_for_no_strategy() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder.chain(gate.chain()).limits(ServerLimits {
            // One slot for the strategy.
            concurrency: 2,
            request_time: Duration::from_secs(10),
            ..ServerLimits::default()
        })
    })
    .await;
    let _client = ask_without_reading(&server, "/v1/compact", &compact_request()).await;
    until(async || gate.inside() == 1).await;
    let answer = post(&server, "/v1/introspect", "{}").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["default"], json!(["gate"]));
    assert_eq!(gate.inside(), 1, "the strategy still runs");
    gate.open();
}

#[tokio::test]
async fn disconnecting_client_cancels_its_work() {
    let hours = Duration::from_secs(10_000);
    let server = serve(|builder| {
        builder.chain(slow(9_999.0)).limits(ServerLimits {
            request_time: hours,
            ..ServerLimits::default()
        })
    })
    .await;
    let client = ask_without_reading(&server, "/v1/compact", &compact_request()).await;
    until(async || figure(&server, "baler_running").await == 1).await;
    drop(client);
    until(async || figure(&server, "baler_running").await == 0).await;
    until(async || figure(&server, "baler_buffered_bytes").await == 0).await;
}

#[tokio::test]
async fn uninterruptible_work_holds_its_slot_and_memory_until_it_ends() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder.chain(gate.chain()).limits(ServerLimits {
            concurrency: 1,
            ..ServerLimits::default()
        })
    });
    let server = Arc::new(server.await);
    let client = ask_without_reading(&server, "/v1/compact", &compact_request()).await;
    until(async || gate.inside() == 1).await;
    drop(client);
    let next = tokio::spawn({
        let server = server.clone();
        async move {
            post(&server, "/v1/compact", &compact_request())
                .await
                .status
        }
    });
    until(async || figure(&server, "baler_waiting").await == 1).await;
    assert_eq!(gate.inside(), 1);
    assert!(figure(&server, "baler_buffered_bytes").await >= 2 * compact_request().len());
    gate.open();
    assert_eq!(next.await.expect("no panic"), 200);
    assert_eq!(gate.most(), 1);
    until(async || figure(&server, "baler_running").await == 0).await;
    until(async || figure(&server, "baler_buffered_bytes").await == 0).await;
}

#[tokio::test]
async fn disconnecting_client_frees_its_waiting_place() {
    let gate = Arc::new(Gate::default());
    let server = serve(|builder| {
        builder.chain(gate.chain()).limits(ServerLimits {
            concurrency: 1,
            waiting: 1,
            ..ServerLimits::default()
        })
    })
    .await;
    let _first = ask_without_reading(&server, "/v1/compact", &compact_request()).await;
    until(async || gate.inside() == 1).await;
    let waits = ask_without_reading(&server, "/v1/compact", &compact_request()).await;
    until(async || figure(&server, "baler_waiting").await == 1).await;
    let refused = post(&server, "/v1/compact", &compact_request()).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    drop(waits);
    until(async || figure(&server, "baler_waiting").await == 0).await;
    let _another = ask_without_reading(&server, "/v1/compact", &compact_request()).await;
    until(async || figure(&server, "baler_waiting").await == 1).await;
    gate.open();
    until(async || figure(&server, "baler_running").await == 0).await;
}

#[tokio::test]
async fn timed_out_request_is_answered_while_its_work_holds_the_slot() {
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
        let late = post(&server, "/v1/compact", &compact_request()).await;
        assert_eq!((late.status, late.code().as_str()), (504, "timeout"));
        assert_eq!(gate.inside(), 1);
        assert_eq!(figure(&server, "baler_running").await, 1);
    }
    gate.open();
    until(async || figure(&server, "baler_running").await == 0).await;
    assert_eq!(gate.most(), 1);
}
