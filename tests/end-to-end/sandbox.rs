use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use baler_host::{
    Budget, Compiler, FileError, Host, HostError, Limits, Request, Strategy,
    child::ChildError,
    fault::Fault,
    receipt::AttemptResult,
    strategy::{CountedFaults, EngineLimits, LoadError},
};
use baler_hostile_guests as hostile;

use crate::support::{assert_good, builder, bundled, chat, half, host, host_with, read};

fn sliding_window() -> &'static [u8] {
    baler_strategies::by_name("sliding-window")
        .expect("it ships")
        .wasm
}

#[tokio::test]
async fn a_component_compiles_once_for_all_hosts_that_share_a_state_folder() {
    let state = tempfile::tempdir().expect("a folder");
    let first = builder(&state).build().expect("a host");
    first
        .load("sliding-window", sliding_window())
        .await
        .expect("compiles");
    let second = builder(&state)
        .compiler(Compiler::Program("/no/such/compiler".into()))
        .build()
        .expect("a host");
    second
        .load("sliding-window", sliding_window())
        .await
        .expect("comes from the cache");
}

#[tokio::test]
async fn a_corrupt_cache_entry_is_compiled_again_and_never_run() {
    let state = tempfile::tempdir().expect("a folder");
    let host = builder(&state).build().expect("a host");
    host.load("sliding-window", sliding_window())
        .await
        .expect("compiles");
    let entries: Vec<_> = std::fs::read_dir(state.path().join("compiled"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert_eq!(entries.len(), 1);
    let good = std::fs::read(&entries[0]).expect("reads");
    let mut flipped = good.clone();
    *flipped.last_mut().expect("not empty") ^= 1;
    for bad in [&flipped[..], &good[..good.len() / 2], b"", b"\x7fELF"] {
        std::fs::write(&entries[0], bad).expect("writes");
        let without = builder(&state)
            .compiler(Compiler::Program("/no/such/compiler".into()))
            .build()
            .expect("a host");
        let error = without.load("sliding-window", sliding_window()).await;
        assert!(
            matches!(
                error,
                Err(LoadError::Compiler(ChildError::NotStarted { .. }))
            ),
            "{error:?}"
        );
        builder(&state)
            .build()
            .expect("a host")
            .load("sliding-window", sliding_window())
            .await
            .expect("compiles again");
    }
    assert_eq!(std::fs::read(&entries[0]).expect("reads"), good);
}

#[cfg(unix)]
#[tokio::test]
async fn a_state_folder_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let state = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(state.path(), std::fs::Permissions::from_mode(0o777)).expect("sets");
    let error = builder(&state).build().expect_err("it is open");
    assert!(matches!(
        error,
        HostError::Files(FileError::NotPrivate { .. })
    ));
    assert!(error.to_string().contains("chmod 700"), "{error}");
}

#[tokio::test]
async fn a_broken_component_is_an_error_at_every_length() {
    let host = host();
    let good = sliding_window();
    for length in (0..good.len()).step_by(1_024) {
        let error = host.load("broken", &good[..length]).await;
        assert!(error.is_err(), "{length} bytes of {} load", good.len());
    }
}

#[tokio::test]
async fn component_over_the_size_limit_is_not_read() {
    let host =
        host_with(|builder| builder.limits(EngineLimits::default().with_component_bytes(1_000)));
    let error = host
        .load("large", sliding_window())
        .await
        .expect_err("too large");
    assert_eq!(error.code(), "too-large");
}

#[tokio::test]
async fn the_compiler_is_ended_by_its_own_limits() {
    let host =
        host_with(|builder| builder.limits(EngineLimits::default().with_compile_memory(24 << 20)));
    let error = host
        .load("hungry", sliding_window())
        .await
        .expect_err("no memory");
    assert!(
        matches!(
            error,
            LoadError::Compiler(ChildError::OverLimits { .. }) | LoadError::DoesNotCompile { .. }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn program_that_is_no_compiler_is_reported_as_that() {
    let state = tempfile::tempdir().expect("a folder");
    let host = builder(&state)
        .compiler(Compiler::Program("/bin/true".into()))
        .build()
        .expect("a host");
    let error = host
        .load("x", sliding_window())
        .await
        .expect_err("not a compiler");
    assert_eq!(error.code(), "no-compiler");
    let told = baler_host::with_causes(&error);
    assert!(told.contains("serve_as_compiler"), "{told}");
}

#[tokio::test]
async fn compiler_failure_is_not_reported_as_over_its_limits() {
    let state = tempfile::tempdir().expect("a folder");
    // It ends with 1 and says nothing.
    let host = builder(&state)
        .compiler(Compiler::Program("/bin/false".into()))
        .build()
        .expect("a host");
    let error = host.load("x", sliding_window()).await;
    let error = error.expect_err("not a compiler");
    assert_eq!(error.code(), "compiler-failed");
    let told = baler_host::with_causes(&error);
    assert!(told.contains("exit status: 1"), "{told}");
    assert!(!told.contains("2048 MiB"), "{told}");
}

/// On a runtime of one thread, a spinning guest must not keep others from their turn.
#[tokio::test]
async fn a_spinning_guest_leaves_the_executor_to_others() {
    let host = host();
    let conversation = read(host, &chat());
    let guest = spinning(host, Duration::from_millis(300)).await;
    let ticks = Arc::new(AtomicUsize::new(0));
    let ticker = tokio::spawn({
        let ticks = Arc::clone(&ticks);
        async move {
            loop {
                tokio::time::sleep(Duration::from_millis(10)).await;
                ticks.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let compaction = host
        .compact(&conversation, &[guest], &half())
        .await
        .expect("no archive that could fail");
    ticker.abort();
    assert!(compaction.receipt().fell_back);
    let ticks = ticks.load(Ordering::Relaxed);
    assert!(ticks >= 5, "{ticks} ticks in 300 ms");
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_nothing_behind() {
    // Room for one call: one that leaked would block all others.
    let host =
        host_with(|builder| builder.limits(EngineLimits::default().with_concurrent_calls(1)));
    let conversation = read(&host, &chat());
    let guest = spinning(&host, Duration::from_secs(20)).await;
    for _ in 0..5 {
        let request = half();
        let call = host.compact(&conversation, std::slice::from_ref(&guest), &request);
        assert!(
            tokio::time::timeout(Duration::from_millis(20), call)
                .await
                .is_err()
        );
    }
    let good = bundled(&host, "sliding-window").await;
    let compaction = host
        .compact(&conversation, &[good], &half())
        .await
        .expect("no archive that could fail");
    assert!(!compaction.receipt().fell_back);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_pool_is_the_hosts_failure_and_not_the_guests() {
    let host = Arc::new(host_with(|builder| {
        builder.limits(
            EngineLimits::default()
                .with_concurrent_calls(1)
                .with_faults(1),
        )
    }));
    let conversation = read(&host, &chat());
    let slow = spinning(&host, Duration::from_secs(2)).await;
    let good = bundled(&host, "sliding-window").await;
    let busy: Vec<_> = (0..2)
        .map(|_| {
            let (host, conversation, slow) =
                (Arc::clone(&host), conversation.clone(), slow.clone());
            tokio::spawn(async move { host.compact(&conversation, &[slow], &half()).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let turned_away = host
        .compact(&conversation, std::slice::from_ref(&good), &half())
        .await
        .expect("no archive that could fail");
    assert!(
        matches!(
            turned_away.receipt().attempts[0].result,
            AttemptResult::Host { .. }
        ),
        "{:?}",
        turned_away.receipt().attempts[0].result
    );
    assert!(
        turned_away.is_compacted(),
        "the native fallback needs no room"
    );
    for call in busy {
        call.await
            .expect("joins")
            .expect("no archive that could fail");
    }
    let later = host
        .compact(&conversation, &[good], &half())
        .await
        .expect("no archive that could fail");
    assert!(
        !later.receipt().fell_back,
        "it was quarantined for the host's failure"
    );
}

#[tokio::test]
async fn limits_are_for_each_call_and_do_not_add_up() {
    let host = host();
    let conversation = read(host, &chat());
    let good = bundled(host, "mask-tool-outputs").await;
    let used = host
        .compact(&conversation, std::slice::from_ref(&good), &half())
        .await
        .expect("no archive that could fail")
        .receipt()
        .attempts[0]
        .usage
        .fuel
        .expect("it ended by itself");
    let tight = good.with_limits(Limits::default().with_fuel(used + used / 10));
    for _ in 0..3 {
        let compaction = host
            .compact(&conversation, std::slice::from_ref(&tight), &half())
            .await
            .expect("no archive that could fail");
        assert!(!compaction.receipt().fell_back);
    }
    let starved = tight.with_limits(Limits::default().with_fuel(used / 2));
    let compaction = host
        .compact(&conversation, &[starved], &half())
        .await
        .expect("no archive that could fail");
    let AttemptResult::Fault { fault } = &compaction.receipt().attempts[0].result else {
        panic!("{:?}", compaction.receipt().attempts[0]);
    };
    assert_eq!(*fault, Fault::OutOfFuel { limit: used / 2 });
    assert_eq!(compaction.receipt().attempts[0].usage.fuel, Some(used / 2));
}

#[tokio::test]
async fn component_that_keeps_faulting_is_quarantined_and_the_chain_goes_on_at_once() {
    let host = host_with(|builder| builder);
    let conversation = read(&host, &chat());
    let guest = host
        .load("panics", hostile::PANIC.wasm)
        .await
        .expect("loads");
    for round in 0..5 {
        let compaction = host
            .compact(&conversation, std::slice::from_ref(&guest), &half())
            .await
            .expect("no archive that could fail");
        let result = &compaction.receipt().attempts[0].result;
        if round < 3 {
            assert!(matches!(result, AttemptResult::Fault { .. }), "{result:?}");
        } else {
            assert!(matches!(result, AttemptResult::Quarantined), "{result:?}");
        }
        assert_good(&conversation, &compaction, &host);
    }
    host.lift_quarantine();
    let compaction = host
        .compact(&conversation, &[guest], &half())
        .await
        .expect("no archive that could fail");
    assert!(matches!(
        compaction.receipt().attempts[0].result,
        AttemptResult::Fault { .. }
    ));
}

#[tokio::test]
async fn one_conversation_cannot_quarantine_a_component_for_another() {
    let host = host_with(|builder| builder);
    // It faults for each, so three of them quarantine it for all.
    let guest = host
        .load("panics", hostile::PANIC.wasm)
        .await
        .expect("loads");
    let about = |sheet: &str| chat().replace("the tariff tables;", sheet);
    let grown = about("tide").replace(
        r#""Now run the whole suite, please.""#,
        r#""Now run it, and the linter.""#,
    );
    assert_ne!(grown, about("tide"));
    for (document, is_run) in [
        (about("tide"), true),
        (about("tide"), true),
        (grown.clone(), true),
        (about("tide"), false),
        (grown, false),
        (about("関税"), true),
        (about("harbour"), true),
        (about("pier"), false),
    ] {
        let conversation = read(&host, &document);
        let compaction = host
            .compact(&conversation, std::slice::from_ref(&guest), &half())
            .await
            .expect("no archive that could fail");
        let result = &compaction.receipt().attempts[0].result;
        let has_run = matches!(result, AttemptResult::Fault { .. });
        assert_eq!(has_run, is_run, "{result:?}: {document}");
    }
}

#[tokio::test]
async fn shared_host_quarantines_only_components_that_cannot_start() {
    for (guest, rests) in [(hostile::PANIC, false), (hostile::PANIC_IN_START, true)] {
        let host = host_with(|builder| {
            builder.limits(EngineLimits::default().with_counted_faults(CountedFaults::Unprovoked))
        });
        let conversation = read(&host, &chat());
        let strategy = host.load(guest.name, guest.wasm).await.expect("loads");
        let mut last = None;
        for _ in 0..4 {
            let compaction = host
                .compact(&conversation, std::slice::from_ref(&strategy), &half())
                .await
                .expect("no archive that could fail");
            last = Some(compaction.receipt().attempts[0].result.clone());
        }
        let is_quarantined = matches!(last, Some(AttemptResult::Quarantined));
        assert_eq!(is_quarantined, rests, "{}: {last:?}", guest.name);
    }
}

#[tokio::test]
async fn one_call_cannot_read_what_another_left_in_memory() {
    let host = host();
    let conversation = read(host, &chat());
    for guest in [
        hostile::MEMORY_KEEPS_SECRETS,
        hostile::REMEMBERS_CONVERSATION,
    ] {
        let strategy = host.load(guest.name, guest.wasm).await.expect("loads");
        for _ in 0..20 {
            let compaction = host
                .compact(&conversation, std::slice::from_ref(&strategy), &half())
                .await
                .expect("no archive that could fail");
            assert!(
                !compaction.receipt().fell_back,
                "{}: {:?}",
                guest.name,
                compaction.receipt().attempts
            );
        }
    }
}

#[tokio::test]
async fn a_loop_ends_soon_after_its_time_and_the_fallback_takes_over() {
    let host = host();
    let conversation = read(host, &chat());
    let guest = spinning(host, Duration::from_millis(100)).await;
    let start = Instant::now();
    let compaction = host
        .compact(&conversation, &[guest], &half())
        .await
        .expect("no archive that could fail");
    let took = start.elapsed();
    assert!(took < Duration::from_millis(1_000), "{took:?}");
    let attempt = &compaction.receipt().attempts[0];
    assert!(matches!(
        attempt.result,
        AttemptResult::Fault {
            fault: Fault::Timeout { limit_ms: 100 }
        }
    ));
    assert_eq!(
        attempt.usage.fuel, None,
        "it cannot be known after a timeout"
    );
    assert_eq!(
        compaction.receipt().strategy.as_deref(),
        Some("native:digest")
    );
}

/// Memory of this process after thousands of calls is what it was after hundreds.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn calls_leave_no_memory_behind() {
    let host = host_with(|builder| builder);
    let conversation = read(&host, &chat());
    let guests = [
        bundled(&host, "sliding-window").await,
        host.load("bomb", hostile::MEMORY_BOMB.wasm)
            .await
            .expect("loads"),
    ];
    let request = Request::default().with_budget(Budget::Share(0.5));
    let mut after_hundreds = 0;
    for round in 0..500 {
        let guest = &guests[usize::from(round % 50 == 0)];
        host.lift_quarantine();
        let compaction = host
            .compact(&conversation, std::slice::from_ref(guest), &request)
            .await
            .expect("no archive that could fail");
        assert_eq!(compaction.receipt().fell_back, round % 50 == 0, "{round}");
        if round == 100 {
            after_hundreds = resident();
        }
    }
    let grown = resident().saturating_sub(after_hundreds);
    // Other tests of this process allocate meanwhile; an instance that is left behind has a megabyte
    // of memory and more, so that 400 calls would leave four times as much.
    assert!(grown < 100 << 20, "{} MiB more", grown >> 20);
}

#[cfg(target_os = "linux")]
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("reads");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .expect("a line");
    let kib: usize = line
        .split_whitespace()
        .nth(1)
        .and_then(|number| number.parse().ok())
        .expect("a number");
    kib << 10
}

async fn spinning(host: &Host, time: Duration) -> Strategy {
    host.load("loop-forever", hostile::LOOP_FOREVER.wasm)
        .await
        .expect("loads")
        .with_limits(Limits::default().with_time(time).with_fuel(u64::MAX))
}
