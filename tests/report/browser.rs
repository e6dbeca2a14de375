//! What a real browser makes of a page. Where there is no Chromium, a test says so and passes.

use std::path::Path;
use std::process::Command;

use super::{Bench, EXAMPLES, columns, corpus, evaluation, example, hostile};

/// What a browser made of a file: the document, and what it had to complain about.
struct Seen {
    dom: String,
    complaints: Vec<String>,
}

fn look(bench: &Bench, file: &Path) -> Option<Seen> {
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    let Some(browser) = browser else {
        eprintln!("skipped: there is no Chromium here");
        return None;
    };
    let profile = tempfile::tempdir_in(bench.folder.path()).expect("a folder");
    let output = Command::new("timeout")
        .args(["--kill-after=5", "120", browser])
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
        ])
        .args(["--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("it runs");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the browser failed: {words}");
    Some(Seen {
        dom: String::from_utf8(output.stdout).expect("UTF-8"),
        complaints: words
            .lines()
            .filter(|line| line.contains("CONSOLE"))
            .map(str::to_owned)
            .collect(),
    })
}

#[test]
fn a_browser_shows_a_page_without_a_complaint() {
    let bench = Bench::new();
    let printed = bench.compact(&example(EXAMPLES[0]), "run.json", &["-s", "native:digest"]);
    bench.file("figures.json", evaluation("mine").to_string());
    bench.file("report.html", bench.page(&["run.json", "figures.json"]));
    let Some(seen) = look(&bench, &bench.path("report.html")) else {
        return;
    };
    assert_eq!(seen.complaints, [] as [&str; 0]);
    let units = printed["units"].as_array().expect("units").len();
    assert_eq!(columns(&seen.dom), units);
    assert!(seen.dom.contains("class=\"mark\""));
}

#[test]
fn a_browser_runs_nothing_of_a_hostile_page() {
    let bench = Bench::new();
    bench.file("run.json", hostile(&bench).to_string());
    bench.file(
        "figures.json",
        evaluation("</svg><script>alert(1)</script>").to_string(),
    );
    bench.file("report.html", bench.page(&["run.json", "figures.json"]));
    let Some(seen) = look(&bench, &bench.path("report.html")) else {
        return;
    };
    assert_eq!(seen.complaints, [] as [&str; 0]);
    assert!(!seen.dom.contains("<script"));
    // A browser writes an attribute's value with `"`, whatever it was read with.
    assert!(
        !seen.dom.contains("onload=\""),
        "a name became an attribute"
    );
}

#[test]
fn content_policy_blocks_a_script_in_a_page() {
    let bench = Bench::new();
    bench.compact(&example(EXAMPLES[0]), "run.json", &[]);
    let page = bench.page(&["run.json"]);
    let worse = page.replace(
        "</main>",
        "<script>document.title = 'taken'</script></main>",
    );
    bench.file("report.html", worse);
    let Some(seen) = look(&bench, &bench.path("report.html")) else {
        return;
    };
    assert!(!seen.dom.contains("<title>taken"));
    // So that silence in the other tests means something.
    assert_eq!(seen.complaints.len(), 1);
}

#[test]
fn a_browser_shows_each_chart_file() {
    let bench = Bench::new();
    corpus(&bench);
    let arguments = [
        "eval",
        "corpus",
        "--strategy",
        "native:digest",
        "--budget",
        "25%",
    ];
    let ran = bench.run(&[&arguments[..], &["--charts", "charts"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for name in ["far", "instructions", "last-error", "recall"] {
        let Some(seen) = look(&bench, &bench.path(&format!("charts/{name}.svg"))) else {
            return;
        };
        assert_eq!(seen.complaints, [] as [&str; 0], "{name}");
        assert!(!seen.dom.contains("parsererror"), "{name}: {}", seen.dom);
        if name == "recall" {
            assert!(seen.dom.contains("class=\"mark baseline\""));
        }
    }
}
