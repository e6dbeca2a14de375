use std::cell::{Cell, RefCell};

use super::count;
use crate::model::ModelSource;
use crate::{Completion, Finish, ModelError, ModelInfo, ModelRequest};

/// A model for tests. It returns the answers of its script in order, repeats the last one, and records the
/// requests.
///
/// A request that does not fit the window fails with `too-long` and uses up no answer. An answer that exceeds
/// the limit of the request is cut off there.
#[derive(Debug, Clone)]
pub struct ScriptedModel {
    info: ModelInfo,
    fits: Option<u32>,
    answers: Vec<Result<(String, Finish), ModelError>>,
    given: Cell<usize>,
    asked: RefCell<Vec<ModelRequest>>,
}

impl ScriptedModel {
    fn new(answer: Result<(String, Finish), ModelError>) -> Self {
        Self {
            info: ModelInfo {
                name: "scripted".to_owned(),
                context_window: 128_000,
                max_output_tokens: 8_000,
            },
            fits: None,
            answers: vec![answer],
            given: Cell::new(0),
            asked: RefCell::default(),
        }
    }

    /// Creates a model that answers with `text`.
    pub fn answering(text: &str) -> Self {
        Self::new(Ok((text.to_owned(), Finish::Stop)))
    }

    /// Creates a model whose answer ends with `finish`, such as a refusal.
    pub fn ending(text: &str, finish: Finish) -> Self {
        Self::new(Ok((text.to_owned(), finish)))
    }

    /// Creates a model that always fails with `error`.
    pub fn failing(error: ModelError) -> Self {
        Self::new(Err(error))
    }

    /// Adds an answer to the script.
    #[must_use]
    pub fn then(mut self, text: &str) -> Self {
        self.answers.push(Ok((text.to_owned(), Finish::Stop)));
        self
    }

    /// Sets the context window in tokens, for request and answer together.
    #[must_use]
    pub fn window(mut self, tokens: u32) -> Self {
        self.info.context_window = tokens;
        self
    }

    /// Sets the most tokens of an answer.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.info.max_output_tokens = tokens;
        self
    }

    /// Rejects requests of more than `tokens` tokens, whatever context window the model reports.
    #[must_use]
    pub fn rejecting_above(mut self, tokens: u32) -> Self {
        self.fits = Some(tokens);
        self
    }

    /// Returns the requests of the last run.
    pub(super) fn asked(&self) -> Vec<ModelRequest> {
        self.asked.borrow().clone()
    }

    /// Restarts the script and forgets all requests.
    pub(super) fn rewind(&self) {
        self.given.set(0);
        self.asked.borrow_mut().clear();
    }
}

impl ModelSource for ScriptedModel {
    fn info(&self) -> Option<ModelInfo> {
        Some(self.info.clone())
    }

    fn complete(&self, request: &ModelRequest) -> Result<Completion, ModelError> {
        self.asked.borrow_mut().push(request.clone());
        let input_tokens = count(&request.instructions) + count(&request.prompt);
        let window = self.info.context_window;
        let fits = self
            .fits
            .unwrap_or(window.saturating_sub(request.max_output_tokens));
        if input_tokens > fits {
            return Err(ModelError::TooLong(fits));
        }
        let given = self.given.replace(self.given.get() + 1);
        let (mut text, mut finish) = self.answers[given.min(self.answers.len() - 1)].clone()?;
        let limit = request.max_output_tokens as usize * 4;
        if text.len() > limit {
            text.truncate(text.floor_char_boundary(limit));
            finish = Finish::Length;
        }
        Ok(Completion {
            output_tokens: count(&text),
            text,
            finish,
            input_tokens,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Conversation;
    use crate::testing::Recording;

    fn request(prompt: &str, max_output_tokens: u32) -> ModelRequest {
        ModelRequest {
            instructions: String::new(),
            prompt: prompt.to_owned(),
            max_output_tokens,
        }
    }

    #[test]
    fn conversation_without_a_script_has_no_model() {
        assert!(Conversation::new(&Recording::new()).model().is_none());
    }

    #[test]
    fn scripted_model_answers_in_order_and_repeats_the_last() {
        let recording = Recording::new().model(ScriptedModel::answering("one").then("two"));
        let conversation = Conversation::new(&recording);
        let model = conversation.model().expect("there is one");
        let texts: Vec<String> = (0..3)
            .filter_map(|_| model.ask(&request("go", 10)).ok())
            .map(|completion| completion.text)
            .collect();
        assert_eq!(texts, ["one", "two", "two"]);
        assert_eq!(recording.asked().len(), 3);
    }

    #[test]
    fn scripted_model_counts_request_and_answer_toward_its_window() {
        let model = ScriptedModel::answering("long enough").window(10);
        assert_eq!(
            model.complete(&request("twelve bytes", 8)),
            Err(ModelError::TooLong(2))
        );
        let cut = model.complete(&request("twelve bytes", 2));
        assert_eq!(
            cut.map(|cut| (cut.text, cut.finish)),
            Ok(("long eno".to_owned(), Finish::Length))
        );
    }
}
