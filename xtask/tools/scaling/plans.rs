//! The dimensions that a plan can grow in. A strategy of somewhere else hands them over, since the
//! forms of plans are not part of the library's own interface.

use baler_generated::Kind;
use baler_host::remote::{AnswerFuture, Operation, Remote};

use crate::case::Input;
use crate::dimensions::{ALL, Dimension, THINKING, messages, thinking};
use crate::wire::{Call, paragraph, step};

/// All of them; each makes a document and its plan.
pub(crate) const DIMENSIONS: &[Dimension] = &[
    Dimension::planned("pieces", ALL, pieces),
    Dimension::planned("insertions", ALL, |wire, n| inserted(wire, n, "alone")),
    Dimension::planned("joins before one unit", ALL, |wire, n| {
        inserted(wire, n, "join-before")
    }),
    Dimension::planned("joins behind one unit", ALL, |wire, n| {
        inserted(wire, n, "join-after")
    }),
    Dimension::planned("edits of one unit", ALL, edits_of_one_unit),
    Dimension::planned("edits of many units", ALL, edits_of_many_units),
    Dimension::planned("thinking left out", THINKING, thinking_left_out),
    Dimension::planned("reasons", ALL, reasons),
    Dimension::planned("figures", ALL, figures),
];

/// A strategy that always gives the same answer.
#[derive(Debug)]
pub(crate) struct Answering(String);

impl Answering {
    pub(crate) fn new(answer: &str) -> Self {
        Self(answer.to_owned())
    }
}

impl Remote for Answering {
    fn name(&self) -> &str {
        "scaling"
    }

    fn address(&self) -> &str {
        "example:scaling"
    }

    fn ask(&self, question: Operation, _: String, _: usize) -> AnswerFuture<'_> {
        let answer: &str = match question {
            Operation::Introspect => "{}",
            Operation::ShouldCompact => r#"{"decision":"host-decides"}"#,
            Operation::Compact => &self.0,
        };
        Box::pin(async move { Ok(answer.as_bytes().to_vec()) })
    }
}

fn keep(first: usize, count: usize) -> String {
    format!(r#"{{"keep":{{"first":{first},"count":{count}}}}}"#)
}

fn insert(placement: &str, number: usize) -> String {
    format!(
        r#"{{"insert":{{"role":"user","purpose":"note","placement":"{placement}","text":"note {number}"}}}}"#
    )
}

fn rewrite(unit: usize, edits: &[String]) -> String {
    let edits = edits.join(",");
    format!(r#"{{"rewrite":{{"unit":{unit},"edits":[{edits}]}}}}"#)
}

fn edit(message: usize, part: usize) -> String {
    format!(r#"{{"message":{message},"part":{part},"change":{{"text":"x"}}}}"#)
}

fn removal(message: usize, part: usize) -> String {
    format!(r#"{{"message":{message},"part":{part},"change":"remove"}}"#)
}

/// The document with this plan; `reasons` and `metrics` are JSON.
fn planned(mut input: Input, pieces: &[String], reasons: &str, metrics: &str) -> Input {
    let pieces = pieces.join(",");
    input.answer = format!(
        r#"{{"outcome":{{"compacted":{{"pieces":[{pieces}],"reasons":[{reasons}]}}}},"metrics":[{metrics}]}}"#
    );
    input
}

/// Turns of which all units are pairs of a question and its answer, and what always stays: the
/// first of them, the newest question and its answer.
fn of_turns(wire: Kind, n: usize) -> (Input, usize) {
    let n = n / 4 * 4;
    (messages::turns(wire, n), n)
}

/// Every second pair, unit by unit.
fn pieces(wire: Kind, n: usize) -> Input {
    let (input, n) = of_turns(wire, n);
    let kept = (0..n).filter(|unit| unit % 4 < 2 || *unit >= n - 2);
    let pieces: Vec<String> = kept.map(|unit| keep(unit, 1)).collect();
    planned(input, &pieces, "", "")
}

/// As many texts in one place, placed so.
fn inserted(wire: Kind, n: usize, placement: &str) -> Input {
    let (input, n) = of_turns(wire, n);
    let mut pieces = vec![keep(0, 1)];
    pieces.extend((0..n / 8).map(|number| insert(placement, number)));
    pieces.push(keep(n - 2, 2));
    planned(input, &pieces, "", "")
}

/// A step with as many outputs, of which each is rewritten.
fn edits_of_one_unit(wire: Kind, n: usize) -> Input {
    let n = n / 2;
    let calls: Vec<Call> = (0..n)
        .map(|number| Call::new(format!("c{number}"), paragraph(number)))
        .collect();
    let input = Input::within(wire, step(wire, &calls));
    let edits: Vec<String> = (0..n)
        .map(|number| match wire {
            // Outputs are messages of their own: behind the one with all calls, or behind as many.
            Kind::OpenAiChat => edit(number + 1, 0),
            Kind::OpenAiResponses => edit(number + n, 0),
            Kind::Anthropic | Kind::Gemini | Kind::BedrockConverse => edit(1, number),
        })
        .collect();
    let pieces = [keep(0, 1), rewrite(1, &edits), keep(2, 1)];
    planned(input, &pieces, "", "")
}

/// Steps with one output each, all rewritten.
fn edits_of_many_units(wire: Kind, n: usize) -> Input {
    let n = n / 2;
    let steps = (0..n).flat_map(|number| {
        let call = Call::new(format!("c{number}"), paragraph(number));
        step(wire, &[call])
    });
    let input = Input::within(wire, steps);
    let mut pieces = vec![keep(0, 1)];
    pieces.extend((1..=n).map(|unit| rewrite(unit, &[edit(1, 0)])));
    pieces.push(keep(n + 1, 1));
    planned(input, &pieces, "", "")
}

/// All thinking of a finished turn, block by block.
fn thinking_left_out(wire: Kind, n: usize) -> Input {
    let input = thinking(wire, n);
    let edits: Vec<String> = (0..n).map(|part| removal(0, part)).collect();
    let pieces = [keep(0, 1), rewrite(1, &edits), keep(2, 3)];
    planned(input, &pieces, "", "")
}

/// A plan that keeps little, so that what grows is what comes with it.
fn small(wire: Kind, n: usize, reasons: &str, metrics: &str) -> Input {
    let (input, units) = of_turns(wire, 64);
    let reasons = reasons.repeat(n);
    let metrics = metrics.repeat(n);
    let (reasons, metrics) = (reasons.trim_end_matches(','), metrics.trim_end_matches(','));
    planned(input, &[keep(0, 1), keep(units - 2, 2)], reasons, metrics)
}

fn reasons(wire: Kind, n: usize) -> Input {
    small(
        wire,
        n,
        r#"{"units":{"first":0,"count":64},"code":"old"},"#,
        "",
    )
}

fn figures(wire: Kind, n: usize) -> Input {
    small(wire, n, "", r#"{"name":"size","value":7},"#)
}
