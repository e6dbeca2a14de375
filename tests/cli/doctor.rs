//! `baler doctor`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::support::{Bench, Ran};

/// A bench with a program `claude` that says its version.
fn with_claude() -> Bench {
    let bench = Bench::new();
    fs::create_dir(bench.path("bin")).expect("a folder");
    bench.file("bin/claude", "#!/bin/sh\necho 9.9.9\n");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(bench.path("bin/claude"), mode).expect("set");
    bench
}

fn doctor(bench: &Bench, options: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = bench.command();
    command
        .env("PATH", bench.path("bin"))
        .envs(variables.iter().copied())
        .arg("doctor")
        .args(options);
    Ran::of(command.output().expect("it runs"))
}

/// The check with this name, in the output of `--json`.
fn check(ran: &Ran, name: &str) -> Value {
    let checks: Vec<Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    let mut named = checks.into_iter().filter(|check| check["name"] == name);
    named.next().unwrap_or_default()
}

#[test]
fn a_good_installation_has_nothing_wrong_and_no_key_is_shown() {
    let bench = with_claude();
    let key = [("ANTHROPIC_API_KEY", "a-secret")];
    let ran = doctor(&bench, &["--offline"], &key);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    for line in [
        "ok       strategy tiered: made ",
        "ok       baler.toml: none here",
        "ok       claude: 9.9.9 at ",
        "ok       claude login: $ANTHROPIC_API_KEY",
        "ok       claude upstream: https://api.anthropic.com",
        "warning  claude compaction: the program's own is on",
    ] {
        assert!(ran.stdout.contains(line), "{line}\n{}", ran.stdout);
    }
    assert!(
        !ran.stdout.contains("secret") && !ran.stdout.contains("codex"),
        "{}",
        ran.stdout
    );

    fs::create_dir(bench.path(".claude")).expect("a folder");
    bench.file(".claude/settings.json", r#"{"autoCompactEnabled": false}"#);
    let ran = doctor(&bench, &["claude", "--offline", "--json"], &[]).ends(0);
    assert_eq!(check(&ran, "claude compaction")["state"], "ok");
    assert_eq!(check(&ran, "claude login")["state"], "warning");
}

#[test]
fn what_is_wrong_is_said_with_the_remedy() {
    let bench = with_claude();
    let ran = doctor(&bench, &["codex", "--json"], &[]).ends(1);
    assert_eq!(check(&ran, "codex")["state"], "wrong");
    assert_eq!(
        check(&ran, "codex")["remedy"],
        "install it, or add its folder to $PATH"
    );

    fs::set_permissions(bench.path("state"), fs::Permissions::from_mode(0o777)).expect("set");
    let ran = doctor(&bench, &["--offline", "--json"], &[]).ends(1);
    assert_eq!(check(&ran, "state folder")["state"], "wrong");
}

#[test]
fn a_list_that_nobody_trusts_is_a_warning_and_one_that_is_not_valid_is_wrong() {
    let bench = with_claude();
    let list =
        "[strategies.ours]\nsource = { path = \"ours.wasm\" }\nlimits = { timeout-ms = 60000 }\n";
    bench.file("baler.toml", list);
    let ran = doctor(&bench, &["--offline", "--json"], &[]).ends(0);
    assert_eq!(check(&ran, "baler.toml")["state"], "warning");
    bench.file("baler.toml", "strategies = 7\n");
    let ran = doctor(&bench, &["--offline", "--json"], &[]).ends(1);
    assert_eq!(check(&ran, "baler.toml")["state"], "wrong");
}

#[test]
fn an_upstream_is_fine_if_it_answers_anything() {
    let bench = with_claude();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        assert!(stream.read(&mut [0; 4_096]).expect("a request") > 0);
        let answer = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(answer).expect("it reads");
    });
    let base = [("ANTHROPIC_BASE_URL", &*url)];
    let ran = doctor(&bench, &["claude", "--json"], &base).ends(0);
    assert_eq!(
        check(&ran, "claude upstream")["found"],
        format!("{url} answers (404)")
    );
    server.join().expect("it answered");
    let ran = doctor(&bench, &["claude", "--json"], &base).ends(1);
    assert_eq!(check(&ran, "claude upstream")["state"], "wrong");
}
