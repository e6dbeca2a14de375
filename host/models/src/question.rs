//! Questions and answers.

/// A question to a model.
///
/// ```
/// use baler_models::Question;
///
/// let question = Question::new("What falls from clouds?", 16).with_instructions("Answer in one word.");
/// assert_eq!(question.max_output_tokens, 16);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// The system prompt; `None` if there is none.
    pub instructions: Option<String>,
    /// The user message.
    pub prompt: String,
    /// The answer is cut off after this many tokens.
    pub max_output_tokens: u32,
}

impl Question {
    /// Asks without a system prompt.
    #[must_use]
    pub fn new(prompt: impl Into<String>, max_output_tokens: u32) -> Self {
        Self {
            instructions: None,
            prompt: prompt.into(),
            max_output_tokens,
        }
    }

    /// Sets the system prompt. An empty text removes it.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into()).filter(|text| !text.is_empty());
        self
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The model finished it.
    Stop,
    /// The limit of tokens cut it off.
    Length,
    /// The model declined to answer.
    Refusal,
}

/// A model's answer.
///
/// ```
/// use baler_models::{Answer, Finish};
///
/// let answer = Answer::new("Rain.", Finish::Stop).with_usage(24, 3);
/// assert_eq!(answer.input_tokens, Some(24));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The text without thinking. Empty if the model wrote no text, or called a tool.
    pub text: String,
    /// Why the answer ended.
    pub finish: Finish,
    /// Tokens of the question; `None` if unknown. Clients estimate what the provider did not count.
    pub input_tokens: Option<u32>,
    /// Tokens of the answer, including thinking; `None` if unknown.
    pub output_tokens: Option<u32>,
}

impl Answer {
    /// An answer of which no tokens were counted.
    #[must_use]
    pub fn new(text: impl Into<String>, finish: Finish) -> Self {
        Self {
            text: text.into(),
            finish,
            input_tokens: None,
            output_tokens: None,
        }
    }

    /// Sets how many tokens the question and the answer have.
    #[must_use]
    pub fn with_usage(mut self, input_tokens: u32, output_tokens: u32) -> Self {
        self.input_tokens = Some(input_tokens);
        self.output_tokens = Some(output_tokens);
        self
    }
}
