//! A model that plays a script.

use std::time::Duration;

use baler_host::model::{
    Answer, AnswerFuture, Finish, MayRetry, Model, ModelError, ModelInfo, Question,
};

/// Lines of the question that the sensible answer repeats.
const LINES: usize = 12;

/// A model that always answers in the same way.
#[derive(Debug)]
pub(crate) struct Scripted {
    info: ModelInfo,
    script: Script,
}

#[derive(Debug, Clone, Copy)]
enum Script {
    /// Lines of the question, as a summary that claims nothing new.
    Sensible,
    Says(&'static str, Finish),
    /// Far more than was asked for.
    Endless,
    /// Claims that the conversation does not hold.
    MakesUp,
    Fails,
    TooLong,
}

impl Scripted {
    /// Returns a model that answers as a good one would.
    pub(crate) fn sensible() -> Self {
        Self::of(Script::Sensible)
    }

    /// Returns models that answer as a good one would not, each with what it does.
    pub(crate) fn bad() -> Vec<(&'static str, Self)> {
        let scripts = [
            ("says nothing", Script::Says("", Finish::Stop)),
            ("says white space", Script::Says(" \n\t", Finish::Stop)),
            ("is cut off", Script::Says("The user asked", Finish::Length)),
            (
                "refuses",
                Script::Says("I cannot help with that.", Finish::Refusal),
            ),
            ("does not stop", Script::Endless),
            ("makes things up", Script::MakesUp),
            ("cannot be reached", Script::Fails),
            ("finds the question too long", Script::TooLong),
        ];
        let models = scripts.into_iter();
        models
            .map(|(does, script)| (does, Self::of(script)))
            .collect()
    }

    fn of(script: Script) -> Self {
        Self {
            info: ModelInfo::new("scripted", 100_000, 8_000),
            script,
        }
    }
}

impl Model for Scripted {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn ask<'a>(&'a self, question: &'a Question, _: Duration, _: MayRetry<'a>) -> AnswerFuture<'a> {
        let says = |text: String| Ok(Answer::new(text, Finish::Stop));
        let answer = match self.script {
            Script::Sensible => says(summary(&question.prompt)),
            Script::Says(text, finish) => Ok(Answer::new(text, finish)),
            Script::Endless => says("and then the agent went on with the next file, ".repeat(8_000)),
            Script::MakesUp => says(
                "The user wants `frobnicate_all` in /opt/never/seen.rs to return 90210, \"as we said on the first of May\"."
                    .to_owned(),
            ),
            Script::Fails => Err(ModelError::Unavailable("connection refused".to_owned())),
            Script::TooLong => Err(ModelError::TooLong { fits: Some(1_000) }),
        };
        Box::pin(async { answer })
    }
}

/// Returns plain words of a question, spread over it: what looks like a call or a mark would be no summary.
fn summary(prompt: &str) -> String {
    let lines: Vec<String> = prompt
        .lines()
        .map(|line| {
            let words = line.split_whitespace();
            let plain = words.filter(|word| {
                word.chars()
                    .all(|c| c.is_alphanumeric() || ",.'".contains(c))
            });
            plain.take(24).collect::<Vec<_>>().join(" ")
        })
        .filter(|line| line.split(' ').count() >= 4)
        .collect();
    let step = (lines.len() / LINES).max(1);
    let chosen: Vec<&str> = lines
        .iter()
        .step_by(step)
        .take(LINES)
        .map(String::as_str)
        .collect();
    format!("What happened so far:\n- {}", chosen.join("\n- "))
}
