use baler_strategy::{Content, Conversation, PartTraits, ToolOutput};

/// A tool output, and where it is.
#[derive(Debug, Clone)]
pub struct Output {
    /// The unit.
    pub unit: usize,
    /// The message in the unit.
    pub message: usize,
    /// The part in the message.
    pub part: usize,
    /// The number of the output in its unit.
    pub number: usize,
    /// What the part costs.
    pub tokens: u32,
    /// What a plan may do with the part.
    pub traits: PartTraits,
    /// The output itself.
    pub content: ToolOutput,
}

impl Output {
    /// Returns all tool outputs of the conversation, oldest first.
    pub fn all(conversation: &Conversation<'_>) -> Vec<Self> {
        let mut outputs = Vec::new();
        for (unit, messages) in conversation.read(0..conversation.units().len()) {
            let mut number = 0;
            for (message, own) in messages.into_iter().enumerate() {
                for (part, own) in own.parts.into_iter().enumerate() {
                    let Content::Output(content) = own.content else {
                        continue;
                    };
                    let (tokens, traits) = (own.tokens, own.traits);
                    outputs.push(Self {
                        unit,
                        message,
                        part,
                        number,
                        tokens,
                        traits,
                        content,
                    });
                    number += 1;
                }
            }
        }
        outputs
    }
}
