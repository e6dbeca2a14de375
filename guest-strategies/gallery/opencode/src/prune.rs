//! Clears old outputs of tools.

use baler_strategy::{
    Content, Conversation, Failure, FreeBudget, Part, PartTraits, PlanBuilder, Report, Situation,
    UnitKind,
};

/// The tokens of the newest outputs that stay, and the least that must be saved.
const PROTECTED: u64 = 40_000;
const LEAST: u64 = 20_000;

/// The newest turns whose outputs stay in any case.
const TURNS: u32 = 2;

/// The tools whose outputs stay.
const TOOLS: [&str; 1] = ["skill"];

/// What stands for an output.
const CLEARED: &str = "[Old tool result content cleared]";

/// An output to clear: its unit, message and part, its tokens and its bytes.
struct Old {
    place: (usize, usize, usize),
    tokens: u32,
    bytes: u32,
}

/// Returns the plan that clears old outputs, `None` if that saves too little or the result would not fit.
pub(crate) fn report(
    conversation: &Conversation<'_>,
    situation: &Situation,
) -> Result<Option<Report>, Failure> {
    let old = old_outputs(conversation);
    if old.iter().map(|old| u64::from(old.tokens)).sum::<u64>() <= LEAST {
        return Ok(None);
    }
    let units = conversation.units();
    let mut builder = PlanBuilder::keeping_all(units.len());
    let mut room = FreeBudget::of(situation);
    units.iter().for_each(|unit| room.charge(unit));
    let cost = conversation
        .count(CLEARED)
        .saturating_add(situation.insertion_overhead);
    for Old {
        place: (unit, message, part),
        tokens,
        bytes,
    } in old.iter().rev()
    {
        if *tokens <= cost {
            continue;
        }
        room.gain(tokens - cost, bytes.saturating_sub(cost.saturating_mul(8)));
        builder.rewrite(*unit).text(*message, *part, CLEARED);
        builder.reason(*unit..*unit + 1, "pruned");
    }
    match room.is_within_limits() {
        true => Ok(Some(Report::compacted(builder.build()?))),
        false => Ok(None),
    }
}

/// Returns the outputs to clear, newest first.
fn old_outputs(conversation: &Conversation<'_>) -> Vec<Old> {
    let units = conversation.units();
    let mut old = Vec::new();
    let (mut turns, mut total) = (0, 0);
    for (index, unit) in units.iter().enumerate().rev() {
        match unit.kind {
            UnitKind::Summary => break,
            UnitKind::User => turns += 1,
            UnitKind::Step if turns >= TURNS => {
                for (message, own) in conversation.messages(index).iter().enumerate().rev() {
                    for (part, own) in own.parts.iter().enumerate().rev() {
                        let Content::Output(output) = &own.content else {
                            continue;
                        };
                        if output.failed || TOOLS.contains(&output.name.as_str()) {
                            continue;
                        }
                        if own.traits.contains(PartTraits::REWRITTEN) {
                            return old;
                        }
                        total += u64::from(own.tokens);
                        if total > PROTECTED && may_clear(own) {
                            old.push(Old {
                                place: (index, message, part),
                                tokens: own.tokens,
                                bytes: u32::try_from(output.text.len()).unwrap_or(u32::MAX),
                            });
                        }
                    }
                }
            }
            _ => {}
        }
    }
    old
}

/// Returns whether a plan may replace the output. Files in it would stay.
fn may_clear(part: &Part) -> bool {
    let has_files = matches!(&part.content, Content::Output(output) if !output.media.is_empty());
    part.traits.contains(PartTraits::REWRITABLE) && !has_files
}
