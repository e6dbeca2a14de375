//! OpenAI Chat Completions.

use serde_json::Value;

/// Tool messages directly behind the message with their calls, and each call answered once,
/// except at the end.
pub(super) fn rules(messages: &[Value]) -> Result<(), &'static str> {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        if let Some(id) = message["tool_call_id"].as_str() {
            let at = open
                .iter()
                .position(|own| *own == id)
                .ok_or("an output without its call")?;
            open.remove(at);
            continue;
        }
        if !open.is_empty() {
            return Err("a call without its output");
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open.extend(calls.filter_map(|call| call["id"].as_str()));
    }
    if messages.iter().all(|message| message["role"] == "system") {
        return Err("nobody speaks");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::rules;
    use serde_json::json;

    #[test]
    fn calls_and_outputs_are_paired() {
        let user = json!({"role": "user", "content": "a"});
        let call = json!({"role": "assistant", "tool_calls": [{"id": "1"}, {"id": "2"}]});
        let one = json!({"role": "tool", "tool_call_id": "1"});
        let two = json!({"role": "tool", "tool_call_id": "2"});
        let good = [
            user.clone(),
            call.clone(),
            two.clone(),
            one.clone(),
            user.clone(),
        ];
        assert_eq!(rules(&good), Ok(()));
        assert_eq!(rules(&[user.clone(), call.clone(), one.clone()]), Ok(()));
        assert!(rules(&[call.clone(), one.clone(), user.clone()]).is_err());
        assert!(rules(&[user.clone(), two]).is_err());
        assert!(rules(&[call, one.clone(), one]).is_err());
    }
}
