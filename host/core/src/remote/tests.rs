use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use baler_generated::{Choices, Kind, conversation};
use serde_json::{Value, json};

use baler_conversation::{Conversation, Deadline};

use super::{AnswerFuture, Connected, Operation, Remote, RemoteError};
use crate::fault::{DeclaredFailure, Difference, Fault, PlanRule, Quantity, RemoteProblem};
use crate::host::Host;
use crate::limits::{CountedFaults, EngineLimits, Limits};
use crate::receipt::{AttemptResult, Outcome, Unchanged, Verification};
use crate::report::Decision;
use crate::request::{Budget, Request};
use crate::sample;
use crate::strategy::Strategy;

/// What a scripted remote strategy does when it is asked.
#[derive(Debug, Clone)]
enum Reply {
    Says(String),
    Fails(RemoteError),
    Hangs,
}

/// A remote strategy with scripted answers.
#[derive(Debug)]
struct Scripted {
    address: String,
    introspect: Reply,
    should_compact: Reply,
    work: Reply,
    asked: [AtomicU32; 3],
}

impl Scripted {
    fn new(work: Reply) -> Self {
        Self {
            address: format!("test:{work:?}"),
            introspect: Reply::Says("{}".to_owned()),
            should_compact: Reply::Says(r#"{"decision":"host-decides"}"#.to_owned()),
            work,
            asked: Default::default(),
        }
    }

    fn says(work: &Value) -> Self {
        Self::new(Reply::Says(work.to_string()))
    }

    fn times(&self, question: Operation) -> u32 {
        self.asked[question as usize].load(Ordering::Relaxed)
    }
}

impl Remote for Scripted {
    fn name(&self) -> &str {
        "elsewhere"
    }

    fn address(&self) -> &str {
        &self.address
    }

    fn ask(&self, question: Operation, _: String, _: usize) -> AnswerFuture<'_> {
        self.asked[question as usize].fetch_add(1, Ordering::Relaxed);
        let reply = match question {
            Operation::Introspect => &self.introspect,
            Operation::ShouldCompact => &self.should_compact,
            Operation::Compact => &self.work,
        };
        Box::pin(async move {
            match reply {
                Reply::Says(text) => Ok(text.clone().into_bytes()),
                Reply::Fails(error) => Err(*error),
                Reply::Hangs => pending().await,
            }
        })
    }
}

/// Another host, asked without a network.
#[derive(Debug)]
struct OtherHost {
    host: Host,
    chain: Vec<Strategy>,
}

impl Remote for OtherHost {
    fn name(&self) -> &str {
        "other host"
    }

    fn address(&self) -> &str {
        "test:other"
    }

    fn ask(&self, question: Operation, request: String, _: usize) -> AnswerFuture<'_> {
        Box::pin(async move {
            let answer = self
                .host
                .answer(question, &request, &self.chain, &Deadline::never())
                .await;
            Ok(answer.expect("it is a question").into_bytes())
        })
    }
}

/// A remote strategy that declares text of the conversation as a code.
#[derive(Debug, Default)]
struct Telling {
    /// Whether it declares nothing before it was asked about a conversation.
    is_late: bool,
    was_shown: AtomicBool,
}

impl Remote for Telling {
    fn name(&self) -> &str {
        "telling"
    }

    fn address(&self) -> &str {
        "test:telling"
    }

    fn ask(&self, question: Operation, _: String, _: usize) -> AnswerFuture<'_> {
        let was_shown = self.was_shown.load(Ordering::Relaxed);
        let answer = match question {
            Operation::Introspect if self.is_late && !was_shown => Err(RemoteError::Status(503)),
            Operation::Introspect if was_shown => Ok(
                json!({"reason-codes": ["old", "by-night-train"], "metric-names": ["by-night-train"]}),
            ),
            Operation::Introspect => Ok(json!({"reason-codes": ["old", "By night train"]})),
            Operation::ShouldCompact | Operation::Compact => {
                self.was_shown.store(true, Ordering::Relaxed);
                let mut report = kept_and_summary();
                report["outcome"]["compacted"]["reasons"] = json!([
                    {"units": {"first": 1, "count": 1}, "code": "old"},
                    {"units": {"first": 2, "count": 1}, "code": "by-night-train"},
                    {"units": {"first": 3, "count": 1}, "code": "By night train"},
                ]);
                report["metrics"] = json!([{"name": "by-night-train", "value": 1}]);
                Ok(report)
            }
        };
        Box::pin(async move { answer.map(|answer| answer.to_string().into_bytes()) })
    }
}

fn host() -> Host {
    Host::builder().build().expect("a host")
}

/// Returns a conversation of twenty messages, each of about two hundred characters.
fn talk(host: &Host) -> Conversation {
    let messages: Vec<Value> = (0..20)
        .map(|index| {
            let role = if index % 2 == 0 { "user" } else { "assistant" };
            let content = format!(
                "Leg {index} of the journey: {}",
                "by night train, ".repeat(11)
            );
            json!({"role": role, "content": content})
        })
        .collect();
    host.read(json!({"model": "gpt-4o", "messages": messages}).to_string())
        .expect("reads")
}

fn half() -> Request {
    Request {
        free_text_in_receipt: true,
        ..sample::request()
    }
}

fn kept_and_summary() -> Value {
    json!({"outcome": {"compacted": {
        "pieces": [
            {"keep": {"first": 0, "count": 1}},
            {"insert": {"role": "user", "purpose": "summary", "placement": "alone", "text": "Test summary."}},
            {"keep": {"first": 17, "count": 3}},
        ],
        "reasons": [{"units": {"first": 1, "count": 16}, "code": "old"}],
    }}, "metrics": [{"name": "legs", "value": 16}, {"name": "secret", "value": 1}]})
}

async fn compact(remote: Scripted) -> crate::Compaction {
    let host = host();
    let talk = talk(&host);
    let strategy = Strategy::remote(Arc::new(remote)).with_limits(Limits {
        time: Duration::from_millis(300),
        ..Limits::default()
    });
    host.compact(&talk, &[strategy], &half())
        .await
        .expect("no archive that could fail")
}

/// P16, PL-S34, PL-11
#[tokio::test]
async fn remote_plan_is_applied_like_that_of_a_component() {
    let mut remote = Scripted::says(&kept_and_summary());
    remote.introspect =
        Reply::Says(r#"{"reason-codes":["old"],"metric-names":["legs"]}"#.to_owned());
    let compaction = compact(remote).await;
    let receipt = compaction.receipt();
    assert_eq!(receipt.outcome, Outcome::Compacted);
    assert_eq!(receipt.strategy.as_deref(), Some("elsewhere"));
    assert_eq!((receipt.units.kept, receipt.units.inserted), (4, 1));
    assert!(compaction.document().contains("Test summary."));
    assert_eq!(receipt.reasons[0].code, "old");
    let metrics = &receipt.attempts[0].metrics;
    assert_eq!(
        metrics.len(),
        1,
        "only what is declared is shown: {metrics:?}"
    );
}

#[tokio::test]
async fn first_of_repeated_metrics_is_in_the_receipt() {
    let mut said = kept_and_summary();
    said["metrics"] = json!([
        {"name": "legs", "value": 16},
        {"name": "nights", "value": 3},
        {"name": "legs", "value": 7},
        {"name": "nights", "value": 3},
    ]);
    let mut remote = Scripted::says(&said);
    remote.introspect = Reply::Says(r#"{"metric-names":["legs","nights"]}"#.to_owned());
    let compaction = compact(remote).await;
    let metrics = serde_json::to_value(&compaction.receipt().attempts[0].metrics);
    let shown: Vec<(Value, Value)> = metrics
        .expect("JSON")
        .as_array()
        .expect("a list")
        .iter()
        .map(|metric| (metric["name"].clone(), metric["value"].clone()))
        .collect();
    assert_eq!(
        shown,
        [(json!("legs"), json!(16)), (json!("nights"), json!(3))]
    );
}

#[tokio::test]
async fn codes_declared_after_a_conversation_are_not_in_receipts() {
    for (is_late, first) in [(false, "old"), (true, "undeclared")] {
        let host = host();
        let talk = talk(&host);
        let connected = Arc::new(Connected::new(Arc::new(Telling {
            is_late,
            ..Telling::default()
        })));
        let strategy = Strategy::connected(Arc::clone(&connected));
        for _ in 0..3 {
            let compaction = host
                .compact(&talk, std::slice::from_ref(&strategy), &half())
                .await
                .expect("works");
            let receipt = compaction.receipt();
            assert_eq!(receipt.strategy.as_deref(), Some("telling"));
            let codes: Vec<&str> = receipt
                .reasons
                .iter()
                .map(|reason| reason.code.as_str())
                .collect();
            assert_eq!(codes, [first, "undeclared", "undeclared"]);
            assert!(receipt.attempts[0].metrics.is_empty());
            connected.forget().await;
        }
    }
}

/// P14
#[tokio::test]
async fn declining_remote_leaves_the_conversation_unchanged() {
    let compaction = compact(Scripted::says(
        &json!({"outcome": {"unchanged": "not yet"}}),
    ))
    .await;
    let receipt = compaction.receipt();
    assert_eq!(
        receipt.outcome,
        Outcome::Unchanged(Unchanged::StrategyDeclined)
    );
    let words = receipt.attempts[0].free_text.as_ref().expect("asked for");
    assert_eq!(words.reason.as_deref(), Some("not yet"));
}

#[tokio::test]
async fn declared_failure_of_a_remote_is_counted_and_ends_the_chain() {
    let said = json!({"outcome": {"failure": {"kind": "model", "message": "no\u{7} answer"}}});
    let compaction = compact(Scripted::says(&said)).await;
    let receipt = compaction.receipt();
    assert_eq!(
        receipt.outcome,
        Outcome::Unchanged(Unchanged::StrategyFailed)
    );
    assert_eq!(
        receipt.attempts[0].declared_failure(),
        Some(DeclaredFailure::Model)
    );
    let words = receipt.attempts[0].free_text.as_ref().expect("asked for");
    assert_eq!(words.reason.as_deref(), Some("no answer"));
}

/// P15, PL-15, PL-S33, PV7, PL-N11, ALL-N15
#[tokio::test]
async fn local_chain_makes_a_result_after_any_fault_of_a_remote() {
    let says = |text: &str| Reply::Says(text.to_owned());
    let fails = Reply::Fails;
    let piece =
        |piece: Value| says(&json!({"outcome": {"compacted": {"pieces": [piece]}}}).to_string());
    let cases: Vec<(Reply, &str)> = vec![
        (fails(RemoteError::Unreachable), "remote"),
        (fails(RemoteError::ConnectTimeout), "remote"),
        (fails(RemoteError::NoRoom), "remote"),
        (fails(RemoteError::Connection), "remote"),
        (fails(RemoteError::Status(500)), "remote"),
        (fails(RemoteError::Status(401)), "remote"),
        (fails(RemoteError::Malformed), "output-malformed"),
        (fails(RemoteError::TooLarge), "output-too-large"),
        (Reply::Hangs, "timeout"),
        (says(""), "output-malformed"),
        (says("<html>502 Bad Gateway</html>"), "output-malformed"),
        (says("null"), "output-malformed"),
        (says("[]"), "output-malformed"),
        (
            says(r#"{"outcome":{"compacted":null}}"#),
            "output-malformed",
        ),
        (says(r#"{"outcome":{"summary":"x"}}"#), "output-malformed"),
        (says(&"[".repeat(100_000)), "output-malformed"),
        (
            says(r#"{"outcome":{"unchanged":"x"},"metrics":[{"name":"a","value":1e999}]}"#),
            "output-malformed",
        ),
        (
            says(r#"{"outcome":{"unchanged":"x"},"metrics":[{"name":"a","value":[{"b":1}]}]}"#),
            "output-malformed",
        ),
        (
            says(&format!(
                "{}{}",
                json!({"outcome": {"unchanged": "x"}}),
                "x"
            )),
            "output-malformed",
        ),
        (says(&" ".repeat((16 << 20) + 1)), "output-too-large"),
        (
            piece(json!({"keep": {"first": -1, "count": 1}})),
            "output-malformed",
        ),
        (
            piece(json!({"keep": {"first": 4_294_967_295_u32, "count": 4_294_967_295_u32}})),
            "invalid-plan",
        ),
        (
            piece(json!({"keep": {"first": 1, "count": 3}})),
            "invalid-plan",
        ),
        (
            piece(
                json!({"insert": {"role": "assistant", "purpose": "note", "placement": "alone", "text": "I agree."}}),
            ),
            "invalid-plan",
        ),
        (
            piece(json!({"keep": {"first": 0, "count": 20}})),
            "over-budget",
        ),
        (
            piece(
                json!({"rewrite": {"unit": 0, "edits": [{"message": 0, "part": 0, "change": "remove"}]}}),
            ),
            "invalid-plan",
        ),
        (
            piece(
                json!({"insert": {"role": "user", "purpose": "note", "placement": "alone", "text": "x".repeat(2 << 20)}}),
            ),
            "output-too-large",
        ),
    ];
    for (reply, fault) in cases {
        let shown = format!("{reply:.100?}");
        let compaction = compact(Scripted::new(reply)).await;
        let receipt = compaction.receipt();
        assert_eq!(receipt.attempts[0].result.code(), fault, "{shown:.100}");
        assert_eq!(
            receipt.strategy.as_deref(),
            Some("native:digest"),
            "{shown:.100}"
        );
        assert!(receipt.fell_back);
        assert!(compaction.conversation().violations().is_empty());
    }
}

#[tokio::test]
async fn faults_name_the_problem() {
    let fault = async |reply| match compact(Scripted::new(reply)).await.receipt().attempts[0]
        .result
        .clone()
    {
        AttemptResult::Fault { fault } => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        fault(Reply::Fails(RemoteError::Status(503))).await,
        Fault::Remote {
            problem: RemoteProblem::Status(503)
        }
    );
    assert_eq!(
        fault(Reply::Fails(RemoteError::TooLarge)).await,
        Fault::OutputTooLarge {
            what: Quantity::LiftedBytes,
            limit: 16 << 20
        }
    );
    let drops_the_newest =
        json!({"outcome": {"compacted": {"pieces": [{"keep": {"first": 0, "count": 1}}]}}});
    assert!(matches!(
        fault(Reply::Says(drops_the_newest.to_string())).await,
        Fault::InvalidPlan(fault) if fault.rule == PlanRule::DropsProtected
    ));
    let json = serde_json::to_value(Fault::Remote {
        problem: RemoteProblem::Status(503),
    });
    assert_eq!(
        json.expect("JSON"),
        json!({"fault": "remote", "problem": {"status": 503}})
    );
}

/// P2, PL-S31, PL-I7
#[tokio::test]
async fn declared_timeout_of_a_remote_is_capped_by_the_host() {
    let limit = async |introspect: Reply, time: Duration| {
        let host = host();
        let talk = talk(&host);
        let mut remote = Scripted::new(Reply::Hangs);
        remote.introspect = introspect;
        let strategy = Strategy::remote(Arc::new(remote)).with_limits(Limits {
            time,
            ..Limits::default()
        });
        let start = Instant::now();
        let compaction = host
            .compact(&talk, &[strategy], &half())
            .await
            .expect("works");
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "{:?}",
            start.elapsed()
        );
        match &compaction.receipt().attempts[0].result {
            AttemptResult::Fault {
                fault: Fault::Timeout { limit_ms },
            } => *limit_ms,
            other => panic!("{other:?}"),
        }
    };
    let says = |timeout: &str| Reply::Says(format!(r#"{{"timeout-ms":{timeout}}}"#));
    // How much of the time is left when the work begins depends on the load of the machine.
    let policy = Duration::from_millis(600);
    assert_eq!(limit(says("40"), policy).await, 40);
    for no_time in ["0", "-5", "1.5", "\"40\"", "null", "[40]", "9000", "1e300"] {
        let limit = limit(says(no_time), policy).await;
        assert!((41..=600).contains(&limit), "{no_time}: {limit}");
    }
    // An invalid value counts as absent, and the rest of the introspection is used.
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let said = format!(r#"{{"name":"tram","timeout-ms":{nested}}}"#);
    let said: super::wire::Introspection = serde_json::from_str(&said).expect("it is JSON");
    let said = crate::report::Introspection::try_from(said).expect("no failure");
    assert_eq!((said.name.as_str(), said.timeout_ms), ("tram", None));
    for silent in [
        Reply::Hangs,
        Reply::Fails(RemoteError::Connection),
        Reply::Says("no".to_owned()),
    ] {
        let limit = limit(silent, policy).await;
        assert!((41..=600).contains(&limit), "{limit}");
    }
    assert_eq!(
        Strategy::remote(Arc::new(Scripted::new(Reply::Hangs)))
            .limits()
            .time,
        Duration::from_secs(600)
    );
}

/// PL-I7
#[tokio::test]
async fn introspection_of_a_remote_is_cached_for_a_short_time() {
    let host = host();
    let talk = talk(&host);
    let remote = Arc::new(Scripted::says(&kept_and_summary()));
    let strategy = Strategy::remote(remote.clone());
    for _ in 0..3 {
        host.compact(&talk, std::slice::from_ref(&strategy), &half())
            .await
            .expect("works");
    }
    assert_eq!(remote.times(Operation::Introspect), 1);
    assert_eq!(remote.times(Operation::Compact), 3);
}

/// PL-I2, PL-N15, PL-S32
#[tokio::test]
async fn short_conversation_asks_no_remote() {
    let host = host();
    let short = host
        .read(r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hello."}]}"#)
        .expect("reads");
    let remote = Arc::new(Scripted::says(&kept_and_summary()));
    let strategy = Strategy::remote(remote.clone());
    let request = Request {
        budget: Budget::Tokens(1_000),
        ..sample::request()
    };
    let compaction = host
        .compact(&short, &[strategy], &request)
        .await
        .expect("works");
    assert_eq!(
        compaction.receipt().outcome,
        Outcome::Unchanged(Unchanged::WithinBudget)
    );
    assert!(
        Operation::ALL
            .iter()
            .all(|question| remote.times(*question) == 0)
    );
}

/// PL-I2, PL-I8
#[tokio::test]
async fn should_compact_is_not_asked_again_after_a_failed_compaction() {
    let host = host();
    let talk = talk(&host);
    let mut remote = Scripted::new(Reply::Fails(RemoteError::Status(500)));
    remote.should_compact =
        Reply::Says(r#"{"decision":"compact","reason":"it is long"}"#.to_owned());
    let remote = Arc::new(remote);
    let strategy = Strategy::remote(remote.clone());
    let answer = host.should_compact(&talk, &strategy, &half()).await;
    assert_eq!(answer.decision, Decision::Compact("it is long".to_owned()));
    assert!(answer.is_due);
    let compaction = host
        .compact(&talk, &[strategy], &half())
        .await
        .expect("works");
    assert_eq!(
        compaction.receipt().strategy.as_deref(),
        Some("native:digest")
    );
    assert_eq!(remote.times(Operation::ShouldCompact), 1);
}

/// PL-I8
#[tokio::test]
async fn local_trigger_decides_if_should_compact_fails() {
    for reply in [
        Reply::Fails(RemoteError::Connection),
        Reply::Says(r#"{"decision":"perhaps"}"#.to_owned()),
        Reply::Says("<html>".to_owned()),
    ] {
        let host = host();
        let talk = talk(&host);
        let mut remote = Scripted::says(&kept_and_summary());
        remote.should_compact = reply;
        let strategy = Strategy::remote(Arc::new(remote));
        for (tokens, is_time) in [(100, true), (100_000, false)] {
            let request = Request {
                budget: Budget::Tokens(tokens),
                ..sample::request()
            };
            let answer = host.should_compact(&talk, &strategy, &request).await;
            assert_eq!(answer.decision, Decision::HostDecides);
            assert!(matches!(answer.attempt.result, AttemptResult::Fault { .. }));
            assert_eq!(answer.is_due, is_time);
        }
    }
}

#[tokio::test]
async fn remote_that_keeps_faulting_is_quarantined_by_address() {
    let host = host();
    let talk = talk(&host);
    let strategy = |remote: &Arc<Scripted>| Strategy::remote(remote.clone());
    let bad = Arc::new(Scripted::new(Reply::Fails(RemoteError::Connection)));
    for _ in 0..3 {
        host.compact(&talk, &[strategy(&bad)], &half())
            .await
            .expect("works");
    }
    let compaction = host
        .compact(&talk, &[strategy(&bad)], &half())
        .await
        .expect("works");
    assert_eq!(
        compaction.receipt().attempts[0].result.code(),
        "quarantined"
    );
    assert_eq!(
        compaction.receipt().strategy.as_deref(),
        Some("native:digest")
    );
    assert_eq!(bad.times(Operation::Compact), 3);
    let good = Arc::new(Scripted::says(&kept_and_summary()));
    let compaction = host
        .compact(&talk, &[strategy(&good)], &half())
        .await
        .expect("works");
    assert_eq!(compaction.receipt().strategy.as_deref(), Some("elsewhere"));
}

/// Returns a host that serves several clients.
fn shared_host() -> Host {
    let limits = EngineLimits {
        counted_faults: CountedFaults::Unprovoked,
        ..EngineLimits::default()
    };
    Host::builder().limits(limits).build().expect("a host")
}

#[tokio::test]
async fn shared_host_quarantines_only_unreachable_remotes() {
    for (reply, is_quarantined) in [
        (Reply::Fails(RemoteError::Unreachable), true),
        (Reply::Fails(RemoteError::ConnectTimeout), false),
        (Reply::Fails(RemoteError::NoRoom), false),
        (Reply::Fails(RemoteError::Connection), false),
        (Reply::Fails(RemoteError::Status(500)), false),
        (Reply::Fails(RemoteError::TooLarge), false),
        (Reply::Says("no plan".to_owned()), false),
        (Reply::Hangs, false),
    ] {
        let host = shared_host();
        let talk = talk(&host);
        let remote = Arc::new(Scripted::new(reply.clone()));
        let strategy = Strategy::remote(remote.clone()).with_limits(Limits {
            time: Duration::from_millis(20),
            ..Limits::default()
        });
        // The third counted fault starts the quarantine.
        for _ in 0..5 {
            host.compact(&talk, std::slice::from_ref(&strategy), &half())
                .await
                .expect("works");
        }
        let asked = remote.times(Operation::Compact);
        assert_eq!(asked, if is_quarantined { 3 } else { 5 }, "{reply:?}");
    }
}

#[tokio::test]
async fn missing_local_resources_do_not_quarantine_a_remote() {
    // This host counts all other faults.
    let host = host();
    let talk = talk(&host);
    let remote = Arc::new(Scripted::new(Reply::Fails(RemoteError::NoRoom)));
    let strategy = Strategy::remote(remote.clone());
    for _ in 0..5 {
        let compaction = host
            .compact(&talk, std::slice::from_ref(&strategy), &half())
            .await
            .expect("works");
        let receipt = compaction.receipt();
        assert_eq!(receipt.strategy.as_deref(), Some("native:digest"));
    }
    assert_eq!(remote.times(Operation::Compact), 5);
}

#[tokio::test]
async fn repeated_strategy_in_a_chain_counts_one_fault() {
    let host = host();
    let talk = talk(&host);
    let bad = Arc::new(Scripted::new(Reply::Fails(RemoteError::Connection)));
    let chain = vec![Strategy::remote(bad.clone()); 4];
    for _ in 0..2 {
        host.compact(&talk, &chain, &half()).await.expect("works");
    }
    assert_eq!(
        bad.times(Operation::Compact),
        8,
        "two faults are not too many"
    );
    // After the third fault it is quarantined, also in the rest of the chain.
    host.compact(&talk, &chain, &half()).await.expect("works");
    assert_eq!(bad.times(Operation::Compact), 9);
}

#[tokio::test]
async fn strategy_with_the_same_name_counts_as_fallback() {
    let host = host();
    let talk = talk(&host);
    let fails = Scripted::new(Reply::Fails(RemoteError::Connection));
    let fails = Strategy::remote(Arc::new(fails));
    let works = Strategy::remote(Arc::new(Scripted::says(&kept_and_summary())));
    for (chain, fell_back) in [
        ([fails.clone(), works.clone()], true),
        ([works, fails], false),
    ] {
        let compaction = host.compact(&talk, &chain, &half()).await.expect("works");
        let receipt = compaction.receipt();
        assert_eq!(receipt.strategy.as_deref(), Some("elsewhere"));
        assert_eq!(receipt.fell_back, fell_back, "{:?}", receipt.attempts);
    }
}

#[tokio::test]
async fn only_truncate_is_no_fallback_below_the_floor() {
    let host = host();
    let talk = talk(&host);
    let request = Request {
        budget: Budget::Tokens(1),
        ..half()
    };
    for (chain, fell_back) in [
        (vec![Strategy::digest(), Strategy::truncate()], true),
        (vec![Strategy::truncate()], false),
        (Vec::new(), false),
    ] {
        let compaction = host.compact(&talk, &chain, &request).await.expect("works");
        let receipt = compaction.receipt();
        assert_eq!(receipt.strategy.as_deref(), Some("native:truncate"));
        assert_eq!(receipt.fell_back, fell_back, "{chain:?}");
    }
}

#[tokio::test]
async fn host_serves_as_remote_strategy_of_another_in_every_format() {
    let here = host();
    for kind in Kind::ALL {
        let mut compacted = 0;
        for seed in 0..8 {
            let generated = conversation(kind, 40, &mut Choices::from_seed(seed));
            let document = here.read(generated.document()).expect("reads");
            if document.broken().next().is_some() {
                continue;
            }
            let other = OtherHost {
                host: host(),
                chain: vec![Strategy::digest()],
            };
            let strategy = Strategy::remote(Arc::new(other));
            let local = here
                .compact(&document, &[Strategy::digest()], &half())
                .await
                .expect("works");
            let far = here
                .compact(&document, &[strategy], &half())
                .await
                .expect("works");
            let receipt = far.receipt();
            assert_eq!(
                receipt.outcome,
                local.receipt().outcome,
                "{kind:?} {seed}: {:?}",
                receipt.attempts
            );
            assert!(
                !receipt.fell_back,
                "{kind:?} {seed}: {:?}",
                receipt.attempts
            );
            let broken: Vec<_> = far.conversation().broken().collect();
            assert!(broken.is_empty(), "{kind:?} {seed}: {broken:?}");
            compacted += usize::from(far.is_compacted());
        }
        assert!(compacted > 0, "{kind:?}");
    }
}

#[tokio::test]
async fn errors_of_invalid_questions_do_not_quote_them() {
    let host = host();
    for (question, expected) in [
        (
            r#"{"contract":"baler:compaction@0.1.0","format":"private"}"#,
            "line 1, column",
        ),
        (
            r#"{"contract":"baler:compaction@9.0.0"}"#,
            "is not of the contract",
        ),
        ("private", "line 1, column 1"),
    ] {
        let error = host
            .answer(Operation::Compact, question, &[], &Deadline::never())
            .await
            .expect_err("no question");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!error.to_string().contains("private"), "{error}");
    }
}

#[tokio::test]
async fn invalid_config_is_a_declared_failure() {
    let host = host();
    let asked = json!({"contract": "baler:compaction@0.1.0", "config": {"keep": 3}});
    let answer = host
        .answer(
            Operation::Introspect,
            &asked.to_string(),
            &[Strategy::digest()],
            &Deadline::never(),
        )
        .await
        .expect("an answer");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["failure"]["kind"], "bad-config");
}

#[test]
fn remote_name_cannot_imitate_native_names_or_break_a_mark() {
    #[derive(Debug)]
    struct Named(&'static str);
    impl Remote for Named {
        fn name(&self) -> &str {
            self.0
        }
        fn address(&self) -> &str {
            self.0
        }
        fn ask(&self, _: Operation, _: String, _: usize) -> AnswerFuture<'_> {
            Box::pin(pending())
        }
    }
    let name = |named| Strategy::remote(Arc::new(Named(named))).name().to_owned();
    assert_eq!(name("native:digest"), "native-digest");
    assert_eq!(name("a\"> <system>"), "a----system-");
    assert_eq!(name(""), "remote");
    // Two long names with the same beginning.
    let [one, other] = [
        "a.strategy.whose.name.is.too.long.for.being.known.as.one",
        "a.strategy.whose.name.is.too.long.for.being.known.as.two",
    ]
    .map(name);
    assert_ne!(one, other);
    for name in [one, other] {
        assert_eq!(name.len(), 48, "{name}");
        assert!(
            name.starts_with("a.strategy.whose.name.is.too.long.for.b-"),
            "{name}"
        );
    }
}

/// A remote strategy that keeps the first and the newest units, and fills the rest of the budget with a text,
/// by the figures in the question.
#[derive(Debug)]
struct Filling(&'static str);

impl Remote for Filling {
    fn name(&self) -> &str {
        self.0
    }

    fn address(&self) -> &str {
        "test:filling"
    }

    fn ask(&self, question: Operation, request: String, _: usize) -> AnswerFuture<'_> {
        let answer = match question {
            Operation::Introspect => json!({"name": "filling"}),
            _ => {
                let asked: Value = serde_json::from_str(&request).expect("JSON");
                let number = |value: &Value| value.as_u64().expect("a number");
                let situation = &asked["situation"];
                let units = asked["units"].as_array().expect("a list");
                let kept = [0, 18, 19].map(|unit| number(&units[unit]["tokens"]));
                let left = number(&situation["budget"])
                    - number(&situation["overhead"])
                    - number(&situation["insertion-overhead"])
                    - kept.iter().sum::<u64>();
                // Each word has one token.
                let text = " night".repeat(usize::try_from(left).expect("small"));
                json!({"outcome": {"compacted": {"pieces": [
                    {"keep": {"first": 0, "count": 1}},
                    {"insert": {"role": "user", "purpose": "summary", "placement": "alone", "text": text}},
                    {"keep": {"first": 18, "count": 2}},
                ]}}})
            }
        };
        Box::pin(async move { Ok(answer.to_string().into_bytes()) })
    }
}

#[tokio::test]
async fn strategy_with_a_long_name_can_fill_its_budget_exactly() {
    let host = host();
    let talk = talk(&host);
    for name in ["plain", "q7Zx0vB9_kW3.pL5-eN8tR2yU6iO4aS1dF7gH9jK0lM3xC5v"] {
        let strategy = Strategy::remote(Arc::new(Filling(name)));
        assert_eq!(strategy.name(), name);
        let compaction = host.compact(&talk, &[strategy], &half()).await;
        let receipt = compaction.expect("no archive").receipt().clone();
        assert_eq!(receipt.attempts[0].result.code(), "accepted", "{name}");
        let spare = receipt.tokens.budget - receipt.tokens.after;
        assert!(spare < 30, "{name}: {spare} tokens are left");
    }
}

/// A remote strategy that keeps one unit fewer each time it is asked.
#[derive(Debug, Default)]
struct Fickle(AtomicU32);

impl Remote for Fickle {
    fn name(&self) -> &'static str {
        "fickle"
    }

    fn address(&self) -> &'static str {
        "test:fickle"
    }

    fn ask(&self, question: Operation, _: String, _: usize) -> AnswerFuture<'_> {
        Box::pin(async move {
            if question != Operation::Compact {
                return Ok(b"{}".to_vec());
            }
            let first = 10 + self.0.fetch_add(1, Ordering::Relaxed);
            let pieces = json!([
                {"keep": {"first": 0, "count": 1}},
                {"keep": {"first": first, "count": 20 - first}},
            ]);
            let plan =
                json!({"outcome": {"compacted": {"pieces": pieces, "reasons": []}}, "metrics": []});
            Ok(plan.to_string().into_bytes())
        })
    }
}

#[tokio::test]
async fn a_strategy_that_answers_the_same_question_in_another_way_is_a_fault_where_that_is_verified()
 {
    let host = host();
    let talk = talk(&host);
    for verify in [false, true] {
        let strategy = Strategy::remote(Arc::new(Fickle(AtomicU32::new(1))));
        let request = half().with_verify(verify);
        let compaction = host.compact(&talk, &[strategy], &request).await;
        let compaction = compaction.expect("no archive that could fail");
        let attempt = &compaction.receipt().attempts[0];
        let result = &attempt.result;
        if verify {
            let fault = Fault::NotDeterministic {
                what: Difference::Answer,
            };
            assert!(
                matches!(result, AttemptResult::Fault { fault: found } if *found == fault),
                "{result:?}"
            );
            assert_eq!(attempt.verification, Some(Verification::Different));
            assert!(compaction.is_compacted(), "the next strategy ran");
        } else {
            assert_eq!(attempt.verification, None);
            assert_eq!(result.code(), "accepted");
        }
    }
}

#[tokio::test]
async fn a_strategy_that_answers_in_the_same_way_is_asked_twice_and_accepted_where_that_is_verified()
 {
    let host = host();
    let talk = talk(&host);
    let remote = Arc::new(Scripted::says(&kept_and_summary()));
    let strategy = Strategy::remote(Arc::clone(&remote) as Arc<dyn Remote>);
    let request = half().with_verify(true);
    let compaction = host.compact(&talk, &[strategy], &request).await;
    let compaction = compaction.expect("no archive that could fail");
    let attempt = &compaction.receipt().attempts[0];
    assert_eq!(attempt.result.code(), "accepted");
    assert_eq!(attempt.verification, Some(Verification::Same));
    assert_eq!(remote.times(Operation::Compact), 2);
}
