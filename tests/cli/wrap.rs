//! `baler wrap`.

use std::fs;
#[cfg(target_os = "linux")]
use std::io::Write as _;
#[cfg(target_os = "linux")]
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

#[cfg(target_os = "linux")]
use crate::support::Ran;
use crate::support::{Bench, example};

/// A core module with all that the contract asks for, each function of which traps. `more` is added to it.
pub(crate) fn module(imports: &str, more: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
            {imports}
            (memory (export "memory") 1)
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) unreachable)
            (func (export "baler:compaction/strategy@0.1.0#introspect") (param i32 i32 i32) (result i32) unreachable)
            (func (export "baler:compaction/strategy@0.1.0#should-compact") (param i32) (result i32) unreachable)
            (func (export "baler:compaction/strategy@0.1.0#compact") (param i32) (result i32) unreachable)
            {more})"#
    );
    wat::parse_str(text).expect("a module")
}

const WRITES: &str =
    r#"(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))"#;
const ASKS: &str = r#"(import "baler:compaction/model@0.1.0" "available" (func (param i32)))"#;

#[test]
fn wrap_gives_a_module_the_types_of_the_contract() {
    let bench = Bench::new();
    let week = example("plan-a-week.openai.json");
    // The modules trap, but what they may do is read from the file. The types of the contract come from
    // `history`, so every component imports that. What is behind preview 1 is in the component, so it
    // imports no WASI.
    for (name, imports, code, shows) in [
        ("plain", "", 4, "  may       read the conversation\n"),
        ("writes", WRITES, 4, "  may       read the conversation\n"),
        ("asks", ASKS, 2, "`asks` wants to ask a model"),
    ] {
        let core = bench.file(&format!("{name}-core.wasm"), module(imports, ""));
        let wrapped = format!("{name}.wasm");
        let ran = bench.run(&["wrap", &core, "-o", &wrapped]).ends(0);
        assert!(ran.stderr.contains("`baler introspect "), "{}", ran.stderr);
        let ran = bench
            .run(&["compact", &week, "--strategy", &wrapped])
            .ends(code);
        assert!(ran.stderr.contains(shows), "{}", ran.stderr);
    }
}

#[test]
fn a_wrapped_module_runs_and_its_trap_falls_back() {
    let bench = Bench::new();
    let core = bench.file("core.wasm", module("", ""));
    bench
        .run(&["wrap", &core, "-o", "traps.wasm", "-q"])
        .ends(0)
        .says(&[]);
    let ran = bench.run(&[
        "compact",
        &example("plan-a-week.openai.json"),
        "--strategy",
        "traps.wasm",
    ]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("unreachable code or a panic"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_cannot_be_wrapped_is_refused_with_the_reason_and_nothing_is_written() {
    let bench = Bench::new();
    let file = |name: &str, bytes: &[u8]| bench.file(name, bytes);
    let exports_nothing =
        wat::parse_str(r#"(module (memory (export "memory") 1))"#).expect("a module");
    let unknown = module(r#"(import "env" "now" (func (result i64)))"#, "");
    let whole = module("", "");
    for (path, code, reason) in [
        (file("empty.wasm", b""), 5, "it is not WebAssembly"),
        (file("text.wasm", b"hello"), 5, "it is not WebAssembly"),
        (
            file("component.wasm", baler_strategies::ALL[0].wasm),
            5,
            "it is a component already",
        ),
        (
            file("cut.wasm", &whole[..whole.len() - 9]),
            5,
            "it is broken",
        ),
        (
            file("nothing.wasm", &exports_nothing),
            5,
            "baler:compaction/strategy@0.1.0",
        ),
        (file("unknown.wasm", &unknown), 5, "env"),
        ("nowhere.wasm".to_owned(), 5, "cannot read `nowhere.wasm`"),
    ] {
        let ran = bench.run(&["wrap", &path, "-o", "out.wasm"]);
        assert_eq!(ran.code, code, "{path}: {}", ran.stderr);
        assert!(ran.stderr.contains(reason), "{path}: {}", ran.stderr);
        assert!(!bench.path("out.wasm").exists(), "{path}");
    }
    let core = file("core.wasm", &whole);
    bench.run(&["wrap", &core, "-o", &core]).ends(2);
    assert_eq!(
        fs::read(bench.path("core.wasm")).expect("it is there"),
        whole
    );
    bench
        .run(&["wrap", &core, "-o", "no/such/folder.wasm"])
        .ends(2);
}

/// The program starts itself for the child. Where its file is gone it cannot, and then it wraps nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_module_is_read_in_a_child_process() {
    let bench = Bench::new();
    let program = Path::new(env!("CARGO_BIN_EXE_baler"));
    let beside = tempfile::tempdir_in(program.parent().expect("a folder")).expect("a folder");
    let link = beside.path().join("baler");
    fs::hard_link(program, &link).expect("a link");
    let mut running = Command::new(&link)
        .args(["wrap", "-", "-o", "out.wasm"])
        .env_clear()
        .env("NO_COLOR", "1")
        .current_dir(bench.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    fs::remove_file(&link).expect("the link is there");
    let mut stdin = running.stdin.take().expect("an input");
    stdin.write_all(&module("", "")).expect("it reads");
    drop(stdin);
    let ran = Ran::of(running.wait_with_output().expect("it ends"));
    ran.ends(1)
        .says(&["cannot wrap `-`: the child process", "cannot be started"]);
    assert!(!bench.path("out.wasm").exists());
}
