//! Guesses what kind of work a conversation is about.

use crate::part::Part;
use crate::shares::{self, NameWeights};

/// What a conversation is about, which decides which names are likely to be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Work with tools: files, commands, records.
    Tools,
    /// Talk without tools. What was said matters more than names.
    Chat,
}

impl Work {
    /// Weights of names, found with `baler eval`, see docs/fidelity.md.
    pub(crate) const fn name_weights(self) -> NameWeights {
        match self {
            Self::Tools => shares::TOOLS_NAMES,
            Self::Chat => shares::CHAT_NAMES,
        }
    }
}

/// Whether a part shows that tools are used.
pub(crate) fn has_tool(part: &Part<'_>) -> bool {
    match part {
        Part::Call { .. } | Part::Output { .. } => true,
        // Some agents write their commands into what they say.
        Part::Assistant { text, .. } => text.contains("```"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_writes_commands_in_its_text_uses_tools() {
        let text = "Let me look.\n```bash\nls\n```".into();
        assert!(has_tool(&Part::Assistant { text, calls: false }));
        assert!(!has_tool(&Part::User("Hello.".into())));
    }
}
