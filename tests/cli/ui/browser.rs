//! What a real browser makes of the pages. Where there is no Chromium, the test says so and passes.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::client::Served;
use super::session;
use crate::support::{Bench, example};

/// A browser that is told what to do over pipes, by the Chrome DevTools Protocol.
struct Browser {
    child: Child,
    input: File,
    output: BufReader<File>,
    session: Value,
    /// Number of the last command.
    last: u64,
    /// What pages complained about.
    complaints: Vec<String>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Browser {
    #[expect(
        clippy::print_stderr,
        reason = "a test that leaves something out says so"
    )]
    fn start(bench: &Bench) -> Option<Self> {
        let program = ["chromium", "chromium-browser", "google-chrome"]
            .into_iter()
            .find(|name| Command::new(name).arg("--version").output().is_ok());
        let Some(program) = program else {
            eprintln!("skipped: there is no Chromium here");
            return None;
        };
        let [to, from] = ["to", "from"].map(|name| bench.path(name));
        let made = Command::new("mkfifo").args([&to, &from]).status();
        assert!(made.expect("it runs").success());
        // The browser reads descriptor 3 and writes to 4.
        let child = Command::new("bash")
            .arg("-c")
            .arg("exec timeout --kill-after=5 180 \"$0\" \"$@\" 3<to 4>from")
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
            ])
            .args(["--no-first-run", "--disable-background-networking"])
            .args(["--disable-component-update", "--disable-sync"])
            .arg("--remote-debugging-pipe")
            .arg(format!(
                "--user-data-dir={}",
                bench.path("profile").display()
            ))
            .current_dir(bench.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let input = OpenOptions::new().write(true).open(&to).expect("a pipe");
        let output = BufReader::new(File::open(&from).expect("a pipe"));
        let mut browser = Self {
            child,
            input,
            output,
            session: Value::Null,
            last: 0,
            complaints: Vec::new(),
        };
        let page = browser.tell("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": page["targetId"], "flatten": true});
        browser.session = browser.tell("Target.attachToTarget", attach)["sessionId"].take();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.tell(domain, json!({}));
        }
        Some(browser)
    }

    /// Sends a command, and returns its result.
    fn tell(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut command = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_null() {
            command["sessionId"] = self.session.clone();
        }
        write!(self.input, "{command}\0").expect("it reads");
        self.input.flush().expect("it reads");
        loop {
            let mut message = self.next();
            if message["id"] == self.last {
                assert_eq!(message["error"], Value::Null, "{method}");
                return message["result"].take();
            }
        }
    }

    /// Reads a message, and notes complaints.
    fn next(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.output.read_until(0, &mut bytes).expect("a message");
        bytes.pop();
        let message: Value = serde_json::from_slice(&bytes).expect("JSON");
        let complaint = match message["method"].as_str() {
            Some("Log.entryAdded") => message["params"]["entry"]["text"].as_str(),
            Some("Runtime.exceptionThrown") => Some("an exception"),
            Some("Runtime.consoleAPICalled") => Some("a message of the console"),
            _ => None,
        };
        self.complaints.extend(complaint.map(str::to_owned));
        message
    }

    fn open(&mut self, url: &str) {
        self.tell("Page.navigate", json!({"url": url}));
        self.wait_for_load();
    }

    fn wait_for_load(&mut self) {
        while self.next()["method"] != "Page.loadEventFired" {}
    }

    /// Evaluates a script in the page.
    fn see(&mut self, script: &str) -> Value {
        let asked = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        self.tell("Runtime.evaluate", asked)["result"]["value"].take()
    }

    fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.tell("Input.dispatchKeyEvent", event);
        }
    }
}

#[test]
fn a_browser_shows_the_pages_at_every_width_and_by_the_keyboard() {
    let bench = Bench::new();
    let name = session(&bench);
    let served = Served::start(&bench, &[]);
    let Some(mut browser) = Browser::start(&bench) else {
        return;
    };
    let url = |path: &str| format!("http://{}{path}", served.address);
    let session = format!("/ui/sessions/{name}");
    let compaction = format!("{session}/compactions/1");
    let text = served.get(&compaction).links("/ui/archive/").remove(0);
    for path in ["/ui", &session, &compaction, &text, "/ui/try"] {
        for (width, scheme) in [(360, "light"), (768, "dark"), (1_440, "light")] {
            let size =
                json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
            browser.tell("Emulation.setDeviceMetricsOverride", size);
            let scheme = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            browser.tell("Emulation.setEmulatedMedia", scheme);
            browser.open(&url(path));
            let root = "document.documentElement.scrollWidth <= innerWidth && innerWidth";
            assert_eq!(browser.see(root), width, "{path} scrolls sideways");
            // So that the style sheet is there at all.
            assert_eq!(browser.see("getComputedStyle(document.body).margin"), "0px");
        }
    }

    // By the keyboard alone from the list to a text that was removed.
    for (path, next) in [
        ("/ui", &session),
        (&session, &compaction),
        (&compaction, &text),
    ] {
        browser.open(&url(path));
        let is_there = format!("document.activeElement.getAttribute('href') === '{next}'");
        let mut presses = 0;
        while browser.see(&is_there) != true {
            browser.press("Tab", 9);
            presses += 1;
            assert!(presses < 40, "{next} is not reached on {path}");
        }
        let outline = "getComputedStyle(document.activeElement).outlineStyle";
        assert_eq!(browser.see(outline), "solid", "the focus can be seen");
    }

    // The page that tries strategies works without its script's help, and says what it did.
    browser.open(&url("/ui/try"));
    let body = std::fs::read_to_string(example("fix-a-bug.openai.json")).expect("an example");
    let fill = format!(
        "document.getElementById('text').value = {}; document.querySelector('form.try button').click()",
        json!(body)
    );
    browser.see(&fill);
    browser.wait_for_load();
    assert_eq!(
        browser.see("document.querySelectorAll('#result-1 svg.strip').length"),
        1
    );
    assert_eq!(browser.complaints, [] as [&str; 0]);
}

#[test]
fn a_live_page_refreshes_itself_unless_somebody_reads_it() {
    let bench = Bench::new();
    super::record(&bench, "one", &super::exchange(&json!({})));
    let served = Served::start(&bench, &[]);
    let Some(mut browser) = Browser::start(&bench) else {
        return;
    };
    browser.open(&format!("http://{}/ui", served.address));
    let wait = "new Promise(done => setTimeout(done, 2600)).then(() => document.querySelectorAll('main tbody tr').length)";
    // Focus inside: it stays as it is.
    browser.see("document.querySelector('main a').focus()");
    super::record(
        &bench,
        "two",
        &super::exchange(&json!({"program": "agent/2"})),
    );
    assert_eq!(browser.see(wait), 1);
    browser.see("document.activeElement.blur()");
    assert_eq!(browser.see(wait), 2);
    drop(served);
    let said = "new Promise(done => setTimeout(done, 2600)).then(() => document.getElementById('state').textContent)";
    assert!(
        browser
            .see(said)
            .as_str()
            .is_some_and(|said| said.contains("baler has ended"))
    );
}
