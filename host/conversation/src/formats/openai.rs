//! What both formats of OpenAI share.

use serde_json::value::RawValue;

use super::Body;
use crate::json::all_objects;
use crate::model::envelope::ToolDefinition;

/// The tools of a list, with their members inside of `function` or beside `type`.
pub(super) fn tool_definitions(body: &Body<'_>, tools: Option<&RawValue>) -> Vec<ToolDefinition> {
    all_objects(tools)
        .into_iter()
        .map(|tool| {
            let own = tool.object("function").unwrap_or(tool);
            let parameters = own.get("parameters").map(|raw| body.place(raw));
            let mut definition = ToolDefinition::of(&own, parameters);
            if own.text("name").is_none() {
                definition.name = own.string("type");
            }
            definition
        })
        .collect()
}

/// Whether a model is one that OpenAI serves, by its name; a request without one is taken for its own.
/// `gpt-oss` is OpenAI's too, but others serve it.
pub(super) fn is_openais(model: &str) -> bool {
    // Routers put the provider in front: `openai/gpt-5`.
    let bare = model.rsplit('/').next().unwrap_or(model);
    let bare = bare.strip_prefix("ft:").unwrap_or(bare);
    let is_numbered = bare
        .strip_prefix('o')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_named = ["gpt-", "chatgpt-", "codex-", "computer-use-"]
        .iter()
        .any(|prefix| bare.starts_with(prefix));
    model.is_empty() || is_numbered || is_named && !bare.starts_with("gpt-oss")
}

#[cfg(test)]
mod tests {
    use super::is_openais;

    #[test]
    fn model_is_openais_by_its_name() {
        for (model, expected) in [
            ("", true),
            ("gpt-5.2-codex", true),
            ("openai/gpt-5", true),
            ("o4-mini", true),
            ("ft:gpt-4o:us:x:1", true),
            ("codex-mini-latest", true),
            ("gpt-oss-120b", false),
            ("openai/gpt-oss-20b", false),
            ("Qwen/Qwen3-8B", false),
            ("olmo-3", false),
        ] {
            assert_eq!(is_openais(model), expected, "{model}");
        }
    }
}
