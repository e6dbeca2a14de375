//! Recordings of gemini-cli.

use super::Dimension;
use crate::case::Input;
use crate::wire::line;

pub(super) const DIMENSIONS: &[Dimension] = &[
    ("messages", messages),
    ("one object", one_object),
    ("steps", steps),
    ("parallel calls", parallel),
    ("one record again and again", one_record),
    ("rewinds", rewinds),
    ("rewinds to nowhere", rewinds_to_nowhere),
    ("sets of messages", sets),
    ("sets of nothing", empty_sets),
    ("one id in all calls", one_id),
    ("models in a row", models_in_a_row),
    ("calls in a content", in_a_content),
    ("calls without ids", without_ids),
];

const HEAD: &str = r#"{"sessionId":"s","projectHash":"p","startTime":"t"}"#;

fn user(number: usize) -> String {
    let text = line(number);
    format!(r#"{{"id":"r{number}","timestamp":"t","type":"user","content":"{text}"}}"#)
}

fn model(number: usize, calls: &str) -> String {
    let text = line(number);
    format!(
        r#"{{"id":"r{number}","timestamp":"t","type":"gemini","content":"{text}","model":"gemini-2.5-pro","toolCalls":[{calls}],"tokens":{{"total":{number}}}}}"#
    )
}

fn call(id: &str, number: usize) -> String {
    let text = line(number);
    format!(
        r#"{{"id":"{id}","name":"read","args":{{}},"result":[{{"functionResponse":{{"id":"{id}","name":"read","response":{{"output":"{text}"}}}}}}],"status":"success"}}"#
    )
}

/// A recording of these lines, behind a first question and in front of another.
fn recording(n: usize, lines: impl IntoIterator<Item = String>) -> Input {
    let mut all = vec![HEAD.to_owned(), user(n + 1)];
    all.extend(lines);
    all.push(user(n + 2));
    Input::log(all)
}

fn by_turns(n: usize) -> impl Iterator<Item = String> {
    (0..n).map(|number| match number % 2 {
        0 => model(number, ""),
        _ => user(number),
    })
}

fn messages(n: usize) -> Input {
    recording(n, by_turns(n))
}

fn one_object(n: usize) -> Input {
    let messages: Vec<String> = std::iter::once(user(n)).chain(by_turns(n)).collect();
    let whole = format!(
        "{{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"p\",\n  \"messages\": [\n    {}\n  ]\n}}",
        messages.join(",\n    ")
    );
    Input::log(vec![whole])
}

fn steps(n: usize) -> Input {
    let steps = (0..n / 2).map(|number| model(number, &call(&format!("c{number}"), number)));
    recording(n, steps)
}

fn parallel(n: usize) -> Input {
    let calls: Vec<String> = (0..n / 2)
        .map(|number| call(&format!("c{number}"), number))
        .collect();
    recording(n, [model(0, &calls.join(","))])
}

fn one_record(n: usize) -> Input {
    recording(n, (0..n).map(|_| model(0, "")))
}

/// What was said, and taken back line by line.
fn rewinds(n: usize) -> Input {
    let back = (0..n / 2)
        .rev()
        .map(|number| format!(r#"{{"$rewindTo":"r{number}"}}"#));
    let lines: Vec<String> = by_turns(n / 2).chain(back).collect();
    recording(n, lines)
}

fn rewinds_to_nowhere(n: usize) -> Input {
    let lines =
        (0..n / 2).flat_map(|number| [user(number), r#"{"$rewindTo":"nowhere"}"#.to_owned()]);
    recording(n, lines)
}

fn sets(n: usize) -> Input {
    let lines = (0..n / 2).map(|number| {
        let messages = [user(number), model(number + n, "")].join(",");
        format!(r#"{{"$set":{{"messages":[{messages}]}}}}"#)
    });
    recording(n * 2, lines)
}

fn empty_sets(n: usize) -> Input {
    let lines = by_turns(n / 2)
        .chain((0..n / 2).map(|number| format!(r#"{{"$set":{{"lastUpdated":"t{number}"}}}}"#)));
    recording(n, lines.collect::<Vec<_>>())
}

fn one_id(n: usize) -> Input {
    recording(
        n,
        (0..n / 2).map(|number| model(number, &call("c", number))),
    )
}

fn models_in_a_row(n: usize) -> Input {
    recording(n, (0..n).map(|number| model(number, "")))
}

/// A message whose content is these parts.
fn of_parts(number: usize, kind: &str, parts: &[String]) -> String {
    let parts = parts.join(",");
    format!(r#"{{"id":"p{number}","timestamp":"t","type":"{kind}","content":[{parts}]}}"#)
}

/// Calls and, in a message of their own, the responses.
fn answered(n: usize, id: impl Fn(usize) -> String) -> [String; 2] {
    let calls: Vec<String> = (0..n)
        .map(|number| {
            let id = id(number);
            format!(r#"{{"functionCall":{{{id}"name":"read","args":{{}}}}}}"#)
        })
        .collect();
    let responses: Vec<String> = (0..n)
        .map(|number| {
            let (id, text) = (id(number), line(number));
            format!(
                r#"{{"functionResponse":{{{id}"name":"read","response":{{"output":"{text}"}}}}}}"#
            )
        })
        .collect();
    [
        of_parts(0, "gemini", &calls),
        of_parts(1, "user", &responses),
    ]
}

fn in_a_content(n: usize) -> Input {
    recording(n, answered(n / 2, |number| format!(r#""id":"c{number}","#)))
}

fn without_ids(n: usize) -> Input {
    recording(n, answered(n / 2, |_| String::new()))
}
