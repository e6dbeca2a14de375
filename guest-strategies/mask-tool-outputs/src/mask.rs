//! Chooses the outputs to mask, and writes their placeholders.

use std::collections::BTreeMap;

use baler_strategy::{
    Content, Conversation, FreeBudget, Message, Part, PartTraits, Situation, ToolOutput, Unit,
    UnitKind,
};

use crate::Config;
use crate::placeholder::{Detail, placeholder};

/// The sizes of slices: the search back from the newest output usually ends soon, that from the oldest does
/// not.
const BACK: usize = 8;
const FORTH: usize = 64;

/// A masked output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mask {
    pub message: usize,
    pub part: usize,
    pub text: String,
    /// The tokens saved, after the host's mark.
    pub tokens: u32,
    /// The bytes saved, at least.
    pub bytes: u32,
}

/// The border between outputs that may be masked and the newest ones, which are kept: the first `outputs`
/// outputs of this unit and all outputs of older units may be masked.
#[derive(Debug, Clone, Copy)]
struct Border {
    unit: usize,
    outputs: usize,
}

/// Returns the masks of each unit. Adds to `room` what they save.
pub(crate) fn choose(
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &Config,
    room: &mut FreeBudget,
) -> BTreeMap<usize, Vec<Mask>> {
    let mut masks: BTreeMap<usize, Vec<Mask>> = BTreeMap::new();
    if config.stop_at_budget && room.is_within_limits() {
        return masks;
    }
    let Some(border) = border(conversation, config.keep) else {
        return masks;
    };
    let units = conversation.units();
    let worth_reading = |unit: &Unit| {
        unit.kind == UnitKind::Step && !unit.is_protected() && unit.tokens >= config.min_tokens
    };
    let mut next = 0;
    while next <= border.unit {
        let end = run(units, next, border.unit + 1, FORTH, worth_reading);
        for (index, messages) in conversation.read_in_slices(next..end, FORTH) {
            let limit = if index == border.unit {
                border.outputs
            } else {
                usize::MAX
            };
            for (message, part, place, output) in outputs(&messages).take(limit) {
                if config.stop_at_budget && room.is_within_limits() {
                    return masks;
                }
                let mask = may_be_masked(place, output, config)
                    .then(|| mask(conversation, situation, index, place, output))
                    .flatten();
                if let Some((text, tokens, bytes)) = mask {
                    room.gain(tokens, bytes);
                    masks.entry(index).or_default().push(Mask {
                        message,
                        part,
                        text,
                        tokens,
                        bytes,
                    });
                }
            }
        }
        next = end.max(next + 1);
    }
    masks
}

/// Finds the border behind which the newest `keep` outputs are. `None` if there are no other outputs.
fn border(conversation: &Conversation<'_>, keep: u32) -> Option<Border> {
    let units = conversation.units();
    let mut left = usize::try_from(keep).unwrap_or(usize::MAX);
    let mut end = units.len();
    if left == 0 {
        return Some(Border {
            unit: end.checked_sub(1)?,
            outputs: usize::MAX,
        });
    }
    while end > 0 {
        if units[end - 1].kind != UnitKind::Step {
            end -= 1;
            continue;
        }
        let mut start = end;
        while start > 0 && end - start < BACK && units[start - 1].kind == UnitKind::Step {
            start -= 1;
        }
        let slice: Vec<_> = conversation.read_in_slices(start..end, BACK).collect();
        for (unit, messages) in slice.iter().rev() {
            let found = outputs(messages).count();
            if found >= left {
                return Some(Border {
                    unit: *unit,
                    outputs: found - left,
                });
            }
            left -= found;
        }
        end = start;
    }
    None
}

/// Returns the end of the run of units from `first` on that are all worth reading.
fn run(
    units: &[Unit],
    first: usize,
    end: usize,
    longest: usize,
    worth_reading: impl Fn(&Unit) -> bool,
) -> usize {
    let candidates = units[first..end].iter().take(longest);
    first + candidates.take_while(|unit| worth_reading(unit)).count()
}

/// Returns the tool outputs of a unit, oldest first, with the indices of message and part.
fn outputs(messages: &[Message]) -> impl Iterator<Item = (usize, usize, &Part, &ToolOutput)> {
    messages.iter().enumerate().flat_map(|(message, content)| {
        content
            .parts
            .iter()
            .enumerate()
            .filter_map(move |(number, part)| match &part.content {
                Content::Output(output) => Some((message, number, part, output)),
                _ => None,
            })
    })
}

fn may_be_masked(part: &Part, output: &ToolOutput, config: &Config) -> bool {
    part.traits.contains(PartTraits::REWRITABLE)
        && part.tokens >= config.min_tokens
        && output.media.is_empty()
        && !config.excludes(&output.name)
}

/// Returns the placeholder and the tokens and bytes that it saves, `None` if it would save no tokens. The
/// placeholder of an output that an earlier compaction wrote must save half of its tokens, since it says
/// less.
fn mask(
    conversation: &Conversation<'_>,
    situation: &Situation,
    unit: usize,
    part: &Part,
    output: &ToolOutput,
) -> Option<(String, u32, u32)> {
    let reference = conversation.reference(unit);
    let is_rewritten = part.traits.contains(PartTraits::REWRITTEN);
    let details: &[Detail] = if is_rewritten {
        &[Detail::Lines]
    } else {
        &[Detail::Lines, Detail::Error]
    };
    details.iter().find_map(|&detail| {
        let text = placeholder(output, part.tokens, reference.as_deref(), detail);
        let after = conversation
            .count(&text)
            .saturating_add(situation.insertion_overhead);
        let least = if is_rewritten {
            part.tokens.div_ceil(2)
        } else {
            1
        };
        let saved = part.tokens.checked_sub(after);
        let tokens = saved.filter(|saved| *saved >= least.max(1))?;
        // A token of the mark rarely has more than eight bytes.
        let mark = usize::try_from(situation.insertion_overhead)
            .ok()?
            .saturating_mul(8);
        let bytes = output
            .text
            .len()
            .saturating_sub(text.len())
            .saturating_sub(mark);
        Some((text, tokens, u32::try_from(bytes).unwrap_or(u32::MAX)))
    })
}
