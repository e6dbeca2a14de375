//! What breaks a rule, many times over.

use baler_generated::Kind;

use super::calls::{numbered, server_result, server_use};
use super::{ALL, ANTHROPIC, BEDROCK, CHAT, Dimension, GEMINI, OPENAI, RESPONSES};
use crate::case::Input;
use crate::wire::{
    Call, answered, calling, line, outputs, said, said_of, step, text_part, user, user_of,
};

pub(super) const DIMENSIONS: &[Dimension] = &[
    Dimension::odd("one id in all steps", ALL, one_id_in_steps),
    Dimension::odd("one id in one step", ALL, one_id_in_a_step),
    Dimension::odd("ids that are taken", ALL, taken_ids),
    Dimension::odd("long ids twice", ALL, long_ids_twice),
    Dimension::broken("outputs without a call", ALL, orphans),
    Dimension::broken("outputs without a call, one", ALL, orphans_of_one_message),
    Dimension::broken("unanswered calls", ALL, unanswered),
    Dimension::broken("unanswered steps", ALL, unanswered_steps),
    Dimension::broken("outputs before calls", ALL, outputs_first),
    Dimension::broken("outputs far behind", ALL, outputs_far_behind),
    Dimension::broken("empty messages", ALL, empty_messages),
    Dimension::broken("empty parts", ALL, empty_parts),
    Dimension::broken("arguments of another form", OPENAI, object_arguments),
    Dimension::broken("arguments of another form", ANTHROPIC, text_arguments),
    Dimension::broken("empty lists of calls", CHAT, empty_calls),
    Dimension::broken("outputs without ids", CHAT, outputs_without_ids),
    Dimension::broken("results behind words", ANTHROPIC, results_behind_words),
    Dimension::broken("halves of server tools", ANTHROPIC, halves),
    Dimension::broken("halves of one id", ANTHROPIC, halves_of_one_id),
    Dimension::broken("responses without names", GEMINI, responses_without_names),
    Dimension::broken("responses that are texts", GEMINI, responses_of_texts),
    Dimension::broken("outputs of other kinds", RESPONSES, other_kinds),
    Dimension::broken("item ids twice", RESPONSES, item_ids_twice),
    Dimension::broken("reasoning without product", RESPONSES, reasoning_alone),
    Dimension::broken("documents of one name", BEDROCK, documents_of_one_name),
    Dimension::broken("cache points", BEDROCK, cache_points),
];

/// A conversation of steps, each with its call.
fn of_steps(wire: Kind, calls: impl Iterator<Item = Call>) -> Input {
    let steps = calls.flat_map(|call| step(wire, &[call]));
    Input::within(wire, steps)
}

fn with_id(number: usize, id: &str) -> Call {
    let mut call = Call::number(number);
    id.clone_into(&mut call.id);
    call
}

fn one_id_in_steps(wire: Kind, n: usize) -> Input {
    of_steps(wire, (0..n / 2).map(|number| with_id(number, "c")))
}

fn one_id_in_a_step(wire: Kind, n: usize) -> Input {
    let calls: Vec<Call> = (0..n).map(|number| with_id(number, "c")).collect();
    Input::within(wire, step(wire, &calls))
}

/// Each new id that could be given is there already.
fn taken_ids(wire: Kind, n: usize) -> Input {
    let ids = (0..n / 4).flat_map(|number| [format!("c-{}", number + 2), "c".to_owned()]);
    of_steps(
        wire,
        ids.enumerate().map(|(number, id)| with_id(number, &id)),
    )
}

/// Ids of one beginning, each twice.
fn long_ids_twice(wire: Kind, n: usize) -> Input {
    let prefix = "c".repeat(56);
    let ids = (0..n / 4).map(move |number| format!("{prefix}{:07}", number / 2));
    of_steps(
        wire,
        ids.enumerate().map(|(number, id)| with_id(number, &id)),
    )
}

fn orphans(wire: Kind, n: usize) -> Input {
    let messages = (0..n).flat_map(|number| outputs(wire, &[Call::number(number)]));
    Input::within(wire, messages)
}

/// In one message, or in a row.
fn orphans_of_one_message(wire: Kind, n: usize) -> Input {
    let calls = numbered(n);
    let mut messages = step(wire, &[with_id(0, "other")]);
    messages.extend(outputs(wire, &calls));
    Input::within(wire, messages)
}

fn unanswered(wire: Kind, n: usize) -> Input {
    Input::within(wire, calling(wire, &numbered(n)))
}

fn unanswered_steps(wire: Kind, n: usize) -> Input {
    let messages = (0..n / 2).flat_map(|number| {
        let mut messages = calling(wire, &[Call::number(number)]);
        messages.push(user(wire, &line(number)));
        messages
    });
    Input::within(wire, messages)
}

fn outputs_first(wire: Kind, n: usize) -> Input {
    let calls = numbered(n);
    let mut messages = outputs(wire, &calls);
    messages.push(user(wire, "Count the grain."));
    messages.extend(calling(wire, &calls));
    messages.push(user(wire, "Well?"));
    Input::within(wire, messages)
}

/// All calls, each in a response of its own, and then all outputs.
fn outputs_far_behind(wire: Kind, n: usize) -> Input {
    let calls: Vec<Call> = (0..n / 3).map(Call::number).collect();
    let mut messages: Vec<String> = Vec::new();
    for call in &calls {
        messages.extend(calling(wire, std::slice::from_ref(call)));
        messages.push(user(wire, &line(7)));
    }
    for call in &calls {
        messages.extend(outputs(wire, std::slice::from_ref(call)));
    }
    let mut input = Input::within(wire, messages);
    if wire == Kind::OpenAiResponses {
        // There late outputs are legal; one without a call makes it a case for repairs.
        let orphan = answered(wire, "nobody", r#""nothing""#);
        input.messages.insert(1, orphan);
    }
    input
}

/// The smallest messages that can be read.
fn empty_messages(wire: Kind, n: usize) -> Input {
    let empty = match wire {
        Kind::OpenAiChat => r#"{"role":"user"}"#,
        Kind::OpenAiResponses | Kind::Anthropic | Kind::BedrockConverse => {
            r#"{"role":"user","content":[]}"#
        }
        Kind::Gemini => "{}",
    };
    Input::within(wire, vec![empty.to_owned(); n])
}

fn empty_parts(wire: Kind, n: usize) -> Input {
    let mut parts = vec![text_part(wire, "Count the grain.")];
    parts.extend((0..n).map(|_| text_part(wire, "")));
    Input::within(wire, [user_of(wire, &parts)])
}

/// Objects where a text is wanted.
fn object_arguments(wire: Kind, n: usize) -> Input {
    let calls = numbered(n);
    let mut messages = match wire {
        Kind::OpenAiChat => {
            let calls: Vec<String> = (0..n)
                .map(|number| {
                    format!(
                        r#"{{"id":"c{number}","type":"function","function":{{"name":"read","arguments":{{"path":"a"}}}}}}"#
                    )
                })
                .collect();
            vec![format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#,
                calls.join(",")
            )]
        }
        _ => (0..n)
            .map(|number| {
                format!(
                    r#"{{"type":"function_call","call_id":"c{number}","name":"read","arguments":{{"path":"a"}}}}"#
                )
            })
            .collect(),
    };
    messages.extend(outputs(wire, &calls));
    Input::within(wire, messages)
}

/// Texts where an object is wanted.
fn text_arguments(wire: Kind, n: usize) -> Input {
    let calls: Vec<Call> = (0..n)
        .map(|number| {
            let mut call = Call::number(number);
            call.arguments = r#""{\"path\":\"a\"}""#.to_owned();
            call
        })
        .collect();
    Input::within(wire, step(wire, &calls))
}

fn empty_calls(wire: Kind, n: usize) -> Input {
    let messages = (0..n / 2).flat_map(|number| {
        let text = line(number);
        [
            format!(r#"{{"role":"assistant","content":"{text}","tool_calls":[]}}"#),
            user(wire, "And?"),
        ]
    });
    Input::within(wire, messages)
}

fn outputs_without_ids(wire: Kind, n: usize) -> Input {
    let calls = numbered(n);
    let mut messages = calling(wire, &calls);
    messages.extend(calls.iter().map(|call| {
        let output = &call.output;
        format!(r#"{{"role":"tool","content":"{output}"}}"#)
    }));
    Input::within(wire, messages)
}

fn results_behind_words(wire: Kind, n: usize) -> Input {
    let calls = numbered(n);
    let mut messages = calling(wire, &calls);
    let mut parts = Vec::with_capacity(2 * n);
    for call in &calls {
        parts.push(text_part(wire, "Here it comes."));
        parts.push(answered(wire, &call.id, &format!(r#""{}""#, call.output)));
    }
    messages.push(user_of(wire, &parts));
    Input::within(wire, messages)
}

/// Nothing but uses without a result.
fn halves(wire: Kind, n: usize) -> Input {
    let blocks: Vec<String> = (0..n).map(server_use).collect();
    let messages = vec![said_of(wire, &blocks), said(wire, "Nothing was found.")];
    Input::within(wire, messages)
}

/// Results of one id, of which the last lacks its use.
fn halves_of_one_id(wire: Kind, n: usize) -> Input {
    let mut blocks: Vec<String> = vec![server_use(0); n];
    blocks.extend(vec![server_result(0); n]);
    let alone = vec![server_result(1)];
    let messages = vec![
        said_of(wire, &blocks),
        said_of(wire, &alone),
        said(wire, "Nothing was found."),
    ];
    Input::within(wire, messages)
}

/// As many calls and responses in one turn, all of the latter without a name.
fn responses_without_names(wire: Kind, n: usize) -> Input {
    let calls: Vec<String> = (0..n)
        .map(|number| format!(r#"{{"functionCall":{{"name":"read_{number}","args":{{}}}}}}"#))
        .collect();
    let responses: Vec<String> = (0..n)
        .map(|number| {
            let text = line(number);
            format!(r#"{{"functionResponse":{{"response":{{"output":"{text}"}}}}}}"#)
        })
        .collect();
    let messages = vec![said_of(wire, &calls), user_of(wire, &responses)];
    Input::within(wire, messages)
}

fn responses_of_texts(wire: Kind, n: usize) -> Input {
    let calls = numbered(n);
    let mut messages = calling(wire, &calls);
    let responses: Vec<String> = calls
        .iter()
        .map(|call| {
            let Call { id, output, .. } = call;
            format!(r#"{{"functionResponse":{{"id":"{id}","name":"read","response":"{output}"}}}}"#)
        })
        .collect();
    messages.push(user_of(wire, &responses));
    Input::within(wire, messages)
}

/// Functions called, and outputs of custom tools under the same id.
fn other_kinds(wire: Kind, n: usize) -> Input {
    let calls: Vec<Call> = (0..n / 2).map(|number| with_id(number, "c")).collect();
    let mut messages = calling(wire, &calls);
    messages.extend((0..n / 2).map(|number| {
        let text = line(number);
        format!(r#"{{"type":"custom_tool_call_output","call_id":"c","output":"{text}"}}"#)
    }));
    Input::within(wire, messages)
}

fn item_ids_twice(wire: Kind, n: usize) -> Input {
    let messages = (0..n).map(|number| {
        let text = line(number);
        format!(
            r#"{{"type":"message","id":"m{}","role":"assistant","content":[{{"type":"output_text","text":"{text}","annotations":[]}}]}}"#,
            number / 2
        )
    });
    Input::within(wire, messages)
}

fn reasoning_alone(wire: Kind, n: usize) -> Input {
    let messages = (0..n / 2).flat_map(|number| {
        [
            format!(r#"{{"type":"reasoning","id":"r{number}","summary":[]}}"#),
            user(wire, &line(number)),
        ]
    });
    Input::within(wire, messages)
}

fn documents_of_one_name(wire: Kind, n: usize) -> Input {
    let messages = (0..n / 2).flat_map(|number| {
        let document =
            r#"{"document":{"format":"txt","name":"ledger","source":{"text":"12 tons"}}}"#;
        [
            user_of(wire, &[document.to_owned(), text_part(wire, &line(number))]),
            said(wire, "Well."),
        ]
    });
    Input::within(wire, messages)
}

/// A mark for the cache behind each text.
fn cache_points(wire: Kind, n: usize) -> Input {
    let parts: Vec<String> = (0..n / 2)
        .flat_map(|number| {
            let point = r#"{"cachePoint":{"type":"default"}}"#;
            [text_part(wire, &line(number)), point.to_owned()]
        })
        .collect();
    Input::within(wire, [user_of(wire, &parts)])
}
