//! Whether the user's messages are kept that the host has to keep, whatever a strategy decides.

use baler_host::Conversation;
use baler_host::conversation::UnitKind;
use baler_host::receipt::{Tokens, UnitOutcome};

use crate::sound;

/// Returns the first message of the user that is not kept, by its unit, although all of them together take at most
/// half of what the budget leaves beside the floor. `None` if all are kept, or if they take more. The floor holds the
/// messages that the host keeps, so they may fit where this says nothing.
pub(super) fn lost(
    before: &Conversation,
    outcomes: &[UnitOutcome],
    tokens: &Tokens,
) -> Option<usize> {
    let units = before.units().iter().enumerate();
    let users: Vec<usize> = units
        .filter(|(_, unit)| unit.kind == UnitKind::User)
        .filter(|(index, _)| before.raw_messages(*index).any(sound::is_users))
        .map(|(index, _)| index)
        .collect();
    let all: u64 = users
        .iter()
        .map(|unit| u64::from(before.units()[*unit].tokens))
        .sum();
    let free = tokens.budget.saturating_sub(tokens.floor);
    if all * 2 > u64::from(free) {
        return None;
    }
    let mut users = users.into_iter();
    users.find(|unit| outcomes.get(*unit) != Some(&UnitOutcome::Kept))
}

#[cfg(test)]
mod tests {
    use baler_host::receipt::UnitOutcome::{Kept, Removed, Rewritten};
    use baler_host::{Budget, Host, Request, Strategy};

    use super::*;

    const DOCUMENT: &str = r#"{"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": "Paint the boat, 赤く。"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true, "content": "no such boat"}]},
        {"role": "assistant", "content": "There is none."},
        {"role": "user", "content": "<system-reminder>\nIt is late.\n</system-reminder>"},
        {"role": "assistant", "content": "I go on."},
        {"role": "user", "content": [{"type": "text", "text": "Never sand it."}]},
        {"role": "assistant", "content": "I will not."}]}"#;

    fn conversation() -> Conversation {
        let host = Host::builder().build().unwrap();
        host.read(DOCUMENT).unwrap()
    }

    /// The tokens of a receipt whose budget leaves `free` tokens beside the floor.
    fn tokens(free: u32) -> Tokens {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let host = Host::builder().build().unwrap();
        let before = conversation();
        let request = Request::new(Budget::Share(0.5));
        let chain = [Strategy::truncate()];
        let compaction = runtime.block_on(host.compact(&before, &chain, &request));
        let mut tokens = compaction.unwrap().receipt().tokens;
        tokens.floor = 300;
        tokens.budget = 300 + free;
        tokens
    }

    #[test]
    fn a_lost_message_of_the_user_is_found_if_all_fit_into_their_share() {
        let before = conversation();
        let kinds: Vec<UnitKind> = before.units().iter().map(|unit| unit.kind).collect();
        let (user, step) = (UnitKind::User, UnitKind::Step);
        assert_eq!(kinds, [user, step, step, user, step, user, step]);
        let words = before.units()[0].tokens + before.units()[5].tokens;
        let lost = |outcomes: [UnitOutcome; 7], free| lost(&before, &outcomes, &tokens(free));
        // Steps, and what a program wrote as the user, may leave.
        let kept = [Kept, Removed, Removed, Removed, Removed, Kept, Kept];
        assert_eq!(lost(kept, 2 * words), None);
        let without = [Kept, Kept, Kept, Kept, Kept, Removed, Kept];
        assert_eq!(lost(without, 2 * words), Some(5));
        let shortened = [Rewritten, Kept, Kept, Kept, Kept, Kept, Kept];
        assert_eq!(lost(shortened, 2 * words), Some(0));
        // They take more than their share, so the host may choose.
        assert_eq!(lost(without, 2 * words - 1), None);
    }
}
