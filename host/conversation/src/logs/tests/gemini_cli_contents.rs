//! Recordings whose contents hold the calls and the responses, as gemini-cli writes them since 0.44.

use serde_json::{Value, json};

use super::gemini_cli::{call, head, model, response, user};
use super::{log, messages};
use crate::logs::Log;

/// A message whose content is these parts.
fn of_parts(id: &str, kind: &str, parts: Value) -> Value {
    json!({"id": id, "timestamp": "t", "type": kind, "content": parts})
}

fn set(messages: &[Value]) -> Value {
    json!({"$set": {"messages": messages, "lastUpdated": "t"}})
}

fn spoken(id: &str) -> Value {
    json!({"functionCall": {"id": id, "name": "book", "args": {"from": "LIS"}}})
}

fn signed(id: &str) -> Value {
    let mut part = spoken(id);
    part["thoughtSignature"] = json!("c2ln");
    part
}

fn picture(data: &str) -> Value {
    json!({"inlineData": {"mimeType": "image/png", "data": data}})
}

fn roles(log: &Log) -> Vec<Value> {
    messages(log).iter().map(|m| m["role"].clone()).collect()
}

/// Calls and results that were left out, and calls that got a result of baler's.
fn lost(log: &Log) -> (usize, usize, usize) {
    let facts = &log.facts;
    (
        facts.dropped_calls,
        facts.dropped_results,
        facts.completed_calls,
    )
}

// LGE-1, LGE-5, LGE-8: what a compression or masking leaves.
#[test]
fn calls_and_responses_that_only_contents_hold_are_kept() {
    let mut before = model("2", "", json!([call("a", Value::Null, "executing")]));
    before["model"] = json!("gemini-3-pro-preview");
    let log = log(&[
        head(),
        user("1", "Book."),
        before,
        set(&[
            of_parts("3", "user", json!([{"text": "Book."}])),
            of_parts(
                "4",
                "gemini",
                json!([{"text": "Two."}, signed("a"), spoken("b")]),
            ),
            of_parts(
                "5",
                "user",
                json!([
                    response("b", "output", "masked"),
                    response("a", "output", "ok")
                ]),
            ),
            of_parts("6", "gemini", json!([spoken("c")])),
        ]),
        of_parts("7", "user", json!([response("c", "output", "new")])),
    ]);
    let mut stood_in = spoken("c");
    stood_in["thoughtSignature"] = json!("skip_thought_signature_validator");
    assert_eq!(
        messages(&log),
        [
            json!({"role": "user", "parts": [{"text": "Book."}]}),
            json!({"role": "model", "parts": [{"text": "Two."}, signed("a"), spoken("b")]}),
            json!({"role": "user", "parts":
                [response("a", "output", "ok"), response("b", "output", "masked")]}),
            json!({"role": "model", "parts": [stood_in]}),
            json!({"role": "user", "parts": [response("c", "output", "new")]}),
        ]
    );
    assert_eq!(lost(&log), (0, 0, 0));
    assert_eq!(log.model.as_deref(), Some("gemini-3-pro-preview"));
}

// LGE-1: gemini-cli#29365.
#[test]
fn call_in_the_content_and_in_the_list_is_one() {
    let done = |id: &str, text: &str| call(id, json!([response(id, "output", text)]), "success");
    let mut both = model(
        "2",
        "",
        json!([done("a", "whole"), done("b", "ok"), done("c", "more")]),
    );
    both["content"] = json!([signed("a"), spoken("b")]);
    let log = log(&[
        head(),
        user("1", "Book."),
        both,
        of_parts("3", "user", json!([response("a", "output", "masked")])),
    ]);
    let contents = messages(&log);
    assert_eq!(
        contents[1]["parts"],
        json!([signed("a"), spoken("b"), spoken("c")])
    );
    // A message of responses comes before the list (LGE-8).
    assert_eq!(
        contents[2]["parts"],
        json!([
            response("a", "output", "masked"),
            response("b", "output", "ok"),
            response("c", "output", "more")
        ])
    );
    assert_eq!((contents.len(), lost(&log)), (3, (0, 0, 0)));
}

#[test]
fn calls_without_an_id_pair_by_name_and_order() {
    let part = json!({"functionCall": {"name": "book", "args": {}}, "thoughtSignature": "c2ln"});
    let answer =
        |text: &str| json!({"functionResponse": {"name": "book", "response": {"output": text}}});
    let mut both = model(
        "2",
        "",
        json!([
            call("x", Value::Null, "success"),
            call("y", Value::Null, "success")
        ]),
    );
    both["content"] = json!([part, part]);
    let answered_by = |id: &str| {
        log(&[
            head(),
            user("1", "Book."),
            both.clone(),
            of_parts(
                "3",
                "user",
                json!([response(id, "output", "1"), answer("2")]),
            ),
        ])
    };
    let known = answered_by("x");
    assert_eq!(messages(&known)[1]["parts"], json!([part, part]));
    assert_eq!(
        messages(&known)[2]["parts"],
        json!([answer("1"), answer("2")])
    );
    assert_eq!(lost(&known), (0, 0, 0));
    // The list says how the program names them, and this is none of them.
    assert_eq!(lost(&answered_by("other")), (0, 1, 1));
    // Without the list nothing contradicts.
    let alone = of_parts("2", "gemini", json!([part]));
    let log = log(&[
        head(),
        user("1", "Book."),
        alone,
        of_parts("3", "user", json!([response("x", "output", "1")])),
    ]);
    assert_eq!(messages(&log)[2]["parts"], json!([answer("1")]));
}

// LGE-8
#[test]
fn what_stands_beside_responses_belongs_to_the_answer_and_comes_once() {
    let turn = json!([
        response("a", "output", "1"),
        picture("AAAA"),
        response("b", "output", "2"),
        picture("BBBB")
    ]);
    let expected = json!([
        response("a", "output", "1"),
        response("b", "output", "2"),
        picture("AAAA"),
        picture("BBBB")
    ]);
    let own = json!([
        call(
            "a",
            json!([response("a", "output", "1"), picture("AAAA")]),
            "success"
        ),
        call(
            "b",
            json!([response("b", "output", "2"), picture("BBBB")]),
            "success"
        ),
    ]);
    // The program writes the whole turn into each result.
    let synced = json!([
        call("a", turn.clone(), "success"),
        call("b", turn.clone(), "success")
    ]);
    for calls in [own, synced] {
        let step = [head(), user("1", "Look."), model("2", "", calls)];
        let mut answered = step.to_vec();
        answered.push(of_parts("3", "user", turn.clone()));
        answered.push(user("4", "And?"));
        for (lines, count) in [(step.to_vec(), 3), (answered, 4)] {
            let log = log(&lines);
            let contents = messages(&log);
            assert_eq!(contents[2]["parts"], expected, "{lines:?}");
            assert_eq!(
                (contents.len(), lost(&log)),
                (count, (0, 0, 0)),
                "{lines:?}"
            );
        }
    }
}

// LGE-8, GEM-2
#[test]
fn responses_follow_their_calls_whatever_the_user_said_between() {
    let log = log(&[
        head(),
        user("1", "Book."),
        of_parts("2", "gemini", json!([spoken("a")])),
        user("3", "Quickly."),
        of_parts("4", "user", json!([response("a", "output", "ok")])),
        of_parts("5", "gemini", json!([spoken("b")])),
    ]);
    assert_eq!(roles(&log), ["user", "model", "user", "user", "model"]);
    assert_eq!(
        messages(&log)[2]["parts"],
        json!([response("a", "output", "ok")])
    );
    // The last call is pending.
    assert_eq!(lost(&log), (0, 0, 0));
}

#[test]
fn calls_of_a_content_that_no_request_may_hold_are_mended_or_left_out() {
    let odd = json!({"functionCall": {"id": 5, "name": "book", "args": "LIS"},
        "thoughtSignature": "c2ln"});
    let nameless = json!({"functionCall": {"id": "n", "args": {}}});
    let log = log(&[
        head(),
        user("1", "Book."),
        of_parts(
            "2",
            "gemini",
            json!([spoken("a"), spoken("a"), nameless, odd]),
        ),
        of_parts("3", "user", json!([response("a", "output", "ok")])),
    ]);
    let mended = json!({"functionCall": {"name": "book", "args": {}}, "thoughtSignature": "c2ln"});
    assert_eq!(messages(&log)[1]["parts"], json!([spoken("a"), mended]));
    assert_eq!(lost(&log), (2, 0, 1));
}
