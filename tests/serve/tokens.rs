//! Tokens of remote strategies: each goes to the server that it was given to, and to no other.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use tempfile::TempDir;

use super::{Serving, baler, journey, run};

const TOKEN: &str = "s3cret";

/// What a server was asked: the path, and what stood under `Authorization`.
type Asked = (String, Option<String>);

/// A server that writes down what it is asked, and answers nothing of use.
pub(super) struct Witness {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Witness {
    pub(super) fn start() -> Self {
        Self::answering("500 Internal Server Error", "")
    }

    /// It runs until the tests end.
    fn answering(status: &str, headers: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let address = listener.local_addr().expect("an address").to_string();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let answer =
            format!("HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n");
        let shared = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                witness(stream, &answer, &shared);
            }
        });
        Self { address, asked }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it was asked since it was last looked at.
    pub(super) fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.asked.lock().expect("no panic"))
    }
}

fn witness(stream: TcpStream, answer: &str, asked: &Mutex<Vec<Asked>>) {
    let mut reader = BufReader::new(&stream);
    let (mut path, mut shown, mut length) = (String::new(), None, 0);
    for line in reader.by_ref().lines().map_while(Result::ok) {
        match line.split_once(": ") {
            _ if line.is_empty() => break,
            None => path = line.split(' ').nth(1).unwrap_or_default().to_owned(),
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                shown = Some(value.to_owned());
            }
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().unwrap_or_default();
            }
            Some(_) => {}
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_ok() {
        asked.lock().expect("no panic").push((path, shown));
    }
    let _ = (&stream).write_all(answer.as_bytes());
}

/// Asserts that one server was asked with the token, and the other without any.
#[track_caller]
fn assert_shown(first: &Witness, second: &Witness, how: &str) {
    let with = first.asked();
    let bearer = format!("Bearer {TOKEN}");
    assert!(!with.is_empty(), "{how}");
    for (path, shown) in with {
        assert_eq!(shown.as_deref(), Some(bearer.as_str()), "{how} {path}");
    }
    let without = second.asked();
    assert!(!without.is_empty(), "{how}");
    for (path, shown) in without {
        assert_eq!(shown, None, "{how} {path}");
    }
}

/// All ways in which the token can be given to a server.
fn ways(folder: &TempDir, server: &str, command: &[&str]) -> Vec<(&'static str, Command)> {
    let list = folder.path().join("tokens");
    std::fs::write(folder.path().join("token"), format!("{TOKEN}\n")).expect("writes");
    std::fs::write(&list, format!("other.example=x\n{server}={TOKEN}\n")).expect("writes");
    let new = || {
        let mut new = baler(folder);
        new.args(command);
        new
    };
    let mut by_variable = new();
    by_variable.env("BALER_REMOTE_TOKEN", format!("{server}={TOKEN}"));
    let mut by_list = new();
    by_list.env("BALER_REMOTE_TOKEN_FILE", list);
    let mut by_option = new();
    by_option
        .env("MINE", TOKEN)
        .args(["--remote-token", &format!("{server}=env:MINE")]);
    let mut by_file = new();
    by_file.args(["--remote-token", &format!("{server}=file:token")]);
    vec![
        ("variable", by_variable),
        ("list", by_list),
        ("option", by_option),
        ("file", by_file),
    ]
}

#[test]
fn compact_shows_a_token_to_its_server_and_not_to_the_fallback() {
    let folder = TempDir::new().expect("a folder");
    journey(&folder);
    let (first, second) = (Witness::start(), Witness::start());
    let (with, without) = (first.url(), second.url());
    // Whichever of the two is asked first.
    for (one, other) in [
        (with.as_str(), without.as_str()),
        (without.as_str(), with.as_str()),
    ] {
        let command = ["compact", "journey.json", "-s", one, "-s", other];
        for (way, mut command) in ways(&folder, &first.address, &command) {
            let ran = command.output().expect("it runs");
            assert_eq!(ran.status.code(), Some(4), "{way}: {ran:?}");
            assert_shown(&first, &second, way);
        }
    }
}

#[test]
fn introspect_and_should_compact_show_a_token_to_its_server_alone() {
    let folder = TempDir::new().expect("a folder");
    journey(&folder);
    let (first, second) = (Witness::start(), Witness::start());
    let list = format!("{}={TOKEN}", first.address);
    for url in [first.url(), second.url()] {
        for command in [
            &["introspect", url.as_str()][..],
            &[
                "should-compact",
                "journey.json",
                "--budget",
                "100",
                "-s",
                &url,
            ],
        ] {
            let ran = baler(&folder)
                .env("BALER_REMOTE_TOKEN", &list)
                .args(command)
                .output();
            ran.expect("it runs");
        }
    }
    assert_shown(&first, &second, "the environment");
}

#[test]
fn serve_shows_a_token_to_its_server_and_not_to_the_fallback() {
    let folder = TempDir::new().expect("a folder");
    let body = journey(&folder);
    std::fs::write(folder.path().join("token"), TOKEN).expect("writes");
    let (first, second) = (Witness::start(), Witness::start());
    let token = format!("{}=file:token", first.address);
    let server = Serving::start(
        &folder,
        &[
            "--strategy",
            &second.url(),
            "--strategy",
            &first.url(),
            "--remote-token",
            &token,
        ],
        None,
    );
    let asked = format!(r#"{{"conversation":{body},"budget":"50%"}}"#);
    let answer = server.post("/v1/compact", &asked);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_shown(&first, &second, "serve");
}

#[test]
fn remote_token_does_not_follow_a_redirect() {
    let folder = TempDir::new().expect("a folder");
    journey(&folder);
    let thief = Witness::start();
    for status in ["301 Moved Permanently", "307 Temporary Redirect"] {
        let location = format!("Location: {}/v1/compact\r\n", thief.url());
        let server = Witness::answering(status, &location);
        let ran = baler(&folder)
            .env("BALER_REMOTE_TOKEN", format!("{}={TOKEN}", server.address))
            .args(["compact", "journey.json", "-s", &server.url()])
            .output()
            .expect("it runs");
        assert_eq!(ran.status.code(), Some(4), "{ran:?}");
        assert!(!server.asked().is_empty());
        assert!(thief.asked().is_empty());
    }
}

#[test]
fn remote_token_is_refused_over_plain_http_to_another_machine() {
    let folder = TempDir::new().expect("a folder");
    journey(&folder);
    std::fs::write(folder.path().join("token"), TOKEN).expect("writes");
    // An address of documentation, which nobody has.
    let url = "http://192.0.2.1:7410";
    for command in [
        &["compact", "journey.json", "-s", "native:digest", "-s", url][..],
        &["should-compact", "journey.json", "--budget", "9", "-s", url],
        &["introspect", url],
        &["serve", "--listen", "127.0.0.1:0", "-s", url],
    ] {
        for (way, mut command) in ways(&folder, "192.0.2.1:7410", command) {
            let ran = command.output().expect("it runs");
            let stderr = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(2), "{way}: {stderr}");
            assert!(stderr.contains("over https"), "{way}: {stderr}");
            assert!(!stderr.contains(TOKEN), "{way}: {stderr}");
        }
    }
}

#[test]
fn remote_token_without_a_server_of_its_own_is_wrong_use() {
    let folder = TempDir::new().expect("a folder");
    journey(&folder);
    std::fs::write(folder.path().join("token"), TOKEN).expect("writes");
    let server = Witness::start();
    let url = server.url();
    for (token, told) in [
        (TOKEN, "HOST=env:NAME"),
        ("127.0.0.1:1=s3cret", "HOST=env:NAME"),
        ("127.0.0.1=file:token", "the server `127.0.0.1`"),
        ("127.0.0.1:1=env:NOT_SET", "`NOT_SET`"),
        ("127.0.0.1:1=file:absent", "cannot read the token file"),
    ] {
        let command = [
            "compact",
            "journey.json",
            "-s",
            &url,
            "--remote-token",
            token,
        ];
        let (code, _, stderr) = run(&folder, &command);
        assert_eq!(code, 2, "{token}: {stderr}");
        assert!(stderr.contains(told), "{token}: {stderr}");
        assert!(!stderr.contains(TOKEN), "{token}: {stderr}");
    }
    let command = ["introspect", "sliding-window"];
    let option = ["--remote-token", "127.0.0.1:1=file:token"];
    let (code, _, stderr) = run(&folder, &[command, option].concat());
    assert_eq!(code, 2, "{stderr}");
    // As it was given before tokens belonged to servers: to whichever is named.
    let bare = baler(&folder)
        .env("BALER_REMOTE_TOKEN", TOKEN)
        .args(["compact", "journey.json", "-s", &url])
        .output()
        .expect("it runs");
    let stderr = String::from_utf8_lossy(&bare.stderr);
    assert_eq!(bare.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("HOST=TOKEN") && !stderr.contains(TOKEN),
        "{stderr}"
    );
    assert!(server.asked().is_empty());
}
