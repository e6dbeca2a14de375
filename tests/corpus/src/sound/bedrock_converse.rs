//! Bedrock Converse.

use std::collections::HashSet;

use serde_json::Value;

use super::{SILENT, Step, is_silent, parts};

/// Returns the calls or results of a message, those of the provider's own tools aside.
fn tools<'a>(message: &'a Value, kind: &str) -> Vec<&'a str> {
    parts(message)
        .filter_map(|block| block.get(kind))
        .filter(|block| block.get("type").is_none())
        .map(|block| block["toolUseId"].as_str().unwrap_or_default())
        .collect()
}

fn is_users(message: &Value) -> bool {
    message["role"] == "user"
}

/// Checks that the user speaks first, that each message with calls is followed by one of the user's with a result for
/// each and no others, and that no text is blank and no message empty.
pub(super) fn rules(messages: &[Value]) -> Result<(), &'static str> {
    if is_silent(messages) {
        return Err(SILENT);
    }
    if messages
        .first()
        .is_some_and(|first| first["role"] == "assistant")
    {
        return Err("the model speaks first");
    }
    let mut names: HashSet<&str> = HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        if parts(message).all(|block| block.get("cachePoint").is_some()) {
            return Err("a message without content");
        }
        let texts = || parts(message).filter_map(|block| block["text"].as_str());
        if texts().any(|text| text.trim().is_empty()) {
            return Err("a blank text");
        }
        let guarded = parts(message).any(|block| block.get("guardContent").is_some());
        for document in parts(message).filter_map(|block| block.get("document")) {
            if texts().next().is_none() && !guarded {
                return Err("a document without a text");
            }
            if !names.insert(document["name"].as_str().unwrap_or_default()) {
                return Err("two documents of one name");
            }
        }
        let results = tools(message, "toolResult");
        let before = index.checked_sub(1).map(|before| &messages[before]);
        let called = before.map_or(Vec::new(), |before| tools(before, "toolUse"));
        if !is_users(message) && !results.is_empty() {
            return Err("a result of the model's");
        }
        let mut step = Step::default();
        called.iter().try_for_each(|id| step.call(id))?;
        results.iter().try_for_each(|id| step.output(id))?;
        if step.waits() {
            return Err("a call without its result");
        }
    }
    Ok(())
}

/// Checks that the roles alternate.
pub(super) fn doubts(messages: &[Value]) -> Vec<&'static str> {
    let mut doubts = Vec::new();
    if messages
        .windows(2)
        .any(|pair| pair[0]["role"] == pair[1]["role"])
    {
        doubts.push("neighbours of one role");
    }
    doubts
}

/// Whether a message is a note of the host's in the role of the model, which parts messages of the user's.
pub(super) fn is_note_for_model(message: &Value) -> bool {
    let texts: Vec<&str> = parts(message)
        .filter_map(|block| block["text"].as_str())
        .collect();
    message["role"] == "assistant"
        && parts(message).count() == 1
        && matches!(texts.as_slice(), [text] if text.starts_with("<baler:note by=\"baler\""))
}

#[cfg(test)]
mod tests {
    use super::{doubts, is_note_for_model, rules};
    use serde_json::{Value, json};

    #[test]
    fn calls_are_answered_in_the_next_message() {
        let user = json!({"role": "user", "content": [{"text": "a"}]});
        let said = json!({"role": "assistant", "content": [{"text": "b"}]});
        let call = |id: &str| json!({"toolUse": {"toolUseId": id, "name": "f", "input": {}}});
        let result =
            |id: &str| json!({"toolResult": {"toolUseId": id, "content": [{"text": "c"}]}});
        let calls = json!({"role": "assistant", "content": [call("x"), call("y")]});
        let results = |ids: &[&str]| {
            let results: Vec<Value> = ids.iter().map(|id| result(id)).collect();
            json!({"role": "user", "content": results})
        };
        let both = [user.clone(), calls.clone(), results(&["y", "x"])];
        assert_eq!(rules(&both), Ok(()));
        assert!(doubts(&both).is_empty());
        assert_eq!(rules(&[user.clone(), calls.clone()]), Ok(()));
        for wrong in [
            vec![user.clone(), calls.clone(), results(&["x"])],
            vec![user.clone(), calls.clone(), results(&["x", "y", "y"])],
            vec![user.clone(), calls.clone(), user.clone()],
            vec![user.clone(), said.clone(), results(&["x"])],
            vec![said.clone(), user.clone()],
            vec![json!({"role": "user", "content": [{"text": " "}]})],
            vec![json!({"role": "user", "content": [{"cachePoint": {"type": "default"}}]})],
            vec![json!({"role": "user", "content": [{"document": {"name": "a"}}]})],
        ] {
            assert!(rules(&wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(doubts(&[user.clone(), user]), ["neighbours of one role"]);
        let note =
            json!({"role": "assistant", "content": [{"text": "<baler:note by=\"baler\" …"}]});
        assert!(is_note_for_model(&note) && !is_note_for_model(&said));
    }
}
