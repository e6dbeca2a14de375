//! `baler serve` as people run it, and strategies behind URLs in the other commands.

#![cfg(feature = "http")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are tests"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
#[cfg(unix)]
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

// Certificates that are trusted are named by a variable, which only these systems go by.
#[cfg(all(unix, not(target_vendor = "apple")))]
#[path = "serve/tls.rs"]
mod tls;
#[path = "serve/tokens.rs"]
mod tokens;

mod state;

fn baler(folder: &TempDir) -> Command {
    within(folder, Command::new(env!("CARGO_BIN_EXE_baler")))
}

/// A command that sees nothing but this folder.
fn within(folder: &TempDir, mut command: Command) -> Command {
    command
        .env_clear()
        .env("NO_COLOR", "1")
        .env("BALER_STATE", state::in_folder(folder.path()))
        .current_dir(folder.path())
        .stdin(Stdio::null());
    command
}

fn run(folder: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = baler(folder).args(arguments).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code().unwrap_or(-1), text(stdout), text(stderr))
}

/// A server, which ends with the test.
struct Serving {
    child: Child,
    address: String,
    told: String,
}

impl Serving {
    fn start(folder: &TempDir, arguments: &[&str], token: Option<&str>) -> Self {
        let mut command = baler(folder);
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments);
        if let Some(token) = token {
            command.env("BALER_TOKEN", token);
        }
        Self::of(&mut command)
    }

    /// A server that runs under limits which the shell sets, such as `ulimit -n 64`.
    #[cfg(unix)]
    fn start_under(folder: &TempDir, limits: &str, arguments: &[&str]) -> Self {
        let mut shell = within(folder, Command::new("/bin/sh"));
        shell
            .args(["-c", &format!("{limits} && exec \"$0\" \"$@\"")])
            .args([
                env!("CARGO_BIN_EXE_baler"),
                "serve",
                "--listen",
                "127.0.0.1:0",
            ])
            .args(arguments);
        Self::of(&mut shell)
    }

    fn of(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it runs");
        let mut told = String::new();
        let mut words = BufReader::new(child.stderr.as_mut().expect("its words"));
        while !told.contains("listening on") && words.read_line(&mut told).expect("a line") > 0 {}
        let address = told
            .split_once("listening on http://")
            .and_then(|(_, line)| line.split(';').next())
            .unwrap_or_else(|| panic!("no address: {told}"))
            .to_owned();
        Self {
            child,
            address,
            told,
        }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn post(&self, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("connects");
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .expect("writes");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("reads");
        answer
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn journey(folder: &TempDir) -> String {
    let messages: Vec<Value> = (0..21)
        .map(|index| {
            let role = if index % 2 == 0 { "user" } else { "assistant" };
            json!({"role": role, "content": format!("Leg {index}: {}", "by night train, ".repeat(12))})
        })
        .collect();
    let body = json!({"model": "gpt-4o", "messages": messages}).to_string();
    std::fs::write(folder.path().join("journey.json"), &body).expect("writes");
    body
}

#[test]
fn server_serves_programs_and_other_balers_and_ends_on_a_signal() {
    let folder = TempDir::new().expect("a folder");
    let body = journey(&folder);
    let mut server = Serving::start(&folder, &["--strategy", "sliding-window"], None);
    assert!(
        server.told.contains("sliding-window, native:digest"),
        "{}",
        server.told
    );
    let asked = format!(r#"{{"conversation":{body},"budget":"50%"}}"#);
    let answer = server.post("/v1/compact", &asked);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(
        answer.contains(r#""strategy":"sliding-window""#),
        "{answer}"
    );

    let (code, stdout, stderr) = run(
        &folder,
        &["compact", "journey.json", "--strategy", &server.url()],
    );
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.len() < body.len());
    let (code, stdout, _) = run(&folder, &["introspect", &server.url(), "--json"]);
    assert_eq!(code, 0);
    let told: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(told["address"], server.url());
    assert_eq!(told["claims"]["name"], "sliding-window");
    let config = ["--config", r#"{"keep":0.5,"nonsense":1}"#];
    let (code, _, stderr) = run(
        &folder,
        &[
            "compact",
            "journey.json",
            "-s",
            &server.url(),
            config[0],
            config[1],
        ],
    );
    assert_eq!(code, 2, "{stderr}");
    let (code, stdout, _) = run(
        &folder,
        &[
            "should-compact",
            "journey.json",
            "--budget",
            "100",
            "-s",
            &server.url(),
        ],
    );
    assert_eq!(code, 0, "{stdout}");

    let ended = Command::new("kill")
        .args(["-TERM", &server.child.id().to_string()])
        .status()
        .expect("it runs");
    assert!(ended.success());
    assert_eq!(server.child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn no_client_can_quarantine_a_strategy_for_the_others() {
    let folder = TempDir::new().expect("a folder");
    let body = journey(&folder);
    let fails = tokens::Witness::start();
    let server = Serving::start(&folder, &["--strategy", &fails.url()], None);
    let asked = format!(r#"{{"conversation":{body},"budget":"50%"}}"#);
    for _ in 0..5 {
        let answer = server.post("/v1/compact", &asked);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let asked = fails.asked();
    let times = asked.iter().filter(|(path, _)| path == "/v1/compact");
    assert_eq!(times.count(), 5, "{asked:?}");
}

#[cfg(unix)]
#[test]
fn silent_connections_leave_descriptors_for_work() {
    let folder = TempDir::new().expect("a folder");
    let body = journey(&folder);
    let elsewhere = Serving::start(&folder, &[], None);
    let url = elsewhere.url();
    let server = Serving::start_under(&folder, "ulimit -n 64", &["--strategy", &url]);
    let start = Instant::now();
    let silent: Vec<TcpStream> = (0..100)
        .map(|_| TcpStream::connect(&server.address).expect("connects"))
        .collect();
    let asked = format!(r#"{{"conversation":{body},"budget":"50%"}}"#);
    for _ in 0..4 {
        let answer = server.post("/v1/compact", &asked);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        // The strategy elsewhere was reached.
        assert!(answer.contains(r#""fell-back":false"#), "{answer}");
    }
    // After ten seconds they are closed anyway.
    let waited = start.elapsed();
    assert!(waited < Duration::from_secs(8), "{waited:?}");
    drop(silent);
}

#[cfg(unix)]
#[test]
fn a_server_outlives_the_limit_of_file_sizes() {
    let folder = TempDir::new().expect("a folder");
    let arguments = ["--strategy", "native:digest", "--archive", "bales"];
    let mut server = Serving::start_under(&folder, "ulimit -f 1", &arguments);
    // Each message is larger than any file may be.
    let messages: Vec<Value> = (0..9)
        .map(|index| {
            let role = if index % 2 == 0 { "user" } else { "assistant" };
            json!({"role": role, "content": format!("Leg {index}: {}", "by night train, ".repeat(200))})
        })
        .collect();
    let asked = json!({"conversation": {"model": "gpt-4o", "messages": messages}, "budget": "50%"});
    for _ in 0..2 {
        let answer = server.post("/v1/compact", &asked.to_string());
        assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
        // What cannot be stored does not leave.
        assert!(!answer.contains(r#""outcome":"compacted""#), "{answer}");
    }
    let words = server.child.stderr.take().expect("its words");
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = BufReader::new(words).read_line(&mut line);
        let _ = tell.send(line);
    });
    let told = told.recv_timeout(Duration::from_secs(10));
    let told = told.expect("it tells why");
    assert!(told.contains("a request failed (internal)"), "{told}");
    assert!(told.contains("bales"), "{told}");
    assert!(!told.contains("night train"), "{told}");
}

#[cfg(unix)]
#[test]
fn many_who_archive_at_once_share_few_descriptors() {
    let folder = TempDir::new().expect("a folder");
    let arguments = [
        "--strategy",
        "native:digest",
        "--archive",
        "bales",
        "--concurrency",
        "8",
    ];
    let server = Serving::start_under(&folder, "ulimit -n 96", &arguments);
    let asked = |client: usize| {
        let messages: Vec<Value> = (0..21)
            .map(|index| {
                let role = if index % 2 == 0 { "user" } else { "assistant" };
                let said = "by night train, ".repeat(12);
                json!({"role": role, "content": format!("Client {client}, leg {index}: {said}")})
            })
            .collect();
        json!({"conversation": {"model": "gpt-4o", "messages": messages}, "budget": "50%"})
            .to_string()
    };
    std::thread::scope(|scope| {
        for client in 0..8 {
            let (server, asked) = (&server, asked(client));
            scope.spawn(move || {
                let answer = server.post("/v1/compact", &asked);
                assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
                assert!(answer.contains(r#""outcome":"compacted""#), "{answer}");
            });
        }
    });
}

/// Places in which glibc's allocator keeps memory, beside the first: each begins at a multiple of 64 MiB,
/// and has as many, of which the first can be used.
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
fn arenas(process: u32) -> usize {
    const SIZE: u64 = 64 << 20;
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).expect("its memory");
    let of_line = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let number = |hex| u64::from_str_radix(hex, 16).ok();
        Some((number(start)?, number(end)?, rest.starts_with("rw-p")))
    };
    let ranges: Vec<(u64, u64, bool)> = maps.lines().filter_map(of_line).collect();
    let is_arena = |pair: &&[(u64, u64, bool)]| {
        let ((start, end, is_used), (next, next_end, is_next_used)) = (pair[0], pair[1]);
        let has_its_size = end == next && next_end >= start + SIZE;
        start.is_multiple_of(SIZE) && is_used && !is_next_used && has_its_size
    };
    ranges.windows(2).filter(is_arena).count()
}

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#[test]
fn threads_of_a_server_share_what_the_allocator_keeps() {
    let folder = TempDir::new().expect("a folder");
    let arguments = ["--strategy", "native:digest", "--archive", "bales"];
    let server = Serving::start(&folder, &arguments, None);
    let body = journey(&folder);
    let request = format!(r#"{{"conversation":{body},"budget":"50%"}}"#);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let answer = server.post("/v1/compact", &request);
                assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
            });
        }
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // The first one lies elsewhere.
    let found = arenas(server.child.id());
    assert!(found < cores, "{found} beside the first, on {cores} cores");
}

/// P15, PL-15, PL-S33
#[test]
fn missing_server_or_token_is_reported_and_the_fallback_runs() {
    let folder = TempDir::new().expect("a folder");
    journey(&folder);
    let server = Serving::start(&folder, &[], Some("s3cret"));
    for (url, told) in [
        (
            "http://127.0.0.1:1".to_owned(),
            "its server did not return a result",
        ),
        (server.url(), "status 401"),
    ] {
        let (code, stdout, stderr) = run(&folder, &["compact", "journey.json", "--strategy", &url]);
        assert_eq!(code, 4, "{stderr}");
        assert!(stdout.starts_with('{'));
        assert!(stderr.contains(told), "{stderr}");
    }
    let with_token = baler(&folder)
        .env("BALER_REMOTE_TOKEN", format!("{}=s3cret", server.address))
        .args([
            "compact",
            "journey.json",
            "--quiet",
            "--strategy",
            &server.url(),
        ])
        .output()
        .expect("it runs");
    assert_eq!(with_token.status.code(), Some(0), "{with_token:?}");
}

#[test]
fn wrong_use_is_reported_with_a_remedy() {
    let folder = TempDir::new().expect("a folder");
    journey(&folder);
    std::fs::write(folder.path().join("token"), " \n").expect("writes");
    for (arguments, told) in [
        (&["serve", "--listen", "0.0.0.0:0"][..], "--token-file"),
        (&["serve", "--token-file", "token"], "openssl rand"),
        (
            &["serve", "--token-file", "absent"],
            "cannot read the token file",
        ),
        (
            &["serve", "--strategy", "sliding-windo"],
            "did you mean `sliding-window`?",
        ),
        (&["serve", "--concurrency", "0"], "--concurrency"),
        (
            &["serve", "-s", "tiered", "-s", "trim", "-s", "tiered"],
            "`tiered` is named more than once",
        ),
        (
            &["compact", "journey.json", "--strategy", "http://"],
            "not the URL of a server",
        ),
        (
            &[
                "compact",
                "journey.json",
                "--strategy",
                "https://me:s3cret@a",
            ],
            "user or password",
        ),
        (
            &["introspect", "http://me:s3cret/s3cret@127.0.0.1/x"],
            "user or password",
        ),
        (
            &["introspect", "http://me:12#s3cret@127.0.0.1/x"],
            "user or password",
        ),
        (&["introspect", "http://me:s3cret@"], "user or password"),
        (&["introspect", "https:/me:s3cret@a/x"], "user or password"),
        (&["introspect", "htps://me:s3cret@a/x"], "user or password"),
        (
            &["introspect", "http://127.0.0.1:1/ok?key=s3cret"],
            "`http://127.0.0.1:1/ok?…`",
        ),
    ] {
        let (code, _, stderr) = run(&folder, arguments);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        assert!(stderr.contains(told), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("s3cret"), "{stderr}");
    }
    let (code, help, _) = run(&folder, &["serve", "--help"]);
    assert_eq!(code, 0);
    assert!(
        help.contains("Examples:") && help.contains("Exit codes:"),
        "{help}"
    );
}

/// Returns an example conversation, and the request to compact it to half of its size.
fn example_request() -> (String, String) {
    let document = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/conversations/fix-a-bug.openai.json"
    ));
    let document = document.expect("an example");
    let asked = format!("{{\"conversation\": {document}, \"budget\": \"50%\"}}");
    (document, asked)
}

#[test]
fn server_archives_what_it_removes_unless_that_is_turned_off() {
    let folder = TempDir::new().expect("a folder");
    let (document, asked) = example_request();
    let plain = Serving::start(&folder, &["--archive", "off"], None).post("/v1/compact", &asked);
    assert!(plain.contains("\"undo\":null"), "{plain}");
    assert!(!folder.path().join("state/archive").exists());

    for archive in [&[][..], &["--archive", "bales"]] {
        let kept = Serving::start(&folder, archive, None).post("/v1/compact", &asked);
        let (_, body) = kept.split_once("\r\n\r\n").unwrap_or(("", &kept));
        let told: Value = serde_json::from_str(body).expect("JSON");
        let receipt = folder.path().join("receipt.json");
        std::fs::write(&receipt, told["receipt"].to_string()).expect("writes");
        let (code, back, words) = run(&folder, &[&["undo", "receipt.json"], archive].concat());
        assert_eq!(code, 0, "{words}");
        assert_eq!(back.trim(), document.trim());
    }
}

/// One that was only found may have come with somebody else's files.
#[test]
fn clients_can_name_the_strategies_of_a_list_that_the_operator_trusts() {
    let folder = TempDir::new().expect("a folder");
    let wasm = baler_strategies::by_name("sliding-window").expect("it ships");
    std::fs::write(folder.path().join("window.wasm"), wasm.wasm).expect("writes");
    let list = "[strategies.window]\nsource = { path = 'window.wasm' }\n";
    std::fs::write(folder.path().join("baler.toml"), list).expect("writes");
    let (document, _) = example_request();
    let asked =
        format!("{{\"conversation\": {document}, \"budget\": \"50%\", \"strategy\": \"window\"}}");
    let trusting = ["--project", "baler.toml"];
    let answer = Serving::start(&folder, &trusting, None).post("/v1/compact", &asked);
    assert!(answer.contains("\"strategy\":\"window\""), "{answer}");
    let answer = Serving::start(&folder, &[], None).post("/v1/compact", &asked);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[test]
fn server_whose_options_name_no_strategy_uses_the_default_of_compact() {
    let folder = TempDir::new().expect("a folder");
    let (_, asked) = example_request();
    let answer = Serving::start(&folder, &[], None).post("/v1/compact", &asked);
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or(("", &answer));
    let answer: Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(answer["receipt"]["strategy"], "tiered");
}

#[test]
fn a_list_that_a_server_finds_allows_nothing_until_it_is_trusted() {
    let folder = TempDir::new().expect("a folder");
    let list = "[policy.plans]\nsummary-role = 'system'\nexcerpts = false";
    std::fs::write(folder.path().join("baler.toml"), list).expect("writes");
    let (_, asked) = example_request();
    let project = |server: &Serving| {
        let answer = server.post("/v1/compact", &asked);
        let (_, body) = answer.split_once("\r\n\r\n").unwrap_or(("", &answer));
        let answer: Value = serde_json::from_str(body).expect("JSON");
        answer["receipt"]["project"].clone()
    };
    let server = Serving::start(&folder, &[], None);
    let withheld = "do not count: policy.plans.summary-role = \"system\"";
    assert!(server.told.contains(withheld), "{}", server.told);
    let told = project(&server);
    assert_eq!(told["trusted"], false);
    assert_eq!(told["settings"], json!(["policy.plans.excerpts"]));
    assert_eq!(told["withheld"], json!(["policy.plans.summary-role"]));
    drop(server);

    let (code, _, words) = run(&folder, &["trust"]);
    assert_eq!(code, 0, "{words}");
    let server = Serving::start(&folder, &[], None);
    assert!(!server.told.contains("warning"), "{}", server.told);
    let told = project(&server);
    assert_eq!(told["trusted"], true);
    assert_eq!(told["withheld"], json!([]));
}
