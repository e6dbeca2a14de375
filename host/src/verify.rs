//! Turns a plan into a result that passed every check, or into a fault.

use std::time::Instant;

use baler_conversation::rules::Rule;
use baler_conversation::{Conversation, ReadError};

use crate::attempt::micros;
use crate::fault::{Fault, Quantity};
use crate::plan::{Applied, CheckedPlan, Plan, Reason, Shortened, apply, check};
use crate::receipt::Stages;
use crate::shortening::Free;
use crate::situation::Situation;
use crate::strategy::Strategy;

/// A result that passed every check.
pub(crate) struct Accepted {
    pub(crate) conversation: Conversation,
    pub(crate) applied: Applied,
    pub(crate) plan: Plan,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) stages: Stages,
}

/// What of `conversation` is over its limits.
pub(crate) fn over(
    conversation: &Conversation,
    situation: &Situation,
    tokens: u32,
) -> impl Iterator<Item = Fault> {
    let media = u64::from(conversation.media());
    [
        (
            Quantity::Tokens,
            u64::from(conversation.tokens()),
            u64::from(tokens),
        ),
        (
            Quantity::Bytes,
            conversation.bytes() as u64,
            situation.max_bytes as u64,
        ),
        (Quantity::Media, media, u64::from(situation.max_media)),
    ]
    .into_iter()
    .filter(|(_, result, limit)| result > limit)
    .map(|(what, result, limit)| Fault::OverBudget {
        what,
        result,
        limit,
    })
}

/// From a plan to a result that passed every check.
pub(crate) fn accept(
    plan: Plan,
    strategy: &Strategy,
    situation: &Situation,
) -> Result<Accepted, Fault> {
    let mut stages = Stages::default();
    let start = Instant::now();
    let checked = check(
        plan.clone(),
        strategy.author(),
        situation,
        strategy.limits().of_plan(),
    )?;
    stages.check_us = micros(start);
    let (applied, after) = carried_out(&checked, situation, &mut stages)?;
    let start = Instant::now();
    let before = &situation.conversation;
    if let Some(violation) = after.broken().next() {
        return Err(Fault::InvalidResult {
            rule: violation.rule,
        });
    }
    if let Some(rule) = new_warning(before, &after) {
        return Err(Fault::InvalidResult { rule });
    }
    // What cannot be reached is no reason to refuse what comes closest.
    let is_below = |fault: &Fault| matches!(fault, Fault::OverBudget { what, .. } if *what != Quantity::Tokens && situation.below_floor.contains(what));
    if let Some(fault) = over(&after, situation, situation.target()).find(|fault| !is_below(fault))
    {
        return Err(fault);
    }
    if after.tokens() >= before.tokens() {
        return Err(Fault::NoProgress {
            before: before.tokens(),
            after: after.tokens(),
        });
    }
    stages.verify_us += micros(start);
    Ok(Accepted {
        conversation: after,
        applied,
        plan,
        reasons: checked.reasons,
        stages,
    })
}

/// A rule about which a result raises a doubt that its conversation did not.
fn new_warning(before: &Conversation, after: &Conversation) -> Option<Rule> {
    let mut new = after.warned().difference(before.warned());
    new.next().map(|(rule, _)| *rule)
}

/// How often a plan is carried out at most, until unseen outputs take what it leaves of the budget.
const FITTINGS: usize = 3;

/// The result of a plan. Outputs that the model has not seen get what the plan leaves of the budget:
/// they are shortened where that is too little for them, and no further.
fn carried_out(
    checked: &CheckedPlan,
    situation: &Situation,
    stages: &mut Stages,
) -> Result<(Applied, Conversation), Fault> {
    let unseen = &situation.unseen;
    let target = situation.target();
    // At the floor they are at their shortest, or a second compaction would find something to do.
    let may_widen = situation.budget >= situation.floor;
    let mut cap = unseen.cap();
    // What came closest, and whether it is too large.
    let mut best: Option<(Applied, Conversation)> = None;
    let mut is_best_over = true;
    for _ in 0..FITTINGS {
        let start = Instant::now();
        let shortened = Shortened::under(situation, cap);
        let applied = apply(checked, situation, &shortened);
        stages.apply_us += micros(start);
        let start = Instant::now();
        // The result is read like any other document: what it holds is what counts, not what we
        // think that we wrote.
        let after = situation
            .conversation
            .read_alike(
                applied.document.clone(),
                situation.request.deadline.as_ref(),
            )
            .map_err(|error| match error {
                ReadError::OutOfTime => Fault::timeout(start.elapsed()),
                _ => Fault::InvalidResult { rule: Rule::All1 },
            })?;
        stages.verify_us += micros(start);
        let tokens = u64::from(after.tokens());
        let is_over = tokens > u64::from(target) || after.bytes() > situation.max_bytes;
        // Outputs may have fewer tokens than their cap. Where that was too large, one by what they
        // have fits.
        let used = if is_over {
            shortened.tokens()
        } else {
            unseen.tokens_at(cap)
        };
        let bytes = (unseen.bytes_at(cap) + situation.max_bytes as u64)
            .saturating_sub(after.bytes() as u64);
        let next = unseen.cap_for(Free {
            tokens: (used + u64::from(target)).saturating_sub(tokens),
            bytes,
        });
        // A higher cap is no promise of a longer text.
        let has_more = |(_, best): &(Applied, Conversation)| after.tokens() > best.tokens();
        if is_best_over || !is_over && best.as_ref().is_some_and(has_more) {
            best = Some((applied, after));
            is_best_over = is_over;
        }
        let is_settled = if is_over {
            next >= cap
        } else {
            next <= cap || !may_widen
        };
        if unseen.outputs().is_empty() || is_settled {
            break;
        }
        cap = next;
    }
    best.ok_or(Fault::OutputMalformed)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use baler_conversation::rules::MAX_LISTED;

    use super::*;
    use baler_conversation::Format;

    #[test]
    fn a_new_warning_is_found_behind_more_warnings_than_are_listed() {
        let empty = json!({"role": "user", "content": [{"type": "text", "text": ""}]});
        let lonely = json!({"role": "function", "name": "tides", "content": "07:14"});
        let read = |messages: Vec<Value>| {
            let document = Value::from(messages).to_string();
            crate::sample::conversation(&document, Some(Format::OpenAiChat)).expect("reads")
        };
        let mut messages = vec![empty; 2 * MAX_LISTED];
        let before = read(messages.clone());
        messages.push(lonely);
        let after = read(messages);
        assert_eq!(new_warning(&before, &before), None);
        assert_eq!(new_warning(&before, &after), Some(Rule::Chat5));
        assert_eq!(new_warning(&after, &before), None);
    }
}
