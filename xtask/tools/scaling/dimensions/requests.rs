//! What stands around the messages, and what is asked for beside the document.

use baler_generated::Kind;

use super::messages::turns;
use super::{ALL, ANTHROPIC, Dimension};
use crate::case::Input;
use crate::wire::{Call, around, line, said, step, text_part, user_of};

pub(super) const DIMENSIONS: &[Dimension] = &[
    Dimension::valid("pins", ALL, pins),
    Dimension::valid("pins of one unit", ALL, pins_of_one),
    Dimension::valid("tools", ALL, tools),
    Dimension::valid("instructions", ALL, instructions),
    Dimension::valid("members of the request", ALL, members),
    Dimension::valid("white space", ALL, white_space),
    Dimension::valid("white space in front", ALL, lead),
    Dimension::broken("cache marks", ANTHROPIC, cache_marks),
    Dimension::broken(
        "cache marks of messages",
        ANTHROPIC,
        cache_marks_of_messages,
    ),
];

fn pins(wire: Kind, n: usize) -> Input {
    // Two of four units, so that neighbours stay neighbours.
    let pins = (0..n).filter(|unit| unit % 4 < 2).collect();
    turns(wire, n).with_pins(pins)
}

fn pins_of_one(wire: Kind, n: usize) -> Input {
    turns(wire, n).with_pins(vec![0; n])
}

/// A short conversation in a request with further members.
fn beside(wire: Kind, more: &str) -> Input {
    let mut messages = step(wire, &[Call::number(0)]);
    messages.push(said(wire, "There was a lot of it."));
    Input::request(wire, more, around(wire, messages))
}

fn tools(wire: Kind, n: usize) -> Input {
    let tool = |number: usize| {
        let about = line(number);
        match wire {
            Kind::OpenAiChat => format!(
                r#"{{"type":"function","function":{{"name":"tool_{number}","description":"{about}","parameters":{{"type":"object"}}}}}}"#
            ),
            Kind::OpenAiResponses => format!(
                r#"{{"type":"function","name":"tool_{number}","description":"{about}","parameters":{{"type":"object"}}}}"#
            ),
            Kind::Anthropic => format!(
                r#"{{"name":"tool_{number}","description":"{about}","input_schema":{{"type":"object"}}}}"#
            ),
            Kind::Gemini => format!(
                r#"{{"name":"tool_{number}","description":"{about}","parameters":{{"type":"OBJECT"}}}}"#
            ),
            Kind::BedrockConverse => format!(
                r#"{{"toolSpec":{{"name":"tool_{number}","description":"{about}","inputSchema":{{"json":{{"type":"object"}}}}}}}}"#
            ),
        }
    };
    let tools: Vec<String> = (0..n).map(tool).collect();
    let tools = tools.join(",");
    beside(
        wire,
        &match wire {
            Kind::Gemini => format!(r#""tools":[{{"functionDeclarations":[{tools}]}}],"#),
            Kind::BedrockConverse => format!(r#""toolConfig":{{"tools":[{tools}]}},"#),
            _ => format!(r#""tools":[{tools}],"#),
        },
    )
}

fn instructions(wire: Kind, n: usize) -> Input {
    let parts: Vec<String> = (0..n)
        .map(|number| text_part(wire, &line(number)))
        .collect();
    match wire {
        Kind::Anthropic | Kind::BedrockConverse => {
            beside(wire, &format!(r#""system":[{}],"#, parts.join(",")))
        }
        Kind::Gemini => beside(
            wire,
            &format!(r#""systemInstruction":{{"parts":[{}]}},"#, parts.join(",")),
        ),
        Kind::OpenAiChat | Kind::OpenAiResponses => {
            let mut input = beside(wire, "");
            let own = (0..n).map(|number| {
                let text = line(number);
                format!(r#"{{"role":"developer","content":"{text}"}}"#)
            });
            input.messages.splice(0..0, own);
            input
        }
    }
}

fn members(wire: Kind, n: usize) -> Input {
    let more: String = (0..n).map(|number| format!(r#""x{number}":0,"#)).collect();
    beside(wire, &more)
}

/// Between the messages, inside of them, and behind.
fn white_space(wire: Kind, n: usize) -> Input {
    let mut input = turns(wire, 16);
    let space = " \n".repeat(n * 2);
    for message in &mut input.messages {
        message.insert_str(1, &space);
        message.push_str(&space);
    }
    input
}

/// What stands in front of the first message is put in front of each, so that a pretty document
/// stays one.
fn lead(wire: Kind, n: usize) -> Input {
    let mut input = turns(wire, (n / 64).max(4));
    input.before.push_str(&" ".repeat(n / 4));
    input
}

fn cache_marks(wire: Kind, n: usize) -> Input {
    let parts: Vec<String> = (0..n)
        .map(|number| {
            let text = line(number);
            format!(r#"{{"type":"text","text":"{text}","cache_control":{{"type":"ephemeral"}}}}"#)
        })
        .collect();
    Input::asked(wire, [said(wire, "At once."), user_of(wire, &parts)])
}

/// A mark on each, in as many messages.
fn cache_marks_of_messages(wire: Kind, n: usize) -> Input {
    let messages = (0..n).map(|number| {
        let (role, text) = (["user", "assistant"][number % 2], line(number));
        format!(
            r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}","cache_control":{{"type":"ephemeral"}}}}]}}"#
        )
    });
    Input::request(wire, "", messages.collect())
}
