//! Steps that say nothing anybody needs: files that are read, logs, listings, search results, JSON and prose.

use std::fmt::Write as _;

use serde_json::json;

use super::names::Names;
use crate::Choices;
use crate::session::Event;

/// Returns the events of a step, or of several calls.
pub(super) fn step(choices: &mut Choices<'_>) -> Vec<Event> {
    let mut names = Names::new(choices);
    let mut events = Vec::new();
    if names.choices.below(3) == 0 {
        let said = [
            "Let me look at this first.",
            "I check how that is done elsewhere.",
            "Now the next part.",
            "Reading on.",
        ];
        events.push(Event::Assistant(said[names.choices.below(4)].to_owned()));
    }
    events.push(match names.choices.below(7) {
        0 | 1 => code(&mut names),
        2 => log(&mut names),
        3 => listing(&mut names),
        4 => search(&mut names),
        5 => records(&mut names),
        _ => prose(&mut names),
    });
    events
}

fn lines(
    names: &mut Names<'_, '_>,
    least: usize,
    line: impl Fn(&mut Names<'_, '_>, usize) -> String,
) -> String {
    let count = least + names.choices.below(least * 3);
    let mut text = String::new();
    for number in 1..=count {
        let line = line(names, number);
        let _ = writeln!(text, "{line}");
    }
    text
}

fn call(tool: &str, arguments: serde_json::Value, output: String) -> Event {
    Event::Call {
        tool: tool.to_owned(),
        arguments,
        output,
        failed: false,
    }
}

fn code(names: &mut Names<'_, '_>) -> Event {
    let file = names.any("file");
    let output = lines(names, 16, |names, number| {
        let (one, two) = (names.any("ident"), names.any("ident"));
        match names.choices.below(6) {
            0 => format!("{number:>5}\tfn {one}({two}: &str) -> Result<usize, Error> {{"),
            1 => {
                format!("{number:>5}\t    let {one} = self.{two}.get(&key).copied().unwrap_or(0);")
            }
            2 => format!(
                "{number:>5}\t    if {one}.is_empty() {{ return Err(Error::missing(\"{two}\")); }}"
            ),
            3 => format!("{number:>5}\t    // {one} counts from one here, see {two}"),
            4 => format!("{number:>5}\t}}"),
            _ => format!("{number:>5}\t    {one}.push({two}.len() + {});", number * 7),
        }
    });
    call("read_file", json!({"path": file}), output)
}

fn log(names: &mut Names<'_, '_>) -> Event {
    let host = names.any("host");
    let output = lines(names, 14, |names, number| {
        let (id, word) = (names.any("hex"), names.any("word"));
        let level = ["INFO", "DEBUG", "INFO", "WARN"][names.choices.below(4)];
        format!(
            "2026-04-{:02}T10:{:02}:07Z {level} worker[{id}] {word}: handled {} items in {} ms",
            1 + number % 28,
            number % 60,
            number * 13,
            number * 3
        )
    });
    call(
        "bash",
        json!({"command": format!("ssh {host} tail -n 60 /var/log/worker.log")}),
        output,
    )
}

fn listing(names: &mut Names<'_, '_>) -> Event {
    let dir = names.any("dir");
    let output = lines(names, 12, |names, number| {
        format!(
            "-rw-r--r-- 1 dev dev {:>6} Apr {:>2} 09:12 {}",
            number * 311,
            1 + number % 28,
            names.any("file")
        )
    });
    call("bash", json!({"command": format!("ls -lR {dir}")}), output)
}

fn search(names: &mut Names<'_, '_>) -> Event {
    let what = names.any("ident");
    let output = lines(names, 10, |names, number| {
        let (file, one) = (names.any("file"), names.any("ident"));
        format!("{file}:{}: {one}({what}, {number})", number * 17)
    });
    call("grep", json!({"pattern": what}), output)
}

fn records(names: &mut Names<'_, '_>) -> Event {
    let count = 6 + names.choices.below(14);
    let rows: Vec<serde_json::Value> = (0..count)
        .map(|_| {
            let state = ["new", "seen", "filed"][names.choices.below(3)];
            json!({"id": names.any("id"), "owner": names.any("person"), "city": names.any("place"), "total": names.any("amount"), "state": state})
        })
        .collect();
    call(
        "list_records",
        json!({"page": 1 + names.choices.below(9)}),
        json!({"rows": rows, "next": null}).to_string(),
    )
}

fn prose(names: &mut Names<'_, '_>) -> Event {
    let url = names.any("url");
    let output = lines(names, 5, |names, _| {
        let (one, two, place) = (names.any("word"), names.any("word"), names.any("place"));
        format!(
            "The {one} of {place} has been described many times, and most accounts agree that the {two} came later than the records of the guild would have it. Where they differ, they differ in small things, such as the width of the gate or the price of the {one} in a dry year."
        )
    });
    call("fetch", json!({"url": url}), output)
}
