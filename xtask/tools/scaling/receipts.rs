//! The dimensions that a receipt can grow in, for `baler report`.

use crate::case::Input;

/// A dimension, and what makes a run with a receipt.
type Written = (&'static str, fn(usize) -> Input);

/// All of them.
pub(crate) const ALL_WRITTEN: &[Written] = &[
    ("attempts", attempts),
    ("reasons of all units", reasons),
    ("reasons of one unit", reasons_of_one),
    ("units", units),
    ("archived units", archived),
    ("repairs", repairs),
    ("originals", originals),
    ("violations", violations),
    ("figures", metrics),
    ("faults' members", fault),
];

/// Repeats `one` as a JSON list of `count` elements; `#` in it becomes the index.
fn list(count: usize, one: &str) -> String {
    let all: Vec<String> = (0..count)
        .map(|number| one.replace('#', &number.to_string()))
        .collect();
    format!("[{}]", all.join(","))
}

const ATTEMPT: &str = r#"{"strategy":"own-#","component":null,"result":{"result":"accepted"},"usage":{"fuel":7,"time-us":9,"memory-bytes":0,"host-calls":0,"log-lines":0,"log-lines-dropped":0},"model":null,"metrics":[]}"#;

/// A run with a receipt in which some lists are these; others are empty.
fn run(units: usize, lists: &[(&str, String)]) -> Input {
    let of = |name: &str| {
        let found = lists.iter().find(|(own, _)| *own == name);
        found.map_or_else(|| "[]".to_owned(), |(_, list)| list.clone())
    };
    let attempts = match of("attempts") {
        none if none == "[]" => list(1, ATTEMPT),
        some => some,
    };
    let told = list(
        units,
        r#"{"unit":#,"kind":"step","outcome":"removed","protected":false,"messages":1,"tokens-before":9,"tokens-after":0}"#,
    );
    let receipt = format!(
        r#"{{"receipt":1,"outcome":"compacted","strategy":"own-0","fell-back":false,"attempts":{attempts},"format":"openai-chat","tokenizer":"o200k_base","trigger":"manual","required":false,"tokens":{{"before":900,"after":90,"budget":100,"floor":9,"overhead":0,"below-floor":false}},"below-floor":[],"bytes":{{"before":900,"after":90}},"messages":{{"before":{units},"after":1}},"cache":null,"units":{{"before":{units},"kept":0,"rewritten":0,"removed":{units},"inserted":0,"thinking-removed":0}},"reasons":{},"archive":{},"undo":null,"failures-in-a-row":0,"repairs":{},"originals":{},"violations":{},"time-us":9,"stages":{{}}}}"#,
        of("reasons"),
        of("archive"),
        of("repairs"),
        of("originals"),
        of("violations"),
    );
    Input::log(vec![format!(r#"{{"receipt":{receipt},"units":{told}}}"#)])
}

fn attempts(n: usize) -> Input {
    run(1, &[("attempts", list(n, ATTEMPT))])
}

/// A few of them for as many units: page and time would be their product.
fn reasons(n: usize) -> Input {
    let reason = format!(r#"{{"first":0,"count":{n},"code":"old-#"}}"#);
    run(n, &[("reasons", list(n, &reason))])
}

fn reasons_of_one(n: usize) -> Input {
    run(
        n,
        &[(
            "reasons",
            list(n, r#"{"first":0,"count":1,"code":"old-#"}"#),
        )],
    )
}

fn units(n: usize) -> Input {
    run(n, &[])
}

fn archived(n: usize) -> Input {
    let archived = list(n, r#"{"unit":#,"reference":"0123456789abcdef0123"}"#);
    run(n, &[("archive", archived)])
}

fn repairs(n: usize) -> Input {
    let repairs = list(
        n,
        r#"{"rule":"ALL-4","message":#,"what":"a call got a unique id"}"#,
    );
    run(1, &[("repairs", repairs)])
}

fn originals(n: usize) -> Input {
    let originals = list(n, r#"{"message":#,"reference":"0123456789abcdef0123"}"#);
    run(1, &[("originals", originals)])
}

fn violations(n: usize) -> Input {
    let violations = list(n, r#"{"rule":"ALL-4","message":#,"what":"twice"}"#);
    run(1, &[("violations", violations)])
}

fn metrics(n: usize) -> Input {
    let metrics = list(n, r#"{"name":"figure-#","value":7}"#);
    let attempt = ATTEMPT.replace(r#""metrics":[]"#, &format!(r#""metrics":{metrics}"#));
    run(1, &[("attempts", format!("[{attempt}]"))])
}

fn fault(n: usize) -> Input {
    let members: String = (0..n)
        .map(|number| format!(r#","m{number}":{number}"#))
        .collect();
    let ended = format!(r#"{{"result":"fault","fault":{{"fault":"timeout"{members}}}}}"#);
    let attempt = ATTEMPT.replace(r#"{"result":"accepted"}"#, &ended);
    run(1, &[("attempts", format!("[{attempt}]"))])
}
