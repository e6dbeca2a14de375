//! OpenAI Chat Completions.

use serde_json::Value;

use super::{SILENT, Step, is_silent};

/// Checks that tool messages directly follow the message with their calls, and that each call is answered
/// once, except at the end.
pub(super) fn rules(messages: &[Value]) -> Result<(), &'static str> {
    let mut step = Step::default();
    for message in messages {
        if message["role"] == "tool" {
            step.output(message["tool_call_id"].as_str().unwrap_or_default())?;
            continue;
        }
        if step.waits() {
            return Err("a call without its output");
        }
        step = Step::default();
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            step.call(call["id"].as_str().unwrap_or_default())?;
        }
    }
    if messages.is_empty() {
        return Err("nobody speaks");
    }
    Ok(())
}

/// Servers also answer requests with instructions only.
pub(super) fn doubts(messages: &[Value]) -> Vec<&'static str> {
    is_silent(messages).then_some(SILENT).into_iter().collect()
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
        assert!(rules(&[user.clone(), two.clone()]).is_err());
        assert!(rules(&[call.clone(), one.clone(), one.clone()]).is_err());
        // A later response may have the ids of an earlier one.
        let twice = [&user, &call, &one, &two, &call, &one, &two].map(Clone::clone);
        assert_eq!(rules(&twice), Ok(()));
        assert!(rules(&[]).is_err());
        assert_eq!(rules(&[json!({"role": "system"})]), Ok(()));
    }
}
