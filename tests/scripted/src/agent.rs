//! An agent with one tool, which runs what the model wants run.

use anyhow::{Context as _, bail};
use baler_host::Format;
use baler_models::clients::connections;
use serde_json::{Value, json};

/// Works on a task until the model ends the session. `url`: where the provider is, without a path. Returns the number of
/// requests.
///
/// # Errors
/// The provider refuses a request, or the session has not ended after `most` requests.
pub async fn work(url: &str, format: Format, task: &str, most: usize) -> anyhow::Result<usize> {
    let client = connections(&url.parse()?, false)?.build()?;
    let (path, list, mut body) = first(format, task);
    for request in 1..=most {
        let asked = client.post(format!("{url}{path}")).body(body.to_string());
        let asked = match format {
            Format::Anthropic => asked.header("anthropic-version", "2023-06-01"),
            _ => asked,
        };
        let answer = asked.send().await?;
        let status = answer.status();
        let text = answer.text().await?;
        if !status.is_success() {
            bail!("request {request} was refused ({status}): {text}");
        }
        let (said, outputs) = step(format, &serde_json::from_str(&text)?)?;
        let history = body[list].as_array_mut().context("a list")?;
        history.extend(said);
        if outputs.is_empty() {
            return Ok(request);
        }
        history.extend(outputs);
    }
    bail!("the session has not ended after {most} requests")
}

/// Returns the path of requests, the name of their list of messages, and the first request.
fn first(format: Format, task: &str) -> (&'static str, &'static str, Value) {
    let schema = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    let user = json!([{"role": "user", "content": task}]);
    match format {
        Format::Anthropic => (
            "/v1/messages",
            "messages",
            json!({"model": "claude-opus-5-5", "max_tokens": 99, "tools": [{"name": "bash", "input_schema": schema}], "messages": user}),
        ),
        Format::OpenAiResponses => (
            "/v1/responses",
            "input",
            json!({"model": "gpt-5.5", "store": false, "tools": [{"type": "function", "name": "bash", "parameters": schema}], "input": user}),
        ),
        Format::Gemini => (
            "/v1beta/models/gemini-3-pro:generateContent",
            "contents",
            json!({"tools": [{"functionDeclarations": [{"name": "bash", "description": "Runs a command."}]}], "contents": [{"role": "user", "parts": [{"text": task}]}]}),
        ),
        _ => (
            "/v1/chat/completions",
            "messages",
            json!({"model": "gpt-4o", "tools": [{"type": "function", "function": {"name": "bash", "parameters": schema}}], "messages": user}),
        ),
    }
}

fn run(arguments: &Value) -> anyhow::Result<String> {
    let command = arguments["command"].as_str().context("a command")?;
    let output = std::process::Command::new("bash")
        .args(["-c", command])
        .output()?;
    Ok(String::from_utf8(output.stdout)?)
}

fn parsed(arguments: &Value) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(arguments.as_str().context("a text")?)?)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the messages that the model said, and those with the outputs of what it wants run.
fn step(format: Format, answer: &Value) -> anyhow::Result<(Vec<Value>, Vec<Value>)> {
    let together = |outputs: Vec<Value>, member: &str| -> Vec<Value> {
        let message = (!outputs.is_empty()).then(|| json!({"role": "user", member: outputs}));
        message.into_iter().collect()
    };
    Ok(match format {
        Format::Anthropic => {
            let calls = list(&answer["content"]).filter(|block| block["type"] == "tool_use");
            let output = |call: &Value| {
                anyhow::Ok(
                    json!({"type": "tool_result", "tool_use_id": call["id"], "content": run(&call["input"])?}),
                )
            };
            let outputs: Vec<Value> = calls.map(output).collect::<anyhow::Result<_>>()?;
            let said = json!({"role": "assistant", "content": answer["content"]});
            (vec![said], together(outputs, "content"))
        }
        Format::OpenAiResponses => {
            let calls = list(&answer["output"]).filter(|item| item["type"] == "function_call");
            let output = |call: &Value| {
                anyhow::Ok(
                    json!({"type": "function_call_output", "call_id": call["call_id"], "output": run(&parsed(&call["arguments"])?)?}),
                )
            };
            let outputs = calls.map(output).collect::<anyhow::Result<_>>()?;
            (list(&answer["output"]).cloned().collect(), outputs)
        }
        Format::Gemini => {
            let content = &answer["candidates"][0]["content"];
            let calls = list(&content["parts"]).filter_map(|part| part.get("functionCall"));
            let output = |call: &Value| {
                anyhow::Ok(
                    json!({"functionResponse": {"name": call["name"], "response": {"output": run(&call["args"])?}}}),
                )
            };
            let outputs: Vec<Value> = calls.map(output).collect::<anyhow::Result<_>>()?;
            (vec![content.clone()], together(outputs, "parts"))
        }
        _ => {
            let message = &answer["choices"][0]["message"];
            let output = |call: &Value| {
                anyhow::Ok(
                    json!({"role": "tool", "tool_call_id": call["id"], "content": run(&parsed(&call["function"]["arguments"])?)?}),
                )
            };
            let outputs = list(&message["tool_calls"])
                .map(output)
                .collect::<anyhow::Result<_>>()?;
            (vec![message.clone()], outputs)
        }
    })
}
