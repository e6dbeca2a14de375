//! Anthropic Messages.

use serde_json::Value;

use super::{Step, parts};

/// Neighbours of one role, which the provider takes for one message.
struct Turn<'a> {
    is_user: bool,
    messages: Vec<&'a Value>,
}

/// Results in the turn behind their calls, and each call answered once, except at the end;
/// instructions between a turn of the user's and one of the model's.
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
    /// The ids of the model's calls.
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

/// How the results of a turn answer the calls of the one before it.
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

#[cfg(test)]
mod tests {
    use super::{doubts, rules};
    use serde_json::json;

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
