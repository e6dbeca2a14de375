//! Thinking that is bound to what came before it.
//!
//! Newer models of Anthropic's take a `thinking` block only where the system prompt, the tools
//! and all messages in front of it are those behind which it was made; otherwise the request is
//! refused ("The block is bound to a different conversation"), unless it asks for such blocks to
//! be dropped. Source: Anthropic, "Preserved thinking", as of November 2026: Fable and Mythos
//! from 5.1 on, Opus, Sonnet and Haiku from 5.5 on.

use crate::formats::body::Body;
use crate::formats::json::Members;

/// Whether the model of a request refuses thinking behind a changed beginning.
pub(super) fn is_bound(body: &Body<'_>) -> bool {
    binds(&body.text("model")) && !asks_for_dropping(body)
}

/// Whether the request says that such blocks are to be dropped.
fn asks_for_dropping(body: &Body<'_>) -> bool {
    body.member("thinking")
        .and_then(|raw| serde_json::from_str::<Members<'_>>(raw.get()).ok())
        .and_then(|thinking| thinking.present("block_binding"))
        .and_then(|raw| serde_json::from_str::<Members<'_>>(raw.get()).ok())
        .and_then(|binding| binding.text("prefix_mismatch_behavior"))
        .is_some_and(|behavior| behavior == "drop_block")
}

/// Whether a model binds thinking, by its name: `claude-opus-5-5`, with or without a date.
fn binds(model: &str) -> bool {
    [
        ("fable", (5, 1)),
        ("mythos", (5, 1)),
        ("opus", (5, 5)),
        ("sonnet", (5, 5)),
        ("haiku", (5, 5)),
    ]
    .iter()
    .filter_map(|(family, first)| Some((model.split_once(family)?.1, first)))
    .any(|(version, first)| version_of(version) >= Some(*first))
}

/// Major and minor of a version such as `-5-5` or `-5.5-20260901`; none where there is none.
fn version_of(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|number| !number.is_empty())
        // What has more digits is a date.
        .map_while(|number| number.parse().ok().filter(|_| number.len() <= 2));
    Some((numbers.next()?, numbers.next().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::binds;

    #[test]
    fn newer_models_bind_thinking_and_older_ones_do_not() {
        for (model, expected) in [
            ("claude-opus-5-5", true),
            ("claude-opus-5-5-20260901", true),
            ("anthropic/claude-sonnet-5.5", true),
            ("claude-haiku-6", true),
            ("claude-fable-5-1", true),
            ("claude-opus-5", false),
            ("claude-opus-4-8", false),
            ("claude-sonnet-4-5-20250929", false),
            ("claude-3-5-sonnet-20241022", false),
            ("claude-sonnet-4-20250514", false),
            ("gpt-5", false),
            ("", false),
        ] {
            assert_eq!(binds(model), expected, "{model}");
        }
    }
}
