//! Asks the model to describe removed units.

use baler_strategy::{Conversation, Failure, Report, Situation};
use baler_strategy_core::summary::{Form, ModelUsage, Question, Summary};
use baler_strategy_core::tiered::{RemovedUnits, Story, without_lists};

use crate::config::Config;

/// Asks the model and records its use.
pub(crate) struct StoryWriter<'a> {
    conversation: &'a Conversation<'a>,
    situation: &'a Situation,
    config: &'a Config,
    was_wanted: bool,
    usage: ModelUsage,
    /// The summary, with the number of units that it describes.
    summary: Option<(Summary, usize)>,
}

impl<'a> StoryWriter<'a> {
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
            usage: ModelUsage::default(),
            summary: None,
        }
    }

    /// Returns the model's description of the removed units, `None` if there is no usable answer. That is no failure of
    /// the strategy, because there is still the digest.
    pub(crate) fn write(&mut self, removed: &RemovedUnits) -> Option<Story> {
        self.was_wanted = true;
        let longest = self.config.max_output_tokens;
        let so_far = self.so_far(&removed.earlier);
        let question = Question {
            instruction: self.config.prompt(),
            wishes: baler_strategy_core::summary::wishes(self.situation),
            so_far: so_far.as_deref(),
            form: Form::Tagged,
            max_output_tokens: longest,
            max_tokens: removed.max_summary_tokens.min(longest),
        };
        let shown =
            baler_strategy_core::summary::with_messages_between(self.conversation, &removed.units);
        let (summary, usage) = baler_strategy_core::summary::summarize_with_usage(
            self.conversation,
            &shown,
            &question,
        );
        self.usage = usage;
        match summary {
            Ok(summary) => {
                let story = Story {
                    text: summary.text.clone(),
                    is_whole: summary.left_out == 0,
                };
                self.summary = Some((summary, removed.units.len()));
                Some(story)
            }
            Err(Failure::Model(why) | Failure::Other(why) | Failure::BadConfig(why)) => {
                self.conversation.warn(&format!(
                    "a digest without a summary replaces old steps: {why}"
                ));
                None
            }
        }
    }

    /// Returns the texts of earlier summaries, without the lists that the digest carries on.
    fn so_far(&self, earlier: &[usize]) -> Option<String> {
        let texts: Vec<String> = earlier
            .iter()
            .filter_map(|unit| {
                baler_strategy_core::summary::earlier_summaries(self.conversation, &[*unit], "")
            })
            .map(|text| without_lists(&text))
            .filter(|text| !text.is_empty())
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Returns whether units had to be removed and the budget allowed a description of them.
    pub(crate) const fn was_wanted(&self) -> bool {
        self.was_wanted
    }

    /// Adds the metrics of the model's use to the report, and those of the summary if the plan contains it.
    pub(crate) fn add_to(&self, report: Report, is_there: bool) -> Report {
        match &self.summary {
            Some((summary, units)) if is_there => summary.add_to(report, *units),
            _ => self.usage.add_to(report),
        }
    }
}
