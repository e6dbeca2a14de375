//! Many calls, outputs, and what hangs together like them.

use baler_generated::Kind;

use super::{ALL, ANTHROPIC, CHAT, Dimension, RESPONSES};
use crate::case::Input;
use crate::wire::{Call, calling, line, outputs, paragraph, quoted, said, said_of, step, user};

/// The dimension whose outputs the host itself shortens.
pub(crate) const UNSEEN_OUTPUTS: &str = "unseen outputs of one step";

pub(super) const DIMENSIONS: &[Dimension] = &[
    Dimension::valid("parallel calls", ALL, parallel),
    Dimension::valid("parallel calls, newest", ALL, parallel_newest),
    Dimension::valid(UNSEEN_OUTPUTS, ALL, unseen_outputs),
    Dimension::valid("outputs in reverse", ALL, reversed),
    Dimension::valid("long outputs in one step", ALL, long_outputs),
    Dimension::valid("pending calls", ALL, pending),
    Dimension::valid("ids with one prefix", ALL, long_ids),
    Dimension::valid("pairs of the older kind", CHAT, older_pairs),
    Dimension::valid("approvals", RESPONSES, approvals),
    Dimension::valid("approvals, open", RESPONSES, approvals_open),
    Dimension::valid("late outputs", RESPONSES, late_outputs),
    Dimension::valid("reasoning in a row", RESPONSES, reasoning_in_a_row),
    Dimension::valid("reasoning with calls", RESPONSES, reasoning_with_calls),
    Dimension::valid("detached calls", RESPONSES, detached),
    Dimension::odd("references", RESPONSES, references),
    Dimension::valid("empty ids of two kinds", RESPONSES, empty_ids),
    Dimension::valid("server tools", ANTHROPIC, server_tools),
    Dimension::valid("server tools in reverse", ANTHROPIC, server_tools_reversed),
    Dimension::valid("server tools of one id", ANTHROPIC, server_tools_of_one_id),
    Dimension::valid("server tools, open", ANTHROPIC, server_tools_open),
];

pub(super) fn numbered(n: usize) -> Vec<Call> {
    (0..n).map(Call::number).collect()
}

fn parallel(wire: Kind, n: usize) -> Input {
    Input::within(wire, step(wire, &numbered(n)))
}

/// No message follows.
fn parallel_newest(wire: Kind, n: usize) -> Input {
    Input::asked(wire, step(wire, &numbered(n)))
}

/// The same with outputs that are too large to stay whole, but have to stay: the host shortens each.
pub(crate) fn unseen_outputs(wire: Kind, n: usize) -> Input {
    // A shortened output has 400 tokens; eight paragraphs have more.
    let calls: Vec<Call> = (0..n / 32)
        .map(|number| Call::new(format!("c{number}"), paragraph(number).repeat(8)))
        .collect();
    Input::asked(wire, step(wire, &calls))
}

fn reversed(wire: Kind, n: usize) -> Input {
    let mut calls = numbered(n);
    let mut messages = calling(wire, &calls);
    calls.reverse();
    messages.extend(outputs(wire, &calls));
    Input::within(wire, messages)
}

/// What strategies rewrite.
fn long_outputs(wire: Kind, n: usize) -> Input {
    let calls: Vec<Call> = (0..n / 4)
        .map(|number| Call::new(format!("c{number}"), paragraph(number).repeat(2)))
        .collect();
    Input::within(wire, step(wire, &calls))
}

fn pending(wire: Kind, n: usize) -> Input {
    let mut messages = vec![said(wire, "At once."), user(wire, "All of it.")];
    messages.extend(calling(wire, &numbered(n)));
    Input::asked(wire, messages)
}

fn long_ids(wire: Kind, n: usize) -> Input {
    // As long as Bedrock Converse takes.
    let prefix = "c".repeat(56);
    let steps = (0..n / 4).flat_map(|number| {
        let mut call = Call::number(number);
        call.id = format!("{prefix}{number}");
        step(wire, &[call])
    });
    Input::asked(wire, steps)
}

fn older_pairs(wire: Kind, n: usize) -> Input {
    let pairs = (0..n / 2).flat_map(|number| {
        let text = line(number);
        [
            format!(
                r#"{{"role":"assistant","content":null,"function_call":{{"name":"read","arguments":"{{\"number\":{number}}}"}}}}"#
            ),
            format!(r#"{{"role":"function","name":"read","content":"{text}"}}"#),
        ]
    });
    Input::asked(wire, pairs)
}

fn approval(number: usize) -> String {
    format!(
        r#"{{"type":"mcp_approval_request","id":"a{number}","server_label":"quay","name":"open","arguments":"{{}}"}}"#
    )
}

fn approvals(wire: Kind, n: usize) -> Input {
    let responses = (0..n).map(|number| {
        format!(
            r#"{{"type":"mcp_approval_response","approval_request_id":"a{number}","approve":true}}"#
        )
    });
    Input::asked(wire, (0..n).map(approval).chain(responses))
}

fn approvals_open(wire: Kind, n: usize) -> Input {
    Input::asked(wire, (0..n).map(approval))
}

/// Calls and outputs with the model's words between them.
fn late_outputs(wire: Kind, n: usize) -> Input {
    let calls = numbered(n / 2);
    let mut messages = calling(wire, &calls);
    for message in outputs(wire, &calls) {
        messages.push(message);
        messages.push(said(wire, "One more is counted."));
    }
    Input::within(wire, messages)
}

fn reasoning(number: usize) -> String {
    let text = line(number);
    format!(
        r#"{{"type":"reasoning","id":"r{number}","summary":[{{"type":"summary_text","text":"{text}"}}]}}"#
    )
}

fn reasoning_in_a_row(wire: Kind, n: usize) -> Input {
    let messages = (0..n).map(reasoning);
    Input::within(wire, messages.chain([said(wire, "All is counted.")]))
}

fn reasoning_with_calls(wire: Kind, n: usize) -> Input {
    let messages = (0..n / 3).flat_map(|number| {
        let mut messages = vec![reasoning(number)];
        messages.extend(step(wire, &[Call::number(number)]));
        messages
    });
    Input::within(wire, messages)
}

/// Calls whose outputs may come at any time, and do so in reverse.
fn detached(wire: Kind, n: usize) -> Input {
    let mut calls = numbered(n);
    let mut messages: Vec<String> = calls
        .iter()
        .map(|call| {
            let (id, arguments) = (&call.id, quoted(&call.arguments));
            format!(
                r#"{{"type":"function_call","async":true,"call_id":"{id}","name":"read","arguments":{arguments}}}"#
            )
        })
        .collect();
    messages.push(said(wire, "They are on their way."));
    calls.reverse();
    messages.extend(outputs(wire, &calls));
    Input::within(wire, messages)
}

/// Nothing but the kind tells which output is of which call.
fn empty_ids(wire: Kind, n: usize) -> Input {
    let calls = (0..n / 4).map(|number| {
        format!(r#"{{"type":"function_call","call_id":"","name":"count","arguments":"{{\"n\":{number}}}"}}"#)
    });
    let patches = (0..n / 4).map(|number| {
        format!(r#"{{"type":"custom_tool_call","call_id":"","name":"note","input":"{number}"}}"#)
    });
    let outputs = ["custom_tool_call_output", "function_call_output"].map(|kind| {
        (0..n / 4).map(move |number| {
            format!(r#"{{"type":"{kind}","call_id":"","output":"{number} sacks"}}"#)
        })
    });
    let messages = calls.chain(patches).chain(outputs.into_iter().flatten());
    Input::within(wire, messages)
}

/// Items that stand for others, and outputs of calls that the document does not show.
fn references(wire: Kind, n: usize) -> Input {
    let items = (0..n / 2).map(|number| format!(r#"{{"type":"item_reference","id":"i{number}"}}"#));
    Input::asked(wire, items.chain(outputs(wire, &numbered(n / 2))))
}

pub(super) fn server_use(id: usize) -> String {
    format!(
        r#"{{"type":"server_tool_use","id":"s{id}","name":"web_search","input":{{"query":"grain"}}}}"#
    )
}

pub(super) fn server_result(id: usize) -> String {
    format!(r#"{{"type":"web_search_tool_result","tool_use_id":"s{id}","content":[]}}"#)
}

/// One response with these uses and results of server tools.
fn served(wire: Kind, uses: &[usize], results: &[usize]) -> Vec<String> {
    let mut blocks: Vec<String> = uses.iter().map(|id| server_use(*id)).collect();
    blocks.extend(results.iter().map(|id| server_result(*id)));
    vec![said_of(wire, &blocks)]
}

fn server_tools(wire: Kind, n: usize) -> Input {
    let ids: Vec<usize> = (0..n).collect();
    Input::within(wire, served(wire, &ids, &ids))
}

fn server_tools_reversed(wire: Kind, n: usize) -> Input {
    let ids: Vec<usize> = (0..n).collect();
    let back: Vec<usize> = (0..n).rev().collect();
    Input::within(wire, served(wire, &ids, &back))
}

fn server_tools_of_one_id(wire: Kind, n: usize) -> Input {
    let ids = vec![0; n];
    Input::within(wire, served(wire, &ids, &ids))
}

/// A response that the provider paused.
fn server_tools_open(wire: Kind, n: usize) -> Input {
    let ids: Vec<usize> = (0..n).collect();
    Input::asked(wire, served(wire, &ids, &[]))
}
