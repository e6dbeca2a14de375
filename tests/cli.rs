//! The program as people run it: exit codes, what goes where, and what is said about bad input.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are tests"
)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use baler_generated::broken_at;
use serde_json::{Value, json};
use tempfile::TempDir;

#[path = "cli/archive.rs"]
mod archive;

#[cfg(unix)]
#[path = "cli/environment.rs"]
mod environment;

#[cfg(unix)]
#[path = "cli/reading.rs"]
mod reading;

#[cfg(target_os = "linux")]
#[path = "cli/targets.rs"]
mod targets;

#[cfg(unix)]
#[path = "cli/terminal.rs"]
mod terminal;

#[path = "cli/whole_files.rs"]
mod whole_files;

mod state;

/// A folder of its own for a test: state, files and nothing of the person's who runs it. What was
/// compiled is shared.
struct Bench {
    folder: TempDir,
}

/// What a run came to.
#[derive(Debug)]
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        state::in_folder(folder.path());
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, content).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baler"));
        command
            .env_clear()
            .env("NO_COLOR", "1")
            .env("HOME", self.folder.path())
            .env("BALER_STATE", self.path("state"))
            .stdin(Stdio::null())
            .current_dir(self.folder.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command().args(arguments).output().expect("it runs"))
    }

    fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = self
            .command()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut stdin = child.stdin.take().expect("an input");
        let input = input.to_vec();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("it ends");
        writer.join().expect("written");
        Ran::of(output)
    }

    /// What is in the folder, apart from the state.
    fn entries(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.folder.path())
            .expect("the folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .filter(|name| name != "state")
            .collect();
        names.sort();
        names
    }
}

impl Ran {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("no signal"),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    #[track_caller]
    fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}", self.stderr);
        self
    }

    /// The words are on standard error, in this order.
    #[track_caller]
    fn says(self, words: &[&str]) -> Self {
        let mut rest = self.stderr.as_str();
        for word in words {
            let Some(at) = rest.find(word) else {
                panic!("`{word}` is not said, or not there:\n{}", self.stderr);
            };
            rest = &rest[at + word.len()..];
        }
        self
    }
}

fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/conversations")
        .join(name)
        .to_str()
        .expect("UTF-8")
        .to_owned()
}

fn examples() -> [String; 5] {
    [
        "fix-a-bug.openai.json",
        "book-a-flight.anthropic.json",
        "plan-a-week.openai.json",
        "sort-recipes.responses.json",
        "plan-a-sail.gemini.json",
    ]
    .map(example)
}

fn messages(document: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(document).expect("JSON");
    ["messages", "input", "contents"]
        .iter()
        .find_map(|list| document[*list].as_array())
        .expect("messages")
        .clone()
}

#[test]
fn every_example_gets_smaller_with_every_strategy_and_stays_valid() {
    let bench = Bench::new();
    for file in examples() {
        let before = fs::read_to_string(&file).expect("an example");
        for strategy in [
            "native:digest",
            "native:truncate",
            "sliding-window",
            "mask-tool-outputs",
        ] {
            let ran = bench
                .run(&["compact", &file, "--strategy", strategy])
                .ends(0);
            assert!(ran.stdout.len() < before.len(), "{file} with {strategy}");
            assert!(
                ran.stderr.contains(&format!("compacted by {strategy}")),
                "{}",
                ran.stderr
            );
            let first_of_user = |document: &str| {
                messages(document)
                    .into_iter()
                    .find(|message| message["role"] == "user")
            };
            assert_eq!(
                first_of_user(&ran.stdout),
                first_of_user(&before),
                "{file} with {strategy}"
            );
            // What came out is valid: a run over it finds nothing to do, not something wrong.
            let again = bench
                .run_with_input(&["compact", "--budget", "100%"], ran.stdout.as_bytes())
                .ends(3);
            assert_eq!(again.stdout, ran.stdout);
        }
    }
}

#[test]
fn nothing_of_the_conversation_is_told_to_people() {
    let bench = Bench::new();
    for strategy in ["native:digest", "mask-tool-outputs"] {
        let ran = bench
            .run(&["compact", &example("fix-a-bug.openai.json"), "-s", strategy])
            .ends(0);
        for word in ["abacus", "depth", "CHANGELOG", "brackets", "cargo"] {
            assert!(!ran.stderr.contains(word), "{word}: {}", ran.stderr);
        }
    }
}

#[test]
fn what_is_within_its_budget_comes_back_byte_for_byte() {
    let bench = Bench::new();
    let odd = "\u{feff} { \"messages\" : [ {\"role\":\"user\",\"content\":\"h\\u0069\", \"x\": 1.50e0} ] ,\r\n\"z\":1e2 }\n\n";
    let ran = bench
        .run_with_input(&["compact", "--budget", "1000"], odd.as_bytes())
        .ends(3);
    assert_eq!(ran.stdout, odd);
    assert!(
        ran.stderr
            .starts_with("unchanged: it is within its budget\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_broken_rule_is_told_with_its_place_and_remedy_and_nothing_is_done() {
    let bench = Bench::new();
    let document = json!({"messages": [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c9", "content": "a secret"},
        {"role": "user", "content": "bye"}]})
    .to_string();
    let ran = bench
        .run_with_input(&["compact"], document.as_bytes())
        .ends(5)
        .says(&[
            "error: the conversation breaks rules of openai-chat",
            "message 2: ",
            "(ALL-4)",
            "→ give every tool call a unique id",
        ])
        .says(&["message 3: ", "CHAT-1", "→ "]);
    assert_eq!(ran.stdout, document);
    assert!(!ran.stderr.contains("secret"));
    bench
        .run_with_input(&["should-compact", "--budget", "9"], document.as_bytes())
        .ends(5)
        .says(&["message 2", "→"]);
}

#[test]
fn input_that_cannot_be_read_is_told_by_what_it_is() {
    let bench = Bench::new();
    let example = fs::read(example("fix-a-bug.openai.json")).expect("an example");
    let deep = format!(
        r#"{{"messages":[{{"role":"user","content":{}1{}}}]}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let cases: [(&str, &[u8], &str); 11] = [
        ("empty", b"", "the document is empty"),
        ("blank", b" \n ", "the document is empty"),
        (
            "truncated",
            &example[..5_000],
            "not JSON: EOF while parsing",
        ),
        (
            "not UTF-8",
            b"{\"messages\": \"\xff\"}",
            "not UTF-8: the byte at offset 14",
        ),
        ("prose", b"hello there", "not JSON"),
        (
            "a number",
            b"99999999999999999999999999999999",
            "expected the document to be an object or a list",
        ),
        (
            "a request without a conversation",
            br#"{"model":"m","prompt":"x"}"#,
            "holds no conversation: give a request body",
        ),
        (
            "a response",
            br#"{"id":"r","choices":[{"message":{"role":"assistant","content":"x"}}]}"#,
            "looks like a response; give the request",
        ),
        (
            "a role of its own",
            br#"{"messages":[{"role":"wizard","content":"x"}]}"#,
            "message 1: `wizard` is not a role",
        ),
        (
            "a key twice",
            br#"{"messages":[{"role":"user","role":"user","content":"x"}]}"#,
            "message 1: key `role` comes twice",
        ),
        ("deep", deep.as_bytes(), "message 1: "),
    ];
    for (name, input, message) in cases {
        let file = bench.file("input.json", input);
        for ran in [
            bench.run(&["compact", &file]),
            bench.run_with_input(&["compact", "-"], input),
        ] {
            assert_eq!(
                (ran.code, ran.stdout.as_str()),
                (5, ""),
                "{name}: {}",
                ran.stderr
            );
            assert!(
                ran.stderr.starts_with("error: cannot read ") && ran.stderr.contains(message),
                "{name}: {}",
                ran.stderr
            );
            assert!(ran.stderr.len() < 600, "{name}: {}", ran.stderr);
        }
    }
}

#[test]
fn input_that_is_no_file_is_told_with_a_remedy() {
    let bench = Bench::new();
    bench.run(&["compact", "nowhere.json"]).ends(5).says(&[
        "cannot read `nowhere.json`; name a readable file",
        "No such file",
    ]);
    bench
        .run(&["compact", "."])
        .ends(5)
        .says(&["cannot read `.`", "it is a folder"]);
    bench
        .run(&["compact"])
        .ends(5)
        .says(&["the document is empty"]);
}

#[cfg(unix)]
#[test]
fn input_that_may_not_be_read_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    let file = bench.file("closed.json", "{}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).expect("closed");
    // Root may read everything, and then there is nothing to see here.
    if fs::read(&file).is_err() {
        bench
            .run(&["compact", &file])
            .ends(5)
            .says(&["closed.json", "Permission denied"]);
    }
}

#[test]
fn huge_numbers_and_unknown_fields_do_no_harm() {
    let bench = Bench::new();
    let document = r#"{"messages":[{"role":"user","content":"x","n":1e999999,"m":-99999999999999999999999999}],"seed":1e400}"#;
    let ran = bench.run_with_input(&["compact"], document.as_bytes());
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (3, document),
        "{}",
        ran.stderr
    );
}

#[test]
fn wrong_use_is_told_before_anything_is_read() {
    let bench = Bench::new();
    let cases: [(&[&str], &str); 29] = [
        (
            &["compact", "--budget", "0%"],
            "a share is more than 0% and at most 100%",
        ),
        (
            &["compact", "--budget", "120%"],
            "a share is more than 0% and at most 100%",
        ),
        (
            &["compact", "--budget", "-5"],
            "give a number of tokens such as 8000",
        ),
        (
            &["compact", "--budget", "0"],
            "1 asks for the smallest result",
        ),
        (
            &["compact", "--budget", "much"],
            "give a number of tokens such as 8000",
        ),
        (
            &["compact", "--budget", "99999999999"],
            "no request has so many tokens",
        ),
        (
            &["compact", "--pin", "second-user"],
            "give first-user, none, or numbers of units",
        ),
        (&["compact", "--fuel", "0"], "without fuel no strategy runs"),
        (
            &["compact", "--timeout", "0s"],
            "without time no strategy runs",
        ),
        (
            &["compact", "--timeout", "5"],
            "give a number with its unit",
        ),
        (
            &["compact", "--memory", "0"],
            "without memory no strategy runs",
        ),
        (
            &["compact", "--memory", "8GiB"],
            "a strategy can have 4GiB at most",
        ),
        (
            &["compact", "--format", "gemni"],
            "known formats: auto, openai-chat, openai-responses, anthropic, gemini",
        ),
        (
            &["compact", "--tokenizer", "gpt9"],
            "unknown tokenizer `gpt9`; known: auto, ",
        ),
        (
            &["compact", "--strategy", "masc-tool-outputs"],
            "did you mean `mask-tool-outputs`?",
        ),
        (
            &["compact", "--strategy", "digest"],
            "did you mean `native:digest`?",
        ),
        (
            &["compact", "--strategy", "qqq"],
            "Known: native:digest, native:summarize, native:truncate, ",
        ),
        (
            &["compact", "-s", "tiered", "-s", "trim", "-s", "tiered"],
            "`tiered` is named more than once; name each strategy once",
        ),
        (
            &["compact", "--config", "@nowhere.json"],
            "cannot read the config `nowhere.json`",
        ),
        (&["compact", "--no-such-option"], "unexpected argument"),
        (
            &["compact", "--receipt", "-", "--pin", "none"],
            "for a receipt on standard output, use `--json`",
        ),
        (
            &["compact", "--model", "opnai:gpt-5"],
            "`opnai` is no provider; write openai:MODEL",
        ),
        (
            &[
                "compact",
                "--model",
                "openai:gpt-5",
                "--model-key",
                "sk-1234567890",
            ],
            "it is never given itself",
        ),
        (
            &["compact", "--model", "http://me:hunter2@gulls.example/v1#m"],
            "--model: a base URL holds no user and no password",
        ),
        (
            &["compact", "--timeout", "18446744073709551615s"],
            "give a day (24h) at most",
        ),
        (&["compact", "--model-calls", "3"], "--model <MODEL>"),
        (
            &[
                "compact",
                "--instructions",
                "be brief",
                "--trigger",
                "overflow",
            ],
            "--instructions are a person's",
        ),
        (&["compact", "--context", "{"], "--context is not JSON"),
        (&["compress"], "unrecognized subcommand"),
    ];
    for (arguments, message) in cases {
        let ran = bench.run(arguments);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (2, ""),
            "{arguments:?}: {}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains(message),
            "{arguments:?}: {}",
            ran.stderr
        );
        for secret in ["sk-1234567890", "hunter2"] {
            assert!(!ran.stderr.contains(secret), "{}", ran.stderr);
        }
    }
}

#[test]
fn a_key_of_the_environment_is_not_sent_over_plain_http_to_another_machine() {
    let bench = Bench::new();
    let run = |model: &str| {
        let mut command = bench.command();
        command
            .env("BALER_MODEL_KEY", "sk-1234567890")
            .args(["compact", &example("plan-a-week.openai.json")])
            .args(["--dry-run", "--strategy", "native:truncate"])
            .args(["--model", model]);
        Ran::of(command.output().expect("it runs"))
    };
    run("http://gulls.example/v1#m")
        .ends(2)
        .says(&["can be read on its way to http://gulls.example/v1"]);
    run("http://127.0.0.1:9/v1#m").ends(0);
}

#[test]
fn a_pin_of_a_unit_that_is_not_there_is_wrong_use() {
    let bench = Bench::new();
    bench
        .run(&[
            "compact",
            &example("plan-a-week.openai.json"),
            "--pin",
            "0,999",
        ])
        .ends(2)
        .says(&["unit 999 cannot be pinned: the conversation has units 0 to "]);
}

#[test]
fn strategy_files_that_cannot_be_used_are_told_by_what_they_are() {
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
            "is made for `baler:compaction@9.9.0`, and this host speaks baler:compaction@0.1.0",
        ),
        (
            file("wasi.wasm", baler_hostile_guests::WANTS_WASI.wasm),
            "which this host does not offer",
        ),
        (
            file("cut.wasm", &baler_strategies::ALL[0].wasm[..5_000]),
            "the file is broken at byte",
        ),
        (
            huge.to_str().expect("UTF-8").to_owned(),
            "over the limit for components",
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
fn a_config_is_checked_against_the_schema_of_the_first_strategy() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let config = bench.file("config.json", r#"{"keep": 5}"#);
    bench
        .run(&[
            "compact",
            &input,
            "-s",
            "mask-tool-outputs",
            "--config",
            &format!("@{config}"),
        ])
        .ends(0);
    bench
        .run(&[
            "compact",
            &input,
            "-s",
            "mask-tool-outputs",
            "--config",
            r#"{"kep": 5}"#,
        ])
        .ends(2)
        .says(&[
            "the config of `mask-tool-outputs` is wrong",
            "kep",
            "`baler introspect mask-tool-outputs` shows what it takes",
        ]);
    // A file is named as it was typed.
    let bundled = baler_strategies::by_name("mask-tool-outputs").expect("bundled");
    bench.file("mine.wasm", bundled.wasm);
    let arguments = ["compact", &input, "-s", "./mine.wasm", "--config"];
    bench
        .run(&[&arguments[..], &[r#"{"kep": 5}"#]].concat())
        .ends(2)
        .says(&["`baler introspect ./mine.wasm` shows what it takes"]);
    bench
        .run(&[
            "compact",
            &input,
            "-s",
            "mask-tool-outputs",
            "--config",
            "{",
        ])
        .ends(2)
        .says(&["not JSON"]);
    bench
        .run(&["compact", &input, "-s", "native:digest", "--config", "{}"])
        .ends(2)
        .says(&["`native:digest` is baler's own and takes no config"]);
}

#[test]
fn a_strategy_that_hangs_is_ended_and_a_fallback_takes_over() {
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
        ])
        .ends(4)
        .says(&[
            "compacted by native:digest: a fallback",
            "loop-forever: it was not done in time: 100 ms",
            "→ raise the time limit",
            "(--timeout)",
            "may       read the conversation",
            "native:digest: its plan was carried out",
        ]);
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
    bench
        .run_with_input(&["compact", "--budget", "100%"], ran.stdout.as_bytes())
        .ends(3);
}

#[test]
fn limits_are_those_that_were_given() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let hungry = bench.file("memory-bomb.wasm", baler_hostile_guests::MEMORY_BOMB.wasm);
    bench
        .run(&["compact", &input, "-s", &hungry, "--memory", "8MiB"])
        .ends(4)
        .says(&["bytes of memory, over its limit: 8388608", "(--memory)"]);
    bench
        .run(&["compact", &input, "-s", "sliding-window", "--fuel", "1"])
        .ends(4)
        .says(&["it used up its fuel: 1", "(--fuel)"]);
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

#[test]
fn what_a_strategy_says_does_nothing_to_a_terminal() {
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

#[test]
fn strategies_of_one_name_are_refused() {
    let bench = Bench::new();
    fs::create_dir(bench.path("mine")).expect("a folder");
    let bundled = baler_strategies::by_name("sliding-window").expect("bundled");
    for file in ["theirs.wasm", "mine/theirs.wasm", "trim.wasm"] {
        bench.file(file, bundled.wasm);
    }
    let input = example("fix-a-bug.openai.json");
    for (one, two, name) in [
        ("theirs.wasm", "mine/theirs.wasm", "theirs"),
        ("trim.wasm", "trim", "trim"),
    ] {
        let told = format!("`{one}` and `{two}` have one name, `{name}`");
        bench
            .run(&["compact", &input, "-s", one, "-s", two])
            .ends(2)
            .says(&[&told, "give the file of one another name"]);
    }
    bench
        .run(&["compact", &input, "-s", "theirs.wasm", "-s", "trim.wasm"])
        .ends(0);
}

#[test]
fn a_file_cannot_take_the_name_of_the_hosts_own() {
    let bench = Bench::new();
    let strategy = bench.file(
        "native:digest.wasm",
        baler_hostile_guests::LOOP_FOREVER.wasm,
    );
    bench
        .run(&[
            "compact",
            &example("fix-a-bug.openai.json"),
            "-s",
            &strategy,
            "--timeout",
            "50ms",
        ])
        .ends(4)
        .says(&[
            "native-digest: it was not done in time",
            "native:digest: its plan was carried out",
        ]);
}

#[test]
fn a_dry_run_writes_nothing() {
    let bench = Bench::new();
    let ran = bench
        .run(&[
            "compact",
            &example("fix-a-bug.openai.json"),
            "--dry-run",
            "--archive",
            "archive",
            "--output",
            "out.json",
            "--receipt",
            "receipt.json",
        ])
        .ends(0)
        .says(&[
            "rewritten",
            "would be compacted by tiered",
            "would archive ",
            " in `archive`",
        ]);
    assert_eq!(ran.stdout, "");
    assert_eq!(bench.entries(), [] as [&str; 0]);
}

#[test]
fn output_and_receipt_are_written_and_what_left_is_archived() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let ran = bench
        .run(&[
            "compact",
            &input,
            "-o",
            "out.json",
            "--receipt",
            "receipt.json",
            "--archive",
            "archive",
        ])
        .ends(0)
        .says(&["archived ", " in `archive`"]);
    assert_eq!(ran.stdout, "");
    assert_eq!(bench.entries(), ["archive", "out.json", "receipt.json"]);
    let receipt: Value =
        serde_json::from_slice(&fs::read(bench.path("receipt.json")).expect("a receipt"))
            .expect("JSON");
    let archived = receipt["archive"].as_array().expect("an archive");
    assert!(!archived.is_empty());
    for unit in archived {
        let stored = bench.path("archive/entries").join(format!(
            "{}.json",
            unit["reference"].as_str().expect("a reference")
        ));
        serde_json::from_slice::<Vec<Value>>(&fs::read(stored).expect("stored")).expect("messages");
    }
    let out = fs::read_to_string(bench.path("out.json")).expect("an output");
    assert_eq!(receipt["bytes"]["after"], out.len());
}

#[test]
fn a_file_can_be_compacted_in_place_and_keeps_its_permissions() {
    let bench = Bench::new();
    let file = bench.file(
        "request.json",
        fs::read(example("plan-a-week.openai.json")).expect("an example"),
    );
    #[cfg(unix)]
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o640)).expect("set");
    let before = fs::metadata(&file).expect("there");
    bench
        .run(&["compact", &file, "-o", &file, "--quiet"])
        .ends(0);
    let after = fs::metadata(&file).expect("there");
    assert!(after.len() < before.len());
    assert_eq!(after.permissions(), before.permissions());
    assert_eq!(bench.entries(), ["request.json"]);
}

#[test]
fn an_output_that_cannot_be_written_is_known_before_anything_is_done() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    fs::create_dir(bench.path("folder")).expect("a folder");
    for (output, message) in [
        ("no/out.json", "`no/out.json`: No such file or directory"),
        ("folder", "it is a folder; name a file in it"),
    ] {
        let ran = bench
            .run(&[
                "compact",
                &input,
                "-o",
                output,
                "--archive",
                "archive",
                "--receipt",
                "receipt.json",
            ])
            .ends(1)
            .says(&["error: cannot write", message]);
        assert_eq!(ran.stdout, "");
        assert_eq!(bench.entries(), ["folder"]);
    }
}

#[test]
fn json_holds_conversation_receipt_and_units() {
    let bench = Bench::new();
    let input = example("book-a-flight.anthropic.json");
    let ran = bench.run(&["compact", &input, "--json"]).ends(0);
    assert_eq!(ran.stderr, "");
    let plain = bench.run(&["compact", &input]).ends(0).stdout;
    assert!(
        ran.stdout
            .starts_with(&format!("{{\"conversation\":{},", plain.trim()))
    );
    let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(value["receipt"]["outcome"], "compacted");
    let units = value["units"].as_array().expect("units");
    let after: u64 = units
        .iter()
        .map(|unit| unit["tokens-after"].as_u64().expect("tokens"))
        .sum();
    assert!(
        after
            <= value["receipt"]["tokens"]["after"]
                .as_u64()
                .expect("tokens")
    );
    assert_eq!(
        units.iter().filter(|unit| unit["unit"].is_u64()).count() as u64,
        value["receipt"]["units"]["before"]
    );
    assert_eq!(
        units
            .iter()
            .filter(|unit| unit["fate"] == "dropped")
            .count() as u64,
        value["receipt"]["units"]["dropped"]
    );

    let dry = bench
        .run(&["compact", &input, "--json", "--dry-run"])
        .ends(0);
    let dry: Value = serde_json::from_str(&dry.stdout).expect("JSON");
    assert!(dry.get("conversation").is_none());
    assert_eq!(dry["units"], value["units"]);
}

#[test]
fn quiet_says_nothing_but_errors() {
    let bench = Bench::new();
    let ran = bench
        .run(&["compact", &example("fix-a-bug.openai.json"), "-q"])
        .ends(0);
    assert_eq!(ran.stderr, "");
    bench
        .run(&["compact", "nowhere.json", "-q"])
        .ends(5)
        .says(&["error: "]);
}

#[test]
fn should_compact_answers_on_standard_output_and_by_its_exit_code() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    let goal = ["--budget", "10000"];
    let asked = |more: &[&str]| bench.run(&[&["should-compact", &input][..], &goal, more].concat());
    let yes = asked(&[]).ends(0);
    assert!(
        yes.stdout
            .starts_with("compact: baler decides: 11,777 tokens, over the budget: 10,000"),
        "{}",
        yes.stdout
    );
    let no = bench
        .run(&[
            "should-compact",
            &input,
            "--context-window",
            "16000",
            "-s",
            "sliding-window",
        ])
        .ends(3);
    assert!(no.stdout.starts_with("wait: "), "{}", no.stdout);
    let json = asked(&["--json"]).ends(0).stdout;
    assert_eq!(
        serde_json::from_str::<Value>(&json).expect("JSON")["decision"],
        "compact"
    );
    let hanging = bench.file(
        "hangs.wasm",
        baler_hostile_guests::LOOP_IN_SHOULD_COMPACT.wasm,
    );
    let ran = asked(&["-s", &hanging, "--timeout", "50ms"])
        .ends(0)
        .says(&[
            "warning: hangs was asked and failed",
            "→ raise the time limit",
        ]);
    assert!(
        ran.stdout.starts_with("compact: baler decides"),
        "{}",
        ran.stdout
    );
}

#[test]
fn strategies_are_listed_and_can_be_asked() {
    let bench = Bench::new();
    let list = bench.run(&["strategies", "--json"]).ends(0).stdout;
    let list: Vec<Value> = serde_json::from_str(&list).expect("JSON");
    assert!(list.len() >= 4);
    let words = bench.run(&["strategies"]).ends(0).stdout;
    for strategy in list {
        let name = strategy["name"].as_str().expect("a name");
        assert!(words.contains(name));
        assert!(
            !strategy["description"]
                .as_str()
                .expect("a description")
                .is_empty(),
            "{name}"
        );
        let shown = bench.run(&["introspect", name]).ends(0).stdout;
        assert!(shown.starts_with(&format!("{name}\n")), "{shown}");
        let json = bench.run(&["introspect", name, "--json"]).ends(0).stdout;
        assert_eq!(
            serde_json::from_str::<Value>(&json).expect("JSON")["strategy"],
            name
        );
        if strategy["native"] == false {
            assert!(
                shown.contains("What it says of itself:")
                    && shown.contains("contract  baler:compaction@0.1.0")
            );
        }
    }
}

#[test]
fn help_tells_exit_codes_and_examples() {
    let bench = Bench::new();
    for command in [
        "compact",
        "report",
        "should-compact",
        "introspect",
        "strategies",
    ] {
        for flag in ["--help", "-h"] {
            let help = bench.run(&[command, flag]).ends(0);
            assert!(help.stdout.contains("Exit codes:"), "{command} {flag}");
            assert_eq!(help.stderr, "");
        }
        assert!(
            bench.run(&[command, "--help"]).stdout.contains("Examples:"),
            "{command}"
        );
    }
    bench.run(&[]).ends(2).says(&["Usage: baler <COMMAND>"]);
}

#[test]
fn the_version_names_the_contract() {
    let bench = Bench::new();
    let version = bench.run(&["--version"]).ends(0).stdout;
    assert_eq!(
        version,
        format!(
            "baler {} (contract baler:compaction@0.1.0)\n",
            env!("CARGO_PKG_VERSION")
        )
    );
}

#[test]
fn without_a_state_folder_it_goes_on_where_it_needs_no_archive_and_says_so() {
    let bench = Bench::new();
    let file = bench.file("not-a-folder", "");
    let input = example("fix-a-bug.openai.json");
    let ran = bench
        .run(&[
            "compact",
            &input,
            "-s",
            "sliding-window",
            "--archive",
            "off",
            "--state",
            &format!("{file}/state"),
        ])
        .ends(0)
        .says(&[
            "warning: going on without a state folder",
            "not-a-folder",
            "name another folder with --state",
        ]);
    assert!(!ran.stdout.is_empty());
    let ran = Ran::of(
        bench
            .command()
            .env_remove("BALER_STATE")
            .env_remove("HOME")
            .args(["compact", &input, "--archive", "off"])
            .output()
            .expect("it runs"),
    );
    ran.ends(0)
        .says(&["neither $XDG_STATE_HOME nor $HOME says where"]);
}

#[cfg(unix)]
#[test]
fn a_state_folder_that_is_open_to_others_is_an_error() {
    let bench = Bench::new();
    let state = bench.path("open");
    fs::create_dir(&state).expect("a folder");
    fs::set_permissions(&state, std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("open");
    bench
        .run(&[
            "compact",
            &example("fix-a-bug.openai.json"),
            "--state",
            state.to_str().expect("UTF-8"),
        ])
        .ends(1)
        .says(&["is open to other users", "chmod 700"]);
}

#[test]
fn a_long_strip_stays_short() {
    let bench = Bench::new();
    let mut messages = vec![json!({"role": "system", "content": "Be brief."})];
    for turn in 0..2_000 {
        messages.push(json!({"role": "user", "content": format!("question {turn}")}));
        messages.push(json!({"role": "assistant", "content": format!("answer {turn}")}));
    }
    let document = json!({ "messages": messages }).to_string();
    let ran = bench
        .run_with_input(&["compact", "--dry-run"], document.as_bytes())
        .ends(0)
        .says(&["mixed"]);
    assert!(ran.stderr.lines().count() < 80, "{}", ran.stderr);
}

#[test]
fn a_receipt_never_takes_the_place_of_another_file() {
    let bench = Bench::new();
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("in.json");
    fs::copy(example("fix-a-bug.openai.json"), &input).expect("copies");
    let before = fs::read(&input).expect("reads");
    let detour = folder.path().join(".").join("in.json");
    let output = folder.path().join("out.json");
    let (input, detour, output) = (
        input.to_string_lossy(),
        detour.to_string_lossy(),
        output.to_string_lossy(),
    );
    for arguments in [
        vec!["compact", &input, "--receipt", &detour],
        vec!["compact", &input, "--output", &output, "--receipt", &output],
    ] {
        let ran = bench.run(&arguments).ends(2);
        assert!(
            ran.stderr.contains("in use for something else"),
            "{}",
            ran.stderr
        );
        assert_eq!(fs::read(&*input).expect("reads"), before);
        assert!(!fs::exists(&*output).expect("looks"));
    }
}

#[test]
fn validate_names_each_broken_rule_with_its_place_and_remedy() {
    let bench = Bench::new();
    for file in examples() {
        let ran = bench.run(&["validate", &file]).ends(0);
        assert!(ran.stdout.starts_with("valid: "), "{}", ran.stdout);
    }
    let broken = bench.file(
        "broken.json",
        json!({"model": "claude-sonnet-4-5", "messages": [
            {"role": "user", "content": "Weigh anchor, secret captain."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "weigh", "input": {}}]},
            {"role": "user", "content": [{"type": "text", "text": ""}]},
        ]})
        .to_string(),
    );
    let ran = bench.run(&["validate", &broken]).ends(5);
    for told in [
        "invalid: 3 messages of anthropic break rules at 2 places",
        "message 2: a `tool_use` has no `tool_result` in the next message (ANTH-3)",
        "→ answer every `tool_use`",
        "message 3: a text part is empty (ANTH-6)",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("secret"), "{}", ran.stdout);
    let ran = bench.run(&["validate", &broken, "--json"]).ends(5);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(told["valid"], false);
    assert_eq!(told["format"], "anthropic");
    assert_eq!(told["violations"][0]["rule"], "ANTH-3");
    assert_eq!(told["violations"][0]["message"], 2);
    assert_eq!(told["violations"][0]["severity"], "error");
    assert!(told["violations"][0]["remedy"].is_string());
    let ran = bench.run(&["validate", &broken, "-q"]).ends(5);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
}

/// A chat with an empty text, which OpenAI's servers answer, and long outputs.
fn chat_with_a_warning() -> Value {
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "dig", "arguments": "{}"}});
    json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Find the treasure."},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "only secret sand; ".repeat(200)},
        {"role": "assistant", "content": "Nothing here."},
        {"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "Go on."}]},
    ]})
}

#[test]
fn validate_shows_warnings_and_takes_a_conversation_with_nothing_else_for_valid() {
    let bench = Bench::new();
    let file = bench.file("warned.json", chat_with_a_warning().to_string());
    let ran = bench.run(&["validate", &file]).ends(0);
    for told in [
        "valid: 5 messages of openai-chat\nwarnings at 1 place: ",
        "\n  warning: message 5: a text part is empty (ALL-6)\n    → remove the empty text",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
    bench.run(&["validate", &file, "-q"]).ends(0);
    let ran = bench.run(&["validate", &file, "--json"]).ends(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(told["valid"], true);
    assert_eq!(places(&told["violations"]), [("ALL-6", 5)]);
    assert_eq!(told["violations"][0]["severity"], "warning");

    // Errors come first, and alone decide.
    let mut both = chat_with_a_warning();
    both["messages"][2]["tool_call_id"] = json!("c2");
    let both = bench.file("both.json", both.to_string());
    let ran = bench.run(&["validate", &both]).ends(5);
    let at = |words: &str| {
        ran.stdout
            .find(words)
            .unwrap_or_else(|| panic!("{words}: {}", ran.stdout))
    };
    assert!(at("(CHAT-1)") < at("\nwarnings at 1 place: "));
    assert!(!ran.stdout.contains("warning: message 3"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("secret"), "{}", ran.stdout);
}

#[test]
fn compact_tolerates_warnings_and_its_repair_takes_them_away() {
    let bench = Bench::new();
    let file = bench.file("warned.json", chat_with_a_warning().to_string());
    let arguments = ["compact", &file, "-s", "native:truncate", "--budget", "50%"];
    let ran = bench.run(&[&arguments[..], &["--json"]].concat()).ends(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(told["receipt"]["outcome"], "compacted");
    assert_eq!(told["receipt"]["violations"][0]["severity"], "warning");

    let ran = bench.run(&["validate", &file, "--repair"]).ends(0);
    let told = [
        "\n--repair would make 1 change\n",
        "(ALL-6)\nand leave no rule broken\n",
    ];
    assert!(
        told.iter().all(|told| ran.stdout.contains(told)),
        "{}",
        ran.stdout
    );
    let ran = bench
        .run(&["compact", &file, "--repair", "--budget", "100000"])
        .ends(0);
    let repaired = bench
        .run_with_input(&["validate"], ran.stdout.as_bytes())
        .ends(0);
    assert!(!repaired.stdout.contains("warning"), "{}", repaired.stdout);
}

#[test]
fn compact_tells_of_outputs_that_it_shortened_before_the_model_saw_them() {
    let bench = Bench::new();
    let mut body = chat_with_a_warning();
    let messages = body["messages"].as_array_mut().expect("messages");
    messages.truncate(3);
    messages[2]["content"] = json!("a line of a long chart\n".repeat(2_000));
    let file = bench.file("unseen.json", body.to_string());
    let receipt = bench.path("receipt.json");
    let receipt_file = receipt.to_str().expect("UTF-8");
    let arguments = [
        "compact",
        &file,
        "--budget",
        "2000",
        "--receipt",
        receipt_file,
    ];
    let ran = bench.run(&arguments);
    assert!([0, 4].contains(&ran.code), "{}", ran.stderr);
    let ran = ran.says(&["\n  outputs   shortened 1 output that the model has not seen\n"]);
    assert!(
        ran.stdout.contains("is shortened; whole: "),
        "{}",
        ran.stdout
    );
    let told: Value = serde_json::from_slice(&fs::read(&receipt).expect("is there")).expect("JSON");
    assert_eq!(told["units"]["outputs-shortened"], 1);
    let page = bench.run(&["report", receipt_file]).ends(0);
    let shown = "shortened 1 output that the model has not seen";
    assert!(page.stdout.contains(shown), "{}", page.stdout);
}

/// A chat with an id that two calls of one response have and an output without a call.
fn broken_chat() -> Value {
    let calls = |ids: &[&str]| {
        let calls = ids.iter().map(|id| json!({"id": id, "type": "function", "function": {"name": "dig", "arguments": "{}"}}));
        json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()})
    };
    let output = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text.repeat(50)});
    json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Find the treasure."},
        calls(&["c1"]),
        output("c1", "only sand here, and more of it; "),
        output("c9", "a secret map; "),
        calls(&["c1", "c1"]),
        output("c1", "a wooden box; "),
        {"role": "tool", "tool_call_id": "c1", "content": "a key"},
        {"role": "user", "content": "Open it."},
    ]})
}

/// The rules that a list of violations or repairs names, with the messages' numbers.
fn places(list: &Value) -> Vec<(&str, u64)> {
    let entries = list.as_array().expect("a list").iter();
    entries
        .map(|entry| {
            let rule = entry["rule"].as_str().expect("a rule");
            (rule, entry["message"].as_u64().expect("a number"))
        })
        .collect()
}

const REPAIRS: [(&str, u64); 3] = [("CHAT-1", 4), ("ALL-4", 5), ("ALL-4", 7)];

#[test]
fn a_repair_is_not_advised_where_it_would_mend_nothing() {
    let bench = Bench::new();
    // Nobody but the model can name what it called.
    let call = json!({"id": "c1", "type": "function", "function": {"arguments": "{}"}});
    let document = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "Find the treasure."},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "only sand here; ".repeat(50)},
        {"role": "user", "content": "Dig deeper."},
    ]});
    let file = bench.file("nameless.json", document.to_string());
    let ran = bench
        .run(&["compact", &file, "--budget", "60%", "-s", "native:truncate"])
        .ends(5)
        .says(&["nothing was done, and --repair can mend none of it"]);
    assert_eq!(ran.stdout, document.to_string());
}

#[test]
fn a_conversation_that_breaks_rules_is_refused_without_repair_and_compacted_with_it() {
    let bench = Bench::new();
    let document = broken_chat().to_string();
    let file = bench.file("broken.json", &document);
    let arguments = ["compact", &file, "--budget", "60%", "-s", "native:truncate"];
    let ran = bench
        .run(&arguments)
        .ends(5)
        .says(&["nothing was done; --repair mends what can be mended"]);
    assert_eq!(ran.stdout, document);

    let repaired = [&arguments[..], &["--repair"]].concat();
    let ran = bench.run(&repaired).ends(0).says(&[
        "compacted by native:truncate",
        "repaired  3 changes for ALL-4, CHAT-1",
        "archived ",
    ]);
    assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    bench
        .run_with_input(&["validate"], ran.stdout.as_bytes())
        .ends(0);

    let with_json = [&repaired[..], &["--json", "--archive", "bales"]].concat();
    let ran = bench.run(&with_json).ends(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let receipt = &told["receipt"];
    assert_eq!(receipt["outcome"], "compacted");
    assert_eq!(receipt["violations"], json!([]));
    assert_eq!(places(&receipt["repairs"]), REPAIRS);
    for original in receipt["originals"].as_array().expect("a list") {
        let reference = original["reference"].as_str().expect("a reference");
        let stored = fs::read(
            bench
                .path("bales/entries")
                .join(format!("{reference}.json")),
        );
        let stored: Value = serde_json::from_slice(&stored.expect("is there")).expect("JSON");
        let number = original["message"].as_u64().expect("a number") as usize;
        assert_eq!(stored, json!([broken_chat()["messages"][number - 1]]));
    }
}

#[test]
fn a_conversation_within_its_budget_comes_out_repaired() {
    let bench = Bench::new();
    let file = bench.file("broken.json", broken_chat().to_string());
    let arguments = ["compact", &file, "--repair", "--budget", "100000"];
    let mut expected = broken_chat();
    let messages = expected["messages"].as_array_mut().expect("messages");
    messages.remove(3);
    messages[3]["tool_calls"][1]["id"] = json!("c1-2");
    messages[5]["tool_call_id"] = json!("c1-2");

    let ran = bench.run(&[&arguments[..], &["--archive", "bales"]].concat());
    let ran = ran.ends(0).says(&[
        "repaired, not compacted: it is within its budget",
        "archived 3 messages as they were before the repair in `bales`",
    ]);
    let out: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(out, expected);
    bench
        .run_with_input(&["compact", "--budget", "100000"], ran.stdout.as_bytes())
        .ends(3);

    let dry = [&arguments[..], &["--dry-run", "--receipt", "receipt.json"]].concat();
    let ran = bench.run(&dry).ends(0).says(&["would be repaired"]);
    assert_eq!(ran.stdout, "");
    assert_eq!(bench.entries(), ["bales", "broken.json"]);
}

/// A conversation with a break that can be mended and, behind it, one that cannot.
fn half_mendable() -> String {
    let sealed = json!([{"type": "thinking", "thinking": "secret", "signature": "c2ln"}, {"type": "text", "text": " "}]);
    json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": "Find the treasure."},
        {"role": "user", "content": []},
        {"role": "assistant", "content": sealed},
        {"role": "user", "content": "Open it."},
    ]})
    .to_string()
}

#[test]
fn what_no_repair_can_mend_is_told_and_nothing_is_done() {
    let bench = Bench::new();
    let file = bench.file("broken.json", half_mendable());
    for command in ["compact", "should-compact"] {
        let arguments = [command, &file, "--repair", "--budget", "9"];
        let ran = bench.run(&arguments).ends(5).says(&[
            "breaks rules of anthropic at 1 place; --repair cannot mend that, so nothing was done",
            "message 3: a text part is empty (ANTH-6)",
            "→ remove the empty text",
        ]);
        assert!(!ran.stderr.contains("message 2"), "{}", ran.stderr);
        if command == "compact" {
            assert_eq!(ran.stdout, half_mendable());
        }
    }
}

#[test]
fn should_compact_asks_about_the_repaired_conversation() {
    let bench = Bench::new();
    let file = bench.file("broken.json", broken_chat().to_string());
    let arguments = ["should-compact", &file, "--budget", "100000"];
    bench.run(&arguments).ends(5);
    bench.run(&[&arguments[..], &["--repair"]].concat()).ends(3);
}

#[test]
fn the_cache_holds_what_stands_before_the_first_repair() {
    let bench = Bench::new();
    let file = bench.file("broken.json", broken_chat().to_string());
    let compacted = |previous: &str| -> Value {
        let goal = ["--budget", "60%", "-s", "native:truncate"];
        let more = ["--repair", "--json", "--previous", previous];
        let ran = bench.run(&[&["compact", &file][..], &goal, &more].concat());
        serde_json::from_str(&ran.ends(0).stdout).expect("JSON")
    };
    let told = compacted(&file);
    let units = told["units"].as_array().expect("a list").iter();
    let before_it: u64 = units
        .filter(|entry| entry["unit"].as_u64().is_some_and(|unit| unit < 2))
        .filter_map(|entry| entry["tokens-before"].as_u64())
        .sum();
    assert_eq!(told["receipt"]["cache"]["tokens-cached"], before_it);
    // What was sent last was repaired as well.
    let repaired = bench.run(&["compact", &file, "--repair", "--budget", "100000"]);
    let repaired = bench.file("repaired.json", repaired.ends(0).stdout);
    let told = compacted(&repaired);
    assert_eq!(
        told["receipt"]["cache"]["tokens-cached"],
        told["receipt"]["tokens"]["before"]
    );
}

#[test]
fn validate_tells_what_a_repair_would_do_and_leave() {
    let bench = Bench::new();
    let file = bench.file("broken.json", broken_chat().to_string());
    bench.run(&["validate", &file]).ends(5);
    let ran = bench.run(&["validate", &file, "--repair"]).ends(0);
    let told = "\n--repair would make 3 changes\n  message 4: left out: an output without a call (CHAT-1)\n";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("and leave no rule broken\n"));
    let ran = bench.run(&["validate", &file, "--repair", "--json"]);
    let told: Value = serde_json::from_str(&ran.ends(0).stdout).expect("JSON");
    assert_eq!(told["valid"], false);
    assert_eq!(places(&told["repairs"]), REPAIRS);
    assert_eq!(told["unrepaired"], json!([]));

    let file = bench.file("half.json", half_mendable());
    let ran = bench.run(&["validate", &file, "--repair"]).ends(5);
    assert!(
        ran.stdout.contains("\n--repair would make 1 change\n  message 2: left out: a message without content (ANTH-6)\nand leave rules broken at 1 place\n  message 3: "),
        "{}",
        ran.stdout
    );
    assert_eq!(bench.entries(), ["broken.json", "half.json"]);
    let valid = example("fix-a-bug.openai.json");
    let ran = bench.run(&["validate", &valid, "--repair"]).ends(0);
    assert!(ran.stdout.starts_with("valid: ") && !ran.stdout.contains("repair"));
}

#[test]
fn of_many_broken_rules_the_first_are_told_and_all_are_counted() {
    let many = 10_000;
    let bench = Bench::new();
    let file = bench.file("many.json", broken_at(many));
    let ran = bench.run(&["validate", &file, "--repair"]).ends(0);
    let parts = [
        "break rules at 10,000 places\n  message 2: a content has no parts (GEM-5)",
        "\n  … and 9,000 more (GEM-5)\n",
        "\n--repair would make 10,000 changes\n  message 2: ",
        "\n  … and 9,000 more (GEM-5)\nand leave no rule broken\n",
    ];
    let mut rest = ran.stdout.as_str();
    for part in parts {
        let at = rest.find(part).expect(part);
        rest = &rest[at + part.len()..];
    }
    assert_eq!(ran.stdout.matches("\n  message ").count(), 2_000);

    let broken = json!({"total": many, "errors": many, "warnings": 0, "rules": [{"rule": "GEM-5", "errors": many, "warnings": 0}]});
    let mended = json!({"total": many, "rules": [{"rule": "GEM-5", "repairs": many}]});
    let length = |list: &Value| list.as_array().map(Vec::len);
    let ran = bench
        .run(&["validate", &file, "--repair", "--json"])
        .ends(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(length(&told["violations"]), Some(1_000));
    assert_eq!(told["violation-counts"], broken);
    assert_eq!(length(&told["repairs"]), Some(1_000));
    assert_eq!(told["repair-counts"], mended);
    assert_eq!(told["unrepaired-counts"]["total"], 0);

    let compact = |more: &[&str]| {
        let arguments = [
            "compact",
            &file,
            "--budget",
            "100000",
            "-s",
            "native:truncate",
        ];
        bench.run(&[&arguments[..], more].concat())
    };
    let receipt = |more: &[&str], code| -> Value {
        let ran = compact(more).ends(code);
        let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        told["receipt"].clone()
    };
    let unchanged = receipt(&["--json"], 5);
    assert_eq!(length(&unchanged["violations"]), Some(1_000));
    assert_eq!(unchanged["violation-counts"], broken);
    let repaired = receipt(&["--json", "--repair"], 0);
    assert_eq!(repaired["outcome"], "repaired");
    assert_eq!(length(&repaired["repairs"]), Some(1_000));
    assert_eq!(repaired["repair-counts"], mended);
    assert_eq!(length(&repaired["originals"]), Some(1_000));
    assert_eq!(repaired["original-count"], many);
    compact(&[]).ends(5).says(&[
        "breaks rules of gemini at 10,000 places",
        "… and 9,980 more",
    ]);
    compact(&["--repair"]).ends(0).says(&[
        "repaired  10,000 changes for GEM-5; the receipt (--receipt, --json) lists the first 1,000",
        "10,000 messages as they were before the repair",
    ]);
}

#[test]
fn a_session_log_becomes_the_request_of_its_provider() {
    let bench = Bench::new();
    let log = example("fix-a-clock.claude-code.jsonl");
    let ran = bench.run(&["compact", &log, "--budget", "40%"]).ends(0);
    assert!(
        ran.stderr.contains("half-written last line"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stdout.contains("a sub-agent's words"));
    let body: Value = serde_json::from_str(&ran.stdout).expect("a request body");
    assert_eq!(body["model"], "claude-sonnet-4-5");
    bench
        .run_with_input(&["validate"], ran.stdout.as_bytes())
        .ends(0);
}

#[test]
fn a_session_log_is_never_replaced_by_a_request() {
    let bench = Bench::new();
    let log = fs::read(example("fix-a-clock.claude-code.jsonl")).expect("an example");
    let file = bench.file("session.jsonl", &log);
    let ran = bench.run(&["compact", &file, "--output", &file]).ends(2);
    assert!(
        ran.stderr.contains("would replace the claude-code log"),
        "{}",
        ran.stderr
    );
    assert_eq!(fs::read(&file).expect("still there"), log);
}

#[test]
fn what_the_provider_said_and_was_sent_is_taken_into_account() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    let ran = bench
        .run(&[
            "compact",
            &file,
            "--used",
            "20000",
            "--previous",
            &file,
            "--json",
        ])
        .ends(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let before = told["receipt"]["tokens"]["before"]
        .as_u64()
        .expect("a number");
    assert!(before.abs_diff(20_000) < 400, "{before}");
    let cache = &told["receipt"]["cache"];
    assert_eq!(cache["tokens-cached"], before);
    assert!(cache["tokens-thrown-away"].as_u64() > Some(0), "{cache}");
    // A little over the budget, with all of it cached and one request to follow, it can wait.
    let tokens = bench
        .run(&["should-compact", &file, "--budget", "11000", "--json"])
        .ends(0);
    assert!(tokens.stdout.contains("\"compact\""), "{}", tokens.stdout);
    let waits = bench
        .run(&[
            "should-compact",
            &file,
            "--budget",
            "11000",
            "--previous",
            &file,
            "--requests-ahead",
            "1",
        ])
        .ends(3);
    let told = "over the budget: 11,000, but what the provider has cached";
    assert!(waits.stdout.contains(told), "{}", waits.stdout);
}

#[test]
fn when_it_is_time_has_to_be_said_by_a_size_or_a_window() {
    let bench = Bench::new();
    let input = example("fix-a-bug.openai.json");
    for goal in [&[][..], &["--budget", "50%"]] {
        let arguments = [&["should-compact", &input][..], goal].concat();
        let ran = bench.run(&arguments).ends(2);
        assert!(
            ran.stderr.contains("--context-window TOKENS"),
            "{}",
            ran.stderr
        );
    }
    let window = ["should-compact", &input, "--context-window", "14000"];
    let ran = bench.run(&window).ends(0);
    let told = "11,777 tokens, over the budget: 11,200 (80% of the context window)";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    bench
        .run(&[&window[..], &["--budget", "90%"]].concat())
        .ends(3);
}

#[test]
fn figures_and_requests_of_another_conversation_are_told() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    bench
        .run(&["compact", &file, "--used", "9000000"])
        .ends(0)
        .says(&["warning: --used 9,000,000 does not fit this conversation"]);
    let ran = bench.run(&["compact", &file, "--used", "14000"]).ends(0);
    assert!(!ran.stderr.contains("does not fit"), "{}", ran.stderr);
    // What happened is told: it names a model whose vocabulary is known, unless another is chosen.
    let few = ["compact", "-n", &file, "--used", "1000"];
    bench.run(&few).says(&[
        "the vocabulary of this model is known, so the count is never corrected downwards",
    ]);
    bench
        .run(&[&few[..], &["--tokenizer", "cl100k_base"]].concat())
        .says(&["counts are corrected down to a quarter at most"]);
    let other = bench.file("other.json", half_mendable());
    bench
        .run(&["compact", &file, "--previous", &other])
        .ends(2)
        .says(&["the previous request is in the format anthropic, and this one in openai-chat"]);
}

#[test]
fn a_limit_below_what_has_to_stay_gives_the_smallest_result() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    let arguments = [
        "compact",
        &file,
        "--budget",
        "90%",
        "--max-bytes",
        "10",
        "--json",
    ];
    let ran = bench.run(&arguments).ends(4);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let receipt = &told["receipt"];
    assert_eq!(receipt["below-floor"], json!(["bytes"]));
    assert_eq!(receipt["strategy"], "native:truncate");
    let after = receipt["tokens"]["after"].as_u64().expect("a number");
    let floor = receipt["tokens"]["floor"].as_u64().expect("a number");
    assert!(after >= floor && after < floor + 100, "{after} {floor}");
    bench
        .run(&["compact", &file, "--max-bytes", "10"])
        .ends(4)
        .says(&["the limit of bytes is below the floor, so only what has to stay stays"]);
    // So it is told where nothing can be done for it.
    let only = r#"{"messages":[{"role":"user","content":"Water the roses."}]}"#;
    for more in [&["--budget", "1"][..], &["--budget", "9000"]] {
        let arguments = [&["compact", "-n", "--max-bytes", "10"][..], more].concat();
        bench
            .run_with_input(&arguments, only.as_bytes())
            .ends(3)
            .says(&[
                "unchanged: ",
                "the limit of bytes is below what has to stay, so the result is over it",
            ]);
    }
}

#[test]
fn a_strategy_that_wants_a_model_gets_none_by_itself() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    for strategy in ["tiered-model", "summarize", "anchored", "native:summarize"] {
        bench
            .run(&["compact", &file, "-s", strategy])
            .ends(2)
            .says(&["wants to ask a model, and none is granted to it", "--model"]);
    }
    let gone = ["--model", "http://127.0.0.1:9/v1#small", "--timeout", "1s"];
    let summarize = [&["compact", &file, "-s", "summarize"][..], &gone].concat();
    let ran = bench.run(&summarize).ends(3).says(&[
        "unchanged: the strategy reported a failure",
        "the model did not answer: is its server there?",
        "asked     a model ",
    ]);
    let document = fs::read_to_string(&file).expect("an example");
    assert_eq!(ran.stdout.trim(), document.trim());
    // Required, it is done without a model.
    bench
        .run(&[&summarize[..], &["--required"]].concat())
        .ends(4)
        .says(&["compacted by native:digest: a fallback"]);
    // Who names a model and no strategy gets one that does without an answer.
    bench
        .run(&[&["compact", &file, "--budget", "20%"][..], &gone].concat())
        .ends(0)
        .says(&[
            "compacted by tiered-model",
            "→ the model did not answer: is its server there?",
            "asked     a model ",
        ]);
}

#[test]
fn a_model_that_no_named_strategy_asks_is_warned_of() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    let model = ["--model", "http://127.0.0.1:9/v1#small", "--timeout", "1s"];
    let run = |strategies: &[&str]| {
        let arguments = [&["compact", &file, "-n"][..], &model, strategies].concat();
        bench.run(&arguments)
    };
    run(&["-s", "sliding-window", "-s", "native:digest"])
        .ends(0)
        .says(&[
            "warning: --model is named, and `sliding-window` and `native:digest` ask no model",
            "`native:summarize`",
            "`tiered-model`",
        ]);
    let default: &[&str] = &[];
    for asking in [default, &["-s", "sliding-window", "-s", "summarize"]] {
        let ran = run(asking);
        assert!(!ran.stderr.contains("warning:"), "{}", ran.stderr);
    }
    let quiet = run(&["-s", "sliding-window", "-q"]).ends(0);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn instructions_and_a_context_that_no_named_strategy_reads_are_warned_of() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    let run = |arguments: &[&str]| {
        let arguments = [&["compact", &file, "-n"][..], arguments].concat();
        bench.run(&arguments)
    };
    let instructions = ["--instructions", "keep the API design"];
    run(&instructions).says(&[
        "warning: --instructions are given, and `tiered` reads none",
        "--model",
    ]);
    let context = ["--context", "{}"];
    run(&[
        &["-s", "sliding-window", "-s", "native:digest"][..],
        &context,
    ]
    .concat())
    .says(&[
        "warning: --context is given, and `sliding-window` and `native:digest` read none",
        "`trim`",
    ]);
    let model = ["--model", "http://127.0.0.1:9/v1#small", "--timeout", "1s"];
    for read in [
        [&model[..], &instructions].concat(),
        [&["-s", "trim"][..], &context].concat(),
        [&["-s", "tiered", "-s", "coalesce"][..], &context].concat(),
    ] {
        let ran = run(&read);
        assert!(!ran.stderr.contains("warning:"), "{}", ran.stderr);
    }
    let gate = ["should-compact", &file, "--budget", "9000"];
    bench
        .run(&[&gate[..], &context].concat())
        .ends(0)
        .says(&["warning: --context is given, and `tiered` reads none"]);
}

#[test]
fn a_typo_in_a_config_is_told_with_what_is_allowed() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    for (strategy, config, told) in [
        (
            "sliding-window",
            r#"{"kep": 1}"#,
            "('kep' was unexpected); known: keep",
        ),
        ("mask-tool-outputs", r#"{"kep": 1}"#, "known: "),
        ("coalesce", r#"{"tool-call-limt": 1}"#, "tool-call-limit"),
        ("trim", r#"{"keep-recent-turn": 1}"#, "keep-recent-turns"),
        (
            "tiered",
            r#"{"work": "codng"}"#,
            r#"; allowed: "auto", "coding", "service", "chat""#,
        ),
    ] {
        bench
            .run(&["compact", &file, "-s", strategy, "--config", config])
            .ends(2)
            .says(&[told]);
    }
}

#[test]
fn a_report_of_no_tokens_is_wrong_use() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    for (used, told) in [("0", "leave it out"), ("many", "such as 48210")] {
        let ran = bench.run(&["compact", &file, "--used", used]).ends(2);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
}

#[test]
fn a_previous_request_that_cannot_be_read_is_told() {
    let bench = Bench::new();
    let file = example("fix-a-bug.openai.json");
    let ran = bench
        .run(&["compact", &file, "--previous", "nowhere.json"])
        .ends(2);
    assert!(
        ran.stderr
            .contains("cannot read the previous request `nowhere.json`"),
        "{}",
        ran.stderr
    );
}
