//! Items and their parts of this format, written from raw JSON values.

/// A message of one agent to another. `content` is the list of its parts, without brackets.
pub(crate) fn agent_message(author: &str, recipient: &str, content: &str) -> String {
    format!(
        r#"{{"type":"agent_message","author":{author},"recipient":{recipient},"content":[{content}]}}"#
    )
}

/// A part that only the provider can read.
pub(crate) fn encrypted(content: &str) -> String {
    format!(r#"{{"type":"encrypted_content","encrypted_content":{content}}}"#)
}

/// What the model said.
pub(crate) fn answer(text: &str) -> String {
    format!(
        r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":{text},"annotations":[]}}]}}"#
    )
}

/// A call of a function; its arguments are a JSON string that holds JSON.
pub(crate) fn call(id: &str, name: &str, arguments: &str) -> String {
    format!(r#"{{"type":"function_call","call_id":{id},"name":{name},"arguments":{arguments}}}"#)
}

/// The output of such a call.
pub(crate) fn output(id: &str, output: &str) -> String {
    output_of("function_call_output", id, output)
}

/// The output of a call, an item of this type.
pub(crate) fn output_of(kind: &str, id: &str, output: &str) -> String {
    format!(r#"{{"type":"{kind}","call_id":{id},"output":{output}}}"#)
}

/// A text that goes in.
pub(crate) fn text(text: &str) -> String {
    format!(r#"{{"type":"input_text","text":{text}}}"#)
}

/// A picture that goes in.
pub(crate) fn picture(url: &str) -> String {
    format!(r#"{{"type":"input_image","detail":"auto","image_url":{url}}}"#)
}
