//! `baler introspect`, and strategy files that cannot be used.

use std::fs;

use crate::support::{Bench, example};

#[test]
fn unusable_strategy_files_are_reported_with_their_kind() {
    let bench = Bench::new();
    let file = |name: &str, bytes: &[u8]| bench.file(name, bytes);
    let huge = bench.path("huge.wasm");
    fs::File::create(&huge)
        .expect("a file")
        .set_len(64 << 20)
        .expect("a size");
    fs::create_dir(bench.path("folder.wasm")).expect("a folder");
    let cases = [
        (
            file("empty.wasm", b""),
            "the file is empty; give the .wasm component",
        ),
        (file("text.wasm", b"hello"), "the file is not WebAssembly"),
        (
            file("native.wasm", b"\x7fELF\x02"),
            "precompiled native code",
        ),
        (
            file("core.wasm", baler_hostile_guests::CORE_MODULE.wasm),
            "core WebAssembly module and not a component: wrap it with",
        ),
        (
            file("other.wasm", baler_hostile_guests::OTHER_CONTRACT.wasm),
            "is made for `baler:compaction@9.9.0`, and this host supports baler:compaction@0.1.0",
        ),
        (
            file("former.wasm", baler_hostile_guests::FORMER_SHAPE.wasm),
            "does not fit `baler:compaction@0.1.0` as this host defines it: rebuild it against the `wit` folder",
        ),
        (
            file("http.wasm", baler_hostile_guests::WANTS_WASI_HTTP.wasm),
            "which this host does not offer",
        ),
        (
            file("cut.wasm", &baler_strategies::ALL[0].wasm[..5_000]),
            "the file is broken at byte",
        ),
        (
            huge.to_str().expect("UTF-8").to_owned(),
            "the limit for components is",
        ),
        (
            "folder.wasm".to_owned(),
            "is a folder; name a strategy's .wasm file",
        ),
        (
            "nowhere.wasm".to_owned(),
            "cannot read the strategy `nowhere.wasm`; name a readable .wasm file",
        ),
        ("no/where".to_owned(), "cannot read the strategy `no/where`"),
    ];
    for (path, message) in cases {
        for command in ["introspect", "compact"] {
            let ran = match command {
                "compact" => bench.run(&[
                    "compact",
                    &example("plan-a-week.openai.json"),
                    "--strategy",
                    &path,
                ]),
                command => bench.run(&[command, &path]),
            };
            assert_eq!(
                (ran.code, ran.stdout.as_str()),
                (2, ""),
                "{path}: {}",
                ran.stderr
            );
            assert!(ran.stderr.contains(message), "{path}: {}", ran.stderr);
        }
    }
}

#[test]
fn text_of_a_strategy_reaches_the_terminal_escaped() {
    let bench = Bench::new();
    for guest in [
        baler_hostile_guests::INTROSPECT_HOSTILE_NAME,
        baler_hostile_guests::DECLARED_FAILURE,
    ] {
        let strategy = bench.file("stranger.wasm", guest.wasm);
        let shown = bench.run(&["introspect", &strategy]);
        let ran = bench.run(&[
            "compact",
            &example("fix-a-bug.openai.json"),
            "-s",
            &strategy,
            "--words",
        ]);
        for text in [shown.stdout, shown.stderr, ran.stderr] {
            assert!(
                text.chars().all(|c| c == '\n' || !c.is_control()),
                "{text:?}"
            );
        }
    }
}
