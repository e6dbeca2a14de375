//! Anthropic Messages.

use serde_json::Value;

use super::{Step, Wrong, parts};

/// Consecutive messages of one role, which the provider joins to one message.
struct Turn<'a> {
    is_user: bool,
    messages: Vec<&'a Value>,
}

/// Checks that results follow the message with their calls, and that each call is answered once, except at
/// the end; and that instructions are between a message of the user and one of the model.
pub(super) fn rules(all: &[Value]) -> Result<(), &'static str> {
    instructions_are_in_place(all)?;
    let messages: Vec<&Value> = all.iter().filter(|own| own["role"] != "system").collect();
    let turns = turns(&messages);
    let first = *messages.first().ok_or("nobody speaks")?;
    let mut signed = messages
        .iter()
        .flat_map(|message| parts(message))
        .filter(|block| is_compaction(block) && block["signature"].is_string());
    let stands_first = parts(first).next().filter(|block| is_compaction(block));
    if signed.any(|block| !stands_first.is_some_and(|first| std::ptr::eq(first, block))) {
        return Err("a signed compaction does not stand first");
    }
    for (index, turn) in turns.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &turns[before]);
        let after = turns.get(index + 1);
        let is_last = index + 2 >= turns.len();
        let results = turn.ids("tool_result", "tool_use_id");
        let calls = before.map_or_else(Vec::new, Turn::calls);
        step(&calls, &results)?;
        if turn
            .messages
            .iter()
            .any(|message| has_late_results(message))
        {
            return Err("an output behind a text");
        }
        let answers = after.map_or_else(Vec::new, |turn| turn.ids("tool_result", "tool_use_id"));
        let own = turn.calls();
        let is_answered = !step(&own, &answers)?.waits();
        // At the end a call may wait, alone or with others that were answered.
        let may_wait = after.is_none() || (is_last && !answers.is_empty());
        if !is_answered && !may_wait {
            return Err("a call without its output");
        }
        if !results.is_empty() && !turn.is_user {
            return Err("an output of the wrong role");
        }
    }
    Ok(())
}

/// Whether a block is a compaction of the provider's own that did not fail.
fn is_compaction(block: &Value) -> bool {
    block["type"] == "compaction"
        && !(block["content"].is_null() && block["encrypted_content"].is_null())
}

/// Several may stand together. What sets options of the answer may stand anywhere.
fn instructions_are_in_place(messages: &[Value]) -> Result<(), &'static str> {
    let is_rule = |message: &Value| message["role"] == "system";
    let sets_options = |message: &Value| message.get("output_config").is_some();
    let mut next_at = 0;
    for group in messages.chunk_by(|one, other| is_rule(one) == is_rule(other)) {
        let at = next_at;
        next_at += group.len();
        if !is_rule(&group[0]) || group.iter().any(sets_options) {
            continue;
        }
        let before = at.checked_sub(1).map(|before| &messages[before]);
        let is_behind_result = before
            .and_then(|own| parts(own).last())
            .is_some_and(|block| {
                let kind = block["type"].as_str();
                kind.is_some_and(|kind| kind.ends_with("_tool_result"))
            });
        if !is_behind_result && before.is_none_or(|own| own["role"] != "user") {
            return Err("instructions without a turn of the user's before them");
        }
        let next = messages.get(next_at);
        if next.is_some_and(|own| own["role"] != "assistant") {
            return Err("instructions in front of a turn of the user's");
        }
    }
    Ok(())
}

fn turns<'a>(messages: &[&'a Value]) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for &message in messages {
        let is_user = message["role"] == "user";
        match turns.last_mut() {
            Some(turn) if turn.is_user == is_user => turn.messages.push(message),
            _ => turns.push(Turn {
                is_user,
                messages: vec![message],
            }),
        }
    }
    turns
}

impl<'a> Turn<'a> {
    /// Returns the ids of the model's calls.
    fn calls(&self) -> Vec<&'a str> {
        match self.is_user {
            true => Vec::new(),
            false => self.ids("tool_use", "id"),
        }
    }

    fn ids(&self, kind: &str, key: &str) -> Vec<&'a str> {
        self.messages
            .iter()
            .flat_map(|message| parts(message))
            .filter(|block| block["type"] == kind)
            .map(|block| block[key].as_str().unwrap_or_default())
            .collect()
    }
}

/// Checks that the results of a message answer the calls of the message before it.
fn step<'a>(calls: &[&'a str], results: &[&'a str]) -> Result<Step<'a>, &'static str> {
    let mut step = Step::default();
    calls.iter().try_for_each(|id| step.call(id))?;
    results.iter().try_for_each(|id| step.output(id))?;
    Ok(step)
}

/// The user first, and calls in messages of the model's. Newer models take words of the model's
/// first as well.
pub(super) fn doubts(messages: &[Value]) -> Vec<&'static str> {
    // The provider's own summary stands for all before it.
    let is_summary = |message: &Value| {
        let first = parts(message).next();
        first.is_some_and(is_compaction)
    };
    let is_led_by_model = |first: &Value| first["role"] == "assistant" && !is_summary(first);
    let has_call = |message: &Value| {
        message["role"] == "user" && parts(message).any(|block| block["type"] == "tool_use")
    };
    let mut doubts = Vec::new();
    if messages.first().is_some_and(is_led_by_model) {
        doubts.push("the first message is not the user's");
    }
    if messages.iter().any(has_call) {
        doubts.push("a call of the user's");
    }
    doubts
}

fn has_late_results(message: &Value) -> bool {
    parts(message)
        .skip_while(|block| block["type"] == "tool_result")
        .any(|block| block["type"] == "tool_result")
}

/// Neighbours of the model's are one message to the provider: where one of two thinks, both are next to
/// each other in the result, or neither is there. `places` has for each message of the result its index
/// among the old ones.
pub(super) fn thinking_stays_in_its_response(
    old: &[Value],
    new: &[Value],
    places: &[Option<usize>],
) -> Result<(), Wrong> {
    let is_models = |index: usize| old.get(index).is_some_and(|own| own["role"] == "assistant");
    let thinks = |index: usize| {
        let is_thinking =
            |block: &Value| block["type"] == "thinking" || block["type"] == "redacted_thinking";
        is_models(index) && parts(&old[index]).any(is_thinking)
    };
    // Whether `at` of the result may stand for `place`, as far as the neighbours say.
    let is_whole = |at: usize, place: usize| {
        let stands = |at: Option<usize>, place: usize| {
            at.is_some_and(|at| {
                let is_there = places.get(at).copied().flatten() == Some(place);
                is_there || new.get(at) == old.get(place)
            })
        };
        let before = place.checked_sub(1).filter(|before| is_models(*before));
        let after = Some(place + 1).filter(|after| is_models(*after));
        let is_bound = |other: usize| thinks(place) || thinks(other);
        let keeps_before =
            before.is_none_or(|before| !is_bound(before) || stands(at.checked_sub(1), before));
        let keeps_after = after.is_none_or(|after| !is_bound(after) || stands(Some(at + 1), after));
        keeps_before && keeps_after
    };
    for (at, place) in places.iter().enumerate() {
        let Some(place) = place.filter(|place| is_models(*place)) else {
            continue;
        };
        // Messages that are alike may have been taken for each other.
        let mut alike = (0..old.len()).filter(|other| old[*other] == new[at]);
        if !is_whole(at, place) && !alike.any(|other| is_whole(at, other)) {
            return Err(Wrong::Rules("thinking without the rest of its response"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{doubts, rules, thinking_stays_in_its_response};
    use serde_json::{Value, json};

    #[test]
    fn a_response_over_neighbouring_messages_stays_or_goes_as_one() {
        let user = json!({"role": "user", "content": "a"});
        let thinks = |text: &str| json!({"role": "assistant", "content": [{"type": "thinking", "thinking": text}]});
        let says =
            |text: &str| json!({"role": "assistant", "content": [{"type": "text", "text": text}]});
        let old = [
            user.clone(),
            thinks("b"),
            says("c"),
            user.clone(),
            thinks("d"),
            says("c"),
            says("e"),
            user,
        ];
        let check = |kept: &[usize], places: &[usize]| {
            let new: Vec<Value> = kept.iter().map(|place| old[*place].clone()).collect();
            let places: Vec<Option<usize>> = places.iter().copied().map(Some).collect();
            thinking_stays_in_its_response(&old, &new, &places)
        };
        for kept in [&[0, 1, 2, 3][..], &[0, 3, 4, 5, 6, 7], &[0, 7]] {
            assert_eq!(check(kept, kept), Ok(()), "{kept:?}");
        }
        // Nothing binds words to words.
        assert_eq!(check(&[0, 4, 5, 7], &[0, 4, 5, 7]), Ok(()));
        for kept in [&[0, 2, 3][..], &[0, 1, 3], &[0, 1, 6, 7], &[0, 5, 7]] {
            assert!(check(kept, kept).is_err(), "{kept:?}");
        }
        // One that is like an earlier one may be taken for it.
        assert_eq!(check(&[4, 5, 6], &[4, 2, 6]), Ok(()));
    }

    #[test]
    fn results_stand_in_the_turn_behind_their_calls() {
        let user = json!({"role": "user", "content": "a"});
        let said = json!({"role": "assistant", "content": "b"});
        let calls = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1"}, {"type": "tool_use", "id": "2"}]});
        let result = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id}]});
        let (one, two) = (result("1"), result("2"));
        let good = [
            user.clone(),
            calls.clone(),
            one.clone(),
            two.clone(),
            said.clone(),
        ];
        assert_eq!(rules(&good), Ok(()));
        assert_eq!(rules(&[user.clone(), calls.clone(), one.clone()]), Ok(()));
        assert_eq!(rules(&[user.clone(), calls.clone()]), Ok(()));
        assert!(rules(&[user.clone(), calls.clone(), user.clone()]).is_err());
        assert!(rules(&[user.clone(), calls.clone(), one.clone(), said.clone()]).is_err());
        assert!(rules(&[user.clone(), said.clone(), one.clone()]).is_err());
        assert!(rules(&[user.clone(), calls.clone(), one.clone(), one.clone()]).is_err());
        assert_eq!(doubts(&[calls.clone(), one.clone(), two.clone()]).len(), 1);
        // A later response may have the ids of an earlier one, a response not the same one twice.
        let again = [&user, &calls, &one, &two, &calls, &one, &two].map(Clone::clone);
        assert_eq!(rules(&again), Ok(()));
        assert_eq!(doubts(&again), Vec::<&str>::new());
        let doubled = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1"}, {"type": "tool_use", "id": "1"}]});
        assert!(rules(&[user, doubled, one.clone(), one]).is_err());
    }

    #[test]
    fn instructions_stand_between_the_user_and_the_model() {
        let user = json!({"role": "user", "content": "a"});
        let said = json!({"role": "assistant", "content": "b"});
        let rule = json!({"role": "system", "content": "c"});
        let options = json!({"role": "system", "content": [], "output_config": {}});
        let good = [
            user.clone(),
            rule.clone(),
            rule.clone(),
            said.clone(),
            options,
            user.clone(),
            rule.clone(),
        ];
        assert_eq!(rules(&good), Ok(()));
        assert!(rules(&[rule.clone(), user.clone()]).is_err());
        assert!(rules(&[user.clone(), rule.clone(), user.clone()]).is_err());
        assert!(rules(&[user, said, rule]).is_err());
    }

    #[test]
    fn a_signed_compaction_stands_first() {
        let user = json!({"role": "user", "content": "a"});
        let summary = |block: serde_json::Value| json!({"role": "assistant", "content": [block]});
        let signed = summary(json!({"type": "compaction", "content": "b", "signature": "c2ln"}));
        let unsigned = summary(json!({"type": "compaction", "content": "b"}));
        assert_eq!(rules(&[signed.clone(), user.clone(), unsigned]), Ok(()));
        assert!(rules(&[user.clone(), signed]).is_err());
        let failed = summary(json!({"type": "compaction", "content": null}));
        assert_eq!(doubts(&[failed, user]).len(), 1);
    }
}
