//! Builds the request to the model.

#[cfg(test)]
mod tests;

use baler_digest::{ABOUT_EARLIER, EARLIER_LABEL, PROGRAM_LABEL, REWRITTEN, indented};
use baler_provenance::quoted;
use baler_strategy::{ModelRequest, Situation, Trigger};

/// From this many tokens on, the model is given no limit in words.
const AMPLE: u32 = 4_000;

/// How a request presents instruction and transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The instruction is the system prompt, the transcript is the user message.
    Bare,
    /// The instruction is the system prompt, the user message is the transcript between
    /// `<conversation>` and `</conversation>`.
    Tagged,
    /// Everything is in the user message: the instruction, then the transcript between tags.
    OneMessage,
    /// The instruction is the system prompt, the user message is the transcript and this line.
    Closing(&'static str),
}

/// A request for a summary, without its transcript.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The instruction, sent unchanged. If the model reads texts of earlier compactions or of programs in the
    /// user's role, an explanation of their labels follows it.
    pub instruction: &'a str,
    /// What the user asked for in particular.
    pub wishes: Option<&'a str>,
    /// The text of earlier summaries, for the new one to include.
    pub so_far: Option<&'a str>,
    /// How instruction and transcript are presented.
    pub form: Form,
    /// The most tokens of the answer. A longer answer is cut off and rejected.
    pub max_output_tokens: u32,
    /// The most tokens that the summary may have.
    pub max_tokens: u32,
}

/// Returns the instructions of whoever requested this compaction, `None` if there are none.
pub fn wishes(situation: &Situation) -> Option<&str> {
    match &situation.trigger {
        Trigger::Manual(Some(wishes)) => Some(wishes.trim()).filter(|wishes| !wishes.is_empty()),
        _ => None,
    }
}

impl Question<'_> {
    /// Returns the request with this transcript.
    pub(crate) fn request(&self, transcript: &str, max_output_tokens: u32) -> ModelRequest {
        let mut instructions = self.instruction.to_owned();
        // The author of the instruction need not know these labels. Explaining them twice does no harm.
        let mut labels = [EARLIER_LABEL, PROGRAM_LABEL, REWRITTEN].into_iter();
        if self.so_far.is_some() || labels.any(|label| transcript.contains(label)) {
            instructions = format!("{instructions}\n\n{ABOUT_EARLIER}");
        }
        if let Some(wishes) = self.wishes.map(indented) {
            let wishes = quoted(&wishes);
            instructions =
                format!("{instructions}\n\nThe user asks for this in particular: {wishes}");
        }
        // An answer with a limit in words is rarely cut off, and one that is cut off is rejected.
        let room = self.max_tokens.min(max_output_tokens);
        if room < AMPLE {
            let limit = limit(room);
            instructions = format!("{instructions}\n\n{limit}");
        }
        let mut prompt = String::new();
        if self.form == Form::OneMessage {
            prompt = std::mem::take(&mut instructions) + "\n\n";
        }
        if let Some(so_far) = self.so_far.map(indented) {
            let so_far = quoted(&so_far);
            prompt += "This summary tells what came before. The new one replaces it, so carry \
                       over all of it that still matters.\n";
            prompt = format!(
                "{prompt}<summary_so_far>\n{EARLIER_LABEL}: {so_far}\n</summary_so_far>\n\n"
            );
        }
        prompt += &match self.form {
            Form::Bare => transcript.to_owned(),
            Form::Tagged | Form::OneMessage => {
                format!("<conversation>\n{transcript}\n</conversation>")
            }
            Form::Closing(line) => format!("{transcript}\n\n{line}"),
        };
        ModelRequest {
            instructions,
            prompt,
            max_output_tokens,
        }
    }
}

/// Returns the sentence that limits the answer. Models obey a limit in words better than one in tokens. Three
/// words are about four tokens; the factor leaves a margin.
pub(crate) fn limit(tokens: u32) -> String {
    let words = (u64::from(tokens) * 3 / 5).max(1);
    format!("Write at most {words} words.")
}
