//! Reads the summaries of earlier compactions.

use baler_digest::masked;
use baler_strategy::{Content, Conversation};

use crate::summary::without_frame;

/// Returns the texts of these summary units, oldest first, without header, tags and secrets. `None` if they have no
/// text.
pub fn earlier_summaries(
    conversation: &Conversation<'_>,
    units: &[usize],
    header: &str,
) -> Option<String> {
    let mut texts = Vec::new();
    for unit in units {
        for part in conversation
            .messages(*unit)
            .into_iter()
            .flat_map(|message| message.parts)
        {
            if let Content::Text(text) = part.content {
                texts.push(masked(without_frame(&text, header)).into_owned());
            }
        }
    }
    texts.retain(|text| !text.is_empty());
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use baler_strategy::testing::Recording;

    /// PU-N18: what was around them is not carried on.
    #[test]
    fn summaries_are_read_in_order_without_what_was_around_them() {
        let recording = Recording::new()
            .summary("[Conversation Summary]\n\nFirst.")
            .user("hello")
            .summary("<context_summary>\nSecond.\n</context_summary>");
        let conversation = Conversation::new(&recording);
        assert_eq!(
            earlier_summaries(&conversation, &[0, 2], "").as_deref(),
            Some("First.\n\nSecond.")
        );
        assert_eq!(earlier_summaries(&conversation, &[], ""), None);
    }
}
