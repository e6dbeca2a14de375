//! Every hostile guest against a real host. What is expected of each stands here once; a guest
//! without an arm does not compile. `tests/hostile/README.md` says what each one does.

use std::time::{Duration, Instant};

use baler_host::{
    Host, Limits, Strategy,
    fault::{Fault, PlanRule, Quantity, Trap},
    receipt::AttemptResult,
    strategy::{Decision, IntrospectError},
};
use baler_hostile_guests::Guest;

use crate::support::{assert_good, bundled, chat, half, host, read, share};

/// What the host asks of the guest.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ask {
    Compact,
    ShouldCompact,
    Introspect,
    Configure,
}

/// What must come of it.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    /// The component is not even loaded: the code of the error.
    Refused(&'static str),
    /// One of these faults; which one is a matter of the limits.
    Fault(&'static [&'static str]),
    FaultOrHarmless(&'static [&'static str]),
    Traps(Trap),
    TooLarge(Quantity),
    Breaks(PlanRule),
    /// The strategy reports a failure of its own.
    Declares,
    /// It says that nothing should be done.
    Declines,
    /// Its schema is refused, or the config is, and the host lives on.
    RefusesConfig,
    /// Its result is good.
    Harmless,
}

use Outcome::Fault as Faults;
use Outcome::{
    Breaks, Declares, Declines, FaultOrHarmless, Harmless, Refused, RefusesConfig, TooLarge, Traps,
};

macro_rules! expected {
    (allocator_calls_host) => {
        (Ask::Compact, Traps(Trap::ComponentModel))
    };
    (allocator_misaligned) => {
        (Ask::Compact, Faults(&["output-malformed"]))
    };
    (allocator_out_of_bounds) => {
        (Ask::Compact, Faults(&["output-malformed"]))
    };
    (bigger_than_input) => {
        (
            Ask::Compact,
            Faults(&[
                "invalid-result",
                "no-progress",
                "over-budget",
                "output-too-large",
            ]),
        )
    };
    (changes_its_mind) => {
        (Ask::Compact, Harmless)
    };
    (core_module) => {
        (Ask::Compact, Refused("core-module"))
    };
    (count_enormous) => {
        (Ask::Compact, TooLarge(Quantity::LiftedBytes))
    };
    (count_slow) => {
        (Ask::Compact, FaultOrHarmless(&["timeout"]))
    };
    (declared_failure) => {
        (Ask::Compact, Declares)
    };
    (divide_by_zero) => {
        (Ask::Compact, Traps(Trap::Arithmetic))
    };
    (drop_everything) => {
        (Ask::Compact, Breaks(PlanRule::DropsProtected))
    };
    (excerpt_million_runs) => {
        (Ask::Compact, TooLarge(Quantity::Runs))
    };
    (exports_nothing) => {
        (Ask::Compact, Refused("no-strategy"))
    };
    (forge_markers_in_rewrite) => {
        (Ask::Compact, Harmless)
    };
    (forge_tool_output) => {
        (Ask::Compact, Harmless)
    };
    (forge_markers) => {
        (Ask::Compact, Harmless)
    };
    (former_shape) => {
        (Ask::Compact, Refused("does-not-fit"))
    };
    (handle_flood) => {
        (
            Ask::Compact,
            Faults(&["output-too-large", "output-malformed"]),
        )
    };
    (host_call_flood) => {
        (
            Ask::Compact,
            Faults(&["timeout", "output-too-large", "out-of-fuel"]),
        )
    };
    (insert_control_characters) => {
        (Ask::Compact, Harmless)
    };
    (introspect_asks_for_nothing) => {
        (Ask::Introspect, Harmless)
    };
    (introspect_enormous) => {
        (Ask::Introspect, TooLarge(Quantity::LiftedBytes))
    };
    (introspect_fails) => {
        (Ask::Introspect, Declares)
    };
    (introspect_hostile_name) => {
        (Ask::Introspect, Harmless)
    };
    (introspect_lies) => {
        (Ask::Introspect, Harmless)
    };
    (introspect_many_codes) => {
        (Ask::Introspect, TooLarge(Quantity::LiftedBytes))
    };
    (introspect_schema_bomb) => {
        (Ask::Configure, RefusesConfig)
    };
    (introspect_schema_deep) => {
        (Ask::Configure, RefusesConfig)
    };
    (introspect_schema_endless) => {
        (Ask::Configure, RefusesConfig)
    };
    (introspect_schema_not_a_schema) => {
        (Ask::Configure, RefusesConfig)
    };
    (introspect_schema_not_json) => {
        (Ask::Configure, RefusesConfig)
    };
    (introspect_schema_remote) => {
        (Ask::Configure, RefusesConfig)
    };
    (introspect_schema_slow_pattern) => {
        (Ask::Configure, RefusesConfig)
    };
    (leak_through_codes) => {
        (Ask::Compact, Harmless)
    };
    (leak_through_words) => {
        (Ask::Compact, Declares)
    };
    (list_enormous) => {
        (Ask::Compact, TooLarge(Quantity::LiftedBytes))
    };
    (list_out_of_bounds) => {
        (Ask::Compact, Faults(&["output-malformed"]))
    };
    (log_flood) => {
        (Ask::Compact, FaultOrHarmless(&["timeout"]))
    };
    (log_flood_empty) => {
        (Ask::Compact, FaultOrHarmless(&["timeout"]))
    };
    (log_flood_endless) => {
        (
            Ask::Compact,
            Faults(&["timeout", "output-too-large", "out-of-fuel"]),
        )
    };
    (log_line_enormous) => {
        (Ask::Compact, TooLarge(Quantity::LiftedBytes))
    };
    (loop_forever) => {
        (Ask::Compact, Faults(&["out-of-fuel", "timeout"]))
    };
    (loop_in_allocator) => {
        (Ask::Compact, Faults(&["out-of-fuel", "timeout"]))
    };
    (loop_in_bulk_memory) => {
        (Ask::Compact, Faults(&["out-of-fuel", "timeout"]))
    };
    (loop_in_core_start) => {
        (Ask::Compact, Faults(&["out-of-fuel", "timeout"]))
    };
    (loop_in_introspect) => {
        (Ask::Introspect, Faults(&["out-of-fuel", "timeout"]))
    };
    (loop_in_panic_handler) => {
        (Ask::Compact, Faults(&["out-of-fuel", "timeout"]))
    };
    (loop_in_post_return) => {
        (Ask::Compact, Faults(&["out-of-fuel", "timeout"]))
    };
    (loop_in_should_compact) => {
        (Ask::ShouldCompact, Faults(&["out-of-fuel", "timeout"]))
    };
    (loop_in_start) => {
        (Ask::Compact, Faults(&["out-of-fuel", "timeout"]))
    };
    (many_instances) => {
        (Ask::Compact, Refused("over-limits"))
    };
    (many_memories) => {
        (Ask::Compact, Refused("over-limits"))
    };
    (many_tables) => {
        (Ask::Compact, Refused("over-limits"))
    };
    (memory_64_bit) => {
        (Ask::Compact, Refused("does-not-compile"))
    };
    (memory_bomb) => {
        (Ask::Compact, Faults(&["memory"]))
    };
    (memory_bomb_at_once) => {
        (Ask::Compact, Faults(&["memory"]))
    };
    (memory_huge_initial) => {
        (Ask::Compact, Refused("over-limits"))
    };
    (memory_in_introspect) => {
        (Ask::Introspect, Faults(&["memory"]))
    };
    (memory_keeps_secrets) => {
        (Ask::Compact, Harmless)
    };
    (metrics_not_finite) => {
        (Ask::Compact, Harmless)
    };
    (other_contract) => {
        (Ask::Compact, Refused("other-contract"))
    };
    (panic) => {
        (Ask::Compact, Traps(Trap::Unreachable))
    };
    (panic_in_introspect) => {
        (Ask::Introspect, Traps(Trap::Unreachable))
    };
    (panic_in_should_compact) => {
        (Ask::ShouldCompact, Traps(Trap::Unreachable))
    };
    (panic_in_start) => {
        (Ask::Compact, Traps(Trap::Unreachable))
    };
    (plan_millions_of_pieces) => {
        (Ask::Compact, TooLarge(Quantity::LiftedBytes))
    };
    (read_in_introspect) => {
        (Ask::Introspect, Harmless)
    };
    (read_out_of_range) => {
        (Ask::Compact, Harmless)
    };
    (reasons_flood) => {
        (Ask::Compact, TooLarge(Quantity::LiftedBytes))
    };
    (reasons_hostile) => {
        (Ask::Compact, Breaks(PlanRule::ReasonOutOfRange))
    };
    (recursion_deep) => {
        (Ask::Compact, Faults(&["stack"]))
    };
    (recursion_wide) => {
        (Ask::Compact, Traps(Trap::MemoryOutOfBounds))
    };
    (remembers_conversation) => {
        (Ask::Compact, Harmless)
    };
    (result_misaligned) => {
        (Ask::Compact, Faults(&["output-malformed"]))
    };
    (result_out_of_bounds) => {
        (Ask::Compact, Faults(&["output-malformed"]))
    };
    (strategy_incomplete) => {
        (Ask::Compact, Refused("does-not-fit"))
    };
    (string_amplified) => {
        (Ask::Compact, TooLarge(Quantity::LiftedBytes))
    };
    (string_enormous) => {
        (Ask::Compact, TooLarge(Quantity::LiftedBytes))
    };
    (string_enormous_decision) => {
        (Ask::ShouldCompact, TooLarge(Quantity::LiftedBytes))
    };
    (string_enormous_insertion) => {
        (Ask::Compact, TooLarge(Quantity::LiftedBytes))
    };
    (string_not_utf8) => {
        (Ask::Compact, Faults(&["output-malformed"]))
    };
    (string_not_utf8_to_host) => {
        (Ask::Compact, Faults(&["output-malformed"]))
    };
    (string_out_of_bounds) => {
        (Ask::Compact, Faults(&["output-malformed"]))
    };
    (string_out_of_bounds_to_host) => {
        (Ask::Compact, Faults(&["output-malformed"]))
    };
    (string_past_the_end) => {
        (Ask::Compact, Faults(&["output-malformed"]))
    };
    (table_bomb) => {
        (Ask::Compact, Faults(&["table"]))
    };
    (table_huge_initial) => {
        (Ask::Compact, Refused("over-limits"))
    };
    (unchanged_when_required) => {
        (Ask::Compact, Declines)
    };
    (unreachable) => {
        (Ask::Compact, Traps(Trap::Unreachable))
    };
    (variant_unknown) => {
        (Ask::Compact, Faults(&["output-malformed"]))
    };
    // Nobody granted it one, so its question goes nowhere.
    (wants_model) => {
        (Ask::Compact, Declines)
    };
    (wants_wasi_http) => {
        (Ask::Compact, Refused("import-not-offered"))
    };
    (wasi_asks_for_all_random) => {
        (Ask::Compact, Faults(&["output-malformed"]))
    };
    (wasi_clock_loop) => {
        (Ask::Compact, Faults(&["output-too-large", "timeout"]))
    };
    (wasi_exit) => {
        (Ask::Compact, Traps(Trap::Exit))
    };
    (wasi_handle_flood) => {
        (Ask::Compact, TooLarge(Quantity::Handles))
    };
    (wasi_looks_around) => {
        (Ask::Compact, Declines)
    };
    (wasi_output_flood) => {
        (Ask::Compact, Faults(&["output-too-large", "timeout"]))
    };
    (wasi_poll_list) => {
        (Ask::Compact, TooLarge(Quantity::LiftedBytes))
    };
    (wasi_random_flood) => {
        (Ask::Compact, Faults(&["output-too-large", "timeout"]))
    };
    (wasi_sleep) => {
        (Ask::Compact, Faults(&["output-too-large", "timeout"]))
    };
    (wasi_stopwatch) => {
        (Ask::Compact, Harmless)
    };
    (wasi_throws_dice) => {
        (Ask::Compact, Harmless)
    };
    (wasi_writes_at_once) => {
        (Ask::Compact, Faults(&["output-malformed"]))
    };
    (wasi_writes_lines) => {
        (Ask::Compact, Harmless)
    };
    (wild_call) => {
        (Ask::Compact, Traps(Trap::Table))
    };
    (wild_load) => {
        (Ask::Compact, Traps(Trap::MemoryOutOfBounds))
    };
}

macro_rules! test {
    ($guest:ident) => {
        #[tokio::test]
        async fn $guest() {
            let (ask, outcome) = expected!($guest);
            check(stringify!($guest), ask, outcome).await;
        }
    };
}

use baler_hostile_guests::for_each_hostile_guest;
for_each_hostile_guest!(test);

/// Small enough that a loop ends soon, large enough that an honest guest is done. Only where the time may
/// be what ends a call it is short: elsewhere a busy machine must not end it.
fn limits(outcome: Outcome) -> Limits {
    let is_ended_by_time = match outcome {
        Faults(codes) | FaultOrHarmless(codes) => codes.contains(&"timeout"),
        _ => false,
    };
    Limits::default()
        .with_fuel(500_000_000)
        .with_time(Duration::from_secs(if is_ended_by_time { 1 } else { 20 }))
        .with_memory(64 << 20)
}

/// What a call may take over its limit, on a machine that runs other tests beside.
const GRACE: Duration = Duration::from_secs(5);

async fn check(name: &str, ask: Ask, outcome: Outcome) {
    let name = name.replace('_', "-");
    let guest: &Guest = baler_hostile_guests::ALL
        .iter()
        .find(|guest| guest.name == name)
        .expect("a guest of that name");
    let host = host();
    match host.load(&name, guest.wasm).await {
        Err(error) => match outcome {
            Refused(code) => assert_eq!(error.code(), code, "{error}"),
            _ => panic!("refused at load: {error}"),
        },
        Ok(strategy) => {
            assert!(!matches!(outcome, Refused(_)), "loaded");
            let strategy = strategy.with_limits(limits(outcome));
            let start = Instant::now();
            match ask {
                Ask::Compact => compact(host, &strategy, outcome).await,
                Ask::ShouldCompact => should_compact(host, &strategy, outcome).await,
                Ask::Introspect => introspect(host, &strategy, outcome).await,
                Ask::Configure => configure(host, &strategy, outcome).await,
            }
            let took = start.elapsed();
            assert!(took < limits(outcome).time + GRACE, "it took {took:?}");
        }
    }
    the_next_call_works(host).await;
}

async fn compact(host: &Host, strategy: &Strategy, outcome: Outcome) {
    let conversation = read(host, &chat());
    let request = share(0.92)
// So that a declared failure and `unchanged` go on to the fallback.
.with_required(true)
// A guest that changes but one part gets under this.
;
    let compaction = host
        .compact(&conversation, std::slice::from_ref(strategy), &request)
        .await
        .expect("no archive that could fail");
    assert_good(&conversation, &compaction, host);
    assert!(compaction.is_compacted(), "{:?}", compaction.receipt());
    let result = &compaction.receipt().attempts[0].result;
    match (result, outcome) {
        (AttemptResult::Fault { fault }, outcome) => assert_fault(fault, outcome),
        (AttemptResult::Failure { .. }, Declares) => {}
        (AttemptResult::Declined, Declines) => {}
        (AttemptResult::Accepted, Harmless | FaultOrHarmless(_)) => {
            assert!(!compaction.receipt().fell_back);
            return;
        }
        (result, outcome) => panic!("expected {outcome:?}, got {result:?}"),
    }
    assert!(compaction.receipt().fell_back);
    assert_eq!(
        compaction.receipt().strategy.as_deref(),
        Some("native:digest")
    );
}

fn assert_fault(fault: &Fault, outcome: Outcome) {
    let as_expected = match outcome {
        Faults(codes) | FaultOrHarmless(codes) => codes.contains(&fault.code()),
        Traps(expected) => matches!(fault, Fault::Trap { trap } if *trap == expected),
        TooLarge(quantity) => {
            matches!(fault, Fault::OutputTooLarge { what, .. } if *what == quantity)
        }
        Breaks(rule) => matches!(fault, Fault::InvalidPlan(plan) if plan.rule == rule),
        Refused(_) | Declares | Declines | RefusesConfig | Harmless => false,
    };
    assert!(as_expected, "expected {outcome:?}, got {fault:?}");
}

async fn should_compact(host: &Host, strategy: &Strategy, outcome: Outcome) {
    let conversation = read(host, &chat());
    let answer = host.should_compact(&conversation, strategy, &half()).await;
    assert_eq!(answer.decision, Decision::HostDecides);
    assert!(answer.is_due, "over its budget, so the host says yes");
    match (&answer.attempt.result, outcome) {
        (AttemptResult::Fault { fault }, outcome) => assert_fault(fault, outcome),
        (result, outcome) => panic!("expected {outcome:?}, got {result:?}"),
    }
}

async fn introspect(host: &Host, strategy: &Strategy, outcome: Outcome) {
    match (host.introspect(strategy, None).await, outcome) {
        (Ok(_), Harmless) => {}
        (Err(IntrospectError::Declared { .. }), Declares) => {}
        (Err(IntrospectError::Fault(fault)), outcome) => assert_fault(&fault, outcome),
        (other, outcome) => panic!("expected {outcome:?}, got {other:?}"),
    }
}

async fn configure(host: &Host, strategy: &Strategy, outcome: Outcome) {
    assert!(matches!(outcome, RefusesConfig), "{outcome:?}");
    let config = r#"{"name": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}"#;
    let error = host.configure(strategy.clone(), config).await;
    assert!(error.is_err(), "its schema lets everything through");
}

async fn the_next_call_works(host: &Host) {
    let good = bundled(host, "sliding-window").await;
    let conversation = read(host, &chat());
    let compaction = host
        .compact(&conversation, &[good], &half())
        .await
        .expect("no archive that could fail");
    assert_good(&conversation, &compaction, host);
    assert_eq!(
        compaction.receipt().strategy.as_deref(),
        Some("sliding-window")
    );
    assert!(
        !compaction.receipt().fell_back,
        "{:?}",
        compaction.receipt().attempts
    );
}
