//! Many parts in one message, one output or one object.

use baler_generated::Kind;

use super::{ALL, Dimension, THINKING};
use crate::case::Input;
use crate::wire::{
    Call, answered, around, calling, line, picture, said, said_of, step, text_part, user, user_of,
};

pub(super) const DIMENSIONS: &[Dimension] = &[
    Dimension::valid("parts", ALL, parts),
    Dimension::valid("pictures", ALL, pictures),
    Dimension::valid("texts of an output", ALL, texts_of_an_output),
    Dimension::valid("pictures of an output", ALL, pictures_of_an_output),
    Dimension::valid("thinking in one message", THINKING, thinking),
    Dimension::valid("thinking in each step", ALL, thinking_steps),
    Dimension::valid("members of a message", ALL, members),
    Dimension::valid("members of arguments", ALL, arguments),
    Dimension::valid("nesting of arguments", ALL, nesting),
    Dimension::valid("nesting of a member", ALL, nested_member),
];

/// The parts in a message of the user's, and something behind it that may go.
fn beside(wire: Kind, parts: &[String]) -> Input {
    let messages = [
        said(wire, "At once."),
        user_of(wire, parts),
        said(wire, "There was a lot of it."),
        user(wire, "Once more."),
    ];
    Input::asked(wire, messages)
}

fn parts(wire: Kind, n: usize) -> Input {
    let parts: Vec<String> = (0..n).map(|_| text_part(wire, "x")).collect();
    beside(wire, &parts)
}

fn pictures(wire: Kind, n: usize) -> Input {
    let parts: Vec<String> = (0..n / 4).map(|_| picture(wire)).collect();
    beside(wire, &parts)
}

/// A step whose only output is this JSON.
fn with_output(wire: Kind, content: &str) -> Input {
    let mut messages = calling(wire, &[Call::number(0)]);
    let output = match wire {
        // There it is an object in any case.
        Kind::Gemini => {
            format!(r#"{{"functionResponse":{{"id":"c0","name":"read","response":{content}}}}}"#)
        }
        _ => answered(wire, "c0", content),
    };
    messages.push(match wire {
        Kind::OpenAiChat | Kind::OpenAiResponses => output,
        Kind::Anthropic | Kind::Gemini | Kind::BedrockConverse => user_of(wire, &[output]),
    });
    messages.push(said(wire, "There was a lot of it."));
    Input::within(wire, messages)
}

fn texts_of_an_output(wire: Kind, n: usize) -> Input {
    let content = match wire {
        Kind::Gemini => {
            let members: Vec<String> = (0..n).map(|number| format!(r#""m{number}":"x""#)).collect();
            format!("{{{}}}", members.join(","))
        }
        _ => {
            let parts: Vec<String> = (0..n).map(|_| text_part(wire, "x")).collect();
            format!("[{}]", parts.join(","))
        }
    };
    with_output(wire, &content)
}

fn pictures_of_an_output(wire: Kind, n: usize) -> Input {
    let pictures: Vec<String> = (0..n / 4).map(|_| picture(wire)).collect();
    let pictures = pictures.join(",");
    match wire {
        Kind::Gemini => {
            let mut messages = calling(wire, &[Call::number(0)]);
            messages.push(user_of(
                wire,
                &[format!(
                    r#"{{"functionResponse":{{"id":"c0","name":"read","response":{{"output":"seen"}},"parts":[{pictures}]}}}}"#
                )],
            ));
            Input::within(wire, messages)
        }
        _ => with_output(wire, &format!("[{pictures}]")),
    }
}

/// A block of thinking in the model's content; for OpenAI Responses, an item of it.
fn thought(wire: Kind, number: usize) -> String {
    let text = line(number);
    match wire {
        Kind::OpenAiChat => text,
        Kind::OpenAiResponses => format!(
            r#"{{"type":"reasoning","id":"r{number}","summary":[{{"type":"summary_text","text":"{text}"}}]}}"#
        ),
        Kind::Anthropic => format!(
            r#"{{"type":"thinking","thinking":"{text}","signature":"c2lnbmF0dXJl{number}"}}"#
        ),
        Kind::Gemini => format!(r#"{{"text":"{text}","thought":true}}"#),
        Kind::BedrockConverse => format!(
            r#"{{"reasoningContent":{{"reasoningText":{{"text":"{text}","signature":"c2lnbmF0dXJl{number}"}}}}}}"#
        ),
    }
}

/// A turn that is finished, with all of its thinking in one message.
pub(crate) fn thinking(wire: Kind, n: usize) -> Input {
    let thinking = match wire {
        Kind::OpenAiChat => Vec::new(),
        Kind::OpenAiResponses => {
            let texts: Vec<String> = (0..n)
                .map(|number| format!(r#"{{"type":"summary_text","text":"{}"}}"#, line(number)))
                .collect();
            let texts = texts.join(",");
            vec![
                format!(r#"{{"type":"reasoning","id":"r0","summary":[{texts}]}}"#),
                said(wire, "All is counted."),
            ]
        }
        Kind::Anthropic | Kind::Gemini | Kind::BedrockConverse => {
            let mut parts: Vec<String> = (0..n).map(|number| thought(wire, number)).collect();
            parts.push(text_part(wire, "All is counted."));
            vec![said_of(wire, &parts)]
        }
    };
    let mut messages = around(wire, thinking);
    messages.push(said(wire, "Nothing."));
    messages.push(user(wire, "Then we are done."));
    Input::request(wire, "", messages)
}

/// Steps that begin with thinking.
fn thinking_steps(wire: Kind, n: usize) -> Input {
    let mut messages = Vec::new();
    for number in 0..n / 2 {
        let call = [Call::number(number)];
        let mut step = step(wire, &call);
        let thought = thought(wire, number);
        match wire {
            Kind::OpenAiChat => {
                step[0].insert_str(1, &format!(r#""reasoning_content":"{thought}","#));
            }
            Kind::OpenAiResponses => step.insert(0, thought),
            Kind::Anthropic | Kind::Gemini | Kind::BedrockConverse => {
                // In front of the first block.
                let at = step[0].find('[').map_or(0, |at| at + 1);
                step[0].insert_str(at, &format!("{thought},"));
            }
        }
        messages.extend(step);
    }
    Input::asked(wire, messages)
}

/// Unknown members.
fn members(wire: Kind, n: usize) -> Input {
    let more: String = (0..n).map(|number| format!(r#""x{number}":0,"#)).collect();
    let mut message = said(wire, "There was a lot of it.");
    message.insert_str(1, &more);
    Input::within(wire, [message])
}

fn with_arguments(wire: Kind, arguments: String) -> Input {
    let mut call = Call::number(0);
    call.arguments = arguments;
    let mut messages = step(wire, &[call]);
    messages.push(said(wire, "There was a lot of it."));
    Input::within(wire, messages)
}

fn arguments(wire: Kind, n: usize) -> Input {
    let members: Vec<String> = (0..n)
        .map(|number| format!(r#""path{number}":"berth {number}""#))
        .collect();
    with_arguments(wire, format!("{{{}}}", members.join(",")))
}

/// What readers pass over without descending; those who descend refuse it at 128 levels.
fn nested(n: usize) -> String {
    format!("{}1{}", "[".repeat(n * 8), "]".repeat(n * 8))
}

fn nesting(wire: Kind, n: usize) -> Input {
    with_arguments(wire, format!(r#"{{"path":{}}}"#, nested(n)))
}

fn nested_member(wire: Kind, n: usize) -> Input {
    let mut message = said(wire, "There was a lot of it.");
    message.insert_str(1, &format!(r#""metadata":{},"#, nested(n)));
    Input::within(wire, [message])
}
