//! Messages and their parts of this format, written from raw JSON values.

/// What the model said, and the calls that it made.
pub(crate) fn answer(content: &str, calls: &[String]) -> String {
    let calls = match calls {
        [] => String::new(),
        calls => format!(r#","tool_calls":[{}]"#, calls.join(",")),
    };
    format!(r#"{{"role":"assistant","content":{content}{calls}}}"#)
}

/// A call; its arguments are a JSON string that holds JSON (CHAT-4).
pub(crate) fn call(id: &str, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"id":{id},"type":"function","function":{{"name":{name},"arguments":{arguments}}}}}"#
    )
}

/// The output of a call.
pub(crate) fn output(id: &str, content: &str) -> String {
    format!(r#"{{"role":"tool","tool_call_id":{id},"content":{content}}}"#)
}

/// A text among other parts.
pub(crate) fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":{text}}}"#)
}

/// A picture among other parts.
pub(crate) fn picture(url: &str) -> String {
    format!(r#"{{"type":"image_url","image_url":{{"url":{url}}}}}"#)
}
