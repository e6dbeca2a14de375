use baler_strategy_core::summary::Form;

use crate::Section;

/// What the model is asked, and how its summary stands in the conversation.
#[derive(Debug, Clone)]
pub struct Task<'a> {
    /// What the model is told to do.
    pub instruction: &'a str,
    /// The sections of the summary, in their order.
    pub sections: &'a [Section],
    /// What it is told besides if there are earlier summaries.
    pub update: &'a str,
    /// How instruction and transcript are presented.
    pub form: Form,
    /// What the model is told to do in a second request, to compare its summary with the conversation. `None`: there is
    /// none.
    pub review: Option<&'a str>,
    /// The most tokens of the newest removed units that the model reads.
    pub max_input_tokens: u32,
    /// The most tokens of the answer and of the summary.
    pub max_output_tokens: u32,
    /// The text above the summary.
    pub header: &'a str,
    /// The name of the tags around the summary, empty for none. The model may write them, or not.
    pub tag: &'a str,
    /// The text below the summary.
    pub footer: String,
}

impl<'a> Task<'a> {
    /// Returns a task with nothing but an instruction, for an answer of up to 4,096 tokens.
    pub const fn new(instruction: &'a str, sections: &'a [Section]) -> Self {
        Self {
            instruction,
            sections,
            update: "",
            form: Form::Tagged,
            review: None,
            max_input_tokens: u32::MAX,
            max_output_tokens: 4_096,
            header: "",
            tag: "",
            footer: String::new(),
        }
    }

    /// Returns the summary with everything around it.
    pub(crate) fn framed(&self, summary: &str) -> String {
        let (header, footer, tag) = (self.header, &self.footer, self.tag);
        if tag.is_empty() {
            return format!("{header}{summary}{footer}");
        }
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        // A summary that was cut has lost its last tag.
        let inner = summary.split_once(&open).map_or(summary, |(_, rest)| rest);
        let inner = inner.rsplit_once(&close).map_or(inner, |(text, _)| text);
        format!("{header}{open}\n{}\n{close}{footer}", inner.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_stand_once_whether_the_model_wrote_them_or_not() {
        let task = Task {
            header: "Before: ",
            tag: "state",
            footer: " After.".to_owned(),
            ..Task::new("", &[])
        };
        for summary in [
            "Done.",
            "<state>Done.</state>",
            "First I think.\n<state>\nDone.\n</state>",
            "<state>\nDone.",
        ] {
            assert_eq!(
                task.framed(summary),
                "Before: <state>\nDone.\n</state> After.",
                "{summary}"
            );
        }
    }
}
