use super::content::text;
use super::{Recording, count};
use crate::excerpt::SHORTEST_RUN;
use crate::{
    Change, Content, Edit, Insertion, Part, PartTraits, Piece, Placement, Plan, Rewrite, Role, Run,
    Situation, Source, Unit, UnitKind,
};

/// Returns the first rule of the contract that the plan breaks, as a message, or `None` if the plan is valid.
pub fn violation(recording: &Recording, situation: &Situation, plan: &Plan) -> Option<String> {
    check(recording, situation, plan).err()
}

fn check(recording: &Recording, situation: &Situation, plan: &Plan) -> Result<(), String> {
    let units = recording.units();
    let mut next = 0;
    let mut kept = vec![false; units.len()];
    if plan.pieces.is_empty() {
        return Err("the plan has no pieces".to_owned());
    }
    for (index, piece) in plan.pieces.iter().enumerate() {
        let (first, count) = match piece {
            Piece::Keep(span) => (span.first as usize, span.count as usize),
            Piece::Rewrite(rewrite) => (rewrite.unit as usize, 1),
            Piece::Insert(insertion) => {
                if matches!(insertion.role, Role::Assistant | Role::Tool) {
                    return Err(format!(
                        "piece {index} inserts a text with the role {:?}",
                        insertion.role
                    ));
                }
                if insertion.text.trim().is_empty() {
                    return Err(format!("piece {index} inserts an empty text"));
                }
                if insertion.placement != Placement::Alone
                    && !joins(recording, &units, &plan.pieces, index, insertion)
                {
                    return Err(format!("piece {index} has no kept message to join"));
                }
                continue;
            }
        };
        if count == 0 {
            return Err(format!("piece {index} is an empty span"));
        }
        if first < next {
            return Err(format!(
                "piece {index} names unit {first} again or out of order"
            ));
        }
        next = first.saturating_add(count);
        kept.get_mut(first..next)
            .ok_or_else(|| format!("piece {index} names units past the end"))?
            .fill(true);
        if let Piece::Rewrite(rewrite) = piece {
            check_rewrite(recording, situation, units.get(first), rewrite)?;
        }
    }
    for (index, (unit, kept)) in units.iter().zip(kept).enumerate() {
        if unit.is_protected() && !kept {
            return Err(format!("protected unit {index} is removed"));
        }
    }
    for reason in &plan.reasons {
        let end = reason.units.first.saturating_add(reason.units.count) as usize;
        if reason.units.count == 0 || end > units.len() {
            return Err(format!(
                "a reason names units that do not exist: {:?}",
                reason.units
            ));
        }
    }
    Ok(())
}

/// Returns whether the insertion is next to a kept message of the same role, of the user or of instructions.
/// Other insertions that join that message may be in between.
fn joins(
    recording: &Recording,
    units: &[Unit],
    pieces: &[Piece],
    index: usize,
    insertion: &Insertion,
) -> bool {
    let is_joining = |piece: &&Piece| matches!(piece, Piece::Insert(other) if other.placement != Placement::Alone);
    let neighbour = match insertion.placement {
        Placement::JoinAfter => pieces[index + 1..].iter().find(|piece| !is_joining(piece)),
        _ => pieces[..index].iter().rfind(|piece| !is_joining(piece)),
    };
    let Some(Piece::Keep(span)) = neighbour else {
        return false;
    };
    let unit = match insertion.placement {
        Placement::JoinAfter => span.first,
        _ => span.first + span.count.saturating_sub(1),
    } as usize;
    let kind = units.get(unit).map(|unit| unit.kind);
    matches!(kind, Some(UnitKind::User | UnitKind::Instructions))
        && matches!(recording.messages(unit), [message] if message.role == insertion.role)
}

fn check_rewrite(
    recording: &Recording,
    situation: &Situation,
    unit: Option<&Unit>,
    rewrite: &Rewrite,
) -> Result<(), String> {
    let number = rewrite.unit;
    let messages = recording.messages(number as usize);
    if rewrite.edits.is_empty() {
        return Err(format!("the rewrite of unit {number} changes nothing"));
    }
    if !rewrite
        .edits
        .is_sorted_by(|one, other| (one.message, one.part) < (other.message, other.part))
    {
        return Err(format!("the edits of unit {number} are not in order"));
    }
    for edit in &rewrite.edits {
        let place = format!(
            "unit {number}, message {}, part {}",
            edit.message, edit.part
        );
        let part = messages
            .get(edit.message as usize)
            .and_then(|message| message.parts.get(edit.part as usize))
            .ok_or_else(|| format!("{place}: does not exist"))?;
        check_edit(situation, unit, part, edit).map_err(|error| format!("{place}: {error}"))?;
    }
    let thinks = |part: &&Part| matches!(part.content, Content::Thinking(_));
    let all = messages.iter().flat_map(|message| &message.parts);
    let all = all.filter(thinks).count();
    let removed = rewrite
        .edits
        .iter()
        .filter(|edit| edit.change == Change::Remove)
        .map(|edit| &messages[edit.message as usize].parts[edit.part as usize]);
    let removed = removed.filter(thinks).count();
    if removed > 0 && removed < all {
        return Err(format!(
            "unit {number}: only some of its thinking is removed"
        ));
    }
    for (index, message) in messages.iter().enumerate() {
        let removed = rewrite
            .edits
            .iter()
            .filter(|edit| edit.message as usize == index && edit.change == Change::Remove);
        if removed.count() == message.parts.len() {
            return Err(format!("unit {number}, message {index}: no part is left"));
        }
    }
    Ok(())
}

fn check_edit(
    situation: &Situation,
    unit: Option<&Unit>,
    part: &Part,
    edit: &Edit,
) -> Result<(), String> {
    match &edit.change {
        Change::Remove if part.traits.contains(PartTraits::REMOVABLE) => Ok(()),
        Change::Remove => Err("must not be removed".to_owned()),
        Change::Text(text) => {
            let is_users =
                unit.is_some_and(|unit| unit.is_protected() && unit.kind == UnitKind::User);
            if is_users || !part.traits.contains(PartTraits::REWRITABLE) {
                return Err("must not be rewritten".to_owned());
            }
            let after = count(text) + situation.insertion_overhead;
            if after >= part.tokens {
                return Err(format!("grows from {} to {after} tokens", part.tokens));
            }
            Ok(())
        }
        Change::Excerpt(runs) => check_excerpt(part, runs),
    }
}

/// The rules of an excerpt. One that saves nothing breaks none: the host leaves its part as it is.
fn check_excerpt(part: &Part, runs: &[Run]) -> Result<(), String> {
    if !part.traits.contains(PartTraits::EXCERPTABLE) {
        return Err("must not be excerpted".to_owned());
    }
    let text = text(part).ok_or("has no text to excerpt")?;
    let mut next = 0;
    for run in runs {
        let range = run.start as usize..run.end as usize;
        let Some(own) = text.get(range.clone()) else {
            return Err(format!(
                "run {}..{} is not in the text, or splits a character",
                run.start, run.end
            ));
        };
        if range.start < next {
            return Err(format!("run {}..{} is out of order", run.start, run.end));
        }
        if own.len() < SHORTEST_RUN {
            return Err(format!(
                "run {}..{} has fewer than {SHORTEST_RUN} bytes",
                run.start, run.end
            ));
        }
        next = range.end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::testing::{Recording, violation};
    use crate::{Conversation, Insertion, Placement, PlanBuilder};

    #[track_caller]
    fn violation_of(place: usize, placement: Placement) -> Option<String> {
        let recording = Recording::new().user("the task").step("a step", []);
        let mut builder = PlanBuilder::keeping_all(Conversation::new(&recording).units().len());
        builder
            .insert(place, Insertion::note("one").placed(placement))
            .insert(place, Insertion::note("two").placed(placement));
        let plan = builder.build().expect("the plan keeps all units");
        violation(&recording, &recording.situation(1000), &plan)
    }

    #[test]
    fn joining_insertion_needs_an_adjacent_user_message() {
        assert_eq!(violation_of(1, Placement::JoinBefore), None);
        assert_eq!(violation_of(0, Placement::JoinAfter), None);
        assert_eq!(violation_of(2, Placement::Alone), None);
        let nothing = Some("piece 1 has no kept message to join".to_owned());
        assert_eq!(violation_of(2, Placement::JoinBefore), nothing);
        assert_eq!(violation_of(1, Placement::JoinAfter), nothing);
        let nothing = Some("piece 0 has no kept message to join".to_owned());
        assert_eq!(violation_of(0, Placement::JoinBefore), nothing);
    }
}
