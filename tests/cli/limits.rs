//! Limits of strategies: `--timeout`, `--memory`, `--fuel`.

use std::time::{Duration, Instant};

use crate::support::{Bench, example};

#[test]
fn hanging_strategy_is_stopped_and_the_fallback_compacts() {
    let bench = Bench::new();
    let strategy = bench.file("loop-forever.wasm", baler_hostile_guests::LOOP_FOREVER.wasm);
    let input = example("book-a-flight.anthropic.json");
    // Compiled once, so that only the run is timed.
    bench.run(&["introspect", &strategy]).ends(0);
    let start = Instant::now();
    let ran = bench
        .run(&[
            "compact",
            &input,
            "--strategy",
            &strategy,
            "--timeout",
            "100ms",
            // On a busy machine the fuel could be used up first.
            "--fuel",
            "1000000000000",
        ])
        .ends(4)
        .says(&[
            "compacted by native:digest: a fallback",
            "loop-forever: it exceeded its time limit of 100 ms",
            "→ report this to its author; if it needs more by design, raise the time limit",
            "(--timeout)",
            "may       read the conversation",
            "native:digest: its plan was applied",
        ]);
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
    bench
        .run_with_input(&["compact", "--budget", "100%"], ran.stdout.as_bytes())
        .ends(0);
}

#[test]
fn limits_are_set_by_options() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let hungry = bench.file("memory-bomb.wasm", baler_hostile_guests::MEMORY_BOMB.wasm);
    bench
        .run(&["compact", &input, "-s", &hungry, "--memory", "8MiB"])
        .ends(4)
        .says(&["of memory together; the limit is 8 MiB", "(--memory)"]);
    bench
        .run(&["compact", &input, "-s", "sliding-window", "--fuel", "1"])
        .ends(4)
        .says(&["it used up its fuel: the limit is 1", "(--fuel)"]);
    bench
        .run(&[
            "compact",
            &input,
            "-s",
            "sliding-window",
            "--memory",
            "512MiB",
        ])
        .ends(0)
        .says(&["of 512 MiB of memory"]);
}
