//! Finds results without any of the newest work in which one older text has most of the budget.

use baler_host::conversation::{Unit, UnitKind};

use crate::message::{Message, Part, PartKind, Role};

/// The number of newest steps that count as recent.
const STEPS: usize = 3;

/// The host shortens no text of at most this size: 400 tokens, which are characters here (`docs/shares.md`).
const NEVER_SHORTENED: usize = 400;

/// Returns whether none of the newest steps is left in `after`, although a single older message that could
/// be shortened is there as a whole with more than half of `room` characters. A step is left if its calls and texts are, whatever became of
/// its outputs. `None` if the history has no steps.
pub(crate) fn is_gone(
    units: &[Unit],
    before: &[Vec<Message>],
    after: &[Vec<Message>],
    room: usize,
) -> Option<bool> {
    let steps = units.iter().enumerate().rev();
    let steps = steps.filter(|(_, unit)| unit.kind == UnitKind::Step);
    let steps: Vec<usize> = steps.map(|(index, _)| index).take(STEPS).collect();
    let oldest = *steps.last()?;
    let kept: Vec<&Message> = after.iter().flatten().collect();
    let is_left = |step: &usize| {
        let said = before.get(*step).into_iter().flatten();
        let mut said = said.filter(|message| message.role == Role::Assistant);
        said.any(|message| kept.iter().any(|kept| is_same_answer(kept, message)))
    };
    let large = NEVER_SHORTENED.max(room / 2);
    let is_large = |message: &&Message| message.size() > large;
    let mut older = before.iter().take(oldest).flatten().filter(is_large);
    Some(!steps.iter().any(is_left) && older.any(|message| kept.contains(&message)))
}

/// Whether two answers of the model have the same calls and texts. Thinking may be removed.
fn is_same_answer(one: &Message, other: &Message) -> bool {
    fn said(message: &Message) -> impl Iterator<Item = &Part> {
        let is_said = |part: &&Part| matches!(part.kind, PartKind::Text | PartKind::Call);
        message.parts.iter().filter(is_said)
    }
    one.role == other.role && said(one).eq(said(other))
}

#[cfg(test)]
mod tests {
    use baler_host::Host;
    use serde_json::json;

    use super::*;

    const TASK: &str =
        "Chart the harbour, berth by berth, and note what the pilots say about each. ";

    fn history(task: &str) -> Vec<serde_json::Value> {
        let mut messages = vec![json!({"role": "user", "content": task})];
        for berth in 1..6 {
            messages
                .push(json!({"role": "assistant", "content": format!("Berth {berth} is deep.")}));
            messages.push(json!({"role": "user", "content": "次へ"}));
        }
        messages
    }

    fn is_gone_if(kept: &[usize], task: &str, room: usize) -> Option<bool> {
        let host = Host::builder().build().expect("a host");
        let read = |messages: Vec<serde_json::Value>| {
            let document = serde_json::Value::from(messages).to_string();
            host.read(document).expect("reads")
        };
        let all = history(task);
        let some = kept.iter().map(|index| all[*index].clone()).collect();
        let (before, after) = (read(all.clone()), read(some));
        let messages = crate::cases::read(&before);
        is_gone(before.units(), &messages, &crate::cases::read(&after), room)
    }

    #[test]
    fn recent_work_is_gone_if_an_old_message_takes_its_place() {
        let task = TASK.repeat(8);
        let room = task.chars().count() + 40;
        // The task, an old step and the newest message.
        assert_eq!(is_gone_if(&[0, 1, 10], &task, room), Some(true));
        // With one of the three newest steps.
        assert_eq!(is_gone_if(&[0, 5, 10], &task, room), Some(false));
        assert_eq!(is_gone_if(&[0, 9, 10], &task, room), Some(false));
        // A short text is never shortened, so it takes what it takes.
        assert_eq!(is_gone_if(&[0, 1, 10], TASK, TASK.len()), Some(false));
    }

    #[test]
    fn recent_work_is_not_gone_if_nothing_old_has_most_of_the_room() {
        let task = TASK.repeat(4);
        let room = task.chars().count() * 3;
        assert_eq!(is_gone_if(&[0, 1, 10], &task, room), Some(false));
        // The task itself is not there.
        assert_eq!(is_gone_if(&[2, 10], &task, task.len()), Some(false));
    }

    #[test]
    fn history_without_steps_has_no_recent_work() {
        assert_eq!(is_gone(&[], &[], &[], 10), None);
    }
}
