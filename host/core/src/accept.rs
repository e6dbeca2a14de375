//! Applies a plan and checks the result, which is accepted or a fault.

use std::time::Instant;

use baler_conversation::rules::Rule;
use baler_conversation::{Conversation, ReadError};

use crate::attempt::micros;
use crate::fault::Fault;
use crate::pictures;
use crate::plan::{Applied, CheckedPlan, Plan, Reason, Shortened, apply, check};
use crate::receipt::Stages;
use crate::situation::Situation;
use crate::strategy::Strategy;
use crate::text_limits::TextBudget;

/// A result that passed every check.
pub(crate) struct Accepted {
    pub(crate) conversation: Conversation,
    pub(crate) applied: Applied,
    pub(crate) plan: Plan,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) stages: Stages,
}

/// Checks and applies a plan, and checks the result.
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
        strategy.limits(),
    )?;
    stages.check_us = micros(start);
    let (applied, after) = apply_and_read(&checked, situation, &mut stages)?;
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
    if let Some(fault) = situation
        .exceeded_by(&after, situation.target())
        .find(|fault| !situation.is_unreachable(fault))
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

/// Returns a rule that `after` breaks as a warning and `before` does not.
fn new_warning(before: &Conversation, after: &Conversation) -> Option<Rule> {
    let mut new = after.warned().difference(before.warned());
    new.next().map(|(rule, _)| *rule)
}

/// Maximum number of times that a plan is applied until shortened texts use the budget that it leaves.
const MAX_APPLICATIONS: usize = 3;

/// Applies a plan and reads the result. Texts that may be shortened get the budget that the plan leaves: they are
/// shortened only if that is too little for them, and no more than necessary.
fn apply_and_read(
    checked: &CheckedPlan,
    situation: &Situation,
    stages: &mut Stages,
) -> Result<(Applied, Conversation), Fault> {
    let shortening = &situation.stay.shortening;
    let target = situation.target();
    // At the floor the texts stay at their shortest. Otherwise a second compaction could change them again.
    let may_raise_cap = situation.limits.tokens >= situation.stay.floor.tokens;
    let mut cap = shortening.cap();
    // The best result so far, and whether it is too large.
    let mut best: Option<(Applied, Conversation)> = None;
    let mut is_best_over = true;
    for _ in 0..MAX_APPLICATIONS {
        let start = Instant::now();
        let shortened = Shortened::under(situation, cap);
        let applied = apply(checked, situation, &shortened);
        stages.apply_us += micros(start);
        let start = Instant::now();
        // The result is read like any other document, so that the checks see what was really written.
        let (applied, after) = situation
            .conversation
            .read_alike(
                applied.document.clone(),
                situation.request.deadline.as_ref(),
            )
            .and_then(|after| pictures::leave_out(applied, after, situation))
            .map_err(|error| match error {
                ReadError::OutOfTime => Fault::timeout(start.elapsed()),
                _ => Fault::InvalidResult { rule: Rule::All1 },
            })?;
        stages.verify_us += micros(start);
        let tokens = u64::from(after.tokens());
        let is_over = tokens > u64::from(target) || after.bytes() > situation.limits.bytes;
        // Texts may have fewer tokens than their cap. After a result that is too large, the next cap is
        // computed from the tokens that they really have, so that it fits.
        let used = if is_over {
            shortened.tokens()
        } else {
            shortening.tokens_at(cap)
        };
        let bytes = (shortening.bytes_at(cap) + situation.limits.bytes as u64)
            .saturating_sub(after.bytes() as u64);
        let next = shortening.cap_for(TextBudget {
            tokens: (used + u64::from(target)).saturating_sub(tokens),
            bytes,
        });
        // A higher cap does not always give a longer text.
        let has_more = |(_, best): &(Applied, Conversation)| after.tokens() > best.tokens();
        if is_best_over || !is_over && best.as_ref().is_some_and(has_more) {
            best = Some((applied, after));
            is_best_over = is_over;
        }
        let is_settled = if is_over {
            next >= cap
        } else {
            next <= cap || !may_raise_cap
        };
        if shortening.texts().is_empty() || is_settled {
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
    fn new_warning_finds_a_rule_after_more_warnings_than_are_listed() {
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
