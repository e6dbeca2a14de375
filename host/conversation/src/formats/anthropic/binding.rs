//! Thinking that is bound to what came before it.
//!
//! Newer models of Anthropic's take a `thinking` block only where the system prompt, the tools
//! and all messages before it are those after which it was made; otherwise the request is
//! refused ("The block is bound to a different conversation"), unless it asks for such blocks to
//! be dropped. Source: Anthropic, "Preserved thinking", as of November 2026: Fable and Mythos
//! from 5.1 on, Opus, Sonnet and Haiku from 5.5 on. On accounts where that is not yet enforced, a
//! request that says what is to become of such blocks asks for it.

use serde_json::value::RawValue;

use crate::json;
use crate::model::envelope::Binding;

/// What becomes of the thinking in a request after a changed beginning: by what the request says of
/// `thinking`, and its model.
pub(crate) fn of(thinking: Option<&RawValue>, model: &str) -> Binding {
    match thinking.and_then(asked_for).as_deref() {
        Some("drop_block") => Binding::Drops,
        Some(_) => Binding::Refuses,
        None if binds(model) => Binding::Refuses,
        None => Binding::No,
    }
}

/// What the request says is to become of it.
fn asked_for(thinking: &RawValue) -> Option<String> {
    let binding = json::members(thinking.get())?.object("block_binding")?;
    Some(binding.text("prefix_mismatch_behavior")?.into_owned())
}

/// Whether a model binds thinking, by its name: `claude-opus-5-5`, with or without a date. A name
/// without a version, such as `claude-opus-latest`, is that of the newest model, which does.
pub(crate) fn binds(model: &str) -> bool {
    [
        ("fable", (5, 1)),
        ("mythos", (5, 1)),
        ("opus", (5, 5)),
        ("sonnet", (5, 5)),
        ("haiku", (5, 5)),
    ]
    .iter()
    .filter_map(|(family, first)| {
        let (before, behind) = model.split_once(family)?;
        // A word that merely ends like it is the name of something else.
        (!before.ends_with(char::is_alphanumeric)).then_some((before, behind, first))
    })
    .any(|(before, behind, first)| {
        version_behind(behind)
            .or_else(|| version_before(before))
            .is_none_or(|version| version >= *first)
    })
}

/// Major and minor of a version that a text begins with, such as `-5-5` or `-5.5-20260901`.
fn version_behind(text: &str) -> Option<(u32, u32)> {
    let text = text.trim_start_matches(SEPARATORS);
    text.starts_with(|c: char| c.is_ascii_digit())
        .then(|| version_in(text))?
}

/// The same of a version that stands in front, as older names have it: `claude-3-5-`.
fn version_before(text: &str) -> Option<(u32, u32)> {
    let (_, text) = text.rsplit_once("claude")?;
    version_in(text)
}

const SEPARATORS: [char; 4] = ['-', '.', '_', '@'];

/// The first two numbers of a text, or the first one and 0.
fn version_in(text: &str) -> Option<(u32, u32)> {
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
            ("anthropic.claude-opus-5-5-v1:0", true),
            ("claude-opus-latest", true),
            ("us.anthropic.claude-sonnet-latest-v1:0", true),
            ("opus", true),
            ("haiku@20260901", true),
            ("claude-opus-5", false),
            ("claude-opus-4-8", false),
            ("claude-sonnet-4-5-20250929", false),
            ("claude-3-5-sonnet-20241022", false),
            ("anthropic.claude-3-opus-20240229-v1:0", false),
            ("claude-3-5-sonnet-latest", false),
            ("octopus-v4", false),
            ("claude-sonnet-4-20250514", false),
            ("gpt-5", false),
            ("", false),
        ] {
            assert_eq!(binds(model), expected, "{model}");
        }
    }
}
