//! What the model is asked, and what came of it.

use baler_strategy::{Conversation, Failure, Report, Situation};
use summarize_core::{Form, Question, Spent, Summary};
use tiered_core::{Dropped, Story, to_retell};

use crate::config::Config;

/// Asks the model, and remembers what it took.
pub(crate) struct Storyteller<'a> {
    conversation: &'a Conversation<'a>,
    situation: &'a Situation,
    config: &'a Config,
    was_wanted: bool,
    spent: Spent,
    /// With the number of units that it was to tell of.
    summary: Option<(Summary, usize)>,
}

impl<'a> Storyteller<'a> {
    pub(crate) fn new(
        conversation: &'a Conversation<'a>,
        situation: &'a Situation,
        config: &'a Config,
    ) -> Self {
        Self {
            conversation,
            situation,
            config,
            was_wanted: false,
            spent: Spent::default(),
            summary: None,
        }
    }

    /// What happened in what is dropped; none where the model does not say. A failure of the
    /// model's is none of the strategy's: there is still the digest.
    pub(crate) fn tell(&mut self, dropped: &Dropped) -> Option<Story> {
        self.was_wanted = true;
        let longest = self.config.max_output_tokens;
        let so_far = self.so_far(&dropped.earlier);
        let question = Question {
            instruction: self.config.prompt(),
            wishes: summarize_core::wishes(self.situation),
            so_far: so_far.as_deref(),
            form: Form::Tagged,
            max_output_tokens: longest,
            room: dropped.room.min(longest),
        };
        let (summary, spent) =
            summarize_core::attempt(self.conversation, &dropped.units, &question);
        self.spent = spent;
        match summary {
            Ok(summary) => {
                let story = Story {
                    text: summary.text.clone(),
                    is_whole: summary.left_out == 0,
                };
                self.summary = Some((summary, dropped.units.len()));
                Some(story)
            }
            Err(Failure::Model(why) | Failure::Other(why) | Failure::BadConfig(why)) => {
                self.conversation
                    .warn(&format!("a digest alone stands for old steps: {why}"));
                None
            }
        }
    }

    /// What earlier summaries say, without the lists that go on by themselves.
    fn so_far(&self, earlier: &[usize]) -> Option<String> {
        let texts: Vec<String> = earlier
            .iter()
            .filter_map(|unit| summarize_core::so_far(self.conversation, &[*unit], ""))
            .map(|text| to_retell(&text))
            .filter(|text| !text.is_empty())
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Whether old units had to go and there was room to tell of them.
    pub(crate) const fn asked(&self) -> bool {
        self.was_wanted
    }

    /// The report with what it took, and with the summary if it stands there.
    pub(crate) fn told_in(&self, report: Report, is_there: bool) -> Report {
        match &self.summary {
            Some((summary, units)) if is_there => summary.told_in(report, *units),
            _ => self.spent.told_in(report),
        }
    }
}
