//! `baler report`: what is on the page, what must never be, and what a browser makes of it.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of tests are tests"
)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

#[path = "report/browser.rs"]
mod browser;

mod state;

/// A folder of its own for a test.
struct Bench {
    folder: TempDir,
}

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

    fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file")
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with_input(arguments, b"")
    }

    fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = Command::new(env!("CARGO_BIN_EXE_baler"))
            .args(arguments)
            .env_clear()
            .env("HOME", self.folder.path())
            .env("BALER_STATE", self.path("state"))
            .current_dir(self.folder.path())
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
        Ran {
            code: output.status.code().expect("no signal"),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    /// Compacts and keeps what `--json` prints in a file.
    fn compact(&self, input: &str, into: &str, more: &[&str]) -> Value {
        let strategy: &[&str] = match more.contains(&"-s") {
            true => &[],
            false => &["-s", "native:digest"],
        };
        let ran = self.run(&[&["compact", input, "--json"], strategy, more].concat());
        assert!([0, 3, 4].contains(&ran.code), "{}", ran.stderr);
        self.file(into, &ran.stdout);
        serde_json::from_str(&ran.stdout).expect("JSON")
    }

    /// The page of these files.
    fn page(&self, files: &[&str]) -> String {
        let ran = self.run(&[&["report"], files].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(ran.stderr, "");
        ran.stdout
    }
}

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/conversations");
    folder.join(name).to_str().expect("UTF-8").to_owned()
}

const EXAMPLES: [&str; 6] = [
    "fix-a-bug.openai.json",
    "book-a-flight.anthropic.json",
    "plan-a-week.openai.json",
    "sort-recipes.responses.json",
    "plan-a-sail.gemini.json",
    "fix-a-clock.claude-code.jsonl",
];

fn columns(page: &str) -> usize {
    page.matches("class=\"unit ").count()
}

/// All lines of text in a value that are long enough to be nobody else's.
fn lines(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let long = text.lines().map(str::trim).filter(|line| line.len() >= 16);
            found.extend(long.map(str::to_owned));
        }
        Value::Array(list) => list.iter().for_each(|value| lines(value, found)),
        Value::Object(map) => map.values().for_each(|value| lines(value, found)),
        _ => {}
    }
}

#[test]
fn every_example_becomes_a_page_with_a_column_for_each_unit_and_no_text_of_a_message() {
    let bench = Bench::new();
    let strategies = ["mask-tool-outputs", "native:digest", "sliding-window"];
    for (name, strategy) in EXAMPLES.iter().zip(strategies.iter().cycle()) {
        let printed = bench.compact(&example(name), "run.json", &["-s", strategy]);
        let page = bench.page(&["run.json"]);
        let units = printed["units"].as_array().expect("units").len();
        assert_eq!(columns(&page), units, "{name} with {strategy}");
        let mut texts = Vec::new();
        // A session log is one document a line, the last of which may be cut off.
        let input = fs::read_to_string(example(name)).expect("an example");
        let documents = serde_json::Deserializer::from_str(&input).into_iter();
        for document in documents.map_while(Result::ok) {
            lines(&document, &mut texts);
        }
        assert!(texts.len() > 10, "{name}");
        for text in texts {
            assert!(!page.contains(&text), "{name}: a message is on the page");
        }
    }
}

#[test]
fn the_page_needs_nothing_and_runs_nothing() {
    let bench = Bench::new();
    bench.compact(&example(EXAMPLES[0]), "run.json", &[]);
    let page = bench.page(&["run.json"]);
    assert!(page.contains("default-src 'none'"));
    for foreign in [
        "http://",
        "https://",
        "<script",
        "<link",
        "@import",
        "<img",
        "javascript:",
    ] {
        assert!(!page.contains(foreign), "{foreign}");
    }
}

#[test]
fn page_shows_units_reasons_and_the_commands_that_undo() {
    let bench = Bench::new();
    let arguments = ["-s", "sliding-window", "--budget", "40%"];
    let printed = bench.compact(&example(EXAMPLES[0]), "run.json", &arguments);
    let page = bench.page(&["run.json"]);
    let receipt = &printed["receipt"];
    let left = receipt["archive"].as_array().expect("an archive");
    assert!(!left.is_empty());
    for of in left {
        let reference = of["reference"].as_str().expect("a reference");
        assert!(page.contains(&format!("baler expand {reference}")));
    }
    assert!(page.contains("baler undo run.json"));
    let reasons = receipt["reasons"].as_array().expect("reasons");
    assert!(!reasons.is_empty());
    for reason in reasons {
        let code = reason["code"].as_str().expect("a code");
        assert!(page.contains(&format!(">{code}</th>")), "{code}");
    }
    let removed = printed["units"].as_array().expect("units").iter();
    let removed = removed.filter(|unit| unit["outcome"] == "removed").count();
    assert!(removed > 0);
    assert_eq!(page.matches("class=\"unit removed\"").count(), removed);
    let protected = printed["units"].as_array().expect("units").iter();
    let protected = protected.filter(|unit| unit["protected"] == true).count();
    assert!(protected > 0);
    assert_eq!(page.matches("<td>yes</td>").count(), protected);
}

#[test]
fn receipt_alone_is_shown_without_a_strip() {
    let bench = Bench::new();
    let arguments = ["--receipt", "receipt.json", "-o", "smaller.json"];
    bench.compact(&example(EXAMPLES[0]), "run.json", &arguments);
    let page = bench.page(&["receipt.json"]);
    assert_eq!(columns(&page), 0);
    assert!(page.contains("does not say how large each unit was"));
    assert!(page.contains("baler undo receipt.json"));
    // What is removed without an archive is lost, and the page says so.
    bench.compact(&example(EXAMPLES[0]), "run.json", &["--archive", "off"]);
    assert!(
        bench
            .page(&["run.json"])
            .contains("the removed content is lost")
    );
}

#[test]
fn violations_are_shown_with_their_severity() {
    let bench = Bench::new();
    let mut run = bench.compact(&example(EXAMPLES[0]), "run.json", &[]);
    run["receipt"]["violations"] = json!([
        { "rule": "ALL-6", "severity": "warning", "message": 2, "what": "a text part is empty" },
        { "rule": "CHAT-1" },
    ]);
    bench.file("broken.json", run.to_string());
    let page = bench.page(&["broken.json"]);
    // Receipts of older versions name no severity.
    assert!(page.contains("<li>ALL-6 (warning)</li><li>CHAT-1</li>"));
}

#[test]
fn fault_is_shown_with_its_code_and_the_fallback() {
    let bench = Bench::new();
    let arguments = ["-s", "sliding-window", "--fuel", "1000"];
    bench.compact(&example(EXAMPLES[0]), "run.json", &arguments);
    let page = bench.page(&["run.json"]);
    assert!(page.contains("class=\"bad\">fault: out-of-fuel, limit 1,000<"));
    assert!(page.contains("fallback"));
}

#[test]
fn several_receipts_are_shown_in_order_as_a_history() {
    let bench = Bench::new();
    let mut sizes = Vec::new();
    let mut input = example(EXAMPLES[0]);
    for (index, share) in ["70%", "50%", "30%"].into_iter().enumerate() {
        let (run, smaller) = (format!("{index}.json"), format!("smaller-{index}.json"));
        let printed = bench.compact(&input, &run, &["--budget", share, "-o", &smaller]);
        sizes.push(
            printed["receipt"]["tokens"]["before"]
                .as_u64()
                .expect("a size"),
        );
        input = smaller;
    }
    let page = bench.page(&["0.json", "1.json", "2.json"]);
    let life = &page[page.find("id=\"life\"").expect("a life")..];
    let points = life.matches("<circle class=\"before\"").count();
    assert_eq!(points, 3);
    let places: Vec<usize> = sizes
        .iter()
        .enumerate()
        .map(|(index, size)| {
            let told = format!(
                "before {}: {},{:03} tokens",
                index + 1,
                size / 1_000,
                size % 1_000
            );
            life.find(&told).unwrap_or_else(|| panic!("{told}"))
        })
        .collect();
    assert!(places.is_sorted());
    assert!(!bench.page(&["0.json"]).contains("id=\"life\""));
}

#[test]
fn the_same_files_give_the_same_bytes_wherever_they_go() {
    let bench = Bench::new();
    bench.compact(&example(EXAMPLES[1]), "a.json", &[]);
    bench.compact(&example(EXAMPLES[2]), "b.json", &[]);
    let page = bench.page(&["a.json", "b.json"]);
    assert_eq!(bench.page(&["a.json", "b.json"]), page);
    let ran = bench.run(&["report", "a.json", "b.json", "-o", "report.html"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert_eq!(bench.read("report.html"), page);
    let input = bench.read("a.json");
    let piped = bench.run_with_input(&["report", "-"], input.as_bytes());
    assert_eq!(piped.code, 0, "{}", piped.stderr);
    assert!(piped.stdout.contains("baler undo RECEIPT"));
}

/// A run in which all that a stranger may name is hostile.
fn hostile(bench: &Bench) -> Value {
    const NAME: &str = "</title><script>alert(1)</script>\" onload='alert(2)' \u{202e}x";
    let mut run = bench.compact(&example(EXAMPLES[0]), "run.json", &["-s", "sliding-window"]);
    let receipt = &mut run["receipt"];
    receipt["strategy"] = json!(NAME);
    receipt["format"] = json!(NAME);
    receipt["tokenizer"] = json!(NAME);
    receipt["outcome"] = json!(NAME);
    receipt["why"] = json!(NAME);
    receipt["trigger"] = json!(NAME);
    receipt["stages"][NAME] = json!(u64::MAX);
    receipt["time-us"] = json!(u64::MAX);
    receipt["bytes"] = json!({ "before": u64::MAX, "after": u64::MAX });
    receipt["repairs"] = json!([{ "rule": NAME, "message": 1, "what": NAME }]);
    receipt["violations"] = json!([{ "rule": NAME, "severity": NAME }, { "rule": "ALL-6" }]);
    receipt["reasons"] = json!([
        { "first": 0, "count": u32::MAX, "code": NAME },
        { "first": u32::MAX, "count": u32::MAX, "code": "x".repeat(100_000) },
    ]);
    receipt["archive"][0]["reference"] = json!("0; rm -rf ~");
    let attempt = &mut receipt["attempts"][0];
    attempt["strategy"] = json!(NAME);
    attempt["component"]["content-hash"] = json!(NAME);
    attempt["component"]["contract"] = json!(NAME);
    attempt["component"]["permissions"] = json!([NAME]);
    attempt["result"] = json!({ "result": NAME, "fault": { "fault": NAME, NAME: 1 } });
    attempt["words"] = json!({ "reason": "what the user said", "log": [] });
    attempt["metrics"] = json!([
        { "name": NAME, "value": 1e308 },
        { "name": "said", "value": "what the user said" },
    ]);
    run["units"][0]["kind"] = json!(NAME);
    run["units"][1]["tokens-before"] = json!(u32::MAX);
    run
}

#[cfg(unix)]
#[test]
fn no_command_names_a_file_whose_name_cannot_be_shown() {
    let bench = Bench::new();
    bench.compact(&example(EXAMPLES[0]), "run a b.json", &[]);
    let page = bench.page(&["run a b.json"]);
    assert!(page.contains("baler undo 'run a b.json'"));
    // The last is how a byte that is no UTF-8 would be shown.
    for name in [
        "run a\nb.json",
        "run a\u{200b} b.json",
        "run a\u{fffd}.json",
    ] {
        bench.file(name, bench.read("run a b.json"));
        let page = bench.page(&[name]);
        assert!(
            page.contains("whose name holds characters that cannot be shown"),
            "{name:?}"
        );
        assert!(!page.contains("baler undo "), "{name:?}");
    }
}

#[test]
fn hostile_names_in_a_receipt_stay_text() {
    let bench = Bench::new();
    let run = hostile(&bench);
    let name = "it's <b onclick=alert(3)>.json";
    bench.file(name, run.to_string());
    let page = bench.page(&[name]);
    for wrong in [
        "<script",
        "<b ",
        "rm -rf",
        "\u{202e}",
        "what the user said",
        "xxxxx".repeat(200).as_str(),
    ] {
        assert!(!page.contains(wrong), "{wrong}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)"));
    // What is copied from the page names one file, whatever that is called.
    assert!(page.contains(r"baler undo 'it'\''s &lt;b onclick=alert(3)&gt;.json'"));
    assert!(page.contains("not a reference"));
    assert_eq!(
        columns(&page),
        run["units"].as_array().expect("units").len()
    );
}

fn evaluation(name: &str) -> Value {
    let interval = |mean: f64| json!({ "mean": mean, "low": mean - 0.1, "high": mean + 0.1, "conversations": 12 });
    let row = |strategy: &str, budget: f64, set: &str, mean: f64| {
        json!({ "strategy": strategy, "budget": budget, "set": set,
            "figures": { "recall": interval(mean), "far": interval(mean / 2.0) } })
    };
    json!({
        "baselines": ["mask"],
        "conversations": [{ "skipped": null }, { "skipped": "unread" }],
        "summary": [
            row(name, 0.05, "all", 0.4), row("mask", 0.05, "all", 0.2),
            row(name, 0.25, "all", 0.8), row("mask", 0.25, "all", 0.3),
            row(name, 0.25, "one", 0.7), row("mask", 0.25, "one", 0.3),
            row(name, 0.25, name, 0.9), row("mask", 0.25, name, 1e308),
        ],
    })
}

#[test]
fn an_evaluation_becomes_charts_with_baselines_apart_and_tables_behind() {
    let bench = Bench::new();
    bench.file("figures.json", evaluation("mine").to_string());
    let page = bench.page(&["figures.json"]);
    assert!(page.contains("1 of 2 conversations measured"));
    let recall = &page[page.find("Recall by budget, all sets").expect("a chart")..];
    let recall = &recall[..recall.find("Far recall by budget").expect("the next")];
    assert_eq!(recall.matches("class=\"panel\"").count(), 2);
    assert_eq!(recall.matches("class=\"mark baseline\"").count(), 2);
    assert_eq!(recall.matches("class=\"mark\"").count(), 2);
    assert!(recall.contains("0.80 (0.70–0.90)"));
    // The best first.
    assert!(recall.find(">mine<").expect("a row") < recall.find(">mask<").expect("a row"));
    // Nothing was measured of these.
    assert!(!page.contains("Last error by budget"));
    let sets = &page[page.find("By set").expect("sets")..];
    assert!(sets.contains("Recall by budget, one"));
}

#[test]
fn hostile_names_in_an_evaluation_stay_text() {
    let bench = Bench::new();
    bench.file(
        "figures.json",
        evaluation("</svg><script>alert(1)</script>").to_string(),
    );
    let page = bench.page(&["figures.json"]);
    assert!(!page.contains("<script"));
    assert!(page.contains("&lt;script&gt;"));
}

/// A corpus of two recorded conversations that need later what stood before.
fn corpus(bench: &Bench) {
    for (set, topic) in [("left", "mast"), ("right", "keel")] {
        let folder = bench.path("corpus").join(set);
        fs::create_dir_all(&folder).expect("a folder");
        let mut messages = vec![
            json!({ "role": "user", "content": format!("Never touch src/{topic}/frozen.rs. Mend the {topic}.") }),
        ];
        for step in 0..30 {
            let path = format!("src/{topic}/part_{}.rs", step % 10);
            let id = format!("call_{step}");
            messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function",
                "function": { "name": "read_file", "arguments": json!({ "path": path }).to_string() } }] }));
            messages.push(json!({ "role": "tool", "tool_call_id": id, "content": format!("fn mend_{topic}_{} in {path} {}", step % 10, "is as it was. ".repeat(20)) }));
        }
        messages.push(json!({ "role": "assistant", "content": "Mended." }));
        let body = json!({ "model": "gpt-4o", "messages": messages });
        fs::write(folder.join("one.json"), body.to_string()).expect("a file");
    }
}

#[test]
fn eval_writes_its_charts_and_the_report_reads_its_figures() {
    let bench = Bench::new();
    corpus(&bench);
    let ran = bench.run(&[
        "eval",
        "corpus",
        "--strategy",
        "native:digest",
        "--strategy",
        "native:truncate",
        "--budget",
        "10%",
        "--budget",
        "50%",
        "--json",
        "figures.json",
        "--charts",
        "charts",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let mut names: Vec<String> = fs::read_dir(bench.path("charts"))
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    assert_eq!(
        names,
        // No error is in the corpus.
        ["far.svg", "instructions.svg", "recall.svg"]
    );
    let chart = bench.read("charts/recall.svg");
    assert!(chart.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(chart.contains("<title>Recall by budget, all sets"));
    for name in ["native:digest", "native:truncate", "keep-last", "random"] {
        assert!(chart.contains(name), "{name}");
    }
    let figures: Value = serde_json::from_str(&bench.read("figures.json")).expect("JSON");
    let rows = figures["summary"].as_array().expect("rows");
    let row = rows.iter().find(|row| {
        row["strategy"] == "native:digest" && row["set"] == "all" && row["budget"] == 0.5
    });
    let recall = row.expect("a row")["figures"]["recall"]["mean"]
        .as_f64()
        .expect("a mean");
    let page = bench.page(&["figures.json"]);
    assert!(page.contains(&format!("<td class=\"number\">{recall:.2}<span")));
    // The same drawing is on the page.
    let marks = chart.matches("class=\"mark").count();
    assert!(marks > 0);
    let drawn = &page[..page.find("Far recall by budget").expect("the next")];
    assert_eq!(drawn.matches("class=\"mark").count(), marks);
}

#[test]
fn file_of_another_kind_is_reported_with_its_error() {
    let bench = Bench::new();
    bench.compact(&example(EXAMPLES[0]), "run.json", &[]);
    let run = bench.read("run.json");
    let value: Value = serde_json::from_str(&run).expect("JSON");
    let changed = |change: fn(&mut Value)| {
        let mut value = value.clone();
        change(&mut value);
        value.to_string()
    };
    let cases = [
        (String::new(), "is empty"),
        (" \n".to_owned(), "is empty"),
        (
            run[..run.floor_char_boundary(run.len() / 2)].to_owned(),
            "ends too early",
        ),
        ("{\"receipt\": 1,}".to_owned(), "is not JSON: line 1"),
        ("# words".to_owned(), "is not JSON: line 1"),
        ("[]".to_owned(), "is neither a receipt nor an evaluation"),
        ("{}".to_owned(), "is neither a receipt nor an evaluation"),
        ("7".to_owned(), "is neither a receipt nor an evaluation"),
        (
            fs::read_to_string(example(EXAMPLES[0])).expect("an example"),
            "is a conversation",
        ),
        ("{\"receipt\": 2}".to_owned(), "another version than 1"),
        (
            "{\"receipt\": \"sixpence\"}".to_owned(),
            "without a version",
        ),
        ("{\"receipt\": 1}".to_owned(), "has another form"),
        (
            changed(|run| run["receipt"]["receipt"] = json!(99)),
            "another version than 1",
        ),
        (
            changed(|run| run["receipt"]["tokens"]["before"] = json!("sixpence")),
            "has another form",
        ),
        (
            changed(|run| run["receipt"]["tokens"]["before"] = json!(-1)),
            "has another form",
        ),
        (
            changed(|run| run["units"][0]["outcome"] = json!("sixpence")),
            "has another form",
        ),
        (
            "{\"summary\": 3, \"conversations\": []}".to_owned(),
            "has another form",
        ),
        (
            format!("{{\"receipt\": {}", "[".repeat(100_000)),
            "ends too early",
        ),
    ];
    bench.file("report.html", "the one before");
    for (content, words) in cases {
        bench.file("wrong.json", &content);
        let ran = bench.run(&["report", "run.json", "wrong.json", "-o", "report.html"]);
        assert_eq!(ran.code, 5, "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains("`wrong.json`"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("sixpence"), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
        assert_eq!(bench.read("report.html"), "the one before");
    }
    let bytes = bench.run_with_input(&["report", "-"], b"{\"receipt\": \"\xff\"}");
    assert_eq!(bytes.code, 5);
}

#[test]
fn a_file_of_more_than_a_gibibyte_is_not_read() {
    let bench = Bench::new();
    let huge = fs::File::create(bench.path("huge.json")).expect("a file");
    huge.set_len((1 << 30) + 1).expect("a sparse file");
    let ran = bench.run(&["report", "huge.json"]);
    assert_eq!(ran.code, 5);
    assert!(ran.stderr.contains("more than 1 GiB"), "{}", ran.stderr);
}

#[test]
fn a_very_long_conversation_is_drawn_as_far_as_a_browser_can_bear() {
    let bench = Bench::new();
    let mut run = bench.compact(&example(EXAMPLES[0]), "run.json", &[]);
    let unit = json!({ "unit": 0, "kind": "step", "outcome": "kept", "messages": 2, "tokens-before": 9, "tokens-after": 9 });
    run["units"] = json!(vec![unit; 4_100]);
    bench.file("long.json", run.to_string());
    let page = bench.page(&["long.json"]);
    assert_eq!(columns(&page), 4_000);
    assert!(page.contains("100 more units are not shown"));
}

#[test]
fn reasons_that_all_name_all_units_make_a_page_of_the_usual_size() {
    let bench = Bench::new();
    let mut run = bench.compact(&example(EXAMPLES[0]), "run.json", &[]);
    let unit = |number: usize| json!({ "unit": number, "kind": "step", "outcome": "kept", "messages": 2, "tokens-before": 3, "tokens-after": 3 });
    run["units"] = (0..4_000).map(unit).collect();
    let code = |number: usize| format!("{}-{number}", "x".repeat(60));
    // Some gigabytes, were each put down for each unit.
    let reasons =
        (0..15_000).map(|number| json!({ "first": 0, "count": 4_000, "code": code(number) }));
    run["receipt"]["reasons"] = reasons.collect();
    bench.file("bomb.json", run.to_string());
    let page = bench.page(&["bomb.json"]);
    assert!(page.len() < 10_000_000, "{}", page.len());
    // The table of codes sums over units as ever.
    assert!(page.contains("<td class=\"number\">4,000</td><td class=\"number\">12,000</td>"));
    assert!(page.contains("14,900 more codes are not shown"));
    // Each unit is told with its first codes.
    assert_eq!(page.matches(&format!("({}, ", code(0))).count(), 4_000);
}

#[test]
fn an_evaluation_with_more_than_a_page_can_show_is_refused() {
    let bench = Bench::new();
    let mut figures = evaluation("mine");
    let row = figures["summary"][0].clone();
    figures["summary"] = (0..300)
        .map(|number| {
            let mut row = row.clone();
            row["strategy"] = json!(format!("s{number}"));
            row["budget"] = json!(f64::from(number) / 1_000.0);
            row
        })
        .collect();
    bench.file("figures.json", figures.to_string());
    let ran = bench.run(&["report", "figures.json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (5, ""));
    assert!(
        ran.stderr.contains("no more than 20,000 combinations")
            && ran.stderr.contains("90,000 combinations"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_budget_that_is_no_share_of_a_history_is_refused() {
    let bench = Bench::new();
    for budget in [1e308, 1.001, -0.1] {
        let mut figures = evaluation("mine");
        figures["summary"][0]["budget"] = json!(budget);
        bench.file("figures.json", figures.to_string());
        let ran = bench.run(&["report", "figures.json"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (5, ""), "{budget}");
        let words = "expected a share of the history, from 0 to 1, as `budget`";
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        assert!(
            ran.stderr.contains(&format!("found: {budget:e}")),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn page_never_replaces_its_inputs() {
    let bench = Bench::new();
    bench.compact(&example(EXAMPLES[0]), "run.json", &[]);
    let before = bench.read("run.json");
    for output in ["run.json", "./run.json"] {
        let ran = bench.run(&["report", "run.json", "-o", output]);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains("would replace"), "{}", ran.stderr);
    }
    assert_eq!(bench.read("run.json"), before);
    let nowhere = bench.run(&["report", "run.json", "-o", "nowhere/report.html"]);
    assert_eq!(nowhere.code, 1);
    assert!(
        nowhere
            .stderr
            .contains("cannot write `nowhere/report.html`")
    );
    assert_eq!(bench.run(&["report"]).code, 2);
    assert_eq!(bench.run(&["report", "missing.json"]).code, 5);
}
