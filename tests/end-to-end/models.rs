//! A model server that does all that such servers do when they fail, and a strategy that asks it:
//! what comes back is valid, or the conversation as it was, and in time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use baler_host::{
    Limits, Strategy,
    conversation::SecretKey,
    model::ModelGrant,
    receipt::{Outcome, Unchanged},
};
use baler_models::Provider;
use baler_models::clients::{Client, KeySource, ModelChoice};
use baler_models::testing::{Reply, ScriptedServer};

use crate::support::{assert_good, bundled, chat, host_beside, read, share};

const TIME: Duration = Duration::from_millis(400);

/// What a machine under load may take beyond it; the figure stands in docs/benchmarks.md.
const TOLERANCE: Duration = Duration::from_secs(2);

fn failures() -> Vec<(&'static str, Reply)> {
    let provider = Provider::Compatible;
    vec![
        ("hangs", Reply::silence()),
        (
            "trickles",
            Reply::text(provider, "We sailed.").trickled(Duration::from_millis(20)),
        ),
        (
            "dies in its answer",
            Reply::text(provider, "We sailed.").closed_after(40),
        ),
        (
            "hangs in its answer",
            Reply::text(provider, "We sailed.").stalling_after(40),
        ),
        ("garbage", Reply::raw("\u{0}\u{1}nonsense\r\n\r\n")),
        (
            "html",
            Reply::body(200, "text/html", "<html>maintenance</html>"),
        ),
        (
            "half a body",
            Reply::body(200, "application/json", "{\"choices\": ["),
        ),
        ("never ends", Reply::endless("{\"choices\": [{\"x\": \"")),
        ("wrong key", Reply::error(provider, 401, "no such key")),
        (
            "rate limit",
            Reply::error(provider, 429, "slow down").header("retry-after", "3600"),
        ),
        ("overloaded", Reply::error(provider, 529, "overloaded")),
        ("refuses", Reply::refusal(provider)),
        ("cut off", Reply::cut_off(provider, "We were just")),
        ("blank", Reply::text(provider, " \n")),
        ("calls a tool", Reply::tool_call(provider)),
        ("too long for ever", Reply::too_long(provider, 10)),
    ]
}

/// PAIN-17, PL-S19, P26, ALL-N3, ALL-N9, ALL-N15, AP-N10, PU-N13, PL-I5
#[tokio::test(flavor = "multi_thread")]
async fn summarize_ends_in_time_with_a_valid_result_whatever_its_model_does() {
    let host = host_beside(|builder| builder.key(SecretKey::new([7; 32])));
    let summarize = bundled(&host, "summarize").await;
    // It is asked once who it is, before its time is taken.
    host.introspect(&summarize, None).await.expect("it says");
    let conversation = read(&host, &chat());
    let mut worst = Duration::ZERO;
    for (name, reply) in failures() {
        let server = ScriptedServer::start([]).expect("a port");
        server.set_default_reply(reply);
        let strategy = granted(&summarize, &server);
        for required in [false, true] {
            let request = share(0.5).with_required(required);
            let start = Instant::now();
            let compaction = host
                .compact(&conversation, std::slice::from_ref(&strategy), &request)
                .await
                .expect("no archive that could fail");
            let beyond = start.elapsed().saturating_sub(TIME);
            worst = worst.max(beyond);
            assert!(beyond < TOLERANCE, "{name}: {beyond:?}");
            let receipt = compaction.receipt();
            if required {
                assert!(compaction.is_compacted(), "{name}");
                assert_eq!(receipt.strategy.as_deref(), Some("native:digest"), "{name}");
                assert_good(&conversation, &compaction, &host);
            } else if compaction.is_compacted() {
                // A trap of time is a fault, and goes down the chain.
                assert_good(&conversation, &compaction, &host);
            } else {
                let failed = Outcome::Unchanged(Unchanged::StrategyFailed);
                assert_eq!(receipt.outcome, failed, "{name}");
                assert_eq!(compaction.document(), conversation.document());
            }
        }
    }
    println!("the longest beyond its time: {worst:?}");
}

/// PL-13, PU-8, SU6, AP-5
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_answers_writes_the_summary() {
    let host = host_beside(|builder| builder.key(SecretKey::new([7; 32])));
    let summarize = bundled(&host, "summarize").await;
    let server = ScriptedServer::start([Reply::text(
        Provider::Compatible,
        "The lexer drops the last column.",
    )])
    .expect("a port");
    let conversation = read(&host, &chat());
    let compaction = host
        .compact(&conversation, &[granted(&summarize, &server)], &share(0.5))
        .await
        .expect("no archive that could fail");
    assert_eq!(compaction.receipt().strategy.as_deref(), Some("summarize"));
    assert!(
        compaction
            .document()
            .contains("The lexer drops the last column.")
    );
    assert_eq!(server.requests().len(), 1);
    let asked = compaction.receipt().attempts[0].model.expect("it asked");
    assert_eq!((asked.calls, asked.failed), (1, 0));
}

/// What its model does not tell, the digest does.
#[tokio::test(flavor = "multi_thread")]
async fn tiered_model_writes_a_digest_whatever_its_model_does() {
    let host = host_beside(|builder| builder.key(SecretKey::new([7; 32])));
    let tiered = bundled(&host, "tiered-model").await;
    let conversation = read(&host, &chat());
    let story = "The lexer was looked at, because a column was lost.";
    let mut replies = failures();
    replies.push(("tells", Reply::text(Provider::Compatible, story)));
    for (name, reply) in replies {
        let server = ScriptedServer::start([]).expect("a port");
        server.set_default_reply(reply);
        let compaction = host
            .compact(
                &conversation,
                &[patient(granted(&tiered, &server))],
                &share(0.2),
            )
            .await
            .expect("no archive that could fail");
        assert_good(&conversation, &compaction, &host);
        let receipt = compaction.receipt();
        assert_eq!(receipt.strategy.as_deref(), Some("tiered-model"), "{name}");
        let document = compaction.document();
        assert!(document.contains("error: 3 tests failed"), "{name}");
        assert_eq!(document.contains(story), name == "tells", "{name}");
        let asked = receipt.attempts[0].model.expect("it asked");
        assert!(asked.calls > 0, "{name}");
    }
}

/// With time to go on without an answer, on a machine under load as well.
fn patient(strategy: Strategy) -> Strategy {
    strategy.with_limits(Limits::default().with_model_time(Duration::from_secs(2)))
}

fn granted(strategy: &Strategy, server: &ScriptedServer) -> Strategy {
    let address = server.base_url(Provider::Compatible);
    let choice = ModelChoice::compatible(address.parse().expect("a URL"), "small").expect("a name");
    let client = Client::builder(choice)
        .key(KeySource::None)
        .context_window(32_000)
        .build()
        .expect("makes sense");
    let limits = Limits::default().with_model_time(TIME);
    strategy
        .clone()
        .with_limits(limits)
        .with_model(ModelGrant::new(Arc::new(client)))
}
