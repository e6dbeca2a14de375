//! Gemini `generateContent`.

use serde_json::Value;

use super::{SILENT, is_silent, parts};

/// Returns the calls or responses of a content, in camel or snake case.
fn functions<'a>(content: &'a Value, camel: &str, snake: &str) -> Vec<&'a Value> {
    parts(content)
        .filter_map(|part| part.get(camel).or_else(|| part.get(snake)))
        .collect()
}

fn calls(content: &Value) -> Vec<&Value> {
    functions(content, "functionCall", "function_call")
}

fn responses(content: &Value) -> Vec<&Value> {
    functions(content, "functionResponse", "function_response")
}

fn is_users(content: &Value) -> bool {
    content["role"] != "model"
}

/// Returns the sorted names of functions.
fn names<'a>(functions: &[&'a Value]) -> Vec<&'a str> {
    let mut names: Vec<&str> = functions
        .iter()
        .map(|function| function["name"].as_str().unwrap_or_default())
        .collect();
    names.sort_unstable();
    names
}

/// Checks that each content with calls follows one of the user, and is followed by one with as many
/// responses, except at the end.
pub(super) fn rules(contents: &[Value]) -> Result<(), &'static str> {
    if contents.is_empty() {
        return Err("nobody speaks");
    }
    for (index, content) in contents.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &contents[before]);
        let (calls_of_it, answers) = (calls(content), responses(content));
        if parts(content).next().is_none() {
            return Err("a content without parts");
        }
        if !calls_of_it.is_empty() {
            if !before.is_some_and(is_users) {
                return Err("calls do not follow the user");
            }
            if let Some(next) = contents.get(index + 1)
                && (!is_users(next) || responses(next).len() != calls_of_it.len())
            {
                return Err("calls without as many answers");
            }
        }
        if !answers.is_empty() {
            if !is_users(content) {
                return Err("an answer of the model's");
            }
            if before.is_none_or(|before| calls(before).is_empty()) {
                return Err("an answer without its call");
            }
        }
    }
    Ok(())
}

/// Checks that the user is first, that the model makes all calls, and that responses have the names of their
/// calls.
pub(super) fn doubts(contents: &[Value]) -> Vec<&'static str> {
    let mut doubts = Vec::new();
    if contents.first().is_some_and(|first| !is_users(first)) {
        doubts.push("the first content is not the user's");
    }
    if contents
        .iter()
        .any(|content| is_users(content) && !calls(content).is_empty())
    {
        doubts.push("a call of the user's");
    }
    if contents.windows(2).any(|pair| {
        let calls = calls(&pair[0]);
        !calls.is_empty() && names(&calls) != names(&responses(&pair[1]))
    }) {
        doubts.push("an answer under another name than its call");
    }
    doubts.extend(is_silent(contents).then_some(SILENT));
    doubts
}

#[cfg(test)]
mod tests {
    use super::{doubts, rules};
    use serde_json::json;

    #[test]
    fn calls_are_answered_in_the_next_content() {
        let user = json!({"role": "user", "parts": [{"text": "a"}]});
        let call = json!({"functionCall": {"name": "f", "args": {}}});
        let answer = json!({"functionResponse": {"name": "f", "response": {}}});
        let calls = json!({"role": "model", "parts": [call, call]});
        let answers = json!({"role": "user", "parts": [answer, answer]});
        let one = json!({"role": "user", "parts": [answer]});
        assert_eq!(
            rules(&[user.clone(), calls.clone(), answers.clone(), user.clone()]),
            Ok(())
        );
        assert_eq!(rules(&[user.clone(), calls.clone()]), Ok(()));
        assert!(rules(&[user.clone(), calls.clone(), one.clone()]).is_err());
        assert!(rules(&[user.clone(), calls.clone(), user.clone()]).is_err());
        assert!(rules(&[user.clone(), one]).is_err());
        assert!(rules(&[calls.clone(), answers.clone()]).is_err());
        let said = json!({"role": "model", "parts": [{"text": "a"}]});
        assert_eq!(rules(std::slice::from_ref(&said)), Ok(()));
        assert_eq!(doubts(&[said]), ["the first content is not the user's"]);
        let other = json!({"functionResponse": {"name": "g", "response": {}}});
        let others = json!({"role": "user", "parts": [answer, other]});
        let renamed = [user.clone(), calls.clone(), others];
        assert_eq!(rules(&renamed), Ok(()));
        assert_eq!(
            doubts(&renamed),
            ["an answer under another name than its call"]
        );
        assert!(doubts(&[user, calls, answers]).is_empty());
    }
}
