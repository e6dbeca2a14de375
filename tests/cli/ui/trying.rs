//! The page that tries strategies.

use std::fs;

use serde_json::Value;

use super::client::{Answer, Served};
use crate::support::{Bench, example};

/// Sends the form. `fields`: names, names of files and contents.
fn send(served: &Served, fields: &[(&str, &str, &[u8])], headers: &[&str]) -> Answer {
    let mut body = Vec::new();
    for (name, file, content) in fields {
        let file = match *file {
            "" => String::new(),
            file => format!("; filename=\"{file}\"\r\ncontent-type: application/octet-stream"),
        };
        let head =
            format!("--border\r\ncontent-disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--border--\r\n");
    let kind = "content-type: multipart/form-data; boundary=border";
    let headers: Vec<&str> = [kind].iter().chain(headers).copied().collect();
    served.send("POST", "/ui/try", "127.0.0.1", &headers, &body)
}

#[test]
fn strategies_are_tried_side_by_side_and_their_results_can_be_downloaded() {
    let bench = Bench::new();
    let served = Served::start(&bench, &[]);
    let conversation = fs::read(example("fix-a-bug.openai.json")).expect("an example");
    let tried = send(
        &served,
        &[
            ("file", "fix.json", &conversation),
            ("text", "", b""),
            ("strategy", "", b"native:digest"),
            ("strategy", "", b"native:truncate"),
            ("budgets", "", b"25%, 2000"),
        ],
        &["sec-fetch-site: same-origin", "origin: null"],
    );
    assert_eq!(tried.status, 200, "{}", tried.body);
    for result in 1..=4 {
        assert!(
            tried.body.contains(&format!("id=\"result-{result}\"")),
            "{result}"
        );
    }
    assert!(tried.body.contains("native:truncate at 2000: "));
    let downloads = tried.links("/ui/try/");
    assert_eq!(downloads.len(), 4);
    let smaller = served.get(&downloads[0]);
    let disposition = "attachment; filename=\"fix.smaller-1.json\"";
    assert_eq!(smaller.header("content-disposition"), Some(disposition));
    let smaller: Value = serde_json::from_str(&smaller.body).expect("JSON");
    let whole: Value = serde_json::from_slice(&conversation).expect("JSON");
    let messages = |body: &Value| body["messages"].as_array().expect("messages").len();
    assert!(messages(&smaller) < messages(&whole));

    // The file need not be chosen again.
    let kept = tried
        .body
        .split("name=\"kept\" value=\"")
        .nth(1)
        .expect("is kept");
    let kept = kept.split('"').next().expect("an id");
    let again = send(
        &served,
        &[
            ("file", "", b""),
            ("kept", "", kept.as_bytes()),
            ("strategy", "", b"native:digest"),
            ("budgets", "", b"30%"),
        ],
        &[],
    );
    assert_eq!(again.status, 200, "{}", again.body);
    assert!(again.body.contains("fix.json") && again.links("/ui/try/").len() == 1);
    // Nothing of it was stored.
    assert!(!bench.path("state/archive").exists());
}

#[test]
fn what_cannot_be_tried_is_said_and_what_was_chosen_stays() {
    let bench = Bench::new();
    let served = Served::start(&bench, &[]);
    let conversation = fs::read(example("fix-a-bug.openai.json")).expect("an example");
    let digest: (&str, &str, &[u8]) = ("strategy", "", b"native:digest");
    let broken = b"{\"messages\": </textarea><script>".as_slice();
    for (fields, status, said) in [
        (
            &[("text", "", broken), digest, ("budgets", "", b"25%")][..],
            422,
            "is no conversation",
        ),
        (
            &[("file", "a.json", broken), digest, ("budgets", "", b"25%")],
            422,
            "is no conversation",
        ),
        (&[digest, ("budgets", "", b"25%")], 422, "choose a file"),
        (
            &[("kept", "", b"0"), digest, ("budgets", "", b"25%")],
            422,
            "not kept any more",
        ),
        (
            &[
                ("text", "", &conversation),
                digest,
                ("budgets", "", b"25%, x"),
            ],
            422,
            "the budget `x` cannot be used",
        ),
        (
            &[
                ("text", "", &conversation),
                digest,
                ("budgets", "", b"1,2,3,4,5,6,7,8,9,10,11,12,13"),
            ],
            422,
            "13 are too many",
        ),
        (
            &[("text", "", b"\xff"), digest],
            400,
            "expected text in UTF-8",
        ),
    ] {
        let answer = send(&served, fields, &[]);
        assert_eq!(answer.status, status, "{said}: {}", answer.body);
        assert!(answer.body.contains(said), "{said}: {}", answer.body);
        assert!(answer.body.contains("role=\"alert\"") && !answer.body.contains("<script>"));
        if status == 422 {
            assert!(
                answer.body.contains("value=\"native:digest\" checked"),
                "{said}"
            );
            assert!(answer.body.contains("name=\"budgets\" value=\""), "{said}");
        }
    }
    let pasted = send(
        &served,
        &[("text", "", broken), digest, ("budgets", "", b"25%")],
        &[],
    );
    assert!(
        pasted
            .body
            .contains("&lt;/textarea&gt;&lt;script&gt;</textarea>")
    );
    let none = send(
        &served,
        &[("text", "", &conversation), ("budgets", "", b"25%")],
        &[],
    );
    assert!(none.body.contains("choose at least one strategy"));
    let large = vec![b' '; (32 << 20) + 1];
    let large = send(
        &served,
        &[("file", "a.json", &large), digest, ("budgets", "", b"25%")],
        &[],
    );
    assert_eq!(large.status, 413);
    assert!(large.body.contains("it is larger than 32 MiB"));
    assert!(large.body.contains("value=\"native:digest\" checked"));
    let foreign = send(&served, &[digest], &["sec-fetch-site: cross-site"]);
    assert_eq!(foreign.status, 403);
}
