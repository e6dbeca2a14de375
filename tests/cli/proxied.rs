//! `baler run`, `baler proxy` and `baler sessions`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use baler_host::Format;
use baler_scripted::{Provider, Script, Seen};
use serde_json::json;

use crate::support::{Bench, Ran};

pub(crate) const TASK: &str = "never move cask-00000";

/// Starts a provider whose window a session of 60 steps does not fit in. Returns its URL.
pub(crate) fn provider() -> (String, Seen) {
    let script = Script {
        steps: 60,
        calls: 1,
        window: 10_000,
        task: TASK.to_owned(),
        lines: 40,
    };
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(async {
            let anywhere = "127.0.0.1:0".parse().expect("an address");
            let provider = Provider::bind(script, anywhere).expect("a provider");
            send.send((format!("http://{}", provider.address()), provider.seen()))
                .expect("is awaited");
            provider.serve(std::future::pending()).await;
        });
    });
    receive.recv().expect("it starts")
}

/// The agent that the tests below run: this program, started again.
#[tokio::test]
#[ignore = "an agent for the tests below"]
async fn agent() {
    let url = std::env::var("ANTHROPIC_BASE_URL").expect("a base URL");
    let task = format!("Count what all cellars hold, and {TASK}.");
    let worked = baler_scripted::work(&url, Format::Anthropic, &task, 61).await;
    assert_eq!(worked.expect("the session comes to its end"), 61);
}

pub(crate) fn run(bench: &Bench, url: &str, options: &[&str]) -> Ran {
    let mut command = bench.command();
    command
        .env("ANTHROPIC_BASE_URL", url)
        .env("PATH", std::env::var("PATH").expect("a path"));
    command
        .arg("run")
        .args(options)
        .arg("--")
        .arg(std::env::current_exe().expect("a path"));
    command.args(["proxied::agent", "--exact", "--ignored", "--quiet"]);
    Ran::of(command.output().expect("it runs"))
}

#[test]
fn an_agent_whose_session_outgrows_its_window_comes_to_its_end() {
    let bench = Bench::new();
    let (url, seen) = provider();
    let ran = run(&bench, &url, &["--at", "8000", "--budget", "3000"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report = seen.report();
    assert_eq!(
        (report.refused, report.too_long, report.without_task),
        (Vec::new(), 0, 0)
    );
    assert!(
        ran.stderr
            .contains("baler: this session can be watched at http://127.0.0.1:"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("baler: 61 requests, "),
        "{}",
        ran.stderr
    );

    let list = bench.run(&["sessions"]);
    assert!(
        list.stdout
            .lines()
            .nth(1)
            .is_some_and(|line| line.contains("baler/")),
        "{}",
        list.stdout
    );
    let sessions: serde_json::Value =
        serde_json::from_str(&bench.run(&["sessions", "--json"]).stdout).expect("JSON");
    let session = &sessions[0];
    assert_eq!(session["requests"], 61);
    assert!(
        session["tokens-sent"].as_u64() < session["tokens-came"].as_u64().map(|tokens| tokens / 2)
    );
    let name = session["session"].as_str().expect("a name");
    let requests = bench.run(&["sessions", name]);
    assert_eq!(requests.stdout.lines().count(), 62);
    assert_eq!(bench.run(&["sessions", &name[..8]]).stdout, requests.stdout);
    // The first compaction leads back to the whole request.
    let receipt = bench.run(&["sessions", name, "--receipt", "1"]);
    let receipt = bench.file("receipt.json", receipt.stdout);
    let whole = bench.run(&["undo", &receipt]);
    assert!(
        whole.stdout.contains("shelf 0-40") && whole.stdout.contains(TASK),
        "{}",
        whole.stderr
    );
    assert_eq!(bench.run(&["sessions", name, "--receipt", "99"]).code, 2);
    assert!(requests.stdout.contains("compacted"), "{}", requests.stdout);
    assert_eq!(bench.run(&["sessions", "../key"]).code, 2);

    // What was removed comes back by the tool of the model.
    let call = |id: u32, arguments: serde_json::Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "retrieve", "arguments": arguments}}).to_string()
    };
    let begin = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}).to_string(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string(),
        call(3, json!({"query": "cask-31415"})),
    ];
    let found = answers(&bench, &[], &begin);
    assert_eq!(
        found[1]["result"]["tools"][0]["name"], "retrieve",
        "{found:?}"
    );
    let text = found[2]["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    let reference = text
        .split_whitespace()
        .find(|word| word.len() == 20)
        .expect(text);
    let mut again = begin.clone();
    again[3] = call(3, json!({"reference": reference}));
    let text = answers(&bench, &[], &again)[2]["result"]["content"][0]["text"].to_string();
    assert!(text.contains("cellar cask-31415 holds 0 litres"), "{text}");
}

/// What `baler mcp` with these options answers to these lines.
pub(crate) fn answers(bench: &Bench, options: &[&str], lines: &[String]) -> Vec<serde_json::Value> {
    let mut child = bench
        .command()
        .arg("mcp")
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut input = child.stdin.take().expect("a pipe");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut answers = Vec::new();
    for line in lines {
        writeln!(input, "{line}").expect("it reads");
        if line.contains("\"id\"") {
            let answer = output.next().expect("an answer").expect("text");
            answers.push(serde_json::from_str(&answer).expect("JSON"));
        }
    }
    drop(input);
    assert!(child.wait().expect("it ends").success());
    answers
}

#[test]
fn the_exit_code_is_that_of_the_program() {
    let bench = Bench::new();
    let ran = |program: &[&str]| bench.run(&[&["run", "--"], program].concat());
    let seven = ran(&["/bin/sh", "-c", "exit 7"]);
    assert_eq!(seven.code, 7);
    assert!(
        seven.stderr.contains("no request passed through"),
        "{}",
        seven.stderr
    );
    assert_eq!(ran(&["/bin/sh", "-c", "kill -9 $$"]).code, 137);
    let mistyped = bench.run(&["run", "--contextwindow", "5000", "--", "/bin/true"]);
    assert_eq!(mistyped.code, 2);
    assert!(
        mistyped.stderr.contains("`--contextwindow` is no option"),
        "{}",
        mistyped.stderr
    );
    let lost = ran(&["/there/is/no/program"]);
    assert_eq!(lost.code, 127);
    assert!(
        lost.stderr.contains("cannot run `/there/is/no/program`"),
        "{}",
        lost.stderr
    );
    let text = bench.file("text", "no program");
    assert_eq!(ran(&[text.as_str()]).code, 126);
    let base = ran(&["/bin/sh", "-c", "echo $OPENAI_BASE_URL"]);
    assert!(base.stdout.starts_with("http://127.0.0.1:") && base.stdout.ends_with("/openai/v1\n"));
}

#[test]
fn an_interrupt_that_only_baler_gets_is_the_programs() {
    let bench = Bench::new();
    let script = "trap 'exit 9' INT; echo ready; while :; do sleep 0.1; done";
    let mut child = bench
        .command()
        .args(["run", "--", "/bin/sh", "-c", script])
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next().expect("a line").expect("text"), "ready");
    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(9));
}

/// The client that the test below leaves behind: it waits for an answer that does not come.
#[test]
#[ignore = "a client for the test below"]
fn client() {
    let url = std::env::var("ANTHROPIC_BASE_URL").expect("a base URL");
    let (host, _) = url["http://".len()..].split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("a proxy");
    write!(
        stream,
        "GET /anthropic/v1/models HTTP/1.1\r\nhost: {host}\r\n\r\n"
    )
    .expect("it reads");
    let _ = stream.read(&mut [0]);
}

#[test]
fn requests_that_a_program_leaves_open_do_not_hold_up_its_end() {
    let bench = Bench::new();
    // Connections are made, and never answered.
    let silent = TcpListener::bind("127.0.0.1:0").expect("an address");
    let address = silent.local_addr().expect("an address");
    let script = "\"$0\" proxied::client --exact --ignored > /dev/null 2>&1 & sleep 2";
    let began = Instant::now();
    let output = bench
        .command()
        .env("ANTHROPIC_BASE_URL", format!("http://{address}"))
        .args(["run", "--", "/bin/sh", "-c", script])
        .arg(std::env::current_exe().expect("a path"))
        .output();
    Ran::of(output.expect("it runs")).ends(0);
    assert!(began.elapsed() < Duration::from_secs(15));
    silent.set_nonblocking(true).expect("a listener");
    assert!(silent.accept().is_ok(), "a request went on");
}

#[test]
fn a_base_url_that_cannot_be_used_is_said_once_and_left_alone() {
    let bench = Bench::new();
    let output = bench
        .command()
        .env("OPENAI_BASE_URL", "localhost:8000")
        .args(["run", "--", "/bin/sh", "-c", "echo $OPENAI_BASE_URL"])
        .output();
    let ran = Ran::of(output.expect("it runs")).ends(0);
    assert_eq!(ran.stdout, "localhost:8000\n");
    let said = ran.stderr.matches("expected a base URL").count();
    assert_eq!(said, 1, "{}", ran.stderr);
}

#[test]
fn a_proxy_says_where_it_is_and_ends_when_told_to() {
    let bench = Bench::new();
    let mut child = bench
        .command()
        .args([
            "proxy",
            "--listen",
            "127.0.0.1:0",
            "--context-window",
            "100000",
        ])
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let first = lines.next().expect("a line").expect("text");
    assert!(
        first.contains("requests of 80,000 tokens are compacted to 40,000; strategy: tiered"),
        "{first}"
    );
    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let bench = Bench::new();
    for (options, why) in [
        (&["--at", "300000"][..], "expected at most the window"),
        (
            &["--at", "1000", "--budget", "1000"],
            "so its budget is less than that",
        ),
        (
            &["--upstream", "Groq=https://api.groq.com"],
            "expected NAME=URL",
        ),
        (&["--upstream", "groq=ftp://x"], "cannot be used"),
        (
            &["--upstream", "ui=https://api.groq.com"],
            "ui, v1, v1beta, v1alpha have another meaning",
        ),
        (&["--listen", "0.0.0.0:0"], "no token is set"),
    ] {
        let ran = bench.run(&[&["proxy"], options].concat());
        assert_eq!(ran.code, 2, "{options:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{options:?}: {}", ran.stderr);
    }
}
